/* SPDX-License-Identifier: Apache-2.0 */
/* K2 of every model, rank and ratio, on both sides of each boundary of its plan. */
#include <string.h>

#include "back_rig.h"

/* One row a launch: what is asked, and what of the plan it is there for. */
struct row {
    struct ref_params params;
    const char *keys;
    struct {
        int chunk, head_blocks, unit_tiles, n_chunks, woa_rounds, wob_rounds, early_wob;
    } plan; /* 0: not looked at; early_wob: 1 yes, 2 no */
};

#define FLASH "v4-flash"
#define PRO "v4-pro"
#define FLASH41 "v41-flash"

static void check(const struct row *row)
{
    struct back_rig r;
    back_open(&r, &row->params, row->keys);
    const struct plan *p = &r.plan;
    if (row->plan.chunk)
        assert_int_equal(p->chunk, row->plan.chunk);
    if (row->plan.head_blocks)
        assert_int_equal(p->head_blocks, row->plan.head_blocks);
    if (row->plan.unit_tiles)
        assert_int_equal(p->unit_tiles, row->plan.unit_tiles);
    if (row->plan.n_chunks)
        assert_int_equal(p->n_chunks, row->plan.n_chunks);
    if (row->plan.woa_rounds)
        assert_int_equal(p->woa.rounds, row->plan.woa_rounds);
    if (row->plan.wob_rounds)
        assert_int_equal(p->wob.rounds, row->plan.wob_rounds);
    if (row->plan.early_wob)
        assert_int_equal(p->early_wob, row->plan.early_wob == 1);
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}

static void check_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&rows[i]);
}
#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof((rows)[0]))

static void ranks_of_v41_flash(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH41, .tokens = 1, .tp = 4, .ratio = 2, .seed = 1},
         "front", {.chunk = 128, .unit_tiles = 1, .early_wob = 1}},
        {{.model_name = FLASH41, .tokens = 4, .tp = 2, .ratio = 1, .seed = 2},
         "front", {.chunk = 64, .unit_tiles = 2}                 },
        {{.model_name = FLASH41, .tokens = 2, .tp = 1, .ratio = 0, .seed = 3},
         "back",  {.chunk = 128, .unit_tiles = 4, .n_chunks = 1} },
    };
    CHECK_ALL(rows);
}

static void ranks_of_v4_flash(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH, .tokens = 1, .tp = 4, .ratio = 0, .seed = 4},
         "back",                                                                     {.n_chunks = 1}  },
        {{.model_name = FLASH, .tokens = 3, .tp = 2, .ratio = 4, .seed = 5}, "back", {.chunk = 64}    },
        {{.model_name = FLASH, .tokens = 2, .tp = 1, .ratio = 4, .seed = 6},
         "given",                                                                    {.unit_tiles = 4}},
    };
    CHECK_ALL(rows);
}

static void ranks_of_v4_pro(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = PRO, .tokens = 1, .tp = 8, .ratio = 4, .seed = 7},
         "back",                                                                   {.unit_tiles = 1}},
        {{.model_name = PRO, .tokens = 2, .tp = 4, .ratio = 0, .seed = 8}, "back", {.chunk = 64}    },
        {{.model_name = PRO, .tokens = 2, .tp = 2, .ratio = 4, .seed = 9},
         "back",                                                                   {.unit_tiles = 4}},
    };
    CHECK_ALL(rows);
}

/* 128 heads a rank: two blocks of heads, wo_a and wo_b in rounds, 8-token tiles. */
static void v4_pro_alone(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = PRO, .tokens = 9, .tp = 1, .ratio = 4, .seed = 10},
         "back", {.head_blocks = 2, .woa_rounds = 2, .wob_rounds = 2, .early_wob = 2}},
    };
    CHECK_ALL(rows);
}

static void token_tiles(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH41, .tokens = 15, .tp = 4, .ratio = 2, .seed = 11},              "front", {0}             },
        {{.model_name = FLASH41, .tokens = 16, .tp = 4, .ratio = 2, .seed = 12, .pad = true},
         "front",                                                                                      {0}             },
        {{.model_name = FLASH41, .tokens = 17, .tp = 4, .ratio = 2, .seed = 13, .pad = true},
         "front",                                                                                      {0}             },
        {{.model_name = FLASH, .tokens = 48, .tp = 4, .ratio = 4, .seed = 14},
         "back",                                                                                       {.early_wob = 2}},
    };
    CHECK_ALL(rows);
}

/* 640 keys: ten 64-key chunks a token; 25 tokens fit 256 workgroups, 26 do not. */
static void chunks_where_the_grid_fills(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH, .tokens = 25, .tp = 2, .ratio = 4, .seed = 15},
         "back", {.chunk = 64} },
        {{.model_name = FLASH, .tokens = 26, .tp = 2, .ratio = 4, .seed = 16},
         "back", {.chunk = 128}},
    };
    CHECK_ALL(rows);
}

/* Ratio 128 with global keys: every compressed row, 65 chunks, more than a wave has lanes. */
static void global_keys(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH,
          .tokens = 3,
          .tp = 4,
          .ratio = 128,
          .topk = 512,
          .seed = 17,
          .global_keys = true,
          .max_pos = 131072,
          .topk_cols = 300},
         "back", {0}             },
        {{.model_name = PRO,
          .tokens = 2,
          .tp = 8,
          .ratio = 128,
          .topk = 8192,
          .seed = 18,
          .global_keys = true,
          .max_pos = 1 << 20},
         "back", {.n_chunks = 65}},
    };
    CHECK_ALL(rows);
}

static void block_sizes_and_strides(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH,
          .tokens = 2,
          .tp = 4,
          .ratio = 4,
          .seed = 19,
          .block = 1,
          .comp_block = 1},
         "given", {0}},
        {{.model_name = FLASH,
          .tokens = 2,
          .tp = 4,
          .ratio = 4,
          .seed = 20,
          .block = 17,
          .comp_block = 3,
          .swa_gap = 40,
          .comp_gap = 8},
         "back",  {0}},
        {{.model_name = FLASH,
          .tokens = 2,
          .tp = 2,
          .ratio = 4,
          .seed = 21,
          .block = 256,
          .comp_block = 64,
          .weight_pad = 128},
         "back",  {0}},
    };
    CHECK_ALL(rows);
}

static void exact_inputs(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH41, .tokens = 2, .tp = 4, .ratio = 2, .seed = 22, .mode = REF_EXACT},
         "front", {0}},
        {{.model_name = PRO, .tokens = 3, .tp = 4, .ratio = 4, .seed = 23, .mode = REF_EXACT},
         "back",  {0}},
    };
    CHECK_ALL(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_v41_flash), cmocka_unit_test(ranks_of_v4_flash),
        cmocka_unit_test(ranks_of_v4_pro),    cmocka_unit_test(v4_pro_alone),
        cmocka_unit_test(token_tiles),        cmocka_unit_test(chunks_where_the_grid_fills),
        cmocka_unit_test(global_keys),        cmocka_unit_test(block_sizes_and_strides),
        cmocka_unit_test(exact_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
