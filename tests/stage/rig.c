/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/pass.h"
#include "gen/print.h"
#include "tests/ref/case_args.h"
#include "tests/support/kernel_run.h"

/* ---- key and plan */

static void set_number(struct cogen_key *key, const char *option, int value)
{
    char text[32], err[256];
    snprintf(text, sizeof text, "%d", value);
    if (cogen_key_set(key, option, text, err, sizeof err))
        fail_msg("%s", err);
}

static void make_plan(struct rig *r, const char *const *options)
{
    const struct ref_case *c = r->c;
    char err[512];
    struct cogen_key key = cogen_key_empty();
    if (cogen_key_set(&key, "model", c->model.name, err, sizeof err))
        fail_msg("%s", err);
    set_number(&key, "tokens", c->s);
    set_number(&key, "tp", c->params.tp);
    set_number(&key, "ratio", c->ratio);
    if (c->ratio)
        set_number(&key, "topk", c->width);
    set_number(&key, "global-keys", c->params.global_keys);
    set_number(&key, "shuffled", c->params.shuffled);
    if (c->wqkv.stride && !c->params.shuffled)
        set_number(&key, "wqkv-ld", (int)c->wqkv.stride);
    if (c->wqb.stride)
        set_number(&key, "wqb-ld", (int)c->wqb.stride);
    set_number(&key, "woa-ld", (int)c->woa.stride);
    set_number(&key, "wob-ld", (int)c->wob.stride);
    for (size_t i = 0; options && options[i]; i += 2)
        if (cogen_key_set(&key, options[i], options[i + 1], err, sizeof err))
            fail_msg("%s", err);
    if (cogen_key_finish(&key, err, sizeof err) || plan_make(&key, &r->plan, err, sizeof err))
        fail_msg("%s", err);
}

/* ---- arguments */

/* What an argument points to: the case's bytes, or what is the rig's own. */
static struct ref_arg pointer_arg(struct rig *r, const char *name)
{
    static const uint32_t epoch[EPOCH_WORDS] = {RIG_EPOCH};
    const struct ref_case *c = r->c;
    const struct {
        const char *name;
        struct ref_arg arg;
    } own[] = {
        {"out",     {NULL, (size_t)c->s * (size_t)(c->model.hidden + RIG_OUT_PAD) * 2}},
        {"epoch",   {epoch, sizeof epoch}                                             },
        {"tl",      {NULL, WORKGROUPS * STAMPS * 8}                                   },
        {"scratch", {NULL, (size_t)r->plan.scratch_bytes}                             },
    };
    struct ref_arg arg = {0};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].arg;
    if (!ref_case_pointer(c, name, &arg))
        fail_msg("the kernel has an argument '%s' that the test does not know", name);
    return arg;
}

static uint64_t number_arg(const struct rig *r, const char *name)
{
    uint64_t bits = 0;
    if (strcmp(name, "out_stride") == 0)
        return (uint64_t)r->c->model.hidden + RIG_OUT_PAD;
    if (!ref_case_number(r->c, name, &bits))
        fail_msg("the kernel has an argument '%s' that the test does not know", name);
    return bits;
}

static void *device_memory(struct rig *r, const void *bytes, size_t size)
{
    void *memory = emu_mem_alloc(r->device, size ? size : 16, 256, false);
    assert_non_null(memory);
    if (bytes && size)
        emu_mem_copy(r->device, memory, bytes, size);
    return memory;
}

static void make_args(struct rig *r)
{
    for (int i = 0; i < r->plan.n_args; i++) {
        const struct plan_arg *a = &r->plan.args[i];
        if (a->kind != ARG_POINTER) {
            r->values[i] = number_arg(r, a->name);
            continue;
        }
        struct ref_arg arg = pointer_arg(r, a->name);
        r->sizes[i] = arg.size;
        void *memory = device_memory(r, arg.bytes, arg.size);
        if (strcmp(a->name, "scratch") == 0)
            emu_mem_fill(r->device, memory, 0, arg.size / 4);
        r->values[i] = (uint64_t)(uintptr_t)memory;
    }
}

