/* SPDX-License-Identifier: Apache-2.0 */
/* K1's stages, each as a launch of its own over inputs put where the stage before would have left
 * them, and wqkv's partial sums as a whole launch leaves them. */
#include "front_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "templates/common/kt.h"
#include "templates/common/wave.h"
#include "templates/front/front.h"
#include "templates/kernels.h"
#include "tests/ref/front.h"
#include "tests/ref/gemv.h"
#include "tests/ref/num.h"

static void begin(Front *f, Builder *b)
{
    *f = (Front){.b = b, .p = b->plan};
    stage(b, "test");
    args_load(b);
    mailbox_load(b, &f->mb);
}

/* ---- xq */

static void xq_template(Builder *b)
{
    Front f;
    begin(&f, b);
    xq_stage(&f);
    kernel_end(b);
}

static void check_x8(struct rig *r, const struct ref_front *want)
{
    size_t hidden = (size_t)r->plan.hidden, half = hidden / 2;
    const uint8_t *x8 = rig_scratch(r, "x8"), *x8s = rig_scratch(r, "x8s");
    same_bytes(x8, want->x8, (size_t)r->plan.s * hidden, "X8");
    for (size_t unit = 0; unit < 2 * (size_t)r->plan.s; unit++) {
        uint32_t value = 0;
        same_bytes(x8s + unit * (size_t)r->plan.x8s_half, want->x8s + unit * half / 32, half / 32,
                   "X8S");
        assert_true(rig_pair(r, "xrdy", unit, &value));
        assert_int_equal(value, 1);
    }
}

/* Values of every size a row may hold, in place of the case's. */
static void awkward_rows(struct rig *r)
{
    uint16_t *x = r->c->x;
    size_t stride = r->c->x_stride;
    for (size_t i = 0; i < 32; i++) {
        x[i] = 0;                                    /* a group of zeros */
        x[32 + i] = (uint16_t)(i & 1 ? 0x8000 : 0);  /* of both zeros */
        x[64 + i] = (uint16_t)(i + 1);               /* of denormals */
        x[96 + i] = (uint16_t)(0x7f7f - i);          /* of the largest */
        x[128 + i] = (uint16_t)(0x3fe0 + (i == 5));  /* 1.75, its last bit */
        x[stride + i] = (uint16_t)(0x0480 + 37 * i); /* around the smallest scale */
        x[stride + 32 + i] = (uint16_t)((i & 1) << 15 | 0x4300 >> (i / 4 % 3));
    }
    emu_mem_copy(r->device, rig_arg(r, "x"), x, rig_arg_size(r, "x"));
}

static void xq_case(const char *model, int tokens, int tp, int pad)
{
    struct ref_params params = {
        .model_name = model, .tokens = tokens, .tp = tp, .seed = 3, .x_pad = pad};
    struct rig r;
    struct ref_front want;
    rig_open(&r, &params, REF_X | REF_WQKV | REF_WQB, (const char *const[]){"keys", "given", NULL});
    awkward_rows(&r);
    rig_build(&r, xq_template);
    rig_run(&r, WORKGROUPS);
    assert_int_equal(ref_front(r.c, &want), 0);
    check_x8(&r, &want);
    ref_front_free(&want);
    rig_close(&r);
}

static void xq_on_free_workgroups(void **state)
{
    (void)state;
    xq_case("v41-flash", 17, 4, 0); /* 34 units on 32 workgroups: some have two */
    xq_case("v4-flash", 48, 4, 40);
}

static void xq_on_every_workgroup(void **state)
{
    (void)state;
    xq_case("v4-pro", 18, 8, 8);
}

/* ---- wqkv: what a whole launch leaves in QKVP */

/* The sum as f32, and what it lacks: summed up by the MFMAs in f32 it would lack more. */
static void check_partial(struct rig *r, size_t at, double want)
{
    uint32_t sum, rest;
    if (!rig_pair(r, "qkvp", 2 * at, &sum) || !rig_pair(r, "qkvp", 2 * at + 1, &rest))
        fail_msg("partial %zu was not written", at);
    double got = (double)ref_bits_f32(sum) + (double)ref_bits_f32(rest);
    if (ref_bits_f32(sum) != (float)want || !(fabs(got - want) <= 1e-11 * (1 + fabs(want))))
        fail_msg("partial %zu: %.17g, not %.17g", at, got, want);
}

