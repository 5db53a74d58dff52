/* SPDX-License-Identifier: Apache-2.0 */
/* K2's attention: split and combine, each as a launch of its own over inputs put where the stage
 * before would have left them. */
#include "back_checks.h"

enum { ATTENTION = REF_Q | REF_SWA | REF_COMP };

/* ---- split */

static void split_template(Builder *b)
{
    Back k;
    back_begin(&k, b);
    split_stage(&k);
    kernel_end(b);
}

static void split_launch(struct back_stage *k)
{
    back_attention(k);
    put_keys(k);
    back_run(k, split_template);
    check_partials(k);
    back_close(k);
}

static void split_case(struct ref_params params, const char *keys)
{
    struct back_stage k;
    back_open(&k, &params, ATTENTION, keys);
    split_launch(&k);
}

/* The same in the exact mode, in which scores are far apart. */
static void split_modes(struct ref_params params)
{
    split_case(params, "given");
    params.mode = REF_EXACT;
    split_case(params, "given");
}

static void split_two_head_groups(void **state)
{
    (void)state;
    split_modes((struct ref_params){.model_name = "v41-flash",
                                    .tokens = 5,
                                    .tp = 2,
                                    .ratio = 2,
                                    .seed = 1,
                                    .pad = true,
                                    .block = 13,
                                    .swa_gap = 1000,
                                    .comp_block = 7,
                                    .comp_gap = 24});
    split_case((struct ref_params){.model_name = "v4-flash", .tokens = 3, .tp = 2, .seed = 2},
               "given");
}

static void split_one_head_group(void **state)
{
    (void)state;
    split_modes((struct ref_params){
        .model_name = "v41-flash", .tokens = 4, .tp = 4, .ratio = 1, .seed = 3, .pad = true});
    /* two head tiles, too many units for chunks of 64 */
    split_modes((struct ref_params){
        .model_name = "v41-flash", .tokens = 26, .tp = 2, .ratio = 2, .seed = 4});
}

static void split_four_head_tiles(void **state)
{
    (void)state;
    split_modes((struct ref_params){
        .model_name = "v41-flash", .tokens = 2, .tp = 1, .ratio = 2, .seed = 5, .block = 1});
}

static void split_head_blocks(void **state)
{
    (void)state;
    split_case(
        (struct ref_params){.model_name = "v4-pro", .tokens = 3, .tp = 1, .ratio = 4, .seed = 6},
        "given");
}

static void split_goes_round(void **state)
{
    (void)state;
    static const struct keys rows[] = {
        {0,    1  },
        {0,    0  },
        {0,    3  },
        {1024, 100},
        {0,    2  },
        {130,  0  },
        {0,    7  }
    };
    const struct ref_params params = {
        .model_name = "v4-flash", .tokens = 48, .tp = 4, .ratio = 4, .topk = 1024, .seed = 7};
    struct back_stage k;
    back_open(&k, &params, ATTENTION, "back");
    back_rows(&k, rows, 7);
    split_launch(&k);
}

static void split_at_the_edges_of_chunks(void **state)
{
    (void)state;
    static const struct keys rows[] = {
        {0,   63 },
        {0,   64 },
        {1,   64 },
        {0,   127},
        {0,   128},
        {128, 128},
        {129, 128},
        {512, 127}
    };
    for (int tp = 2; tp <= 4; tp += 2) {
        const struct ref_params params = {
            .model_name = "v41-flash", .tokens = 8, .tp = tp, .ratio = 2, .seed = 8};
        struct back_stage k;
        back_open(&k, &params, ATTENTION, "given");
        back_rows(&k, rows, 8);
        split_launch(&k);
    }
}

/* Of every other key; of a chunk all, or all but the last; of a token all. */
static void absent_keys(struct back_stage *k)
{
    static const struct keys full = {512, 128};
    back_rows(k, &full, 1);
    for (int i = 0; i < k->r.plan.keys; i++) {
        int32_t *key = k->kt + i;
        size_t row = (size_t)k->r.plan.keys;
        if (i % 2)
            key[0] = -1;
        if (i < 128 || i >= 512)
            key[row] = -1;
        if (i < 127)
            key[2 * row] = -1;
        key[3 * row] = -1;
    }
}

static void split_absent_keys(void **state)
{
    (void)state;
    for (int tp = 2; tp <= 4; tp += 2) {
        const struct ref_params params = {
            .model_name = "v41-flash", .tokens = 4, .tp = tp, .ratio = 2, .seed = 9};
        struct back_stage k;
        back_open(&k, &params, ATTENTION, "given");
        absent_keys(&k);
        split_launch(&k);
    }
}

