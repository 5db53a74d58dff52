/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f16 arithmetic: computed in double, which holds sums and products of f16 exactly, rounded once.
 * One- and two-source forms zero the other half of the destination; the three-source forms of this
 * generation keep it, their legacy twins zero it. The transcendental forms keep denormals as MODE
 * says; their stated error is below 1 ULP.
 */
#include "alu_half.h"

#include <math.h>

#define F16_BEGIN(n)                                                                               \
    EMU_ROW_ALIGN double s[n][EMU_LANES];                                                          \
    EMU_ROW_ALIGN double out[EMU_LANES];                                                           \
    for (unsigned i = 0; i < (n); i++) {                                                           \
        emu_src_f16(alu, i, s[i]);                                                                 \
    }

#define F16_1(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F16_BEGIN(1)                                                                               \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s[0][l];                                                                    \
            out[l] = (expr);                                                                       \
        }                                                                                          \
        emu_put_f16(alu, out, false);                                                              \
    }

#define F16_2(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F16_BEGIN(2)                                                                               \
        int saved = emu_round_begin(alu->round16_64);                                              \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s[0][l], b = s[1][l];                                                       \
            out[l] = (expr);                                                                       \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f16(alu, out, false);                                                              \
    }

/* Codes of the sources with their modifiers. */
static void source_bits(const struct emu_alu *alu, unsigned count, uint32_t bits[][EMU_LANES])
{
    for (unsigned i = 0; i < count; i++) {
        emu_half_bits(alu, alu->src[i], alu->op_sel >> i & 1 ? 16 : 0, alu->abs >> i & 1,
                      alu->neg >> i & 1, bits[i]);
    }
}

/* Selections keep the code, so a NaN's payload passes; output modifiers still act. */
static void put_selected(struct emu_alu *alu, uint32_t *codes, bool keep)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    if (alu->clamp || alu->omod != 0 || (alu->denorm16_64 & 2) == 0) {
        EMU_EACH(l)
        {
            out[l] = (double)numeric_f16(codes[l]);
        }
        emu_put_f16(alu, out, keep);
        return;
    }
    emu_put_b16(alu, codes, keep);
}

#define SELECT(name, count, keep, expr)                                                            \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t bits[3][EMU_LANES] = {{0}};                                         \
        bool ieee = (alu->mode & EMU_MODE_IEEE) != 0;                                              \
        source_bits(alu, count, bits);                                                             \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = bits[0][l], y = bits[1][l], z = bits[2][l];                               \
            (void)z;                                                                               \
            bits[0][l] = (expr);                                                                   \
        }                                                                                          \
        put_selected(alu, bits[0], keep);                                                          \
    }

F16_2(v_add_f16, a + b)
F16_2(v_sub_f16, a - b)
F16_2(v_subrev_f16, b - a)
F16_2(v_mul_f16, a *b)
SELECT(v_min_f16, 2, false, emu_min16(x, y, ieee))
SELECT(v_max_f16, 2, false, emu_max16(x, y, ieee))
SELECT(v_min3_f16, 3, true, emu_min16(emu_min16(x, y, ieee), z, ieee))
SELECT(v_max3_f16, 3, true, emu_max16(emu_max16(x, y, ieee), z, ieee))
SELECT(v_med3_f16, 3, true, emu_med16(x, y, z, ieee))

F16_1(v_floor_f16, floor(a))
F16_1(v_ceil_f16, ceil(a))
F16_1(v_trunc_f16, trunc(a))
F16_1(v_rndne_f16, rint(a))
/* never 1: the largest f16 below it instead */
F16_1(v_fract_f16, a - floor(a) > 0x1.ffcp-1 ? 0x1.ffcp-1 : a - floor(a))
F16_1(v_rcp_f16, 1.0 / a)
F16_1(v_sqrt_f16, sqrt(a))
F16_1(v_rsq_f16, 1.0 / sqrt(a))
F16_1(v_exp_f16, exp2(a))
F16_1(v_log_f16, log2(a))

