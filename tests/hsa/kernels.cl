/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the HSA tests, as a compiler makes them. */
typedef unsigned int u32;

static u32 index_of_item(void)
{
    return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

/* c[i] = a[i] + b[i] for i < n */
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void
vector_add(global const float *a, global const float *b, global float *c, u32 n)
{
    u32 i = index_of_item();
    if (i < n)
        c[i] = a[i] + b[i];
}

/* x[i] = x[i] * 3 + 1: two in a row show that the second saw the first's results */
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void step(global u32 *x, u32 n)
{
    u32 i = index_of_item();
    if (i < n)
        x[i] = x[i] * 3 + 1;
}

/* Writes past the end of x. */
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void overrun(global u32 *x, ulong beyond)
{
    x[beyond + index_of_item()] = 1;
}

/* The sum of a workgroup's values through LDS. */
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void group_sum(global const u32 *x,
                                                                       global u32 *sums)
{
    local u32 part[256];
    u32 t = __builtin_amdgcn_workitem_id_x();
    part[t] = x[index_of_item()];
    for (u32 n = 128; n; n /= 2) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        if (t < n)
            part[t] += part[t + n];
    }
    if (t == 0)
        sums[__builtin_amdgcn_workgroup_id_x()] = part[0];
}
