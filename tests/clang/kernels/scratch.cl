/* SPDX-License-Identifier: Apache-2.0 */
/* Private arrays that are indexed at run time, and calls. */
#include "common.h"

KERNEL(64) sort(__global const int *in, __global int *out)
{
    int a[16];
    uint base = (GROUP * 64 + LID) * 16;
    for (int i = 0; i < 16; i++)
        a[i] = in[base + i];
    for (int i = 1; i < 16; i++) {
        int v = a[i], j = i;
        while (j > 0 && a[j - 1] > v) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = v;
    }
    for (int i = 0; i < 16; i++)
        out[base + i] = a[i];
}

KERNEL(64) gather(__global const uint *in, __global uint *out)
{
    uchar order[32];
    ushort count[8];
    uint i = GROUP * 64 + LID, x = in[i];
    for (int k = 0; k < 32; k++)
        order[k] = (uchar)((k * 7 + 3) & 31);
    for (int k = 0; k < 8; k++)
        count[k] = 0;
    uint sum = 0;
    for (int k = 0; k < 8; k++) {
        uint n = x >> 4 * k & 15;
        count[n & 7]++;
        sum = sum * 33 + order[order[n] ^ 1];
    }
    out[2 * i] = sum;
    out[2 * i + 1] = (uint)(count[x & 7] * 100 + count[7]);
}

static __attribute__((noinline)) uint mix(uint a, uint b, ulong c, __private uint *side)
{
    *side += a ^ (uint)c;
    return a * 31 + b + (uint)(c >> 32);
}

static __attribute__((noinline)) float4 rotate4(float4 v, int n)
{
    float4 r = v;
    for (int i = 0; i < n; i++)
        r = (float4)(r.y, r.z, r.w, r.x);
    return r;
}

static __attribute__((noinline)) uint fold(__global const uint *in, uint i, __private uint *side)
{
    uint s = 1;
    for (uint k = 0; k < 4; k++)
        s = mix(s, in[4 * i + k], (ulong)s << 31 | k, side);
    return s;
}

KERNEL(64) called(__global const uint *in, __global uint *out, __global float4 *fout)
{
    uint i = GROUP * 64 + LID, side = i;
    uint s = fold(in, i, &side);
    if (s & 1)
        s = mix(s, side, 5, &side);
    out[2 * i] = s;
    out[2 * i + 1] = side;
    float4 v = (float4)((float)i, 1.0f, 2.0f, 3.0f);
    fout[i] = rotate4(v, (int)(i & 3));
}

/* More live values than registers of a wave in a workgroup of 1024. */
KERNEL(1024) spill(__global const float *in, __global float *out)
{
    float v[96];
    uint i = GROUP * 1024 + LID;
#pragma unroll
    for (int k = 0; k < 96; k++)
        v[k] = in[(i + k * 37) & 2047];
    BARRIER();
    float s = 0.0f;
#pragma unroll
    for (int k = 0; k < 96; k++)
        s = s * 0.5f + v[95 - k] * v[(k * 5) % 96];
    out[i] = s;
}
