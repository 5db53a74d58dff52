/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number formats of the vector units: bit casts, decoding and encoding of f16, bf16, fp8, bf8, fp6,
 * bf6 and fp4. Everything is branch-free integer arithmetic on values, so that a loop over lanes
 * vectorises; a format is a constant struct, so that the compiler folds its fields.
 */
#ifndef EMU_NUMERIC_H
#define EMU_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Results must not depend on the compiler's choice of instructions: no contraction. Lanes are
 * always optimised. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,fp-contract=off")
#endif

static inline float numeric_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t numeric_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double numeric_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t numeric_f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What lies above the largest finite value of a format. */
enum numeric_special {
    NUMERIC_INF_NAN, /* IEEE: exponent all ones is Inf or NaN */
    NUMERIC_NAN_TOP, /* OCP E4M3: only the very last code of each sign is NaN */
    NUMERIC_FNUZ,    /* the code of -0 is NaN, nothing else is special */
    NUMERIC_FINITE,  /* no Inf, no NaN: conversions saturate */
};

struct numeric_format {
    int mbits, bias;
    uint32_t sign_bit; /* the sign's mask */
    uint32_t max;      /* code of the largest finite magnitude */
    enum numeric_special special;
};

#define NUMERIC_F16 ((struct numeric_format){10, 15, 0x8000, 0x7bff, NUMERIC_INF_NAN})
#define NUMERIC_BF16 ((struct numeric_format){7, 127, 0x8000, 0x7f7f, NUMERIC_INF_NAN})
#define NUMERIC_FP8_OCP ((struct numeric_format){3, 7, 0x80, 0x7e, NUMERIC_NAN_TOP})
#define NUMERIC_BF8_OCP ((struct numeric_format){2, 15, 0x80, 0x7b, NUMERIC_INF_NAN})
#define NUMERIC_FP8_FNUZ ((struct numeric_format){3, 8, 0x80, 0x7f, NUMERIC_FNUZ})
#define NUMERIC_BF8_FNUZ ((struct numeric_format){2, 16, 0x80, 0x7f, NUMERIC_FNUZ})
#define NUMERIC_FP6 ((struct numeric_format){3, 1, 0x20, 0x1f, NUMERIC_FINITE})
#define NUMERIC_BF6 ((struct numeric_format){2, 3, 0x20, 0x1f, NUMERIC_FINITE})
#define NUMERIC_FP4 ((struct numeric_format){1, 1, 0x8, 0x7, NUMERIC_FINITE})

enum numeric_round { NUMERIC_NEAREST, NUMERIC_UP, NUMERIC_DOWN, NUMERIC_ZERO, NUMERIC_STOCHASTIC };

/* 2^exponent as f32; exponent within the normal range. */
static inline float numeric_pow2f(int exponent)
{
    return numeric_f32((uint32_t)(exponent + 127) << 23);
}

static inline double numeric_pow2(int exponent)
{
    return numeric_f64((uint64_t)(int64_t)(exponent + 1023) << 52);
}

/*
 * The f32 of a small code, exactly, times 2^adjust (adjust within -127..127, applied in f32 with
 * its rounding where the product leaves the normal range). Not for bf16, whose own range is that of
 * f32.
 */
static inline __attribute__((always_inline)) float numeric_decode(uint32_t code,
                                                                  struct numeric_format f)
{
    uint32_t magnitude = code & (f.sign_bit - 1);
    uint32_t exponent = magnitude >> f.mbits;
    uint32_t mantissa = magnitude & ((1U << f.mbits) - 1);
    uint32_t significand = mantissa | (exponent != 0 ? 1U << f.mbits : 0);
    int scale = (int)(exponent != 0 ? exponent : 1) - f.bias - f.mbits;
    float value = (float)(int32_t)significand * numeric_pow2f(scale);
    uint32_t bits = numeric_f32_bits(value) | ((code & f.sign_bit) != 0 ? 0x80000000U : 0);
    if (f.special == NUMERIC_INF_NAN) {
        uint32_t special = 0x7f800000U | mantissa << (23 - f.mbits);
        special |= mantissa != 0 ? 0x400000U : 0;
        bits = magnitude > f.max ? (bits & 0x80000000U) | special : bits;
    } else if (f.special == NUMERIC_NAN_TOP) {
        bits = magnitude > f.max ? (bits & 0x80000000U) | 0x7fc00000U : bits;
    } else if (f.special == NUMERIC_FNUZ) {
        bits = code == f.sign_bit ? 0x7fc00000U : bits;
    }
    return numeric_f32(bits);
}

/*
 * The code of value * 2^adjust. One rounding only, also for denormal values on either side.
 * `random` counts for NUMERIC_STOCHASTIC: its high bits are added below the kept mantissa, which is
 * then truncated. `saturate`: overflow (and Inf, when saturate_inf) gives the largest finite value;
 * otherwise Inf or NaN as the format has it.
 */
