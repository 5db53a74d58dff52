/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register layouts of MFMA operands. A and B share one: lane = row (or column) + m * block + m *
 * blocks * group, and a lane holds consecutive k, E of them from E * group on; only 8-bit f8f6f4
 * data lie in two halves of K. Sparse forms on gfx950 with doubled K are taken to be consecutive as
 * well (no public document).
 */
#include "mfma.h"

struct mfma_place mfma_place(const struct mfma_shape *shape, unsigned block, unsigned i)
{
    switch (shape->m) {
    case 32:
        return (struct mfma_place){16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2)};
    case 16:
        return (struct mfma_place){4 * block + i % 4, 16 * (i / 4)};
    default:
        return (struct mfma_place){i, 4 * block};
    }
}

/* Register counts doubles here. */
struct mfma_place mfma_place_f64(const struct mfma_shape *shape, unsigned block, unsigned i)
{
    if (shape->m == 16) {
        return (struct mfma_place){i / 4, 16 * (i % 4)};
    }
    return (struct mfma_place){0, 16 * i + 4 * block};
}

unsigned mfma_bits(enum mfma_type type)
{
    static const uint8_t bits[] = {[MFMA_F64] = 64, [MFMA_F32] = 32,  [MFMA_XF32] = 32,
                                   [MFMA_F16] = 16, [MFMA_BF16] = 16, [MFMA_FP8] = 8,
                                   [MFMA_BF8] = 8,  [MFMA_FP6] = 6,   [MFMA_BF6] = 6,
                                   [MFMA_FP4] = 4,  [MFMA_I8] = 8,    [MFMA_BY_FORMAT] = 8};
    return bits[type];
}

unsigned mfma_planes(const struct mfma_shape *shape)
{
    return (unsigned)shape->m * shape->k * shape->blocks / EMU_LANES;
}

enum mfma_type mfma_format(unsigned code)
{
    static const enum mfma_type types[8] = {MFMA_FP8, MFMA_BF8, MFMA_FP6, MFMA_BF6,
                                            MFMA_FP4, MFMA_FP4, MFMA_FP4, MFMA_FP4};
    return types[code & 7];
}

/* blgp of the forms whose B is not typed by it: which lane lane l of B comes from. */
static unsigned permuted_lane(unsigned blgp, unsigned l)
{
    switch (blgp) {
    case 1:
        return l & 31;
    case 2:
        return 32 + (l & 31);
    case 3:
        return (l + 16) & 63;
    case 4:
    case 5:
    case 6:
    case 7:
        return 16 * (blgp - 4) + (l & 15);
    default:
        return l;
    }
}

EMU_CLONES static void unpack_plane(const uint32_t *rows, unsigned bits, unsigned e, uint32_t *code)
{
    unsigned bit = bits * e, word = bit / 32, shift = bit % 32;
    const uint32_t *low = rows + word * EMU_LANES;
    uint32_t mask = bits == 32 ? 0xffffffffU : (1U << bits) - 1;
    if (shift + bits <= 32) {
        EMU_EACH(l)
        {
            code[l] = low[l] >> shift & mask;
        }
        return;
    }
    const uint32_t *high = low + EMU_LANES;
    EMU_EACH(l)
    {
        code[l] = (low[l] >> shift | high[l] << (32 - shift)) & mask;
    }
}

void mfma_unpack(const uint32_t *rows, enum mfma_type type, unsigned planes, unsigned blgp,
                 struct mfma_codes *out)
{
    unsigned bits = mfma_bits(type);
    for (unsigned e = 0; e < planes; e++) {
        unpack_plane(rows, bits, e, out->code[e]);
        if (blgp != 0) {
            uint32_t held[EMU_LANES];
            memcpy(held, out->code[e], sizeof held);
            EMU_EACH(l)
            {
                out->code[e][l] = held[permuted_lane(blgp, (unsigned)l)];
            }
        }
    }
}

/*
 * Two of each four k are stored; four bits of the lane's index say which: position of the first,
 * then of the second. A lane needs k / 2 / groups of those bits; the index register holds several
 * sets, abid picks one when cbsz is 0.
 */
void mfma_expand(const struct emu_alu *alu, const struct mfma_shape *shape, struct mfma_codes *a)
{
    unsigned dense = mfma_planes(shape), stored = dense / 2, bits = 2 * stored;
    unsigned sets = 32 / bits;
    unsigned set = (alu->cbsz & 3) == 0 && sets > 1 ? alu->abid % sets : 0;
    struct mfma_codes packed;
    mfma_unpack(alu->src[0], shape->a, stored, 0, &packed);
    memset(a->code, 0, dense * sizeof a->code[0]);
    EMU_EACH(l)
    {
        uint32_t index = alu->src[2][l] >> (bits == 32 ? 0 : bits * set);
        for (unsigned e = 0; e < stored; e++) {
            unsigned at = 4 * (e / 2) + (index >> 2 * e & 3);
            a->code[at][l] = packed.code[e][l];
        }
    }
}

void mfma_order(const struct mfma_shape *shape, enum mfma_type type, struct mfma_order *order)
{
    unsigned planes = mfma_planes(shape);
    bool halves = shape->a == MFMA_BY_FORMAT && mfma_bits(type) == 8;
    for (unsigned k = 0; k < shape->k; k++) {
        unsigned half = halves && k >= shape->k / 2U ? 1 : 0;
        unsigned within = k - half * shape->k / 2U, run = halves ? 16 : planes;
        order->plane[k] = (uint8_t)(half * 16 + within % run);
        order->group[k] = (uint8_t)(within / run);
    }
}

unsigned mfma_a_block(const struct emu_alu *alu, const struct mfma_shape *shape, unsigned block)
{
    if (shape->blocks == 1 || alu->cbsz == 0) {
        return block;
    }
    unsigned span = 1U << alu->cbsz;
    span = span > shape->blocks ? shape->blocks : span;
    return (block & ~(span - 1)) + (alu->abid & (span - 1));
}
