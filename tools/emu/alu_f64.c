/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f64 arithmetic. rcp, rsq and sqrt are approximations on the device (about 2^-26 relative, refined
 * by the compiler's sequences); here they are correctly rounded.
 */
#include "alu_lanes.h"

#include <math.h>

#define F64_1(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s0[EMU_LANES];                                                        \
        emu_src_f64(alu, 0, s0);                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s0[l];                                                                      \
            s0[l] = (expr);                                                                        \
        }                                                                                          \
        emu_put_f64(alu, s0);                                                                      \
    }

#define F64_2(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s0[EMU_LANES], s1[EMU_LANES];                                         \
        emu_src_f64(alu, 0, s0);                                                                   \
        emu_src_f64(alu, 1, s1);                                                                   \
        bool ieee = (alu->mode & EMU_MODE_IEEE) != 0;                                              \
        (void)ieee;                                                                                \
        int saved = emu_round_begin(alu->round16_64);                                              \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s0[l], b = s1[l];                                                           \
            s0[l] = (expr);                                                                        \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f64(alu, s0);                                                                      \
    }

static inline bool is_snan(double x)
{
    uint64_t bits = numeric_f64_bits(x);
    return x != x && (bits & 0x0008000000000000ULL) == 0;
}

static inline double quiet(double x)
{
    return numeric_f64(numeric_f64_bits(x) | 0x0008000000000000ULL);
}

/* -0 below +0; a number wins over a NaN; with IEEE set a signalling NaN wins, made quiet. */
static inline double lesser(double a, double b, bool ieee, bool want_greater)
{
    bool below = a < b || (a == b && signbit(a) && !signbit(b));
    double r = below != want_greater ? a : b;
    r = b != b ? a : r;
    r = a != a ? b : r;
    r = ieee && is_snan(b) ? quiet(b) : r;
    return ieee && is_snan(a) ? quiet(a) : r;
}

F64_2(v_add_f64, a + b)
F64_2(v_mul_f64, a *b)
F64_2(v_min_f64, lesser(a, b, ieee, false))
F64_2(v_max_f64, lesser(a, b, ieee, true))
F64_1(v_floor_f64, floor(a))
F64_1(v_ceil_f64, ceil(a))
F64_1(v_trunc_f64, trunc(a))
F64_1(v_rndne_f64, rint(a))
F64_1(v_rcp_f64, 1.0 / a)
F64_1(v_sqrt_f64, sqrt(a))
F64_1(v_rsq_f64, 1.0 / sqrt(a))

/* Never 1: the largest value below it instead. */
static inline double fract64(double x)
{
    double f = x - floor(x);
    return f > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : f;
}

F64_1(v_fract_f64, fract64(a))

static void fused(struct emu_alu *alu, const double *addend)
{
    EMU_ROW_ALIGN double s[2][EMU_LANES];
    emu_src_f64(alu, 0, s[0]);
    emu_src_f64(alu, 1, s[1]);
    int saved = emu_round_begin(alu->round16_64);
    EMU_EACH(l)
    {
        s[0][l] = fma(s[0][l], s[1][l], addend[l]);
    }
    emu_round_end(saved);
    emu_put_f64(alu, s[0]);
}

EMU_OP(v_fma_f64)
{
    EMU_ROW_ALIGN double addend[EMU_LANES];
    emu_src_f64(alu, 2, addend);
    fused(alu, addend);
}

EMU_OP(v_fmac_f64)
{
    EMU_ROW_ALIGN double addend[EMU_LANES];
    struct emu_alu view = {.src = {alu->dst}, .denorm16_64 = alu->denorm16_64};
    emu_src_f64(&view, 0, addend);
    fused(alu, addend);
}

static double scale64(double x, int exponent)
{
    return ldexp(x, exponent);
}

EMU_OP(v_ldexp_f64)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    emu_src_f64(alu, 0, s0);
    int saved = emu_round_begin(alu->round16_64);
    EMU_EACH(l)
    {
        int32_t n = (int32_t)alu->src[1][l];
        s0[l] = scale64(s0[l], n < -5000 ? -5000 : (n > 5000 ? 5000 : n));
    }
    emu_round_end(saved);
    emu_put_f64(alu, s0);
}

static int exponent_of(double x)
{
    int exponent = 0;
    if (x != 0.0 && isfinite(x)) {
        (void)frexp(x, &exponent);
    }
    return exponent;
}

EMU_OP(v_frexp_exp_i32_f64)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    emu_src_f64(alu, 0, s0);
    EMU_EACH(l)
    {
        alu->dst[l] = (uint32_t)exponent_of(s0[l]);
    }
}

EMU_OP(v_frexp_mant_f64)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    emu_src_f64(alu, 0, s0);
    EMU_EACH(l)
    {
        s0[l] = scale64(s0[l], -exponent_of(s0[l]));
    }
    emu_put_f64(alu, s0);
}

/* --- division: as in alu_f32.c --- */

static inline int field64(double x)
{
    return (int)(numeric_f64_bits(x) >> 52 & 0x7ff);
}

