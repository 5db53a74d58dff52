/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/plan_layout.h"

#include <stdio.h>
#include <string.h>

enum {
    PAD = 16,     /* LDS rows of 16-byte reads: a row's banks shift by four */
    CODE_PAD = 4, /* LDS rows of scale codes */
    LDS_ALIGN = 16,
    NORM_SUMS = 2 * QKV_WAVES * 8, /* f64 of qkv's two norms */
};

const char *const arg_kind_names[] = {"pointer", "i32", "i64", "f32"};

static int64_t align_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}
static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_region(struct plan_region *regions, int *n, int64_t *end, int64_t align,
                       const char *name, int64_t size)
{
    int64_t at = align_up(*end, align);
    regions[(*n)++] = (struct plan_region){.name = name, .offset = at, .size = size};
    *end = at + size;
}

/* ---- LDS */

static void lds_add(struct plan *p, int64_t *end, const char *name, int64_t size)
{
    add_region(p->lds, &p->n_lds, end, LDS_ALIGN, name, size);
}

struct gemv_names {
    const char *sums, *rows, *codes;
};

/* A GEMV's members behind *end. */
static void lds_gemv(struct plan *p, int64_t *end, const struct gemv_shape *g,
                     struct gemv_names names)
{
    int rows = p->s < g->tile_tokens ? p->s : g->tile_tokens;
    lds_add(p, end, names.sums, (int64_t)g->tiles * g->sums_tile);
    lds_add(p, end, names.rows, (int64_t)rows * g->row);
    lds_add(p, end, names.codes, (int64_t)rows * g->codes_row);
}

/* The two GEMVs lie over each other, one at a time; what the norms between them reduce through is
 * apart. */
static int64_t lds_front(struct plan *p)
{
    int64_t norms = 0, wqkv, wqb;
    lds_add(p, &norms, "norms", NORM_SUMS);
    wqkv = wqb = norms;
    lds_gemv(p, &wqkv, &p->wqkv, (struct gemv_names){"wqkv_sums", "xl", "xsl"});
    lds_gemv(p, &wqb, &p->wqb, (struct gemv_names){"wqb_sums", "qxl", "qxsl"});
    return most(wqkv, wqb);
}

static int64_t lds_back(struct plan *p)
{
    /* the split's members and the GEMVs' lie over each other: one at a time */
    int64_t split = 0, woa = 0, wob = 0;
    lds_add(p, &split, "q", (int64_t)p->unit_heads * p->ql_row);
    lds_add(p, &split, "raw", (int64_t)p->chunk * p->raw_row);
    lds_add(p, &split, "p", (int64_t)p->unit_heads * p->p_row);
    lds_add(p, &split, "st", (int64_t)p->unit_heads * p->key_tiles * 4);
    lds_gemv(p, &woa, &p->woa, (struct gemv_names){"woa_sums", "xol", "xosl"});
    lds_gemv(p, &wob, &p->wob, (struct gemv_names){"wob_sums", "x8bl", "x8bsl"});
    return most(split, most(woa, wob));
}

static int make_lds(struct plan *p, char *err, size_t err_size)
{
    int64_t bytes = p->key.kernel == COGEN_FRONT ? lds_front(p) : lds_back(p);
    if (bytes > p->arch->lds_bytes) {
        snprintf(err, err_size,
                 "%s: %lld bytes of LDS are needed and %s has %d: a larger tp would fit", p->name,
                 (long long)bytes, p->arch->name, p->arch->lds_bytes);
        return -1;
    }
    p->lds_bytes = (int)align_up(bytes, p->arch->lds_granule);
    return 0;
}

/* ---- scratch: one layout for both kernels of a layer. Every region starts a line, and what one
 * flag publishes is padded to lines or read at device scope. */

static void make_scratch(struct plan *p)
{
    int64_t s = p->s, end = 0, units = s * p->n_chunks;
    const struct plan_region regions[] = {
        {.name = "x8",    .size = s * p->hidden                       },
        {.name = "x8s",   .size = s * 2 * p->x8s_half                 },
        {.name = "xrdy",  .size = s * 2 * PAIR_BYTES                  },
        {.name = "qkvp",  .size = 2 * s * p->qkv_rows * QKVP_BYTES    },
        {.name = "qx8",   .size = s * p->q_rank                       },
        {.name = "qx8s",  .size = s * p->qx8s_row                     },
        {.name = "qrdy",  .size = s * PAIR_BYTES                      },
        {.name = "ktrdy", .size = s * PAIR_BYTES                      },
        {.name = "part",  .size = units * p->h * HEAD_DIM * 2         },
        {.name = "pstat", .size = units * p->h * 2 * 4                },
        {.name = "srdy",  .size = units * p->head_blocks * PAIR_BYTES },
        {.name = "xo",    .size = s * p->q_rows                       },
        {.name = "xos",   .size = s * (p->q_rows / 32)                },
        {.name = "crdy",  .size = s * (p->h / COMB_HEADS) * PAIR_BYTES},
        {.name = "x8b",   .size = s * p->o_rows                       },
        {.name = "x8bs",  .size = s * (p->o_rows / 32)                },
        {.name = "ardy",  .size = (int64_t)p->woa_tasks * PAIR_BYTES  },
    };
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++)
        add_region(p->scratch, &p->n_scratch, &end, LINE, regions[i].name, regions[i].size);
    p->scratch_bytes = align_up(end, LINE);
}

