/* SPDX-License-Identifier: Apache-2.0 */
#include "back_rig.h"

#include <stdlib.h>
#include <string.h>

#include "gen/generate.h"
#include "tests/ref/case_args.h"
#include "tests/ref/compare.h"
#include "tests/ref/keys.h"
#include "tests/support/kernel_run.h"

enum { OUT_PAD = 8, ALIGN = 256 };

/* ---- case, key, plan */

static void make_plan(struct back_rig *r, const char *keys)
{
    const struct ref_case *c = r->c;
    char err[512];
    struct cogen_key key = cogen_key_empty();
    if (cogen_key_set(&key, "kernel", "back", err, sizeof err) ||
        cogen_key_set(&key, "model", c->model.name, err, sizeof err) ||
        cogen_key_set(&key, "keys", keys, err, sizeof err))
        fail_msg("%s", err);
    key.tokens = c->s;
    key.tp = c->params.tp;
    key.ratio = c->ratio;
    if (c->ratio)
        key.topk = c->width;
    key.global_keys = c->params.global_keys;
    key.global_keys_set = true;
    key.woa_ld = (int)c->woa.stride;
    key.wob_ld = (int)c->wob.stride;
    if (cogen_key_finish(&key, err, sizeof err) || plan_make(&key, &r->plan, err, sizeof err))
        fail_msg("%s", err);
}

void back_open(struct back_rig *r, const struct ref_params *params, const char *keys)
{
    char err[512];
    *r = (struct back_rig){0};
    r->c = ref_case_new(params, REF_BACK, err, sizeof err);
    if (!r->c) {
        fail_msg("%s", err);
        return;
    }
    r->kt = ref_case_alloc(r->c, (size_t)r->c->s * (size_t)r->c->keys * 4);
    r->klen = ref_case_alloc(r->c, (size_t)r->c->s * 8);
    assert_true(r->kt && r->klen);
    ref_key_table(r->c, r->kt, r->klen);
    r->out_stride = (size_t)r->c->model.hidden + OUT_PAD;
    make_plan(r, keys);
    struct emu_config config = {.arch = "gfx950", .seed = 1, .checks = EMU_CHECK_ALL};
    if (emu_device_open(&config, &r->device, err, sizeof err))
        fail_msg("%s", err);
}

void back_keys(struct back_rig *r, int t, int comp, int window)
{
    assert_true(comp + window <= r->c->keys);
    ref_random_keys(r->c, t, comp, window, r->kt, r->klen);
}

/* ---- arguments */

/* A cache block by block, without the gaps' bytes that the case did not fill: they may be
 * gigabytes. */
static void *device_cache(struct back_rig *r, const struct ref_cache *cache)
{
    enum { GAP_FILLED = 4096 };
    size_t rows = (size_t)cache->block * REF_RECORD;
    uint8_t *memory = emu_mem_alloc(r->device, cache->size, ALIGN, false);
    assert_non_null(memory);
    for (int i = 0; i < cache->nblocks; i++) {
        size_t at = (size_t)i * cache->stride, size = rows + GAP_FILLED;
        if (size > cache->stride)
            size = cache->stride;
        emu_mem_copy(r->device, memory + at, cache->bytes + at, size);
    }
    return memory;
}

static void *device_copy(struct back_rig *r, const void *bytes, size_t size)
{
    void *memory = emu_mem_alloc(r->device, size ? size : 16, ALIGN, false);
    assert_non_null(memory);
    if (bytes && size)
        emu_mem_copy(r->device, memory, bytes, size);
    return memory;
}

