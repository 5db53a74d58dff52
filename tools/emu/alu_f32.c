/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f32 arithmetic. Results follow MODE's rounding and denormal fields. The transcendental unit
 * flushes denormals on both sides whatever MODE says; the hardware's stated error is 1 ULP (exp,
 * log, rcp, rsq, sqrt) and an absolute 2^-18 or so (sin, cos): here the value is computed in double
 * and rounded once, so it lies within those bounds. The payload and the sign of a NaN that an
 * operation makes or passes on are not specified.
 */
#include "alu_lanes.h"

#include <math.h>

#define F32_BEGIN(n)                                                                               \
    EMU_ROW_ALIGN uint32_t buf[n][EMU_LANES];                                                      \
    EMU_ROW_ALIGN float out[EMU_LANES];                                                            \
    const uint32_t *s0 = emu_src_f32(alu, 0, buf[0])

/* One, two, three f32 sources a, b, c; the expression is the result. */
#define F32_1(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F32_BEGIN(1);                                                                              \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            float a = numeric_f32(s0[l]);                                                          \
            out[l] = (expr);                                                                       \
        }                                                                                          \
        emu_put_f32(alu, out);                                                                     \
    }

#define F32_2(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F32_BEGIN(2);                                                                              \
        const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]);                                          \
        int saved = emu_round_begin(alu->round32);                                                 \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            float a = numeric_f32(s0[l]), b = numeric_f32(s1[l]);                                  \
            out[l] = (expr);                                                                       \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f32(alu, out);                                                                     \
    }

/* The third operand comes from `third`, a row of bits. */
#define F32_FMA(name, third, expr)                                                                 \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F32_BEGIN(3);                                                                              \
        const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]);                                          \
        const uint32_t *s2 = third;                                                                \
        int saved = emu_round_begin(alu->round32);                                                 \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            float a = numeric_f32(s0[l]), b = numeric_f32(s1[l]), c = numeric_f32(s2[l]);          \
            out[l] = (expr);                                                                       \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f32(alu, out);                                                                     \
    }

/* Bits in, bits out: x, y, z; IEEE mode as `ieee`. */
#define F32_BITS_2(name, expr)                                                                     \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F32_BEGIN(2);                                                                              \
        const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]);                                          \
        bool ieee = (alu->mode & EMU_MODE_IEEE) != 0;                                              \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l];                                                         \
            out[l] = numeric_f32(expr);                                                            \
        }                                                                                          \
        emu_put_f32(alu, out);                                                                     \
    }

#define F32_BITS_3(name, expr)                                                                     \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        F32_BEGIN(3);                                                                              \
        const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]);                                          \
        const uint32_t *s2 = emu_src_f32(alu, 2, buf[2]);                                          \
        bool ieee = (alu->mode & EMU_MODE_IEEE) != 0;                                              \
        (void)ieee;                                                                                \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l], z = s2[l];                                              \
            out[l] = numeric_f32(expr);                                                            \
        }                                                                                          \
        emu_put_f32(alu, out);                                                                     \
    }

F32_2(v_add_f32, a + b)
F32_2(v_sub_f32, a - b)
F32_2(v_subrev_f32, b - a)
F32_2(v_mul_f32, a *b)
F32_2(v_mul_legacy_f32, a == 0.0F || b == 0.0F ? 0.0F : a * b)
F32_FMA(v_fma_f32, emu_src_f32(alu, 2, buf[2]), fmaf(a, b, c))
F32_BITS_2(v_min_f32, emu_min32(x, y, ieee))
F32_BITS_2(v_max_f32, emu_max32(x, y, ieee))
F32_BITS_3(v_min3_f32, emu_min32(emu_min32(x, y, ieee), z, ieee))
F32_BITS_3(v_max3_f32, emu_max32(emu_max32(x, y, ieee), z, ieee))
F32_BITS_3(v_med3_f32, emu_med32(x, y, z, ieee))
F32_BITS_3(v_minimum3_f32, emu_minimum32(emu_minimum32(x, y), z))
F32_BITS_3(v_maximum3_f32, emu_maximum32(emu_maximum32(x, y), z))

static const uint32_t *flushed_row(const struct emu_alu *alu, const uint32_t *row, uint32_t *buf)
{
    struct emu_alu view = {.src = {row},
                           .denorm32 = alu->denorm32,
                           .neg = alu->neg >> 2 & 1,
                           .abs = alu->abs >> 2 & 1};
    return emu_src_f32(&view, 0, buf);
}

