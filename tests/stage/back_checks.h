/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K2's stages alone: what the stage before would have left is put into scratch, and what the stage
 * leaves is compared with the reference. Anything that goes wrong fails the running test.
 *
 *     back_open(&k, &params, parts, "given");   the case, its key table in k.kt and k.klen
 *     ... the test changes k.kt, k.klen
 *     back_attention(&k);                       the reference, as far as xo and xos
 *     put_partials(&k);
 *     back_run(&k, combine_template);
 *     check_attention(&k);
 *     back_close(&k);
 */
#ifndef TESTS_STAGE_BACK_CHECKS_H
#define TESTS_STAGE_BACK_CHECKS_H

#include "rig.h"
#include "templates/back/back.h"
#include "tests/ref/back.h"

struct back_stage {
    struct rig r;
    int32_t *kt, *klen;   /* the key table: [s, keys], [2 s] */
    struct ref_back want; /* the reference's, as far as it has been run */
};

/* Keys of a token: rows of the compressed cache, then of the window's. */
struct keys {
    int comp, window;
};

/* keys: the key's option, "given" or "back". */
void back_open(struct back_stage *k, const struct ref_params *params, unsigned parts,
               const char *keys);
/* Token t takes rows[t % n] random keys, in place of the case's own table. */
void back_rows(struct back_stage *k, const struct keys *rows, int n);
void back_attention(struct back_stage *k);
/* What a template starts with. */
void back_begin(Back *back, Builder *b);
void back_run(struct back_stage *k, void (*template)(Builder *b));
void back_close(struct back_stage *k);

/* Inputs of split, combine, wo_a and wo_b. What nobody may read is NaN, or not written at all. */
void put_keys(struct back_stage *k);
void put_partials(struct back_stage *k);
void put_attention(struct back_stage *k);
void put_product(struct back_stage *k);
/* The launch must hang while the first or the last of a region's flags is an earlier launch's. */
void back_hangs(struct back_stage *k, const char *region, void (*inputs)(struct back_stage *k),
                void (*template)(Builder *b));

/* What they leave, their flags with it. */
void check_partials(struct back_stage *k);
void check_attention(struct back_stage *k);
void check_product(struct back_stage *k);
void check_out(struct back_stage *k);

#endif
