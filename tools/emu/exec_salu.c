/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar ALU, branches, barriers, mode and hardware registers: SOP1, SOP2, SOPC, SOPK, SOPP. One
 * function an instruction, one row of the table each.
 */
#include "wave.h"

#include <string.h>

static uint64_t special(const struct wave *w, unsigned reg)
{
    switch (reg) {
    case SPECIAL_SHARED_BASE:
        return (uint64_t)APERTURE_SHARED << 32;
    case SPECIAL_SHARED_LIMIT:
        return (uint64_t)APERTURE_SHARED << 32 | 0xffffffff;
    case SPECIAL_PRIVATE_BASE:
        return (uint64_t)APERTURE_PRIVATE << 32;
    case SPECIAL_PRIVATE_LIMIT:
        return (uint64_t)APERTURE_PRIVATE << 32 | 0xffffffff;
    case SPECIAL_VCCZ:
        return !(w->s[S_VCC] | w->s[S_VCC + 1]);
    case SPECIAL_EXECZ:
        return !w->exec;
    case SPECIAL_SCC:
        return w->scc;
    default:
        return 0;
    }
}

uint32_t read_s32(const struct wave *w, const struct opnd *o)
{
    if (o->kind == OPND_IMM)
        return o->imm;
    if (o->kind == OPND_S) {
        if (o->reg >= S_EXEC)
            return (uint32_t)(w->exec >> (o->reg == S_EXEC ? 0 : 32));
        return w->s[o->reg & 127];
    }
    /* A 32-bit read of an aperture gives the high half, which is all that it has. */
    if (o->kind == OPND_SPECIAL)
        return o->reg <= SPECIAL_PRIVATE_LIMIT ? (uint32_t)(special(w, o->reg) >> 32)
                                               : (uint32_t)special(w, o->reg);
    return 0;
}

uint64_t read_s64(const struct wave *w, const struct opnd *o)
{
    if (o->kind == OPND_IMM)
        return opnd_bits(o, "b64", 2);
    if (o->kind == OPND_S) {
        if (o->reg >= S_EXEC)
            return w->exec;
        return (uint64_t)w->s[(o->reg + 1) & 127] << 32 | w->s[o->reg & 127];
    }
    return o->kind == OPND_SPECIAL ? special(w, o->reg) : 0;
}

void write_s32(struct wave *w, unsigned reg, uint32_t v)
{
    if (reg == S_EXEC)
        w->exec = (w->exec & ~0xffffffffull) | v;
    else if (reg == S_EXEC + 1)
        w->exec = (w->exec & 0xffffffffull) | (uint64_t)v << 32;
    else
        w->s[reg & 127] = v;
}

void write_s64(struct wave *w, unsigned reg, uint64_t v)
{
    if (reg >= S_EXEC) {
        w->exec = v;
    } else {
        w->s[reg & 127] = (uint32_t)v;
        w->s[(reg + 1) & 127] = (uint32_t)(v >> 32);
    }
}

void set_mode(struct wave *w, uint32_t mode)
{
    w->mode = mode;
    w->alu_mode.round32 = mode & 3;
    w->alu_mode.round16_64 = mode >> 2 & 3;
    w->alu_mode.denorm32 = mode >> 4 & 3;
    w->alu_mode.denorm16_64 = mode >> 6 & 3;
    w->alu_mode.mode =
        (uint8_t)((mode >> 8 & 1 ? EMU_MODE_DX10_CLAMP : 0) | (mode >> 9 & 1 ? EMU_MODE_IEEE : 0) |
                  (mode >> 23 & 1 ? EMU_MODE_OVFL : 0));
}

/* Operands by their place: D is the destination, the sources follow. */
#define FN(name) static void name(struct wave *w, const struct inst *in)
#define A32(i) read_s32(w, &in->op[i])
#define A64(i) read_s64(w, &in->op[i])
#define D32(v) write_s32(w, in->op[0].reg, (v))
#define D64(v) write_s64(w, in->op[0].reg, (v))
#define UNUSED_WAVE (void)w, (void)in

#define BIN32(name, expr)                                                                          \
    FN(name)                                                                                       \
    {                                                                                              \
        uint32_t a = A32(1), b = A32(2), r = (expr);                                               \
        D32(r);                                                                                    \
    }
#define BIN32_SCC(name, expr, scc_expr)                                                            \
    FN(name)                                                                                       \
    {                                                                                              \
        uint32_t a = A32(1), b = A32(2), r = (expr);                                               \
        bool scc_ = (scc_expr);                                                                    \
        D32(r);                                                                                    \
        w->scc = scc_;                                                                             \
    }
#define BIN64_SCC(name, expr)                                                                      \
    FN(name)                                                                                       \
    {                                                                                              \
        uint64_t a = A64(1), b = A64(2), r = (expr);                                               \
        D64(r);                                                                                    \
        w->scc = r != 0;                                                                           \
    }
