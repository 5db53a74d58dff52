/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel between template and text: instructions in basic blocks over virtual registers.
 *
 *   templates --(build.h)--> struct program --pass_dead--> --pass_schedule--> --pass_registers-->
 *       --pass_waits--> --pass_hazards--> print
 *
 * Registers are not SSA: a template may write a register many times (accumulators, loop variables).
 * A virtual register has `width` consecutive dwords, allocated as one aligned tuple.
 *
 * Regions. EXEC-masked code (lanes_if .. lanes_end) is a region; regions nest. A register remembers
 * the region it was made in. A write in a deeper region than the register's own leaves the other
 * lanes' values in place, so it does not end the life of what was there before: liveness counts it
 * as a read and a write.
 */
#ifndef GEN_PROGRAM_H
#define GEN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum val_kind {
    VAL_NONE,
    VAL_V,   /* virtual VGPR tuple: id, sub, width */
    VAL_S,   /* virtual SGPR tuple */
    VAL_IMM, /* integer: inline constant or 32-bit literal */
    VAL_F32, /* float: inline constant or literal; imm holds the bits */
    VAL_VCC,
    VAL_EXEC,
    VAL_M0,
    VAL_OFF,   /* special operands; OFF is the text "off" of memory forms */
    VAL_LABEL, /* id: block label */
    VAL_MOD,   /* a modifier in an operand list: id is enum mod, imm its value */
};

typedef struct Val {
    uint8_t kind;     /* enum val_kind */
    uint8_t width;    /* dwords */
    uint8_t neg, abs; /* float source modifiers */
    uint16_t sub;     /* first dword inside the virtual register */
    uint32_t id;      /* virtual register, label, or modifier */
    int64_t imm;
} Val;

enum mod {
    MOD_OFFSET, /* byte offset of a memory instruction (elements for read2 / write2: MOD_OFFSET0,
                   MOD_OFFSET1) */
    MOD_OFFSET0,
    MOD_OFFSET1,
    MOD_SC0,
    MOD_SC1,
    MOD_NT,
    MOD_OP_SEL,
    MOD_OP_SEL_HI,
    MOD_NEG_LO,
    MOD_NEG_HI, /* bit i: element i of the text list */
    MOD_CLAMP,
    MOD_DPP, /* imm: enum dpp_ctrl << 8 | argument */
    MOD_DPP_ROW_MASK,
    MOD_DPP_BANK_MASK,
    MOD_DPP_BOUND_CTRL,
    MOD_SWIZZLE, /* ds_swizzle_b32: the 16-bit offset field */
    MOD_SDWA_SRC0,
    MOD_SDWA_DST, /* enum sdwa_sel */
    MOD_BITOP3,
    MOD_COUNT
};

enum dpp_ctrl {
    DPP_QUAD_PERM,
    DPP_ROW_SHL,
    DPP_ROW_SHR,
    DPP_ROW_ROR,
    DPP_ROW_MIRROR,
    DPP_ROW_HALF_MIRROR,
    DPP_ROW_BCAST15,
    DPP_ROW_BCAST31,
    DPP_ROW_NEWBCAST
};
enum sdwa_sel {
    SDWA_BYTE_0,
    SDWA_BYTE_1,
    SDWA_BYTE_2,
    SDWA_BYTE_3,
    SDWA_WORD_0,
    SDWA_WORD_1,
    SDWA_DWORD
};

/* ---- the program itself. All of it lives in the program's arena, freed in one place. */

struct plan;

enum { INSTR_OPERANDS = 6, INSTR_MODS = 6 };

struct instr {
    uint16_t op;     /* enum op */
    uint16_t stage;  /* index into program.stages */
    uint16_t region; /* EXEC region it stands in */
    uint8_t n, n_mods;
    bool fresh; /* operand 0 is a register made for it: a partial write keeps nothing */
    Val operands[INSTR_OPERANDS];
    Val mods[INSTR_MODS];
    const char *note;    /* trailing comment, or NULL */
    const char *heading; /* lines above, or NULL */
    const char *file;    /* of the template */
    int line;
};

/* Straight-line code; control enters at the top and leaves at the bottom (fall-through, branch or
 * end). */
struct block {
    int label; /* index into program.labels of the first label here, or -1 */
    int n, cap;
    struct instr *instrs;
    int n_succ, succ[2]; /* filled by program_link */
};

