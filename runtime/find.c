/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel by its key. A refusal lists the keys that come nearest, so that a caller sees what there
 * is. */
#include "runtime/error.h"
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WANTED = 32, NEAR = 3 };

struct wanted {
    char text[512]; /* the key, cut into names and values */
    const char *name[MAX_WANTED], *value[MAX_WANTED];
    int count;
};

static bool split_key(const char *key, struct wanted *w, struct cogen_rt_error *err)
{
    w->count = 0;
    if (strlen(key) >= sizeof w->text) {
        rt_fail(err, COGEN_RT_BAD_ARGUMENT, "key of %zu bytes: at most %zu", strlen(key),
                sizeof w->text - 1);
        return false;
    }
    memcpy(w->text, key, strlen(key) + 1);
    char *save = NULL;
    for (char *word = strtok_r(w->text, " ,", &save); word; word = strtok_r(NULL, " ,", &save)) {
        char *eq = strchr(word, '=');
        if (!eq || eq == word || w->count == MAX_WANTED) {
            rt_fail(err, COGEN_RT_BAD_ARGUMENT, "key \"%s\": \"%s\" is not name=value", key, word);
            return false;
        }
        *eq = '\0';
        w->name[w->count] = word;
        w->value[w->count++] = eq + 1;
    }
    return true;
}

const char *cogen_rt_entry_option(const struct cogen_rt_entry *e, const char *name)
{
    for (size_t i = 0; i < e->option_count; i++)
        if (strcmp(e->options[i].name, name) == 0)
            return e->options[i].value;
    return NULL;
}

const struct cogen_rt_region *cogen_rt_entry_region(const struct cogen_rt_entry *e,
                                                    const char *name)
{
    for (size_t i = 0; i < e->region_count; i++)
        if (strcmp(e->regions[i].name, name) == 0)
            return &e->regions[i];
    return NULL;
}

/* 0: the entry has all that is wanted. An option that differs costs much, and numbers more the
 * further apart. */
static unsigned long distance(const struct cogen_rt_entry *e, const struct wanted *w)
{
    unsigned long sum = 0;
    for (int i = 0; i < w->count; i++) {
        const char *have = cogen_rt_entry_option(e, w->name[i]);
        if (have && strcmp(have, w->value[i]) == 0)
            continue;
        char *end1, *end2;
        long a = have ? strtol(have, &end1, 10) : 0, b = strtol(w->value[i], &end2, 10);
        bool numbers = have && *have && *w->value[i] && !*end1 && !*end2;
        unsigned long gap = numbers ? (unsigned long)labs(a - b) : 10000;
        sum += 100000 + (gap < 10000 ? gap : 10000);
    }
    return sum;
}

static void append(char *out, size_t size, const char *text)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s", text);
}

/* "model=v41-flash tokens=4 ..." : those of the entry's options that are wanted, so that the
 * difference shows. */
static void key_text(const struct cogen_rt_entry *e, const struct wanted *w, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < w->count; i++) {
        const char *have = cogen_rt_entry_option(e, w->name[i]);
        append(out, size, i ? " " : "");
        append(out, size, w->name[i]);
        append(out, size, "=");
        append(out, size, have ? have : "(none)");
    }
}

static void list_near(const struct cogen_rt_library *lib, const struct wanted *w, char *out,
                      size_t size)
{
    size_t taken[NEAR];
    int n = 0;
    out[0] = '\0';
    for (; n < NEAR && (size_t)n < lib->count; n++) {
        size_t best = lib->count;
        unsigned long least = 0;
        for (size_t i = 0; i < lib->count; i++) {
            bool used = false;
            for (int j = 0; j < n; j++)
                used |= taken[j] == i;
            unsigned long d = distance(&lib->entries[i], w);
            if (!used && (best == lib->count || d < least)) {
                best = i;
                least = d;
            }
        }
        taken[n] = best;
        char text[256];
        key_text(&lib->entries[best], w, text, sizeof text);
        append(out, size, n ? "; " : "");
        append(out, size, text);
    }
}

/* Two entries of the same wanted options: the names of the options that tell them apart. */
static void list_differences(const struct cogen_rt_entry *a, const struct cogen_rt_entry *b,
                             char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < a->option_count; i++) {
        const char *other = cogen_rt_entry_option(b, a->options[i].name);
        if (other && strcmp(other, a->options[i].value) == 0)
            continue;
        append(out, size, *out ? " " : "");
        append(out, size, a->options[i].name);
    }
}

const struct cogen_rt_entry *cogen_rt_library_find(const struct cogen_rt_library *lib,
                                                   const char *key, struct cogen_rt_error *err)
{
    struct wanted w;
    char text[640];
    if (!split_key(key, &w, err))
        return NULL;
    const struct cogen_rt_entry *found = NULL;
    for (size_t i = 0; i < lib->count; i++) {
        if (distance(&lib->entries[i], &w) != 0)
            continue;
        if (found) {
            list_differences(found, &lib->entries[i], text, sizeof text);
            rt_fail(err, COGEN_RT_NOT_FOUND, "%s: more than one kernel has %s; say also: %s",
                    lib->path, key, text);
            return NULL;
        }
        found = &lib->entries[i];
    }
    if (found) {
        rt_ok(err);
        return found;
    }
    list_near(lib, &w, text, sizeof text);
    rt_fail(err, COGEN_RT_NOT_FOUND, "%s: no kernel of %s among its %zu; nearest: %s", lib->path,
            key, lib->count, text);
    return NULL;
}
