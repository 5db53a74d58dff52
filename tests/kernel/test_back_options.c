/* SPDX-License-Identifier: Apache-2.0 */
/* K2's options: a caller's stages at its hooks, the timeline's stamps. */
#include <stdlib.h>
#include <string.h>

#include "back_rig.h"
#include "tests/ref/compare.h"

/* ---- hooks: wo_b's results taken apart into another layout, and a word written when the epoch
 * moves */

enum { HOOK_ROW = 8192 /* bytes of a token's row */, RESET_WORD = 0x5eed };

struct hook_context {
    uint64_t results, reset; /* device addresses: constants of this build */
    int calls;
};

static Val address(Builder *b, uint64_t value)
{
    Val s = sreg(b, 2);
    emit_to(b, part(s, 0, 1), s_mov_b32, bits((uint32_t)value));
    emit_to(b, part(s, 1, 1), s_mov_b32, bits((uint32_t)(value >> 32)));
    return s;
}

static void take_pair(Builder *b, void *context, Val token, Val column, Val v0, Val v1)
{
    struct hook_context *h = context;
    h->calls++;
    Val word = v1.kind == VAL_NONE ? v0 : emit(b, v_cvt_pk_bf16_f32, v0, v1);
    Val row = emit(b, v_lshlrev_b32, imm(13), token);
    Val byte = emit(b, v_lshl_add_u32, column, imm(1), row);
    emit_void(b, global_store_dword, byte, word, address(b, h->results));
}

static void mark_reset(Builder *b, void *context)
{
    struct hook_context *h = context;
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    emit_void(b, global_store_dword, mov_v(b, imm(0)), mov_v(b, imm(RESET_WORD)),
              address(b, h->reset));
    lanes_end(b, &one);
}

static void hooks_take_the_results(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = "v4-flash", .tokens = 17, .tp = 4, .ratio = 0, .seed = 31};
    struct back_rig r;
    back_open(&r, &params, "given");
    assert_true(r.c->model.hidden * 2 <= HOOK_ROW);
    uint8_t *results = emu_mem_alloc(r.device, 17 * HOOK_ROW, 4096, true);
    uint32_t *reset = emu_mem_alloc(r.device, 4096, 4096, true);
    struct hook_context context = {(uint64_t)(uintptr_t)results, (uint64_t)(uintptr_t)reset, 0};
    struct cogen_hooks hooks = {
        .context = &context, .wob_out = take_pair, .epoch_reset = mark_reset};
    r.hooks = &hooks;
    back_launch(&r);
    assert_true(context.calls > 0);
    assert_int_equal(*reset, RESET_WORD);
    struct ref_back want;
    assert_int_equal(ref_back(r.c, r.c->q, r.kt, r.klen, &want), 0);
    for (size_t t = 0; t < 17; t++) {
        size_t hidden = (size_t)r.c->model.hidden;
        struct ref_verdict v = ref_compare_bf16((const uint16_t *)(results + t * HOOK_ROW),
                                                want.out + t * hidden, hidden);
        if (!v.holds)
            fail_msg("token %zu: %s", t, v.text);
    }
    ref_back_free(&want);
    back_close(&r);
}

/* ---- timeline */

static void stamps_are_in_order(void **state)
{
    (void)state;
    struct ref_params params = {
        .model_name = "v41-flash", .tokens = 2, .tp = 2, .ratio = 2, .seed = 32};
    struct back_rig r;
    back_open(&r, &params, "back");
    struct cogen_key key = r.plan.key;
    char err[256];
    key.timeline = true;
    if (plan_make(&key, &r.plan, err, sizeof err))
        fail_msg("%s", err);
    back_launch(&r);
    back_holds(&r);
    const uint64_t *tl = (const uint64_t *)(uintptr_t)back_arg(&r, "tl");
    const char *const *names = plan_stamps(COGEN_BACK);
    int always = 0;
    for (int w = 0; w < WORKGROUPS; w++) {
        uint64_t last = 0;
        for (int i = 0; i < STAMPS; i++) {
            static const char *const all[] = {"begin", "split",    "combine", "weights",
                                              "woa",   "wob_wait", "wob"};
            for (size_t k = 0; names[i] && k < sizeof all / sizeof all[0]; k++) {
                if (strcmp(names[i], all[k]) != 0)
                    continue;
                uint64_t now = tl[w * STAMPS + i];
                assert_true(now >= last && now > 0);
                last = now;
                always += w == 0;
            }
        }
    }
    assert_int_equal(always, 7);
    back_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_take_the_results),
        cmocka_unit_test(stamps_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
