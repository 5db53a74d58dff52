/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "case_fill.h"
#include "num.h"

enum { DEFAULT_BLOCK = 64, DEFAULT_COMP_BLOCK = 16, DEFAULT_MAX_POS = 4096, ALIGN = 128 };
enum { MAX_HEADS = 128 }; /* what the reference's working set of a token holds */
#define MAPPED                                                                                     \
    ((size_t)64 << 20) /* larger tensors are mapped: pages that nobody touches cost nothing */

static const struct ref_model models[] = {
    {"v4-flash",  4096, 1024, 64,  8,  512,  1024, 128, 1e-6,  {0, 4, 128}},
    {"v4-pro",    7168, 1536, 128, 16, 1024, 1024, 128, 1e-6,  {0, 4, 128}},
    {"v41-flash", 5120, 1280, 64,  8,  512,  1024, 128, 1e-20, {0, 1, 2}  },
    {"tiny",      512,  256,  16,  2,  64,   1024, 128, 1e-6,  {0, 4, 4}  },
};

const struct ref_model *ref_models(size_t *count)
{
    *count = sizeof models / sizeof models[0];
    return models;
}

const struct ref_model *ref_model_find(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

/* ---- memory of a case */

struct ref_mem {
    struct ref_mem *next;
    void *at;
    size_t mapped; /* bytes when mapped, 0: from the heap */
};

void *ref_case_alloc(struct ref_case *c, size_t size)
{
    struct ref_mem *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    size = size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    if (size >= MAPPED) {
        m->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        m->mapped = size;
        if (m->at == MAP_FAILED)
            m->at = NULL;
    } else {
        m->at = aligned_alloc(ALIGN, size);
        if (m->at)
            memset(m->at, 0, size);
    }
    if (!m->at) {
        free(m);
        return NULL;
    }
    m->next = c->mem;
    c->mem = m;
    return m->at;
}

void ref_case_free(struct ref_case *c)
{
    if (!c)
        return;
    while (c->mem) {
        struct ref_mem *m = c->mem;
        c->mem = m->next;
        if (m->mapped)
            munmap(m->at, m->mapped);
        else
            free(m->at);
        free(m);
    }
    free(c);
}

/* ---- arguments */

static int refuse(char *err, size_t err_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(char *err, size_t err_size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, err_size, format, args);
    va_end(args);
    return -1;
}

static int set_model(struct ref_case *c, char *err, size_t err_size)
{
    const struct ref_params *p = &c->params;
    const struct ref_model *m = p->model;
    if (!m && p->model_name)
        m = ref_model_find(p->model_name);
    if (!m)
        return refuse(err, err_size, "unknown model '%s'", p->model_name ? p->model_name : "");
    if (m->hidden < 64 || m->hidden % 64 || m->q_rank < 32 || m->q_rank % 32 || m->o_rank < 32 ||
        m->o_rank % 32)
        return refuse(err, err_size,
                      "model %s: hidden %d, q_rank %d, o_rank %d: 64, 32, 32 at a time", m->name,
                      m->hidden, m->q_rank, m->o_rank);
    if (m->groups < 1 || m->heads < m->groups || m->heads % m->groups || m->window < 1 ||
        m->topk < 0)
        return refuse(err, err_size, "model %s: %d heads, %d groups, window %d, top-k %d", m->name,
                      m->heads, m->groups, m->window, m->topk);
    c->model = *m;
    return 0;
}

static int check(struct ref_case *c, char *err, size_t err_size)
{
    struct ref_params *p = &c->params;
    const struct ref_model *m = &c->model;
    if (p->tokens < 1 || p->tokens > REF_MAX_TOKENS)
        return refuse(err, err_size, "tokens %d: 1 .. %d", p->tokens, REF_MAX_TOKENS);
    if (p->tp < 1 || m->heads % p->tp || m->groups % p->tp || m->heads / p->tp % 16)
        return refuse(err, err_size, "tp %d does not leave a multiple of 16 of %d heads", p->tp,
                      m->heads);
    if (m->heads / p->tp > MAX_HEADS)
        return refuse(err, err_size, "%d heads a rank: at most %d", m->heads / p->tp, MAX_HEADS);
    if (p->ratio < 0)
        return refuse(err, err_size, "ratio %d is negative", p->ratio);
    p->block = p->block ? p->block : DEFAULT_BLOCK;
    p->comp_block = p->comp_block ? p->comp_block : DEFAULT_COMP_BLOCK;
    p->max_pos = p->max_pos ? p->max_pos : DEFAULT_MAX_POS;
    if (p->block < 1 || p->block > 1 << 16)
        return refuse(err, err_size, "block %d: 1 .. 65536", p->block);
    if (p->comp_block < 1 || p->comp_block > 1 << 16)
        return refuse(err, err_size, "comp-block %d: 1 .. 65536", p->comp_block);
    /* positions 5, 127 and 128 are among every larger step's */
    if (p->max_pos < m->window + 1 || p->max_pos > 1 << 24)
        return refuse(err, err_size, "max-pos %d: %d .. %d", p->max_pos, m->window + 1, 1 << 24);
    if (p->topk < 0 || p->weight_pad < 0 || p->x_pad < 0 || p->weight_pad % 16 || p->topk_cols < 0)
        return refuse(err, err_size, "a width or a padding is negative or not a multiple of 16");
    return 0;
}

static void set_counts(struct ref_case *c)
{
    const struct ref_params *p = &c->params;
    const struct ref_model *m = &c->model;
    c->s = p->tokens;
    c->ratio = p->ratio;
    c->h = m->heads / p->tp;
    c->g = m->groups / p->tp;
    c->qkv_rows = m->q_rank + REF_KV_DIM;
    c->q_rows = c->h * REF_HEAD_DIM;
    c->o_rows = c->g * m->o_rank;
    c->group_k = m->heads / m->groups * REF_HEAD_DIM;
    c->width = p->ratio ? (p->topk ? p->topk : m->topk) : 0;
    c->keys = c->width + m->window;
    c->reqs = (c->s + 2) / 3 > 1 ? (c->s + 2) / 3 : 1;
    c->topk_cols =
        p->global_keys && p->topk_cols && p->topk_cols < c->width ? p->topk_cols : c->width;
    int ncomp = (p->max_pos + (p->ratio > 1 ? p->ratio : 1) - 1) / (p->ratio > 1 ? p->ratio : 1);
    c->bt_stride = (ncomp + p->comp_block - 1) / p->comp_block;
}

static void shape_cache(struct ref_cache *k, int nblocks, int block, size_t gap)
{
    k->nblocks = nblocks;
    k->block = block;
    k->stride = (size_t)block * REF_RECORD + gap;
    k->size = k->stride * (size_t)nblocks;
}

static void shape_weight(struct ref_weight *w, int n, int k, int pad, bool shuffled)
{
    w->n = (size_t)n;
    w->k = (size_t)k;
    w->shuffled = shuffled;
    w->stride = (size_t)k + (size_t)(shuffled ? 0 : pad);
    w->size = w->n * w->stride;
}

static void set_shapes(struct ref_case *c)
{
    const struct ref_params *p = &c->params;
    shape_weight(&c->wqkv, c->qkv_rows, c->model.hidden, p->weight_pad, p->shuffled);
    shape_weight(&c->wqb, c->q_rows, c->model.q_rank, p->weight_pad, false);
    shape_weight(&c->woa, c->o_rows, c->group_k, p->weight_pad, false);
    shape_weight(&c->wob, c->model.hidden, c->o_rows, p->weight_pad, false);
    shape_cache(&c->swa, 2 * c->s + 4, p->block, p->swa_gap);
    shape_cache(&c->comp, c->reqs * c->bt_stride, p->comp_block, p->comp_gap);
    c->x_stride = (size_t)c->model.hidden + (size_t)p->x_pad;
}

/* ---- tensors that are always made */

static int alloc_small(struct ref_case *c)
{
    size_t s = (size_t)c->s;
    c->pos = ref_case_alloc(c, s * sizeof *c->pos);
    c->slot = ref_case_alloc(c, s * sizeof *c->slot);
    c->swa_lens = ref_case_alloc(c, s * sizeof *c->swa_lens);
    c->swa_idx = ref_case_alloc(c, s * (size_t)c->model.window * sizeof *c->swa_idx);
    c->topk = ref_case_alloc(c, s * (size_t)c->topk_cols * sizeof *c->topk);
    c->comp_bt = ref_case_alloc(c, (size_t)c->comp.nblocks * sizeof *c->comp_bt);
    c->t2r = ref_case_alloc(c, s * sizeof *c->t2r);
    c->cos_sin = ref_case_alloc(c, (size_t)c->params.max_pos * REF_ROPE * sizeof *c->cos_sin);
    c->sink = ref_case_alloc(c, (size_t)c->h * sizeof *c->sink);
    c->qn_w = ref_case_alloc(c, (size_t)c->model.q_rank * sizeof *c->qn_w);
    c->kvn_w = ref_case_alloc(c, REF_KV_DIM * sizeof *c->kvn_w);
    return c->pos && c->slot && c->swa_lens && c->swa_idx && c->topk && c->comp_bt && c->t2r &&
                   c->cos_sin && c->sink && c->qn_w && c->kvn_w
               ? 0
               : -1;
}

static int fill_tokens(struct ref_case *c)
{
    const struct ref_params *p = &c->params;
    int window = c->model.window;
    const int64_t edge[5] = {0, 5, window - 1, window, p->max_pos - 1};
    int32_t slots[REF_MAX_TOKENS];
    if (ref_argsort(p->seed, REF_ID_SLOT, (size_t)c->swa.nblocks * (size_t)p->block, slots,
                    (size_t)c->s))
        return -1;
    uint64_t pos_key = ref_stream_key(p->seed, REF_ID_POS);
    uint64_t idx_key = ref_stream_key(p->seed, REF_ID_SWA_IDX);
    for (int t = 0; t < c->s; t++) {
        c->t2r[t] = t % c->reqs;
        c->pos[t] =
            t % 3 == 1 ? edge[t % 5] : ref_uniform(ref_mix(pos_key + (uint64_t)t), 0, p->max_pos);
        c->slot[t] = slots[t];
        c->swa_lens[t] = (int32_t)(c->pos[t] + 1 < window ? c->pos[t] + 1 : window);
    }
    if (p->pad)
        c->slot[c->s - 1] = -1;
    int64_t rows = (int64_t)c->swa.nblocks * p->block;
    for (int i = 0; i < c->s * window; i++)
        c->swa_idx[i] = (int32_t)ref_uniform(ref_mix(idx_key + (uint64_t)i), 0, rows);
    return 0;
}

/* Token t's row of the top-k table. */
static void fill_topk_row(struct ref_case *c, int t)
{
    const struct ref_params *p = &c->params;
    uint64_t key = ref_stream_key(p->seed, REF_ID_TOPK);
    int32_t *row = c->topk + (size_t)t * (size_t)c->topk_cols;
    const int32_t *bt = c->comp_bt + (size_t)c->t2r[t] * (size_t)c->bt_stride;
    int64_t have = (c->pos[t] + 1) / c->ratio;
    int n = have < c->width ? (int)have : c->width;
    for (int k = 0; k < c->topk_cols; k++) {
        row[k] = -1;
        if (k >= n || (k == 3 && n > 8)) /* a hole inside the list */
            continue;
        if (p->global_keys)
            row[k] = bt[k / p->comp_block] * p->comp_block + k % p->comp_block;
        else
            row[k] =
                (int32_t)(ref_uniform(ref_mix(key + (uint64_t)t * (uint64_t)c->width + (uint64_t)k),
                                      0, 1 << 30) %
                          have);
    }
}

static int fill_small(struct ref_case *c)
{
    uint32_t seed = c->params.seed;
    if (ref_argsort(seed, REF_ID_COMP_BT, (size_t)c->comp.nblocks, c->comp_bt,
                    (size_t)c->comp.nblocks) ||
        fill_tokens(c))
        return -1;
    for (int t = 0; c->ratio && t < c->s; t++)
        fill_topk_row(c, t);
    uint64_t key = ref_stream_key(seed, REF_ID_COS_SIN);
    for (size_t i = 0; i < (size_t)c->params.max_pos * REF_ROPE; i++)
        c->cos_sin[i] = ref_unit(ref_mix(key + i));
    key = ref_stream_key(seed, REF_ID_SINK);
    for (int i = 0; i < c->h; i++)
        c->sink[i] = ref_unit(ref_mix(key + (uint64_t)i)) * 2.0f;
    key = ref_stream_key(seed, REF_ID_QN_W);
    for (int i = 0; i < c->model.q_rank; i++)
        c->qn_w[i] = ref_bf16_value(ref_mix(key + (uint64_t)i), REF_RANDOM, 126, 128);
    key = ref_stream_key(seed, REF_ID_KVN_W);
    for (int i = 0; i < REF_KV_DIM; i++)
        c->kvn_w[i] = ref_bf16_value(ref_mix(key + (uint64_t)i), REF_RANDOM, 126, 128);
    return 0;
}

/* ---- parts */

static int make_weight(struct ref_case *c, struct ref_weight *w, enum ref_stream id)
{
    w->bytes = ref_case_alloc(c, w->size);
    w->codes = ref_case_alloc(c, w->n / 32 * (w->k / 32));
    if (!w->bytes || !w->codes)
        return -1;
    ref_fill_weight(w, c->params.seed, id, c->params.mode);
    return 0;
}

static int make_cache(struct ref_case *c, struct ref_cache *cache, enum ref_stream id)
{
    cache->bytes = ref_case_alloc(c, cache->size);
    if (!cache->bytes)
        return -1;
    ref_fill_cache(cache, c->params.seed, id, c->params.mode);
    return 0;
}

/* bf16 [s, n], rows `stride` apart, gaps NaN. */
static uint16_t *make_rows(struct ref_case *c, size_t n, size_t stride, enum ref_stream id, int lo,
                           int hi)
{
    uint16_t *rows = ref_case_alloc(c, (size_t)c->s * stride * sizeof *rows);
    if (!rows)
        return NULL;
    uint64_t key = ref_stream_key(c->params.seed, id);
    for (size_t t = 0; t < (size_t)c->s; t++) {
        for (size_t i = 0; i < n; i++)
            rows[t * stride + i] = ref_bf16_value(ref_mix(key + t * n + i), c->params.mode, lo, hi);
        memset(rows + t * stride + n, 0xFF, (stride - n) * sizeof *rows);
    }
    return rows;
}

static int make_part(struct ref_case *c, enum ref_parts part)
{
    switch (part) {
    case REF_X:
        c->x = make_rows(c, (size_t)c->model.hidden, c->x_stride, REF_ID_X, 120, 129);
        return c->x ? 0 : -1;
    case REF_Q:
        c->q = make_rows(c, (size_t)c->q_rows, (size_t)c->q_rows, REF_ID_Q, 121, 128);
        return c->q ? 0 : -1;
    case REF_WQKV:
        return make_weight(c, &c->wqkv, REF_ID_WQKV);
    case REF_WQB:
        return make_weight(c, &c->wqb, REF_ID_WQB);
    case REF_WOA:
        return make_weight(c, &c->woa, REF_ID_WOA);
    case REF_WOB:
        return make_weight(c, &c->wob, REF_ID_WOB);
    case REF_SWA:
        return make_cache(c, &c->swa, REF_ID_SWA);
    case REF_COMP:
        return c->ratio ? make_cache(c, &c->comp, REF_ID_COMP) : 0;
    default:
        return 0;
    }
}

int ref_case_add(struct ref_case *c, unsigned parts, char *err, size_t err_size)
{
    for (unsigned part = REF_X; part <= REF_Q; part <<= 1) {
        if (!(parts & part) || (c->parts & part))
            continue;
        if (make_part(c, (enum ref_parts)part))
            return refuse(err, err_size, "out of memory for a case's tensors");
        c->parts |= part;
    }
    return 0;
}

struct ref_case *ref_case_new(const struct ref_params *params, unsigned parts, char *err,
                              size_t err_size)
{
    struct ref_case *c = calloc(1, sizeof *c);
    if (!c) {
        refuse(err, err_size, "out of memory for a case");
        return NULL;
    }
    c->params = *params;
    if (set_model(c, err, err_size) || check(c, err, err_size))
        goto fail;
    set_counts(c);
    set_shapes(c);
    if (alloc_small(c) || fill_small(c)) {
        refuse(err, err_size, "out of memory for a case's tensors");
        goto fail;
    }
    if (ref_case_add(c, parts, err, err_size))
        goto fail;
    return c;
fail:
    ref_case_free(c);
    return NULL;
}

int ref_bt_stride_arg(const struct ref_case *c)
{
    return c->params.global_keys ? c->topk_cols : c->bt_stride;
}

float ref_qk_scale(void)
{
    return (float)(0.04419417382415922 * 1.4426950408889634); /* 512^-0.5 * log2(e) */
}
