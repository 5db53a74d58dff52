/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/step.h"

#include "gen/plan.h"
#include "tests/ref/case_args.h"
#include "tests/ref/num.h"
#include "tools/cogen/cli.h"
#include "tools/cogen/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BUFFERS = 48,
    MAX_COPIES = 4,
    GUARD = 4096,      /* bytes around a buffer on a GPU; the emulator checks bounds by itself */
    GAP_FILLED = 4096, /* of a gap between cache blocks that a case fills */
    POISON = (int)0xfbfbfbfb, /* bf16 -2.6e36, int32 -67372037: no kernel computes it */
};

/* Device memory that an argument points at. */
struct buffer {
    const char *name;
    const void *source;            /* what it holds before a launch; NULL: poison */
    const struct ref_cache *cache; /* source's shape, when it is a paged cache */
    size_t size;
    bool output;
    uint32_t fill;     /* word that poison is made of */
    void *block, *dev; /* allocation; the argument's pointer */
    void *host;        /* read back here, when an output */
};

struct kernel_run {
    const struct cogen_key *key;
    struct cogen_rt_kernel *kernel;
    struct cogen_rt_args *args;
    uint64_t *stamps;
};

struct step {
    struct step_request r;
    struct cogen_rt_error rt;
    char folder[4096]; /* of generated files; empty: none */
    struct cogen_rt_device *device;
    struct cogen_rt_library *library;
    struct cogen_rt_queue *queue;
    struct kernel_run run[2]; /* K1, K2; key NULL: does not run */
    struct buffer buffers[MAX_BUFFERS];
    int n_buffers;
    void *copies[MAX_COPIES]; /* of weights, in another stride */
    int n_copies;
    uint8_t *records; /* read back, [s, 584] */
    void *temp;       /* as large as the largest buffer, for comparisons */
    size_t temp_size;
};

const char *const step_output_names[] = {"qr", "q", "records", "kt", "klen", "out"};
const size_t step_output_count = sizeof step_output_names / sizeof step_output_names[0];

/* ---- what the arguments are */

static struct buffer *add(struct step *s, const char *name, const void *source, size_t size,
                          bool output)
{
    if (s->n_buffers == MAX_BUFFERS)
        return NULL;
    struct buffer *b = &s->buffers[s->n_buffers++];
    *b = (struct buffer){
        .name = name, .source = source, .size = size, .output = output, .fill = (uint32_t)POISON};
    return b;
}

/* An argument as the case has it. output: the kernels write it. */
static struct buffer *add_arg(struct step *s, const char *name, bool output)
{
    struct ref_arg arg = {0};
    if (!ref_case_pointer(s->r.c, name, &arg))
        return NULL;
    struct buffer *b = add(s, name, arg.bytes, arg.size, output);
    if (b)
        b->cache = arg.cache;
    return b;
}

static void add_inputs(struct step *s, const char *const *names)
{
    for (; *names; names++)
        add_arg(s, *names, false);
}

static bool writes_keys(const struct cogen_key *key, enum cogen_keys keys)
{
    return key && key->keys == keys;
}

/* A weight, its rows `ld` bytes apart as the kernel's key has it (in shuffle order the rows have no
 * stride). Gaps hold NaN. */
static void add_weight(struct step *s, const char *name, const char *codes_name,
                       const struct ref_weight *w, int ld)
{
    add(s, codes_name, w->codes, w->n / 32 * (w->k / 32), false);
    if (w->shuffled || (size_t)ld == w->stride) {
        add(s, name, w->bytes, w->size, false);
        return;
    }
    size_t size = (w->n - 1) * (size_t)ld + w->k;
    uint8_t *copy = malloc(size);
    if (!copy || s->n_copies == MAX_COPIES) {
        free(copy);
        return; /* the argument stays unset, which the check of the block names */
    }
    s->copies[s->n_copies++] = copy;
    memset(copy, 0xff, size);
    for (size_t i = 0; i < w->n; i++)
        memcpy(copy + i * (size_t)ld, w->bytes + i * w->stride, w->k);
    add(s, name, copy, size, false);
}

