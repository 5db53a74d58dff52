/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder: what templates see. A template reads like the assembly it emits:
 *
 *     Val byte = emit(b, v_lshlrev_b32, imm(2), b->tid);        fresh destination
 *     Val row = emit(b, global_load_dwordx4, byte, base, off(64), SC1);
 *                                                  modifiers stand among the operands
 *     emit_to(b, acc, v_add_f32, acc, part(row, 0, 1));         into a named register
 *     emit_void(b, ds_write_b128, addr, row, off(16));          nothing written
 *
 * Operand order is the assembler's, destination first (left out by emit). A mnemonic is a row of
 * isa.def, spelled without encoding suffix: the printer picks _e32, _e64, _dpp or _sdwa from the
 * operands. Operands are checked against the row when the instruction is built; an error names the
 * template's file and line (the last instruction's, for what is no instruction), sticks (later
 * calls do nothing) and is returned by build_end. What an encoding cannot hold is made legal here
 * and nowhere else: a literal in VOP3 goes through s_mov_b32, a second constant-bus operand through
 * v_mov_b32, a VOP2 scalar in src1 swaps or takes _e64.
 *
 * Waits and wait states are never written by templates: pass_waits and pass_hazards put them in.
 */
#ifndef GEN_BUILD_H
#define GEN_BUILD_H

#include "gen/isa.h" /* enum op: OP_<mnemonic> for each row of isa.def */
#include "gen/program.h"

struct plan;
struct cogen_hooks;
struct build_state;

typedef struct Builder {
    const struct plan *plan;
    const struct cogen_hooks *hooks; /* gen/hooks.h; NULL: none */
    struct program *program;
    Val tid; /* V1: work-item in its workgroup, 0 .. 511 (defined by build_begin from v0, masked) */
    Val lane;                  /* V1: tid % 64 */
    Val wave;                  /* S1: tid / 64, uniform, from v_readfirstlane */
    Val wg;                    /* S1: workgroup id x */
    Val kernarg;               /* S2: kernarg segment address (s[0:1]) */
    struct build_state *state; /* the builder's own */
} Builder;

/* ---- operands */
Val imm(int64_t value);
Val f32(float value);
Val bits(uint32_t pattern);       /* an f32 operand by its bit pattern / any 32-bit literal */
Val vreg(Builder *b, int dwords); /* fresh, not yet written */
Val sreg(Builder *b, int dwords);
Val part(Val v, int first, int dwords);
Val neg(Val v);
Val absv(Val v);
bool same(Val a, Val b);
extern const Val VCC, EXEC, M0, OFF, NONE;

/* ---- modifiers */
Val off(int bytes);
Val off2(int which, int elements); /* which 0: offset0, 1: offset1 */
extern const Val SC0, SC1, NT, CLAMP;
Val op_sel(int mask); /* bit i = element i of the text list */
Val op_sel_hi(int mask);
Val neg_lo(int mask);
Val neg_hi(int mask);
Val quad_perm(int a, int b, int c, int d);
Val row_shr(int n);
Val row_shl(int n);
Val row_ror(int n);
Val row_newbcast(int n);
extern const Val ROW_MIRROR, ROW_HALF_MIRROR, ROW_BCAST15, ROW_BCAST31, BOUND_CTRL;
Val row_mask(int mask);
Val bank_mask(int mask);
Val swizzle(
    int field); /* ds_swizzle_b32 offset field: 0x8000 | quad perm, or xor << 10 | or << 5 | and */
Val sdwa_src0(enum sdwa_sel sel);
Val sdwa_dst(enum sdwa_sel sel); /* dst_unused:UNUSED_PRESERVE */
Val bitop3(int table);

/* ---- instructions */
Val build_instr(Builder *b, enum op op, Val dst, bool fresh, const Val *operands, int count,
                const char *file, int line);
#define EMIT_LIST_(...)                                                                            \
    ((const Val[]){__VA_ARGS__}), (int)(sizeof((const Val[]){__VA_ARGS__}) / sizeof(Val))
