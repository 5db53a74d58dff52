/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar arithmetic: SOP1, SOP2, SOPC and the SOPK that compute. One function an instruction, one
 * row of the table each. What steers the wave instead is in exec_control.c; both are decoded here.
 */
#include "exec_salu.h"

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
static uint64_t bfm(uint32_t width, uint32_t at)
{
    uint64_t ones = width >= 64 ? ~0ull : (1ull << width) - 1;
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
BIN32(s_bfm_b32, (uint32_t)bfm(a & 31, b & 31))
FN(s_bfm_b64)
{
    D64(bfm(A32(1) & 63, A32(2) & 63));
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

    R(s_movrels_b32, D | L_MOVREL),
    R(s_movrels_b64, D | L_MOVREL),
    R(s_movreld_b32, D | L_MOVREL | L_MAYBE),
    R(s_movreld_b64, D | L_MOVREL | L_MAYBE),
};
#undef D

static const struct salu_row *row_at(size_t i)
{
    const size_t n = sizeof(rows) / sizeof(rows[0]);
    return i < n ? &rows[i] : control_row(i - n);
}

static void list_uses(struct inst *in, unsigned layout)
{
    unsigned first = layout & L_D_SRC ? 1 : 0;
    if (first)
        inst_writes(in, 0, USE_SALU, layout & L_MAYBE ? LANES_OWN : LANES_ALL);
    if (layout & L_READ_D)
        inst_reads(in, 0, USE_SALU, LANES_ALL);
    for (unsigned k = first; k < in->nops; k++)
        inst_reads(in, (int)k, USE_SALU, LANES_ALL);
    if (layout & L_SCC_IN)
        inst_reads_reg(in, REG_S + S_SCC, 1, USE_SALU, LANES_ALL);
    if (layout & L_SCC_OUT)
        inst_writes_reg(in, REG_S + S_SCC, 1, USE_SALU, LANES_ALL);
    if (layout & L_VCC)
        inst_reads_reg(in, REG_S + S_VCC, 2, USE_SALU, LANES_ALL);
    if (layout & L_M0)
        inst_writes_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
    if (layout & L_MOVREL)
        inst_reads_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
}

static uint32_t flags_of(unsigned layout)
{
    return IF_SALU | (layout & L_BRANCH ? IF_BRANCH : 0) |
           (layout & L_EXEC_IO ? IF_WRITES_EXEC : 0) |
           (layout & (L_MOVREL | L_MESSAGE) ? IF_M0 : 0) | (layout & L_NOP ? IF_NOP : 0) |
           (layout & L_WAIT ? IF_WAIT : 0);
}

void decode_salu(struct inst *in)
{
    if (in->mnemonic[0] != 's' || in->mnemonic[1] != '_')
        return;
    const struct salu_row *r;
    for (size_t i = 0; (r = row_at(i)); i++)
        if (strcmp(r->name, in->mnemonic) == 0)
            break;
    if (!r)
        return;
    in->exec = r->fn;
    in->flags |= flags_of(r->layout);
    undefined_decode(in);
    list_uses(in, r->layout);
    if (r->layout & L_NOP)
        in->wait_states = (uint8_t)((in->op[0].imm & 15) + 1);
}

const char *salu_name(size_t i)
{
    const struct salu_row *r = row_at(i);
    return r ? r->name : NULL;
}