static void *device_pointer(struct back_rig *r, const char *name)
{
    const uint32_t epoch[EPOCH_WORDS] = {BACK_EPOCH};
    const struct ref_case *c = r->c;
    struct ref_arg arg = {0};
    bool given = r->plan.key.keys != COGEN_KEYS_BACK;
    if (strcmp(name, "epoch") == 0)
        return device_copy(r, epoch, sizeof epoch);
    if (strcmp(name, "tl") == 0)
        return device_copy(r, NULL, WORKGROUPS * STAMPS * 8);
    if (strcmp(name, "scratch") == 0) {
        size_t size = (size_t)r->plan.scratch_bytes;
        void *scratch = device_copy(r, NULL, size);
        emu_mem_fill(r->device, scratch, 0, size / 4);
        return scratch;
    }
    if (!ref_case_pointer(c, name, &arg))
        fail_msg("the kernel has an argument '%s' that the test does not know", name);
    if (strcmp(name, "comp") == 0 && !c->ratio) /* never looked at */
        return NULL;
    if (arg.cache)
        return device_cache(r, arg.cache);
    if (given && strcmp(name, "kt") == 0)
        arg.bytes = r->kt;
    if (given && strcmp(name, "klen") == 0)
        arg.bytes = r->klen;
    if (strcmp(name, "out") == 0)
        arg.size = (size_t)c->s * r->out_stride * 2;
    return device_copy(r, arg.bytes, arg.size);
}

static uint64_t scalar_value(const struct back_rig *r, const char *name)
{
    uint64_t bits = 0;
    if (strcmp(name, "out_stride") == 0)
        return r->out_stride;
    if (!ref_case_number(r->c, name, &bits))
        fail_msg("the kernel has an argument '%s' that the test does not know", name);
    return bits;
}

static void make_args(struct back_rig *r)
{
    for (int i = 0; i < r->plan.n_args; i++) {
        const struct plan_arg *a = &r->plan.args[i];
        r->values[i] = a->kind == ARG_POINTER ? (uint64_t)(uintptr_t)device_pointer(r, a->name)
                                              : scalar_value(r, a->name);
    }
}

uint64_t back_arg(struct back_rig *r, const char *name)
{
    const struct plan_arg *a = plan_find_arg(&r->plan, name);
    if (!a) {
        fail_msg("the kernel has no argument '%s'", name);
        return r->values[0];
    }
    return r->values[a - r->plan.args];
}

/* ---- kernel */

static void load_object(struct back_rig *r)
{
    char err[1024];
    struct cogen_code code;
    if (cogen_generate(&r->plan.key, r->hooks, &code, err, sizeof err))
        fail_msg("%s", err);
    r->object = kernel_load(r->device, code.text, err, sizeof err);
    cogen_code_free(&code);
    if (!r->object)
        fail_msg("%s", err);
}

void back_launch(struct back_rig *r)
{
    if (!r->object) {
        make_args(r);
        load_object(r);
    }
    struct emu_result result;
    if (kernel_launch(r->device, r->object, &r->plan, r->values, WORKGROUPS,
                      (uint64_t)++r->launches, &result) != EMU_OK)
        fail_msg("%s: %s", r->plan.name,
                 result.report_count ? result.reports[0].text : "the launch failed");
}

/* ---- results */

uint16_t *back_out(struct back_rig *r)
{
    size_t s = (size_t)r->c->s, hidden = (size_t)r->c->model.hidden;
    const uint16_t *out = (const uint16_t *)(uintptr_t)back_arg(r, "out");
    uint16_t *dense = malloc(s * hidden * 2);
    assert_non_null(dense);
    for (size_t t = 0; t < s; t++)
        memcpy(dense + t * hidden, out + t * r->out_stride, hidden * 2);
    return dense;
}

void back_holds(struct back_rig *r)
{
    struct ref_back want;
    assert_int_equal(ref_back(r->c, r->c->q, r->kt, r->klen, &want), 0);
    assert_int_equal(want.chunk, r->plan.chunk);
    uint16_t *got = back_out(r);
    struct ref_verdict v =
        ref_compare_bf16(got, want.out, (size_t)r->c->s * (size_t)r->c->model.hidden);
    if (!v.holds)
        fail_msg("%s: %s", r->plan.name, v.text);
    const uint32_t *epoch = (const uint32_t *)(uintptr_t)back_arg(r, "epoch");
    assert_int_equal(epoch[0], BACK_EPOCH + r->launches);
    free(got);
    ref_back_free(&want);
}

void back_close(struct back_rig *r)
{
    if (r->object)
        emu_object_free(r->object);
    emu_device_close(r->device);
    ref_case_free(r->c);
}

void back_check(const struct ref_params *params, const char *keys)
{
    struct back_rig r;
    back_open(&r, params, keys);
    back_launch(&r);
    back_holds(&r);
    back_close(&r);
}
