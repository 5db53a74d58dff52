/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit integers and addresses, bit counting, division. */
#include "common.h"

KERNEL(64) wide(__global const ulong *a, __global const ulong *b, __global ulong *out)
{
    uint i = GROUP * 64 + LID;
    ulong x = a[i], y = b[i];
    __global ulong *o = out + 8ul * i;
    o[0] = x * y;
    o[1] = x / y;
    o[2] = x % y;
    o[3] = (ulong)((long)x / (long)(y | 1));
    o[4] = (ulong)((long)x % (long)(y | 1));
    o[5] = x << (y & 63);
    o[6] = (ulong)((long)x >> (y & 63));
    o[7] = (ulong)(((__uint128_t)x * y) >> 64);
}

KERNEL(64) bits(__global const uint *a, __global uint *out)
{
    uint i = GROUP * 64 + LID;
    uint x = a[i];
    __global uint *o = out + 8 * i;
    o[0] = __builtin_popcount(x);
    o[1] = x ? __builtin_clz(x) : 99;
    o[2] = x ? __builtin_ctz(x) : 99;
    o[3] = __builtin_bitreverse32(x);
    o[4] = __builtin_bswap32(x);
    o[5] = x / 10;
    o[6] = (uint)((int)x % 7);
    o[7] = __builtin_rotateleft32(x, i & 31);
}

/* A row's elements lie far apart: offsets of more than 32 bits of bytes, both ways from the middle. */
KERNEL(64) strided(__global uint *middle, long stride, int rows)
{
    long lane = (long)LID;
    uint sum = 0;
    for (int r = 0; r < rows; r++) {
        __global uint *up = middle + r * stride + lane, *down = middle - (r + 1) * stride + lane;
        *up = (uint)(r * 1000 + lane);
        *down = *up + 7;
        sum += *down;
    }
    middle[lane + 64] = sum;
}