static const uint32_t *literal_row(const struct emu_alu *alu, uint32_t *buf)
{
    EMU_EACH(l)
    {
        buf[l] = alu->imm;
    }
    struct emu_alu view = {.src = {buf}, .denorm32 = alu->denorm32};
    return emu_src_f32(&view, 0, buf);
}

F32_FMA(v_fmac_f32, flushed_row(alu, alu->dst, buf[2]), fmaf(a, b, c))
F32_FMA(v_fmaak_f32, literal_row(alu, buf[2]), fmaf(a, b, c)) /* a b + K */
F32_FMA(v_fmamk_f32, literal_row(alu, buf[2]), fmaf(a, c, b)) /* a K + b */

F32_1(v_floor_f32, floorf(a))
F32_1(v_ceil_f32, ceilf(a))
F32_1(v_trunc_f32, truncf(a))
F32_1(v_rndne_f32, rintf(a))

/* x - floor(x), never 1: a tiny negative x gives the largest value below it. */
static inline float fract32(float x)
{
    float f = x - floorf(x);
    return f > 0x1.fffffep-1F ? 0x1.fffffep-1F : f;
}

F32_1(v_fract_f32, fract32(a))

static inline uint32_t ldexp_row(float x, int32_t n)
{
    /* in double the product is exact, the conversion is the one rounding */
    int m = n < -400 ? -400 : (n > 400 ? 400 : n);
    return numeric_f32_bits((float)((double)x * numeric_pow2(m)));
}

EMU_OP(v_ldexp_f32)
{
    F32_BEGIN(1);
    const uint32_t *exponents = alu->src[1];
    int saved = emu_round_begin(alu->round32);
    EMU_EACH(l)
    {
        out[l] = numeric_f32(ldexp_row(numeric_f32(s0[l]), (int32_t)exponents[l]));
    }
    emu_round_end(saved);
    emu_put_f32(alu, out);
}

/* Exponent such that the significand lies in [0.5, 1): also for denormals. */
static inline int32_t frexp_exp32(uint32_t bits)
{
    uint32_t magnitude = bits & 0x7fffffffU;
    uint32_t lifted = numeric_f32_bits((float)(int32_t)magnitude * numeric_pow2f(-125));
    int32_t exponent = magnitude < 0x00800000U ? (int32_t)(lifted >> 23) - 126 - 24
                                               : (int32_t)(magnitude >> 23) - 126;
    return magnitude == 0 || magnitude >= 0x7f800000U ? 0 : exponent;
}

static inline uint32_t frexp_mant32(uint32_t bits)
{
    uint32_t magnitude = bits & 0x7fffffffU;
    uint32_t lifted = numeric_f32_bits((float)(int32_t)magnitude * numeric_pow2f(-125));
    uint32_t normal = magnitude < 0x00800000U ? lifted : magnitude;
    uint32_t mantissa = (bits & 0x80000000U) | 0x3f000000U | (normal & 0x7fffffU);
    uint32_t special = magnitude > 0x7f800000U ? emu_quiet32(bits) : bits;
    return magnitude == 0 || magnitude >= 0x7f800000U ? special : mantissa;
}

EMU_OP(v_frexp_exp_i32_f32)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    const uint32_t *s0 = emu_src_f32(alu, 0, buf);
    uint32_t *dst = alu->dst;
    EMU_EACH(l)
    {
        dst[l] = (uint32_t)frexp_exp32(s0[l]);
    }
}

EMU_OP(v_frexp_mant_f32)
{
    F32_BEGIN(1);
    EMU_EACH(l)
    {
        out[l] = numeric_f32(frexp_mant32(s0[l]));
    }
    emu_put_f32(alu, out);
}

/* --- transcendental unit --- */

static void put_trans(struct emu_alu *alu, float *out)
{
    EMU_EACH(l)
    {
        uint32_t bits = numeric_f32_bits(out[l]);
        out[l] = numeric_f32((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
    }
    emu_put_f32(alu, out);
}

#define TRANS(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[EMU_LANES];                                                     \
        EMU_ROW_ALIGN float out[EMU_LANES];                                                        \
        const uint32_t *s0 = emu_src_trans(alu, 0, buf);                                           \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = (double)numeric_f32(s0[l]);                                                 \
            out[l] = (float)(expr);                                                                \
        }                                                                                          \
        put_trans(alu, out);                                                                       \
    }

/* sin and cos of x revolutions; outside of +-256 revolutions the unit gives 0 and 1. */
static double sin_turns(double x)
{
    double turn = x - rint(x); /* exact */
    return fabs(x) > 256.0 ? 0.0 : sin(turn * 6.283185307179586476925);
}

