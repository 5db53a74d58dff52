/* SPDX-License-Identifier: Apache-2.0 */
#include "back.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "gemv.h"
#include "num.h"
#include "parallel.h"

enum { MAX_CHUNK = 128 };
#define LOG2E 1.4426950408889634

int ref_chunk_keys(int h, int s, int keys)
{
    return h / 16 == 2 && s * ((keys + 63) / 64) <= 256 ? 64 : MAX_CHUNK;
}

static int alloc_back(const struct ref_case *c, struct ref_back *b)
{
    size_t s = (size_t)c->s, q_rows = (size_t)c->q_rows, o_rows = (size_t)c->o_rows;
    int chunk = ref_chunk_keys(c->h, c->s, c->keys), chunks = (c->keys + chunk - 1) / chunk;
    size_t stats = s * (size_t)chunks * (size_t)c->h;
    *b = (struct ref_back){
        .chunk = chunk,
        .chunks = chunks,
        .part = calloc(stats * REF_HEAD_DIM, sizeof(uint16_t)),
        .stat = calloc(stats * 2, sizeof(float)),
        .attn = malloc(s * q_rows * sizeof(uint16_t)),
        .xo = malloc(s * q_rows),
        .xos = malloc(s * q_rows / 32),
        .a = malloc(s * o_rows * sizeof(uint16_t)),
        .x8b = malloc(s * o_rows),
        .x8bs = malloc(s * o_rows / 32),
        .out = malloc(s * (size_t)c->model.hidden * sizeof(uint16_t)),
    };
    return b->part && b->stat && b->attn && b->xo && b->xos && b->a && b->x8b && b->x8bs && b->out
               ? 0
               : -1;
}

void ref_back_free(struct ref_back *b)
{
    free(b->part);
    free(b->stat);
    free(b->attn);
    free(b->xo);
    free(b->xos);
    free(b->a);
    free(b->x8b);
    free(b->x8bs);
    free(b->out);
    *b = (struct ref_back){0};
}

/* ---- attention of one token */

/* A token's working set: rows of f64 for ref_dot. */
struct token {
    double q[128][REF_HEAD_DIM];          /* heads */
    double kv[MAX_CHUNK][REF_HEAD_DIM];   /* the chunk's keys */
    double kv_t[REF_HEAD_DIM][MAX_CHUNK]; /* the same, transposed */
    double score[128][MAX_CHUNK], p[128][MAX_CHUNK];
    double pv[128][REF_HEAD_DIM];
    double total[128][REF_HEAD_DIM];
    uint16_t *part; /* the token's rows of ref_back's */
    float *stat;
};

static void read_record(const struct ref_cache *cache, int64_t slot, double *out)
{
    const uint8_t *data = ref_cache_data(cache, slot), *codes = ref_cache_scales(cache, slot);
    for (int i = 0; i < REF_NOPE; i++)
        out[i] = ref_e4m3_decode(data[i]) * ref_e8m0(codes[i / 64]);
    for (int i = 0; i < REF_ROPE; i++) {
        uint16_t v;
        memcpy(&v, data + REF_NOPE + 2 * i, sizeof v);
        out[REF_NOPE + i] = ref_bf16_f32(v);
    }
}

static void load_keys(const struct ref_case *c, struct token *w, const int32_t *kt, int n)
{
    for (int i = 0; i < MAX_CHUNK; i++) {
        memset(w->kv[i], 0, sizeof w->kv[i]);
        if (i >= n || kt[i] == -1)
            continue;
        int64_t slot = kt[i] & 0x7FFFFFFF;
        read_record(kt[i] < 0 && c->ratio ? &c->comp : &c->swa, slot, w->kv[i]);
    }
    for (int d = 0; d < REF_HEAD_DIM; d++)
        for (int i = 0; i < MAX_CHUNK; i++)
            w->kv_t[d][i] = w->kv[i][d];
}

