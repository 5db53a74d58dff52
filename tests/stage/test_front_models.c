/* SPDX-License-Identifier: Apache-2.0 */
/* K1 whole: every model, rank, ratio and option, on both sides of each boundary of its plan. */
#include "front_checks.h"

#include <stdlib.h>
#include <string.h>

#include "gen/hooks.h"
#include "templates/common/wave.h"
#include "templates/kernels.h"

#define FLASH "v4-flash"
#define PRO "v4-pro"
#define FLASH41 "v41-flash"

/* One row a launch: what is asked, and what of the plan it is there for. */
struct row {
    struct ref_params params;
    const char *options[5];
    struct {
        int xq, wqb_tiles, wqb_rounds; /* 0: not looked at; xq: 1 + enum xq_mode */
    } plan;
};

static void check_outputs(struct rig *r)
{
    struct ref_front want;
    size_t s = (size_t)r->plan.s;
    assert_int_equal(ref_front(r->c, &want), 0);
    same_bytes(rig_arg(r, "qr_out"), want.qr, s * (size_t)r->plan.q_rank * 2, "qr");
    same_bytes(rig_arg(r, "q"), want.q, s * (size_t)r->plan.q_rows * 2, "q");
    check_cache(r, &want);
    if (r->plan.key.keys == COGEN_KEYS_FRONT)
        check_keys(r);
    ref_front_free(&want);
}

static void check(const struct row *row)
{
    struct rig r;
    rig_open(&r, &row->params, REF_FRONT, row->options);
    if (row->plan.xq)
        assert_int_equal(1 + (int)r.plan.xq, row->plan.xq);
    if (row->plan.wqb_tiles)
        assert_int_equal(r.plan.wqb.tiles, row->plan.wqb_tiles);
    if (row->plan.wqb_rounds)
        assert_int_equal(r.plan.wqb.rounds, row->plan.wqb_rounds);
    rig_build(&r, front_template);
    rig_run(&r, WORKGROUPS);
    check_outputs(&r);
    rig_close(&r);
}

static void check_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&rows[i]);
}
#define CHECK_ALL(rows) check_all(rows, sizeof(rows) / sizeof((rows)[0]))

static void tokens_of_v41_flash(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++) {
        static const int tokens[] = {1, 2, 5, 15, 16, 17, 32, 33, 48};
        struct row row = {
            .params = {.model_name = FLASH41,
                       .tokens = tokens[i],
                       .tp = 4,
                       .ratio = i % 3,
                       .seed = (uint32_t)i,
                       .pad = i % 2},
            .plan.xq = 1 + (tokens[i] <= 16 ? XQ_LOCAL : XQ_UNITS)
        };
        check(&row);
    }
}

static void ranks_of_v41_flash(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH41, .tokens = 3, .tp = 2, .ratio = 1, .seed = 1},
         {0},
         {.wqb_tiles = 4}                 },
        {{.model_name = FLASH41, .tokens = 16, .tp = 1, .ratio = 0, .seed = 2},
         {0},
         {.wqb_tiles = 8, .wqb_rounds = 1}},
    };
    CHECK_ALL(rows);
}

static void ranks_of_v4_flash(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH, .tokens = 1, .tp = 4, .ratio = 4, .seed = 3},                         {0}, {.wqb_tiles = 2}},
        {{.model_name = FLASH, .tokens = 17, .tp = 2, .ratio = 128, .seed = 4, .global_keys = true},
         {"keys", "front"},
         {.xq = 1 + XQ_UNITS}                                                                                             },
        {{.model_name = FLASH, .tokens = 15, .tp = 1, .ratio = 0, .seed = 5},
         {0},
         {.wqb_tiles = 8}                                                                                                 },
    };
    CHECK_ALL(rows);
}

static void ranks_of_v4_pro(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = PRO, .tokens = 1, .tp = 8, .ratio = 4, .seed = 6},                {0}, {.wqb_tiles = 2} },
        {{.model_name = PRO, .tokens = 17, .tp = 8, .ratio = 0, .seed = 7},
         {"keys", "front"},
         {.xq = 1 + XQ_UNITS}                                                                                   },
        {{.model_name = PRO, .tokens = 9, .tp = 4, .ratio = 4, .seed = 8},                {0}, {.wqb_tiles = 4} },
        {{.model_name = PRO, .tokens = 9, .tp = 2, .ratio = 4, .seed = 9},
         {0},
         {.wqb_tiles = 8, .wqb_rounds = 1}                                                                      },
        {{.model_name = PRO, .tokens = 2, .tp = 1, .ratio = 4, .seed = 10},               {0}, {.wqb_rounds = 2}},
        {{.model_name = PRO, .tokens = 48, .tp = 8, .ratio = 4, .seed = 11, .pad = true}, {0}, {0}              },
    };
    CHECK_ALL(rows);
}

static void layouts(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{.model_name = FLASH41, .tokens = 4, .tp = 4, .ratio = 2, .seed = 12, .shuffled = true},
         {0},
         {0}},
        {{.model_name = FLASH41,
          .tokens = 18,
          .tp = 4,
          .ratio = 2,
          .seed = 13,
          .weight_pad = 256,
          .x_pad = 24,
          .block = 7,
          .comp_block = 5,
          .swa_gap = 4096,
          .pad = true},
         {0},
         {0}},
        {{.model_name = PRO,
          .tokens = 3,
          .tp = 8,
          .ratio = 128,
          .seed = 14,
          .global_keys = true,
          .shuffled = true,
          .topk_cols = 200,
          .max_pos = 60000},
         {"keys", "front"},
         {0}},
    };
    CHECK_ALL(rows);
}

