/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoded instructions. Bytes become text once, through LLVM's disassembler, and the text becomes a
 * struct inst once; execution never looks at either again. What an instruction reads and writes is
 * listed here too (rd, wr), so that the checks of waits, hazards and undefined values are written
 * once, apart from the functions that execute.
 */
#ifndef EMU_INST_H
#define EMU_INST_H

#include "alu.h"
#include "emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wave;
struct inst;

/* Register numbers in the lists of reads and writes: VGPRs, then AGPRs, then scalar registers by
 * their encoding. */
enum {
    REG_V = 0,
    REG_A = 256,
    REG_S = 512,
    REG_END = REG_S + 128,
};
/* Scalar registers by their encoding. SCC takes the one number that encodes nothing. */
enum {
    S_FLAT_SCRATCH = 102,
    S_XNACK = 104,
    S_VCC = 106,
    S_TTMP = 108,
    S_M0 = 124,
    S_SCC = 125,
    S_EXEC = 126,
};

enum opnd_kind { OPND_NONE, OPND_V, OPND_S, OPND_IMM, OPND_OFF, OPND_SPECIAL };
enum {
    SPECIAL_SHARED_BASE = 235,
    SPECIAL_SHARED_LIMIT,
    SPECIAL_PRIVATE_BASE,
    SPECIAL_PRIVATE_LIMIT,
    SPECIAL_VCCZ = 251,
    SPECIAL_EXECZ,
    SPECIAL_SCC
};

struct opnd {
    uint8_t kind; /* opnd_kind */
    uint8_t acc;  /* 1: the register is an AGPR */
    uint8_t n;    /* dwords */
    bool neg, abs, sext;
    bool literal; /* a 32-bit literal: widened by the type of the source, unlike an inline constant
                   */
    bool real;    /* text such as 1.0: its bits depend on the type of the source */
    uint16_t reg; /* number of the register in its file, or SPECIAL_* */
    uint32_t imm; /* integer, or the bits of the f32 */
    const uint32_t *row; /* of an immediate of the VALU: it broadcast, n rows */
};

/* How a register is used: decides the wait states between its producer and this use, and the lanes
 * that matter. */
enum use_kind {
    USE_VALU,     /* VALU source, write of a VALU destination */
    USE_DPP,      /* DPP source */
    USE_READLANE, /* v_readlane / v_readfirstlane source */
    USE_LANESEL,  /* SGPR lane select */
    USE_PERMSWAP, /* both registers of a permlane swap */
    USE_MFMA_AB,
    USE_MFMA_C,
    USE_VMEM,    /* address or V# of a memory instruction */
    USE_STORE,   /* data of a store, LDS write or atomic */
    USE_LOAD,    /* destination of a memory load */
    USE_SALU,    /* also SMEM */
    USE_MASK,    /* mask or carry-in of a VALU instruction */
    USE_DIVFMAS, /* VCC of v_div_fmas */
    USE_MFMA_D,
    USE_KINDS,
};
enum use_lanes {
    LANES_EXEC,
    LANES_ALL,
    LANES_OWN
}; /* OWN: the executing function checks and marks */

struct use {
    uint16_t reg; /* REG_* based */
    uint8_t n;
    uint8_t kind;  /* use_kind */
    uint8_t lanes; /* use_lanes */
};

enum inst_flag {
    IF_VALU = 1 << 0,
    IF_SALU = 1 << 1,
    IF_SMEM = 1 << 2,
    IF_VMEM = 1 << 3, /* global, flat, buffer, scratch */
    IF_DS = 1 << 4,
    IF_MFMA = 1 << 5,
    IF_TRANS = 1 << 6,
    IF_DPP = 1 << 7,
    IF_SDWA = 1 << 8,
    IF_DOT = 1 << 9,
    IF_PARTIAL = 1 << 10, /* writes part of a register: sec. 4b of the wait-state table */
    IF_PERMSWAP = 1 << 11,
    IF_CMPX = 1 << 12,
    IF_WRITES_EXEC = 1 << 13,
    IF_LDS_DMA = 1 << 14,
    IF_M0 = 1 << 15, /* reads M0 with the one wait state: LDS-DMA, s_sendmsg, ds_*addtid */
    IF_BRANCH = 1 << 16,
    IF_BIG_STORE =
        1 << 17, /* store of three or four dwords: its data may not be overwritten at once */
    IF_XDL = 1 << 18,
    IF_DGEMM = 1 << 19,
    IF_NOP = 1 << 20,
    IF_WAIT = 1 << 21,
    IF_READLANE = 1 << 22,
    IF_FLAT = 1 << 23,
    IF_SGPR_SOFFSET = 1 << 24,
    IF_STORE = 1 << 25, /* VMEM without a returned value */
    IF_WRITELANE = 1 << 26,
    IF_EXEC_DATA = 1 << 27, /* VALU that reads EXEC as data */
};