static void check_partials(struct rig *r, const uint8_t *x8, const uint8_t *x8s)
{
    const struct plan *p = &r->plan;
    size_t s = (size_t)p->s, rows = (size_t)p->qkv_rows, half = (size_t)p->k_half;
    double *want = malloc(s * rows * sizeof *want);
    assert_non_null(want);
    for (size_t part = 0; part < 2; part++) {
        struct ref_gemv g = {.w = &r->c->wqkv,
                             .rows = rows,
                             .k0 = part * half,
                             .k1 = (part + 1) * half,
                             .x8 = x8 + part * half,
                             .x8s = x8s + part * half / 32,
                             .x8_stride = 2 * half,
                             .x8s_stride = half / 16,
                             .tokens = s,
                             .out = want,
                             .out_stride = rows};
        assert_int_equal(ref_gemv(&g), 0);
        for (size_t i = 0; i < s * rows; i++)
            check_partial(r, part * s * rows + i, want[i]);
    }
    free(want);
}

static void wqkv_case(struct ref_params params, const char *const *options)
{
    struct rig r;
    struct ref_front want;
    rig_open(&r, &params, REF_FRONT, options);
    rig_build(&r, front_template);
    rig_run(&r, WORKGROUPS);
    assert_int_equal(ref_front(r.c, &want), 0);
    check_partials(&r, want.x8, want.x8s);
    ref_front_free(&want);
    rig_close(&r);
}

static void wqkv_quantizes_its_own_half(void **state)
{
    (void)state;
    wqkv_case(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 5, .tp = 4, .seed = 2, .mode = REF_EXACT},
        NULL);
}

static void wqkv_over_token_tiles(void **state)
{
    (void)state;
    wqkv_case(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 33, .tp = 4, .seed = 2, .mode = REF_EXACT},
        NULL);
    wqkv_case((struct ref_params){.model_name = "v4-pro", .tokens = 17, .tp = 8, .seed = 2}, NULL);
}

static void wqkv_shuffled_or_padded(void **state)
{
    (void)state;
    wqkv_case(
        (struct ref_params){
            .model_name = "v4-flash", .tokens = 2, .tp = 4, .seed = 9, .shuffled = true},
        NULL);
    wqkv_case(
        (struct ref_params){
            .model_name = "v4-flash", .tokens = 2, .tp = 4, .seed = 9, .weight_pad = 48},
        NULL);
}

/* ---- qkv: halves and rests that sum to the reference's product exactly */

static void qkv_template(Builder *b)
{
    Front f;
    begin(&f, b);
    mailbox_tag(b, &f.mb);
    qkv_stage(&f);
    kernel_end(b);
}

static void put_halves(struct rig *r, const float *y)
{
    size_t n = (size_t)r->plan.s * (size_t)r->plan.qkv_rows;
    uint32_t *pairs = malloc(2 * n * 16);
    assert_non_null(pairs);
    for (size_t i = 0; i < n; i++) {
        const float parts[2][2] = {
            {0.75f * y[i], y[i] / 64},
            {0.25f * y[i], y[i] / 32}
        };
        for (size_t half = 0; half < 2; half++) {
            uint32_t *put = pairs + (half * n + i) * 4;
            put[0] = ref_f32_bits(parts[half][0] - parts[half][1]);
            put[2] = ref_f32_bits(parts[half][1]);
            put[1] = put[3] = rig_tag(r);
        }
    }
    emu_mem_copy(r->device, rig_scratch(r, "qkvp"), pairs, 2 * n * 16);
    free(pairs);
}

