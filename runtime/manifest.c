/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a manifest. The entries' strings stay in the parsed JSON, which the library holds. Every
 * field is checked for presence, type and range here, so that the rest of the runtime need not
 * doubt an entry.
 */
#include "runtime/error.h"
#include "runtime/kernel.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 64, MAX_REGIONS = 64, MAX_OPTIONS = 64, MAX_KERNARG = 4096 };

/* Where in the manifest a value is looked for, for messages. */
struct at {
    const char *path, *kernel;
    struct cogen_rt_error *err;
};

static enum cogen_rt_status bad(const struct at *at, const char *field, const char *what)
{
    rt_fail(at->err, COGEN_RT_BAD_FILE, "%s: kernel %s: \"%s\": %s", at->path, at->kernel, field,
            what);
    return COGEN_RT_BAD_FILE;
}

static enum cogen_rt_status get_text(const struct at *at, const json_t *o, const char *field,
                                     const char **out)
{
    const char *text = json_string_value(json_object_get(o, field));
    if (!text || !*text)
        return bad(at, field, "not a text");
    *out = text;
    return COGEN_RT_OK;
}

static enum cogen_rt_status get_number(const struct at *at, const json_t *o, const char *field,
                                       json_int_t least, json_int_t most, json_int_t *out)
{
    const json_t *v = json_object_get(o, field);
    if (!json_is_integer(v))
        return bad(at, field, "not a number");
    *out = json_integer_value(v);
    return *out >= least && *out <= most ? COGEN_RT_OK : bad(at, field, "out of range");
}

static enum cogen_rt_status get_digest(const struct at *at, const json_t *o, const char *field,
                                       uint64_t *out)
{
    const char *text = json_string_value(json_object_get(o, field));
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return bad(at, field, "not a digest of 16 hexadecimal digits");
    *out = strtoull(text, NULL, 16);
    return COGEN_RT_OK;
}

/* A list that must be there, of at most `most` elements of `size` bytes each: allocated. */
static enum cogen_rt_status get_list(const struct at *at, const json_t *list, const char *field,
                                     size_t most, size_t size, void **out, size_t *count)
{
    *count = json_is_array(list)    ? json_array_size(list)
             : json_is_object(list) ? json_object_size(list)
                                    : most + 1;
    if (*count > most)
        return bad(at, field, "missing, of another type, or too long");
    *out = calloc(*count + 1, size);
    if (*out)
        return COGEN_RT_OK;
    rt_fail(at->err, COGEN_RT_NO_MEMORY, "%s: out of memory", at->path);
    return COGEN_RT_NO_MEMORY;
}

static enum cogen_rt_status read_options(const struct at *at, const json_t *o,
                                         struct cogen_rt_entry *e)
{
    json_t *key = json_object_get(o, "key");
    void *list = NULL;
    enum cogen_rt_status st =
        json_is_object(key)
            ? get_list(at, key, "key", MAX_OPTIONS, sizeof *e->options, &list, &e->option_count)
            : bad(at, "key", "not an object");
    struct cogen_rt_option *options = list;
    e->options = options;
    if (st != COGEN_RT_OK || !options)
        return st;
    const char *name;
    json_t *value;
    size_t i = 0;
    json_object_foreach(key, name, value)
    {
        if (!json_is_string(value))
            return bad(at, name, "an option of the key that is not a text");
        options[i++] = (struct cogen_rt_option){name, json_string_value(value)};
    }
    return COGEN_RT_OK;
}

