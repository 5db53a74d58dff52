/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K1, from the layer's normed input rows to the rotated query and the step's KV records: what its
 * stages share. Stages stand in one fixed order in every workgroup and wait only on earlier ones,
 * so that a resident grid cannot deadlock.
 */
#ifndef TEMPLATES_FRONT_FRONT_H
#define TEMPLATES_FRONT_FRONT_H

#include "gen/build.h"
#include "gen/plan.h"
#include "templates/common/gemv.h"
#include "templates/common/mailbox.h"

enum { XQ_MAX_LOADS = 16 };

typedef struct Front {
    Builder *b;
    const struct plan *p;
    Mailbox mb;

    /* wqkv: this workgroup's part, valid where it has one */
    Val task, half; /* S1: row tile, K half */
    Gemv wqkv;
    GemvWeights wqkv_weights;
    Rows x;                    /* X8 rows of the half */
    Val x_words[XQ_MAX_LOADS]; /* V4: x as loaded, where each workgroup quantizes its own half */

    Gemv wqb;
    GemvWeights wqb_weights;
    Val wqb_task; /* S1: first of this workgroup's */
    Rows qx;      /* QX8 rows */
} Front;

/* xq as units of their own: X8, X8S and the flag (xrdy, unit). */
void xq_stage(Front *f);
/* xq of this workgroup's own K half, of the only token tile: loads, masked where it has no part
 * (has: S1, or NONE), then the rows in LDS (a barrier behind them). */
void xq_local_loads(Front *f, Val has);
void xq_local_store(Front *f);

/* wqkv's part: what this workgroup has, its weights' loads, then every token tile. wqb's weights go
 * out behind the rows of the last tile but one. */
void wqkv_loads(Front *f);
void wqkv_stage(Front *f);

void qkv_stage(Front *f);

void wqb_begin(Front *f); /* what this workgroup has; ahead of the others */
void wqb_loads(Front *f); /* the first round's weights */
void wqb_stage(Front *f);

#endif
