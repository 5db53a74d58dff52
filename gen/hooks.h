/* SPDX-License-Identifier: Apache-2.0 */
/* Points where a caller's own template joins the kernels. */
#ifndef GEN_HOOKS_H
#define GEN_HOOKS_H

#include "gen/build.h"

struct cogen_hooks {
    void *context; /* handed to every hook */
    /* K1: ahead of the wqkv weights' loads (a latency-critical stage of the caller's), and right
     * behind them. A register that outlives its hook may be one too many: at some keys K1 needs all
     * of them, and the build says so. */
    void (*before_wqkv)(Builder *b, void *context);
    void (*after_wqkv)(Builder *b, void *context);
    /* K2: takes wo_b's results in place of the stores to `out`. token V1, column V1 (the first of
     * two); either v0 holds the bf16 pair as one word and v1 is NONE, or v0 and v1 are the two f32
     * values. */
    void (*wob_out)(Builder *b, void *context, Val token, Val column, Val v0, Val v1);
    /* K2: where workgroup 0 moves the epoch on, before it does. */
    void (*epoch_reset)(Builder *b, void *context);
};

#endif