#define UN32_SCC(name, expr)                                                                       \
    FN(name)                                                                                       \
    {                                                                                              \
        uint32_t a = A32(1), r = (expr);                                                           \
        D32(r);                                                                                    \
        w->scc = r != 0;                                                                           \
    }
#define UN64_SCC(name, expr)                                                                       \
    FN(name)                                                                                       \
    {                                                                                              \
        uint64_t a = A64(1), r = (expr);                                                           \
        D64(r);                                                                                    \
        w->scc = r != 0;                                                                           \
    }
#define UN32(name, expr)                                                                           \
    FN(name)                                                                                       \
    {                                                                                              \
        uint32_t a = A32(1);                                                                       \
        D32(expr);                                                                                 \
    }
#define SHIFT64_SCC(name, expr)                                                                    \
    FN(name)                                                                                       \
    {                                                                                              \
        uint64_t a = A64(1);                                                                       \
        uint32_t b = A32(2);                                                                       \
        uint64_t r = (expr);                                                                       \
        D64(r);                                                                                    \
        w->scc = r != 0;                                                                           \
    }
#define CMP32(name, type, op)                                                                      \
    FN(name)                                                                                       \
    {                                                                                              \
        w->scc = (type)A32(0) op(type) A32(1);                                                     \
    }
#define CMPK(name, type, rel)                                                                      \
    FN(name)                                                                                       \
    {                                                                                              \
        type k = (type##_k)in->op[1].imm;                                                          \
        w->scc = (type)A32(0) rel k;                                                               \
    }
typedef int16_t int32_t_k;
typedef uint16_t uint32_t_k;

static bool add_overflow(uint32_t a, uint32_t b, uint32_t r)
{
    return ((a ^ r) & (b ^ r)) >> 31;
}
static bool sub_overflow(uint32_t a, uint32_t b, uint32_t r)
{
    return ((a ^ b) & (a ^ r)) >> 31;
}
static uint64_t bfm(uint32_t width, uint32_t at, unsigned max)
{
    uint64_t ones = width >= 64 ? ~0ull : (1ull << width) - 1;
    (void)max;
    return ones << at;
}
static uint32_t bfe_u32(uint32_t a, uint32_t b)
{
    uint32_t at = b & 31, n = b >> 16 & 127;
    if (n == 0)
        return 0;
    return n >= 32 ? a >> at : a >> at & ((1u << n) - 1);
}
static uint32_t bfe_i32(uint32_t a, uint32_t b)
{
    uint32_t at = b & 31, n = b >> 16 & 127;
    if (n == 0)
        return 0;
    if (at + n >= 32)
        return (uint32_t)((int32_t)a >> at);
    return (uint32_t)((int32_t)(a << (32 - at - n)) >> (32 - n));
}
static uint64_t bfe_u64(uint64_t a, uint32_t b)
{
    uint32_t at = b & 63, n = b >> 16 & 127;
    if (n == 0)
        return 0;
    return n >= 64 ? a >> at : a >> at & ((1ull << n) - 1);
}
static uint64_t bfe_i64(uint64_t a, uint32_t b)
{
    uint32_t at = b & 63, n = b >> 16 & 127;
    if (n == 0)
        return 0;
    if (at + n >= 64)
        return (uint64_t)((int64_t)a >> at);
    return (uint64_t)((int64_t)(a << (64 - at - n)) >> (64 - n));
}
static uint32_t brev32(uint32_t a)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}
static uint64_t brev64(uint64_t a)
{
    return (uint64_t)brev32((uint32_t)a) << 32 | brev32((uint32_t)(a >> 32));
}
static uint32_t wqm32(uint32_t a)
{
    uint32_t q = (a | a >> 1 | a >> 2 | a >> 3) & 0x11111111;
    return q * 15;
}
static uint64_t wqm64(uint64_t a)
{
    return (uint64_t)wqm32((uint32_t)(a >> 32)) << 32 | wqm32((uint32_t)a);
}
static uint32_t flbit_i32(uint32_t a)
{
    uint32_t x = (int32_t)a < 0 ? ~a : a;
    return x ? (uint32_t)__builtin_clz(x) : 0xffffffff;
}
static uint32_t flbit_i64(uint64_t a)
{
    uint64_t x = (int64_t)a < 0 ? ~a : a;
    return x ? (uint32_t)__builtin_clzll(x) : 0xffffffff;
}

