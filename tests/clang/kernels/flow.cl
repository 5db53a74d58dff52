/* SPDX-License-Identifier: Apache-2.0 */
/* Divergent control flow, nested loops, switches, scalar loads, structures by value. */
#include "common.h"

KERNEL(64) collatz(__global const uint *in, __global uint *steps)
{
    uint i = GROUP * 64 + LID;
    uint v = in[i], n = 0;
    while (v != 1) {
        if (v & 1)
            v = 3 * v + 1;
        else
            v >>= 1;
        if (++n == 500)
            break;
    }
    steps[i] = n;
}

KERNEL(64) nested(__global const int *in, __global int *out)
{
    uint i = GROUP * 64 + LID;
    int n = in[i], sum = 0;
    for (int a = 0; a < n; a++) {
        if (a % 3 == 2)
            continue;
        for (int b = a; b < n; b++) {
            if ((a ^ b) == 5)
                break;
            switch ((a + b + n) & 7) {
            case 0: sum += a; break;
            case 1: sum -= b; break;
            case 2: sum ^= 0x55; break;
            case 5: sum += a * b; break;
            default: sum += 1; break;
            }
        }
        if (sum > 4000)
            goto out;
    }
    sum = -sum;
out:
    out[i] = sum;
}

/* The table's address and index are the same for all: scalar loads. */
KERNEL(64) uniform(__constant const uint *table, __global const uint *in, __global uint *out, uint rounds)
{
    uint i = GROUP * 64 + LID, acc = in[i];
    for (uint r = 0; r < rounds; r++) {
        uint k = table[r + GROUP];
        acc = acc * table[k & 15] + k;
        if (table[r] > 0x80000000u)
            acc ^= table[(r + 3) & 15];
    }
    out[i] = acc;
}

struct plan {
    int scale;
    short bias[3];
    uchar on;
    long far;
    __global const int *in;
    float4 f;
};
KERNEL(64) by_value(struct plan p, __global int *out, __global float *fout)
{
    uint i = GROUP * 64 + LID;
    int v = p.in[i] * p.scale;
    if (p.on)
        v += p.bias[i % 3];
    out[i] = v + (int)(p.far >> 33);
    fout[i] = p.f[i & 3] * 2.0f;
}

/* Three-dimensional grids: the numbers of work-items come packed in one register. */
__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void grid3(__global uint *out, uint width, uint height)
{
    uint x = __builtin_amdgcn_workgroup_id_x() * 8 + __builtin_amdgcn_workitem_id_x();
    uint y = __builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y();
    uint z = __builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workitem_id_z();
    out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}
