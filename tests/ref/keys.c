/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include <string.h>

static int32_t compressed_slot(const struct ref_case *c, int t, int k)
{
    int32_t row = c->topk[(size_t)t * (size_t)c->topk_cols + (size_t)k];
    if (row < 0)
        return -1;
    uint32_t slot = (uint32_t)row;
    if (!c->params.global_keys) {
        int block = c->params.comp_block;
        int32_t page = c->comp_bt[(size_t)c->t2r[t] * (size_t)c->bt_stride + (size_t)(row / block)];
        slot = (uint32_t)(page * block + row % block);
    }
    int32_t tagged;
    slot |= 0x80000000u;
    memcpy(&tagged, &slot, sizeof tagged);
    return tagged;
}

void ref_key_table(const struct ref_case *c, int32_t *kt, int32_t *klen)
{
    for (int t = 0; t < c->s; t++) {
        int32_t *row = kt + (size_t)t * (size_t)c->keys;
        bool live = c->slot[t] >= 0;
        int nswa = live ? c->swa_lens[t] : 0, ntopk = 0;
        if (live && c->ratio) {
            int64_t have = (c->pos[t] + 1) / c->ratio;
            ntopk = have < c->topk_cols ? (int)have : c->topk_cols;
        }
        for (int k = 0; k < c->keys; k++) {
            if (k < ntopk)
                row[k] = compressed_slot(c, t, k);
            else if (k < ntopk + nswa)
                row[k] = c->swa_idx[(size_t)t * (size_t)c->model.window + (size_t)(k - ntopk)];
            else
                row[k] = -1;
        }
        klen[t] = ntopk + nswa;
        klen[c->s + t] = ntopk;
    }
}

void ref_random_keys(const struct ref_case *c, int t, int comp, int window, int32_t *kt,
                     int32_t *klen)
{
    int32_t *row = kt + (size_t)t * (size_t)c->keys;
    uint64_t x = (uint64_t)t * 977 + 12345;
    uint32_t comp_rows = (uint32_t)(c->comp.nblocks * c->comp.block);
    uint32_t window_rows = (uint32_t)(c->swa.nblocks * c->swa.block);
    for (int i = 0; i < c->keys; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint32_t pick = (uint32_t)(x >> 33);
        row[i] = -1;
        if (i < comp)
            row[i] = (int32_t)(pick % comp_rows | 0x80000000u);
        else if (i < comp + window)
            row[i] = (int32_t)(pick % window_rows);
    }
    klen[t] = comp + window;
    klen[c->s + t] = comp;
}
