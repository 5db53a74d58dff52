/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector ALU: sources are gathered into rows (broadcast scalars, DPP, SDWA), the arithmetic of
 * alu.h runs on them, and the results are merged into the registers under EXEC.
 */
#include "wave.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

#define ROW(name) _Alignas(64) uint32_t name[LANES]

CLONES static void broadcast(uint32_t *restrict row, uint32_t v)
{
    for (unsigned i = 0; i < LANES; i++)
        row[i] = v;
}

CLONES static void merge(uint32_t *restrict dst, const uint32_t *restrict src, uint64_t lanes)
{
    uint32_t lo = (uint32_t)lanes, hi = (uint32_t)(lanes >> 32);
    for (unsigned i = 0; i < 32; i++) {
        uint32_t m = -(lo >> i & 1);
        dst[i] = (src[i] & m) | (dst[i] & ~m);
    }
    for (unsigned i = 0; i < 32; i++) {
        uint32_t m = -(hi >> i & 1);
        dst[32 + i] = (src[32 + i] & m) | (dst[32 + i] & ~m);
    }
}

static void put_rows(struct wave *w, const struct opnd *o, const uint32_t *rows, unsigned n,
                     uint64_t lanes)
{
    uint32_t *dst = vrow(w, o, 0);
    if (lanes == ~0ull) {
        memcpy(dst, rows, (size_t)n * LANES * 4);
        return;
    }
    for (unsigned k = 0; k < n; k++)
        merge(dst + (size_t)k * LANES, rows + (size_t)k * LANES, lanes);
}

/* Lanes of the DPP source that each written lane reads, and the lanes that are written. */
static uint64_t dpp_lanes(const struct inst *in, uint64_t exec, uint64_t *sources)
{
    uint64_t write = 0, from = 0;
    for (unsigned i = 0; i < LANES; i++) {
        if (!(exec >> i & 1) || !(in->row_mask >> (i / 16) & 1) ||
            !(in->bank_mask >> (i / 4 % 4) & 1))
            continue;
        unsigned j = in->dpp_lane[i];
        bool valid = j < LANES && exec >> j & 1;
        if (valid)
            from |= 1ull << j;
        if (valid || in->bound_ctrl)
            write |= 1ull << i;
    }
    *sources = from;
    return write;
}

static void dpp_row(const struct inst *in, uint64_t exec, const uint32_t *src, uint32_t *out)
{
    for (unsigned i = 0; i < LANES; i++) {
        unsigned j = in->dpp_lane[i];
        out[i] = j < LANES && exec >> j & 1 ? src[j] : 0;
    }
}

static void sdwa_row(unsigned sel, bool sext, const uint32_t *src, uint32_t *out)
{
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t v = src[i];
        if (sel <= SEL_BYTE_3) {
            v = v >> (8 * sel) & 0xff;
            out[i] = sext ? (uint32_t)(int32_t)(int8_t)v : v;
        } else if (sel <= SEL_WORD_1) {
            v = v >> (16 * (sel - SEL_WORD_0)) & 0xffff;
            out[i] = sext ? (uint32_t)(int32_t)(int16_t)v : v;
        } else {
            out[i] = v;
        }
    }
}

static void sdwa_result(const struct inst *in, const uint32_t *old, uint32_t *row)
{
    if (in->dst_sel == SEL_DWORD)
        return;
    bool byte = in->dst_sel <= SEL_BYTE_3;
    unsigned shift = byte ? 8 * in->dst_sel : 16 * (in->dst_sel - SEL_WORD_0);
    uint32_t field = (byte ? 0xffu : 0xffffu) << shift;
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t v = row[i] << shift & field;
        uint32_t rest = 0;
        if (in->dst_unused == UNUSED_PRESERVE)
            rest = old[i] & ~field;
        else if (in->dst_unused == UNUSED_SEXT && row[i] >> (byte ? 7 : 15) & 1)
            rest = shift + (byte ? 8 : 16) >= 32 ? 0 : ~0u << (shift + (byte ? 8 : 16));
        row[i] = v | rest;
    }
}