BIN32_SCC(s_add_u32, a + b, r < a)
BIN32_SCC(s_sub_u32, a - b, b > a)
BIN32_SCC(s_add_i32, a + b, add_overflow(a, b, r))
BIN32_SCC(s_sub_i32, a - b, sub_overflow(a, b, r))
BIN32_SCC(s_addc_u32, a + b + w->scc, (uint64_t)a + b + w->scc > 0xffffffff)
BIN32_SCC(s_subb_u32, a - b - w->scc, (uint64_t)b + w->scc > a)
BIN32_SCC(s_min_i32, (int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b)
BIN32_SCC(s_min_u32, a < b ? a : b, a < b)
BIN32_SCC(s_max_i32, (int32_t)a > (int32_t)b ? a : b, (int32_t)a > (int32_t)b)
BIN32_SCC(s_max_u32, a > b ? a : b, a > b)
BIN32(s_cselect_b32, w->scc ? a : b)
FN(s_cselect_b64)
{
    D64(w->scc ? A64(1) : A64(2));
}
BIN32_SCC(s_and_b32, a &b, r != 0)
BIN32_SCC(s_or_b32, a | b, r != 0)
BIN32_SCC(s_xor_b32, a ^ b, r != 0)
BIN32_SCC(s_andn2_b32, a & ~b, r != 0)
BIN32_SCC(s_orn2_b32, a | ~b, r != 0)
BIN32_SCC(s_nand_b32, ~(a &b), r != 0)
BIN32_SCC(s_nor_b32, ~(a | b), r != 0)
BIN32_SCC(s_xnor_b32, ~(a ^ b), r != 0)
BIN64_SCC(s_and_b64, a &b)
BIN64_SCC(s_or_b64, a | b)
BIN64_SCC(s_xor_b64, a ^ b)
BIN64_SCC(s_andn2_b64, a & ~b)
BIN64_SCC(s_orn2_b64, a | ~b)
BIN64_SCC(s_nand_b64, ~(a &b))
BIN64_SCC(s_nor_b64, ~(a | b))
BIN64_SCC(s_xnor_b64, ~(a ^ b))
BIN32_SCC(s_lshl_b32, a << (b & 31), r != 0)
BIN32_SCC(s_lshr_b32, a >> (b & 31), r != 0)
BIN32_SCC(s_ashr_i32, (uint32_t)((int32_t)a >> (b & 31)), r != 0)
SHIFT64_SCC(s_lshl_b64, a << (b & 63))
SHIFT64_SCC(s_lshr_b64, a >> (b & 63))
SHIFT64_SCC(s_ashr_i64, (uint64_t)((int64_t)a >> (b & 63)))
BIN32(s_bfm_b32, (uint32_t)bfm(a & 31, b & 31, 32))
FN(s_bfm_b64)
{
    D64(bfm(A32(1) & 63, A32(2) & 63, 64));
}
BIN32(s_mul_i32, a *b)
BIN32(s_mul_hi_u32, (uint32_t)((uint64_t)a * b >> 32))
BIN32(s_mul_hi_i32, (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32))
BIN32_SCC(s_bfe_u32, bfe_u32(a, b), r != 0)
BIN32_SCC(s_bfe_i32, bfe_i32(a, b), r != 0)
SHIFT64_SCC(s_bfe_u64, bfe_u64(a, b))
SHIFT64_SCC(s_bfe_i64, bfe_i64(a, b))
BIN32_SCC(s_absdiff_i32, (int32_t)a > (int32_t)b ? a - b : b - a, r != 0)
BIN32_SCC(s_lshl1_add_u32, (a << 1) + b, ((uint64_t)a << 1) + b > 0xffffffff)
BIN32_SCC(s_lshl2_add_u32, (a << 2) + b, ((uint64_t)a << 2) + b > 0xffffffff)
BIN32_SCC(s_lshl3_add_u32, (a << 3) + b, ((uint64_t)a << 3) + b > 0xffffffff)
BIN32_SCC(s_lshl4_add_u32, (a << 4) + b, ((uint64_t)a << 4) + b > 0xffffffff)
BIN32(s_pack_ll_b32_b16, (a & 0xffff) | b << 16)
BIN32(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000))
BIN32(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000))

