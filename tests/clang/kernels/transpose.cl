/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes through LDS, and a stencil with a halo. */
#include "common.h"

KERNEL(256) transpose(__global const uint *in, __global uint *out, uint width, uint height)
{
    __local uint tile[32][33];
    uint x = LID & 31, y = LID >> 5, tiles = width / 32;
    uint tx = GROUP % tiles * 32, ty = GROUP / tiles * 32;
    for (uint j = 0; j < 32; j += 8)
        tile[y + j][x] = in[(ty + y + j) * width + tx + x];
    BARRIER();
    for (uint j = 0; j < 32; j += 8)
        out[(tx + y + j) * height + ty + x] = tile[x][y + j];
}

KERNEL(64) transpose_wide(__global const uint4 *in, __global uint4 *out)
{
    __local uint4 rows[64];
    __local uint flat[16][20];
    uint l = LID;
    rows[l] = in[GROUP * 64 + l];
    BARRIER();
    uint4 v = rows[63 - l];
    uint r = l & 15, c = l >> 4; /* four 16 x 4 blocks make one 16 x 16 matrix */
    for (uint k = 0; k < 4; k++)
        flat[4 * c + k][r] = v[k];
    BARRIER();
    uint4 w;
    for (uint k = 0; k < 4; k++)
        w[k] = flat[r][4 * c + k];
    out[GROUP * 64 + l] = w;
}

KERNEL(128) stencil(__global const float *in, __global float *out, uint n)
{
    __local float tile[130];
    uint l = LID, i = GROUP * 128 + l;
    tile[l + 1] = in[i];
    if (l == 0)
        tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (l == 127)
        tile[129] = i + 1 < n ? in[i + 1] : 0.0f;
    BARRIER();
    out[i] = tile[l] + 2.0f * tile[l + 1] + tile[l + 2];
}