/* ---- option x = x8: another kernel's stage publishes the rows */

static void put_x8(struct rig *r)
{
    struct ref_front want;
    size_t hidden = (size_t)r->plan.hidden, codes = hidden / 64;
    assert_int_equal(ref_front(r->c, &want), 0);
    emu_mem_copy(r->device, rig_scratch(r, "x8"), want.x8, (size_t)r->plan.s * hidden);
    for (size_t unit = 0; unit < 2 * (size_t)r->plan.s; unit++) {
        emu_mem_copy(r->device, (uint8_t *)rig_scratch(r, "x8s") + unit * (size_t)r->plan.x8s_half,
                     want.x8s + unit * codes, codes);
        rig_put_pair(r, "xrdy", unit, 1);
    }
    ref_front_free(&want);
}

static void rows_given(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ref_params params = {
            .model_name = FLASH41, .tokens = i ? 20 : 4, .tp = 4, .ratio = 2, .seed = 15};
        struct rig r;
        rig_open(&r, &params, REF_FRONT, (const char *const[]){"x", "x8", NULL});
        assert_int_equal(r.plan.xq, XQ_GIVEN);
        put_x8(&r);
        rig_build(&r, front_template);
        rig_run(&r, WORKGROUPS);
        check_outputs(&r);
        rig_close(&r);
    }
}

/* ---- launches in a row: the rows of each come in another order, nothing is cleared between them
 */

static void reverse_rows(struct rig *r)
{
    size_t row = r->c->x_stride * 2;
    uint8_t *x = (uint8_t *)r->c->x, *kept = malloc(row);
    assert_non_null(kept);
    for (size_t a = 0, z = (size_t)r->plan.s - 1; a < z; a++, z--) {
        memcpy(kept, x + a * row, row);
        memcpy(x + a * row, x + z * row, row);
        memcpy(x + z * row, kept, row);
    }
    free(kept);
    emu_mem_copy(r->device, rig_arg(r, "x"), x, rig_arg_size(r, "x"));
}

static void launches_in_a_row(void **state)
{
    (void)state;
    static const int tokens[] = {3, 18};
    for (int i = 0; i < 2; i++) {
        struct ref_params params = {
            .model_name = FLASH41, .tokens = tokens[i], .tp = 4, .ratio = 2, .seed = 16};
        struct rig r;
        rig_open(&r, &params, REF_FRONT, NULL);
        rig_build(&r, front_template);
        for (int launch = 0; launch < 3; launch++) {
            rig_run(&r, WORKGROUPS);
            check_outputs(&r);
            reverse_rows(&r);
            rig_next_epoch(&r);
        }
        rig_close(&r);
    }
}

/* ---- option timeline */

static void stamps_are_in_order(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = FLASH41, .tokens = 2, .tp = 4, .ratio = 2, .seed = 17};
    struct rig r;
    rig_open(&r, &params, REF_FRONT, (const char *const[]){"timeline", "1", NULL});
    rig_build(&r, front_template);
    rig_run(&r, WORKGROUPS);
    check_outputs(&r);
    const uint64_t *tl = rig_arg(&r, "tl");
    const char *const *names = plan_stamps(COGEN_FRONT);
    for (int g = 0; g < WORKGROUPS; g++) {
        assert_true(tl[g * STAMPS] > 0);
        for (int i = 1; names[i]; i++)
            assert_true(tl[g * STAMPS + i] >= tl[g * STAMPS + i - 1]);
    }
    rig_close(&r);
}

/* ---- hooks: a caller's stages around wqkv's loads */

static void mark(Builder *b, void *context, int word)
{
    Val step = emit(b, v_add_u32, mov_v(b, imm(*(int *)context + word)), mov_v(b, b->wg));
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    Val byte = mov_v(b, s_mul_add(b, b->wg, STAMPS * 8, imm(4 * word)));
    emit_void(b, global_store_dword, byte, step, arg(b, "tl"));
    lanes_end(b, &one);
}

static void mark_before(Builder *b, void *context)
{
    mark(b, context, 0);
}

static void mark_after(Builder *b, void *context)
{
    mark(b, context, 1);
}

static void hooked_template(Builder *b)
{
    static int base = 1000;
    static const struct cogen_hooks hooks = {
        .context = &base, .before_wqkv = mark_before, .after_wqkv = mark_after};
    b->hooks = &hooks;
    front_template(b);
}

static void hooks_run_in_every_workgroup(void **state)
{
    (void)state;
    static const int tokens[] = {2, 17};
    for (int i = 0; i < 2; i++) {
        struct ref_params params = {
            .model_name = FLASH41, .tokens = tokens[i], .tp = 4, .ratio = 2, .seed = 18};
        struct rig r;
        rig_open(&r, &params, REF_FRONT, NULL);
        rig_build(&r, hooked_template);
        rig_run(&r, WORKGROUPS);
        check_outputs(&r);
        const uint32_t *tl = rig_arg(&r, "tl");
        for (uint32_t g = 0; g < WORKGROUPS; g++)
            for (uint32_t word = 0; word < 2; word++)
                assert_int_equal(tl[g * STAMPS * 2 + word], 1000 + word + g);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_v41_flash),
        cmocka_unit_test(ranks_of_v41_flash),
        cmocka_unit_test(ranks_of_v4_flash),
        cmocka_unit_test(ranks_of_v4_pro),
        cmocka_unit_test(layouts),
        cmocka_unit_test(rows_given),
        cmocka_unit_test(launches_in_a_row),
        cmocka_unit_test(stamps_are_in_order),
        cmocka_unit_test(hooks_run_in_every_workgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