static uint64_t read_mask(const struct wave *w, const struct inst *in)
{
    if (in->mask_src == -1)
        return 0;
    if (in->mask_src == -2)
        return (uint64_t)w->s[S_VCC + 1] << 32 | w->s[S_VCC];
    return read_s64(w, &in->op[in->mask_src]);
}

static inline void set_modes(struct emu_alu *a, const struct wave *w)
{
    a->denorm32 = w->alu_mode.denorm32;
    a->denorm16_64 = w->alu_mode.denorm16_64;
    a->round32 = w->alu_mode.round32;
    a->round16_64 = w->alu_mode.round16_64;
    a->mode = w->alu_mode.mode;
    a->fnuz = w->alu_mode.fnuz;
    a->precise = w->alu_mode.precise;
}

/* Rows of source k: the register itself, the immediate's rows, or a scalar broadcast into buf. */
static inline const uint32_t *source_rows(const struct wave *w, const struct inst *in, unsigned k,
                                          uint32_t *buf)
{
    const struct opnd *o = &in->op[in->src[k]];
    if (o->kind == OPND_V)
        return vrow(w, o, 0);
    if (o->row)
        return o->row;
    if (in->alu->src_dwords[k < 4 ? k : 3] >= 2) {
        uint64_t v = read_s64(w, o);
        broadcast(buf, (uint32_t)v);
        broadcast(buf + LANES, (uint32_t)(v >> 32));
    } else {
        broadcast(buf, read_s32(w, o));
    }
    return buf;
}

static inline void put_mask(struct wave *w, const struct inst *in, uint64_t mask)
{
    if (in->mask_dst >= 0)
        write_s64(w, in->op[in->mask_dst].reg, mask);
    if (in->flags & IF_CMPX)
        w->exec = mask;
}

static void exec_valu(struct wave *w, const struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    uint64_t exec = w->exec;
    if (!exec) {
        put_mask(w, in, 0);
        return;
    }
    struct emu_alu a = in->proto;
    _Alignas(64) uint32_t buf[3][2 * LANES];
    _Alignas(64) uint32_t out[32 * LANES]; /* 32 rows: the widest unpacking conversion */
    for (unsigned k = 0; k < in->nsrc; k++)
        a.src[k] = source_rows(w, in, k, buf[k]);
    set_modes(&a, w);
    a.exec = exec;
    a.carry_in = read_mask(w, in);
    a.dst = out;
    unsigned n = op->dst_dwords;
    bool direct = in->apart && exec == ~0ull;
    if (direct)
        a.dst = vrow(w, &in->op[in->dst], 0);
    else if (op->flags & EMU_ALU_READS_DST)
        memcpy(out, vrow(w, &in->op[in->dst], 0), (size_t)n * LANES * 4);
    op->fn(&a);
    if (n && !direct)
        put_rows(w, &in->op[in->dst], out, n, exec);
    if (op->flags & (EMU_ALU_MASK_OUT | EMU_ALU_CMPX))
        put_mask(w, in, a.mask_out & exec);
}

