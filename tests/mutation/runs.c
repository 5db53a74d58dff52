/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ref/back.h"
#include "tests/ref/case_args.h"
#include "tests/ref/compare.h"
#include "tests/ref/front.h"
#include "tests/ref/keys.h"
#include "tests/support/kernel_run.h"
#include "tools/emu/lint.h"

enum { EPOCH = 41, ALIGN = 256, LIMIT_FACTOR = 12 };

static int no_memory(char *err, size_t err_size)
{
    snprintf(err, err_size, "out of memory");
    return -1;
}

/* ---- what the arguments are */

/* What an argument points at before a run; size 0: not known. */
static struct ref_arg source_of(const struct runs *r, const struct case_memory *m, const char *name)
{
    static const uint32_t epoch[EPOCH_WORDS] = {EPOCH};
    bool front = r->key.kernel == COGEN_FRONT;
    bool made = r->key.keys == (front ? COGEN_KEYS_FRONT : COGEN_KEYS_BACK);
    const struct {
        const char *name;
        struct ref_arg arg;
    } own[] = {
        {"epoch",   {epoch, sizeof epoch}                },
        {"tl",      {NULL, WORKGROUPS * STAMPS * 8}      },
        {"scratch", {NULL, (size_t)r->plan.scratch_bytes}},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].arg;
    struct ref_arg arg = {0};
    ref_case_pointer(m->c, name, &arg);
    if (!made && strcmp(name, "kt") == 0)
        arg.bytes = m->kt;
    if (!made && strcmp(name, "klen") == 0)
        arg.bytes = m->klen;
    return arg;
}

static bool is_scratch(const struct memory *m)
{
    return strcmp(m->name, "scratch") == 0;
}

/* ---- opening */

static int open_case(struct runs *r, int i, char *err, size_t err_size)
{
    struct case_memory *m = &r->c[i];
    bool front = r->key.kernel == COGEN_FRONT;
    struct ref_params params = {.model_name = r->key.model,
                                .tokens = r->key.tokens,
                                .tp = r->key.tp,
                                .ratio = r->key.ratio,
                                .topk = r->key.topk,
                                .seed = (uint32_t)i + 1,
                                .max_pos = 2048,
                                .block = i % 2 ? 16 : 64,
                                .pad = i % 2};
    m->c = ref_case_new(&params, front ? REF_FRONT : REF_BACK, err, err_size);
    if (!m->c)
        return -1;
    m->kt = ref_case_alloc(m->c, (size_t)m->c->s * (size_t)m->c->keys * 4);
    m->klen = ref_case_alloc(m->c, (size_t)m->c->s * 8);
    if (!m->kt || !m->klen)
        return no_memory(err, err_size);
    ref_key_table(m->c, m->kt, m->klen);
    for (int a = 0; a < r->plan.n_args; a++) {
        const struct plan_arg *arg = &r->plan.args[a];
        struct memory *at = &m->at[a];
        if (arg->kind != ARG_POINTER) {
            ref_case_number(m->c, arg->name, &m->values[a]);
            continue;
        }
        struct ref_arg source = source_of(r, m, arg->name);
        *at = (struct memory){.name = arg->name, .source = source.bytes, .size = source.size};
        if (!at->size) {
            snprintf(err, err_size, "the kernel's argument \"%s\" is not known here", arg->name);
            return -1;
        }
    }
    return 0;
}

int runs_open(struct runs *r, const struct cogen_key *key, int cases, int schedules, char *err,
              size_t err_size)
{
    *r = (struct runs){.key = *key, .cases = cases, .schedules = schedules};
    r->c = calloc((size_t)cases, sizeof *r->c);
    if (!r->c)
        return no_memory(err, err_size);
    if (plan_make(key, &r->plan, err, err_size))
        return -1;
    for (int i = 0; i < cases; i++)
        if (open_case(r, i, err, err_size))
            return -1;
    return 0;
}

