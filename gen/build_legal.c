/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Legalisation: what an encoding cannot hold. A 32-bit vector encoding has one literal and only
 * VGPRs in its second source; the 64-bit ones have no literal; either reads one scalar register
 * (the constant bus), a lane mask included; a scalar instruction has one literal. Anything more
 * goes through a move in front.
 */
#include <string.h>

#include "gen/build.h"
#include "gen/build_state.h"

static bool needs_literal(const Val *v)
{
    return val_is_const(v) && !val_is_inline(v);
}

static bool is_scalar(const Val *v)
{
    return v->kind == VAL_S || v->kind == VAL_VCC || v->kind == VAL_EXEC || v->kind == VAL_M0;
}

/* First and last source of a VOP1, VOP2, VOPC or VOP3 row that is not a lane mask. */
static unsigned first_source(const struct op_info *info)
{
    unsigned i = 0;
    while (i < info->n && (info->operands[i].access & ACC_W))
        i++;
    return i;
}

bool instr_needs_e64(const struct instr *in)
{
    const struct op_info *info = op_info(in->op);
    unsigned src = first_source(info);
    for (int i = 0; i < in->n; i++)
        if (in->operands[i].neg || in->operands[i].abs)
            return true;
    if (instr_mod(in, MOD_CLAMP) || instr_mod(in, MOD_OP_SEL))
        return true;
    if (info->enc == ENC_VOP1)
        return false;
    if (in->operands[src + 1].kind != VAL_V)
        return true;
    if (info->enc == ENC_VOPC)
        return in->operands[0].kind != VAL_VCC;
    for (int i = 1; i < in->n; i++) { /* carry out, carry in, lane mask */
        bool mask = info->operands[i].tag == TAG_MASK || (info->operands[i].access & ACC_W);
        if (mask && in->operands[i].kind != VAL_VCC)
            return true;
    }
    return false;
}

static bool has_32_bit_form(const struct op_info *info)
{
    return info->enc == ENC_VOP1 || info->enc == ENC_VOP2 || info->enc == ENC_VOPC;
}

/* Moves an operand of at most two dwords into a fresh VGPR in front of the instruction. */
static void to_vgpr(Builder *b, const struct instr *in, Val *v)
{
    Val source = *v, operands[1];
    source.neg = source.abs = 0;
    operands[0] = source;
    enum op op = v->width == 2 && !val_is_const(v) ? OP_v_mov_b64 : OP_v_mov_b32;
    Val moved = build_instr(b, op, NONE, true, operands, 1, in->file, in->line);
    moved.neg = v->neg;
    moved.abs = v->abs;
    *v = moved;
}

/* The same for a literal into SGPRs; a packed operand's pair holds it twice. */
static void to_sgpr(Builder *b, const struct instr *in, Val *v, int width)
{
    Val moved = sreg(b, width);
    Val source = *v;
    source.neg = source.abs = 0;
    for (int i = 0; i < width; i++)
        build_instr(b, OP_s_mov_b32, part(moved, i, 1), false, &source, 1, in->file, in->line);
    moved.neg = v->neg;
    moved.abs = v->abs;
    *v = moved;
}

static bool same_register(const Val *a, const Val *b)
{
    return a->kind == b->kind && a->id == b->id && a->sub == b->sub && a->width == b->width;
}

static void swap_sources(struct instr *in, const struct op_info *info)
{
    unsigned src = first_source(info);
    Val *a = &in->operands[src], *c = &in->operands[src + 1];
    if (info->swap == OP_none || c->kind == VAL_V || a->kind != VAL_V)
        return;
    Val t = *a;
    *a = *c;
    *c = t;
    in->op = info->swap;
}

/* One scalar register for all sources: masks first (they cannot move), then the rest in order. */
static void one_scalar(Builder *b, struct instr *in, const struct op_info *info, const Val **bus)
{
    if (info->flags & FLAG_VCC_R)
        *bus = &VCC;
    for (int i = 0; i < in->n; i++)
        if (info->operands[i].tag == TAG_MASK)
            *bus = &in->operands[i];
    for (unsigned i = first_source(info); i < in->n; i++) {
        Val *v = &in->operands[i];
        if (!is_scalar(v) || !(info->operands[i].access & ACC_R) || *bus == v)
            continue;
        if (!*bus)
            *bus = v;
        else if (!same_register(*bus, v))
            to_vgpr(b, in, v);
    }
}

