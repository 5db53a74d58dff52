/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's number formats, its corners, the layouts of its inputs, and the rules of
 * comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#include "ref/back.h"
#include "ref/compare.h"
#include "ref/front.h"
#include "ref/keys.h"
#include "ref/num.h"

static struct ref_case *make(const struct ref_params *p, unsigned parts)
{
    char err[256];
    struct ref_case *c = ref_case_new(p, parts, err, sizeof err);
    if (!c)
        fail_msg("%s", err);
    return c;
}

/* ---- number formats */

static void test_e4m3(void **state)
{
    (void)state;
    assert_true(ref_e4m3_decode(0x38) == 1.0);
    assert_true(ref_e4m3_decode(0x7E) == 448.0);
    assert_true(ref_e4m3_decode(0x01) == 0x1p-9);
    assert_true(ref_e4m3_decode(0x88) == -0x1p-6);
    assert_true(isnan(ref_e4m3_decode(0x7F)) && isnan(ref_e4m3_decode(0xFF)));
    for (int b = 0; b < 256; b++)
        if ((b & 0x7F) != 0x7F)
            assert_int_equal(ref_e4m3((float)ref_e4m3_decode((uint8_t)b)), b);
    /* between neighbours: nearest, and the even code at the middle */
    for (int b = 0; b < 0x7E; b++) {
        double lo = ref_e4m3_decode((uint8_t)b), hi = ref_e4m3_decode((uint8_t)(b + 1));
        float middle = (float)((lo + hi) / 2);
        assert_int_equal(ref_e4m3(middle), b + (b & 1));
        assert_int_equal(ref_e4m3(nextafterf(middle, 0)), b);
        assert_int_equal(ref_e4m3(-nextafterf(middle, 1000)), (b + 1) | 0x80);
    }
    assert_int_equal(ref_e4m3(1e9f), 0x7E);
    assert_int_equal(ref_e4m3(-INFINITY), 0xFE);
}

static void test_bf16(void **state)
{
    (void)state;
    assert_int_equal(ref_bf16(1.0f), 0x3F80);
    assert_int_equal(ref_bf16(ref_bits_f32(0x3F808000)), 0x3F80); /* middle, even below */
    assert_int_equal(ref_bf16(ref_bits_f32(0x3F818000)), 0x3F82); /* middle, even above */
    assert_int_equal(ref_bf16(ref_bits_f32(0x3F808001)), 0x3F81);
    assert_int_equal(ref_bf16(ref_bits_f32(0x7F7FFFFF)), 0x7F80); /* up to infinity */
    assert_int_equal(ref_bf16(ref_bits_f32(0xFF800001)), 0x7FC0);
    assert_int_equal(ref_bf16(ref_bits_f32(0x00010000)), 0x0001); /* denormals are kept */
}

static void test_mx_codes(void **state)
{
    (void)state;
    float x[32] = {0};
    uint8_t bytes[32], code;
    ref_mx_quant(x, 1, 32, bytes, &code);
    assert_int_equal(code,
                     1); /* smallest normal / 448 is a denormal: its exponent field is 0, plus 1 */
    assert_int_equal(bytes[0], 0);
    x[3] = -448.0f;
    ref_mx_quant(x, 1, 32, bytes, &code);
    assert_int_equal(code, 127);
    assert_int_equal(bytes[3], 0xFE);
    x[3] = nextafterf(448.0f, 1000.0f);
    ref_mx_quant(x, 1, 32, bytes, &code);
    assert_int_equal(code, 128);
    assert_int_equal(bytes[3], 0x76); /* 224 */
    x[3] = INFINITY;
    ref_mx_quant(x, 1, 32, bytes, &code);
    assert_int_equal(code, 254);
    uint8_t nope[64];
    float zeros[64] = {0};
    /* 1e-4 / 448 = 1.87 * 2^-23: a record's code of a zero block */
    assert_int_equal(ref_quant_block(zeros, 64, 1e-4f, nope), 127 - 22);
}

/* ---- cases */

