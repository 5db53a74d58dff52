/* SPDX-License-Identifier: Apache-2.0 */
/* K2's projections and its epoch: wo_a and wo_b, each as a launch of its own over inputs put where
 * the stage before would have left them, and the two together with their loads in the kernel's
 * order. */
#include "back_checks.h"

#include "gen/hooks.h"
#include "templates/back/output.h"
#include "templates/common/wave.h"

enum { Q_AND_CACHES = REF_Q | REF_SWA | REF_COMP };

/* 64 bits at random, the upper ones the better. */
static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state;
}

/* ---- wo_a */

static void woa_template(Builder *b)
{
    Back k;
    Output woa;
    back_begin(&k, b);
    woa_begin(&k, &woa);
    woa_weights(&woa, 0);
    woa_stage(&woa);
    kernel_end(b);
}

/* XO of small numbers, wo_a's scales near 1, so that with the exact mode's weights every sum is
 * exact in fp32 whatever its order: what differs is then not a rounding. */
static void exact_attention(struct back_stage *k)
{
    static const uint8_t values[8] = {0x00, 0x38, 0x40, 0x44, 0xb8, 0xc0, 0xc4, 0x30};
    size_t n = (size_t)k->r.plan.s * (size_t)k->r.plan.q_rows;
    struct ref_weight *w = &k->r.c->woa;
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = draw(&state);
        k->want.xo[i] = values[x >> 61];
        k->want.xos[i / 32] = (uint8_t)(126 + (x >> 33) % 3);
    }
    size_t codes = rig_arg_size(&k->r, "woa_s");
    for (size_t i = 0; i < codes; i++)
        w->codes[i] = (uint8_t)(126 + (draw(&state) >> 33) % 3);
    emu_mem_copy(k->r.device, rig_arg(&k->r, "woa_s"), w->codes, codes);
}

/* Of each wave's steps the first and the third cancel, 2^20 times as large as the second, which is
 * then all of the sum, and lost where sums are kept in fp32. */
static void cancelling_attention(struct back_stage *k)
{
    static const struct {
        uint8_t value, code;
    } of_step[] = {
        {0x78, 139}, /* 2^8 2^12 */
        {0x38, 127},
        {0xf8, 139}
    };
    const struct gemv_shape *shape = &k->r.plan.woa;
    struct ref_weight *w = &k->r.c->woa;
    size_t n = (size_t)k->r.plan.s * (size_t)k->r.plan.q_rows, width = (size_t)shape->k;
    for (size_t i = 0; i < n; i++) {
        size_t step = i % width / STEP / (size_t)shape->waves;
        k->want.xo[i] = step < 3 ? of_step[step].value : 0;
        k->want.xos[i / 32] = step < 3 ? of_step[step].code : 127;
    }
    size_t third = 2 * STEP * (size_t)shape->waves, end = 3 * STEP * (size_t)shape->waves;
    for (size_t row = 0; row < w->n; row++)
        for (size_t i = third; i < end; i++)
            w->bytes[ref_weight_at(w, row, i)] = w->bytes[ref_weight_at(w, row, i - third)];
    emu_mem_copy(k->r.device, rig_arg(&k->r, "woa"), w->bytes, w->size);
}

static void woa_launch(struct ref_params params, void (*attention)(struct back_stage *k))
{
    struct back_stage k;
    back_open(&k, &params, Q_AND_CACHES | REF_WOA, "given");
    back_attention(&k);
    if (attention)
        attention(&k);
    assert_int_equal(ref_woa(k.r.c, &k.want), 0);
    put_attention(&k);
    back_run(&k, woa_template);
    check_product(&k);
    back_close(&k);
}

static void woa_case(struct ref_params params)
{
    woa_launch(params, params.mode == REF_EXACT ? exact_attention : NULL);
}

static void woa_token_tiles(void **state)
{
    (void)state;
    static const int tokens[] = {1, 17, 33};
    for (int i = 0; i < 3; i++) {
        struct ref_params params = {
            .model_name = "v41-flash", .tokens = tokens[i], .tp = 4, .seed = 20, .mode = REF_EXACT};
        woa_case(params);
        params.mode = REF_RANDOM;
        params.weight_pad = 48;
        woa_case(params);
    }
}

/* Two tasks a workgroup, tiles of 8 tokens. */
static void woa_goes_round(void **state)
{
    (void)state;
    woa_case((struct ref_params){
        .model_name = "v4-pro", .tokens = 9, .tp = 1, .seed = 21, .mode = REF_EXACT});
}

static void woa_rounds_once(void **state)
{
    (void)state;
    woa_launch(
        (struct ref_params){
            .model_name = "v4-flash", .tokens = 2, .tp = 4, .seed = 28, .mode = REF_EXACT},
        cancelling_attention);
}

/* ---- wo_b */

static void wob_template(Builder *b)
{
    Back k;
    Output wob;
    back_begin(&k, b);
    wob_begin(&k, &wob);
    wob_weights(&wob, 0);
    wob_stage(&wob);
    kernel_end(b);
}

/* X8B of any bytes but NaN. */
static void any_product(struct back_stage *k)
{
    size_t n = (size_t)k->r.plan.s * (size_t)k->r.plan.o_rows;
    uint64_t state = 2;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = draw(&state);
        k->want.x8b[i] = (uint8_t)((x >> 56) % 0x7f | (x >> 32 & 0x80));
        k->want.x8bs[i / 32] = (uint8_t)(115 + (x >> 40) % 12);
    }
}

