/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats of the specification: bf16, OCP e4m3, E8M0 codes, MXFP8 rows, GPT-J rotation. */
#ifndef REF_NUM_H
#define REF_NUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t ref_f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float ref_bits_f32(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* f32 -> bf16, round to nearest even; every NaN becomes 0x7FC0. */
static inline uint16_t ref_bf16(float x)
{
    uint32_t u = ref_f32_bits(x);
    if ((u & 0x7FFFFFFF) > 0x7F800000)
        return 0x7FC0;
    return (uint16_t)((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}

static inline float ref_bf16_f32(uint16_t b)
{
    return ref_bits_f32((uint32_t)b << 16);
}

/* f32 rounded to bf16 and kept as f32. */
static inline float ref_round_bf16(float x)
{
    return ref_bf16_f32(ref_bf16(x));
}

/* 2^(code - 127) as f64: exact for every code, 0 and 255 included. */
static inline double ref_e8m0(int code)
{
    uint64_t u = (uint64_t)(code - 127 + 1023) << 52;
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* e4m3 (OCP) byte -> value; 0x7F and 0xFF are NaN. */
double ref_e4m3_decode(uint8_t b);

/* The decode of all 256 bytes. */
const double *ref_e4m3_table(void);

/* f32, clamped to +-448 here, -> e4m3, round to nearest even. NaN -> 0x7F. */
uint8_t ref_e4m3(float x);

/* Exponent field of v, plus one if its mantissa is not zero. */
static inline int ref_ceil_exp(float v)
{
    uint32_t u = ref_f32_bits(v);
    return (int)((u >> 23) & 0xFF) + ((u & 0x7FFFFF) != 0);
}

/* The IEEE f32 quotient a / 448. */
static inline float ref_div448(float a)
{
    return (float)((double)a / 448.0);
}

/* One MX block: n values -> n e4m3 bytes and their E8M0 code, from amax floored at FLOOR (the
   smallest normal f32 for MXFP8, 1e-4 for the KV record), clamped to 0 .. 254. */
uint8_t ref_quant_block(const float *x, int n, float floor, uint8_t *bytes);

/* MXFP8 of ROWS rows of K f32 (K a multiple of 32, rows K apart): bytes [rows, K], codes [rows, K /
 * 32]. */
void ref_mx_quant(const float *x, size_t rows, size_t k, uint8_t *bytes, uint8_t *codes);

/* GPT-J pairs (2i, 2i + 1) of 64 f32, rotated in place in fp32 by cos_sin (32 cosines, 32 sines);
   sign -1 turns the other way. */
void ref_rope(float *v, const float *cos_sin, float sign);

#endif