static enum cogen_rt_status read_args(const struct at *at, const json_t *o,
                                      struct cogen_rt_entry *e)
{
    static const uint32_t sizes[] = {
        [COGEN_RT_POINTER] = 8, [COGEN_RT_I32] = 4, [COGEN_RT_I64] = 8, [COGEN_RT_F32] = 4};
    json_t *list = json_object_get(o, "args");
    void *room = NULL;
    enum cogen_rt_status st = json_is_array(list) ? get_list(at, list, "args", MAX_ARGS,
                                                             sizeof *e->args, &room, &e->arg_count)
                                                  : bad(at, "args", "not a list");
    struct cogen_rt_arg *args = room;
    e->args = args;
    for (size_t i = 0; st == COGEN_RT_OK && i < e->arg_count; i++) {
        const json_t *a = json_array_get(list, i);
        const char *kind = NULL;
        json_int_t offset = 0, size = 0;
        st = get_text(at, a, "name", &args[i].name);
        if (st == COGEN_RT_OK)
            st = get_text(at, a, "kind", &kind);
        if (st == COGEN_RT_OK)
            st = get_number(at, a, "offset", 0, MAX_KERNARG, &offset);
        if (st == COGEN_RT_OK)
            st = get_number(at, a, "size", 1, 8, &size);
        if (st != COGEN_RT_OK)
            return st;
        size_t k = 0;
        while (k < sizeof sizes / sizeof sizes[0] && strcmp(kind, rt_kind_names[k]) != 0)
            k++;
        if (k == sizeof sizes / sizeof sizes[0])
            return bad(at, args[i].name, "an argument of unknown kind");
        if (size != sizes[k] || offset % size || offset + size > e->kernarg_bytes)
            return bad(at, args[i].name,
                       "an argument whose size or offset does not fit its kind or the block");
        args[i].kind = (enum cogen_rt_kind)k;
        args[i].offset = (uint32_t)offset;
        args[i].size = (uint32_t)size;
        args[i].written = json_is_true(json_object_get(a, "written"));
    }
    return st;
}

static enum cogen_rt_status read_scratch(const struct at *at, const json_t *o,
                                         struct cogen_rt_entry *e)
{
    const json_int_t most = (json_int_t)1 << 40;
    json_t *scratch = json_object_get(o, "scratch"), *list = json_object_get(scratch, "regions");
    json_int_t total = 0;
    void *room = NULL;
    enum cogen_rt_status st = get_number(at, scratch, "size", 0, most, &total);
    if (st == COGEN_RT_OK)
        st = json_is_array(list) ? get_list(at, list, "regions", MAX_REGIONS, sizeof *e->regions,
                                            &room, &e->region_count)
                                 : bad(at, "regions", "not a list");
    struct cogen_rt_region *regions = room;
    e->regions = regions;
    e->scratch_bytes = (uint64_t)total;
    for (size_t i = 0; st == COGEN_RT_OK && i < e->region_count; i++) {
        const json_t *r = json_array_get(list, i);
        json_int_t offset = 0, size = 0;
        st = get_text(at, r, "name", &regions[i].name);
        if (st == COGEN_RT_OK)
            st = get_number(at, r, "offset", 0, total, &offset);
        if (st == COGEN_RT_OK)
            st = get_number(at, r, "size", 0, total - offset, &size);
        regions[i].offset = (uint64_t)offset;
        regions[i].size = (uint64_t)size;
    }
    return st;
}

static enum cogen_rt_status read_numbers(const struct at *at, const json_t *o,
                                         struct cogen_rt_entry *e)
{
    const struct {
        const char *name;
        json_int_t least, most;
        uint32_t *out;
    } small[] = {
        {"kernarg_size", 1, MAX_KERNARG, &e->kernarg_bytes},
        {"lds",          0, 1 << 20,     &e->lds_bytes    },
        {"vgprs",        1, 512,         &e->vgprs        },
        {"sgprs",        1, 128,         &e->sgprs        },
        {"workgroups",   1, 1 << 20,     &e->workgroups   },
        {"workitems",    1, 1024,        &e->threads      }
    };
    enum cogen_rt_status st = COGEN_RT_OK;
    json_int_t n = 0;
    for (size_t i = 0; st == COGEN_RT_OK && i < sizeof small / sizeof small[0]; i++) {
        st = get_number(at, o, small[i].name, small[i].least, small[i].most, &n);
        *small[i].out = (uint32_t)n;
    }
    if (st == COGEN_RT_OK)
        st = get_number(at, o, "file_size", 1, (json_int_t)1 << 32, &n);
    e->file_bytes = (uint64_t)n;
    if (st == COGEN_RT_OK)
        st = get_number(at, o, "epoch_size", 4, 1 << 20, &n);
    e->epoch_bytes = (uint64_t)n;
    return st;
}

