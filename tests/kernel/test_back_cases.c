/* SPDX-License-Identifier: Apache-2.0 */
/* K2 on the inputs that kernels of this kind got wrong: lengths at the chunks' edges, absent keys,
 * extreme scores, poisoned memory, large caches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "back_rig.h"
#include "tests/ref/keys.h"

/* 64-key chunks and two head groups (tp 2), 128-key chunks and one (tp 4). */
static const int tps[] = {2, 4};
#define FOR_EACH_TP(tp) for (size_t tp_ = 0, tp = 2; tp_ < 2 && (tp = (size_t)tps[tp_], 1); tp_++)

static struct ref_params flash(int tokens, size_t tp)
{
    return (struct ref_params){
        .model_name = "v41-flash", .tokens = tokens, .tp = (int)tp, .ratio = 2, .seed = 5};
}

/* Row t of out is all zeros, either sign. */
static void assert_zero_row(struct back_rig *r, int t)
{
    uint16_t *out = back_out(r);
    for (int i = 0; i < r->c->model.hidden; i++)
        assert_int_equal(out[(size_t)t * (size_t)r->c->model.hidden + (size_t)i] & 0x7fff, 0);
    free(out);
}

static void lengths_at_chunk_edges(void **state)
{
    (void)state;
    static const int lengths[] = {0, 1, 63, 64, 65, 127, 128, 129, 640};
    enum { N = sizeof lengths / sizeof lengths[0] };
    FOR_EACH_TP(tp)
    {
        struct ref_params params = flash(N, tp);
        struct back_rig r;
        back_open(&r, &params, "given");
        for (int t = 0; t < N; t++) {
            int window = lengths[t] < 128 ? lengths[t] : 128;
            back_keys(&r, t, lengths[t] - window, window);
        }
        back_launch(&r);
        back_holds(&r);
        assert_zero_row(&r, 0);
        back_close(&r);
    }
}

static void a_chunk_of_absent_keys(void **state)
{
    (void)state;
    FOR_EACH_TP(tp)
    {
        struct ref_params params = flash(3, tp);
        struct back_rig r;
        back_open(&r, &params, "given");
        for (int t = 0; t < 3; t++)
            back_keys(&r, t, 512, 128);
        for (int k = 0; k < 128; k++) {
            r.kt[k] = -1;                   /* the first chunks */
            r.kt[r.c->keys + 512 + k] = -1; /* the last ones */
        }
        for (int k = 0; k < r.c->keys; k++)
            r.kt[2 * r.c->keys + k] = -1; /* all of them */
        back_launch(&r);
        back_holds(&r);
        assert_zero_row(&r, 2);
        back_close(&r);
    }
}

static void every_other_key_absent(void **state)
{
    (void)state;
    struct ref_params params = flash(2, 2);
    struct back_rig r;
    back_open(&r, &params, "given");
    for (int t = 0; t < 2; t++) {
        back_keys(&r, t, 300, 100 + t);
        for (int k = t; k < 400; k += 2)
            r.kt[t * r.c->keys + k] = -1;
    }
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}

static void a_single_window_row(void **state)
{
    (void)state;
    FOR_EACH_TP(tp)
    {
        struct ref_params params = flash(2, tp);
        params.ratio = 0;
        struct back_rig r;
        back_open(&r, &params, "given");
        back_keys(&r, 0, 0, 1);
        back_keys(&r, 1, 0, 128);
        back_launch(&r);
        back_holds(&r);
        back_close(&r);
    }
}

/* A sink that outweighs every key leaves nothing; one of -inf leaves the keys alone. Past f32's
 * largest number in base 2 a sink is clamped. The reference takes finite sinks, so -1e30 stands for
 * -inf there: both weigh nothing. */
static void extreme_sinks(void **state)
{
    (void)state;
    struct ref_params params = flash(3, 4);
    struct back_rig r;
    back_open(&r, &params, "given");
    back_keys(&r, 0, 512, 128);
    back_keys(&r, 1, 0, 3);
    back_keys(&r, 2, 0, 0);
    float *kernel = malloc((size_t)r.c->h * sizeof *kernel), *finite = r.c->sink;
    assert_non_null(kernel);
    static const float of_kernel[] = {-INFINITY, 1e4f, INFINITY, 3e38f};
    static const float of_reference[] = {-1e30f, 1e4f, 2e38f, 2e38f};
    for (int h = 0; h < r.c->h; h++) {
        kernel[h] = of_kernel[h % 4];
        finite[h] = of_reference[h % 4];
    }
    r.c->sink = kernel;
    back_launch(&r);
    r.c->sink = finite;
    back_holds(&r);
    assert_zero_row(&r, 2);
    back_close(&r);
    free(kernel);
}

/* q so large that scores lie 1e4 and more apart: one key takes all, weights of whole chunks vanish.
 */
static void scores_far_apart(void **state)
{
    (void)state;
    FOR_EACH_TP(tp)
    {
        struct ref_params params = flash(2, tp);
        struct back_rig r;
        back_open(&r, &params, "given");
        back_keys(&r, 0, 512, 128);
        back_keys(&r, 1, 200, 128);
        for (int i = 0; i < r.c->s * r.c->q_rows; i++)
            if (r.c->q[i] & 0x7f80)
                r.c->q[i] = (uint16_t)(r.c->q[i] + (14 << 7)); /* times 2^14 */
        back_launch(&r);
        back_holds(&r);
        back_close(&r);
    }
}

