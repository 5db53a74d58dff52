/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the split stage. A wave of a unit is (head group, key tile) while it multiplies q by
 * keys, and 64 dims of the values afterwards. In either, a lane is (g, r) = (lane / 16, lane % 16).
 */
#ifndef TEMPLATES_BACK_SPLIT_H
#define TEMPLATES_BACK_SPLIT_H

#include "templates/back/back.h"
#include "templates/common/wave.h"

enum { SPLIT_MAX_TILES = 4, NOPE_BLOCKS = NOPE_DIM / 64, ROPE_BLOCKS = ROPE_DIM / 32 };

/* A paged cache: its address and bytes from a block to the next, rows of a block; SGPRs, or VGPRs
 * where lanes differ. */
struct cache {
    Val base, stride;
    Divisor block;
};

struct split {
    Builder *b;
    const struct plan *p;
    int tiles;               /* head tiles a wave multiplies: unit_tiles / head_groups */
    Val token, chunk, block; /* S1: the unit */
    Val group, tile;         /* S1: the wave's head group and key tile */
    Val r, g;                /* V1 */
    struct cache swa, comp;
    Val kv_len;  /* S1 */
    Val present; /* S2: lanes whose key is there */

    /* a lane's key, 16 r + r of the chunk: 16 bytes at dim 64 c + 16 g, rope dims 32 c + 8 g, the
     * record's codes */
    Val nope[NOPE_BLOCKS], rope[ROPE_BLOCKS]; /* V4 */
    Val codes;                                /* V2 */

    /* LDS, byte offsets */
    int q, raw, prob;
    /* f32 and f64 [unit_tiles * 16][key_tiles]; sums lie where q did, which is read no more when
     * the maxima are there */
    int max, sum;
};

/* Scores of the wave's 16 keys against its head tiles: V4 each, key 4 g + n in register n, head r
 * of the tile. Keys come from s->nope, rope and codes, q from LDS. */
void split_scores(struct split *s, Val scores[SPLIT_MAX_TILES]);

/* Scores -> the unit's probabilities in LDS (bf16), maxima and sums per (head, key tile) in LDS;
 * ends in a barrier. */
void split_softmax(struct split *s, const Val scores[SPLIT_MAX_TILES]);

/* Probabilities times the raw rows, both in LDS: dims 64 wave .. of every head of the unit, stored
 * as bf16 at the address (S2) of the unit's partial [unit_heads][512]. */
void split_values(struct split *s, Val partial);

#endif