static void split_cache_slots(void **state)
{
    (void)state;
    const struct ref_params params = {.model_name = "v4-flash",
                                      .tokens = 7,
                                      .tp = 4,
                                      .ratio = 128,
                                      .seed = 10,
                                      .max_pos = 20000,
                                      .pad = true,
                                      .global_keys = true};
    split_case(params, "given");
    split_case(params, "back");
}

/* ---- combine */

static void combine_template(Builder *b)
{
    Back k;
    back_begin(&k, b);
    combine_stage(&k);
    kernel_end(b);
}

static void combine_launch(struct back_stage *k)
{
    back_attention(k);
    put_partials(k);
    back_run(k, combine_template);
    check_attention(k);
    back_close(k);
}

static void combine_case(struct ref_params params, const struct keys *rows, int n)
{
    struct back_stage k;
    back_open(&k, &params, ATTENTION, "given");
    if (rows)
        back_rows(&k, rows, n);
    combine_launch(&k);
}

/* The same with scores far apart: a chunk or two have nearly all the weight. */
static void combine_modes(struct ref_params params, const struct keys *rows, int n)
{
    combine_case(params, rows, n);
    params.mode = REF_EXACT;
    combine_case(params, rows, n);
}

static void combine_one_chunk(void **state)
{
    (void)state;
    combine_case(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 5, .tp = 4, .seed = 11, .pad = true},
        NULL, 0);
    /* more units than workgroups */
    combine_case((struct ref_params){.model_name = "v4-flash", .tokens = 48, .tp = 1, .seed = 12},
                 NULL, 0);
}

static void combine_chunks_in_flight(void **state)
{
    (void)state;
    combine_modes(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 6, .tp = 4, .ratio = 2, .seed = 13, .pad = true},
        NULL, 0);
}

static void combine_chunks_in_rounds(void **state)
{
    (void)state;
    static const struct keys some[] = {
        {0,   0  },
        {384, 128},
        {385, 128},
        {512, 128},
        {0,   5  }
    };
    combine_modes(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 5, .tp = 2, .ratio = 2, .seed = 14},
        some, 5);
    /* the statistics of more than 64 chunks: several a lane */
    static const struct keys many[] = {
        {4096, 128},
        {3968, 128},
        {3969, 128}
    };
    combine_modes(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 3, .tp = 2, .ratio = 2, .topk = 4096, .seed = 15},
        many, 3);
    static const struct keys most = {8192, 128};
    combine_modes(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 1, .tp = 2, .ratio = 2, .topk = 8192, .seed = 16},
        &most, 1);
}

static void combine_head_blocks(void **state)
{
    (void)state;
    combine_case(
        (struct ref_params){
            .model_name = "v4-pro", .tokens = 2, .tp = 1, .ratio = 4, .seed = 17, .pad = true},
        NULL, 0);
}

static void combine_absent_keys(void **state)
{
    (void)state;
    const struct ref_params params = {
        .model_name = "v41-flash", .tokens = 4, .tp = 2, .ratio = 2, .seed = 18};
    struct back_stage k;
    back_open(&k, &params, ATTENTION, "back");
    absent_keys(&k);
    combine_launch(&k);
}

/* ---- the flags that they wait for */

static void every_flag_is_awaited(void **state)
{
    (void)state;
    static const struct keys full = {1024, 128};
    const struct ref_params params = {
        .model_name = "v4-pro", .tokens = 2, .tp = 1, .ratio = 4, .seed = 19};
    struct back_stage k;
    back_open(&k, &params, ATTENTION, "back");
    back_rows(&k, &full, 1);
    back_attention(&k);
    back_hangs(&k, "ktrdy", put_keys, split_template);
    back_hangs(&k, "ktrdy", put_partials, combine_template);
    back_hangs(&k, "srdy", put_partials, combine_template);
    back_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_two_head_groups),    cmocka_unit_test(split_one_head_group),
        cmocka_unit_test(split_four_head_tiles),    cmocka_unit_test(split_head_blocks),
        cmocka_unit_test(split_goes_round),         cmocka_unit_test(split_at_the_edges_of_chunks),
        cmocka_unit_test(split_absent_keys),        cmocka_unit_test(split_cache_slots),
        cmocka_unit_test(combine_one_chunk),        cmocka_unit_test(combine_chunks_in_flight),
        cmocka_unit_test(combine_chunks_in_rounds), cmocka_unit_test(combine_head_blocks),
        cmocka_unit_test(combine_absent_keys),      cmocka_unit_test(every_flag_is_awaited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
