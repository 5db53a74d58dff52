/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scalar instructions' two files share: the rows of their tables, and how a function of a
 * row gets at its operands.
 */
#ifndef EMU_EXEC_SALU_H
#define EMU_EXEC_SALU_H

#include "wave.h"

enum salu_layout {
    L_D_SRC = 1 << 0,  /* operand 0 is written */
    L_READ_D = 1 << 1, /* and read */
    L_SCC_IN = 1 << 2,
    L_SCC_OUT = 1 << 3,
    L_EXEC_IO = 1 << 4, /* reads and writes EXEC besides */
    L_VCC = 1 << 5,     /* reads VCC */
    L_BRANCH = 1 << 6,
    L_MAYBE = 1 << 7,  /* the destination is not always written */
    L_M0 = 1 << 8,     /* writes part of M0 */
    L_MOVREL = 1 << 9, /* M0 moves a register number: wait states behind a write of M0 */
    L_NOP = 1 << 10,
    L_WAIT = 1 << 11,
    L_MESSAGE = 1 << 12, /* M0 is the message: a wait state behind a write of M0 */
};

struct salu_row {
    const char *name;
    inst_fn *fn;
    uint16_t layout;
};

/* exec_control.c: those that steer the wave; NULL past the last. */
const struct salu_row *control_row(size_t i);

/* Operands by their place: D is the destination, the sources follow. */
#define FN(name) static void name(struct wave *w, const struct inst *in)
#define A32(i) read_s32(w, &in->op[i])
#define A64(i) read_s64(w, &in->op[i])
#define D32(v) write_s32(w, in->op[0].reg, (v))
#define D64(v) write_s64(w, in->op[0].reg, (v))

static inline uint32_t simm16(const struct inst *in, unsigned op)
{
    return (uint32_t)(int32_t)(int16_t)in->op[op].imm;
}

#define R(name, layout) {#name, name, layout}

#endif