static void refused(struct ref_params p, const char *word)
{
    char err[256] = "";
    struct ref_case *c = ref_case_new(&p, REF_KEYS, err, sizeof err);
    if (c)
        fail_msg("not refused: %s", word);
    if (!strstr(err, word))
        fail_msg("'%s' does not speak of %s", err, word);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct ref_params good = {.model_name = "v4-flash", .tokens = 4, .tp = 4, .ratio = 4};
    struct ref_params p = good;
    p.model_name = "v5";
    refused(p, "v5");
    p = good, p.tokens = 0;
    refused(p, "tokens 0");
    p = good, p.tokens = 49;
    refused(p, "tokens 49");
    p = good, p.tp = 8; /* 8 heads a rank */
    refused(p, "tp 8");
    p = good, p.tp = 3;
    refused(p, "tp 3");
    p = good, p.ratio = -1;
    refused(p, "ratio -1");
    p = good, p.max_pos = 100;
    refused(p, "max-pos 100");
    p = good, p.block = -5;
    refused(p, "block -5");
    struct ref_model odd = *ref_model_find("v4-flash");
    odd.hidden = 1000;
    p = good, p.model = &odd;
    refused(p, "hidden 1000");
    odd = *ref_model_find("v4-pro");
    odd.heads = 256;
    p = good, p.tp = 1, p.model = &odd;
    refused(p, "256 heads");
}

/* Shuffle order, row gaps and block gaps move bytes and change no value. */
static void test_layouts(void **state)
{
    (void)state;
    struct ref_params p = {.model_name = "tiny", .tokens = 5, .tp = 1, .ratio = 4, .seed = 3};
    struct ref_case *plain = make(&p, REF_LAYER);
    p.shuffled = true;
    p.weight_pad = 64;
    p.x_pad = 24;
    p.swa_gap = 8192 + 64;
    p.comp_gap = 128;
    struct ref_case *other = make(&p, REF_LAYER);
    assert_int_equal(other->wqb.stride, other->wqb.k + 64);
    assert_int_equal(other->wqb.bytes[other->wqb.k], 0xFF);
    assert_int_equal(other->x[other->model.hidden], 0xFFFF);
    assert_int_equal(other->swa.bytes[64 * REF_RECORD], 0xFF);
    /* byte (17, 40): group 1, block 1, first half, row 1 of it, column 8 */
    assert_int_equal(other->wqkv.bytes[(1 * (512 / 32) + 1) * 512 + 1 * 16 + 8],
                     plain->wqkv.bytes[17 * 512 + 40]);

    size_t s = 5, kt_size = s * (size_t)plain->keys;
    int32_t *kt = calloc(kt_size, 4), klen[10];
    struct ref_front f[2];
    struct ref_back b[2];
    struct ref_case *cases[2] = {plain, other};
    for (int i = 0; i < 2; i++) {
        ref_key_table(cases[i], kt, klen);
        assert_int_equal(ref_front(cases[i], &f[i]), 0);
        ref_front_insert(cases[i], &f[i]);
        assert_int_equal(ref_back(cases[i], f[i].q, kt, klen, &b[i]), 0);
    }
    assert_memory_equal(f[0].q, f[1].q, s * (size_t)plain->q_rows * 2);
    assert_memory_equal(f[0].records, f[1].records, s * REF_RECORD);
    assert_memory_equal(b[0].out, b[1].out, s * (size_t)plain->model.hidden * 2);
    for (int i = 0; i < 2; i++) {
        ref_front_free(&f[i]);
        ref_back_free(&b[i]);
        ref_case_free(cases[i]);
    }
    free(kt);
}

static void test_chunk_keys(void **state)
{
    (void)state;
    assert_int_equal(ref_chunk_keys(32, 32, 512), 64); /* 32 x 8 units fill the grid */
    assert_int_equal(ref_chunk_keys(32, 32, 513), 128);
    assert_int_equal(ref_chunk_keys(32, 33, 512), 128);
    assert_int_equal(ref_chunk_keys(16, 1, 128), 128);
    assert_int_equal(ref_chunk_keys(64, 1, 128), 128);
}

/* ---- key table */

static void test_key_table(void **state)
{
    (void)state;
    struct ref_params p = {
        .model_name = "tiny", .tokens = 2, .tp = 1, .ratio = 4, .topk = 64, .pad = true};
    struct ref_case *c = make(&p, REF_KEYS);
    int32_t *kt = calloc((size_t)c->s * (size_t)c->keys, 4), klen[4];
    c->pos[0] = 18; /* (18 + 1) / 4 = 4 compressed rows, 19 window rows */
    c->swa_lens[0] = 19;
    int32_t list[4] = {0, -1, 17, 33};
    memcpy(c->topk, list, sizeof list);
    c->comp_bt[0] = 7, c->comp_bt[1] = 2, c->comp_bt[2] = 5; /* blocks of 16 rows */
    ref_key_table(c, kt, klen);
    const uint32_t mark = 0x80000000u;
    assert_int_equal((uint32_t)kt[0], mark | (7 * 16));
    assert_int_equal(kt[1], -1);
    assert_int_equal((uint32_t)kt[2], mark | (2 * 16 + 1));
    assert_int_equal((uint32_t)kt[3], mark | (5 * 16 + 1));
    assert_memory_equal(kt + 4, c->swa_idx, 19 * 4);
    assert_int_equal(kt[23], -1);
    const int32_t lens[4] = {23, 0, 4, 0}; /* the pad row has no keys */
    assert_memory_equal(klen, lens, sizeof lens);
    for (int k = 0; k < c->keys; k++)
        assert_int_equal(kt[c->keys + k], -1);
    free(kt);
    ref_case_free(c);
}