struct vreg {
    uint8_t kind; /* VAL_V or VAL_S */
    uint8_t width;
    uint16_t region; /* EXEC region it was made in */
    int16_t phys;    /* first physical register; -1 before pass_registers */
    bool fixed;      /* phys is given: set by the hardware at entry */
    uint32_t comp;   /* number of its first dword among all virtual dwords */
};

struct label {
    const char *hint;
    int block; /* -1: not placed */
};

/* What `inspect` shows of a stage. */
struct stage_stats {
    const char *name;
    int by_class[16]; /* instructions, by enum op_class */
    int waits, nops;  /* s_waitcnt and s_nop among CLASS_MISC */
};

struct arena;

struct program {
    struct arena *arena;
    const struct plan *plan; /* may be NULL: a program without a plan (tests) */
    bool arch_950;
    int max_vgprs, max_sgprs; /* what pass_registers may use */
    const char *name;
    struct block *blocks;
    int n_blocks, cap_blocks;
    struct vreg *vregs;
    int n_vregs, cap_vregs;
    uint32_t n_comps;
    struct label *labels;
    int n_labels, cap_labels;
    int *region_parent; /* region 0: the whole wave */
    int n_regions, cap_regions;
    const char **stages;
    int n_stages, cap_stages;
    int vgprs, sgprs;           /* used, after pass_registers */
    int peak_vgprs, peak_sgprs; /* most alive at once, after pass_registers */
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed; NULL when out of memory */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct program *program_new(void); /* NULL when out of memory */
void program_free(struct program *p);

/* Growth by doubling inside the arena: room for one more element of *array. False when out of
 * memory. */
bool program_grow(struct program *p, void **array, int n, int *cap, size_t size);
#define PROGRAM_GROW(p, array, n, cap)                                                             \
    program_grow(p, (void **)&(array), n, &(cap), sizeof *(array))

int program_block(struct program *p, int label); /* a new block at the end; its index or -1 */
bool program_insert(struct program *p, struct block *b, int at, const struct instr *in);
bool program_append(struct program *p, struct block *b, const struct instr *in);
/* What a pass puts beside an instruction: op with one number, of its stage, region and line. */
struct instr instr_beside(const struct instr *in, uint16_t op, int64_t number);
/* The instructions of `with` in place of b's; what else b has stays. */
void block_rewrite(struct block *b, const struct block *with);
/* Successors of every block. 0, or -1 and a line (a label that was never placed; code that runs off
 * the end). */
int program_link(struct program *p, char *err, size_t err_size);
/* Region `inner` is `outer` or inside it. */
bool region_within(const struct program *p, int inner, int outer);

/* ---- what an instruction touches, for the passes */

enum unit_space {
    UNIT_V = 0, /* VGPR n, or the virtual dword n of a VGPR */
    UNIT_S = 1, /* SGPR n (VCC 106, M0 124, EXEC 126), or the virtual dword n of an SGPR */
    UNIT_SCC = 2,
};
enum { SGPR_VCC = 106, SGPR_M0 = 124, SGPR_EXEC = 126, PHYS_SGPRS = 128, PHYS_VGPRS = 512 };

struct touch {
    uint8_t space;   /* enum unit_space */
    uint8_t access;  /* enum access of isa.h; a write that keeps lanes or bits has ACC_R too */
    uint8_t tag;     /* enum operand_tag */
    uint8_t operand; /* its index, 255: implicit */
    uint8_t width;
    bool special; /* VCC, EXEC, M0: a physical register in either view */
    bool keeps;   /* ACC_R only because the write keeps other lanes or bits */
    int32_t unit; /* physical register, or number of the virtual dword */
};
enum { MAX_TOUCHES = INSTR_OPERANDS + 6 };

/* Fills out[MAX_TOUCHES]; the count. `physical`: registers as allocated; else virtual dwords. */
int instr_touches(const struct program *p, const struct instr *in, bool physical,
                  struct touch *out);
/* The modifier, or NULL. */
const Val *instr_mod(const struct instr *in, enum mod mod);
bool instr_is_dpp(const struct instr *in);
bool instr_is_sdwa(const struct instr *in);

/* Counts by stage; stats has room for p->n_stages. */
void program_stats(const struct program *p, struct stage_stats *stats);

#endif