/* DPP, SDWA and the instructions that write their first source. */
static void exec_valu_lanes(struct wave *w, const struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    uint64_t exec = w->exec, write = exec;
    if (!exec) {
        put_mask(w, in, 0);
        return;
    }
    struct emu_alu a = in->proto;
    _Alignas(64) uint32_t buf[3][2 * LANES];
    _Alignas(64) uint32_t moved[3][2 * LANES];
    _Alignas(64) uint32_t out[2 * LANES];
    for (unsigned k = 0; k < in->nsrc; k++) {
        const uint32_t *src = source_rows(w, in, k, buf[k]);
        unsigned n = op->src_dwords[k];
        if (in->flags & IF_DPP && k == 0) {
            uint64_t from;
            write = dpp_lanes(in, exec, &from);
            const struct opnd *o = &in->op[in->src[0]];
            if (w->xcd->launch->checks && !check_vgpr(w, in, vnum(o), o->n, from))
                return;
            for (unsigned r = 0; r < n; r++)
                dpp_row(in, exec, src + r * LANES, moved[k] + r * LANES);
            src = moved[k];
        } else if (in->flags & IF_SDWA && k < 2) {
            sdwa_row(in->src_sel[k], in->op[in->src[k]].sext, src, moved[k]);
            src = moved[k];
        } else if (op->flags & EMU_ALU_WRITES_SRC0 && k == 0) {
            memcpy(moved[k], src, (size_t)n * LANES * 4);
            src = moved[k];
        }
        a.src[k] = src;
    }
    set_modes(&a, w);
    a.exec = write;
    a.carry_in = read_mask(w, in);
    a.dst = out;
    unsigned n = op->dst_dwords;
    if (n)
        memcpy(out, vrow(w, &in->op[in->dst], 0), (size_t)n * LANES * 4);
    op->fn(&a);
    if (n) {
        if (in->flags & IF_SDWA)
            sdwa_result(in, vrow(w, &in->op[in->dst], 0), out);
        put_rows(w, &in->op[in->dst], out, n, write);
        if (in->flags & IF_DPP)
            for (unsigned k = 0; k < n; k++)
                w->ok[vnum(&in->op[in->dst]) + k] |= write;
    }
    if (op->flags & EMU_ALU_WRITES_SRC0)
        put_rows(w, &in->op[in->src[0]], moved[0], op->src_dwords[0], exec);
    if (op->flags & (EMU_ALU_MASK_OUT | EMU_ALU_CMPX))
        put_mask(w, in, a.mask_out & exec);
}

static void exec_mfma(struct wave *w, const struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    struct emu_alu a = in->proto;
    _Alignas(64) uint32_t out[32 * LANES];
    _Alignas(64) uint32_t scales[2 * LANES];
    for (unsigned k = 0; k < in->nsrc && k < 3; k++) {
        const struct opnd *o = &in->op[in->src[k]];
        a.src[k] = o->kind == OPND_V ? vrow(w, o, 0) : o->row;
    }
    if (in->nsrc == 4) {
        a.src[3] = vrow(w, &in->op[in->src[3]], 0);
    } else if (in->nsrc == 5) {
        for (unsigned k = 0; k < 2; k++)
            memcpy(scales + k * LANES, vrow(w, &in->op[in->src[3 + k]], 0), LANES * 4);
        a.src[3] = scales;
    }
    set_modes(&a, w);
    a.exec = ~0ull;
    a.dst = out;
    unsigned n = in->op[0].n;
    if (op->flags & EMU_ALU_READS_DST)
        memcpy(out, vrow(w, &in->op[0], 0), (size_t)n * LANES * 4);
    op->fn(&a);
    memcpy(vrow(w, &in->op[0], 0), out, (size_t)n * LANES * 4);
    w->macs += (uint64_t)in->hw_width << 8;
}

/* ---- moves between lanes and files ---- */

static void exec_nop(struct wave *w, const struct inst *in)
{
    (void)w, (void)in;
}

static void exec_readlane(struct wave *w, const struct inst *in)
{
    unsigned lane = read_s32(w, &in->op[2]) & 63;
    const struct opnd *o = &in->op[1];
    unsigned reg = vnum(o);
    if (w->xcd->launch->checks && ~w->ok[reg] >> lane & 1) {
        /* What a compiler parked there may be undefined; that passes on to the scalar register. */
        if (w->flight[reg] >> lane & 1 || o->reg >= (o->acc ? w->na : w->nv)) {
            check_vgpr(w, in, reg, 1, 1ull << lane);
            return;
        }
        w->undef_pending = true;
        w->undef_bits = 0xffffffff;
    }
    write_s32(w, in->op[0].reg, vrow(w, o, 0)[lane]);
}

static void exec_readfirstlane(struct wave *w, const struct inst *in)
{
    unsigned lane = w->exec ? (unsigned)__builtin_ctzll(w->exec) : 0;
    const struct opnd *o = &in->op[1];
    uint32_t v;
    if (o->kind == OPND_V) {
        if (w->xcd->launch->checks && !check_vgpr(w, in, vnum(o), 1, 1ull << lane))
            return;
        v = vrow(w, o, 0)[lane];
    } else {
        v = read_s32(w, o);
    }
    write_s32(w, in->op[0].reg, v);
}