static void add_front(struct step *s)
{
    const struct ref_case *c = s->r.c;
    add_inputs(s, (const char *const[]){"x", "qn_w", "kvn_w", NULL});
    add_weight(s, "wqkv", "wqkv_s", &c->wqkv, s->r.front->wqkv_ld);
    add_weight(s, "wqb", "wqb_s", &c->wqb, s->r.front->wqb_ld);
    add_arg(s, "qr_out", true);
}

static void add_back(struct step *s)
{
    const struct ref_case *c = s->r.c;
    add_inputs(s, (const char *const[]){"comp", "zrec", "sink", NULL});
    add_weight(s, "woa", "woa_s", &c->woa, s->r.back->woa_ld);
    add_weight(s, "wob", "wob_s", &c->wob, s->r.back->wob_ld);
    add_arg(s, "out", true);
}

/* The key table: an output of the kernel that makes it, else the reference's. */
static void add_keys(struct step *s)
{
    bool made =
        writes_keys(s->r.front, COGEN_KEYS_FRONT) || writes_keys(s->r.back, COGEN_KEYS_BACK);
    struct buffer *kt = add_arg(s, "kt", made), *klen = add_arg(s, "klen", made);
    if (!kt || !klen)
        return;
    kt->source = made ? NULL : s->r.kt;
    klen->source = made ? NULL : s->r.klen;
    /* With global keys a row ends at its kv_len; what follows is as it was, and -1 in the
     * reference. */
    if (s->r.c->params.global_keys)
        kt->fill = UINT32_MAX;
}

static void add_shared(struct step *s)
{
    bool front = s->r.front != NULL;
    add_inputs(s, (const char *const[]){"cos_sin", "pos", "slot", "swa_idx", "swa_lens", "comp_bt",
                                        "topk", "t2r", NULL});
    add_arg(s, "q", front);
    add_arg(s, "swa", front);
    add_keys(s);
}

static bool kernel_takes(const struct step *s, const char *name)
{
    for (int k = 0; k < 2; k++) {
        const struct cogen_rt_entry *e =
            s->run[k].kernel ? cogen_rt_kernel_entry(s->run[k].kernel) : NULL;
        for (size_t i = 0; e && i < e->arg_count; i++)
            if (strcmp(e->args[i].name, name) == 0)
                return true;
    }
    return false;
}

/* ---- device memory */

static int rt_bad(const struct step *s, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s", s->rt.text);
    return -1;
}

static size_t guard_of(const struct step *s)
{
    return strcmp(cogen_rt_device_info(s->device)->backend, "hsa") == 0 ? GUARD : 0;
}

static int allocate(struct step *s, char *err, size_t err_size)
{
    size_t guard = guard_of(s);
    for (int i = 0; i < s->n_buffers; i++) {
        struct buffer *b = &s->buffers[i];
        if (!kernel_takes(s, b->name))
            continue;
        size_t room = (b->size + 3) & ~(size_t)3;
        if (cogen_rt_alloc(s->device, guard ? room + 2 * guard : b->size, &b->block, &s->rt) !=
            COGEN_RT_OK)
            return rt_bad(s, err, err_size);
        b->dev = (char *)b->block + guard;
        if (b->output && !b->cache)
            b->host = malloc(b->size);
        if (!b->cache && b->size > s->temp_size)
            s->temp_size = b->size;
        if (b->cache && (size_t)b->cache->block * REF_RECORD + GAP_FILLED > s->temp_size)
            s->temp_size = (size_t)b->cache->block * REF_RECORD + GAP_FILLED;
    }
    s->temp = malloc(s->temp_size > GUARD ? s->temp_size : GUARD);
    s->records = calloc((size_t)s->r.c->s, REF_RECORD);
    if (s->temp && s->records)
        return 0;
    snprintf(err, err_size, "out of memory");
    return -1;
}