void rig_open(struct rig *r, const struct ref_params *params, unsigned parts,
              const char *const *options)
{
    char err[512];
    *r = (struct rig){.seed = 1, .epoch = RIG_EPOCH};
    r->c = ref_case_new(params, parts, err, sizeof err);
    if (!r->c)
        fail_msg("%s", err);
    make_plan(r, options);
    /* products add up as in the reference: what differs is then the kernel's */
    struct emu_config config = {
        .arch = "gfx950", .seed = r->seed, .checks = EMU_CHECK_ALL, .precise_mfma = true};
    if (emu_device_open(&config, &r->device, err, sizeof err))
        fail_msg("%s", err);
    make_args(r);
}

/* ---- kernel */

void rig_build(struct rig *r, void (*template)(Builder *b))
{
    char err[1024];
    Builder *b = build_begin(&r->plan);
    assert_non_null(b);
    template(b);
    struct program *p = build_end(b, err, sizeof err);
    if (!p || program_passes(p, err, sizeof err))
        fail_msg("%s", err);
    char *text = program_print(p, err, sizeof err);
    program_free(p);
    if (r->object)
        emu_object_free(r->object);
    r->object = text ? kernel_load(r->device, text, err, sizeof err) : NULL;
    free(text);
    if (!r->object)
        fail_msg("%s", err);
}

/* The text of what went wrong lasts until the next launch. */
static enum emu_status launch(struct rig *r, int workgroups, const char **text)
{
    struct emu_result result;
    enum emu_status status =
        kernel_launch(r->device, r->object, &r->plan, r->values, workgroups, r->seed++, &result);
    *text = result.report_count ? result.reports[0].text : "the launch failed";
    return status;
}

void rig_run(struct rig *r, int workgroups)
{
    const char *text;
    if (launch(r, workgroups, &text) != EMU_OK)
        fail_msg("%s", text);
}

void rig_hangs(struct rig *r, int workgroups)
{
    const char *text;
    enum emu_status status = launch(r, workgroups, &text);
    if (status != EMU_DEADLOCK)
        fail_msg("not a deadlock: %s", status == EMU_OK ? "the launch ended" : text);
}

void rig_close(struct rig *r)
{
    if (r->object)
        emu_object_free(r->object);
    emu_device_close(r->device);
    ref_case_free(r->c);
}

/* ---- what is in device memory */

static int arg_index(const struct rig *r, const char *name)
{
    for (int i = 0; i < r->plan.n_args; i++)
        if (strcmp(r->plan.args[i].name, name) == 0)
            return i;
    fail_msg("the kernel has no argument '%s'", name);
    return 0;
}

void *rig_arg(struct rig *r, const char *name)
{
    return (void *)(uintptr_t)r->values[arg_index(r, name)];
}

size_t rig_arg_size(struct rig *r, const char *name)
{
    return r->sizes[arg_index(r, name)];
}

void rig_set(struct rig *r, const char *name, uint64_t value)
{
    r->values[arg_index(r, name)] = value;
}

void *rig_scratch(struct rig *r, const char *region)
{
    const struct plan_region *place = plan_scratch(&r->plan, region);
    if (!place)
        fail_msg("scratch has no region '%s'", region);
    return (uint8_t *)rig_arg(r, "scratch") + place->offset;
}

void rig_next_epoch(struct rig *r)
{
    r->epoch++;
    emu_mem_copy(r->device, rig_arg(r, "epoch"), &r->epoch, sizeof r->epoch);
}

uint32_t rig_tag(const struct rig *r)
{
    return 2 * r->epoch + (r->plan.key.kernel == COGEN_FRONT ? 1 : 2);
}

void rig_put_pair(struct rig *r, const char *region, size_t index, uint32_t value)
{
    uint32_t pair[2] = {value, rig_tag(r)};
    emu_mem_copy(r->device, (uint8_t *)rig_scratch(r, region) + index * sizeof pair, pair,
                 sizeof pair);
}

bool rig_pair(struct rig *r, const char *region, size_t index, uint32_t *value)
{
    uint32_t pair[2];
    memcpy(pair, (uint8_t *)rig_scratch(r, region) + index * sizeof pair, sizeof pair);
    if (value)
        *value = pair[0];
    return pair[1] == rig_tag(r);
}
