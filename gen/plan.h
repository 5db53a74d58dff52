/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a key: every count, placement and layout that the kernels, the manifest, the runtime
 * and the tests need to agree on. Pure: a plan is a function of its key alone.
 *
 * Both kernels of a layer share one scratch layout: it depends on the key but not on key.kernel.
 */
#ifndef GEN_PLAN_H
#define GEN_PLAN_H

#include "gen/arch.h"
#include "gen/key.h"
#include "gen/model.h"

enum {
    WORKGROUPS = 256, /* of a launch, all resident */
    THREADS = 512,    /* work-items of a workgroup */
    WAVES = 8,
    TILE = 16,       /* tokens of a GEMV pass: an MFMA's columns */
    ROWS = 16,       /* weight rows of a GEMV task: an MFMA's rows */
    STEP = 128,      /* K of one scaled fp8 MFMA */
    HEAD_TILE = 16,  /* heads of a QK / PV MFMA */
    COMB_HEADS = 8,  /* heads of a combine unit: one a wave, and one wo_a group's */
    LINE = 128,      /* bytes of a cache line */
    EPOCH_MARKS = 4, /* first mark word of the epoch buffer */
    EPOCH_WORDS = EPOCH_MARKS + WORKGROUPS,
    PAIR_BYTES = 8,              /* a tagged pair */
    QKVP_BYTES = 2 * PAIR_BYTES, /* a partial of QKVP: the sum as f32, what rounding took from it */
    QKV_WAVES = 4,               /* of a workgroup at work in K1's qkv stage */
    STAMPS = 16,                 /* timeline: u64 stamps a workgroup, tl[workgroup][stamp] */
};

/* A stage's units on workgroups: workgroup b with b' = (b - base) mod 256 < span runs units b', b'
 * + span, ... < count. */
struct place {
    int base, span, count;
};

struct token_tile {
    int first, count;
};
enum { PLAN_MAX_TILES = 8 };

/* A GEMV over K: steps of 128 are dealt to waves 0 .. waves - 1 in turn (wave w: steps w, w +
 * waves, ...). Seven waves where that costs no extra round: then wave 7 holds no weights and may
 * poll without draining loads. */
struct gemv_shape {
    int k, ld;           /* K and the weights' row stride, bytes */
    int steps;           /* k / 128 */
    int waves, per_wave; /* waves with work; most steps a wave takes */
    int tiles;           /* 16-row tiles a workgroup holds at a time */
    int rounds;          /* times a workgroup goes round to do all its tiles */
    bool exact;          /* sums are rounded once (templates/common/products.h): what is quantized
                            again must not be off by an ulp */
    int tile_tokens;     /* tokens of a pass: 16, or 8 where LDS rows are too long */
    int n_token_tiles;
    struct token_tile token_tiles[PLAN_MAX_TILES];

    /* in LDS, bytes */
    int sums_wave;      /* a wave's sums of a row tile: [token][row], f64, or f32 where not exact */
    int sums_tile;      /* all waves' */
    int row, codes_row; /* a token's row and its codes, padded */
};

enum arg_kind { ARG_POINTER, ARG_I32, ARG_I64, ARG_F32 };
extern const char *const arg_kind_names[]; /* "pointer", "i32", "i64", "f32" */

struct plan_arg {
    const char *name;
    enum arg_kind kind;
    bool written;     /* the kernel writes through it */
    int offset, size; /* in the kernarg segment, bytes */
};

struct plan_region {
    const char *name;
    int64_t offset, size; /* bytes */
};

enum { PLAN_MAX_ARGS = 40, PLAN_MAX_REGIONS = 24 };

enum xq_mode {
    XQ_LOCAL, /* each wqkv workgroup quantizes its own K half: no hand-off */
    XQ_UNITS, /* xq units publish X8, X8S and a flag a (token, half) */
    XQ_GIVEN, /* the caller publishes them */
};

struct plan {
    struct cogen_key key;
    const struct model *model;
    const struct arch *arch;
    char name[COGEN_NAME_MAX];

    /* sizes of the rank */
    int s;    /* tokens */
    int h, g; /* heads, output groups */
    int hidden, q_rank, qkv_rows, q_rows, o_rows, group_k;
    int keys; /* width of a key-table row: topk + 128 */

    /* K1 */
    int k_half; /* hidden / 2: K of a wqkv part */
    int wqkv_tasks,
        wqkv_parts; /* row tiles; times two K halves: part p of unit u: u / tasks, task u % tasks */
    enum xq_mode xq;
    struct place place_xq; /* unit: token * 2 + half */
    struct place place_wqkv;
    struct place place_qkv; /* unit: token */
    struct place place_wqb; /* unit: task of 16 q rows; a workgroup's tasks are 256 apart (whole
                               heads apart) */
    int wqb_tasks;
    struct gemv_shape wqkv, wqb;

    /* key table: in K1 (keys=front) or K2 (keys=back) */
    struct place place_kt;

    /* K2 */
    int chunk;                  /* keys of a split unit: 64 or 128 */
    int n_chunks;               /* ceil(keys / chunk) */
    int head_groups;            /* wave groups of a split unit: 1 or 2 */
    int key_tiles;              /* 16-key tiles of a chunk = waves of a head group */
    int head_blocks;            /* split units a (token, chunk): blocks of at most 64 heads */
    int unit_heads, unit_tiles; /* heads and 16-head tiles of a split unit */
    struct place place_split;   /* unit: (token * n_chunks + chunk) * head_blocks + block */
    struct place place_comb;    /* unit: token * (h / 8) + group of 8 heads */
    struct place place_woa;     /* unit: task of 32 rows */
    struct place place_wob;     /* unit: task of 16 rows */
    int woa_tasks, wob_tasks;
    bool early_wob;             /* wo_b's weights are loaded before the wo_a stage */
    struct gemv_shape woa, wob; /* woa.tiles: 2 row tiles a task */

    /* layouts */
    int n_args, kernarg_size;
    struct plan_arg args[PLAN_MAX_ARGS];
    int n_lds, lds_bytes;
    struct plan_region lds[PLAN_MAX_REGIONS];
    int n_scratch;
    int64_t scratch_bytes;
    struct plan_region scratch[PLAN_MAX_REGIONS];

    /* row strides that kernels, tests and callers share, bytes */
    int x8s_half; /* X8S: one (token, half)'s codes, padded to a line: [S][2][x8s_half] */
    int qx8s_row; /* QX8S: a token's codes, padded to a line */
    int ql_row, raw_row,
        p_row; /* K2's split: q of a head (bf16), raw record of a key, p of a head (bf16) */
};

/* Fills the plan of a finished key (cogen_key_finish). 0, or -1 and one line saying which limit,
 * how much, what would fit. */
int plan_make(const struct cogen_key *key, struct plan *plan, char *err, size_t err_size);

const struct plan_region *plan_lds(const struct plan *plan, const char *name);     /* NULL: none */
const struct plan_region *plan_scratch(const struct plan *plan, const char *name); /* NULL: none */
const struct plan_arg *plan_find_arg(const struct plan *plan, const char *name);   /* NULL: none */
/* FNV-1a-64 over "name:offset:size:kind\n" of each argument in order: what the runtime compares
 * before a launch. */
uint64_t plan_args_digest(const struct plan *plan);

/* Names of the timeline's stamps of a kernel, STAMPS entries, NULL where unused. */
const char *const *plan_stamps(enum cogen_kernel kernel);

#endif
