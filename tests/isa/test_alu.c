/* SPDX-License-Identifier: Apache-2.0 */
/* Lane arithmetic, one instruction at a time; the last test says which mnemonics no case has
 * touched. */
#include <stdio.h>

#include "tests/support/test.h"

#include "alu_test.h"
#include "tested.h"

const struct emu_alu_op *alu_row(struct alu_coverage *coverage, const char *mnemonic)
{
    unsigned count;
    const struct emu_alu_op *ops = emu_alu_ops(&count), *op = emu_alu_find(mnemonic);
    if (op == NULL) {
        fail_msg("no row for %s", mnemonic);
        return NULL;
    }
    coverage->seen[op - ops] = true;
    return op;
}

static void broadcast(uint32_t *rows, uint64_t value)
{
    for (unsigned l = 0; l < EMU_LANES; l++) {
        rows[l] = (uint32_t)value;
        rows[EMU_LANES + l] = (uint32_t)(value >> 32);
    }
}

static bool is_nan32(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Number of lanes that differ. */
static unsigned run_case(const struct emu_alu_op *op, const struct alu_case *c)
{
    static uint32_t src[3][2 * EMU_LANES], dst[2 * EMU_LANES];
    uint64_t width = op->dst_dwords >= 2 ? ~0ULL : 0xffffffffULL;
    struct emu_alu alu = {
        .dst = dst,
        .src = {src[0], src[1], src[2]},
        .exec = ~0ULL,
        .carry_in = c->carry ? ~0ULL : 0,
        .neg = c->neg,
        .abs = c->abs,
        .neg_hi = c->neg_hi,
        .op_sel = c->op_sel,
        .op_sel_hi = (uint8_t)(op->flags & EMU_ALU_PACKED ? 7 & ~c->hi_off : c->hi_on),
        .omod = c->omod,
        .clamp = c->clamp,
        .denorm32 = (uint8_t)(3 & ~c->flush32),
        .denorm16_64 = (uint8_t)(3 & ~c->flush16_64),
        .round32 = c->round32,
        .round16_64 = c->round16_64,
        .mode = c->mode,
        .fnuz = c->fnuz,
        .imm = c->imm,
    };
    for (unsigned i = 0; i < 3; i++) {
        broadcast(src[i], c->src[i]);
    }
    broadcast(dst, c->old);
    op->fn(&alu);
    unsigned wrong = 0;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint64_t got = ((uint64_t)dst[EMU_LANES + l] << 32 | dst[l]) & width;
        bool same = op->dst_dwords == 0 || got == (c->want & width) || (c->nan && is_nan32(got));
        bool bit = alu.mask_out >> l & 1;
        same = same && (c->mask == MASK_ANY || bit == (c->mask == MASK_1));
        if (!same && wrong++ == 0) {
            print_error("%s(%llx, %llx, %llx): got %llx mask %d, want %llx\n", c->mnemonic,
                        (unsigned long long)c->src[0], (unsigned long long)c->src[1],
                        (unsigned long long)c->src[2], (unsigned long long)got, bit,
                        (unsigned long long)(c->want & width));
        }
    }
    return wrong;
}

void alu_run(struct alu_coverage *coverage, const struct alu_case *cases, size_t count)
{
    unsigned failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += run_case(alu_row(coverage, cases[i].mnemonic), &cases[i]) != 0;
    }
    assert_int_equal(failed, 0);
}

static void sorted_table(void **state)
{
    (void)state;
    unsigned count;
    const struct emu_alu_op *ops = emu_alu_ops(&count);
    assert_true(count > 600);
    for (unsigned i = 0; i < count; i++) {
        assert_ptr_equal(emu_alu_find(ops[i].mnemonic), &ops[i]);
        assert_non_null(ops[i].fn);
        if (i > 0) {
            assert_true(strcmp(ops[i - 1].mnemonic, ops[i].mnemonic) < 0);
        }
    }
    assert_null(emu_alu_find("v_no_such_op"));
    assert_null(emu_alu_find(""));
}

static void every_row_has_a_case(void **state)
{
    const struct alu_coverage *coverage = *state;
    unsigned count, missing = 0;
    const struct emu_alu_op *ops = emu_alu_ops(&count);
    for (unsigned i = 0; i < count; i++) {
        if (!coverage->seen[i]) {
            print_error("no case for %s\n", ops[i].mnemonic);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    static struct alu_coverage coverage;
#define TEST(f) cmocka_unit_test_prestate(f, &coverage)
    const struct CMUnitTest tests[] = {
        TEST(sorted_table),         TEST(alu_test_f32),         TEST(alu_test_f64),
        TEST(alu_test_f16),         TEST(alu_test_int),         TEST(alu_test_lanes),
        TEST(alu_test_compare),     TEST(alu_test_class),       TEST(alu_test_convert),
        TEST(alu_test_fp8),         TEST(alu_test_pack6),       TEST(alu_test_packed),
        TEST(alu_test_dot),         TEST(alu_test_division),    TEST(alu_test_mfma_exact),
        TEST(alu_test_mfma_layout), TEST(alu_test_mfma_sparse), TEST(alu_test_mfma_scale),
        TEST(alu_test_mfma_model),  TEST(every_row_has_a_case),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    FILE *list = failed ? NULL : tested_open("test_alu");
    unsigned count;
    const struct emu_alu_op *ops = emu_alu_ops(&count);
    for (unsigned i = 0; list && i < count; i++)
        if (coverage.seen[i])
            fprintf(list, "%s\n", ops[i].mnemonic);
    if (list)
        fclose(list);
    return failed;
}