static void exec_writelane(struct wave *w, const struct inst *in)
{
    unsigned lane = read_s32(w, &in->op[2]) & 63;
    vrow(w, &in->op[0], 0)[lane] = read_s32(w, &in->op[1]);
    w->ok[vnum(&in->op[0])] |= 1ull << lane;
}

/* Compilers spill whole registers this way, whichever lanes hold something: a copy is no use of
 * what nobody wrote, it is undefined in the same lanes. */
static void exec_accvgpr(struct wave *w, const struct inst *in)
{
    const struct opnd *o = &in->op[1];
    unsigned to = vnum(&in->op[0]);
    uint64_t ok = ~0ull;
    if (o->kind == OPND_V) {
        unsigned from = vnum(o), limit = o->acc ? w->na : w->nv;
        uint64_t bad = o->reg >= limit ? w->exec : w->flight[from] & w->exec;
        if (w->xcd->launch->checks && bad && !check_vgpr(w, in, from, 1, bad))
            return;
        ok = w->ok[from];
        put_rows(w, &in->op[0], vrow(w, o, 0), 1, w->exec);
    } else {
        ROW(row);
        broadcast(row, read_s32(w, o));
        put_rows(w, &in->op[0], row, 1, w->exec);
    }
    w->ok[to] = (w->ok[to] & ~w->exec) | (ok & w->exec);
}

struct move_row {
    const char *name;
    inst_fn *fn;
    uint8_t dst_kind, src_kind, dst_lanes, src_lanes;
    uint32_t flags;
};
static const struct move_row moves[] = {
    {"v_nop",               exec_nop,           0,        0,            0,         0,         0           },
    {"v_readlane_b32",      exec_readlane,      USE_VALU, USE_READLANE, LANES_ALL, LANES_OWN, IF_READLANE },
    {"v_readfirstlane_b32", exec_readfirstlane, USE_VALU, USE_READLANE, LANES_ALL, LANES_OWN,
     IF_READLANE                                                                                          },
    {"v_writelane_b32",     exec_writelane,     USE_VALU, USE_VALU,     LANES_OWN, LANES_ALL, IF_WRITELANE},
    {"v_accvgpr_read_b32",  exec_accvgpr,       USE_VALU, USE_VALU,     LANES_OWN, LANES_OWN, 0           },
    {"v_accvgpr_write_b32", exec_accvgpr,       USE_VALU, USE_VALU,     LANES_OWN, LANES_OWN, 0           },
    {"v_accvgpr_mov_b32",   exec_accvgpr,       USE_VALU, USE_VALU,     LANES_OWN, LANES_OWN, 0           },
};

const char *valu_move_name(size_t i)
{
    return i < sizeof(moves) / sizeof(moves[0]) ? moves[i].name : NULL;
}

static bool decode_move(struct inst *in)
{
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        const struct move_row *r = &moves[i];
        if (strcmp(r->name, in->mnemonic) != 0)
            continue;
        in->exec = r->fn;
        in->flags |= IF_VALU | r->flags;
        if (in->nops >= 2) {
            /* An immediate's bits are those of a 32-bit source. */
            inst_writes(in, 0, r->dst_kind, r->dst_lanes);
            inst_reads(in, 1, r->src_kind, r->src_lanes);
            if (in->nops > 2)
                inst_reads(in, 2, USE_LANESEL, LANES_ALL);
        }
        return true;
    }
    return false;
}

/* ---- decoding ---- */

/* The last type in a mnemonic: that of its sources. */
static const char *source_type(const char *mnemonic)
{
    static const char *const types[] = {"f16", "f32", "f64", "bf16", "i16", "u16", "i32", "u32",
                                        "b32", "i64", "u64", "b64",  "b16", "i8",  "u8"};
    const char *type = "b32";
    const char *p = mnemonic;
    while ((p = strchr(p, '_'))) {
        p++;
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            size_t n = strlen(types[i]);
            if (strncmp(p, types[i], n) == 0 && (p[n] == 0 || p[n] == '_'))
                type = types[i];
        }
    }
    return type;
}

