/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/isa.h"

const char *const op_class_names[CLASS_COUNT] = {
    [CLASS_SALU] = "salu", [CLASS_VALU] = "valu",      [CLASS_TRANS] = "trans",
    [CLASS_LANE] = "lane", [CLASS_SWAP] = "swap",      [CLASS_DOT] = "dot",
    [CLASS_XDL] = "mfma",  [CLASS_SMFMA] = "mfma_f32", [CLASS_LDS] = "lds",
    [CLASS_VMEM] = "vmem", [CLASS_SMEM] = "smem",      [CLASS_BRANCH] = "branch",
    [CLASS_MISC] = "misc",
};

/* The mini-language of isa.def's operand column. Nothing but the table below sees these names. */
#define OPERAND(access, classes, width, tag) {access, classes, width, tag, 0}
#define VW(n) OPERAND(ACC_W, OC_V, n, TAG_NONE)
#define VR(n) OPERAND(ACC_R, OC_V, n, TAG_NONE)
#define W1 VW(1)
#define W2 VW(2)
#define W3 VW(3)
#define W4 VW(4)
#define W16 VW(16)
#define P1 OPERAND(ACC_W | ACC_PART, OC_V, 1, TAG_NONE)
#define U1 OPERAND(ACC_R | ACC_W, OC_V, 1, TAG_NONE)
#define V1 VR(1)
#define V2 VR(2)
#define V3 VR(3)
#define V4 VR(4)
#define C1 OPERAND(ACC_R, OC_V | OC_S | OC_INT, 1, TAG_NONE)
#define C2 OPERAND(ACC_R, OC_V | OC_S | OC_INT, 2, TAG_NONE)
#define F1 OPERAND(ACC_R, OC_V | OC_S | OC_FLT, 1, TAG_NONE)
#define F2 OPERAND(ACC_R, OC_V | OC_S | OC_FLT, 2, TAG_NONE)
#define D1 OPERAND(ACC_W, OC_S, 1, TAG_NONE)
#define D2 OPERAND(ACC_W, OC_S, 2, TAG_NONE)
#define D4 OPERAND(ACC_W, OC_S, 4, TAG_NONE)
#define D8 OPERAND(ACC_W, OC_S, 8, TAG_NONE)
#define D16 OPERAND(ACC_W, OC_S, 16, TAG_NONE)
#define U1S OPERAND(ACC_R | ACC_W, OC_S, 1, TAG_NONE)
#define U2S OPERAND(ACC_R | ACC_W, OC_S, 2, TAG_NONE)
#define S1 OPERAND(ACC_R, OC_S, 1, TAG_NONE)
#define S2 OPERAND(ACC_R, OC_S, 2, TAG_NONE)
#define S4 OPERAND(ACC_R, OC_S, 4, TAG_NONE)
#define Z1 OPERAND(ACC_R, OC_S | OC_INT, 1, TAG_NONE)
#define Z2 OPERAND(ACC_R, OC_S | OC_INT, 2, TAG_NONE)
#define MA1 OPERAND(ACC_R, OC_V, 1, TAG_AB)
#define MA2 OPERAND(ACC_R, OC_V, 2, TAG_AB)
#define MA4 OPERAND(ACC_R, OC_V, 4, TAG_AB)
#define MA8 OPERAND(ACC_R, OC_V, 8, TAG_AB)
#define MC4 OPERAND(ACC_R, OC_V | OC_FLT, 4, TAG_C)
#define MC16 OPERAND(ACC_R, OC_V | OC_FLT, 16, TAG_C)
#define MS OPERAND(ACC_R, OC_V, 1, TAG_SCALE)
#define DT1 OPERAND(ACC_R, OC_V, 1, TAG_DATA)
#define DT2 OPERAND(ACC_R, OC_V, 2, TAG_DATA)
#define DT3 OPERAND(ACC_R, OC_V, 3, TAG_DATA)
#define DT4 OPERAND(ACC_R, OC_V, 4, TAG_DATA)
#define SEL OPERAND(ACC_R, OC_S | OC_INT, 1, TAG_SEL)
#define MASK OPERAND(ACC_R, OC_S, 2, TAG_MASK)
#define GADDR OPERAND(ACC_R, OC_V, 1, TAG_GADDR)
#define GBASE OPERAND(ACC_R, OC_S | OC_OFF, 2, TAG_GBASE)
#define BADDR OPERAND(ACC_R, OC_V | OC_OFF, 1, TAG_BADDR)
#define BRSRC OPERAND(ACC_R, OC_S, 4, TAG_BRSRC)
#define BSOFF OPERAND(ACC_R, OC_S | OC_INT, 1, TAG_BSOFF)
#define SMOFF {ACC_R, OC_S | OC_FIELD, 1, TAG_NONE, 1}
#define K OPERAND(ACC_R, OC_FIELD, 1, TAG_NONE)
#define LIT OPERAND(ACC_R, OC_FLT, 1, TAG_LITERAL)
#define LBL OPERAND(ACC_R, OC_LABEL, 1, TAG_NONE)

#define ANY 0
#define G950 1
/* clang-format off */
#define SCC_R FLAG_SCC_R
#define SCC_W FLAG_SCC_W
#define VCC_R FLAG_VCC_R
#define EXEC_R FLAG_EXEC_R
#define EXEC_W FLAG_EXEC_W
#define LOAD FLAG_LOAD
#define STORE FLAG_STORE
#define SIDE FLAG_SIDE
#define EARLY FLAG_EARLY
#define OFF2 FLAG_OFF2
#define SWIZZLE FLAG_SWIZZLE
#define SEL4 FLAG_SEL4
#define PK_F32 FLAG_PK_F32
#define SCALED FLAG_SCALED
#define RTN FLAG_RTN
#define BARRIER FLAG_BARRIER
#define JUMP FLAG_JUMP
#define CJUMP FLAG_CJUMP
#define END FLAG_END
#define HWREG FLAG_HWREG
#define HWREG_W FLAG_HWREG_W
#define INTERNAL FLAG_INTERNAL

#define LIST(...) {__VA_ARGS__}
#define N_(...) (sizeof((const struct op_operand[]){{0}, ##__VA_ARGS__}) / sizeof(struct op_operand) - 1)
#define I(name_, enc_, ops_, cls_, counter_, passes_, swap_, flags_, arch_)                        \
    [OP_##name_] = {.name = #name_, .enc = ENC_##enc_, .cls = CLASS_##cls_,                        \
                    .counter = COUNT_##counter_, .passes = passes_, .swap = OP_##swap_,            \
                    .only_950 = arch_, .n = N_ ops_, .flags = flags_, .operands = LIST ops_},
/* clang-format on */

static const struct op_info table[OP_COUNT] = {
    [OP_none] = {.name = "none"},
#include "gen/isa.def"
};

const struct op_info *op_info(unsigned op)
{
    return &table[op < OP_COUNT ? op : OP_none];
}
