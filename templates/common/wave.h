/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one wave does with its lanes: reductions, bf16, addresses, divisions.
 *
 * Vector values are V1 (a dword a lane) unless said otherwise, scalars S1; S2 is a 64-bit address.
 */
#ifndef TEMPLATES_COMMON_WAVE_H
#define TEMPLATES_COMMON_WAVE_H

#include "gen/build.h"

/* ---- reductions: every lane of an aligned group of `width` lanes (a power of two, 2 .. 64) gets
 * the group's result. The order of a sum is a butterfly's: the same bits in every lane. EXEC must
 * be all ones. */
Val lanes_sum_f64(Builder *b, Val v); /* V2; over all 64 lanes */
Val lanes_max_f32(Builder *b, Val v, int width);
Val lanes_max_u32(Builder *b, Val v, int width); /* of non-negative floats' bits too */
/* Over lanes l, l ^ 16, l ^ 32, l ^ 48: a column of the four rows of 16. */
Val rows_max_f32(Builder *b, Val v);
Val rows_sum_f64(Builder *b, Val v); /* V2 */

/* ---- bf16 */
Val bf16_pack(Builder *b, Val lo, Val hi); /* two f32 -> a word of two bf16, nearest even */
Val bf16_lo(Builder *b, Val word);         /* the low half as f32 */
Val bf16_hi(Builder *b, Val word);
Val bf16_round(Builder *b, Val f); /* f32 -> the nearest bf16, as f32 */

/* ---- f64 (V2): sums that are rounded once, at their end. sum: NONE to begin one, which x or the
 * product then is; else it is added to in place and returned. */
Val f64_add(Builder *b, Val sum, Val x);
Val f64_add_f32(Builder *b, Val sum, Val x);            /* sum + x, x f32 */
Val f64_add_product(Builder *b, Val sum, Val x, Val y); /* sum + x * y, both f64 */
/* For x in f32's normal range, within 2^-44 of the value: */
Val f64_inverse(Builder *b, Val x);      /* 1 / x, x f64 */
Val f64_inverse_root(Builder *b, Val x); /* 1 / sqrt(x), x f32 */
Val f64_const(Builder *b, double value); /* S2 */

/* ---- integers and addresses; constants fold away */
Val mul_add(Builder *b, Val x, int64_t by,
            Val plus); /* V1: x * by + plus (plus: V1, S1 or imm); x and by below 2^24 */
Val s_mul_add(Builder *b, Val x, int64_t by, Val plus); /* S1 of S1, 32 bits */
Val plus(Builder *b, Val x, int64_t constant);          /* x + constant; V1 or S1 as x */
Val min_const(Builder *b, Val x, int64_t constant);     /* unsigned; V1 or S1 as x */

typedef struct QuoRem {
    Val quo, rem;
} QuoRem;
QuoRem div_const(Builder *b, Val x, int d); /* x and d below 2^16; V1 or S1 as x */

/* Division by a value known at run time: the reciprocal once, then a few instructions a dividend.
 * Exact for every unsigned 32-bit dividend and divisor d >= 1. */
typedef struct Divisor {
    Val d, magic; /* S1 */
} Divisor;
Divisor divisor(Builder *b, Val d);
QuoRem div_by(Builder *b, Val x, Divisor d);   /* V1 of V1, lane by lane */
QuoRem s_div_by(Builder *b, Val x, Divisor d); /* S1 of S1 */

Val addr_plus(Builder *b, Val base, int64_t bytes); /* S2 + constant of 64 bits */
Val addr_at(Builder *b, Val base, Val x,
            int64_t bytes); /* S2 + x * bytes: S1 or imm, the product below 2^32 */
Val addr_mul(Builder *b, Val base, Val x, Val y); /* S2 + x * y, both unsigned 32 bits: S1 or imm */
Val addr_mul64(Builder *b, Val base, Val x, Val y); /* S2 + x (S1, unsigned) * y (S2) */
/* V2: base + x * stride + plus a lane: base S2 or V2, x V1 unsigned, stride S2 or V2 of 64 bits,
 * plus V1 unsigned. */
Val lane_addr(Builder *b, Val base, Val x, Val stride, Val plus);

/* ---- inputs that nobody writes during the launch, at a uniform index */
Val load_i32(Builder *b, Val base, Val index); /* S1: base[index], i32; index S1 */
Val load_i64(Builder *b, Val base, Val index); /* S2: base[index], i64 */

/* ---- masks: S2 of lanes */
Val tid_below(Builder *b, int n);
bool is_sgpr(Val v);

#endif