/* Chunk `index` of n keys: its partial, max and sum per head. */
static void split_chunk(const struct ref_case *c, struct token *w, const int32_t *kt, int n,
                        int index)
{
    size_t h = (size_t)c->h;
    float scale = ref_qk_scale();
    load_keys(c, w, kt, n);
    ref_dot(w->q[0], REF_HEAD_DIM, h, w->kv[0], REF_HEAD_DIM, (size_t)n, REF_HEAD_DIM, w->score[0],
            MAX_CHUNK);
    for (size_t i = 0; i < h; i++) {
        float m = -FLT_MAX;
        double sum = 0;
        for (int k = 0; k < n; k++) {
            float s = kt[k] == -1 ? -FLT_MAX : (float)w->score[i][k] * scale;
            w->score[i][k] = s;
            m = s > m ? s : m;
        }
        for (int k = 0; k < MAX_CHUNK; k++) {
            float p = k < n && kt[k] != -1 ? (float)exp2((double)((float)w->score[i][k] - m)) : 0;
            sum += p;
            w->p[i][k] = ref_round_bf16(p);
        }
        float *stat = w->stat + ((size_t)index * h + i) * 2;
        stat[0] = m;
        stat[1] = (float)sum;
    }
    ref_dot(w->p[0], MAX_CHUNK, h, w->kv_t[0], MAX_CHUNK, REF_HEAD_DIM, MAX_CHUNK, w->pv[0],
            REF_HEAD_DIM);
    uint16_t *part = w->part + (size_t)index * h * REF_HEAD_DIM;
    for (size_t i = 0; i < h; i++)
        for (size_t d = 0; d < REF_HEAD_DIM; d++)
            part[i * REF_HEAD_DIM + d] = ref_bf16((float)w->pv[i][d]);
}

/* Head i of the token from its chunks and the sink -> bf16 values. A denominator of zero (no live
 * key, sink -inf) is a zero row. */
static void combine_head(const struct ref_case *c, const struct token *w, int chunks, size_t i,
                         float *out)
{
    size_t h = (size_t)c->h;
    float sink = c->sink[i] * (float)LOG2E, m = sink;
    for (int j = 0; j < chunks; j++) {
        const float *stat = w->stat + ((size_t)j * h + i) * 2;
        m = stat[0] > m ? stat[0] : m;
    }
    double den = isinf(sink) && sink < 0 ? 0 : exp2((double)(sink - m));
    double total[REF_HEAD_DIM] = {0};
    for (int j = 0; j < chunks; j++) {
        const float *stat = w->stat + ((size_t)j * h + i) * 2;
        double weight = (float)exp2((double)(stat[0] - m));
        const uint16_t *part = w->part + ((size_t)j * h + i) * REF_HEAD_DIM;
        den += (double)stat[1] * weight;
        for (int d = 0; d < REF_HEAD_DIM; d++)
            total[d] += (double)ref_bf16_f32(part[d]) * weight;
    }
    for (int d = 0; d < REF_HEAD_DIM; d++)
        out[d] = den == 0 ? 0 : ref_round_bf16((float)(total[d] / den));
}

struct attention {
    const struct ref_case *c;
    const uint16_t *q;
    const int32_t *kt, *klen;
    struct ref_back *out;
    atomic_int failed;
};

static void attend(void *arg, int t)
{
    struct attention *a = arg;
    const struct ref_case *c = a->c;
    size_t q_rows = (size_t)c->q_rows, row = (size_t)t * q_rows;
    int n = a->klen[t], chunk = a->out->chunk, chunks = (n + chunk - 1) / chunk;
    struct token *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    float *y = malloc(q_rows * sizeof *y);
    if (!w || !y) {
        atomic_store(&a->failed, 1);
        goto done;
    }
    size_t stats = (size_t)t * (size_t)a->out->chunks * (size_t)c->h;
    w->part = a->out->part + stats * REF_HEAD_DIM;
    w->stat = a->out->stat + stats * 2;
    for (size_t i = 0; i < (size_t)c->h; i++)
        for (size_t d = 0; d < REF_HEAD_DIM; d++)
            w->q[i][d] = ref_bf16_f32(a->q[row + i * REF_HEAD_DIM + d]);
    for (int j = 0; j < chunks; j++)
        split_chunk(c, w, a->kt + (size_t)t * (size_t)c->keys + (size_t)(j * chunk),
                    n - j * chunk < chunk ? n - j * chunk : chunk, j);
    for (size_t i = 0; i < (size_t)c->h; i++) {
        float *head = y + i * REF_HEAD_DIM;
        combine_head(c, w, chunks, i, head);
        for (size_t d = 0; d < REF_HEAD_DIM; d++)
            a->out->attn[row + i * REF_HEAD_DIM + d] = ref_bf16(head[d]);
        ref_rope(head + REF_NOPE, c->cos_sin + (size_t)c->pos[t] * REF_ROPE, -1.0f);
    }
    ref_mx_quant(y, 1, q_rows, a->out->xo + row, a->out->xos + row / 32);
done:
    free(w);
    free(y);
}