static int fill(struct runs *r, struct memory *m)
{
    if (!m->dev && !(m->dev = emu_mem_alloc(r->device, m->size, ALIGN, false)))
        return -1;
    if (m->source)
        emu_mem_copy(r->device, m->dev, m->source, m->size);
    if (is_scratch(m))
        emu_mem_fill(r->device, m->dev, 0, m->size / 4);
    return 0;
}

static int open_device(struct runs *r, FILE *trace, char *err, size_t err_size)
{
    struct emu_config config = {
        .arch = "gfx950", .threads = 1, .seed = 1, .checks = EMU_CHECK_ALL, .trace = trace};
    /* Twelve times the kernel's own length is a hang. */
    for (int i = 0; i < r->cases; i++)
        if (r->c[i].insts * LIMIT_FACTOR > config.max_insts)
            config.max_insts = r->c[i].insts * LIMIT_FACTOR;
    if (r->device)
        emu_device_close(r->device);
    r->device = NULL;
    if (emu_device_open(&config, &r->device, err, err_size))
        return -1;
    for (int i = 0; i < r->cases; i++) {
        for (int a = 0; a < r->plan.n_args; a++) {
            struct memory *m = &r->c[i].at[a];
            m->dev = NULL;
            if (m->name && fill(r, m))
                return no_memory(err, err_size);
        }
    }
    return 0;
}

int runs_device(struct runs *r, char *err, size_t err_size)
{
    return open_device(r, NULL, err, err_size);
}

/* ---- a look without a run */

static void count_finding(void *data, const struct emu_kernel *kernel,
                          const struct emu_lint_finding *finding)
{
    (void)data, (void)kernel, (void)finding;
}

int runs_lint(struct runs *r, const char *text, char *err, size_t err_size)
{
    struct emu_object *object = kernel_load(r->device, text, err, err_size);
    if (!object)
        return -1;
    int found = emu_lint(object, count_finding, NULL);
    emu_object_free(object);
    if (found < 0)
        no_memory(err, err_size);
    return found;
}

/* ---- a run */

/* Memory of which nothing is defined is allocated anew, so that a run sees nothing of the last. */
static int refresh(struct runs *r, struct case_memory *m)
{
    for (int a = 0; a < r->plan.n_args; a++) {
        struct memory *at = &m->at[a];
        if (!at->name)
            continue;
        if (!at->source && !is_scratch(at)) {
            emu_mem_free(r->device, at->dev);
            at->dev = NULL;
        } else if (at->source && memcmp(at->dev, at->source, at->size) == 0) {
            continue;
        }
        if (fill(r, at))
            return -1;
    }
    return 0;
}

static enum emu_status launch(struct runs *r, struct case_memory *m, struct emu_object *object,
                              uint64_t seed, struct emu_result *result)
{
    for (int a = 0; a < r->plan.n_args; a++)
        if (m->at[a].name)
            m->values[a] = (uint64_t)(uintptr_t)m->at[a].dev;
    return kernel_launch(r->device, object, &r->plan, m->values, WORKGROUPS, seed, result);
}

/* The first memory that is not as the kernel leaves it. Scratch is the kernel's own. */
static const char *differs(const struct runs *r, const struct case_memory *m)
{
    for (int a = 0; a < r->plan.n_args; a++) {
        const struct memory *at = &m->at[a];
        const void *want = at->want ? at->want : at->source;
        if (want && memcmp(at->dev, want, at->size) != 0)
            return at->name;
    }
    return NULL;
}

static void tell_finding(const struct emu_result *e, enum emu_status status, struct run_result *out)
{
    const struct emu_report *first = e->report_count ? &e->reports[0] : NULL;
    out->end = status == EMU_DEADLOCK || status == EMU_LIMIT ? RUN_HANG : RUN_FINDING;
    snprintf(out->rule, sizeof out->rule, "%s",
             first                   ? first->what
             : status == EMU_LIMIT   ? "instruction limit"
             : status == EMU_INVALID ? "invalid dispatch"
                                     : "fault");
    snprintf(out->text, sizeof out->text, "%s", first ? first->text : "");
}

