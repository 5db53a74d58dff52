/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's own state and parts; for build*.c only. */
#ifndef GEN_BUILD_STATE_H
#define GEN_BUILD_STATE_H

#include "gen/build.h"

enum { BUILD_MAX_KERNARG = 160 }; /* dwords */

struct build_state {
    char error[512]; /* the first error; empty: none */
    int block;       /* where instructions go */
    bool ended;      /* the block ends in a branch: the next instruction opens another */
    int stage, region;
    int depth;        /* open lanes_if and uniform_if */
    const char *file; /* the template's line that last gave an instruction: the builder's own */
    int line;         /* instructions and errors are said to come from there */
    bool internal;    /* the builder itself emits: EXEC may be written */
    const char *note;
    const char *heading;
    Val kernarg[BUILD_MAX_KERNARG]; /* the loaded arguments, a dword each */
};

/* The builder's own instructions come from the template's last line. */
#undef emit
#undef emit_to
#undef emit_void
#define HERE_(b) (b)->state->file, (b)->state->line
#define emit(b, name, ...) build_instr(b, OP_##name, NONE, true, EMIT_LIST_(__VA_ARGS__), HERE_(b))
#define emit_to(b, dst, name, ...)                                                                 \
    build_instr(b, OP_##name, dst, false, EMIT_LIST_(__VA_ARGS__), HERE_(b))
#define emit_void(b, name, ...)                                                                    \
    build_instr(b, OP_##name, NONE, false, EMIT_LIST_(__VA_ARGS__), HERE_(b))

/* Operands and modifiers against the opcode's row. False after build_error. */
bool build_check(Builder *b, const struct instr *in);
/* Rewrites what the encoding cannot hold; may emit moves ahead of the instruction. False after
 * build_error. */
bool build_legalise(Builder *b, struct instr *in);
/* A constant that an instruction holds without a literal. */
bool val_is_inline(const Val *v);
bool val_is_const(const Val *v);
/* The instruction needs its 64-bit encoding (VOP1, VOP2, VOPC). */
bool instr_needs_e64(const struct instr *in);

#endif