/* QX8 is the quantization of the very row that qr_out holds. */
static void check_latent(struct rig *r, const struct ref_front *want)
{
    size_t s = (size_t)r->plan.s, n = (size_t)r->plan.q_rank;
    const uint16_t *qr = rig_arg(r, "qr_out");
    same_bytes(qr, want->qr, s * n * 2, "qr");
    float *row = malloc(n * sizeof *row);
    uint8_t *bytes = malloc(n), *codes = malloc(n / 32);
    assert_true(row && bytes && codes);
    for (size_t t = 0; t < s; t++) {
        uint32_t value = 0;
        for (size_t i = 0; i < n; i++)
            row[i] = ref_bf16_f32(qr[t * n + i]);
        ref_mx_quant(row, 1, n, bytes, codes);
        same_bytes((uint8_t *)rig_scratch(r, "qx8") + t * n, bytes, n, "QX8");
        same_bytes((uint8_t *)rig_scratch(r, "qx8s") + t * (size_t)r->plan.qx8s_row, codes, n / 32,
                   "QX8S");
        assert_true(rig_pair(r, "qrdy", t, &value));
        assert_int_equal(value, 1);
    }
    free(row);
    free(bytes);
    free(codes);
}

static void qkv_launch(struct ref_params params, void (*inputs)(struct rig *r))
{
    struct rig r;
    struct ref_front want;
    rig_open(&r, &params, REF_FRONT, (const char *const[]){"keys", "given", NULL});
    if (inputs)
        inputs(&r);
    assert_int_equal(ref_front(r.c, &want), 0);
    put_halves(&r, want.y);
    rig_build(&r, qkv_template);
    rig_run(&r, WORKGROUPS);
    check_latent(&r, &want);
    check_cache(&r, &want);
    ref_front_free(&want);
    rig_close(&r);
}

static void qkv_case(struct ref_params params)
{
    qkv_launch(params, NULL);
}

/* The first token's values are finite, their squares are not: its row is zero. */
static void huge_row(struct rig *r)
{
    for (int i = 0; i < r->plan.hidden; i++)
        r->c->x[i] = (uint16_t)(r->c->x[i] % 0x80 | 227 << 7); /* 2^100 .. */
}

static void qkv_squares_past_f32(void **state)
{
    (void)state;
    qkv_launch((struct ref_params){.model_name = "v41-flash", .tokens = 2, .tp = 4, .seed = 10},
               huge_row);
}

static void qkv_norms_and_records(void **state)
{
    (void)state;
    qkv_case((struct ref_params){
        .model_name = "v41-flash", .tokens = 7, .tp = 4, .seed = 4, .pad = true});
    qkv_case(
        (struct ref_params){.model_name = "v4-pro", .tokens = 3, .tp = 8, .seed = 5, .block = 1});
}

static void qkv_into_odd_blocks(void **state)
{
    (void)state;
    qkv_case((struct ref_params){.model_name = "v4-flash",
                                 .tokens = 48,
                                 .tp = 4,
                                 .seed = 6,
                                 .pad = true,
                                 .block = 13,
                                 .swa_gap = 1000});
}

/* ---- wqb */

static void wqb_template(Builder *b)
{
    Front f;
    begin(&f, b);
    mailbox_tag(b, &f.mb);
    wqb_begin(&f);
    wqb_loads(&f);
    wqb_stage(&f);
    kernel_end(b);
}

static void put_latent(struct rig *r, const struct ref_front *want)
{
    size_t n = (size_t)r->plan.q_rank;
    for (size_t t = 0; t < (size_t)r->plan.s; t++) {
        emu_mem_copy(r->device, (uint8_t *)rig_scratch(r, "qx8") + t * n, want->qx8 + t * n, n);
        emu_mem_copy(r->device, (uint8_t *)rig_scratch(r, "qx8s") + t * (size_t)r->plan.qx8s_row,
                     want->qx8s + t * n / 32, n / 32);
        rig_put_pair(r, "qrdy", t, 1);
    }
}

static void wqb_case(struct ref_params params)
{
    struct rig r;
    struct ref_front want;
    rig_open(&r, &params, REF_FRONT, (const char *const[]){"keys", "given", NULL});
    assert_int_equal(ref_front(r.c, &want), 0);
    put_latent(&r, &want);
    rig_build(&r, wqb_template);
    rig_run(&r, WORKGROUPS);
    same_bytes(rig_arg(&r, "q"), want.q, (size_t)r.plan.s * (size_t)r.plan.q_rows * 2, "q");
    ref_front_free(&want);
    rig_close(&r);
}