static int run_one(struct runs *r, struct emu_object *object, int run, struct run_result *out,
                   char *err, size_t err_size)
{
    struct case_memory *m = &r->c[run % r->cases];
    *out = (struct run_result){.run = run};
    if (refresh(r, m))
        return no_memory(err, err_size);
    struct emu_result e = {0};
    enum emu_status status = launch(r, m, object, (uint64_t)run + 1, &e);
    const char *other = status == EMU_OK ? differs(r, m) : NULL;
    if (status != EMU_OK) {
        tell_finding(&e, status, out);
    } else if (other) {
        out->end = RUN_OUTPUT;
        snprintf(out->rule, sizeof out->rule, "%s", other);
    }
    if (status == EMU_OK && !m->insts)
        m->insts = e.insts;
    return 0;
}

int runs_of(struct runs *r, const char *text, struct run_result *result, char *err, size_t err_size)
{
    struct emu_object *object = kernel_load(r->device, text, err, err_size);
    if (!object)
        return -1;
    int bad = 0;
    *result = (struct run_result){.end = RUN_SAME};
    for (int i = 0; i < r->schedules && !bad && result->end == RUN_SAME; i++)
        bad = run_one(r, object, i, result, err, err_size);
    emu_object_free(object);
    return bad;
}

/* ---- the kernel's own runs */

static const struct memory *find(const struct runs *r, const struct case_memory *m,
                                 const char *name)
{
    for (int a = 0; a < r->plan.n_args; a++)
        if (m->at[a].name && strcmp(m->at[a].name, name) == 0)
            return &m->at[a];
    return NULL;
}

static int holds(struct ref_verdict v, const char *name, char *err, size_t err_size)
{
    if (!v.holds)
        snprintf(err, err_size, "the kernel itself fails at %s: %s", name, v.text);
    return v.holds ? 0 : -1;
}

static int compare_front(const struct runs *r, const struct case_memory *m, char *err,
                         size_t err_size)
{
    struct ref_front want;
    size_t s = (size_t)m->c->s;
    if (ref_front(m->c, &want))
        return no_memory(err, err_size);
    int bad =
        holds(ref_compare_bf16(find(r, m, "qr_out")->dev, want.qr, s * (size_t)m->c->model.q_rank),
              "qr", err, err_size) ||
        holds(ref_compare_bf16(find(r, m, "q")->dev, want.q, s * (size_t)m->c->q_rows), "q", err,
              err_size);
    uint8_t *records = calloc(s, REF_RECORD);
    for (size_t t = 0; records && t < s; t++) {
        uint8_t *record = records + t * REF_RECORD;
        struct ref_cache cache = m->c->swa;
        cache.bytes = find(r, m, "swa")->dev;
        if (m->c->slot[t] < 0) {
            memset(want.records + t * REF_RECORD, 0, REF_RECORD);
            continue;
        }
        memcpy(record, ref_cache_data(&cache, m->c->slot[t]), REF_DATA);
        memcpy(record + REF_DATA, ref_cache_scales(&cache, m->c->slot[t]), REF_SCALES);
    }
    if (!bad)
        bad = records
                  ? holds(ref_compare_records(records, want.records, s), "records", err, err_size)
                  : no_memory(err, err_size);
    free(records);
    ref_front_free(&want);
    return bad;
}

static int compare_back(const struct runs *r, const struct case_memory *m, char *err,
                        size_t err_size)
{
    struct ref_back want;
    if (ref_back(m->c, m->c->q, m->kt, m->klen, &want))
        return no_memory(err, err_size);
    int bad = holds(ref_compare_bf16(find(r, m, "out")->dev, want.out,
                                     (size_t)m->c->s * (size_t)m->c->model.hidden),
                    "out", err, err_size);
    ref_back_free(&want);
    return bad;
}

static int compare(const struct runs *r, const struct case_memory *m, char *err, size_t err_size)
{
    const struct memory *kt = find(r, m, "kt"), *klen = find(r, m, "klen");
    if (kt && holds(ref_compare_bits(kt->dev, m->kt, kt->size), "kt", err, err_size))
        return -1;
    if (klen && holds(ref_compare_bits(klen->dev, m->klen, klen->size), "klen", err, err_size))
        return -1;
    return r->key.kernel == COGEN_FRONT ? compare_front(r, m, err, err_size)
                                        : compare_back(r, m, err, err_size);
}