int ref_attention(const struct ref_case *c, const uint16_t *q, const int32_t *kt,
                  const int32_t *klen, struct ref_back *out)
{
    struct attention a = {.c = c, .q = q, .kt = kt, .klen = klen, .out = out};
    int failed = alloc_back(c, out);
    if (!failed) {
        ref_parallel(c->s, attend, &a);
        failed = atomic_load(&a.failed);
    }
    if (failed)
        ref_back_free(out);
    return failed ? -1 : 0;
}

/* ---- projections */

int ref_woa(const struct ref_case *c, struct ref_back *b)
{
    size_t s = (size_t)c->s, o_rows = (size_t)c->o_rows, q_rows = (size_t)c->q_rows;
    size_t o_rank = (size_t)c->model.o_rank, group_k = (size_t)c->group_k;
    double *sums = calloc(s * o_rows, sizeof *sums);
    float *a = malloc(s * o_rows * sizeof *a);
    int failed = !sums || !a;
    for (size_t g = 0; !failed && g < (size_t)c->g; g++) {
        struct ref_gemv gemv = {
            .w = &c->woa,
            .row0 = g * o_rank,
            .rows = o_rank,
            .k1 = group_k,
            .x8 = b->xo + g * group_k,
            .x8s = b->xos + g * group_k / 32,
            .x8_stride = q_rows,
            .x8s_stride = q_rows / 32,
            .tokens = s,
            .out = sums + g * o_rank,
            .out_stride = o_rows,
        };
        failed = ref_gemv(&gemv);
    }
    for (size_t i = 0; !failed && i < s * o_rows; i++) {
        a[i] = ref_round_bf16((float)sums[i]);
        b->a[i] = ref_bf16(a[i]);
    }
    if (!failed)
        ref_mx_quant(a, s, o_rows, b->x8b, b->x8bs);
    free(sums);
    free(a);
    return failed ? -1 : 0;
}

int ref_wob(const struct ref_case *c, struct ref_back *b)
{
    size_t s = (size_t)c->s, o_rows = (size_t)c->o_rows, hidden = (size_t)c->model.hidden;
    double *sums = calloc(s * hidden, sizeof *sums);
    if (!sums)
        return -1;
    struct ref_gemv gemv = {
        .w = &c->wob,
        .rows = hidden,
        .k1 = o_rows,
        .x8 = b->x8b,
        .x8s = b->x8bs,
        .x8_stride = o_rows,
        .x8s_stride = o_rows / 32,
        .tokens = s,
        .out = sums,
        .out_stride = hidden,
    };
    int failed = ref_gemv(&gemv);
    for (size_t i = 0; !failed && i < s * hidden; i++)
        b->out[i] = ref_bf16((float)sums[i]);
    free(sums);
    return failed ? -1 : 0;
}

int ref_back(const struct ref_case *c, const uint16_t *q, const int32_t *kt, const int32_t *klen,
             struct ref_back *out)
{
    if (ref_attention(c, q, kt, klen, out))
        return -1;
    if (!ref_woa(c, out) && !ref_wob(c, out))
        return 0;
    ref_back_free(out);
    return -1;
}