static void wqb_tiles_of_rows(void **state)
{
    (void)state;
    wqb_case(
        (struct ref_params){.model_name = "v4-pro", .tokens = 1, .tp = 8, .seed = 7}); /* 2 tiles */
    wqb_case(
        (struct ref_params){.model_name = "v41-flash", .tokens = 15, .tp = 2, .seed = 7}); /* 4 */
}

static void wqb_epilogue_goes_round(void **state)
{
    (void)state;
    wqb_case((struct ref_params){
        .model_name = "v41-flash", .tokens = 33, .tp = 1, .seed = 8, .weight_pad = 16});
}

static void wqb_weights_in_rounds(void **state)
{
    (void)state;
    wqb_case((struct ref_params){
        .model_name = "v4-pro", .tokens = 9, .tp = 1, .seed = 8}); /* rows stay in LDS */
    wqb_case((struct ref_params){
        .model_name = "v4-pro", .tokens = 18, .tp = 1, .seed = 8}); /* and are read again */
}

/* ---- kt */

static void kt_template(Builder *b)
{
    Mailbox mb = {0};
    stage(b, "test");
    args_load(b);
    bool publishes = b->plan->key.keys == COGEN_KEYS_BACK;
    if (publishes) {
        mailbox_load(b, &mb);
        mailbox_tag(b, &mb);
    }
    kt_stage(b, &mb, publishes);
    kernel_end(b);
}

static void kt_case(struct ref_params params, const char *kernel)
{
    struct rig r;
    rig_open(&r, &params, REF_KEYS, (const char *const[]){"kernel", kernel, "keys", kernel, NULL});
    rig_build(&r, kt_template);
    rig_run(&r, WORKGROUPS);
    check_keys(&r);
    rig_close(&r);
}

static void kt_window_only(void **state)
{
    (void)state;
    kt_case(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 5, .tp = 4, .seed = 1, .pad = true},
        "front");
}

static void kt_request_rows(void **state)
{
    (void)state;
    kt_case(
        (struct ref_params){
            .model_name = "v41-flash", .tokens = 48, .tp = 4, .ratio = 2, .seed = 1},
        "front");
    kt_case((struct ref_params){.model_name = "v41-flash",
                                .tokens = 9,
                                .tp = 4,
                                .ratio = 1,
                                .seed = 2,
                                .comp_block = 7,
                                .pad = true},
            "front");
    kt_case(
        (struct ref_params){
            .model_name = "v4-pro", .tokens = 9, .tp = 8, .ratio = 4, .seed = 3, .comp_block = 1},
        "back");
}

static void kt_cache_slots(void **state)
{
    (void)state;
    kt_case((struct ref_params){.model_name = "v4-flash",
                                .tokens = 12,
                                .tp = 4,
                                .ratio = 128,
                                .seed = 4,
                                .global_keys = true},
            "back");
    kt_case((struct ref_params){.model_name = "v4-pro",
                                .tokens = 12,
                                .tp = 8,
                                .ratio = 128,
                                .seed = 4,
                                .max_pos = 100000,
                                .global_keys = true,
                                .topk_cols = 700,
                                .pad = true},
            "front");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xq_on_free_workgroups),
        cmocka_unit_test(xq_on_every_workgroup),
        cmocka_unit_test(wqkv_quantizes_its_own_half),
        cmocka_unit_test(wqkv_over_token_tiles),
        cmocka_unit_test(wqkv_shuffled_or_padded),
        cmocka_unit_test(qkv_norms_and_records),
        cmocka_unit_test(qkv_into_odd_blocks),
        cmocka_unit_test(qkv_squares_past_f32),
        cmocka_unit_test(wqb_tiles_of_rows),
        cmocka_unit_test(wqb_epilogue_goes_round),
        cmocka_unit_test(wqb_weights_in_rounds),
        cmocka_unit_test(kt_window_only),
        cmocka_unit_test(kt_request_rows),
        cmocka_unit_test(kt_cache_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