/* What the kernel writes and others read is kept: outputs, the cache, the epoch's words. */
static int keep(struct runs *r, struct case_memory *m)
{
    for (int a = 0; a < r->plan.n_args; a++) {
        struct memory *at = &m->at[a];
        if (!at->name || is_scratch(at) || strcmp(at->name, "tl") == 0 ||
            (at->source && memcmp(at->source, at->dev, at->size) == 0))
            continue;
        at->want = malloc(at->size);
        if (!at->want)
            return -1;
        memcpy(at->want, at->dev, at->size);
    }
    return 0;
}

static int agree(struct runs *r, struct emu_object *object, char *err, size_t err_size)
{
    for (int i = 0; i < r->schedules; i++) {
        struct run_result result;
        struct case_memory *m = &r->c[i % r->cases];
        bool first = i < r->cases;
        if (run_one(r, object, i, &result, err, err_size))
            return -1;
        if (result.end == RUN_OUTPUT && first)
            result.end = RUN_SAME; /* the cache and the epoch, which move on */
        if (result.end != RUN_SAME) {
            snprintf(err, err_size, "the kernel itself, run %d: %s %.400s", i, result.rule,
                     result.text);
            return -1;
        }
        if (first && compare(r, m, err, err_size))
            return -1;
        if (first && keep(r, m))
            return no_memory(err, err_size);
    }
    return 0;
}

int runs_baseline(struct runs *r, const char *text, char *err, size_t err_size)
{
    struct emu_object *object = kernel_load(r->device, text, err, err_size);
    if (!object)
        return -1;
    int bad = agree(r, object, err, err_size);
    emu_object_free(object);
    return bad;
}

/* ---- runs that look closer */

int runs_trace_begin(struct runs *r, const char *text, FILE *trace, char *err, size_t err_size)
{
    if (open_device(r, trace, err, err_size))
        return -1;
    r->traced = kernel_load(r->device, text, err, err_size);
    return r->traced ? 0 : -1;
}

int runs_trace_case(struct runs *r, int i, char *err, size_t err_size)
{
    struct run_result result;
    if (run_one(r, r->traced, i, &result, err, err_size))
        return -1;
    if (result.end == RUN_SAME)
        return 0;
    snprintf(err, err_size, "the kernel itself, traced: %s", result.rule);
    return -1;
}

void runs_trace_end(struct runs *r)
{
    if (r->traced)
        emu_object_free(r->traced);
    if (r->device)
        emu_device_close(r->device);
    r->traced = NULL;
    r->device = NULL;
}

int runs_changes(struct runs *r, const char *text, char *name, size_t name_size)
{
    char err[256];
    struct emu_object *object = kernel_load(r->device, text, err, sizeof err);
    if (!object)
        return -1;
    int changed = 0;
    name[0] = '\0';
    for (int i = 0; i < r->cases && changed >= 0; i++) {
        struct run_result result;
        struct case_memory *m = &r->c[i];
        if (run_one(r, object, i, &result, err, sizeof err) || result.end == RUN_FINDING ||
            result.end == RUN_HANG) {
            changed = -1;
            break;
        }
        for (int a = 0; a < r->plan.n_args; a++) {
            const struct memory *at = &m->at[a];
            const void *want = at->want ? at->want : at->source;
            if (!want || memcmp(at->dev, want, at->size) == 0 || strcmp(name, at->name) == 0)
                continue;
            snprintf(name, name_size, "%s", at->name);
            changed++;
        }
    }
    emu_object_free(object);
    return changed;
}

void runs_close(struct runs *r)
{
    if (r->device)
        emu_device_close(r->device);
    for (int i = 0; r->c && i < r->cases; i++) {
        for (int a = 0; a < r->plan.n_args; a++)
            free(r->c[i].at[a].want);
        if (r->c[i].c)
            ref_case_free(r->c[i].c);
    }
    free(r->c);
}
