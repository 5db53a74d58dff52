/* SPDX-License-Identifier: Apache-2.0 */
/* One tile a wave: D = A B + C. A is M x K, B is K x N, both of the element type, row after row; C and D are M x N.
 * Lane l holds row l % M of A and column l % M of B, and E elements in a row from k = E (l / M). */
#include "common.h"
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef float float16v __attribute__((ext_vector_type(16)));
typedef int int16v __attribute__((ext_vector_type(16)));
typedef short short4v __attribute__((ext_vector_type(4)));
typedef half half4v __attribute__((ext_vector_type(4)));

/* Row n of lane l's column, in tiles of 16 and of 32. */
#define ROW16(n) (4 * (LID / 16) + (n))
#define ROW32(n) (8 * ((n) / 4) + 4 * (LID / 32) + (n) % 4)

#define LOAD(M, K, E)                                                                              \
    for (uint j = 0; j < E; j++) {                                                                 \
        uint k = E * (LID / M) + j;                                                                \
        x[j] = a[LID % M * K + k];                                                                 \
        y[j] = b[k * M + LID % M];                                                                 \
    }
#define TILE(name, elem, vec, acc, M, K, E, out, call)                                             \
    KERNEL(64) name(__global const elem *a, __global const elem *b, __global const out *c, __global out *d) \
    {                                                                                              \
        vec x = 0, y = 0;                                                                                \
        acc z = 0;                                                                                  \
        LOAD(M, K, E)                                                                              \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            z[n] = c[ROW##M(n) * M + LID % M];                                                     \
        z = call;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            d[ROW##M(n) * M + LID % M] = z[n];                                                     \
    }
TILE(bf16_16, short, short4v, float4, 16, 16, 4, float, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, z, 0, 0, 0))
TILE(bf16_32, short, short4v, float16v, 32, 8, 4, float, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, z, 0, 0, 0))
TILE(f16_16, half, half4v, float4, 16, 16, 4, float, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, z, 0, 0, 0))
TILE(f16_32, half, half4v, float16v, 32, 8, 4, float, __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, z, 0, 0, 0))

/* Elements of eight bits come in a 64-bit operand. */
#define BYTES(name, acc, M, K, out, call)                                                          \
    KERNEL(64) name(__global const uchar *a, __global const uchar *b, __global const out *c, __global out *d) \
    {                                                                                              \
        long x = 0, y = 0;                                                                         \
        acc z = 0;                                                                                  \
        for (uint j = 0; j < 8; j++) {                                                             \
            uint k = 8 * (LID / M) + j;                                                            \
            x |= (long)a[LID % M * K + k] << 8 * j;                                                \
            y |= (long)b[k * M + LID % M] << 8 * j;                                                \
        }                                                                                          \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            z[n] = c[ROW##M(n) * M + LID % M];                                                     \
        z = call;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            d[ROW##M(n) * M + LID % M] = z[n];                                                     \
    }
BYTES(fp8_16, float4, 16, 32, float, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, z, 0, 0, 0))
BYTES(fp8_32, float16v, 32, 16, float, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x, y, z, 0, 0, 0))
BYTES(bf8_fp8_16, float4, 16, 32, float, __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(x, y, z, 0, 0, 0))
BYTES(i8_16, int4, 16, 32, int, __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, z, 0, 0, 0))
BYTES(i8_32, int16v, 32, 16, int, __builtin_amdgcn_mfma_i32_32x32x16_i8(x, y, z, 0, 0, 0))

/* One element a lane. */
#define SINGLE(name, elem, acc, M, K, rows, call)                                                  \
    KERNEL(64) name(__global const elem *a, __global const elem *b, __global const elem *c, __global elem *d) \
    {                                                                                              \
        elem x = a[LID % M * K + LID / M], y = b[LID / M * M + LID % M];                           \
        acc z = 0;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            z[n] = c[rows * M + LID % M];                                                          \
        z = call;                                                                                  \
        for (uint n = 0; n < M * M / 64; n++)                                                      \
            d[rows * M + LID % M] = z[n];                                                          \
    }
SINGLE(f32_16, float, float4, 16, 4, ROW16(n), __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, z, 0, 0, 0))
SINGLE(f32_32, float, float16v, 32, 2, ROW32(n), __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, z, 0, 0, 0))
SINGLE(f64_16, double, double4, 16, 4, (4 * n + LID / 16), __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, z, 0, 0, 0))

/* A chain through LDS: C += A B over K in steps of 16, four waves a workgroup, 32 x 32 of C. */
KERNEL(256) gemm(__global const ushort *a, __global const ushort *b, __global float *c, uint n, uint depth)
{
    __local ushort ta[32][24], tb[32][24]; /* tb holds B transposed */
    uint l = LID, wave = l / 64, lane = l % 64, tiles = n / 32;
    uint row = GROUP / tiles * 32, col = GROUP % tiles * 32;
    float4 acc = 0.0f;
    for (uint k = 0; k < depth; k += 16) {
        for (uint i = l; i < 512; i += 256) {
            ta[i / 16][i % 16] = a[(row + i / 16) * depth + k + i % 16];
            tb[i % 32][i / 32] = b[(k + i / 32) * n + col + i % 32];
        }
        BARRIER();
        short4v x = 0, y = 0;
        for (uint j = 0; j < 4; j++) {
            x[j] = (short)ta[wave / 2 * 16 + lane % 16][lane / 16 * 4 + j];
            y[j] = (short)tb[wave % 2 * 16 + lane % 16][lane / 16 * 4 + j];
        }
        acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, acc, 0, 0, 0);
        BARRIER();
    }
    for (uint j = 0; j < 4; j++)
        c[(row + wave / 2 * 16 + lane / 16 * 4 + j) * n + col + wave % 2 * 16 + lane % 16] = acc[j];
}

/* Conversions, to fp8 and back. */
KERNEL(64) to_fp8(__global const float *in, __global uint *out, __global uint *bf8)
{
    uint i = GROUP * 64 + LID;
    int v = __builtin_amdgcn_cvt_pk_fp8_f32(in[4 * i], in[4 * i + 1], 0, false);
    v = __builtin_amdgcn_cvt_pk_fp8_f32(in[4 * i + 2], in[4 * i + 3], v, true);
    out[i] = (uint)v;
    int w = __builtin_amdgcn_cvt_pk_bf8_f32(in[4 * i], in[4 * i + 1], 0, false);
    w = __builtin_amdgcn_cvt_pk_bf8_f32(in[4 * i + 2], in[4 * i + 3], w, true);
    bf8[i] = (uint)w;
}

KERNEL(64) from_fp8(__global const uint *in, __global float *out)
{
    uint i = GROUP * 64 + LID;
    int v = (int)in[i];
    out[4 * i] = __builtin_amdgcn_cvt_f32_fp8(v, 0);
    out[4 * i + 1] = __builtin_amdgcn_cvt_f32_fp8(v, 1);
    out[4 * i + 2] = __builtin_amdgcn_cvt_f32_fp8(v, 2);
    out[4 * i + 3] = __builtin_amdgcn_cvt_f32_fp8(v, 3);
}
