/* SPDX-License-Identifier: Apache-2.0 */
/* The opcode table of isa.def as data. */
#ifndef GEN_ISA_H
#define GEN_ISA_H

#include <stdint.h>

enum op {
    OP_none,
#define I(name, ...) OP_##name,
#include "gen/isa.def"
#undef I
    OP_COUNT
};

enum enc {
    ENC_NONE,
    ENC_SOP1,
    ENC_SOP2,
    ENC_SOPC,
    ENC_SOPK,
    ENC_SOPP,
    ENC_SMEM,
    ENC_VOP1,
    ENC_VOP1E,
    ENC_VOP2,
    ENC_VOP2K,
    ENC_VOPC,
    ENC_VOP3,
    ENC_VOP3P,
    ENC_MFMA,
    ENC_DS,
    ENC_GLOBAL,
    ENC_BUFFER,
    ENC_CACHE,
    ENC_PSEUDO
};

enum op_class {
    CLASS_SALU,
    CLASS_VALU,
    CLASS_TRANS,
    CLASS_LANE,
    CLASS_SWAP,
    CLASS_DOT,
    CLASS_XDL,
    CLASS_SMFMA,
    CLASS_LDS,
    CLASS_VMEM,
    CLASS_SMEM,
    CLASS_BRANCH,
    CLASS_MISC,
    CLASS_COUNT
};
extern const char *const op_class_names[CLASS_COUNT];

enum counter { COUNT_NONE, COUNT_VM_LOAD, COUNT_VM_STORE, COUNT_LDS, COUNT_SMEM };

enum op_flag {
    FLAG_SCC_R = 1 << 0,
    FLAG_SCC_W = 1 << 1,
    FLAG_VCC_R = 1 << 2,
    FLAG_EXEC_R = 1 << 3,
    FLAG_EXEC_W = 1 << 4,
    FLAG_LOAD = 1 << 5,
    FLAG_STORE = 1 << 6,
    FLAG_SIDE = 1 << 7,
    FLAG_EARLY = 1 << 8,
    FLAG_OFF2 = 1 << 9,
    FLAG_SWIZZLE = 1 << 10,
    FLAG_SEL4 = 1 << 11,
    FLAG_PK_F32 = 1 << 12,
    FLAG_SCALED = 1 << 13,
    FLAG_RTN = 1 << 14,
    FLAG_BARRIER = 1 << 15,
    FLAG_JUMP = 1 << 16,
    FLAG_CJUMP = 1 << 17,
    FLAG_END = 1 << 18,
    FLAG_HWREG = 1 << 19,
    FLAG_HWREG_W = 1 << 20,
    FLAG_INTERNAL = 1 << 21,
};

/* What an operand may be. */
enum operand_class {
    OC_V = 1 << 0,
    OC_S = 1 << 1,
    OC_INT = 1 << 2,   /* constant, integer or bit pattern */
    OC_FLT = 1 << 3,   /* constant, float */
    OC_FIELD = 1 << 4, /* integer in a field of the encoding */
    OC_LABEL = 1 << 5,
    OC_OFF = 1 << 6,
};

enum access { ACC_R = 1, ACC_W = 2, ACC_PART = 4 };

enum operand_tag {
    TAG_NONE,
    TAG_DATA,
    TAG_AB,
    TAG_C,
    TAG_SCALE,
    TAG_SEL,
    TAG_MASK,
    TAG_GADDR,
    TAG_GBASE,
    TAG_BADDR,
    TAG_BRSRC,
    TAG_BSOFF,
    TAG_LITERAL
};

struct op_operand {
    uint8_t access;  /* enum access */
    uint8_t classes; /* enum operand_class; 0 ends the list */
    uint8_t width;   /* dwords */
    uint8_t tag;     /* enum operand_tag */
    uint8_t optional;
};

enum { OP_MAX_OPERANDS = 6 };

struct op_info {
    const char *name;
    uint8_t enc, cls, counter, passes;
    uint16_t swap; /* enum op */
    uint8_t only_950;
    uint8_t n; /* operands */
    uint32_t flags;
    struct op_operand operands[OP_MAX_OPERANDS];
};

/* The row of an opcode; op < OP_COUNT. */
const struct op_info *op_info(unsigned op);

#endif
