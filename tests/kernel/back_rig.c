/* SPDX-License-Identifier: Apache-2.0 */
#include "back_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/generate.h"
#include "gen/object.h"
#include "tests/ref/compare.h"
#include "tests/ref/keys.h"

enum { OUT_PAD = 8, ALIGN = 256 };

/* ---- case, key, plan */

static void set_number(struct cogen_key *key, const char *option, long value)
{
    char text[32], err[256];
    snprintf(text, sizeof text, "%ld", value);
    if (cogen_key_set(key, option, text, err, sizeof err))
        fail_msg("%s", err);
}

static void make_plan(struct back_rig *r, const char *keys)
{
    const struct ref_case *c = r->c;
    char err[512];
    struct cogen_key key = cogen_key_empty();
    if (cogen_key_set(&key, "kernel", "back", err, sizeof err) ||
        cogen_key_set(&key, "model", c->model.name, err, sizeof err) ||
        cogen_key_set(&key, "keys", keys, err, sizeof err))
        fail_msg("%s", err);
    set_number(&key, "tokens", c->s);
    set_number(&key, "tp", c->params.tp);
    set_number(&key, "ratio", c->ratio);
    if (c->ratio)
        set_number(&key, "topk", c->width);
    set_number(&key, "global-keys", c->params.global_keys);
    set_number(&key, "woa-ld", (long)c->woa.stride);
    set_number(&key, "wob-ld", (long)c->wob.stride);
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
    const struct ref_case *c = r->c;
    int32_t *row = r->kt + (size_t)t * (size_t)c->keys;
    uint64_t x = (uint64_t)t * 977 + 12345;
    uint32_t comp_rows = (uint32_t)(c->comp.nblocks * c->comp.block);
    uint32_t rows = (uint32_t)(c->swa.nblocks * c->swa.block);
    assert_true(comp + window <= c->keys);
    for (int k = 0; k < c->keys; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint32_t pick = (uint32_t)(x >> 33);
        row[k] = k < comp            ? (int32_t)(pick % comp_rows | 0x80000000u)
                 : k < comp + window ? (int32_t)(pick % rows)
                                     : -1;
    }
    r->klen[t] = comp + window;
    r->klen[c->s + t] = comp;
}

/* ---- arguments */

struct source {
    const char *name;
    const void *bytes; /* NULL: left as allocated */
    size_t size;
};

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

static void *device_copy(struct back_rig *r, const struct source *s)
{
    void *memory = emu_mem_alloc(r->device, s->size ? s->size : 16, ALIGN, false);
    assert_non_null(memory);
    if (s->bytes && s->size)
        emu_mem_copy(r->device, memory, s->bytes, s->size);
    return memory;
}

static void *device_pointer(struct back_rig *r, const char *name)
{
    static const uint8_t zero_record[REF_RECORD];
    const uint32_t epoch[EPOCH_WORDS] = {BACK_EPOCH};
    const struct ref_case *c = r->c;
    size_t s = (size_t)c->s;
    bool own = r->plan.key.keys == COGEN_KEYS_BACK;
    const struct source sources[] = {
        {"q",        c->q,                 s * (size_t)c->q_rows * 2                 },
        {"kt",       own ? NULL : r->kt,   s * (size_t)c->keys * 4                   },
        {"klen",     own ? NULL : r->klen, s * 8                                     },
        {"zrec",     zero_record,          sizeof zero_record                        },
        {"sink",     c->sink,              (size_t)c->h * 4                          },
        {"cos_sin",  c->cos_sin,           (size_t)c->params.max_pos * REF_ROPE * 4  },
        {"pos",      c->pos,               s * 8                                     },
        {"slot",     c->slot,              s * 8                                     },
        {"swa_idx",  c->swa_idx,           s * (size_t)c->model.window * 4           },
        {"swa_lens", c->swa_lens,          s * 4                                     },
        {"topk",     c->topk,              s * (size_t)c->topk_cols * 4              },
        {"comp_bt",  c->comp_bt,           (size_t)c->reqs * (size_t)c->bt_stride * 4},
        {"t2r",      c->t2r,               s * 4                                     },
        {"woa",      c->woa.bytes,         c->woa.size                               },
        {"woa_s",    c->woa.codes,         c->woa.n / 32 * (c->woa.k / 32)           },
        {"wob",      c->wob.bytes,         c->wob.size                               },
        {"wob_s",    c->wob.codes,         c->wob.n / 32 * (c->wob.k / 32)           },
        {"out",      NULL,                 s * r->out_stride * 2                     },
        {"epoch",    epoch,                sizeof epoch                              },
        {"tl",       NULL,                 WORKGROUPS * STAMPS * 8                   },
    };
    if (strcmp(name, "swa") == 0)
        return device_cache(r, &c->swa);
    if (strcmp(name, "comp") == 0 && c->ratio)
        return device_cache(r, &c->comp);
    if (strcmp(name, "comp") == 0) /* never looked at */
        return NULL;
    if (strcmp(name, "scratch") == 0) {
        void *scratch = emu_mem_alloc(r->device, (size_t)r->plan.scratch_bytes, ALIGN, false);
        assert_non_null(scratch);
        emu_mem_fill(r->device, scratch, 0, (size_t)r->plan.scratch_bytes / 4);
        return scratch;
    }
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i].name, name) == 0)
            return device_copy(r, &sources[i]);
    fail_msg("the kernel has an argument '%s' that the test does not know", name);
    return NULL;
}

