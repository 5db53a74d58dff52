/* SPDX-License-Identifier: Apache-2.0 */
/* Operand values, instructions, begin and end. Control flow is in build_flow.c, checks in
 * build_check.c. */
#include "gen/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/build_state.h"
#include "gen/plan.h"

/* ---- operands */

const Val VCC = {.kind = VAL_VCC, .width = 2};
const Val EXEC = {.kind = VAL_EXEC, .width = 2};
const Val M0 = {.kind = VAL_M0, .width = 1};
const Val OFF = {.kind = VAL_OFF};
const Val NONE = {.kind = VAL_NONE};

Val imm(int64_t value)
{
    return (Val){.kind = VAL_IMM, .width = 1, .imm = value};
}

Val bits(uint32_t pattern)
{
    return (Val){.kind = VAL_F32, .width = 1, .imm = pattern};
}

Val f32(float value)
{
    uint32_t pattern;
    memcpy(&pattern, &value, sizeof pattern);
    return bits(pattern);
}

static Val new_register(Builder *b, enum val_kind kind, int dwords, int fixed)
{
    struct program *p = b->program;
    if (dwords < 1 || dwords > 64) {
        build_error(b, HERE_(b), "a register of %d dwords", dwords);
        return (Val){.kind = kind, .width = 1};
    }
    if (!PROGRAM_GROW(p, p->vregs, p->n_vregs, p->cap_vregs)) {
        build_error(b, HERE_(b), "out of memory");
        return (Val){.kind = kind, .width = (uint8_t)dwords};
    }
    p->vregs[p->n_vregs] = (struct vreg){.kind = kind,
                                         .width = (uint8_t)dwords,
                                         .region = (uint16_t)b->state->region,
                                         .phys = (int16_t)fixed,
                                         .fixed = fixed >= 0,
                                         .comp = p->n_comps};
    p->n_comps += (uint32_t)dwords;
    return (Val){.kind = kind, .width = (uint8_t)dwords, .id = (uint32_t)p->n_vregs++};
}

Val vreg(Builder *b, int dwords)
{
    return new_register(b, VAL_V, dwords, -1);
}

Val sreg(Builder *b, int dwords)
{
    return new_register(b, VAL_S, dwords, -1);
}

/* A part past the end keeps its numbers: build_check refuses it where it is used, with that line.
 */
Val part(Val v, int first, int dwords)
{
    v.sub = (uint16_t)(v.sub + first);
    v.width = (uint8_t)dwords;
    return v;
}

Val neg(Val v)
{
    v.neg ^= 1;
    return v;
}

Val absv(Val v)
{
    v.abs = 1;
    return v;
}

bool same(Val a, Val b)
{
    return a.kind == b.kind && a.width == b.width && a.sub == b.sub && a.id == b.id &&
           a.imm == b.imm && a.neg == b.neg && a.abs == b.abs;
}

/* ---- modifiers */

#define MODIFIER(mod, value) {.kind = VAL_MOD, .id = (mod), .imm = (value)}
const Val SC0 = MODIFIER(MOD_SC0, 1);
const Val SC1 = MODIFIER(MOD_SC1, 1);
const Val NT = MODIFIER(MOD_NT, 1);
const Val CLAMP = MODIFIER(MOD_CLAMP, 1);
const Val ROW_MIRROR = MODIFIER(MOD_DPP, DPP_ROW_MIRROR << 8);
const Val ROW_HALF_MIRROR = MODIFIER(MOD_DPP, DPP_ROW_HALF_MIRROR << 8);
const Val ROW_BCAST15 = MODIFIER(MOD_DPP, DPP_ROW_BCAST15 << 8);
const Val ROW_BCAST31 = MODIFIER(MOD_DPP, DPP_ROW_BCAST31 << 8);
const Val BOUND_CTRL = MODIFIER(MOD_DPP_BOUND_CTRL, 1);

static Val modifier(enum mod mod, int value)
{
    return (Val)MODIFIER(mod, value);
}

static Val dpp(enum dpp_ctrl ctrl, int argument)
{
    return modifier(MOD_DPP, (int)ctrl << 8 | (argument & 0xff));
}

Val off(int bytes)
{
    return modifier(MOD_OFFSET, bytes);
}

Val off2(int which, int elements)
{
    return modifier(which ? MOD_OFFSET1 : MOD_OFFSET0, elements);
}

Val op_sel(int mask)
{
    return modifier(MOD_OP_SEL, mask);
}

Val op_sel_hi(int mask)
{
    return modifier(MOD_OP_SEL_HI, mask);
}

Val neg_lo(int mask)
{
    return modifier(MOD_NEG_LO, mask);
}