static double cos_turns(double x)
{
    double turn = x - rint(x);
    return fabs(x) > 256.0 ? 1.0 : cos(turn * 6.283185307179586476925);
}

TRANS(v_exp_f32, exp2(a))
TRANS(v_exp_legacy_f32, exp2(a))
TRANS(v_log_f32, log2(a))
TRANS(v_log_legacy_f32, log2(a))
TRANS(v_rcp_f32, 1.0 / a)
TRANS(v_rcp_iflag_f32, 1.0 / a)
TRANS(v_rsq_f32, 1.0 / sqrt(a))
TRANS(v_sqrt_f32, sqrt(a))
TRANS(v_sin_f32, isinf(a) ? (double)NAN : sin_turns(a))
TRANS(v_cos_f32, isinf(a) ? (double)NAN : cos_turns(a))

/* --- division --- */

static inline int exponent32(uint32_t bits)
{
    return (int)(bits >> 23 & 0xff);
}

static inline float scale32(float x, int exponent)
{
    return (float)((double)x * numeric_pow2(exponent));
}

/*
 * One lane of v_div_scale_f32: `x` is the one to be scaled, denominator or numerator. The document
 * scales the denominator up when both 1/d and n/d are denormal; a working division needs it down,
 * which is done here.
 */
static float div_scale32(float x, float denominator, float numerator, bool *mask)
{
    uint32_t d = numeric_f32_bits(denominator), n = numeric_f32_bits(numerator);
    bool is_denominator = numeric_f32_bits(x) == d, is_numerator = numeric_f32_bits(x) == n;
    double quotient = fabs((double)numerator / (double)denominator);
    bool tiny_quotient = quotient > 0.0 && quotient < 0x1p-126;
    bool tiny_reciprocal =
        exponent32(d) >= 253 && exponent32(d) != 255 && fabsf(denominator) > 0x1p126F;
    *mask = false;
    if (denominator == 0.0F || numerator == 0.0F) {
        return NAN;
    }
    if (exponent32(n) - exponent32(d) >= 96) {
        *mask = true;
        return is_denominator ? scale32(x, 64) : x;
    }
    if (exponent32(d) == 0) {
        return scale32(x, 64);
    }
    if (tiny_reciprocal && tiny_quotient) {
        *mask = true;
        return is_denominator ? scale32(x, -64) : x;
    }
    if (tiny_reciprocal) {
        return scale32(x, -64);
    }
    if (tiny_quotient) {
        *mask = true;
        return is_numerator ? scale32(x, 64) : x;
    }
    return exponent32(n) <= 23 ? scale32(x, 64) : x;
}

EMU_OP(v_div_scale_f32)
{
    EMU_ROW_ALIGN uint32_t buf[3][EMU_LANES];
    EMU_ROW_ALIGN float out[EMU_LANES];
    const uint32_t *s0 = emu_src_f32(alu, 0, buf[0]), *s1 = emu_src_f32(alu, 1, buf[1]),
                   *s2 = emu_src_f32(alu, 2, buf[2]);
    uint64_t mask = 0;
    EMU_EACH(l)
    {
        bool scaled;
        out[l] = div_scale32(numeric_f32(s0[l]), numeric_f32(s1[l]), numeric_f32(s2[l]), &scaled);
        mask |= (uint64_t)scaled << l;
    }
    alu->mask_out = mask;
    emu_put_f32(alu, out);
}

/*
 * fma, undoing the scale where VCC says so: up when the quotient is large, down when it is small.
 * The scaled result is rounded once, also when it is denormal: the sum is kept in double before.
 */
EMU_OP(v_div_fmas_f32)
{
    F32_BEGIN(3);
    const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]), *s2 = emu_src_f32(alu, 2, buf[2]);
    int saved = emu_round_begin(alu->round32);
    EMU_EACH(l)
    {
        float a = numeric_f32(s0[l]), b = numeric_f32(s1[l]), c = numeric_f32(s2[l]);
        double sum = (double)a * (double)b + (double)c;
        bool scaled = alu->carry_in >> l & 1;
        float undone = (float)(sum * numeric_pow2(exponent32(s2[l]) > 127 ? 64 : -64));
        out[l] = scaled ? undone : fmaf(a, b, c);
    }
    emu_round_end(saved);
    emu_put_f32(alu, out);
}

