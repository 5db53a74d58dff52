/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of all kinds, and data handed from workgroup to workgroup by flags. */
#include "common.h"
#define RELAXED __ATOMIC_RELAXED
#define DEVICE __MEMORY_SCOPE_DEVICE
#define WORKGROUP __MEMORY_SCOPE_WRKGRP

KERNEL(256) histogram(__global const uchar *in, __global uint *out, uint n)
{
    __local uint bins[256];
    uint l = LID;
    bins[l] = 0;
    BARRIER();
    for (uint i = GROUP * 1024 + l; i < n && i < GROUP * 1024 + 1024; i += 256)
        __scoped_atomic_fetch_add(&bins[in[i]], 1u, RELAXED, WORKGROUP);
    BARRIER();
    if (bins[l])
        __scoped_atomic_fetch_add(&out[l], bins[l], RELAXED, DEVICE);
}

KERNEL(256) kinds(__global int *i32, __global ulong *u64, __global uint *tickets)
{
    int v = (int)(GROUP * 256 + LID);
    __scoped_atomic_fetch_add(&i32[0], v, RELAXED, DEVICE);
    __scoped_atomic_fetch_min(&i32[1], -v, RELAXED, DEVICE);
    __scoped_atomic_fetch_max(&i32[2], v * 3, RELAXED, DEVICE);
    __scoped_atomic_fetch_or(&i32[3], 1 << (v & 31), RELAXED, DEVICE);
    __scoped_atomic_fetch_and(&i32[4], ~(1 << (v & 15)), RELAXED, DEVICE);
    __scoped_atomic_fetch_xor(&i32[5], v, RELAXED, DEVICE);
    __scoped_atomic_fetch_sub(&i32[6], 2, RELAXED, DEVICE);
    __scoped_atomic_fetch_add(&u64[0], 0x100000001ul * (ulong)v, RELAXED, DEVICE);
    __scoped_atomic_fetch_max(&u64[1], (ulong)v << 40, RELAXED, DEVICE);
    uint ticket = __scoped_atomic_fetch_add((__global uint *)&i32[7], 1u, RELAXED, DEVICE);
    tickets[ticket] = (uint)v;
}

KERNEL(64) floats(__global float *sum, __global double *wide, __global uint *highest)
{
    __local float part;
    if (LID == 0)
        part = 0.0f;
    BARRIER();
    float v = (float)LID;
    __scoped_atomic_fetch_add(&part, v, RELAXED, WORKGROUP);
    __scoped_atomic_fetch_add(sum, v, RELAXED, DEVICE);
    __scoped_atomic_fetch_add(wide, (double)v * 0.5, RELAXED, DEVICE);
    BARRIER();
    if (LID == 0) {
        float mine = part + (float)GROUP;
        uint bits = __builtin_astype(mine, uint), old = 0;
        while (old < bits && !__scoped_atomic_compare_exchange_n(highest, &old, bits, false, RELAXED, RELAXED, DEVICE))
            ;
    }
}

/* A lock in memory: the counter behind it is no atomic. */
KERNEL(64) lock(__global uint *locks, __global uint *counter)
{
    if (LID == 0) {
        for (int k = 0; k < 3; k++) {
            uint free = 0;
            while (!__scoped_atomic_compare_exchange_n(&locks[0], &free, 1u, false, __ATOMIC_ACQUIRE, RELAXED, DEVICE)) {
                free = 0;
                __builtin_amdgcn_s_sleep(1);
            }
            *counter += 5;
            __scoped_atomic_store_n(&locks[0], 0u, __ATOMIC_RELEASE, DEVICE);
        }
    }
}

/* Workgroup g waits for workgroup g - 1's row, adds to it, and hands its own on. */
KERNEL(128) chain(__global uint *rows, __global uint *flags)
{
    uint g = GROUP, l = LID, v = l;
    if (g > 0) {
        if (l == 0)
            while (__scoped_atomic_load_n(&flags[g - 1], __ATOMIC_ACQUIRE, DEVICE) == 0)
                __builtin_amdgcn_s_sleep(1);
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        v = rows[(g - 1) * 128 + (l ^ 1)] + 1;
    }
    rows[g * 128 + l] = v;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __builtin_amdgcn_s_barrier();
    if (l == 0)
        __scoped_atomic_store_n(&flags[g], 1u, __ATOMIC_RELEASE, DEVICE);
}

/* The last workgroup to finish sums what all have left. */
KERNEL(64) last_one(__global uint *parts, __global uint *count, __global uint *total, uint groups)
{
    __local uint last;
    uint l = LID;
    parts[GROUP * 64 + l] = GROUP * l;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    BARRIER();
    if (l == 0)
        last = __scoped_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, DEVICE) == groups - 1;
    BARRIER();
    if (last) {
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        uint s = 0;
        for (uint g = 0; g < groups; g++)
            s += parts[g * 64 + l];
        total[l] = s;
    }
}
