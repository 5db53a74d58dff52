/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and scans: across lanes, through LDS, across a workgroup. */
#include "common.h"

KERNEL(256) sum_tree(__global const int *in, __global int *out)
{
    __local int part[256];
    uint l = LID;
    part[l] = in[GROUP * 256 + l];
    BARRIER();
    for (uint n = 128; n > 0; n >>= 1) {
        if (l < n)
            part[l] += part[l + n];
        BARRIER();
    }
    if (l == 0)
        out[GROUP] = part[0];
}

KERNEL(256) max_waves(__global const float *in, __global float *out)
{
    __local float part[4];
    uint l = LID;
    float v = in[GROUP * 256 + l];
    for (uint n = 1; n < 64; n <<= 1) {
        int other = __builtin_amdgcn_ds_bpermute((int)(((l & 63) ^ n) << 2), __builtin_astype(v, int));
        v = __builtin_fmaxf(v, __builtin_astype(other, float));
    }
    if ((l & 63) == 0)
        part[l >> 6] = v;
    BARRIER();
    if (l == 0)
        out[GROUP] = __builtin_fmaxf(__builtin_fmaxf(part[0], part[1]), __builtin_fmaxf(part[2], part[3]));
}

#define DPP(v, ctrl) __builtin_amdgcn_update_dpp(0, v, ctrl, 0xf, 0xf, true)
KERNEL(64) sum_rows(__global const int *in, __global int *out)
{
    int v = in[GROUP * 64 + LID];
    v += DPP(v, 0x111); /* row_shr:1 */
    v += DPP(v, 0x112);
    v += DPP(v, 0x114);
    v += DPP(v, 0x118); /* lane 15 of each row has the row's sum */
    v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false); /* row_bcast:15 */
    v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 0xf, false); /* row_bcast:31 */
    int total = __builtin_amdgcn_readlane(v, 63);
    out[GROUP * 64 + LID] = total + __builtin_amdgcn_ds_swizzle(in[GROUP * 64 + LID], 0x041f); /* lane ^ 1 */
}

KERNEL(256) scan(__global const uint *in, __global uint *out)
{
    __local uint a[2][256];
    uint l = LID, side = 0;
    a[0][l] = in[GROUP * 256 + l];
    BARRIER();
    for (uint n = 1; n < 256; n <<= 1) {
        uint v = a[side][l];
        if (l >= n)
            v += a[side][l - n];
        side ^= 1;
        a[side][l] = v;
        BARRIER();
    }
    out[GROUP * 256 + l] = a[side][l];
}

KERNEL(64) ballot(__global const int *in, __global ulong *mask, __global uint *rank)
{
    uint i = GROUP * 64 + LID;
    ulong m = __builtin_amdgcn_ballot_w64(in[i] > 0);
    uint below = __builtin_amdgcn_mbcnt_hi((uint)(m >> 32), __builtin_amdgcn_mbcnt_lo((uint)m, 0));
    rank[i] = in[i] > 0 ? below : 1000 + (uint)__builtin_amdgcn_readfirstlane(in[i]);
    if (LID == 0)
        mask[GROUP] = m;
}
