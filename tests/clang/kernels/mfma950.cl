/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix tiles that gfx950 has: doubled K, scaled fp8, fp6 and fp4. */
#include "common.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef float float16v __attribute__((ext_vector_type(16)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef half half8v __attribute__((ext_vector_type(8)));
typedef short short8v __attribute__((ext_vector_type(8)));

#define ROW16(n) (4 * (LID / 16) + (n))
#define ROW32(n) (8 * ((n) / 4) + 4 * (LID / 32) + (n) % 4)
#define TILE(name, elem, raw, vec, acc, M, K, E, out, call)                                        \
    KERNEL(64) name(__global const elem *a, __global const elem *b, __global const out *c, __global out *d) \
    {                                                                                              \
        raw xr = 0, yr = 0;                                                                             \
        acc z = 0;                                                                                  \
        for (uint j = 0; j < E; j++) {                                                             \
            uint k = E * (LID / M) + j;                                                            \
            xr[j] = a[LID % M * K + k];                                                            \
            yr[j] = b[k * M + LID % M];                                                            \
        }                                                                                          \
        vec x = __builtin_astype(xr, vec), y = __builtin_astype(yr, vec);                          \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            z[n] = c[ROW##M(n) * M + LID % M];                                                     \
        z = call;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            d[ROW##M(n) * M + LID % M] = z[n];                                                     \
    }
TILE(bf16_16x32, short, short8v, bf16x8, float4, 16, 32, 8, float, __builtin_amdgcn_mfma_f32_16x16x32_bf16(x, y, z, 0, 0, 0))
TILE(bf16_32x16, short, short8v, bf16x8, float16v, 32, 16, 8, float, __builtin_amdgcn_mfma_f32_32x32x16_bf16(x, y, z, 0, 0, 0))
TILE(f16_16x32, half, half8v, half8v, float4, 16, 32, 8, float, __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, z, 0, 0, 0))
TILE(f16_32x16, half, half8v, half8v, float16v, 32, 16, 8, float, __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, z, 0, 0, 0))
typedef char char16v __attribute__((ext_vector_type(16)));
TILE(i8_16x64, char, char16v, int4v, int4v, 16, 64, 16, int, __builtin_amdgcn_mfma_i32_16x16x64_i8(x, y, z, 0, 0, 0))
TILE(i8_32x32, char, char16v, int4v, int16v, 32, 32, 16, int, __builtin_amdgcn_mfma_i32_32x32x32_i8(x, y, z, 0, 0, 0))

/* Scaled: a and b hold a byte an element, whatever the format; sa and sb an E8M0 scale for each row (column) and
 * block of 32 k. (volatile: else wide loads of bytes are misaligned, which the emulator reports.) fp8 keeps two runs of 16 bytes a lane, fp4 one run of 32 nibbles. */
#define SCALED(name, acc, M, K, fp4, call)                                                         \
    KERNEL(64) name(__global const volatile uchar *a, __global const volatile uchar *b, __global const uchar *sa, \
                    __global const uchar *sb, __global float *d)                                   \
    {                                                                                              \
        int8v x = 0, y = 0;                                                                        \
        acc z = 0.0f;                                                                              \
        uint g = LID / M, r = LID % M;                                                             \
        for (uint j = 0; j < 32; j++) {                                                            \
            uint k = fp4 ? 32 * g + j : (j < 16 ? 16 * g + j : K / 2 + 16 * g + j - 16);           \
            uint word = fp4 ? j / 8 : j / 4, shift = fp4 ? j % 8 * 4 : j % 4 * 8;                  \
            x[word] |= (int)((uint)a[r * K + k] << shift);                                         \
            y[word] |= (int)((uint)b[k * M + r] << shift);                                         \
        }                                                                                          \
        int p = sa[r * (K / 32) + g], q = sb[g * M + r] << 8;                                      \
        z = call;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            d[ROW##M(n) * M + r] = z[n];                                                           \
    }
SCALED(scaled_fp8_16, float4, 16, 128, false, __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, z, 0, 0, 0, p, 1, q))
SCALED(scaled_fp8_32, float16v, 32, 64, false, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(x, y, z, 0, 0, 0, p, 1, q))
SCALED(scaled_fp4_16, float4, 16, 128, true, __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, z, 4, 4, 0, p, 1, q))
SCALED(scaled_fp4_32, float16v, 32, 64, true, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(x, y, z, 4, 4, 0, p, 1, q))

/* Pairs to bf16, and packed fp4 with a scale. */
KERNEL(64) pack_bf16(__global const float *in, __global uint *out)
{
    typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));
    uint i = GROUP * 64 + LID;
    bf16x2 v = {(__bf16)in[2 * i], (__bf16)in[2 * i + 1]};
    out[i] = __builtin_astype(v, uint);
}
KERNEL(64) pack_fp4(__global const float *in, __global uint *out)
{
    uint i = GROUP * 64 + LID;
    uint v = 0;
    v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, in[8 * i], in[8 * i + 1], 2.0f, 0);
    v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, in[8 * i + 2], in[8 * i + 3], 2.0f, 1);
    v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, in[8 * i + 4], in[8 * i + 5], 2.0f, 2);
    v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, in[8 * i + 6], in[8 * i + 7], 2.0f, 3);
    out[i] = v;
}