/* ---- corners of K2 */

struct corner {
    struct ref_case *c;
    int32_t *kt, klen[2];
    struct ref_back out;
};

static void corner_new(struct corner *k)
{
    struct ref_params p = {.model_name = "tiny", .tokens = 1, .tp = 1, .ratio = 4, .seed = 2};
    k->c = make(&p, REF_BACK);
    k->kt = malloc((size_t)k->c->keys * 4);
    assert_non_null(k->kt);
    memset(k->kt, 0xFF, (size_t)k->c->keys * 4);
    memset(&k->out, 0, sizeof k->out);
    k->klen[0] = k->klen[1] = 0;
}

static void corner_run(struct corner *k)
{
    ref_back_free(&k->out);
    assert_int_equal(ref_back(k->c, k->c->q, k->kt, k->klen, &k->out), 0);
}

static void corner_free(struct corner *k)
{
    ref_back_free(&k->out);
    ref_case_free(k->c);
    free(k->kt);
}

static void assert_zero_out(const struct corner *k)
{
    for (int i = 0; i < k->c->q_rows; i++)
        assert_int_equal(k->out.attn[i] & 0x7FFF, 0);
    for (int i = 0; i < k->c->model.hidden; i++)
        assert_int_equal(k->out.out[i] & 0x7FFF, 0);
}

static void test_no_keys(void **state)
{
    (void)state;
    struct corner k;
    corner_new(&k);
    corner_run(&k); /* kv_len 0: the sink alone */
    assert_zero_out(&k);
    k.klen[0] = 150; /* two chunks, every key -1 */
    corner_run(&k);
    assert_zero_out(&k);
    for (int i = 0; i < k.c->h; i++)
        k.c->sink[i] = -INFINITY;
    corner_run(&k);
    assert_zero_out(&k);
    corner_free(&k);
}

/* One key and no sink: the value itself; an enormous sink: nothing of it; a sink equal to the
 * score: half. */
static void test_one_key(void **state)
{
    (void)state;
    struct corner k;
    corner_new(&k);
    struct ref_case *c = k.c;
    k.kt[2] = 5; /* behind two holes */
    k.klen[0] = 3;
    uint8_t *data = ref_cache_data(&c->swa, 5), *codes = ref_cache_scales(&c->swa, 5);
    memset(data, 0x38, REF_NOPE); /* 1.0 */
    memset(codes, 128, 7);        /* times 2 */
    for (int i = 0; i < REF_ROPE; i++)
        memcpy(data + REF_NOPE + 2 * i, &(uint16_t){0x3F80}, 2);
    memset(c->q, 0, (size_t)c->q_rows * 2); /* score 0 */
    const float sinks[3] = {-INFINITY, 1e30f, 0.0f}, share[3] = {1.0f, 0.0f, 0.5f};
    for (int i = 0; i < 3; i++) {
        for (int h = 0; h < c->h; h++)
            c->sink[h] = sinks[i];
        corner_run(&k);
        for (int h = 0; h < c->h; h++)
            for (int d = 0; d < REF_HEAD_DIM; d++)
                assert_true(ref_bf16_f32(k.out.attn[h * REF_HEAD_DIM + d]) ==
                            (d < REF_NOPE ? 2.0f : 1.0f) * share[i]);
    }
    corner_free(&k);
}

/* A key of the compressed cache counts as the same record in the window cache does, in another
 * chunk too. */
