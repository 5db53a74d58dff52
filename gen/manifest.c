/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/object.h"

uint64_t cogen_digest(const void *data, size_t size)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Reads to the end of f; NULL when that fails. The caller frees. */
static char *read_all(FILE *f, size_t *size)
{
    char *bytes = NULL;
    size_t n = 0, cap = 0;
    while (!feof(f)) {
        if (n == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            char *bigger = realloc(bytes, cap);
            if (!bigger)
                break;
            bytes = bigger;
        }
        n += fread(bytes + n, 1, cap - n, f);
        if (ferror(f))
            break;
    }
    *size = n;
    if (feof(f))
        return bytes;
    free(bytes);
    return NULL;
}

static int read_file(const char *path, char **data, size_t *size, char *err, size_t err_size)
{
    FILE *f = fopen(path, "rb");
    *data = f ? read_all(f, size) : NULL;
    if (!*data)
        snprintf(err, err_size, "%s: %s", path, strerror(errno));
    if (f)
        fclose(f);
    return *data ? 0 : -1;
}

int cogen_manifest_kernel(struct cogen_manifest_kernel *k, const struct cogen_code *code,
                          const char *folder, const char *file, char *err, size_t err_size)
{
    char path[PATH_MAX], *data;
    size_t size;
    *k = (struct cogen_manifest_kernel){
        .plan = code->plan, .vgprs = code->vgprs, .sgprs = code->sgprs};
    if (snprintf(k->file, sizeof k->file, "%s", file) >= (int)sizeof k->file ||
        snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        snprintf(err, err_size, "%s/%s: the name is too long", folder, file);
        return -1;
    }
    if (read_file(path, &data, &size, err, err_size))
        return -1;
    k->file_size = (int64_t)size;
    k->file_digest = cogen_digest(data, size);
    free(data);
    return 0;
}

/* ---- JSON; jansson's *_new calls take the references, and NULL in them makes the whole NULL */

static json_t *hex(uint64_t value)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    return json_string(text);
}

static json_t *key_json(const struct cogen_key *key)
{
    json_t *o = json_object();
    char value[64];
    for (size_t i = 0; i < cogen_key_option_count; i++) {
        const char *name = cogen_key_options[i].name;
        json_object_set_new(o, name, json_string(cogen_key_get(key, name, value, sizeof value)));
    }
    return o;
}

static json_t *args_json(const struct plan *plan)
{
    json_t *list = json_array();
    for (int i = 0; i < plan->n_args; i++) {
        const struct plan_arg *a = &plan->args[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i, s:b}", "name", a->name, "kind",
                                              arg_kind_names[a->kind], "offset", a->offset, "size",
                                              a->size, "written", (int)a->written));
    }
    return list;
}

static json_t *scratch_json(const struct plan *plan)
{
    json_t *list = json_array();
    for (int i = 0; i < plan->n_scratch; i++) {
        const struct plan_region *r = &plan->scratch[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "name", r->name, "offset",
                                              (json_int_t)r->offset, "size", (json_int_t)r->size));
    }
    return json_pack("{s:I, s:o}", "size", (json_int_t)plan->scratch_bytes, "regions", list);
}

static json_t *kernel_json(const struct cogen_manifest_kernel *k)
{
    const struct plan *p = &k->plan;
    return json_pack(
        "{s:s, s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:i}", "name",
        p->name, "file", k->file, "file_size", (json_int_t)k->file_size, "file_digest",
        hex(k->file_digest), "arch", p->arch->name, "key", key_json(&p->key), "args", args_json(p),
        "args_digest", hex(plan_args_digest(p)), "kernarg_size", p->kernarg_size, "scratch",
        scratch_json(p), "epoch_size", EPOCH_WORDS * 4, "lds", p->lds_bytes, "vgprs", k->vgprs,
        "sgprs", k->sgprs, "workgroups", (int)WORKGROUPS, "workitems", (int)THREADS);
}

struct entry {
    const struct cogen_manifest_kernel *kernel;
};

static int by_name(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return strcmp(a->kernel->plan.name, b->kernel->plan.name);
}

/* The kernels in order of name, or NULL and a line. The caller frees. */
static struct entry *sorted(const struct cogen_manifest_kernel *kernels, size_t n, char *err,
                            size_t err_size)
{
    struct entry *order = malloc((n + 1) * sizeof *order);
    if (!order) {
        snprintf(err, err_size, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        order[i].kernel = &kernels[i];
    qsort(order, n, sizeof *order, by_name);
    for (size_t i = 1; i < n; i++) {
        const char *name = order[i].kernel->plan.name;
        if (strcmp(order[i - 1].kernel->plan.name, name) == 0) {
            snprintf(err, err_size, "kernel %s is there twice", name);
            free(order);
            return NULL;
        }
    }
    return order;
}

int cogen_manifest_write(const char *path, const struct cogen_manifest_kernel *kernels, size_t n,
                         char *err, size_t err_size)
{
    struct entry *order = sorted(kernels, n, err, err_size);
    if (!order)
        return -1;
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = json_array_append_new(list, kernel_json(order[i].kernel)) == 0;
    free(order);
    json_t *root = json_pack("{s:s, s:o}", "cogen", COGEN_VERSION, "kernels", list);
    char *text = ok && root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    size_t size = strlen(text);
    text[size++] = '\n'; /* in place of the terminator */
    int code = cogen_file_write(path, text, size, err, err_size);
    free(text);
    return code;
}
