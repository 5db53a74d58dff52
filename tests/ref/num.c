/* SPDX-License-Identifier: Apache-2.0 */
#include "num.h"

#include <float.h>
#include <math.h>

/* Value of the e4m3 magnitude M (0 .. 0x7E), as a constant expression: subnormals are m * 2^-9, a
   normal is (8 + m) * 2^(e - 10); 2^(e - 10) is (1 << e) / 1024. */
#define MAG(m)                                                                                     \
    (((m) >> 3) == 0 ? ((m) & 7) / 512.0 : (8 + ((m) & 7)) * (double)(1 << ((m) >> 3)) / 1024.0)
#define NAN_AT(m) ((m) == 127 ? (double)NAN : MAG(m))
#define ROW8(s, m)                                                                                 \
    s NAN_AT(m), s NAN_AT((m) + 1), s NAN_AT((m) + 2), s NAN_AT((m) + 3), s NAN_AT((m) + 4),       \
        s NAN_AT((m) + 5), s NAN_AT((m) + 6), s NAN_AT((m) + 7)
#define ROW64(s, m)                                                                                \
    ROW8(s, (m)), ROW8(s, (m) + 8), ROW8(s, (m) + 16), ROW8(s, (m) + 24), ROW8(s, (m) + 32),       \
        ROW8(s, (m) + 40), ROW8(s, (m) + 48), ROW8(s, (m) + 56)

static const double e4m3[256] = {ROW64(+, 0), ROW64(+, 64), ROW64(-, 0), ROW64(-, 64)};

double ref_e4m3_decode(uint8_t b)
{
    return e4m3[b];
}

const double *ref_e4m3_table(void)
{
    return e4m3;
}

uint8_t ref_e4m3(float x)
{
    uint8_t sign = signbit(x) ? 0x80 : 0;
    float a = fabsf(x);
    if (isnan(a))
        return 0x7F;
    if (a >= 448.0f)
        return sign | 0x7E;
    if (a < 0x1p-6f) /* below the normals the steps are 2^-9; 8 steps are the first normal's code */
        return sign | (uint8_t)nearbyintf(a * 0x1p9f);
    uint32_t u = ref_f32_bits(a);
    u += 0x7FFFF +
         ((u >> 20) & 1); /* to 3 mantissa bits, nearest even; a carry moves the exponent on */
    return sign | (uint8_t)(((u >> 20) - ((127 - 7) << 3)) & 0x7F);
}

uint8_t ref_quant_block(const float *x, int n, float floor, uint8_t *bytes)
{
    float amax = floor;
    for (int i = 0; i < n; i++)
        amax = fabsf(x[i]) > amax ? fabsf(x[i]) : amax;
    int code = ref_ceil_exp(ref_div448(amax));
    code = code > 254 ? 254 : code;
    double mul = ref_e8m0(254 - code);
    for (int i = 0; i < n; i++)
        bytes[i] = ref_e4m3((float)((double)x[i] * mul));
    return (uint8_t)code;
}

void ref_mx_quant(const float *x, size_t rows, size_t k, uint8_t *bytes, uint8_t *codes)
{
    for (size_t i = 0; i < rows * k / 32; i++)
        codes[i] = ref_quant_block(x + i * 32, 32, FLT_MIN, bytes + i * 32);
}

void ref_rope(float *v, const float *cos_sin, float sign)
{
    for (int i = 0; i < 32; i++) {
        float c = cos_sin[i], s = sign * cos_sin[32 + i];
        float e = v[2 * i], o = v[2 * i + 1];
        v[2 * i] = e * c - o * s;
        v[2 * i + 1] = e * s + o * c;
    }
}