static enum cogen_rt_status read_kernel(struct at *at, const json_t *o, struct cogen_rt_entry *e)
{
    enum cogen_rt_status st = get_text(at, o, "name", &e->name);
    if (st == COGEN_RT_OK) {
        at->kernel = e->name;
        st = get_text(at, o, "file", &e->file);
    }
    if (st == COGEN_RT_OK && (strchr(e->file, '/') || strcmp(e->file, "..") == 0))
        st = bad(at, "file", "a path, where a file beside the manifest is due");
    if (st == COGEN_RT_OK)
        st = get_text(at, o, "arch", &e->arch);
    if (st == COGEN_RT_OK)
        st = get_digest(at, o, "file_digest", &e->file_digest);
    if (st == COGEN_RT_OK)
        st = get_digest(at, o, "args_digest", &e->args_digest);
    if (st == COGEN_RT_OK)
        st = read_numbers(at, o, e);
    if (st == COGEN_RT_OK)
        st = read_options(at, o, e);
    if (st == COGEN_RT_OK)
        st = read_args(at, o, e);
    if (st == COGEN_RT_OK)
        st = read_scratch(at, o, e);
    if (st != COGEN_RT_OK)
        return st;
    uint64_t digest = rt_args_digest(e->args, e->arg_count);
    if (digest != e->args_digest)
        return rt_fail(at->err, COGEN_RT_MISMATCH,
                       "%s: kernel %s: its arguments have digest %016llx, the manifest says "
                       "%016llx: it was changed",
                       at->path, e->name, (unsigned long long)digest,
                       (unsigned long long)e->args_digest);
    return COGEN_RT_OK;
}

static enum cogen_rt_status read_manifest(struct cogen_rt_library *lib, struct cogen_rt_error *err)
{
    json_error_t where;
    void *text;
    size_t size;
    enum cogen_rt_status st = rt_read_file(lib->path, &text, &size, err);
    if (st != COGEN_RT_OK)
        return st;
    lib->json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!lib->json)
        return rt_fail(err, COGEN_RT_BAD_FILE, "%s:%d:%d: not JSON: %s", lib->path, where.line,
                       where.column, where.text);
    const json_t *list = json_object_get(lib->json, "kernels");
    if (!json_is_array(list))
        return rt_fail(err, COGEN_RT_BAD_FILE, "%s: not a manifest: it has no list \"kernels\"",
                       lib->path);
    size_t n = json_array_size(list);
    lib->entries = calloc(n + 1, sizeof *lib->entries);
    if (!lib->entries)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory", lib->path);
    lib->count = n;
    for (size_t i = 0; i < n && st == COGEN_RT_OK; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        struct at at = {lib->path, number, err};
        st = read_kernel(&at, json_array_get(list, i), &lib->entries[i]);
    }
    return st;
}

enum cogen_rt_status cogen_rt_library_load(const char *path, struct cogen_rt_library **out,
                                           struct cogen_rt_error *err)
{
    *out = NULL;
    struct cogen_rt_library *lib = calloc(1, sizeof *lib);
    if (!lib)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory", path);
    pthread_mutex_init(&lib->lock, NULL);
    lib->refs = 1;
    lib->path = strdup(path);
    lib->folder = strdup(path);
    enum cogen_rt_status st = COGEN_RT_OK;
    if (!lib->path || !lib->folder) {
        st = rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory", path);
    } else {
        char *slash = strrchr(lib->folder, '/');
        if (slash)
            slash[1] = '\0';
        else
            lib->folder[0] = '\0';
        st = read_manifest(lib, err);
    }
    if (st != COGEN_RT_OK) {
        rt_library_unref(lib);
        return st;
    }
    *out = lib;
    return rt_ok(err);
}

void rt_library_ref(struct cogen_rt_library *lib)
{
    lib->refs++;
}

void rt_library_unref(struct cogen_rt_library *lib)
{
    pthread_mutex_lock(&lib->lock);
    bool last = --lib->refs == 0;
    pthread_mutex_unlock(&lib->lock);
    if (!last)
        return;
    for (size_t i = 0; i < lib->count; i++) {
        free((void *)lib->entries[i].options);
        free((void *)lib->entries[i].args);
        free((void *)lib->entries[i].regions);
    }
    free(lib->entries);
    json_decref(lib->json);
    free(lib->path);
    free(lib->folder);
    pthread_mutex_destroy(&lib->lock);
    free(lib);
}

void cogen_rt_library_free(struct cogen_rt_library *lib)
{
    if (lib)
        rt_library_unref(lib);
}

size_t cogen_rt_library_count(const struct cogen_rt_library *lib)
{
    return lib->count;
}

const struct cogen_rt_entry *cogen_rt_library_entry(const struct cogen_rt_library *lib,
                                                    size_t index)
{
    return index < lib->count ? &lib->entries[index] : NULL;
}