Val neg_hi(int mask)
{
    return modifier(MOD_NEG_HI, mask);
}

Val quad_perm(int a, int b, int c, int d)
{
    return dpp(DPP_QUAD_PERM, (a & 3) | (b & 3) << 2 | (c & 3) << 4 | (d & 3) << 6);
}

Val row_shr(int n)
{
    return dpp(DPP_ROW_SHR, n);
}

Val row_shl(int n)
{
    return dpp(DPP_ROW_SHL, n);
}

Val row_ror(int n)
{
    return dpp(DPP_ROW_ROR, n);
}

Val row_newbcast(int n)
{
    return dpp(DPP_ROW_NEWBCAST, n);
}

Val row_mask(int mask)
{
    return modifier(MOD_DPP_ROW_MASK, mask);
}

Val bank_mask(int mask)
{
    return modifier(MOD_DPP_BANK_MASK, mask);
}

Val swizzle(int field)
{
    return modifier(MOD_SWIZZLE, field);
}

Val sdwa_src0(enum sdwa_sel sel)
{
    return modifier(MOD_SDWA_SRC0, (int)sel);
}

Val sdwa_dst(enum sdwa_sel sel)
{
    return modifier(MOD_SDWA_DST, (int)sel);
}

Val bitop3(int table)
{
    return modifier(MOD_BITOP3, table);
}

/* ---- errors */

void build_error(Builder *b, const char *file, int line, const char *format, ...)
{
    struct build_state *s = b->state;
    if (s->error[0])
        return;
    const char *slash = strrchr(file, '/');
    int n = snprintf(s->error, sizeof s->error, "%s:%d: ", slash ? slash + 1 : file, line);
    va_list args;
    va_start(args, format);
    vsnprintf(s->error + n, sizeof s->error - (size_t)n, format, args);
    va_end(args);
}

bool build_ok(const Builder *b)
{
    return b->state->error[0] == '\0';
}

/* ---- instructions */

/* What a failed instruction gives back: a register of the right shape, so that the template runs
 * on. */
static Val shape_of_result(const struct op_info *info)
{
    bool written = info->n && (info->operands[0].access & ACC_W);
    if (!written)
        return NONE;
    return (Val){.kind = info->operands[0].classes & OC_V ? VAL_V : VAL_S,
                 .width = info->operands[0].width};
}

static bool collect(Builder *b, const struct op_info *info, struct instr *in, Val dst, bool fresh,
                    const Val *operands, int count)
{
    bool written = info->n && (info->operands[0].access & ACC_W);
    if (fresh && !written) {
        build_error(b, in->file, in->line, "%s writes no register: use emit_void", info->name);
        return false;
    }
    if (fresh) {
        bool vector = info->operands[0].classes & OC_V;
        in->operands[in->n++] =
            new_register(b, vector ? VAL_V : VAL_S, info->operands[0].width, -1);
        in->fresh = true;
    } else if (dst.kind != VAL_NONE) {
        in->operands[in->n++] = dst;
    }
    for (int i = 0; i < count; i++) {
        bool mod = operands[i].kind == VAL_MOD;
        if (mod ? in->n_mods == INSTR_MODS : in->n == info->n) {
            build_error(b, in->file, in->line, "%s: too many %s (it has %d operands)", info->name,
                        mod ? "modifiers" : "operands", info->n);
            return false;
        }
        if (mod)
            in->mods[in->n_mods++] = operands[i];
        else
            in->operands[in->n++] = operands[i];
    }
    return true;
}

static bool append(Builder *b, struct instr *in)
{
    struct build_state *s = b->state;
    if (s->ended) {
        s->block = program_block(b->program, -1);
        s->ended = false;
    }
    in->note = s->note;
    in->heading = s->heading;
    s->note = s->heading = NULL;
    if (s->block < 0 || !program_append(b->program, &b->program->blocks[s->block], in)) {
        build_error(b, in->file, in->line, "out of memory");
        return false;
    }
    s->ended = op_info(in->op)->flags & (FLAG_JUMP | FLAG_CJUMP | FLAG_END);
    return true;
}

Val build_instr(Builder *b, enum op op, Val dst, bool fresh, const Val *operands, int count,
                const char *file, int line)
{
    const struct op_info *info = op_info(op);
    if (!build_ok(b))
        return shape_of_result(info);
    const char *slash = strrchr(file, '/');
    b->state->file = file;
    b->state->line = line;
    struct instr in = {.op = (uint16_t)op,
                       .stage = (uint16_t)b->state->stage,
                       .region = (uint16_t)b->state->region,
                       .file = slash ? slash + 1 : file,
                       .line = line};
    const char *note = b->state->note; /* stays with this instruction, not with a move in front */
    b->state->note = NULL;
    bool ok = collect(b, info, &in, dst, fresh, operands, count) && build_check(b, &in) &&
              build_legalise(b, &in);
    b->state->note = note;
    if (!ok || !append(b, &in))
        return shape_of_result(info);
    return info->n && (info->operands[0].access & ACC_W) ? in.operands[0] : NONE;
}

