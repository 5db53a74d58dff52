/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static reading of a code object: missing waits and wait states on any path of its control flow,
 * without running it. It uses the emulator's decoder, its lists of what an instruction reads and
 * writes, and its table of hazards.
 */
#ifndef EMU_LINT_H
#define EMU_LINT_H

#include "emu.h"

struct emu_lint_finding {
    enum emu_check kind; /* EMU_CHECK_WAITS or EMU_CHECK_HAZARDS */
    const char *rule;    /* as the emulator names it, e.g. "vmcnt-read", "hazard-mfma-valu" */
    const char *text;    /* what, and what would fix it */
    bool certain;        /* every way to the instruction has it; false: some path does */
    uint32_t pc,
        other_pc; /* byte offsets in .text of the instruction, and of the one it depends on */
    const char *inst, *other; /* their text */
};

/* Calls found for each finding of the kernels of an object, in order of address within each kind.
 * The number of findings, or -1 without memory. */
int emu_lint(struct emu_object *object,
             void (*found)(void *data, const struct emu_kernel *kernel,
                           const struct emu_lint_finding *finding),
             void *data);

#endif