/* Revolutions; outside of +-256 the unit gives 0 and 1. */
static double sin16(double x)
{
    double turn = x - rint(x);
    return fabs(x) > 256.0 ? (isinf(x) ? (double)NAN : 0.0) : sin(turn * 6.283185307179586476925);
}

static double cos16(double x)
{
    double turn = x - rint(x);
    return fabs(x) > 256.0 ? (isinf(x) ? (double)NAN : 1.0) : cos(turn * 6.283185307179586476925);
}

F16_1(v_sin_f16, sin16(a))
F16_1(v_cos_f16, cos16(a))

EMU_OP(v_ldexp_f16)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    EMU_ROW_ALIGN uint32_t s1[EMU_LANES];
    emu_src_f16(alu, 0, s0);
    emu_src_b16(alu, 1, s1);
    EMU_EACH(l)
    {
        int n = (int16_t)s1[l];
        n = n < -200 ? -200 : (n > 200 ? 200 : n);
        s0[l] *= numeric_pow2(n);
    }
    emu_put_f16(alu, s0, false);
}

static int exponent_of(double x)
{
    int exponent = 0;
    if (x != 0.0 && isfinite(x)) {
        (void)frexp(x, &exponent);
    }
    return exponent;
}

EMU_OP(v_frexp_exp_i16_f16)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    EMU_ROW_ALIGN uint32_t out[EMU_LANES];
    emu_src_f16(alu, 0, s0);
    EMU_EACH(l)
    {
        out[l] = (uint32_t)exponent_of(s0[l]) & 0xffff;
    }
    emu_put_b16(alu, out, false);
}

EMU_OP(v_frexp_mant_f16)
{
    F16_BEGIN(1)
    EMU_EACH(l)
    {
        out[l] = s[0][l] * numeric_pow2(-exponent_of(s[0][l]));
    }
    emu_put_f16(alu, out, false);
}

/* --- multiply-add --- */

/* Fused, or (mad, mac) with the product rounded first. addend: a row of values. */
static void multiply_add(struct emu_alu *alu, const double *a, const double *b, const double *c,
                         bool fused, bool keep)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    int saved = emu_round_begin(alu->round16_64);
    EMU_EACH(l)
    {
        out[l] = fused ? fma(a[l], b[l], c[l]) : a[l] * b[l];
    }
    emu_round_end(saved);
    if (!fused) {
        EMU_ROW_ALIGN uint32_t codes[EMU_LANES];
        struct emu_alu view = *alu;
        view.omod = 0;
        view.clamp = false;
        emu_round_f16(&view, out, codes);
        EMU_EACH(l)
        {
            out[l] = (double)numeric_f16(codes[l]) + c[l];
        }
    }
    emu_put_f16(alu, out, keep);
}

static void three_sources(struct emu_alu *alu, bool fused, bool keep)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    for (unsigned i = 0; i < 3; i++) {
        emu_src_f16(alu, i, s[i]);
    }
    multiply_add(alu, s[0], s[1], s[2], fused, keep);
}

EMU_OP(v_fma_f16)
{
    three_sources(alu, true, true);
}

EMU_OP(v_fma_legacy_f16)
{
    three_sources(alu, true, false);
}

EMU_OP(v_mad_f16)
{
    three_sources(alu, false, true);
}

EMU_OP(v_mad_legacy_f16)
{
    three_sources(alu, false, false);
}

EMU_OP(v_mac_f16)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    emu_src_f16(alu, 0, s[0]);
    emu_src_f16(alu, 1, s[1]);
    emu_half_f16(alu, alu->dst, alu->op_sel & 8 ? 16 : 0, false, false, s[2]);
    multiply_add(alu, s[0], s[1], s[2], false, false);
}

static void literal_f16(const struct emu_alu *alu, double *row)
{
    EMU_ROW_ALIGN uint32_t bits[EMU_LANES];
    EMU_EACH(l)
    {
        bits[l] = alu->imm;
    }
    emu_half_f16(alu, bits, 0, false, false, row);
}

