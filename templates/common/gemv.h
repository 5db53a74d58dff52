/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GEMV of one workgroup: 16-row tiles of e4m3 weights times the MXFP8 rows of at most 16 tokens.
 *
 * - weights: in registers, loaded once, serve every token tile. A wave takes steps of 128 in K:
 *   wave, wave + waves, ...
 * - rows: global -> registers -> LDS; the next token tile's loads are in flight while one is
 *   multiplied.
 * - multiply: 16 x 16 x 128 scaled MFMAs, A = weights (rows), B = tokens (columns). Sums are
 *   rounded once, or by every MFMA, as the shape says.
 * - sums: a wave's 16 x 16 partial sums go to LDS; a row's sum is taken in wave order by the
 *   epilogues.
 *
 * Lane l of a wave is (r, g) = (l % 16, l / 16): row r of a tile and token r, bytes 16 g .. and 64
 * + 16 g .. of a step.
 */
#ifndef TEMPLATES_COMMON_GEMV_H
#define TEMPLATES_COMMON_GEMV_H

#include "gen/build.h"
#include "gen/plan.h"

enum { GEMV_MAX_TILES = 16, GEMV_MAX_STEPS = 24, ROWS_MAX_LOADS = 40 };

/* ---- activation rows */
typedef struct Rows {
    const struct gemv_shape *shape;
    Val data, codes;         /* S2: token 0's first byte and code of this K range, in memory */
    int data_row, codes_row; /* bytes from a token to the next, in memory */
    int lds_data, lds_codes; /* byte offsets of the rows in LDS (lds_at): shape->row and
                                shape->codes_row bytes from a token to the next */
} Rows;

typedef struct RowsLoads {
    int n;                         /* tokens */
    int n_data, n_codes;           /* loads a work-item */
    Val data[ROWS_MAX_LOADS];      /* V4: 16 bytes */
    Val codes[ROWS_MAX_LOADS / 4]; /* V1: four codes */
} RowsLoads;

/* Issues the loads of a token tile's rows, at device scope. */
RowsLoads rows_loads(Builder *b, const Rows *rows, struct token_tile tile);
/* Rows to LDS, then a barrier. Nobody may still read the tile before: there is a barrier behind
 * every gemv_multiply. */
void rows_store(Builder *b, const Rows *rows, const RowsLoads *loads);

/* ---- weights */
typedef struct Gemv {
    const struct gemv_shape *shape;
    Val weights, codes; /* S2: row 0's first byte and code of this K range */
    int codes_row;      /* bytes of a row of codes (one a 32 x 32 block): the whole K over 32 */
    bool shuffled;      /* the bytes in (16, 16) shuffle order */
    int sums;           /* byte offset in LDS of the partial sums, shape->sums_tile a tile */
} Gemv;

typedef struct GemvWeights {
    int tiles;
    Val rows[GEMV_MAX_TILES][GEMV_MAX_STEPS];  /* V8 */
    Val codes[GEMV_MAX_TILES][GEMV_MAX_STEPS]; /* V1: the code of K block g of the step */
} GemvWeights;

/*
 * Issues the loads of `tiles` row tiles: rows row + i * row_step .. of tile i; row is S1, a
 * multiple of 16 (of 32 where row_step is not). Every wave issues the same number, masked where it
 * has no such step.
 *
 * live: NULL, or a tile's S1 (or NONE: always), nonzero where the workgroup has the tile. Tile 0
 * (and those that share its S1) is left alone where it is not there: the caller multiplies nothing
 * then; any other one is all zeros.
 *
 * The registers are made by the first call for a w (zeroed by the caller) and loaded again by
 * further ones: on another path, or in another round.
 */
void gemv_loads(Builder *b, const Gemv *gemv, GemvWeights *w, int tiles, Val row, int row_step,
                const Val *live);
/* Multiplies the rows in LDS with every tile, the sums to LDS, then a barrier. n: tokens in LDS. */
void gemv_multiply(Builder *b, const Gemv *gemv, const GemvWeights *w, const Rows *rows, int n);

/* ---- sums over the waves: out[0 .. count - 1] (V2, f64) = rows row .. row + count - 1 of token
 * `token` (both V1) of a tile. count 1 or 2 (row even). tile: V1 or imm. */
void row_sums(Builder *b, const Gemv *gemv, Val tile, Val row, Val token, int count, Val out[]);
/* Two rows (row even) as a word of two bf16, by way of f32. */
Val row_sums_bf16(Builder *b, const Gemv *gemv, Val tile, Val row, Val token);

#endif
