/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small kernels for tests: a body in assembly becomes a code object through llvm-mc and ld.lld.
 */
#ifndef ISA_ASM_H
#define ISA_ASM_H

#include "emu.h"

struct asm_kernel {
    const char *body; /* instructions, one a line; s_endpgm is added */
    const char *arch; /* NULL: gfx950 */
    unsigned vgprs;   /* arch VGPRs, a multiple of 4; 0: 64 */
    unsigned agprs;
    unsigned lds;
    unsigned sgprs;         /* 0: 96 */
    const char *directives; /* more .amdhsa_ lines, or NULL */
};

/* The code object's bytes (to be freed); NULL after printing the assembler's complaint. The kernel
 * is called "k"; s[0:1] hold the kernarg pointer, s2 the workgroup's number, v0 the work-item's. */
void *asm_object(const struct asm_kernel *kernel, size_t *size);

/* A device with one loaded kernel, and what its dispatch came to. */
struct asm_run {
    struct emu_device *device;
    struct emu_object *object;
    const struct emu_kernel *kernel;
    struct emu_result result;
    void *kernarg; /* 256 bytes, defined */
};
/* 0, or -1 after printing why. config may be NULL: all checks on. */
int asm_open(struct asm_run *run, const struct asm_kernel *kernel, const struct emu_config *config);
enum emu_status asm_dispatch(struct asm_run *run, unsigned groups, unsigned items);
void asm_close(struct asm_run *run);
/* Short name of the finding, "" when there is none. */
const char *asm_finding(const struct asm_run *run);

#endif