enum sdwa_sel { SEL_BYTE_0, SEL_BYTE_1, SEL_BYTE_2, SEL_BYTE_3, SEL_WORD_0, SEL_WORD_1, SEL_DWORD };
enum sdwa_unused { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE };

typedef void inst_fn(struct wave *w, const struct inst *in);

#define INST_OPS 8

struct inst {
    inst_fn *exec;
    uint32_t flags;
    uint32_t pc;   /* byte offset in the code object's image */
    uint8_t bytes; /* size of the encoding */
    uint8_t nops;
    uint8_t nrd, nwr;
    uint8_t wait_states; /* 1, s_nop: its count */
    uint8_t passes;      /* of an MFMA */
    uint8_t bitwise;     /* scalar move or bitwise operation: undefined bits pass through it */
    struct opnd op[INST_OPS];
    struct use rd[INST_OPS + 2];
    struct use wr[4];

    /* modifiers, as printed; zero when absent */
    int32_t offset;
    uint8_t offset0, offset1;
    bool sc0, sc1, nt, offen, idxen, lds, clamp, bound_ctrl, gds;
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi, op_sel_count;
    uint8_t omod;
    uint8_t row_mask, bank_mask;
    uint8_t dst_sel, dst_unused, src_sel[2];
    uint8_t cbsz, abid, blgp, bitop3;
    uint8_t vmcnt, lgkmcnt; /* 255: not waited for */
    uint8_t hwreg, hw_offset, hw_width;
    uint16_t swizzle;
    uint8_t dpp_lane[64]; /* source lane of each lane, 255: none */

    /* VALU */
    const struct emu_alu_op *alu;
    struct emu_alu proto;           /* modifiers filled in */
    bool apart;                     /* the result's registers are none of the sources' */
    uint8_t nsrc;                   /* sources of the arithmetic: operand numbers in src[] */
    int8_t dst, mask_dst, mask_src; /* operand numbers, -1: none (mask_src -2: VCC, unprinted) */
    int8_t src[5];

    /* memory: which operand is what, -1: none */
    int8_t vdata, vaddr, saddr, soffset, vdst, vdata2;
    const void *row; /* row of the family's own opcode table */

    /* Forms of a vector instruction whose registers are moved by an index (s_set_gpr_idx_on). */
    struct inst *indexed;
    uint16_t index; /* of such a form: M0's index and mode bits; next is then in `indexed` */

    uint8_t poll; /* order.c: whether a load stands in a polling loop, once that is known */

    const char *text;     /* disassembly */
    const char *mnemonic; /* without _e32, _e64, _sdwa, _dpp */
};

/* Decoder of one target. */
struct decoder;
int decoder_open(const char *arch, struct decoder **decoder, char *err, size_t err_size);
void decoder_close(struct decoder *decoder);
/* Decodes the instruction at bytes; size is what is left of the section. An instruction that cannot
 * be decoded or is not known still gives a struct: its exec function faults with the text. NULL
 * only without memory. */
struct inst *decode(struct decoder *decoder, const uint8_t *bytes, size_t size, uint32_t pc);
void inst_free(struct inst *in);

/* The families: each sets exec and what is read and written, or leaves exec NULL for others to try.
 */
void decode_salu(struct inst *in);
void decode_smem(struct inst *in);
void decode_valu(struct inst *in);
void decode_vmem(struct inst *in);
void decode_ds(struct inst *in);

/* The form of a vector instruction under s_set_gpr_idx_on with these bits 15:12 and 7:0 of M0; it
 * belongs to `in`. The instruction itself when nothing of it moves, or without memory. */
const struct inst *inst_indexed(const struct inst *in, uint32_t m0);

/* The families' tables, for lists of what is implemented: the i-th mnemonic, NULL past the last. */
const char *salu_name(size_t i);
const char *smem_name(size_t i);
const char *valu_move_name(size_t i);
const char *ds_name(size_t i);
bool vmem_name(size_t i, char *name, size_t size);

/* Text of an instruction into operands and modifiers; false when an operand is not understood. */
bool inst_parse(struct inst *in, const char *text);
/* Bits of operand `o` as a source of `dwords` dwords; type is the last type of the mnemonic. */
uint64_t opnd_bits(const struct opnd *o, const char *type, unsigned dwords);

void inst_reads(struct inst *in, int op, enum use_kind kind, enum use_lanes lanes);
void inst_writes(struct inst *in, int op, enum use_kind kind, enum use_lanes lanes);
void inst_reads_reg(struct inst *in, unsigned reg, unsigned n, enum use_kind kind,
                    enum use_lanes lanes);
void inst_writes_reg(struct inst *in, unsigned reg, unsigned n, enum use_kind kind,
                     enum use_lanes lanes);

#endif
