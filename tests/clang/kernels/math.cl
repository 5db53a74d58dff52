/* SPDX-License-Identifier: Apache-2.0 */
/* Division, roots, fused multiply-adds of both widths, and half precision. */
#include "common.h"
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

KERNEL(64) divide_f32(__global const float *a, __global const float *b, __global float *quotient, __global float *root)
{
    uint i = GROUP * 64 + LID;
    quotient[i] = a[i] / b[i];
    root[i] = __builtin_sqrtf(__builtin_fabsf(a[i]));
}

KERNEL(64) divide_f64(__global const double *a, __global const double *b, __global double *quotient, __global double *root)
{
    uint i = GROUP * 64 + LID;
    quotient[i] = a[i] / b[i];
    root[i] = __builtin_sqrt(__builtin_fabs(a[i]));
}

KERNEL(64) polynomial_f64(__global const double *x, __global double *y, int degree)
{
    uint i = GROUP * 64 + LID;
    double v = x[i], sum = 0.0;
    for (int k = degree; k >= 0; k--)
        sum = __builtin_fma(sum, v, (double)(k + 1));
    y[i] = __builtin_floor(sum) + __builtin_fmin(v, 0.25);
}

KERNEL(64) convert(__global const double *x, __global float *f, __global int *n, __global ulong *u, __global half *h)
{
    uint i = GROUP * 64 + LID;
    double v = x[i];
    f[i] = (float)v;
    n[i] = (int)v;
    u[i] = (ulong)__builtin_fabs(v * 4096.0);
    h[i] = (half)(float)v;
}

KERNEL(64) half_math(__global const half *a, __global const half *b, __global half *out)
{
    uint i = 2 * (GROUP * 64 + LID);
    half2 x = {a[i], a[i + 1]}, y = {b[i], b[i + 1]};
    half2 s = x * y + (half2)(1.0h);
    half2 t = s - x;
    out[i] = t.x;
    out[i + 1] = t.y;
}