static double div_scale64(double x, double d, double n, bool *mask)
{
    bool is_denominator = numeric_f64_bits(x) == numeric_f64_bits(d);
    bool is_numerator = numeric_f64_bits(x) == numeric_f64_bits(n);
    *mask = false;
    if (d == 0.0 || n == 0.0) {
        return (double)NAN;
    }
    /* n / d below the normal range, judged by exponents and significands: the quotient itself may
     * round */
    double nm = fabs(scale64(n, -exponent_of(n))), dm = fabs(scale64(d, -exponent_of(d)));
    int quotient_exponent = exponent_of(n) - exponent_of(d) - (nm < dm ? 1 : 0);
    bool finite = isfinite(n) && isfinite(d);
    bool tiny_quotient = finite && quotient_exponent < -1022;
    bool tiny_reciprocal = isfinite(d) && fabs(d) > 0x1p1022;
    if (field64(n) - field64(d) >= 768) {
        *mask = true;
        return is_denominator ? scale64(x, 128) : x;
    }
    if (field64(d) == 0) {
        return scale64(x, 128);
    }
    if (tiny_reciprocal && tiny_quotient) {
        *mask = true;
        return is_denominator ? scale64(x, -128) : x;
    }
    if (tiny_reciprocal) {
        return scale64(x, -128);
    }
    if (tiny_quotient) {
        *mask = true;
        return is_numerator ? scale64(x, 128) : x;
    }
    return field64(n) <= 53 ? scale64(x, 128) : x;
}

EMU_OP(v_div_scale_f64)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    uint64_t mask = 0;
    for (unsigned i = 0; i < 3; i++) {
        emu_src_f64(alu, i, s[i]);
    }
    EMU_EACH(l)
    {
        bool scaled;
        s[0][l] = div_scale64(s[0][l], s[1][l], s[2][l], &scaled);
        mask |= (uint64_t)scaled << l;
    }
    alu->mask_out = mask;
    emu_put_f64(alu, s[0]);
}

/* The sum before its one rounding: the product is exact in 113 bits. */
static double scaled_fma(double a, double b, double c, int exponent)
{
    __float128 sum = (__float128)a * (__float128)b + (__float128)c;
    return (double)(sum * (__float128)numeric_pow2(exponent));
}

EMU_OP(v_div_fmas_f64)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    for (unsigned i = 0; i < 3; i++) {
        emu_src_f64(alu, i, s[i]);
    }
    int saved = emu_round_begin(alu->round16_64);
    EMU_EACH(l)
    {
        double a = s[0][l], b = s[1][l], c = s[2][l];
        bool scaled = alu->carry_in >> l & 1;
        s[0][l] = scaled ? scaled_fma(a, b, c, field64(c) > 1023 ? 128 : -128) : fma(a, b, c);
    }
    emu_round_end(saved);
    emu_put_f64(alu, s[0]);
}

static double div_fixup64(double q, double d, double n)
{
    uint64_t sign = (numeric_f64_bits(d) ^ numeric_f64_bits(n)) & 1ULL << 63;
    if (n != n || d != d) {
        return quiet(n != n ? n : d);
    }
    if ((d == 0.0 && n == 0.0) || (isinf(d) && isinf(n))) {
        return numeric_f64(0xfff8000000000000ULL);
    }
    if (d == 0.0 || isinf(n)) {
        return numeric_f64(sign | 0x7ff0000000000000ULL);
    }
    if (isinf(d) || n == 0.0 || field64(n) - field64(d) < -1075) {
        return numeric_f64(sign);
    }
    const uint64_t inf = 0x7ff0000000000000ULL;
    return numeric_f64(sign | (q != q ? inf : numeric_f64_bits(fabs(q)))); /* as in alu_f32.c */
}

EMU_OP(v_div_fixup_f64)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES];
    for (unsigned i = 0; i < 3; i++) {
        emu_src_f64(alu, i, s[i]);
    }
    EMU_EACH(l)
    {
        s[0][l] = div_fixup64(s[0][l], s[1][l], s[2][l]);
    }
    emu_put_f64(alu, s[0]);
}

/* --- argument reduction: 53 bits of 2 / pi --- */

/* The first 1201 bits of the fraction of 2 / pi, most significant first; zeros after them. */
static const uint32_t two_over_pi[] = {
    0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U, 0xfe5163abU,
    0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU, 0xfe1deb1cU, 0xb129a73eU,
    0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U, 0x835339f4U, 0x9c845f8bU,
    0xbdf9283bU, 0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU, 0x6d367ecfU, 0x27cb09b7U,
    0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U, 0x8a5292eaU, 0x6bfb5fb1U,
    0x1f8d5d08U, 0x56033046U, 0xfc7b0000U,
};

enum { PI_WORDS = sizeof two_over_pi / sizeof two_over_pi[0] };

static uint64_t pi_word(unsigned i)
{
    return i < PI_WORDS ? two_over_pi[i] : 0;
}

/* Segment `segment` of 53 bits for an argument of x's size, as a value. */
static double trig_preop(double x, uint32_t segment)
{
    int exponent = field64(x);
    unsigned shift = 53 * (segment & 31) + (exponent > 1077 ? (unsigned)exponent - 1077 : 0);
    unsigned word = shift / 32, bit = shift % 32;
    uint64_t high = pi_word(word) << 32 | pi_word(word + 1);
    uint64_t bits = bit != 0 ? high << bit | pi_word(word + 2) >> (32 - bit) : high;
    int scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
    return scale64((double)(bits >> 11), scale);
}

EMU_OP(v_trig_preop_f64)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    emu_src_f64(alu, 0, s0);
    EMU_EACH(l)
    {
        s0[l] = trig_preop(s0[l], alu->src[1][l]);
    }
    emu_put_f64(alu, s0);
}
