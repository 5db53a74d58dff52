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
