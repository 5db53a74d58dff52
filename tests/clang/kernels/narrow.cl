/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes and halfwords: loads, stores, sign extension, packing. */
#include "common.h"

KERNEL(128) bytes(__global const char *a, __global const uchar *b, __global char *sum, __global uchar *diff)
{
    uint i = GROUP * 128 + LID;
    sum[i] = (char)(a[i] + (char)b[i]);
    diff[i] = (uchar)(b[i] > 100 ? b[i] - 100 : a[i]);
}

KERNEL(128) shorts(__global const short *a, __global const ushort *b, __global int *out, __global ushort *top)
{
    uint i = GROUP * 128 + LID;
    int v = (int)a[i] * (int)b[i];
    out[i] = v;
    top[i] = (ushort)((uint)v >> 16);
}

KERNEL(128) shorts_in_lds(__global const short *a, __global short *out, __global uchar *low)
{
    __local short tile[128];
    __local uchar small[128];
    uint l = LID;
    tile[l] = a[GROUP * 128 + l];
    small[l ^ 1] = (uchar)(a[GROUP * 128 + l] >> 3);
    BARRIER();
    out[GROUP * 128 + l] = (short)(tile[127 - l] - tile[(l + 5) & 127]);
    low[GROUP * 128 + l] = small[l];
}

/* Aligned to what its copies are loaded by: the emulator reports misaligned accesses as mistakes. */
struct rgb {
    uchar r, g, b, a;
} __attribute__((aligned(4)));
KERNEL(64) quads(__global const struct rgb *in, __global struct rgb *out, uchar add)
{
    uint i = GROUP * 64 + LID;
    struct rgb p = in[i];
    struct rgb q = {p.b, (uchar)(p.g + add), p.r, p.a};
    out[i] = q;
}
