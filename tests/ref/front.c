/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include <math.h>
#include <stdlib.h>

#include "gemv.h"
#include "num.h"

static int alloc_front(const struct ref_case *c, struct ref_front *f)
{
    size_t s = (size_t)c->s, hidden = (size_t)c->model.hidden, q_rank = (size_t)c->model.q_rank;
    *f = (struct ref_front){
        .x8 = malloc(s * hidden),
        .x8s = malloc(s * hidden / 32),
        .y = calloc(s * (size_t)c->qkv_rows, sizeof(float)),
        .qr = malloc(s * q_rank * sizeof(uint16_t)),
        .qx8 = malloc(s * q_rank),
        .qx8s = malloc(s * q_rank / 32),
        .q = malloc(s * (size_t)c->q_rows * sizeof(uint16_t)),
        .records = calloc(s, REF_RECORD),
    };
    return f->x8 && f->x8s && f->y && f->qr && f->qx8 && f->qx8s && f->q && f->records ? 0 : -1;
}

void ref_front_free(struct ref_front *f)
{
    free(f->x8);
    free(f->x8s);
    free(f->y);
    free(f->qr);
    free(f->qx8);
    free(f->qx8s);
    free(f->q);
    free(f->records);
    *f = (struct ref_front){0};
}

static int quantize_x(const struct ref_case *c, struct ref_front *f)
{
    size_t hidden = (size_t)c->model.hidden;
    float *row = malloc(hidden * sizeof *row);
    if (!row)
        return -1;
    for (size_t t = 0; t < (size_t)c->s; t++) {
        for (size_t i = 0; i < hidden; i++)
            row[i] = ref_bf16_f32(c->x[t * c->x_stride + i]);
        ref_mx_quant(row, 1, hidden, f->x8 + t * hidden, f->x8s + t * hidden / 32);
    }
    free(row);
    return 0;
}

/* The product of whole rows, rounded to f32, then bf16: [tokens, w->n] f32. */
static int product(const struct ref_weight *w, const uint8_t *x8, const uint8_t *x8s, size_t tokens,
                   float *out)
{
    double *sums = calloc(tokens * w->n, sizeof *sums);
    if (!sums)
        return -1;
    struct ref_gemv g = {
        .w = w,
        .rows = w->n,
        .k1 = w->k,
        .x8 = x8,
        .x8s = x8s,
        .x8_stride = w->k,
        .x8s_stride = w->k / 32,
        .tokens = tokens,
        .out = sums,
        .out_stride = w->n,
    };
    int failed = ref_gemv(&g);
    for (size_t i = 0; !failed && i < tokens * w->n; i++)
        out[i] = ref_round_bf16((float)sums[i]);
    free(sums);
    return failed;
}

/* RMS norm of n values -> bf16 values. */
static void rms_norm(const float *v, const uint16_t *weight, int n, double eps, float *out)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)v[i] * v[i];
    float ms = (float)(sum / n) + (float)eps;
    float r = (float)(1.0 / sqrt((double)ms));
    for (int i = 0; i < n; i++)
        out[i] = ref_round_bf16(v[i] * r * ref_bf16_f32(weight[i]));
}

static void make_record(const float *kv, uint8_t *record)
{
    for (int b = 0; b < REF_NOPE / 64; b++)
        record[REF_DATA + b] = ref_quant_block(kv + b * 64, 64, 1e-4f, record + b * 64);
    for (int i = 0; i < REF_ROPE; i++) {
        uint16_t v = ref_bf16(kv[REF_NOPE + i]);
        memcpy(record + REF_NOPE + 2 * i, &v, sizeof v);
    }
}

static void norms(const struct ref_case *c, struct ref_front *f, size_t t)
{
    size_t q_rank = (size_t)c->model.q_rank;
    const float *y = f->y + t * (size_t)c->qkv_rows;
    float kv[REF_KV_DIM], qr[q_rank];
    rms_norm(y, c->qn_w, (int)q_rank, c->model.eps, qr);
    for (size_t i = 0; i < q_rank; i++)
        f->qr[t * q_rank + i] = ref_bf16(qr[i]);
    ref_mx_quant(qr, 1, q_rank, f->qx8 + t * q_rank, f->qx8s + t * q_rank / 32);
    rms_norm(y + q_rank, c->kvn_w, REF_KV_DIM, c->model.eps, kv);
    ref_rope(kv + REF_NOPE, c->cos_sin + (size_t)c->pos[t] * REF_ROPE, 1.0f);
    make_record(kv, f->records + t * REF_RECORD);
}

static int queries(const struct ref_case *c, struct ref_front *f)
{
    size_t q_rows = (size_t)c->q_rows;
    float *q = calloc((size_t)c->s * q_rows, sizeof *q);
    if (!q || product(&c->wqb, f->qx8, f->qx8s, (size_t)c->s, q)) {
        free(q);
        return -1;
    }
    for (size_t t = 0; t < (size_t)c->s; t++)
        for (int h = 0; h < c->h; h++)
            ref_rope(q + t * q_rows + (size_t)h * REF_HEAD_DIM + REF_NOPE,
                     c->cos_sin + (size_t)c->pos[t] * REF_ROPE, 1.0f);
    for (size_t i = 0; i < (size_t)c->s * q_rows; i++)
        f->q[i] = ref_bf16(q[i]);
    free(q);
    return 0;
}

int ref_front(const struct ref_case *c, struct ref_front *out)
{
    if (alloc_front(c, out) || quantize_x(c, out) ||
        product(&c->wqkv, out->x8, out->x8s, (size_t)c->s, out->y))
        goto fail;
    for (size_t t = 0; t < (size_t)c->s; t++)
        norms(c, out, t);
    if (queries(c, out))
        goto fail;
    return 0;
fail:
    ref_front_free(out);
    return -1;
}

void ref_front_insert(struct ref_case *c, const struct ref_front *f)
{
    for (int t = 0; t < c->s; t++) {
        if (c->slot[t] < 0)
            continue;
        const uint8_t *record = f->records + (size_t)t * REF_RECORD;
        memcpy(ref_cache_data(&c->swa, c->slot[t]), record, REF_DATA);
        memcpy(ref_cache_scales(&c->swa, c->slot[t]), record + REF_DATA, REF_SCALES);
    }
}