UN32(s_mov_b32, a)
FN(s_mov_b64)
{
    D64(A64(1));
}
FN(s_cmov_b32)
{
    if (w->scc)
        D32(A32(1));
}
FN(s_cmov_b64)
{
    if (w->scc)
        D64(A64(1));
}
UN32_SCC(s_not_b32, ~a)
UN64_SCC(s_not_b64, ~a)
UN32_SCC(s_wqm_b32, wqm32(a))
UN64_SCC(s_wqm_b64, wqm64(a))
UN32(s_brev_b32, brev32(a))
FN(s_brev_b64)
{
    D64(brev64(A64(1)));
}
UN32_SCC(s_bcnt0_i32_b32, 32 - (uint32_t)__builtin_popcount(a))
UN32_SCC(s_bcnt1_i32_b32, (uint32_t)__builtin_popcount(a))
FN(s_bcnt0_i32_b64)
{
    uint32_t r = 64 - (uint32_t)__builtin_popcountll(A64(1));
    D32(r);
    w->scc = r != 0;
}
FN(s_bcnt1_i32_b64)
{
    uint32_t r = (uint32_t)__builtin_popcountll(A64(1));
    D32(r);
    w->scc = r != 0;
}
UN32(s_ff0_i32_b32, ~a ? (uint32_t)__builtin_ctz(~a) : 0xffffffff)
UN32(s_ff1_i32_b32, a ? (uint32_t)__builtin_ctz(a) : 0xffffffff)
FN(s_ff0_i32_b64)
{
    uint64_t a = ~A64(1);
    D32(a ? (uint32_t)__builtin_ctzll(a) : 0xffffffff);
}
FN(s_ff1_i32_b64)
{
    uint64_t a = A64(1);
    D32(a ? (uint32_t)__builtin_ctzll(a) : 0xffffffff);
}
UN32(s_flbit_i32_b32, a ? (uint32_t)__builtin_clz(a) : 0xffffffff)
FN(s_flbit_i32_b64)
{
    uint64_t a = A64(1);
    D32(a ? (uint32_t)__builtin_clzll(a) : 0xffffffff);
}
UN32(s_flbit_i32, flbit_i32(a))
FN(s_flbit_i32_i64)
{
    D32(flbit_i64(A64(1)));
}
UN32(s_sext_i32_i8, (uint32_t)(int32_t)(int8_t)a)
UN32(s_sext_i32_i16, (uint32_t)(int32_t)(int16_t)a)
UN32_SCC(s_abs_i32, (int32_t)a < 0 ? -a : a)
FN(s_bitset0_b32)
{
    write_s32(w, in->op[0].reg, A32(0) & ~(1u << (A32(1) & 31)));
}
FN(s_bitset1_b32)
{
    write_s32(w, in->op[0].reg, A32(0) | 1u << (A32(1) & 31));
}
FN(s_bitset0_b64)
{
    write_s64(w, in->op[0].reg, A64(0) & ~(1ull << (A32(1) & 63)));
}
FN(s_bitset1_b64)
{
    write_s64(w, in->op[0].reg, A64(0) | 1ull << (A32(1) & 63));
}
FN(s_bitreplicate_b64_b32)
{
    uint32_t a = A32(1);
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (a >> i & 1 ? 3ull : 0) << (2 * i);
    D64(r);
}

#define SAVEEXEC(name, expr)                                                                       \
    FN(name)                                                                                       \
    {                                                                                              \
        uint64_t s = A64(1), e = w->exec;                                                          \
        D64(e);                                                                                    \
        w->exec = (expr);                                                                          \
        w->scc = w->exec != 0;                                                                     \
    }
#define WREXEC(name, expr)                                                                         \
    FN(name)                                                                                       \
    {                                                                                              \
        uint64_t s = A64(1), e = w->exec;                                                          \
        w->exec = (expr);                                                                          \
        D64(w->exec);                                                                              \
        w->scc = w->exec != 0;                                                                     \
    }
SAVEEXEC(s_and_saveexec_b64, s &e)
SAVEEXEC(s_or_saveexec_b64, s | e)
SAVEEXEC(s_xor_saveexec_b64, s ^ e)
SAVEEXEC(s_andn2_saveexec_b64, s & ~e)
SAVEEXEC(s_orn2_saveexec_b64, s | ~e)
SAVEEXEC(s_nand_saveexec_b64, ~(s &e))
SAVEEXEC(s_nor_saveexec_b64, ~(s | e))
SAVEEXEC(s_xnor_saveexec_b64, ~(s ^ e))
SAVEEXEC(s_andn1_saveexec_b64, ~s &e)
SAVEEXEC(s_orn1_saveexec_b64, ~s | e)
WREXEC(s_andn1_wrexec_b64, ~s &e)
WREXEC(s_andn2_wrexec_b64, s & ~e)

CMP32(s_cmp_eq_i32, int32_t, ==)
CMP32(s_cmp_lg_i32, int32_t, !=)
CMP32(s_cmp_gt_i32, int32_t, >)
CMP32(s_cmp_ge_i32, int32_t, >=)
CMP32(s_cmp_lt_i32, int32_t, <)
CMP32(s_cmp_le_i32, int32_t, <=)
CMP32(s_cmp_eq_u32, uint32_t, ==)
CMP32(s_cmp_lg_u32, uint32_t, !=)
CMP32(s_cmp_gt_u32, uint32_t, >)
CMP32(s_cmp_ge_u32, uint32_t, >=)
CMP32(s_cmp_lt_u32, uint32_t, <)
CMP32(s_cmp_le_u32, uint32_t, <=)
FN(s_cmp_eq_u64)
{
    w->scc = A64(0) == A64(1);
}
FN(s_cmp_lg_u64)
{
    w->scc = A64(0) != A64(1);
}
FN(s_bitcmp0_b32)
{
    w->scc = !(A32(0) >> (A32(1) & 31) & 1);
}
FN(s_bitcmp1_b32)
{
    w->scc = A32(0) >> (A32(1) & 31) & 1;
}
FN(s_bitcmp0_b64)
{
    w->scc = !(A64(0) >> (A32(1) & 63) & 1);
}
FN(s_bitcmp1_b64)
{
    w->scc = A64(0) >> (A32(1) & 63) & 1;
}