static bool has(const struct inst *in, const char *part)
{
    return strstr(in->mnemonic, part) != NULL;
}

static void immediate_rows(struct inst *in, unsigned k, unsigned dwords, const char *type)
{
    struct opnd *o = &in->op[in->src[k]];
    if (o->kind != OPND_IMM)
        return;
    bool plain = (has(in, "scalef32") || has(in, "dot2_f32") || has(in, "_mix")) &&
                 (strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0) &&
                 (has(in, "scalef32") || k == 2);
    bool mfma = in->flags & IF_MFMA;
    uint64_t bits = opnd_bits(o, plain || (mfma && dwords != 2) ? "f32" : type,
                              mfma && !has(in, "f64") ? 1
                              : dwords > 2            ? 1
                                                      : dwords);
    if (has(in, "v_ldexp_f64") && k == 1)
        bits = o->imm;
    uint32_t *rows = aligned_alloc(64, (size_t)(dwords ? dwords : 1) * LANES * 4);
    if (!rows)
        return;
    for (unsigned r = 0; r < dwords || r == 0; r++) {
        uint32_t v = (uint32_t)bits;
        if (!mfma && r == 1)
            v = (uint32_t)(bits >> 32);
        if (mfma && has(in, "f64"))
            v = (uint32_t)(r & 1 ? bits >> 32 : bits);
        broadcast(rows + (size_t)r * LANES, v);
    }
    o->row = rows;
}

static uint8_t mfma_passes(const struct inst *in)
{
    const char *m = in->mnemonic;
    bool big = strstr(m, "32x32") != NULL;
    if (strstr(m, "f64"))
        return strstr(m, "_4b") ? 4 : 8;
    if (strstr(m, "_16b"))
        return 2;
    if (strstr(m, "_4b"))
        return 8;
    if (strstr(m, "_2b"))
        return 16;
    size_t n = strlen(m);
    bool f32_in = n > 4 && strcmp(m + n - 4, "_f32") == 0;
    bool fp8 = strstr(m, "f8f6f4") && (in->cbsz < 2 || in->blgp < 2);
    unsigned passes = big ? 8 : 4;
    if ((f32_in && !strstr(m, "xf32")) || fp8)
        passes *= 2;
    return (uint8_t)passes;
}

/* Multiply-adds in units of 256, kept in hw_width (which no VALU instruction uses). */
static uint8_t mfma_macs(const char *mnemonic)
{
    unsigned d[3] = {0}, k = 0, blocks = 1;
    const char *p = mnemonic;
    while (*p && !(p[0] >= '0' && p[0] <= '9' && (p[1] == 'x' || p[2] == 'x')))
        p++;
    while (*p && k < 3) {
        d[k++] = (unsigned)strtoul(p, (char **)&p, 10);
        if (*p == 'x')
            p++;
    }
    if (*p == '_')
        blocks = (unsigned)strtoul(p + 1, NULL, 10);
    unsigned long n = (unsigned long)d[0] * d[1] * d[2] * (blocks ? blocks : 1) / 256;
    return (uint8_t)(n > 255 ? 255 : n);
}

static void decode_mfma(struct inst *in)
{
    in->flags |= IF_MFMA;
    in->passes = mfma_passes(in);
    size_t n = strlen(in->mnemonic);
    if (has(in, "f64"))
        in->flags |= IF_DGEMM;
    else if (strcmp(in->mnemonic + n - 4, "_f32") != 0 || has(in, "xf32"))
        in->flags |= IF_XDL;
    in->exec = exec_mfma;
    in->hw_width = mfma_macs(in->mnemonic);
    bool sparse = has(in, "smfmac");
    in->nsrc = (uint8_t)(in->nops - 1);
    for (unsigned k = 0; k < in->nsrc && k < 5; k++) {
        in->src[k] = (int8_t)(k + 1);
        if (sparse && k == 2) /* the index register */
            inst_reads(in, 3, USE_MFMA_AB, LANES_ALL);
        else
            inst_reads(in, (int)k + 1, k == 2 ? USE_MFMA_C : USE_MFMA_AB, LANES_ALL);
        immediate_rows(in, k, k == 2 ? in->op[0].n : 1, source_type(in->mnemonic));
    }
    if (sparse)
        inst_reads(in, 0, USE_MFMA_C, LANES_ALL);
    inst_writes(in, 0, USE_MFMA_D, LANES_ALL);
    in->dst = 0;
    if (in->op_sel_hi == 0xff)
        in->proto.op_sel_hi = 0;
}