static inline __attribute__((always_inline)) uint32_t
numeric_encode(uint32_t value_bits, int adjust, struct numeric_format f, enum numeric_round round,
               uint32_t random, bool saturate, bool saturate_inf)
{
    uint32_t sign = value_bits >> 31;
    uint32_t magnitude = value_bits & 0x7fffffffU;
    bool nan = magnitude > 0x7f800000U, inf = magnitude == 0x7f800000U;
    /* denormals of f32: normalised through the exact product with 2^24 */
    uint32_t lifted = numeric_f32_bits((float)(int32_t)magnitude * numeric_pow2f(-125));
    bool tiny = magnitude < 0x00800000U;
    uint32_t m = tiny ? lifted : magnitude;
    int exponent = (int)(m >> 23) - 127 - 24 * (int)tiny + adjust;
    uint32_t significand = (m & 0x7fffffU) | (uint32_t)(m != 0) << 23;
    int lowest = 1 - f.bias;
    int below = lowest - exponent;
    int shift = 23 - f.mbits + (below > 0 ? below : 0);
    shift = shift > 30 ? 30 : shift;
    uint32_t unit = 1U << shift;
    uint32_t add;
    switch (round) {
    case NUMERIC_NEAREST:
        add = (unit >> 1) - 1 + (significand >> shift & 1);
        break;
    case NUMERIC_UP:
        add = sign != 0 ? 0 : unit - 1;
        break;
    case NUMERIC_DOWN:
        add = sign != 0 ? unit - 1 : 0;
        break;
    case NUMERIC_STOCHASTIC:
        add = random >> 1 >> (31 - shift);
        break;
    default:
        add = 0;
        break;
    }
    uint32_t rounded = (significand + add) >> shift;
    int top = exponent > lowest ? exponent : lowest;
    top = top > 512 ? 512 : top;
    uint32_t code = rounded + ((uint32_t)(top + f.bias - 1) << f.mbits);
    code = rounded == 0 ? 0 : code;
    bool over = code > f.max;
    if (f.special == NUMERIC_FINITE) {
        code = (over | inf | nan) ? f.max : code;
        return code | (f.sign_bit & (0U - sign));
    }
    uint32_t inf_code, nan_code;
    if (f.special == NUMERIC_INF_NAN) {
        inf_code = f.max + 1;
        /* the payload's high bits, made quiet */
        nan_code = inf_code | 1U << (f.mbits - 1) | (magnitude & 0x7fffffU) >> (23 - f.mbits);
    } else if (f.special == NUMERIC_NAN_TOP) {
        inf_code = nan_code = f.max + 1;
    } else {
        inf_code = nan_code = f.sign_bit;
    }
    bool toward_zero = round == NUMERIC_ZERO || (round == NUMERIC_UP && sign != 0) ||
                       (round == NUMERIC_DOWN && sign == 0);
    uint32_t over_code = (saturate | toward_zero) ? f.max : inf_code;
    uint32_t from_inf = (saturate & saturate_inf) ? f.max : inf_code;
    code = over ? over_code : code;
    code = inf ? from_inf : code;
    code = nan ? nan_code : code;
    uint32_t sign_code = f.sign_bit & (0U - sign);
    if (f.special == NUMERIC_FNUZ) {
        sign_code = ((code == 0) | (code == f.sign_bit)) ? 0 : sign_code;
    }
    return code | sign_code;
}

static inline float numeric_f16(uint32_t half)
{
    return numeric_decode(half & 0xffff, NUMERIC_F16);
}

static inline float numeric_bf16(uint32_t half)
{
    return numeric_f32(half << 16);
}

static inline uint32_t numeric_f16_bits(float value)
{
    return numeric_encode(numeric_f32_bits(value), 0, NUMERIC_F16, NUMERIC_NEAREST, 0, false,
                          false);
}

static inline uint32_t numeric_bf16_bits(float value)
{
    uint32_t bits = numeric_f32_bits(value);
    bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return nan ? bits >> 16 | 0x40 : rounded;
}

/* f64 to f32 rounded to odd: a later rounding to a format of at most 22 bits is then as if done at
 * once. */
static inline float numeric_odd(double value)
{
    float nearest = (float)value;
    uint32_t bits = numeric_f32_bits(nearest);
    double back = (double)nearest;
    bool inexact = back != value && value == value;
    double magnitude = value < 0 ? -value : value, back_magnitude = back < 0 ? -back : back;
    bits -= inexact && back_magnitude > magnitude ? 1 : 0;
    bits |= inexact ? 1 : 0;
    return numeric_f32(bits);
}

#endif