CMPK(s_cmpk_eq_i32, int32_t, ==)
CMPK(s_cmpk_lg_i32, int32_t, !=)
CMPK(s_cmpk_gt_i32, int32_t, >)
CMPK(s_cmpk_ge_i32, int32_t, >=)
CMPK(s_cmpk_lt_i32, int32_t, <)
CMPK(s_cmpk_le_i32, int32_t, <=)
CMPK(s_cmpk_eq_u32, uint32_t, ==)
CMPK(s_cmpk_lg_u32, uint32_t, !=)
CMPK(s_cmpk_gt_u32, uint32_t, >)
CMPK(s_cmpk_ge_u32, uint32_t, >=)
CMPK(s_cmpk_lt_u32, uint32_t, <)
CMPK(s_cmpk_le_u32, uint32_t, <=)
static uint32_t simm16(const struct inst *in, unsigned op)
{
    return (uint32_t)(int32_t)(int16_t)in->op[op].imm;
}
FN(s_movk_i32)
{
    D32(simm16(in, 1));
}
FN(s_cmovk_i32)
{
    if (w->scc)
        D32(simm16(in, 1));
}
FN(s_addk_i32)
{
    uint32_t a = A32(0), b = simm16(in, 1), r = a + b;
    D32(r);
    w->scc = add_overflow(a, b, r);
}
FN(s_mulk_i32)
{
    D32(A32(0) * simm16(in, 1));
}

/* ---- program flow ---- */

static void jump(struct wave *w, const struct inst *in, unsigned op)
{
    w->pc = in->pc + in->bytes + simm16(in, op) * 4;
}
FN(s_branch)
{
    jump(w, in, 0);
}
#define CBRANCH(name, cond)                                                                        \
    FN(name)                                                                                       \
    {                                                                                              \
        if (cond)                                                                                  \
            jump(w, in, 0);                                                                        \
    }
CBRANCH(s_cbranch_scc0, !w->scc)
CBRANCH(s_cbranch_scc1, w->scc)
CBRANCH(s_cbranch_vccz, !(w->s[S_VCC] | w->s[S_VCC + 1]))
CBRANCH(s_cbranch_vccnz, w->s[S_VCC] | w->s[S_VCC + 1])
CBRANCH(s_cbranch_execz, !w->exec)
CBRANCH(s_cbranch_execnz, w->exec)

static uint64_t image_base(const struct wave *w)
{
    return (uint64_t)(uintptr_t)w->xcd->launch->obj->image;
}
static void jump_to(struct wave *w, const struct inst *in, uint64_t to)
{
    uint64_t at = to - image_base(w);
    if (at >= w->xcd->launch->obj->image_size || at & 3) {
        fault(w, in, EMU_CHECK_BOUNDS, "bad-jump", -1, NULL,
              "target 0x%llx lies outside the code object", (unsigned long long)to);
        return;
    }
    w->pc = (uint32_t)at;
}
FN(s_getpc_b64)
{
    D64(image_base(w) + in->pc + in->bytes);
}
FN(s_setpc_b64)
{
    jump_to(w, in, A64(0));
}
FN(s_swappc_b64)
{
    uint64_t to = A64(1);
    D64(image_base(w) + in->pc + in->bytes);
    jump_to(w, in, to);
}
FN(s_call_b64)
{
    D64(image_base(w) + in->pc + in->bytes);
    jump(w, in, 1);
}
FN(s_nop)
{
    UNUSED_WAVE;
}
FN(s_endpgm)
{
    (void)in;
    wave_end(w);
}
FN(s_barrier)
{
    w->state = WAVE_BARRIER;
    w->block = in;
}
FN(s_sleep)
{
    w->state = WAVE_SLEEP;
    w->block = in;
    w->wake = w->xcd->launch->round + 1;
}
FN(s_trap)
{
    fault(w, in, EMU_CHECK_BOUNDS, "trap", -1, NULL, "the kernel executed s_trap %u",
          in->op[0].imm);
}
FN(s_waitcnt)
{
    if (!wait_counters(w, in->vmcnt, in->lgkmcnt)) {
        w->pc = in->pc; /* again, when stores have been committed */
        w->state = WAVE_WAIT;
        w->block = in;
    }
}
FN(s_sendmsg)
{
    struct flight f = {.in = in, .cls = OPC_OTHER, .count = 1};
    counter_issue(w, &w->lgkm, f);
}

/* ---- hardware registers ---- */

