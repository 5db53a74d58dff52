/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lane arithmetic: what a vector or matrix instruction computes, apart from waves, registers and
 * checks. A function gets rows of 64 lanes and writes rows of 64 lanes; the caller gathers sources
 * (a scalar is broadcast to a row), applies EXEC to the results and stores them. So each function
 * can be tested alone.
 *
 * A row is uint32_t[64], lane 0 first. An operand of n dwords is n rows one after another (row k =
 * dword k of each lane).
 *
 * Conventions beyond the fields' comments:
 * - op_sel holds the encoding's OPSEL bits: bit 3 is the destination's half whatever the number of
 * sources; byte forms (fp8, fp4) use bits 1:0 as the source byte and bits 3:2 as the destination
 * byte.
 * - dst always holds the old contents on entry where EMU_ALU_READS_DST is set.
 * - v_fma_mix*: op_sel_hi bit i set: source i is an f16, its half by op_sel; abs and neg as in
 * VOP3.
 * - Swaps compute all lanes of both rows; the caller applies EXEC where the instruction obeys it.
 * - v_fmaak / v_fmamk / v_madak / v_madmk have two sources, the literal is imm.
 * - Scaled MFMA: src[3] is two rows, A's scale register then B's; sparse MFMA: src[2] is the index
 * row, dst holds C.
 * - A source may be NULL only where its src_dwords is 0. src and dst rows must not overlap (swaps
 * apart).
 */
#ifndef EMU_ALU_H
#define EMU_ALU_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_LANES 64

enum { EMU_MODE_OVFL = 1 << 0, EMU_MODE_IEEE = 1 << 1, EMU_MODE_DX10_CLAMP = 1 << 2 };

struct emu_alu {
    uint32_t
        *dst; /* dst_rows rows; on entry the old contents (for partial writes, DPP, accumulators) */
    const uint32_t
        *src[4];       /* A, B, C, and a fourth where an instruction has one (scales: see mfma.h) */
    uint64_t exec;     /* lanes that will be written; a function may compute the others too */
    uint64_t carry_in; /* VCC or SGPR mask sources (v_cndmask, v_addc, v_div_fmas) */
    uint64_t mask_out; /* compares, carries out: bit per lane (caller ANDs with EXEC) */
    uint8_t neg, abs;  /* bit i: source i; for packed forms neg = neg_lo */
    uint8_t neg_hi;
    uint8_t op_sel,
        op_sel_hi; /* bit i: source i; op_sel bit 3 of three-source forms: destination half */
    uint8_t omod;  /* 0 none, 1 x2, 2 x4, 3 x0.5 */
    bool clamp;
    uint8_t denorm32, denorm16_64; /* FP_DENORM fields of MODE: 0 flush in and out .. 3 keep */
    uint8_t round32, round16_64;   /* 0 nearest even, 1 +inf, 2 -inf, 3 zero */
    uint8_t mode;                  /* EMU_MODE_* */
    bool fnuz;    /* fp8 / bf8 dialect of the target: true on gfx942, false (OCP) on gfx950 */
    uint32_t imm; /* v_fmaak / v_fmamk literal, bitop3 table */
    uint8_t cbsz, abid, blgp; /* MFMA */
    bool precise;             /* MFMA: the high-precision mode instead of the hardware model */
};

typedef void emu_alu_fn(struct emu_alu *alu);

struct emu_alu_op {
    const char *mnemonic; /* without encoding suffix (_e32, _e64, _sdwa, _dpp) */
    emu_alu_fn *fn;
    uint8_t dst_dwords;    /* 0: result is mask_out only */
    uint8_t src_dwords[4]; /* 0: no such source */
    uint16_t flags;        /* EMU_ALU_* */
};

enum {
    EMU_ALU_MASK_OUT = 1 << 0,  /* writes a lane mask (v_cmp*, v_add_co, v_div_scale) */
    EMU_ALU_MASK_IN = 1 << 1,   /* reads a lane mask */
    EMU_ALU_TRANS = 1 << 2,     /* transcendental unit */
    EMU_ALU_READS_DST = 1 << 3, /* v_fmac, partial writes (fp8 byte / half results), v_dot2c, ... */
    EMU_ALU_FLOAT = 1 << 4,     /* neg / abs / clamp / omod are float modifiers */
    EMU_ALU_CMPX = 1 << 5,      /* mask_out also goes to EXEC */
    EMU_ALU_MFMA = 1 << 6,      /* ignores EXEC */
    EMU_ALU_WRITES_SRC0 =
        1 << 7, /* permlane swaps: src[0] points at a writable row, the second result */
    EMU_ALU_DOT = 1 << 8,
    EMU_ALU_PACKED = 1 << 9, /* op_sel / op_sel_hi / neg_lo / neg_hi forms */
};

/* The row of a mnemonic, or NULL. All rows: emu_alu_ops(&n). */
const struct emu_alu_op *emu_alu_find(const char *mnemonic);
const struct emu_alu_op *emu_alu_ops(unsigned *count);

#endif