/* Bytes of a cache block that a case gives values: its records and the start of the gap behind
 * them. */
static size_t block_bytes(const struct ref_cache *c)
{
    size_t records = (size_t)c->block * REF_RECORD, gap = c->stride - records;
    return records + (gap < GAP_FILLED ? gap : GAP_FILLED);
}

static int fill_buffer(struct step *s, struct buffer *b, char *err, size_t err_size)
{
    enum cogen_rt_status st = COGEN_RT_OK;
    size_t guard = guard_of(s), words = (b->size + 3) & ~(size_t)3;
    if (guard) {
        st = cogen_rt_fill(s->device, b->block, (uint32_t)POISON, guard, &s->rt);
        if (st == COGEN_RT_OK)
            st = cogen_rt_fill(s->device, (char *)b->dev + words, (uint32_t)POISON, guard, &s->rt);
    }
    if (st == COGEN_RT_OK && b->cache) {
        for (int i = 0; i < b->cache->nblocks && st == COGEN_RT_OK; i++) {
            size_t at = (size_t)i * b->cache->stride;
            st = cogen_rt_copy(s->device, (char *)b->dev + at, b->cache->bytes + at,
                               block_bytes(b->cache), &s->rt);
        }
    } else if (st == COGEN_RT_OK && b->source) {
        st = cogen_rt_copy(s->device, b->dev, b->source, b->size, &s->rt);
    } else if (st == COGEN_RT_OK) {
        st = cogen_rt_fill(s->device, b->dev, b->fill, b->size, &s->rt);
    }
    return st == COGEN_RT_OK ? 0 : rt_bad(s, err, err_size);
}

static struct buffer *find_buffer(const struct step *s, const char *name)
{
    for (int i = 0; i < s->n_buffers; i++)
        if (s->buffers[i].dev && strcmp(s->buffers[i].name, name) == 0)
            return (struct buffer *)&s->buffers[i];
    return NULL;
}

/* Option x8: the input's MXFP8, its codes and its flags, as the stage in front of K1 would leave
 * them in scratch. */
static int publish_x8(struct step *s, char *err, size_t err_size)
{
    const struct ref_case *c = s->r.c;
    const struct cogen_rt_entry *e = cogen_rt_kernel_entry(s->run[0].kernel);
    struct plan *plan = malloc(sizeof *plan);
    size_t n = (size_t)c->s, k = (size_t)c->model.hidden, codes = k / 32;
    float *x = malloc(n * k * sizeof *x);
    uint8_t *x8 = malloc(n * k), *x8s = malloc(n * codes);
    int bad = !plan || !x || !x8 || !x8s;
    if (bad)
        snprintf(err, err_size, "out of memory");
    else
        bad = plan_make(s->r.front, plan, err, err_size);
    const struct cogen_rt_region *rx = cogen_rt_entry_region(e, "x8"),
                                 *rs = cogen_rt_entry_region(e, "x8s"),
                                 *rf = cogen_rt_entry_region(e, "xrdy");
    if (!bad && (!rx || !rs || !rf)) {
        snprintf(err, err_size, "%s: its scratch has no x8, x8s or xrdy region", e->name);
        bad = -1;
    }
    char *scratch = find_buffer(s, "scratch")->dev;
    if (!bad) {
        for (size_t t = 0; t < n; t++)
            for (size_t i = 0; i < k; i++)
                x[t * k + i] = ref_bf16_f32(c->x[t * c->x_stride + i]);
        ref_mx_quant(x, n, k, x8, x8s);
        if (cogen_rt_copy(s->device, scratch + rx->offset, x8, n * k, &s->rt) != COGEN_RT_OK)
            bad = rt_bad(s, err, err_size);
    }
    const uint32_t flag[2] = {1, 1}; /* value, and the tag of epoch 0: 2 x 0 + 1 */
    for (size_t u = 0; !bad && u < 2 * n; u++) {
        size_t half = codes / 2;
        if (cogen_rt_copy(s->device, scratch + rs->offset + u * (size_t)plan->x8s_half,
                          x8s + u * half, half, &s->rt) != COGEN_RT_OK ||
            cogen_rt_copy(s->device, scratch + rf->offset + u * sizeof flag, flag, sizeof flag,
                          &s->rt) != COGEN_RT_OK)
            bad = rt_bad(s, err, err_size);
    }
    free(plan);
    free(x);
    free(x8);
    free(x8s);
    return bad;
}