static uint32_t hwreg_value(const struct wave *w, unsigned id)
{
    switch (id) {
    case 1:
        return w->mode;
    case 2:
        return (uint32_t)w->scc | (uint32_t)!w->exec << 9;
    case 4: /* HW_ID: wave slot, SIMD, CU, SE: enough to tell places apart */
        return (w->id & 15) | (w->id & 3) << 4 | (w->group->cu & 15) << 8 |
               (w->group->cu >> 4 & 3) << 13;
    case 5:
        return w->nv / 8;
    case 6:
        return w->group->lds_bytes / 512 << 12;
    case 15:
        return APERTURE_SHARED >> 16 << 16 | APERTURE_PRIVATE >> 16;
    case 20:
        return w->xcd->index;
    default:
        return 0;
    }
}
static uint32_t field_mask(const struct inst *in)
{
    return (in->hw_width >= 32 ? 0xffffffffu : (1u << in->hw_width) - 1) << in->hw_offset;
}
FN(s_getreg_b32)
{
    D32((hwreg_value(w, in->hwreg) & field_mask(in)) >> in->hw_offset);
}
static void setreg(struct wave *w, const struct inst *in, uint32_t v)
{
    if (in->hwreg != 1)
        return;
    uint32_t mask = field_mask(in);
    set_mode(w, (w->mode & ~mask) | (v << in->hw_offset & mask));
}
/* Index mode: MODE bit 27 turns it on, M0 has the index in its low byte and which operands it moves
 * in bits 15:12. */
#define GPR_IDX_EN (1u << 27)
static void set_m0(struct wave *w, uint32_t mask, uint32_t v)
{
    w->s[S_M0] = (w->s[S_M0] & ~mask) | (v & mask);
}
FN(s_set_gpr_idx_on)
{
    set_m0(w, 0xf0ff, (A32(0) & 0xff) | in->index);
    w->mode |= GPR_IDX_EN;
}
FN(s_set_gpr_idx_off)
{
    (void)in;
    w->mode &= ~GPR_IDX_EN;
}
FN(s_set_gpr_idx_idx)
{
    set_m0(w, 0xff, A32(0));
}
FN(s_set_gpr_idx_mode)
{
    set_m0(w, 0xf000, in->index);
}
FN(s_movrels_b32)
{
    write_s32(w, in->op[0].reg, w->s[(in->op[1].reg + w->s[S_M0]) & 127]);
}
FN(s_movrels_b64)
{
    unsigned s = in->op[1].reg + w->s[S_M0];
    write_s64(w, in->op[0].reg, (uint64_t)w->s[(s + 1) & 127] << 32 | w->s[s & 127]);
}
FN(s_movreld_b32)
{
    unsigned d = (in->op[0].reg + w->s[S_M0]) & 127;
    write_s32(w, d, A32(1));
    w->sstate[d] = REG_OK;
}
FN(s_movreld_b64)
{
    unsigned d = (in->op[0].reg + w->s[S_M0]) & 127;
    write_s64(w, d, A64(1));
    w->sstate[d] = w->sstate[(d + 1) & 127] = REG_OK;
}
FN(s_setreg_b32)
{
    setreg(w, in, A32(0));
}
FN(s_setreg_imm32_b32)
{
    setreg(w, in, in->op[0].imm);
}
/* s_setvskip, s_round_mode and others do not exist on these targets. */

enum salu_layout {
    L_D_SRC = 1 << 0,  /* operand 0 is written */
    L_READ_D = 1 << 1, /* and read */
    L_SCC_IN = 1 << 2,
    L_SCC_OUT = 1 << 3,
    L_EXEC_IO = 1 << 4, /* reads and writes EXEC besides */
    L_VCC = 1 << 5,     /* reads VCC */
    L_BRANCH = 1 << 6,
    L_MAYBE = 1 << 7,  /* the destination is not always written */
    L_M0 = 1 << 8,     /* writes part of M0 */
    L_MOVREL = 1 << 9, /* M0 moves a register number: wait states behind a write of M0 */
};

struct salu_row {
    const char *name;
    inst_fn *fn;
    uint16_t layout;
};

