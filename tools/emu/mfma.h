/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiply-add inside the emulator's lane arithmetic: shapes, element types, register
 * layouts.
 *
 * D = A B + C, A of m x k, B of k x m, C and D of m x m, `blocks` of them side by side. Operands as
 * rows of 64 lanes in register order (alu.h): src[0] = A, src[1] = B, src[2] = C. Sparse forms:
 * src[2] = the index register, dst holds C on entry. Scaled forms: src[3] = two rows, the scale
 * registers of A, then of B; byte i of operand n is chosen by op_sel bit n + 2 * op_sel_hi bit n.
 */
#ifndef EMU_MFMA_H
#define EMU_MFMA_H

#include "alu_lanes.h"

enum mfma_type {
    MFMA_F64,
    MFMA_F32,
    MFMA_XF32,
    MFMA_F16,
    MFMA_BF16,
    MFMA_FP8,
    MFMA_BF8,
    MFMA_FP6,
    MFMA_BF6,
    MFMA_FP4,
    MFMA_I8,
    MFMA_BY_FORMAT, /* f8f6f4: cbsz and blgp say which */
};

struct mfma_shape {
    uint8_t m, k, blocks;
    enum mfma_type a, b;
    uint8_t group; /* products summed before C is added and the result rounded */
    bool split;    /* even and odd products of a group are summed apart: the 8-bit rules */
    bool sparse, scaled;
};

enum { MFMA_PLANES = 32 }; /* elements a lane holds, at most */

/* One operand, element e of lane l: plane e. */
struct mfma_codes {
    uint32_t code[MFMA_PLANES][EMU_LANES];
};

/* Where element k of a row lies: plane and lane group (its lanes start at group * m * blocks +
 * block * m). */
struct mfma_order {
    uint8_t plane[128], group[128];
};

/* The register of D's row i of a block and the lane of its column 0. */
struct mfma_place {
    unsigned reg, lane;
};

struct mfma_place mfma_place(const struct mfma_shape *shape, unsigned block, unsigned i);
struct mfma_place mfma_place_f64(const struct mfma_shape *shape, unsigned block, unsigned i);

/* Bits of an element, elements a lane holds, the f32 value of a code. */
unsigned mfma_bits(enum mfma_type type);
unsigned mfma_planes(const struct mfma_shape *shape);
enum mfma_type mfma_format(unsigned code);

/* Unpacks an operand's rows; applies blgp's lane permutation when not 0. */
void mfma_unpack(const uint32_t *rows, enum mfma_type type, unsigned planes, unsigned blgp,
                 struct mfma_codes *out);
/* A of a sparse form made dense, the codes that its indices leave out 0. */
void mfma_expand(const struct emu_alu *alu, const struct mfma_shape *shape, struct mfma_codes *a);
void mfma_order(const struct mfma_shape *shape, enum mfma_type type, struct mfma_order *order);

/* The block of A that block `block` uses: cbsz blocks broadcast, abid picks one. */
unsigned mfma_a_block(const struct emu_alu *alu, const struct mfma_shape *shape, unsigned block);

void mfma_float(struct emu_alu *alu, const struct mfma_shape *shape); /* 16 bits and less, xf32 */
void mfma_f32(struct emu_alu *alu, const struct mfma_shape *shape);
void mfma_f64(struct emu_alu *alu, const struct mfma_shape *shape);
void mfma_i8(struct emu_alu *alu, const struct mfma_shape *shape);

#endif
