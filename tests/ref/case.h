/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of a test step: every tensor is a pure function of (seed, tensor id, index) through
   splitmix64, so that any program of the same definition makes the same bytes.

   A case owns its tensors; ref_case_free frees them. Its fields are public: a test may overwrite
   values, or point a field at memory of its own, before it runs the reference or a kernel (the case
   frees only what it made). */
#ifndef REF_CASE_H
#define REF_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REF_HEAD_DIM = 512,
    REF_NOPE = 448, /* a head's dims before the rotated ones */
    REF_ROPE = 64,
    REF_KV_DIM = 512,
    REF_DATA = 576,   /* a KV record's data: 448 e4m3, 64 bf16 */
    REF_SCALES = 8,   /* its scale bytes: 7 codes and a zero */
    REF_RECORD = 584, /* REF_DATA + REF_SCALES */
    REF_MAX_TOKENS = 48,
};

/* A model's row. Tests may pass a row of their own. */
struct ref_model {
    const char *name;
    int hidden; /* multiple of 64 */
    int q_rank; /* multiple of 32 */
    int heads, groups;
    int topk; /* the model's top-k width */
    int o_rank, window;
    double eps;
    int ratios[3];
};

/* The row called NAME (v4-flash, v4-pro, v41-flash), or NULL. */
const struct ref_model *ref_model_find(const char *name);

/* The table itself: COUNT rows. */
const struct ref_model *ref_models(size_t *count);

enum ref_mode {
    REF_RANDOM,
    REF_EXACT, /* small integers: every fp32 sum of the GEMVs of K1 and of QK is exact in any order
                */
};

/* What is asked. A zero means the default where one is named. */
struct ref_params {
    const char *model_name; /* a row of the table, or */
    const struct ref_model
        *model; /* a row of the caller's (read at creation only, its name excepted) */
    int tokens; /* S, 1 .. 48 */
    int tp;     /* divides heads and groups; heads / tp is a multiple of 16 */
    int ratio;  /* 0: no compressed rows */
    int topk;   /* width of the top-k table; 0: the model's (and 0 with ratio 0) */
    uint32_t seed;
    enum ref_mode mode;
    int block;        /* rows of a window cache block; 0: 64 */
    int comp_block;   /* rows of a compressed cache block; 0: 16 */
    int max_pos;      /* positions are below it; 0: 4096 */
    bool pad;         /* the last token is a pad row: slot -1 */
    bool global_keys; /* the top-k table holds cache slots, every compressed row of the request */

    /* Layout: these change where bytes lie, never their values. Gaps are filled with 0xFF (NaN as
     * bf16 and e4m3). */
    bool shuffled;  /* wqkv in (16, 16) shuffle order */
    int topk_cols;  /* global_keys: row length of the top-k table at run time, <= width; 0: width */
    int weight_pad; /* bytes between the rows of wqb, woa, wob (and of wqkv, when not shuffled) */
    int x_pad;      /* elements between the rows of x */
    size_t swa_gap; /* bytes between blocks of the window cache; at most 4 KiB of each gap are
                       filled */
    size_t comp_gap; /* the same of the compressed cache */
};

/* Weights: e4m3 [n, k], rows STRIDE bytes apart (or in shuffle order), and E8M0 codes [n / 32, k /
 * 32] (dense). */
struct ref_weight {
    uint8_t *bytes, *codes;
    size_t n, k;
    size_t stride; /* bytes; k in shuffle order */
    size_t size;   /* bytes of BYTES */
    bool shuffled;
};

/* Byte offset of element (row, col); the 16 columns from a multiple of 16 lie side by side in
 * either order. */
static inline size_t ref_weight_at(const struct ref_weight *w, size_t row, size_t col)
{
    if (!w->shuffled)
        return row * w->stride + col;
    return (row / 16 * (w->k / 32) + col / 32) * 512 + col / 16 % 2 * 256 + row % 16 * 16 +
           col % 16;
}

/* A paged fp8_ds_mla cache: blocks STRIDE bytes apart, each block * 576 data bytes, then block * 8
 * scale bytes. */