Val mov_v(Builder *b, Val src)
{
    Val dst = vreg(b, src.kind == VAL_V || src.kind == VAL_S ? src.width : 1);
    if (src.kind == VAL_VCC || src.kind == VAL_EXEC)
        dst = vreg(b, 2);
    if (dst.width == 1)
        return emit_to(b, dst, v_mov_b32, src);
    if (src.kind == VAL_VCC || src.kind == VAL_EXEC)
        return emit_to(b, dst, v_mov_b64, src);
    for (int i = 0; i < dst.width; i += 2) {
        int n = dst.width - i >= 2 ? 2 : 1;
        if (n == 2 && src.sub % 2 == 0)
            emit_to(b, part(dst, i, 2), v_mov_b64, part(src, i, 2));
        else
            for (int k = 0; k < n; k++)
                emit_to(b, part(dst, i + k, 1), v_mov_b32, part(src, i + k, 1));
    }
    return dst;
}

Val mov_s(Builder *b, Val src)
{
    bool reg = src.kind == VAL_S;
    Val dst = sreg(b, reg ? src.width : src.kind == VAL_VCC || src.kind == VAL_EXEC ? 2 : 1);
    for (int i = 0; i < dst.width; i += 2) {
        int n = dst.width - i >= 2 ? 2 : 1;
        if (n == 1)
            emit_to(b, part(dst, i, 1), s_mov_b32, reg ? part(src, i, 1) : src);
        else
            emit_to(b, part(dst, i, 2), s_mov_b64, reg ? part(src, i, 2) : src);
    }
    return dst;
}

Val uniform(Builder *b, Val v)
{
    return emit(b, v_readfirstlane_b32, v);
}

Val fill_v(Builder *b, int dwords, uint32_t pattern)
{
    Val dst = vreg(b, dwords);
    Val word = bits(pattern);
    for (int i = 0; i < dwords; i++) {
        if (pattern == 0 && i + 1 < dwords) {
            emit_to(b, part(dst, i, 2), v_mov_b64, imm(0));
            i++;
        } else {
            emit_to(b, part(dst, i, 1), v_mov_b32, word);
        }
    }
    return dst;
}

/* ---- begin, end */

static void define_entry(Builder *b)
{
    Val packed = new_register(b, VAL_V, 1, 0); /* v0: work-item x, y, z in 10 bits each */
    b->kernarg = new_register(b, VAL_S, 2, 0);
    b->wg = new_register(b, VAL_S, 1, 2);
    stage(b, "entry");
    b->tid = emit(b, v_and_b32, imm(0x3ff), packed);
    b->lane = emit(b, v_and_b32, imm(63), b->tid);
    b->wave = uniform(b, emit(b, v_lshrrev_b32, imm(6), b->tid));
}

static void builder_free(Builder *b)
{
    program_free(b->program);
    free(b->state);
    free(b);
}

Builder *build_begin(const struct plan *plan)
{
    Builder *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->plan = plan;
    b->state = calloc(1, sizeof *b->state);
    struct program *p = b->program = program_new();
    if (!b->state || !p || !PROGRAM_GROW(p, p->region_parent, 0, p->cap_regions) ||
        program_block(p, -1) < 0) {
        builder_free(b);
        return NULL;
    }
    b->state->file = "entry";
    p->n_regions = 1;
    p->plan = plan;
    p->name = plan ? plan->name : "kernel";
    if (plan) {
        p->max_vgprs = plan->arch->vgprs;
        p->max_sgprs = plan->arch->sgprs;
        p->arch_950 = strcmp(plan->arch->name, "gfx950") == 0;
    }
    define_entry(b);
    return b;
}

struct program *build_end(Builder *b, char *err, size_t err_size)
{
    struct program *p = b->program;
    if (build_ok(b) && b->state->depth)
        build_error(b, HERE_(b), "%d lanes_if or uniform_if are still open", b->state->depth);
    bool ok = build_ok(b);
    if (!ok)
        snprintf(err, err_size, "%s", b->state->error);
    else
        ok = program_link(p, err, err_size) == 0;
    if (ok)
        b->program = NULL;
    builder_free(b);
    return ok ? p : NULL;
}