/* A quotient that overflowed on the way arrives as NaN or Inf: it is Inf. */
static float div_fixup32(uint32_t q, uint32_t d, uint32_t n)
{
    uint32_t sign = (d ^ n) & 0x80000000U, ad = d & 0x7fffffffU, an = n & 0x7fffffffU;
    const uint32_t inf = 0x7f800000U;
    if (an > inf || ad > inf) {
        return numeric_f32(emu_quiet32(an > inf ? n : d));
    }
    if ((ad == 0 && an == 0) || (ad == inf && an == inf)) {
        return numeric_f32(0xffc00000U);
    }
    if (ad == 0 || an == inf) {
        return numeric_f32(sign | inf);
    }
    if (ad == inf || an == 0 || exponent32(n) - exponent32(d) < -150) {
        return numeric_f32(sign);
    }
    q &= 0x7fffffffU;
    return numeric_f32(sign | (q > inf ? inf : q));
}

EMU_OP(v_div_fixup_f32)
{
    F32_BEGIN(3);
    const uint32_t *s1 = emu_src_f32(alu, 1, buf[1]), *s2 = emu_src_f32(alu, 2, buf[2]);
    EMU_EACH(l)
    {
        out[l] = div_fixup32(s0[l], s1[l], s2[l]);
    }
    emu_put_f32(alu, out);
}

/* --- cube maps --- */

enum cube_axis { CUBE_X, CUBE_Y, CUBE_Z };

static enum cube_axis cube_axis(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    if (az >= ax && az >= ay) {
        return CUBE_Z;
    }
    return ay >= ax ? CUBE_Y : CUBE_X;
}

static float cube_id(float x, float y, float z)
{
    const float axis[3] = {x, y, z};
    enum cube_axis major = cube_axis(x, y, z);
    return (float)(2 * (int)major + (axis[major] < 0.0F));
}

static float cube_sc(float x, float y, float z)
{
    switch (cube_axis(x, y, z)) {
    case CUBE_Z:
        return z < 0.0F ? -x : x;
    case CUBE_Y:
        return x;
    default:
        return x < 0.0F ? z : -z;
    }
}

static float cube_tc(float x, float y, float z)
{
    if (cube_axis(x, y, z) == CUBE_Y) {
        return y < 0.0F ? -z : z;
    }
    return -y;
}

static float cube_ma(float x, float y, float z)
{
    const float axis[3] = {x, y, z};
    return 2.0F * axis[cube_axis(x, y, z)];
}

F32_FMA(v_cubeid_f32, emu_src_f32(alu, 2, buf[2]), cube_id(a, b, c))
F32_FMA(v_cubesc_f32, emu_src_f32(alu, 2, buf[2]), cube_sc(a, b, c))
F32_FMA(v_cubetc_f32, emu_src_f32(alu, 2, buf[2]), cube_tc(a, b, c))
F32_FMA(v_cubema_f32, emu_src_f32(alu, 2, buf[2]), cube_ma(a, b, c))

/* --- two f32 in a register pair --- */

/* Row of source i for result `half`: op_sel / op_sel_hi choose the dword, neg / neg_hi the sign. */
static const uint32_t *pair_row(const struct emu_alu *alu, unsigned i, unsigned half, uint32_t *buf)
{
    unsigned pick = (half == 0 ? alu->op_sel : alu->op_sel_hi) >> i & 1;
    unsigned neg = (half == 0 ? alu->neg : alu->neg_hi) >> i & 1;
    struct emu_alu view = {
        .src = {alu->src[i] + pick * EMU_LANES}, .denorm32 = alu->denorm32, .neg = (uint8_t)neg};
    return emu_src_f32(&view, 0, buf);
}

#define PAIR_F32(name, sources, expr)                                                              \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[3][EMU_LANES];                                                  \
        EMU_ROW_ALIGN float out[2][EMU_LANES];                                                     \
        int saved = emu_round_begin(alu->round32);                                                 \
        for (unsigned half = 0; half < 2; half++) {                                                \
            const uint32_t *s0 = pair_row(alu, 0, half, buf[0]);                                   \
            const uint32_t *s1 = pair_row(alu, 1, half, buf[1]);                                   \
            const uint32_t *s2 = (sources) == 3 ? pair_row(alu, 2, half, buf[2]) : s1;             \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                float a = numeric_f32(s0[l]), b = numeric_f32(s1[l]), c = numeric_f32(s2[l]);      \
                (void)c;                                                                           \
                out[half][l] = (expr);                                                             \
            }                                                                                      \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f32_row(alu, out[0], alu->dst);                                                    \
        emu_put_f32_row(alu, out[1], alu->dst + EMU_LANES);                                        \
    }

PAIR_F32(v_pk_fma_f32, 3, fmaf(a, b, c))
PAIR_F32(v_pk_mul_f32, 2, a *b)
PAIR_F32(v_pk_add_f32, 2, a + b)