struct ref_cache {
    uint8_t *bytes;
    int nblocks, block;
    size_t stride;
    size_t size; /* nblocks * stride */
};

/* The data bytes (576) and the scale bytes (8) of the record in SLOT. */
static inline uint8_t *ref_cache_data(const struct ref_cache *c, int64_t slot)
{
    return c->bytes + (size_t)(slot / c->block) * c->stride + (size_t)(slot % c->block) * REF_DATA;
}

static inline uint8_t *ref_cache_scales(const struct ref_cache *c, int64_t slot)
{
    return c->bytes + (size_t)(slot / c->block) * c->stride + (size_t)c->block * REF_DATA +
           (size_t)(slot % c->block) * REF_SCALES;
}

/* Parts of a case that are made only when asked (the rest is small and always made). */
enum ref_parts {
    REF_X = 1,
    REF_WQKV = 2,
    REF_WQB = 4,
    REF_WOA = 8,
    REF_WOB = 16,
    REF_SWA = 32,
    REF_COMP = 64, /* nothing with ratio 0 */
    REF_Q = 128,   /* the query of a K2 that runs alone */
    REF_KEYS = 0,  /* key-table inputs alone */
    REF_FRONT = REF_X | REF_WQKV | REF_WQB | REF_SWA,
    REF_BACK = REF_Q | REF_SWA | REF_COMP | REF_WOA | REF_WOB,
    REF_LAYER = REF_FRONT | (REF_BACK & ~REF_Q),
};

struct ref_case {
    struct ref_params params; /* with defaults filled in */
    struct ref_model model;
    unsigned parts; /* enum ref_parts made so far */

    /* Counts of this rank. */
    int s, ratio;
    int h, g;     /* heads, o_groups */
    int qkv_rows; /* q_rank + 512 */
    int q_rows;   /* h * 512 */
    int o_rows;   /* g * o_rank */
    int group_k;  /* heads of a group * 512 */
    int width;    /* of the top-k table in the build key */
    int keys;     /* width + window: a row of the key table */
    int reqs;     /* requests; token t belongs to request t % reqs */

    /* Always made. */
    int64_t *pos;           /* [s] */
    int64_t *slot;          /* [s], -1: a pad row */
    int32_t *swa_lens;      /* [s] */
    int32_t *swa_idx;       /* [s, window] */
    int32_t *topk;          /* [s, topk_cols], -1: none */
    int32_t *comp_bt;       /* [reqs, bt_stride] block numbers */
    int32_t *t2r;           /* [s] */
    float *cos_sin;         /* [max_pos, 64]: 32 cosines, then 32 sines */
    float *sink;            /* [h] */
    uint16_t *qn_w, *kvn_w; /* bf16 [q_rank], [512] */
    int topk_cols;          /* row length of topk: width, or params.topk_cols */
    int bt_stride;          /* row length of comp_bt, in blocks */

    /* By parts. */
    uint16_t *x; /* bf16 [s, x_stride]; x_stride counts elements */
    size_t x_stride;
    uint16_t *q; /* bf16 [s, q_rows] */
    struct ref_weight wqkv, wqb, woa, wob;
    struct ref_cache swa, comp; /* strides, counts and sizes are set before the bytes are made */

    struct ref_mem *mem; /* what the case has to free */
};

/* A case with PARTS (enum ref_parts) made; NULL and a message in ERR when an argument is refused or
 * memory is short. */
struct ref_case *ref_case_new(const struct ref_params *params, unsigned parts, char *err,
                              size_t err_size);

/* Makes the PARTS that are not made yet. Returns 0, or -1 and a message in ERR. */
int ref_case_add(struct ref_case *c, unsigned parts, char *err, size_t err_size);

void ref_case_free(struct ref_case *c);

/* Zeroed memory of SIZE bytes, 128-byte aligned, freed with the case; NULL when short. */
void *ref_case_alloc(struct ref_case *c, size_t size);

/* K1's and K2's argument bt_stride: the block table's row length, or with global_keys the top-k
 * table's. */
int ref_bt_stride_arg(const struct ref_case *c);

/* K2's argument qk_scale: 512^-0.5 * log2(e). */
float ref_qk_scale(void);

#endif