/* a b + K, a K + b */
EMU_OP(v_madak_f16)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    emu_src_f16(alu, 0, s[0]);
    emu_src_f16(alu, 1, s[1]);
    literal_f16(alu, s[2]);
    multiply_add(alu, s[0], s[1], s[2], false, false);
}

EMU_OP(v_madmk_f16)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    emu_src_f16(alu, 0, s[0]);
    emu_src_f16(alu, 1, s[1]);
    literal_f16(alu, s[2]);
    multiply_add(alu, s[0], s[2], s[1], false, false);
}

/* Sources f32, or f16 where op_sel_hi says so (op_sel: its high half); abs and neg as usual. */
static void mix_source(const struct emu_alu *alu, unsigned i, double *out)
{
    bool abs = alu->abs >> i & 1, neg = alu->neg >> i & 1;
    if (alu->op_sel_hi >> i & 1) {
        emu_half_f16(alu, alu->src[i], alu->op_sel >> i & 1 ? 16 : 0, abs, neg, out);
        return;
    }
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    const uint32_t *bits = emu_src_f32(alu, i, buf);
    EMU_EACH(l)
    {
        out[l] = (double)numeric_f32(bits[l]);
    }
}

/* The f32 of the fused sum. */
static void mix(const struct emu_alu *alu, float *out)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    for (unsigned i = 0; i < 3; i++) {
        mix_source(alu, i, s[i]);
    }
    int saved = emu_round_begin(alu->round32);
    EMU_EACH(l)
    {
        out[l] = fmaf((float)s[0][l], (float)s[1][l], (float)s[2][l]);
    }
    emu_round_end(saved);
}

EMU_OP(v_fma_mix_f32)
{
    EMU_ROW_ALIGN float out[EMU_LANES];
    mix(alu, out);
    emu_put_f32(alu, out);
}

static void mix_half(struct emu_alu *alu, unsigned half)
{
    EMU_ROW_ALIGN float sum[EMU_LANES];
    EMU_ROW_ALIGN double out[EMU_LANES];
    mix(alu, sum);
    EMU_EACH(l)
    {
        out[l] = (double)sum[l];
    }
    EMU_ROW_ALIGN uint32_t codes[EMU_LANES];
    emu_round_f16(alu, out, codes);
    EMU_EACH(l)
    {
        uint32_t kept = alu->dst[l] & (half != 0 ? 0x0000ffffU : 0xffff0000U);
        alu->dst[l] = kept | codes[l] << 16 * half;
    }
}

EMU_OP(v_fma_mixlo_f16)
{
    mix_half(alu, 0);
}

EMU_OP(v_fma_mixhi_f16)
{
    mix_half(alu, 1);
}

/* --- division --- */

static uint32_t div_fixup16(uint32_t q, uint32_t d, uint32_t n)
{
    uint32_t sign = (d ^ n) & 0x8000, ad = d & 0x7fff, an = n & 0x7fff;
    const uint32_t inf = 0x7c00;
    if (an > inf || ad > inf) {
        return (an > inf ? n : d) | 0x200;
    }
    if ((ad == 0 && an == 0) || (ad == inf && an == inf)) {
        return 0xfe00;
    }
    if (ad == 0 || an == inf) {
        return sign | inf;
    }
    if (ad == inf || an == 0) {
        return sign;
    }
    return sign | (q & 0x7fff);
}

SELECT(v_div_fixup_f16, 3, true, ((void)ieee, div_fixup16(x, y, z)))
SELECT(v_div_fixup_legacy_f16, 3, false, ((void)ieee, div_fixup16(x, y, z)))

EMU_OP(v_pack_b32_f16)
{
    EMU_ROW_ALIGN uint32_t bits[2][EMU_LANES];
    source_bits(alu, 2, bits);
    EMU_EACH(l)
    {
        alu->dst[l] = bits[0][l] | bits[1][l] << 16;
    }
}