/* Mnemonics that use the old destination as a source; others that keep a part of it only pass it
 * on. */
static bool accumulates(const struct inst *in)
{
    return has(in, "fmac") || has(in, "_mac_") || has(in, "dot2c") || has(in, "dot4c") ||
           has(in, "dot8c") || has(in, "v_swap") || has(in, "permlane");
}

static bool partial_write(const struct inst *in)
{
    if (in->flags & IF_SDWA)
        return in->dst_sel != SEL_DWORD && in->dst >= 0;
    if (has(in, "sr_pk_fp4") || has(in, "sr_pk32"))
        return has(in, "sr_pk_fp4");
    uint8_t sel = in->proto.op_sel;
    if (in->alu->flags & EMU_ALU_PACKED)
        return false;
    bool bytes =
        has(in, "sr_fp8") || has(in, "sr_bf8") || has(in, "pk_fp4_") || has(in, "scalef32_f16_");
    return (sel & 8) || (bytes && in->op_sel_count == 4 && (sel & 4));
}

/* The text lists one bit a source and then, unless packed, the destination's, which is bit 3 of the
 * encoding. */
static uint8_t op_sel_bits(const struct inst *in)
{
    if (in->alu->flags & (EMU_ALU_PACKED | EMU_ALU_MFMA) || has(in, "_mix"))
        return in->op_sel;
    unsigned n = in->op_sel_count;
    if (n == 2 || n == 3)
        return (uint8_t)((in->op_sel & ((1u << (n - 1)) - 1)) | (in->op_sel >> (n - 1) & 1) << 3);
    return in->op_sel;
}

static int assign_operands(struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    int at = 0;
    if (op->dst_dwords)
        in->dst = (int8_t)at++;
    if (op->flags & (EMU_ALU_MASK_OUT | EMU_ALU_CMPX) &&
        (!op->dst_dwords || in->op[at].kind == OPND_S))
        in->mask_dst = (int8_t)at++;
    bool literal =
        has(in, "v_fmaak") || has(in, "v_fmamk") || has(in, "v_madak") || has(in, "v_madmk");
    for (unsigned k = 0; k < 4 && op->src_dwords[k] && at < in->nops; k++) {
        bool middle = has(in, "mk_") && k == 1;
        if (literal && middle) {
            in->proto.imm = (uint32_t)opnd_bits(&in->op[at], has(in, "f16") ? "f16" : "f32", 1);
            at++;
        }
        if (literal && k == 2)
            break;
        in->src[in->nsrc++] = (int8_t)at++;
    }
    if (literal && has(in, "ak_") && at < in->nops)
        in->proto.imm = (uint32_t)opnd_bits(&in->op[at++], has(in, "f16") ? "f16" : "f32", 1);
    if (op->flags & EMU_ALU_MASK_IN)
        in->mask_src = (int8_t)(at < in->nops ? at++ : -2);
    return at;
}

static void fill_proto(struct inst *in)
{
    struct emu_alu *p = &in->proto;
    for (unsigned k = 0; k < in->nsrc; k++) {
        const struct opnd *o = &in->op[in->src[k]];
        p->neg |= (uint8_t)(o->neg << k);
        p->abs |= (uint8_t)(o->abs << k);
    }
    p->op_sel = op_sel_bits(in);
    p->op_sel_hi = in->op_sel_hi == 0xff && has(in, "_mix") ? 0 : in->op_sel_hi;
    p->neg |= in->neg_lo;
    p->neg_hi = in->neg_hi;
    p->omod = in->omod;
    p->clamp = in->clamp;
    if (in->bitop3 || has(in, "bitop3"))
        p->imm = in->bitop3;
    p->cbsz = in->cbsz;
    p->abid = in->abid;
    p->blgp = in->blgp;
}