/* ---- argument blocks */

static enum cogen_rt_status bind(struct step *s, int kernel, const struct cogen_rt_arg *arg)
{
    struct cogen_rt_args *args = s->run[kernel].args;
    if (arg->kind == COGEN_RT_POINTER) {
        const struct buffer *b = find_buffer(s, arg->name);
        /* Each kernel stamps a half of the timeline's memory. */
        size_t at = b && kernel && strcmp(arg->name, "tl") == 0 ? b->size / 2 : 0;
        return b ? cogen_rt_set_pointer(args, arg->name, (char *)b->dev + at, &s->rt) : COGEN_RT_OK;
    }
    uint64_t bits;
    if (!ref_case_number(s->r.c, arg->name, &bits))
        return COGEN_RT_OK; /* the check of the whole block names it */
    if (arg->kind == COGEN_RT_F32)
        return cogen_rt_set_f32(args, arg->name, ref_bits_f32((uint32_t)bits), &s->rt);
    if (arg->kind == COGEN_RT_I64)
        return cogen_rt_set_i64(args, arg->name, (int64_t)bits, &s->rt);
    return cogen_rt_set_i32(args, arg->name, (int32_t)bits, &s->rt);
}

static int make_args(struct step *s, int kernel, char *err, size_t err_size)
{
    struct kernel_run *run = &s->run[kernel];
    const struct cogen_rt_entry *e = cogen_rt_kernel_entry(run->kernel);
    if (cogen_rt_args_new(run->kernel, &run->args, &s->rt) != COGEN_RT_OK)
        return rt_bad(s, err, err_size);
    for (size_t i = 0; i < e->arg_count; i++)
        if (bind(s, kernel, &e->args[i]) != COGEN_RT_OK)
            return rt_bad(s, err, err_size);
    return cogen_rt_args_check(run->args, &s->rt) == COGEN_RT_OK ? 0 : rt_bad(s, err, err_size);
}

/* ---- opening */

static int load_kernels(struct step *s, char *err, size_t err_size)
{
    char *path = NULL;
    const char *manifest = s->r.manifest;
    if (!manifest) {
        struct cogen_key keys[2];
        size_t n = 0;
        for (int k = 0; k < 2; k++)
            if (s->run[k].key)
                keys[n++] = *s->run[k].key;
        if (cli_temp_folder(s->folder, sizeof s->folder, err, err_size) != 0) {
            s->folder[0] = '\0';
            return -1;
        }
        struct make_options options = {.folder = s->folder, .jobs = 2};
        if (make_library(keys, n, &options, err, err_size) != 0)
            return -1;
        path = cli_join(s->folder, MAKE_MANIFEST);
        if (!path) {
            snprintf(err, err_size, "out of memory");
            return -1;
        }
        manifest = path;
    }
    enum cogen_rt_status st = cogen_rt_library_load(manifest, &s->library, &s->rt);
    free(path);
    for (int k = 0; k < 2 && st == COGEN_RT_OK; k++) {
        if (!s->run[k].key)
            continue;
        char text[512];
        make_key_text(s->run[k].key, text, sizeof text);
        const struct cogen_rt_entry *e = cogen_rt_library_find(s->library, text, &s->rt);
        if (!e)
            return rt_bad(s, err, err_size);
        st = cogen_rt_kernel_load(s->device, s->library, e, &s->run[k].kernel, &s->rt);
    }
    return st == COGEN_RT_OK ? 0 : rt_bad(s, err, err_size);
}