#define R(name, layout) {#name, name, layout}
#define D L_D_SRC
#define DC (L_D_SRC | L_SCC_OUT)
static const struct salu_row rows[] = {
    R(s_add_u32, DC),
    R(s_sub_u32, DC),
    R(s_add_i32, DC),
    R(s_sub_i32, DC),
    R(s_addc_u32, DC | L_SCC_IN),
    R(s_subb_u32, DC | L_SCC_IN),
    R(s_min_i32, DC),
    R(s_min_u32, DC),
    R(s_max_i32, DC),
    R(s_max_u32, DC),
    R(s_cselect_b32, D | L_SCC_IN),
    R(s_cselect_b64, D | L_SCC_IN),
    R(s_and_b32, DC),
    R(s_or_b32, DC),
    R(s_xor_b32, DC),
    R(s_andn2_b32, DC),
    R(s_orn2_b32, DC),
    R(s_nand_b32, DC),
    R(s_nor_b32, DC),
    R(s_xnor_b32, DC),
    R(s_and_b64, DC),
    R(s_or_b64, DC),
    R(s_xor_b64, DC),
    R(s_andn2_b64, DC),
    R(s_orn2_b64, DC),
    R(s_nand_b64, DC),
    R(s_nor_b64, DC),
    R(s_xnor_b64, DC),
    R(s_lshl_b32, DC),
    R(s_lshr_b32, DC),
    R(s_ashr_i32, DC),
    R(s_lshl_b64, DC),
    R(s_lshr_b64, DC),
    R(s_ashr_i64, DC),
    R(s_bfm_b32, D),
    R(s_bfm_b64, D),
    R(s_mul_i32, D),
    R(s_mul_hi_u32, D),
    R(s_mul_hi_i32, D),
    R(s_bfe_u32, DC),
    R(s_bfe_i32, DC),
    R(s_bfe_u64, DC),
    R(s_bfe_i64, DC),
    R(s_absdiff_i32, DC),
    R(s_lshl1_add_u32, DC),
    R(s_lshl2_add_u32, DC),
    R(s_lshl3_add_u32, DC),
    R(s_lshl4_add_u32, DC),
    R(s_pack_ll_b32_b16, D),
    R(s_pack_lh_b32_b16, D),
    R(s_pack_hh_b32_b16, D),

    R(s_mov_b32, D),
    R(s_mov_b64, D),
    R(s_cmov_b32, D | L_SCC_IN | L_MAYBE),
    R(s_cmov_b64, D | L_SCC_IN | L_MAYBE),
    R(s_not_b32, DC),
    R(s_not_b64, DC),
    R(s_wqm_b32, DC),
    R(s_wqm_b64, DC),
    R(s_brev_b32, D),
    R(s_brev_b64, D),
    R(s_bcnt0_i32_b32, DC),
    R(s_bcnt1_i32_b32, DC),
    R(s_bcnt0_i32_b64, DC),
    R(s_bcnt1_i32_b64, DC),
    R(s_ff0_i32_b32, D),
    R(s_ff1_i32_b32, D),
    R(s_ff0_i32_b64, D),
    R(s_ff1_i32_b64, D),
    R(s_flbit_i32_b32, D),
    R(s_flbit_i32_b64, D),
    R(s_flbit_i32, D),
    R(s_flbit_i32_i64, D),
    R(s_sext_i32_i8, D),
    R(s_sext_i32_i16, D),
    R(s_abs_i32, DC),
    R(s_bitset0_b32, D | L_READ_D),
    R(s_bitset1_b32, D | L_READ_D),
    R(s_bitset0_b64, D | L_READ_D),
    R(s_bitset1_b64, D | L_READ_D),
    R(s_bitreplicate_b64_b32, D),
    R(s_and_saveexec_b64, DC | L_EXEC_IO),
    R(s_or_saveexec_b64, DC | L_EXEC_IO),
    R(s_xor_saveexec_b64, DC | L_EXEC_IO),
    R(s_andn2_saveexec_b64, DC | L_EXEC_IO),
    R(s_orn2_saveexec_b64, DC | L_EXEC_IO),
    R(s_nand_saveexec_b64, DC | L_EXEC_IO),
    R(s_nor_saveexec_b64, DC | L_EXEC_IO),
    R(s_xnor_saveexec_b64, DC | L_EXEC_IO),
    R(s_andn1_saveexec_b64, DC | L_EXEC_IO),
    R(s_orn1_saveexec_b64, DC | L_EXEC_IO),
    R(s_andn1_wrexec_b64, DC | L_EXEC_IO),
    R(s_andn2_wrexec_b64, DC | L_EXEC_IO),

    R(s_cmp_eq_i32, L_SCC_OUT),
    R(s_cmp_lg_i32, L_SCC_OUT),
    R(s_cmp_gt_i32, L_SCC_OUT),
    R(s_cmp_ge_i32, L_SCC_OUT),
    R(s_cmp_lt_i32, L_SCC_OUT),
    R(s_cmp_le_i32, L_SCC_OUT),
    R(s_cmp_eq_u32, L_SCC_OUT),
    R(s_cmp_lg_u32, L_SCC_OUT),
    R(s_cmp_gt_u32, L_SCC_OUT),
    R(s_cmp_ge_u32, L_SCC_OUT),
    R(s_cmp_lt_u32, L_SCC_OUT),
    R(s_cmp_le_u32, L_SCC_OUT),
    R(s_cmp_eq_u64, L_SCC_OUT),
    R(s_cmp_lg_u64, L_SCC_OUT),
    R(s_bitcmp0_b32, L_SCC_OUT),
    R(s_bitcmp1_b32, L_SCC_OUT),
    R(s_bitcmp0_b64, L_SCC_OUT),
    R(s_bitcmp1_b64, L_SCC_OUT),

    R(s_cmpk_eq_i32, L_SCC_OUT),
    R(s_cmpk_lg_i32, L_SCC_OUT),
    R(s_cmpk_gt_i32, L_SCC_OUT),
    R(s_cmpk_ge_i32, L_SCC_OUT),
    R(s_cmpk_lt_i32, L_SCC_OUT),
    R(s_cmpk_le_i32, L_SCC_OUT),
    R(s_cmpk_eq_u32, L_SCC_OUT),
    R(s_cmpk_lg_u32, L_SCC_OUT),
    R(s_cmpk_gt_u32, L_SCC_OUT),
    R(s_cmpk_ge_u32, L_SCC_OUT),
    R(s_cmpk_lt_u32, L_SCC_OUT),
    R(s_cmpk_le_u32, L_SCC_OUT),
    R(s_movk_i32, D),
    R(s_cmovk_i32, D | L_SCC_IN | L_MAYBE),
    R(s_addk_i32, DC | L_READ_D),
    R(s_mulk_i32, D | L_READ_D),

    R(s_branch, L_BRANCH),
    R(s_cbranch_scc0, L_BRANCH | L_SCC_IN),
    R(s_cbranch_scc1, L_BRANCH | L_SCC_IN),
    R(s_cbranch_vccz, L_BRANCH | L_VCC),
    R(s_cbranch_vccnz, L_BRANCH | L_VCC),
    R(s_cbranch_execz, L_BRANCH),
    R(s_cbranch_execnz, L_BRANCH),
    R(s_getpc_b64, D),
    R(s_setpc_b64, L_BRANCH),
    R(s_swappc_b64, D | L_BRANCH),
    R(s_call_b64, D | L_BRANCH),

    R(s_nop, 0),
    R(s_endpgm, 0),
    R(s_barrier, 0),
    R(s_sleep, 0),
    R(s_trap, 0),
    R(s_waitcnt, 0),
    R(s_sendmsg, 0),
    {"s_sendmsghalt",  s_sendmsg, 0},
    {"s_setprio",      s_nop,     0},
    {"s_sethalt",      s_trap,    0},
    {"s_setkill",      s_trap,    0},
    {"s_incperflevel", s_nop,     0},
    {"s_decperflevel", s_nop,     0},
    {"s_icache_inv",   s_nop,     0},
    {"s_wakeup",       s_nop,     0},
    {"s_endpgm_saved", s_endpgm,  0},
    {"s_ttracedata",   s_nop,     0},
    R(s_getreg_b32, D),
    R(s_set_gpr_idx_on, L_M0),
    R(s_set_gpr_idx_off, 0),
    R(s_set_gpr_idx_idx, L_M0),
    R(s_set_gpr_idx_mode, L_M0),
    R(s_movrels_b32, D | L_MOVREL),
    R(s_movrels_b64, D | L_MOVREL),
    R(s_movreld_b32, D | L_MOVREL | L_MAYBE),
    R(s_movreld_b64, D | L_MOVREL | L_MAYBE),
    R(s_setreg_b32, 0),
    R(s_setreg_imm32_b32, 0),
};
#undef D

