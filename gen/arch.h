/* SPDX-License-Identifier: Apache-2.0 */
/* Target limits: what a plan must fit into. */
#ifndef GEN_ARCH_H
#define GEN_ARCH_H

struct arch {
    const char *name; /* LLVM's -mcpu, and the code object's target */
    int lds_bytes;    /* a workgroup's most LDS */
    int lds_granule;  /* allocation granule, bytes */
    int vgprs;        /* a lane's VGPRs at 512 work-items a CU: 2 waves a SIMD */
    int vgpr_granule;
    int sgprs;      /* s0 .. s(n-1), VCC apart */
    int workgroups; /* resident workgroups a launch needs: one a CU */
};

extern const struct arch archs[];
extern const int arch_count;
const struct arch *arch_find(const char *name); /* NULL: none */

#endif