static uint64_t scalar_value(const struct back_rig *r, const char *name)
{
    const struct ref_case *c = r->c;
    float scale = ref_qk_scale();
    uint32_t scale_bits;
    memcpy(&scale_bits, &scale, sizeof scale_bits);
    const struct {
        const char *name;
        uint64_t value;
    } values[] = {
        {"swa_stride",  c->swa.stride                 },
        {"swa_block",   (uint64_t)c->swa.block        },
        {"comp_stride", c->comp.stride                },
        {"comp_block",  (uint64_t)c->params.comp_block},
        {"bt_stride",   (uint64_t)ref_bt_stride_arg(c)},
        {"out_stride",  r->out_stride                 },
        {"qk_scale",    scale_bits                    },
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strcmp(values[i].name, name) == 0)
            return values[i].value;
    fail_msg("the kernel has an argument '%s' that the test does not know", name);
    return 0;
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

/* A whole file, the caller's to free. */
static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fail_msg("no file %s", path);
        return NULL;
    }
    *size = (size_t)ftell(file);
    void *bytes = malloc(*size);
    if (!bytes || fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, *size, file) != *size)
        fail_msg("%s does not read", path);
    fclose(file);
    return bytes;
}

static void load_object(struct back_rig *r)
{
    char err[1024], path[] = "/tmp/cogen-back-XXXXXX";
    struct cogen_code code;
    if (cogen_generate(&r->plan.key, r->hooks, &code, err, sizeof err))
        fail_msg("%s", err);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    int failed = cogen_object_write(code.text, "gfx950", path, NULL, err, sizeof err);
    cogen_code_free(&code);
    if (failed)
        fail_msg("%s", err);
    size_t size = 0;
    void *bytes = read_file(path, &size);
    unlink(path);
    if (emu_object_load(r->device, bytes, size, &r->object, err, sizeof err))
        fail_msg("%s", err);
    free(bytes);
}

void back_launch(struct back_rig *r)
{
    if (!r->object) {
        make_args(r);
        load_object(r);
    }
    uint8_t *kernarg = emu_mem_alloc(r->device, (size_t)r->plan.kernarg_size, 64, true);
    assert_non_null(kernarg);
    for (int i = 0; i < r->plan.n_args; i++)
        emu_mem_copy(r->device, kernarg + r->plan.args[i].offset, &r->values[i],
                     (size_t)r->plan.args[i].size);
    struct emu_dispatch d = {
        .kernel = emu_object_kernel(r->object, 0)->handle,
        .grid = {WORKGROUPS * THREADS, 1, 1},
        .group = {THREADS,              1, 1},
        .lds_bytes = emu_object_kernel(r->object, 0)->group_size,
        .kernarg = kernarg,
    };
    struct emu_result result;
    emu_device_reseed(r->device, (uint64_t)++r->launches);
    if (emu_dispatch(r->device, &d, &result) != EMU_OK)
        fail_msg("%s: %s", r->plan.name,
                 result.report_count ? result.reports[0].text : "the launch failed");
    emu_mem_free(r->device, kernarg);
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