static void test_compressed_key(void **state)
{
    (void)state;
    struct corner k;
    corner_new(&k);
    memcpy(ref_cache_data(&k.c->comp, 33), ref_cache_data(&k.c->swa, 9), REF_DATA);
    memcpy(ref_cache_scales(&k.c->comp, 33), ref_cache_scales(&k.c->swa, 9), REF_SCALES);
    k.klen[0] = 140;
    k.kt[0] = 3;
    k.kt[130] = 9;
    corner_run(&k);
    size_t bytes = (size_t)k.c->model.hidden * 2;
    uint16_t *window = malloc(bytes);
    assert_non_null(window);
    memcpy(window, k.out.out, bytes);
    k.kt[130] = (int32_t)(0x80000000u | 33);
    corner_run(&k);
    assert_memory_equal(window, k.out.out, bytes);
    k.kt[130] = 10;
    corner_run(&k);
    assert_memory_not_equal(window, k.out.out, bytes);
    free(window);
    corner_free(&k);
}

/* ---- rules of comparison */

static void test_bf16_rule(void **state)
{
    (void)state;
    enum { N = 4000 };
    uint16_t want[N], got[N];
    for (int i = 0; i < N; i++)
        want[i] = ref_bf16(sinf((float)i) * 3);
    memcpy(got, want, sizeof got);
    assert_true(ref_compare_bf16(got, want, N).holds);
    for (int i = 0; i < N; i += 10) /* a step either way in a tenth of the values */
        got[i] ^= 1;
    assert_true(ref_compare_bf16(got, want, N).holds);
    got[7] = ref_bf16(ref_bf16_f32(want[7]) + 0.5f); /* one value far off */
    assert_false(ref_compare_bf16(got, want, N).holds);
    memcpy(got, want, sizeof got);
    got[11] = 0x7FC0;
    struct ref_verdict v = ref_compare_bf16(got, want, N);
    assert_false(v.holds);
    assert_non_null(strstr(v.text, "NaN"));
    memcpy(got, want, sizeof got);
    for (int i = 0; i < 40; i++) /* 1 % of the values off by two steps of the rms */
        got[i * 100] = ref_bf16(ref_bf16_f32(want[i * 100]) + 0.04f);
    v = ref_compare_bf16(got, want, N);
    assert_false(v.holds);
    assert_true(v.off > 5e-3 && v.worst < 0.03);
}

static void test_record_rule(void **state)
{
    (void)state;
    enum { N = 40 };
    struct ref_params p = {.model_name = "tiny", .tokens = 16, .tp = 1, .seed = 6};
    struct ref_case *c = make(&p, REF_SWA);
    uint8_t want[N * REF_RECORD], got[N * REF_RECORD];
    for (int r = 0; r < N; r++) {
        memcpy(want + r * REF_RECORD, ref_cache_data(&c->swa, r), REF_DATA);
        memcpy(want + r * REF_RECORD + REF_DATA, ref_cache_scales(&c->swa, r), REF_SCALES);
    }
    memcpy(got, want, sizeof got);
    assert_true(ref_compare_records(got, want, N).holds);
    got[5 * REF_RECORD + 100] ^= 1; /* one code beside */
    assert_true(ref_compare_records(got, want, N).holds);
    got[5 * REF_RECORD + 100] ^= 4;
    assert_false(ref_compare_records(got, want, N).holds);
    memcpy(got, want, sizeof got);
    got[3 * REF_RECORD + REF_DATA] += 1; /* one block of 280: the codes below it are not compared */
    got[3 * REF_RECORD + 10] ^= 0x80;
    assert_true(ref_compare_records(got, want, N).holds);
    got[4 * REF_RECORD + REF_DATA] += 1; /* two are over half a percent */
    assert_false(ref_compare_records(got, want, N).holds);
    memcpy(got, want, sizeof got);
    got[REF_RECORD - 1] = 1; /* the pad byte */
    assert_false(ref_compare_records(got, want, N).holds);
    memcpy(got, want, sizeof got);
    got[REF_NOPE + 1] ^= 0x80; /* a RoPE dim's sign */
    assert_false(ref_compare_records(got, want, N).holds);
    ref_case_free(c);
}

static void test_bits_rule(void **state)
{
    (void)state;
    int32_t want[3] = {1, -1, 7}, got[3] = {1, -1, 6};
    struct ref_verdict v = ref_compare_bits(got, want, sizeof got);
    assert_false(v.holds);
    assert_int_equal(v.differ, 1);
    assert_true(ref_compare_bits(want, want, sizeof want).holds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_e4m3),      cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_mx_codes),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_layouts),   cmocka_unit_test(test_chunk_keys),
        cmocka_unit_test(test_key_table), cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_one_key),   cmocka_unit_test(test_compressed_key),
        cmocka_unit_test(test_bf16_rule), cmocka_unit_test(test_record_rule),
        cmocka_unit_test(test_bits_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
