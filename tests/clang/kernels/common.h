/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels share: no OpenCL library is linked, so work-item numbers and barriers come from
 * the target. */
#define LID __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
#define BARRIER()                                                                                  \
    do {                                                                                           \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                     \
        __builtin_amdgcn_s_barrier();                                                              \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                     \
    } while (0)