static void list_uses(struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    bool permswap = has(in, "permlane") && has(in, "swap");
    enum use_kind kind = permswap ? USE_PERMSWAP : USE_VALU;
    if (permswap)
        in->flags |= IF_PERMSWAP;
    for (unsigned k = 0; k < in->nsrc; k++) {
        bool dpp = in->flags & IF_DPP && k == 0;
        inst_reads(in, in->src[k], dpp ? USE_DPP : kind, dpp ? LANES_OWN : LANES_EXEC);
        const struct opnd *o = &in->op[in->src[k]];
        if (o->kind == OPND_S && o->reg >= S_EXEC)
            in->flags |= IF_EXEC_DATA;
        if (o->kind == OPND_SPECIAL && o->reg >= SPECIAL_VCCZ)
            in->flags |= IF_EXEC_DATA;
    }
    if (in->mask_src >= 0)
        inst_reads(in, in->mask_src, USE_MASK, LANES_ALL);
    else if (in->mask_src == -2)
        inst_reads_reg(in, REG_S + S_VCC, 2, has(in, "div_fmas") ? USE_DIVFMAS : USE_MASK,
                       LANES_ALL);
    if (op->flags & EMU_ALU_READS_DST && in->dst >= 0 && accumulates(in))
        inst_reads(in, in->dst, kind, LANES_EXEC);
    inst_writes(in, in->dst, kind, in->flags & IF_DPP ? LANES_OWN : LANES_EXEC);
    inst_writes(in, in->mask_dst, USE_VALU, LANES_ALL);
    if (op->flags & EMU_ALU_WRITES_SRC0)
        inst_writes(in, in->src[0], kind, LANES_EXEC);
}

/* Is the result in registers that no source is read from? Then it may be written where it belongs,
 * lane by lane. */
static bool stands_apart(const struct inst *in)
{
    const struct emu_alu_op *op = in->alu;
    if (in->dst < 0 || !op->dst_dwords || op->flags & EMU_ALU_READS_DST)
        return false;
    unsigned first = vnum(&in->op[in->dst]), end = first + op->dst_dwords;
    for (unsigned k = 0; k < in->nsrc; k++) {
        const struct opnd *o = &in->op[in->src[k]];
        if (o->kind == OPND_V && vnum(o) < end && first < vnum(o) + o->n)
            return false;
    }
    return true;
}

void decode_valu(struct inst *in)
{
    if (in->mnemonic[0] != 'v' || in->mnemonic[1] != '_')
        return;
    if (decode_move(in))
        return;
    const struct emu_alu_op *op = emu_alu_find(in->mnemonic);
    if (!op)
        return;
    in->alu = op;
    in->flags |= IF_VALU;
    if (op->flags & EMU_ALU_TRANS)
        in->flags |= IF_TRANS;
    if (op->flags & EMU_ALU_DOT)
        in->flags |= IF_DOT;
    if (op->flags & EMU_ALU_CMPX)
        in->flags |= IF_CMPX;
    if (op->flags & EMU_ALU_MFMA) {
        fill_proto(in);
        decode_mfma(in);
        return;
    }
    assign_operands(in);
    fill_proto(in);
    for (unsigned k = 0; k < in->nsrc; k++)
        immediate_rows(in, k, op->src_dwords[k], source_type(in->mnemonic));
    undefined_decode(in);
    if (partial_write(in))
        in->flags |= IF_PARTIAL;
    list_uses(in);
    bool lanes = in->flags & (IF_DPP | IF_SDWA) || op->flags & EMU_ALU_WRITES_SRC0;
    in->exec = lanes ? exec_valu_lanes : exec_valu;
    in->apart = stands_apart(in);
    /* A packed source of two dwords or more than the buffers hold needs registers. */
    for (unsigned k = 0; k < in->nsrc; k++)
        if (in->op[in->src[k]].kind != OPND_V && op->src_dwords[k] > 2)
            in->exec = exec_unknown;
    if (op->dst_dwords > (lanes ? 2 : 32))
        in->exec = exec_unknown;
}
