/* SPDX-License-Identifier: Apache-2.0 */
/* The models: one row each. Counts that follow from a row are the plan's. */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "gen/key.h"

enum {
    HEAD_DIM = 512,
    NOPE_DIM = 448,
    ROPE_DIM = 64,
    KV_DIM = 512,
    WINDOW = 128,
    O_RANK = 1024,
    REC_DATA = 576,
    REC_SCALES = 8,
    REC_BYTES = REC_DATA + REC_SCALES
};

struct model {
    const char *name;
    int hidden, q_rank, heads, o_groups, topk;
    float eps;
    int ratios[4], n_ratios; /* ratios[0] is 0: window only */
    enum cogen_keys keys;    /* default of the option */
    bool listed;             /* false: a small model for tests, not shown by `cogen keys` */
};

extern const struct model models[];
extern const size_t model_count;
const struct model *model_find(const char *name); /* NULL: none */

#endif