/* ---- kernarg: the specification's arguments in its order */

enum { ARGS_X = 1, ARGS_KT_FRONT = 2, ARGS_KT_BACK = 4, ARGS_ALWAYS = 8 };

struct arg_row {
    const char *name;
    enum arg_kind kind;
    bool written;
    int when; /* any of these conditions */
};

static const struct arg_row front_args[] = {
    {"x",          ARG_POINTER, false, ARGS_X       },
    {"x_stride",   ARG_I32,     false, ARGS_X       },
    {"wqkv",       ARG_POINTER, false, ARGS_ALWAYS  },
    {"wqkv_s",     ARG_POINTER, false, ARGS_ALWAYS  },
    {"qn_w",       ARG_POINTER, false, ARGS_ALWAYS  },
    {"kvn_w",      ARG_POINTER, false, ARGS_ALWAYS  },
    {"wqb",        ARG_POINTER, false, ARGS_ALWAYS  },
    {"wqb_s",      ARG_POINTER, false, ARGS_ALWAYS  },
    {"cos_sin",    ARG_POINTER, false, ARGS_ALWAYS  },
    {"pos",        ARG_POINTER, false, ARGS_ALWAYS  },
    {"slot",       ARG_POINTER, false, ARGS_ALWAYS  },
    {"swa",        ARG_POINTER, true,  ARGS_ALWAYS  },
    {"swa_stride", ARG_I64,     false, ARGS_ALWAYS  },
    {"swa_block",  ARG_I32,     false, ARGS_ALWAYS  },
    {"q",          ARG_POINTER, true,  ARGS_ALWAYS  },
    {"qr_out",     ARG_POINTER, true,  ARGS_ALWAYS  },
    {"swa_idx",    ARG_POINTER, false, ARGS_KT_FRONT},
    {"swa_lens",   ARG_POINTER, false, ARGS_KT_FRONT},
    {"comp_block", ARG_I32,     false, ARGS_KT_FRONT},
    {"comp_bt",    ARG_POINTER, false, ARGS_KT_FRONT},
    {"bt_stride",  ARG_I32,     false, ARGS_KT_FRONT},
    {"topk",       ARG_POINTER, false, ARGS_KT_FRONT},
    {"t2r",        ARG_POINTER, false, ARGS_KT_FRONT},
    {"kt",         ARG_POINTER, true,  ARGS_KT_FRONT},
    {"klen",       ARG_POINTER, true,  ARGS_KT_FRONT},
    {"scratch",    ARG_POINTER, true,  ARGS_ALWAYS  },
    {"epoch",      ARG_POINTER, false, ARGS_ALWAYS  },
    {"tl",         ARG_POINTER, true,  ARGS_ALWAYS  },
};

static const struct arg_row back_args[] = {
    {"q",           ARG_POINTER, false, ARGS_ALWAYS },
    {"kt",          ARG_POINTER, true,  ARGS_ALWAYS },
    {"klen",        ARG_POINTER, true,  ARGS_ALWAYS },
    {"swa_idx",     ARG_POINTER, false, ARGS_KT_BACK},
    {"swa_lens",    ARG_POINTER, false, ARGS_KT_BACK},
    {"comp_bt",     ARG_POINTER, false, ARGS_KT_BACK},
    {"bt_stride",   ARG_I32,     false, ARGS_KT_BACK},
    {"topk",        ARG_POINTER, false, ARGS_KT_BACK},
    {"t2r",         ARG_POINTER, false, ARGS_KT_BACK},
    {"swa",         ARG_POINTER, false, ARGS_ALWAYS },
    {"swa_stride",  ARG_I64,     false, ARGS_ALWAYS },
    {"swa_block",   ARG_I32,     false, ARGS_ALWAYS },
    {"comp",        ARG_POINTER, false, ARGS_ALWAYS },
    {"comp_stride", ARG_I64,     false, ARGS_ALWAYS },
    {"comp_block",  ARG_I32,     false, ARGS_ALWAYS },
    {"zrec",        ARG_POINTER, false, ARGS_ALWAYS },
    {"qk_scale",    ARG_F32,     false, ARGS_ALWAYS },
    {"sink",        ARG_POINTER, false, ARGS_ALWAYS },
    {"cos_sin",     ARG_POINTER, false, ARGS_ALWAYS },
    {"pos",         ARG_POINTER, false, ARGS_ALWAYS },
    {"slot",        ARG_POINTER, false, ARGS_ALWAYS },
    {"woa",         ARG_POINTER, false, ARGS_ALWAYS },
    {"woa_s",       ARG_POINTER, false, ARGS_ALWAYS },
    {"wob",         ARG_POINTER, false, ARGS_ALWAYS },
    {"wob_s",       ARG_POINTER, false, ARGS_ALWAYS },
    {"out",         ARG_POINTER, true,  ARGS_ALWAYS },
    {"out_stride",  ARG_I32,     false, ARGS_ALWAYS },
    {"scratch",     ARG_POINTER, true,  ARGS_ALWAYS },
    {"epoch",       ARG_POINTER, true,  ARGS_ALWAYS },
    {"tl",          ARG_POINTER, true,  ARGS_ALWAYS },
};