void decode_salu(struct inst *in)
{
    if (in->mnemonic[0] != 's' || in->mnemonic[1] != '_')
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct salu_row *r = &rows[i];
        if (strcmp(r->name, in->mnemonic) != 0)
            continue;
        in->exec = r->fn;
        in->flags |= IF_SALU | (r->layout & L_BRANCH ? IF_BRANCH : 0);
        undefined_decode(in);
        unsigned first = r->layout & L_D_SRC ? 1 : 0;
        if (first)
            inst_writes(in, 0, USE_SALU, r->layout & L_MAYBE ? LANES_OWN : LANES_ALL);
        if (r->layout & L_READ_D)
            inst_reads(in, 0, USE_SALU, LANES_ALL);
        for (unsigned k = first; k < in->nops; k++)
            inst_reads(in, (int)k, USE_SALU, LANES_ALL);
        if (r->layout & L_SCC_IN)
            inst_reads_reg(in, REG_S + S_SCC, 1, USE_SALU, LANES_ALL);
        if (r->layout & L_SCC_OUT)
            inst_writes_reg(in, REG_S + S_SCC, 1, USE_SALU, LANES_ALL);
        if (r->layout & L_VCC)
            inst_reads_reg(in, REG_S + S_VCC, 2, USE_SALU, LANES_ALL);
        if (r->layout & L_EXEC_IO)
            in->flags |= IF_WRITES_EXEC;
        if (r->layout & L_M0)
            inst_writes_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
        if (r->layout & L_MOVREL) {
            in->flags |= IF_M0;
            inst_reads_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
        }
        if (strcmp(r->name, "s_nop") == 0) {
            in->flags |= IF_NOP;
            in->wait_states = (uint8_t)((in->op[0].imm & 15) + 1);
        }
        if (r->fn == s_waitcnt)
            in->flags |= IF_WAIT;
        if (r->fn == s_sendmsg)
            in->flags |= IF_M0;
        return;
    }
}

const char *salu_name(size_t i)
{
    return i < sizeof(rows) / sizeof(rows[0]) ? rows[i].name : NULL;
}