static void vector_literals(Builder *b, struct instr *in, const struct op_info *info,
                            const Val *bus)
{
    unsigned src = first_source(info);
    bool e32 = has_32_bit_form(info) && !instr_needs_e64(in);
    Val held = {0};
    for (unsigned i = src; i < in->n; i++) {
        Val *v = &in->operands[i];
        if (!needs_literal(v) || info->operands[i].tag == TAG_LITERAL)
            continue;
        if (e32 && i == src && !bus) {
            bus = v;
        } else if (held.kind != VAL_NONE && v->imm == held.imm && v->kind == held.kind) {
            *v = *bus;
        } else if (!bus) {
            held = *v;
            to_sgpr(b, in, v, info->operands[i].width);
            bus = v;
        } else if (info->operands[i].width == 2) {
            Val pair = fill_v(b, 2, (uint32_t)v->imm);
            *v = pair;
        } else {
            to_vgpr(b, in, v);
        }
    }
}

/* DPP and SDWA read VGPRs only; their mask, where there is one, is VCC. */
static void vgpr_sources(Builder *b, struct instr *in, const struct op_info *info)
{
    for (unsigned i = first_source(info); i < in->n; i++)
        if (info->operands[i].tag != TAG_MASK && in->operands[i].kind != VAL_V)
            to_vgpr(b, in, &in->operands[i]);
    for (int i = 1; i < in->n; i++) {
        bool mask = info->operands[i].tag == TAG_MASK || (info->operands[i].access & ACC_W);
        if (mask && in->operands[i].kind != VAL_VCC)
            build_error(b, in->file, in->line, "%s: operand %d of a DPP or SDWA form is VCC",
                        info->name, i + 1);
    }
}

/* A constant is one dword for both halves: op_sel_hi 0 for it. */
static void packed_constants(Builder *b, struct instr *in, const struct op_info *info)
{
    int constants = 0;
    for (int i = 1; i < in->n; i++)
        if (val_is_inline(&in->operands[i]))
            constants |= 1 << (i - 1);
    if (!constants)
        return;
    for (int i = 0; i < in->n_mods; i++) {
        if (in->mods[i].id == MOD_OP_SEL_HI) {
            in->mods[i].imm &= ~constants;
            return;
        }
    }
    if (in->n_mods == INSTR_MODS) {
        build_error(b, in->file, in->line, "%s: too many modifiers", info->name);
        return;
    }
    in->mods[in->n_mods++] = op_sel_hi(((1 << (in->n - 1)) - 1) & ~constants);
}

static void legalise_vector(Builder *b, struct instr *in)
{
    const struct op_info *info = op_info(in->op);
    if (instr_is_dpp(in) || instr_is_sdwa(in)) {
        vgpr_sources(b, in, info);
        return;
    }
    if (info->enc == ENC_VOP2 || info->enc == ENC_VOPC) {
        swap_sources(in, info);
        info = op_info(in->op);
    }
    const Val *bus = NULL;
    one_scalar(b, in, info, &bus);
    if (info->enc == ENC_VOP2K) { /* its literal holds the bus */
        for (int i = 1; i < in->n; i++)
            if (is_scalar(&in->operands[i]) ||
                (info->operands[i].tag != TAG_LITERAL && needs_literal(&in->operands[i])))
                to_vgpr(b, in, &in->operands[i]);
        return;
    }
    vector_literals(b, in, info, bus);
    if (info->flags & FLAG_PK_F32)
        packed_constants(b, in, info);
}

static void legalise_scalar(Builder *b, struct instr *in)
{
    const Val *literal = NULL;
    for (int i = 0; i < in->n; i++) {
        Val *v = &in->operands[i];
        if (!needs_literal(v))
            continue;
        if (literal && literal->imm != v->imm)
            to_sgpr(b, in, v, 1);
        else
            literal = v;
    }
}

/* v_writelane_b32: value and lane share the constant bus. */
static void legalise_writelane(Builder *b, struct instr *in)
{
    Val *value = &in->operands[1], *lane = &in->operands[2];
    if (needs_literal(value))
        to_sgpr(b, in, value, 1);
    if (is_scalar(value) && is_scalar(lane) && !same_register(value, lane))
        build_error(b, in->file, in->line,
                    "v_writelane_b32 reads one scalar register: put the lane in M0 or a constant");
}

bool build_legalise(Builder *b, struct instr *in)
{
    const struct op_info *info = op_info(in->op);
    switch (info->enc) {
    case ENC_SOP1:
    case ENC_SOP2:
    case ENC_SOPC:
        legalise_scalar(b, in);
        break;
    case ENC_VOP1:
    case ENC_VOP2:
    case ENC_VOP2K:
    case ENC_VOPC:
    case ENC_VOP3:
    case ENC_VOP3P:
        if (in->op == OP_v_writelane_b32)
            legalise_writelane(b, in);
        else
            legalise_vector(b, in);
        break;
    case ENC_BUFFER: {
        Val *soffset = &in->operands[in->n - 1];
        if (needs_literal(soffset))
            to_sgpr(b, in, soffset, 1);
        break;
    }
    default:
        break;
    }
    return build_ok(b);
}