/* Every record that no key names is NaN through and through, block 0's first rows among them. */
static void nan_where_only_absent_keys_would_read(void **state)
{
    (void)state;
    FOR_EACH_TP(tp)
    {
        struct ref_params params = flash(3, tp);
        struct back_rig r;
        back_open(&r, &params, "given");
        back_keys(&r, 0, 200, 128);
        back_keys(&r, 1, 0, 1);
        back_keys(&r, 2, 0, 0);
        for (int k = 0; k < 200; k += 3)
            r.kt[k] = -1;
        struct ref_cache *caches[] = {&r.c->swa, &r.c->comp};
        for (int which = 0; which < 2; which++) {
            struct ref_cache *cache = caches[which];
            int rows = cache->nblocks * cache->block;
            bool *named = calloc((size_t)rows, sizeof *named);
            assert_non_null(named);
            for (int i = 0; i < r.c->s * r.c->keys; i++)
                if (r.kt[i] != -1 && (r.kt[i] < 0) == (which == 1))
                    named[r.kt[i] & 0x7fffffff] = true;
            for (int row = 0; row < rows; row++) {
                if (named[row])
                    continue;
                memset(ref_cache_data(cache, row), 0xff, REF_DATA);
                memset(ref_cache_scales(cache, row), 0xff, REF_SCALES);
            }
            free(named);
        }
        back_launch(&r);
        back_holds(&r);
        back_close(&r);
    }
}

/* Table entries behind a token's kv_len are not keys, whatever they hold. */
static void entries_behind_the_length(void **state)
{
    (void)state;
    struct ref_params params = flash(2, 2);
    struct back_rig r;
    back_open(&r, &params, "given");
    back_keys(&r, 0, 512, 128);
    back_keys(&r, 1, 512, 128);
    r.klen[0] = 70;
    r.klen[r.c->s] = 70;
    r.klen[1] = 5;
    r.klen[r.c->s + 1] = 5;
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}

/* The positions around the first at which the top-k list is full, through the kernel's own key
 * table. */
static void the_first_full_top_k(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = "v4-flash", .tokens = 4, .tp = 2, .ratio = 4, .seed = 8};
    struct back_rig r;
    back_open(&r, &params, "back");
    int full = r.c->width * r.c->ratio;
    static const int around[] = {-2, -1, 0, 3};
    for (int t = 0; t < 4; t++) {
        r.c->pos[t] = full + around[t];
        r.c->swa_lens[t] = 128;
        r.c->slot[t] = t;
        for (int k = 0; k < r.c->width; k++)
            r.c->topk[t * r.c->topk_cols + k] = (k * 37 + t) % (full / r.c->ratio - 1);
    }
    ref_key_table(r.c, r.kt, r.klen);
    assert_int_equal(r.klen[0], r.c->width - 1 + 128);
    assert_int_equal(r.klen[1], r.c->width + 128);
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}

/* Blocks so far apart that rows lie past 4 GiB from the cache's start, and past 2 GiB at the
 * window's. */
static void caches_past_4_gib(void **state)
{
    (void)state;
    struct ref_params params = {.model_name = "v41-flash",
                                .tokens = 2,
                                .tp = 4,
                                .ratio = 2,
                                .seed = 3,
                                .max_pos = 1024,
                                .swa_gap = (size_t)300 << 20,
                                .comp_gap = (size_t)200 << 20};
    struct back_rig r;
    back_open(&r, &params, "given");
    assert_true(r.c->comp.size > (size_t)5 << 30);
    assert_true(r.c->swa.size > (size_t)2 << 30);
    back_keys(&r, 0, 300, 128);
    back_keys(&r, 1, 512, 17);
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}

/* A pad row whose position is nonsense: nothing is read at it. */
static void a_pad_row(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = "v4-flash", .tokens = 3, .tp = 2, .ratio = 4, .seed = 4, .pad = true};
    struct back_rig r;
    back_open(&r, &params, "back");
    int64_t pos = r.c->pos[2];
    r.c->pos[2] = INT64_MAX / 2;
    back_launch(&r);
    r.c->pos[2] = pos;
    back_holds(&r);
    assert_zero_row(&r, 2);
    back_close(&r);
}

/* A captured graph replays the same launch: tags of the launches before must not be taken for this
 * one's. */
static void launches_in_a_row(void **state)
{
    (void)state;
    struct ref_params params = {.model_name = "tiny", .tokens = 3, .tp = 1, .ratio = 4, .seed = 4};
    struct ref_model tiny = *ref_model_find("v4-flash");
    tiny = (struct ref_model){
        "tiny", 512, 256, 16, 2, 64, 1024, 128, 1e-6, {0, 4, 4}
    };
    params.model_name = NULL;
    params.model = &tiny;
    struct back_rig r;
    back_open(&r, &params, "back");
    for (int i = 0; i < 4; i++) {
        back_launch(&r);
        back_holds(&r);
        uint16_t *out = (uint16_t *)(uintptr_t)back_arg(&r, "out");
        memset(out, 0xff, (size_t)r.c->s * r.out_stride * 2);
    }
    back_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_at_chunk_edges),
        cmocka_unit_test(a_chunk_of_absent_keys),
        cmocka_unit_test(every_other_key_absent),
        cmocka_unit_test(a_single_window_row),
        cmocka_unit_test(extreme_sinks),
        cmocka_unit_test(scores_far_apart),
        cmocka_unit_test(nan_where_only_absent_keys_would_read),
        cmocka_unit_test(entries_behind_the_length),
        cmocka_unit_test(the_first_full_top_k),
        cmocka_unit_test(caches_past_4_gib),
        cmocka_unit_test(a_pad_row),
        cmocka_unit_test(launches_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