static int conditions(const struct cogen_key *key)
{
    int when = ARGS_ALWAYS | (key->x == COGEN_X_BF16 ? ARGS_X : 0);
    if (key->keys == COGEN_KEYS_FRONT)
        when |= ARGS_KT_FRONT;
    if (key->keys == COGEN_KEYS_BACK)
        when |= ARGS_KT_BACK;
    return when;
}

static void make_args(struct plan *p)
{
    bool front = p->key.kernel == COGEN_FRONT;
    const struct arg_row *rows = front ? front_args : back_args;
    size_t n =
        front ? sizeof front_args / sizeof front_args[0] : sizeof back_args / sizeof back_args[0];
    int when = conditions(&p->key), end = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].when & when))
            continue;
        int size = rows[i].kind == ARG_POINTER || rows[i].kind == ARG_I64 ? 8 : 4;
        end = (int)align_up(end, size);
        bool table = strcmp(rows[i].name, "kt") == 0 || strcmp(rows[i].name, "klen") == 0;
        p->args[p->n_args++] = (struct plan_arg){
            .name = rows[i].name,
            .kind = rows[i].kind,
            .written = rows[i].written && (front || !table || (when & ARGS_KT_BACK)),
            .offset = end,
            .size = size,
        };
        end += size;
    }
    p->kernarg_size = (int)align_up(end, 8);
}

/* ---- row strides */

/* Bytes of a GEMV's members, for passes of `tokens`. */
static int64_t lds_gemv_bytes(const struct gemv_shape *g, int tokens)
{
    return (int64_t)g->tiles * g->sums_tile + align_up((int64_t)tokens * g->row, LDS_ALIGN) +
           (int64_t)tokens * g->codes_row;
}

/* Passes of 16 tokens, or of 8 where the rows of more do not fit LDS. */
static void gemv_rows(const struct plan *p, struct gemv_shape *g)
{
    g->row = g->k + PAD;
    g->codes_row = g->k / 32 + CODE_PAD;
    g->sums_wave = ROWS * TILE * (g->exact ? 8 : 4);
    g->sums_tile = WAVES * g->sums_wave;
    int most_tokens = p->s < TILE ? p->s : TILE;
    bool fits = lds_gemv_bytes(g, most_tokens) <= p->arch->lds_bytes;
    g->tile_tokens = fits ? TILE : TILE / 2;
    for (int t = 0; t < p->s; t += g->tile_tokens) {
        int left = p->s - t;
        g->token_tiles[g->n_token_tiles++] =
            (struct token_tile){t, left < g->tile_tokens ? left : g->tile_tokens};
    }
}

static void make_rows(struct plan *p)
{
    gemv_rows(p, &p->wqkv);
    gemv_rows(p, &p->wqb);
    gemv_rows(p, &p->woa);
    gemv_rows(p, &p->wob);
    p->x8s_half = (int)align_up(p->k_half / 32, LINE);
    p->qx8s_row = (int)align_up(p->q_rank / 32, LINE);
    p->ql_row = HEAD_DIM * 2 + PAD;
    p->raw_row = REC_BYTES;
    p->p_row = p->chunk * 2 + PAD;
}

int plan_layout(struct plan *plan, char *err, size_t err_size)
{
    make_rows(plan);
    make_args(plan);
    make_scratch(plan);
    return make_lds(plan, err, err_size);
}

/* ---- look-ups */

static const struct plan_region *find(const struct plan_region *regions, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(regions[i].name, name) == 0)
            return &regions[i];
    return NULL;
}

const struct plan_region *plan_lds(const struct plan *plan, const char *name)
{
    return find(plan->lds, plan->n_lds, name);
}

const struct plan_region *plan_scratch(const struct plan *plan, const char *name)
{
    return find(plan->scratch, plan->n_scratch, name);
}

const struct plan_arg *plan_find_arg(const struct plan *plan, const char *name)
{
    for (int i = 0; i < plan->n_args; i++)
        if (strcmp(plan->args[i].name, name) == 0)
            return &plan->args[i];
    return NULL;
}

uint64_t plan_args_digest(const struct plan *plan)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < plan->n_args; i++) {
        const struct plan_arg *a = &plan->args[i];
        char row[96];
        int n = snprintf(row, sizeof row, "%s:%d:%d:%s\n", a->name, a->offset, a->size,
                         arg_kind_names[a->kind]);
        for (int c = 0; c < n; c++)
            hash = (hash ^ (unsigned char)row[c]) * 0x100000001b3u;
    }
    return hash;
}
