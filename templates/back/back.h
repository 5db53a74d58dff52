/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K2, from the rotated query to the rank's part of the layer's output: what its stages share.
 * Stages stand in one fixed order in every workgroup and wait only on earlier ones, so that a
 * resident grid cannot deadlock.
 */
#ifndef TEMPLATES_BACK_BACK_H
#define TEMPLATES_BACK_BACK_H

#include "gen/build.h"
#include "gen/plan.h"
#include "templates/common/mailbox.h"

typedef struct Back {
    Builder *b;
    const struct plan *p;
    Mailbox mb;
    bool own_keys; /* this launch writes the key table: await it, read it at device scope */
} Back;

/* The key table's row of a token has been published (nothing to wait for when the caller or K1
 * wrote it). A barrier in it. */
void await_keys(Back *k, Val token);
/* Issues the load of a token's kv_len, keys of its row: S1, or V1 (for uniform()) where this launch
 * makes the table. After await_keys. */
Val load_kv_len(Back *k, Val token);

/* Stages, a file each. */
void split_stage(Back *k);
void combine_stage(Back *k);
void output_stages(Back *k); /* wo_a and wo_b, their loads in the kernel's order */

/* The epoch: this workgroup has read it; workgroup 0 moves it on once all have. */
void epoch_begin(Back *k);
void epoch_end(Back *k);

#endif
