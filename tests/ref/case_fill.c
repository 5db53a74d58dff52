/* SPDX-License-Identifier: Apache-2.0 */
#include "case_fill.h"

#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "parallel.h"

enum { GAP_FILL = 4096 };

static const uint8_t exact_bytes[5] = {0x00, 0x38, 0x40, 0xB8, 0xC0}; /* 0, 1, 2, -1, -2 */

uint64_t ref_stream_key(uint32_t seed, enum ref_stream id)
{
    return ref_mix((uint64_t)seed << 32 | (uint64_t)id);
}

uint16_t ref_bf16_value(uint64_t v, enum ref_mode mode, int lo, int hi)
{
    if (mode == REF_EXACT)
        return ref_bf16((float)((int64_t)(v >> 33) % 9 - 4));
    uint16_t exp = (uint16_t)((uint64_t)lo + (v >> 40) % (uint64_t)(hi - lo));
    return (uint16_t)((v >> 63) << 15 | (uint64_t)exp << 7 | ((v >> 20) & 127));
}

static uint8_t weight_byte(uint64_t v, enum ref_mode mode)
{
    if (mode == REF_EXACT)
        return exact_bytes[(v >> 33) % 5];
    uint64_t exp = 3 + (v >> 40) % 7;
    return (uint8_t)((v >> 63) << 7 | exp << 3 | ((v >> 20) & 7));
}

struct weight_job {
    struct ref_weight *w;
    uint64_t key;
    enum ref_mode mode;
};

enum { WEIGHT_ROWS = 16 };

static void fill_rows(void *arg, int block)
{
    const struct weight_job *job = arg;
    struct ref_weight *w = job->w;
    for (size_t row = (size_t)block * WEIGHT_ROWS; row < (size_t)(block + 1) * WEIGHT_ROWS; row++) {
        for (size_t col = 0; col < w->k; col += 16) {
            uint8_t *p = w->bytes + ref_weight_at(w, row, col);
            for (size_t i = 0; i < 16; i++)
                p[i] = weight_byte(ref_mix(job->key + row * w->k + col + i), job->mode);
        }
        if (!w->shuffled)
            memset(w->bytes + row * w->stride + w->k, 0xFF, w->stride - w->k);
    }
}

void ref_fill_weight(struct ref_weight *w, uint32_t seed, enum ref_stream id, enum ref_mode mode)
{
    struct weight_job job = {w, ref_stream_key(seed, id), mode};
    ref_parallel((int)(w->n / WEIGHT_ROWS), fill_rows, &job);
    uint64_t key = ref_stream_key(seed, (enum ref_stream)(id + 1)); /* the codes' stream follows */
    for (size_t i = 0; i < w->n / 32 * (w->k / 32); i++)
        w->codes[i] = mode == REF_EXACT ? 127 : (uint8_t)ref_uniform(ref_mix(key + i), 117, 122);
}

static uint8_t stream_byte(uint64_t key, size_t row, int i)
{
    return (uint8_t)(ref_mix(key + row * 128 + (size_t)i / 8) >> (i % 8 * 8));
}

static void fill_record(struct ref_cache *c, size_t row, uint64_t key, enum ref_mode mode)
{
    uint8_t *data = ref_cache_data(c, (int64_t)row), *scales = ref_cache_scales(c, (int64_t)row);
    for (int i = 0; i < REF_NOPE; i++) {
        uint8_t b = stream_byte(key, row, i);
        data[i] = mode == REF_EXACT ? exact_bytes[b % 5]
                                    : (uint8_t)((b & 0x87) | (3 + ((b >> 3) & 15) % 7) << 3);
    }
    for (size_t i = 0; i < REF_ROPE; i++) {
        uint16_t v = ref_bf16_value(ref_mix(key + row * REF_ROPE + i), mode, 122, 128);
        memcpy(data + REF_NOPE + 2 * i, &v, sizeof v);
    }
    for (int i = 0; i < 7; i++)
        scales[i] = mode == REF_EXACT ? 127 : (uint8_t)(120 + stream_byte(key, row, 512 + i) % 5);
    scales[7] = 0;
}

void ref_fill_cache(struct ref_cache *c, uint32_t seed, enum ref_stream id, enum ref_mode mode)
{
    uint64_t key = ref_stream_key(seed, id);
    size_t used = (size_t)c->block * REF_RECORD;
    for (size_t row = 0; row < (size_t)c->nblocks * (size_t)c->block; row++)
        fill_record(c, row, key, mode);
    size_t gap = c->stride - used < GAP_FILL ? c->stride - used : GAP_FILL;
    for (int b = 0; b < c->nblocks; b++)
        memset(c->bytes + (size_t)b * c->stride + used, 0xFF, gap);
}

struct ranked {
    uint64_t value;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

int ref_argsort(uint32_t seed, enum ref_stream id, size_t n, int32_t *order, size_t keep)
{
    struct ranked *all = malloc(n * sizeof *all);
    if (!all)
        return -1;
    uint64_t key = ref_stream_key(seed, id);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct ranked){ref_mix(key + i), i};
    qsort(all, n, sizeof *all, by_value);
    for (size_t i = 0; i < keep; i++)
        order[i] = (int32_t)all[i].index;
    free(all);
    return 0;
}