#define emit(b, name, ...)                                                                         \
    build_instr(b, OP_##name, NONE, true, EMIT_LIST_(__VA_ARGS__), __FILE__, __LINE__)
#define emit_to(b, dst, name, ...)                                                                 \
    build_instr(b, OP_##name, dst, false, EMIT_LIST_(__VA_ARGS__), __FILE__, __LINE__)
#define emit_void(b, name, ...)                                                                    \
    build_instr(b, OP_##name, NONE, false, EMIT_LIST_(__VA_ARGS__), __FILE__, __LINE__)

/* Shorthands used everywhere. */
Val mov_v(Builder *b, Val src); /* v_mov_b32 / _b64 into fresh VGPRs */
Val mov_s(Builder *b, Val src);
Val uniform(Builder *b, Val v);                       /* v_readfirstlane_b32: V1 -> S1 */
Val fill_v(Builder *b, int dwords, uint32_t pattern); /* a fresh tuple, every dword the pattern */

/* ---- stages and comments: stage names the instructions that follow (inspect, dump, errors); note
 * is the trailing comment of the next instruction; heading stands on a line of its own above it.
 * printf-like; copied. */
void stage(Builder *b, const char *name);
void note(Builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void heading(Builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- control flow */
typedef struct Label {
    int id;
} Label;
Label label(Builder *b, const char *hint);
void place(Builder *b, Label l); /* starts a block */
void jump(Builder *b, Label l);
enum cond { IF_SCC1, IF_SCC0, IF_VCCNZ, IF_VCCZ, IF_EXECNZ, IF_EXECZ };
void jump_if(Builder *b, enum cond cond, Label l);

/* Lanes of mask (S2, or VCC) only, until lanes_end; lanes_else turns to the others. Skipped by a
 * branch when no lane is left and `skip` is set (set it around anything long or with memory
 * instructions; a masked few VALU need no branch). */
typedef struct Lanes {
    Val saved, mask;
    Label other, end;
    bool skip, has_else;
} Lanes;
Lanes lanes_if(Builder *b, Val mask, bool skip);
void lanes_else(Builder *b, Lanes *l);
void lanes_end(Builder *b, Lanes *l);

/* Uniform branch on SCC as left by the s_cmp / s_* emitted just before: body runs when SCC is 1
 * (IF_SCC1) or 0. */
typedef struct Uniform {
    Label other, end;
    bool has_else;
} Uniform;
Uniform uniform_if(Builder *b, enum cond cond);
void uniform_else(Builder *b, Uniform *u);
void uniform_end(Builder *b, Uniform *u);

/* do { ... } while (cond): loop_begin places the head, loop_end branches back. */
Label loop_begin(Builder *b, const char *hint);
void loop_end(Builder *b, enum cond cond, Label head);

/* ---- synchronisation */
void barrier(Builder *b); /* s_barrier; this wave's LDS accesses are waited for in front of it */
void stores_done(
    Builder *b); /* this wave's device stores so far have reached their scope (a wait, computed) */
void kernel_end(Builder *b); /* s_endpgm */

/* ---- LDS and kernarg by name, from the plan */
int lds_at(Builder *b, const char *region); /* byte offset; unknown name is a build error */
Val arg(Builder *b,
        const char *name);  /* S1 or S2: loaded once by args_load, an error when not loaded */
void args_load(Builder *b); /* every argument of the plan's kernarg layout, in one burst */

/* ---- begin, end, errors */
/* A program for the plan's key. Errors of build_* stick in the builder. */
Builder *build_begin(const struct plan *plan);
/* Runs nothing; hands the program over (caller frees with program_free) or NULL and the first
 * error's line in err. */
struct program *build_end(Builder *b, char *err, size_t err_size);
void build_error(Builder *b, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool build_ok(const Builder *b);
void program_free(struct program *p);

#endif