static void wob_case(struct ref_params params)
{
    struct back_stage k;
    back_open(&k, &params, Q_AND_CACHES | REF_WOB, "given");
    back_attention(&k);
    any_product(&k);
    assert_int_equal(ref_wob(k.r.c, &k.want), 0);
    put_product(&k);
    back_run(&k, wob_template);
    check_out(&k);
    back_close(&k);
}

static void wob_one_task(void **state)
{
    (void)state;
    wob_case((struct ref_params){.model_name = "v4-flash", .tokens = 17, .tp = 2, .seed = 22});
}

static void wob_two_tasks(void **state)
{
    (void)state;
    wob_case((struct ref_params){
        .model_name = "v41-flash", .tokens = 33, .tp = 4, .seed = 23, .weight_pad = 16});
    wob_case((struct ref_params){.model_name = "v4-pro", .tokens = 1, .tp = 8, .seed = 23});
}

static void wob_goes_round(void **state)
{
    (void)state;
    wob_case((struct ref_params){
        .model_name = "v4-pro", .tokens = 2, .tp = 1, .seed = 24}); /* rows stay in LDS */
    wob_case((struct ref_params){
        .model_name = "v4-pro", .tokens = 9, .tp = 1, .seed = 24}); /* and are read again */
}

/* ---- both, as the kernel has them: wo_b's weights ahead of wo_a or behind it */

static void outputs_template(Builder *b)
{
    Back k;
    back_begin(&k, b);
    output_stages(&k);
    kernel_end(b);
}

static void outputs_case(struct ref_params params, bool early)
{
    static const struct keys none = {0, 0};
    struct back_stage k;
    back_open(&k, &params, Q_AND_CACHES | REF_WOA | REF_WOB, "given");
    assert_int_equal(k.r.plan.early_wob, early);
    back_rows(&k, &none, 1);
    back_attention(&k);
    exact_attention(&k);
    assert_int_equal(ref_woa(k.r.c, &k.want) || ref_wob(k.r.c, &k.want), 0);
    put_attention(&k);
    back_run(&k, outputs_template);
    check_product(&k);
    check_out(&k);
    back_close(&k);
}

static void outputs_in_the_kernels_order(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = "v41-flash", .tokens = 5, .tp = 4, .ratio = 2, .seed = 25, .mode = REF_EXACT};
    outputs_case(params, true);
    params.tokens = 33;
    outputs_case(params, false);
}

/* ---- the flags that they wait for */

static void every_flag_is_awaited(void **state)
{
    (void)state;
    const struct ref_params params = {.model_name = "v41-flash", .tokens = 2, .tp = 2, .seed = 26};
    struct back_stage k;
    back_open(&k, &params, Q_AND_CACHES | REF_WOA | REF_WOB, "given");
    back_attention(&k);
    assert_int_equal(ref_woa(k.r.c, &k.want), 0);
    back_hangs(&k, "crdy", put_attention, woa_template);
    back_hangs(&k, "ardy", put_product, wob_template);
    back_close(&k);
}

/* ---- epoch */

/* Where the epoch is about to move: the marks and the word as they are then, to `out`. */
static void note_marks(Builder *b, void *context)
{
    (void)context;
    Lanes markers = lanes_if(b, tid_below(b, WORKGROUPS), true);
    Val byte = emit(b, v_lshlrev_b32, imm(2), b->tid);
    Val mark = emit(b, global_load_dword, byte, arg(b, "epoch"), off(EPOCH_MARKS * 4), SC1);
    Val word = emit(b, global_load_dword, mov_v(b, imm(0)), arg(b, "epoch"), SC1);
    emit_void(b, global_store_dword, byte, mark, arg(b, "out"));
    emit_void(b, global_store_dword, byte, word, arg(b, "out"), off(WORKGROUPS * 4));
    lanes_end(b, &markers);
}

static void epoch_template(Builder *b)
{
    static const struct cogen_hooks hooks = {.epoch_reset = note_marks};
    Back k;
    b->hooks = &hooks;
    back_begin(&k, b);
    epoch_begin(&k);
    epoch_end(&k);
    kernel_end(b);
}

/* Every workgroup has marked the epoch by the time that it moves, and not before. */
static void epoch_moves_behind_the_marks(void **state)
{
    (void)state;
    const struct ref_params params = {.model_name = "v41-flash", .tokens = 1, .tp = 4, .seed = 27};
    struct back_stage k;
    back_open(&k, &params, 0, "given");
    rig_build(&k.r, epoch_template);
    const uint32_t *epoch = rig_arg(&k.r, "epoch"), *noted = rig_arg(&k.r, "out");
    for (uint32_t e = RIG_EPOCH; e < RIG_EPOCH + 4; e++) {
        rig_run(&k.r, WORKGROUPS);
        assert_int_equal(epoch[0], e + 1);
        for (int i = 1; i < EPOCH_MARKS; i++)
            assert_int_equal(epoch[i], 0);
        for (int i = 0; i < WORKGROUPS; i++) {
            assert_int_equal(epoch[EPOCH_MARKS + i], e + 1);
            assert_int_equal(noted[i], e + 1);
            assert_int_equal(noted[WORKGROUPS + i], e);
        }
    }
    back_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(woa_token_tiles),       cmocka_unit_test(woa_goes_round),
        cmocka_unit_test(wob_one_task),          cmocka_unit_test(wob_two_tasks),
        cmocka_unit_test(wob_goes_round),        cmocka_unit_test(outputs_in_the_kernels_order),
        cmocka_unit_test(every_flag_is_awaited), cmocka_unit_test(epoch_moves_behind_the_marks),
        cmocka_unit_test(woa_rounds_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
