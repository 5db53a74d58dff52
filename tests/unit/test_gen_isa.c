/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the opcode table, in every operand form it claims, must be text that the assembler
 * takes. */
#include "gen_support.h"

#include "gen/isa.h"
#include "gen/object.h"

/* An operand of the given kind that the row accepts; kind is what to prefer where the row leaves a
 * choice. */
static Val pick(Builder *b, const struct op_info *info, const struct op_operand *o, int form)
{
    int width = o->width;
    bool off = form == 2;
    switch (o->tag) {
    case TAG_GADDR:
        return fill_v(b, off ? 2 : 1, 0);
    case TAG_GBASE:
        return off ? OFF : mov_s(b, EXEC);
    case TAG_BADDR:
        return off ? OFF : fill_v(b, 1, 0);
    case TAG_SEL:
        return form == 0 ? b->wg : imm(7);
    case TAG_LITERAL:
        return f32(1.25f);
    default:
        break;
    }
    if (o->classes & OC_LABEL) {
        Label l = label(b, "next");
        place(b, l);
        return (Val){.kind = VAL_LABEL, .id = (uint32_t)l.id};
    }
    if (o->classes & OC_FIELD)
        return imm(form == 1 && info->enc == ENC_SMEM ? 0x40 : 1);
    bool constant_first = form == 1 && (o->classes & (OC_INT | OC_FLT));
    bool literal = form == 3 && (o->classes & (OC_INT | OC_FLT)) && width == 1 && o->tag != TAG_C;
    if (literal)
        return bits(0x1234); /* 16-bit operands take no more */
    if (constant_first)
        return o->classes & OC_FLT ? f32(2.0f) : imm(7);
    if (o->classes & OC_V) {
        if (form == 2 && (o->classes & OC_S) && width <= 2)
            return width == 2 ? mov_s(b, EXEC) : b->wg;
        return fill_v(b, width, 1);
    }
    Val s = sreg(b, width);
    for (int i = 0; i < width; i++)
        emit_to(b, part(s, i, 1), s_mov_b32, imm(i));
    return s;
}

static void emit_form(Builder *b, enum op op, int form)
{
    const struct op_info *info = op_info(op);
    Val operands[8];
    int n = 0;
    for (int i = 0; i < info->n; i++) {
        if ((info->operands[i].access & ACC_W) && !(info->operands[i].access & ACC_R) &&
            form == 0 && info->enc == ENC_VOPC)
            operands[n++] = VCC;
        else if (op == OP_v_writelane_b32 && i == 1)
            operands[n++] = imm(3);
        else if (op == OP_s_setreg_b32 && i == 0)
            operands[n++] = imm(1);
        else
            operands[n++] =
                pick(b, info, &info->operands[i], (info->operands[i].access & ACC_W) ? 0 : form);
    }
    if (info->flags & FLAG_OFF2) {
        operands[n++] = off2(0, 1);
        operands[n++] = off2(1, 2);
    }
    if (info->flags & FLAG_SWIZZLE)
        operands[n++] = swizzle(0x801f);
    if (op == OP_v_bitop3_b32)
        operands[n++] = bitop3(0x6c);
    build_instr(b, op, NONE, false, operands, n, __FILE__, __LINE__);
}

static void every_row_assembles(void **state)
{
    (void)state;
    char err[512];
    for (int form = 0; form < 4; form++) {
        Builder *b = build_begin(NULL);
        stage(b, "test");
        emit_to(b, VCC, s_mov_b64, imm(0));
        emit_void(b, s_cmp_eq_u32, imm(0), imm(0));
        for (unsigned op = 1; op < OP_COUNT; op++) {
            const struct op_info *info = op_info(op);
            if (info->flags & (FLAG_INTERNAL | FLAG_EXEC_W | FLAG_END | FLAG_JUMP))
                continue;
            emit_form(b, (enum op)op, form);
            if (!build_ok(b))
                break;
        }
        kernel_end(b);
        struct program *p = build_end(b, err, sizeof err);
        if (!p)
            fail_msg("form %d: %s", form, err);
        if (pass_registers(p, err, sizeof err) || pass_waits(p, err, sizeof err) ||
            pass_hazards(p, err, sizeof err))
            fail_msg("form %d: %s", form, err);
        char *text = program_print(p, err, sizeof err);
        assert_non_null(text);
        if (cogen_object_write(text, "gfx950", "test_gen_isa.co", NULL, err, sizeof err)) {
            unsigned long line = strtoul(err + strcspn(err, "0123456789"), NULL, 10);
            const char *at = text;
            for (unsigned long i = 1; i < line && at; i++)
                at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
            fail_msg("form %d: %s\n%.*s", form, err, at ? (int)strcspn(at, "\n") : 0, at ? at : "");
        }
        remove("test_gen_isa.co");
        free(text);
        program_free(p);
    }
}

static void swaps_go_both_ways(void **state)
{
    (void)state;
    for (unsigned op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = op_info(op);
        if (info->swap != OP_none) {
            assert_int_equal(op_info(info->swap)->swap, op);
            assert_int_equal(op_info(info->swap)->n, info->n);
        }
    }
}

static void loads_and_stores_are_counted(void **state)
{
    (void)state;
    for (unsigned op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = op_info(op);
        bool memory = info->flags & (FLAG_LOAD | FLAG_STORE);
        if (memory && info->counter == COUNT_NONE)
            fail_msg("%s ticks no counter", info->name);
        if (info->counter == COUNT_VM_LOAD && !(info->operands[0].access & ACC_W))
            fail_msg("%s is a load without a destination", info->name);
        if ((info->cls == CLASS_XDL || info->cls == CLASS_SMFMA) != (info->passes > 0))
            fail_msg("%s: passes belong to matrix instructions", info->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_assembles),
        cmocka_unit_test(swaps_go_both_ways),
        cmocka_unit_test(loads_and_stores_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