static void add_work_memory(struct step *s)
{
    uint64_t scratch = 4, epoch = 4;
    const struct cogen_rt_entry *e = NULL;
    for (int k = 0; k < 2; k++) {
        if (!s->run[k].kernel)
            continue;
        e = cogen_rt_kernel_entry(s->run[k].kernel);
        scratch = e->scratch_bytes > scratch ? e->scratch_bytes : scratch;
        epoch = e->epoch_bytes > epoch ? e->epoch_bytes : epoch;
    }
    add(s, "scratch", NULL, (size_t)((scratch + 3) & ~3ull), false);
    add(s, "epoch", NULL, (size_t)epoch, false);
    add(s, "tl", NULL, (size_t)2 * WORKGROUPS * STAMPS * sizeof(uint64_t), false);
}

static bool is_work(const struct buffer *b)
{
    return strcmp(b->name, "scratch") == 0 || strcmp(b->name, "epoch") == 0 ||
           strcmp(b->name, "tl") == 0;
}

/* The emulator's library reads its choices when it is opened. */
static void choose_mfma(const char *name)
{
    setenv("COGEN_EMU_MFMA", name ? name : "precise", name != NULL);
}

int step_open(const struct step_request *request, struct step **out, char *err, size_t err_size)
{
    *out = NULL;
    struct step *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    s->r = *request;
    s->run[0].key = request->front;
    s->run[1].key = request->back;
    int bad = 0;
    choose_mfma(request->mfma);
    if (cogen_rt_open(request->device, &s->device, &s->rt) != COGEN_RT_OK)
        bad = rt_bad(s, err, err_size);
    if (!bad)
        bad = load_kernels(s, err, err_size);
    if (!bad) {
        add_shared(s);
        if (request->front)
            add_front(s);
        if (request->back)
            add_back(s);
        add_work_memory(s);
        bad = allocate(s, err, err_size);
    }
    for (int k = 0; k < 2 && !bad; k++)
        if (s->run[k].key)
            bad = make_args(s, k, err, err_size);
    if (!bad && cogen_rt_queue_new(s->device, &s->queue, &s->rt) != COGEN_RT_OK)
        bad = rt_bad(s, err, err_size);
    if (bad) {
        step_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

void step_close(struct step *s)
{
    if (!s)
        return;
    cogen_rt_queue_free(s->queue);
    for (int k = 0; k < 2; k++) {
        cogen_rt_args_free(s->run[k].args);
        cogen_rt_kernel_free(s->run[k].kernel);
        free(s->run[k].stamps);
    }
    for (int i = 0; i < s->n_buffers; i++) {
        if (s->device)
            cogen_rt_free(s->device, s->buffers[i].block);
        free(s->buffers[i].host);
    }
    cogen_rt_library_free(s->library);
    cogen_rt_close(s->device);
    if (s->folder[0])
        cli_temp_remove(s->folder);
    for (int i = 0; i < s->n_copies; i++)
        free(s->copies[i]);
    free(s->records);
    free(s->temp);
    free(s);
}

/* ---- a run */

int step_prepare(struct step *s, uint64_t seed, char *err, size_t err_size)
{
    int (*reseed)(uint64_t) = NULL;
    void *symbol = cogen_rt_device_symbol(s->device, "emu_hsa_reseed");
    memcpy((void *)&reseed, (void *)&symbol, sizeof reseed);
    if (reseed && reseed(seed) != 0) {
        snprintf(err, err_size, "the emulator takes no schedule seed");
        return -1;
    }
    for (int i = 0; i < s->n_buffers; i++) {
        struct buffer *b = &s->buffers[i];
        if (!b->dev)
            continue;
        if (fill_buffer(s, b, err, err_size) != 0)
            return -1;
        if (is_work(b) && cogen_rt_fill(s->device, b->dev, 0, b->size, &s->rt) != COGEN_RT_OK)
            return rt_bad(s, err, err_size);
    }
    if (s->r.front && s->r.front->x == COGEN_X_X8)
        return publish_x8(s, err, err_size);
    return 0;
}

static enum cogen_rt_status launch_once(struct step *s)
{
    if (s->run[0].key && s->run[1].key)
        return cogen_rt_launch_pair(s->queue, s->run[0].args, s->run[1].args, &s->rt);
    return cogen_rt_launch(s->queue, s->run[s->run[0].key ? 0 : 1].args, &s->rt);
}

int step_launch(struct step *s, int times, char *err, size_t err_size)
{
    enum cogen_rt_status st = COGEN_RT_OK;
    for (int i = 0; i < times && st == COGEN_RT_OK; i++)
        st = launch_once(s);
    if (st == COGEN_RT_OK)
        st = cogen_rt_wait(s->queue, s->r.timeout_ms, &s->rt);
    return st == COGEN_RT_OK ? 0 : rt_bad(s, err, err_size);
}

static int transfer(struct step *s, const char *arg, void *to, const void *from, size_t size,
                    char *err, size_t err_size)
{
    const struct buffer *b = find_buffer(s, arg);
    if (!b || size > b->size) {
        snprintf(err, err_size, "%s: the step has no such argument of %zu bytes", arg, size);
        return -1;
    }
    return cogen_rt_copy(s->device, to ? to : b->dev, from ? from : b->dev, size, &s->rt) ==
                   COGEN_RT_OK
               ? 0
               : rt_bad(s, err, err_size);
}

int step_put(struct step *s, const char *arg, const void *bytes, size_t size, char *err,
             size_t err_size)
{
    return transfer(s, arg, NULL, bytes, size, err, err_size);
}

int step_get(struct step *s, const char *arg, void *bytes, size_t size, char *err, size_t err_size)
{
    return transfer(s, arg, bytes, NULL, size, err, err_size);
}

static int check_bytes(const struct step *s, const struct buffer *b, size_t at, const uint8_t *want,
                       size_t size, char *err, size_t err_size)
{
    if (memcmp(s->temp, want, size) == 0)
        return 0;
    size_t i = 0;
    while (((const uint8_t *)s->temp)[i] == want[i])
        i++;
    snprintf(err, err_size, "%s: byte %zu changed from 0x%02x to 0x%02x, which no output covers",
             b->name, at + i, want[i], ((const uint8_t *)s->temp)[i]);
    return -1;
}

/* A cache after the launch: takes the records at the tokens' slots, then everything else must be as
 * it was. */
static int read_cache(struct step *s, const struct buffer *b, char *err, size_t err_size)
{
    const struct ref_case *c = s->r.c;
    size_t size = block_bytes(b->cache);
    for (int i = 0; i < b->cache->nblocks; i++) {
        const uint8_t *want = b->cache->bytes + (size_t)i * b->cache->stride;
        uint8_t *have = s->temp;
        if (cogen_rt_copy(s->device, have, (char *)b->dev + (size_t)i * b->cache->stride, size,
                          &s->rt) != COGEN_RT_OK)
            return rt_bad(s, err, err_size);
        for (int t = 0; b->output && t < c->s; t++) {
            if (c->slot[t] < 0 || c->slot[t] / b->cache->block != i)
                continue;
            size_t row = (size_t)(c->slot[t] % b->cache->block);
            size_t scales = (size_t)b->cache->block * REF_DATA + row * REF_SCALES;
            uint8_t *record = s->records + (size_t)t * REF_RECORD;
            memcpy(record, have + row * REF_DATA, REF_DATA);
            memcpy(record + REF_DATA, have + scales, REF_SCALES);
            memcpy(have + row * REF_DATA, want + row * REF_DATA, REF_DATA);
            memcpy(have + scales, want + scales, REF_SCALES);
        }
        if (check_bytes(s, b, (size_t)i * b->cache->stride, want, size, err, err_size) != 0)
            return -1;
    }
    return 0;
}

static int check_guards(struct step *s, const struct buffer *b, char *err, size_t err_size)
{
    size_t guard = guard_of(s), room = (b->size + 3) & ~(size_t)3;
    const char *sides[2] = {b->block, (char *)b->dev + room};
    for (int i = 0; guard && i < 2; i++) {
        if (cogen_rt_copy(s->device, s->temp, sides[i], guard, &s->rt) != COGEN_RT_OK)
            return rt_bad(s, err, err_size);
        const uint8_t *p = s->temp;
        for (size_t j = 0; j < guard; j++)
            if (p[j] != (uint8_t)POISON) {
                snprintf(err, err_size, "%s: a byte %s it was written", b->name,
                         i ? "behind" : "in front of");
                return -1;
            }
    }
    return 0;
}

static int read_buffers(struct step *s, char *err, size_t err_size)
{
    memset(s->records, 0, (size_t)s->r.c->s * REF_RECORD);
    for (int i = 0; i < s->n_buffers; i++) {
        struct buffer *b = &s->buffers[i];
        if (!b->dev)
            continue;
        int bad = check_guards(s, b, err, err_size);
        if (!bad && b->cache) {
            bad = read_cache(s, b, err, err_size);
        } else if (!bad && !is_work(b)) {
            void *to = b->output ? b->host : s->temp;
            if (cogen_rt_copy(s->device, to, b->dev, b->size, &s->rt) != COGEN_RT_OK)
                bad = rt_bad(s, err, err_size);
            else if (!b->output)
                bad = check_bytes(s, b, 0, b->source, b->size, err, err_size);
        }
        if (bad)
            return -1;
    }
    return 0;
}

static int read_timeline(struct step *s, char *err, size_t err_size)
{
    const struct buffer *tl = find_buffer(s, "tl");
    size_t size = (size_t)WORKGROUPS * STAMPS * sizeof(uint64_t);
    for (int k = 0; k < 2 && tl; k++) {
        if (!s->run[k].key || !s->run[k].key->timeline)
            continue;
        if (!s->run[k].stamps && !(s->run[k].stamps = malloc(size))) {
            snprintf(err, err_size, "out of memory");
            return -1;
        }
        if (cogen_rt_copy(s->device, s->run[k].stamps, (char *)tl->dev + (k ? size : 0), size,
                          &s->rt) != COGEN_RT_OK)
            return rt_bad(s, err, err_size);
    }
    return 0;
}

int step_read(struct step *s, char *err, size_t err_size)
{
    return read_buffers(s, err, err_size) ? -1 : read_timeline(s, err, err_size);
}

int step_run(struct step *s, uint64_t seed, char *err, size_t err_size)
{
    return step_prepare(s, seed, err, err_size) || step_launch(s, 1, err, err_size) ||
                   step_read(s, err, err_size)
               ? -1
               : 0;
}

const void *step_output(const struct step *s, const char *name, size_t *size)
{
    if (strcmp(name, "records") == 0) {
        *size = (size_t)s->r.c->s * REF_RECORD;
        return s->r.front ? s->records : NULL;
    }
    const struct buffer *b = find_buffer(s, strcmp(name, "qr") == 0 ? "qr_out" : name);
    *size = b ? b->size : 0;
    return b && b->output ? b->host : NULL;
}

const uint64_t *step_timeline(const struct step *s, int kernel)
{
    return s->run[kernel].stamps;
}

const struct cogen_rt_device_info *step_device(const struct step *s)
{
    return cogen_rt_device_info(s->device);
}
