/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a key on the command line: made from cogen_key_options, so that there is one table of
 * them. */
#include "gen/model.h"
#include "tools/cogen/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int row_of(const char *option)
{
    for (size_t i = 0; i < cogen_key_option_count; i++)
        if (strcmp(cogen_key_options[i].name, option) == 0)
            return (int)i;
    return -1;
}

static bool is_switch(const struct cogen_key_option *o)
{
    return strcmp(o->values, "0, 1") == 0;
}

/* `--kernel` where it may be "layer" too. */
static int take_kernel(void *field, const char *text, char *err, size_t err_size)
{
    (void)err, (void)err_size; /* a kernel's name is checked with the key */
    struct cli_keys *k = field;
    k->layer = strcmp(text, "layer") == 0;
    cli_keys_set(k, "kernel", k->layer ? NULL : text);
    return 0;
}

void cli_keys_init(struct cli_keys *k, const char *header, bool takes_layer)
{
    memset(k, 0, sizeof *k);
    k->table = (struct cli_table){.rows = k->rows, .header = header, .into = k};
    for (size_t i = 0; i < cogen_key_option_count && i < CLI_MAX_KEY_OPTIONS; i++) {
        const struct cogen_key_option *o = &cogen_key_options[i];
        bool layer = takes_layer && strcmp(o->name, "kernel") == 0;
        snprintf(k->help[i], sizeof k->help[i], "%s (%s%s)", o->help, o->values,
                 layer ? ", layer: both in turn" : "");
        k->rows[k->table.count++] = (struct cli_option){
            .name = o->name,
            .value = is_switch(o) ? "0|1" : "VALUE",
            .help = is_switch(o) ? o->help : k->help[i],
            .kind = layer ? CLI_OWN : CLI_TEXT,
            .at = layer ? 0 : offsetof(struct cli_keys, text) + i * sizeof k->text[0],
            .take = take_kernel,
            .bare = is_switch(o)};
    }
}

const char *cli_keys_text(const struct cli_keys *k, const char *option)
{
    int row = row_of(option);
    return row < 0 ? NULL : k->text[row];
}

void cli_keys_set(struct cli_keys *k, const char *option, const char *text)
{
    int row = row_of(option);
    if (row >= 0)
        k->text[row] = text;
}

int cli_keys_one(const struct cli_keys *k, struct cogen_key *key, char *err, size_t err_size)
{
    *key = cogen_key_empty();
    for (size_t i = 0; i < cogen_key_option_count; i++)
        if (k->text[i] &&
            cogen_key_set(key, cogen_key_options[i].name, k->text[i], err, err_size) != 0)
            return -1;
    return cogen_key_finish(key, err, err_size);
}

/* ---- lists */

struct listing {
    const struct cli_keys *keys;
    struct cogen_key *out;
    size_t count, room;
    char *err;
    size_t err_size;
};

static int add_key(struct listing *l, const struct cogen_key *partial, bool all)
{
    struct cogen_key key = *partial;
    if (cogen_key_finish(&key, l->err, l->err_size) != 0)
        return all ? 0 : -1;
    for (size_t i = 0; i < l->count; i++)
        if (cogen_key_equal(&l->out[i], &key))
            return 0;
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct cogen_key *more = realloc(l->out, room * sizeof *more);
        if (!more) {
            snprintf(l->err, l->err_size, "out of memory for %zu keys", room);
            return -1;
        }
        l->out = more;
        l->room = room;
    }
    l->out[l->count++] = key;
    return 0;
}

static int expand(struct listing *l, size_t row, const struct cogen_key *partial, bool all);

static int with_value(struct listing *l, size_t row, const struct cogen_key *partial,
                      const char *value, bool all)
{
    struct cogen_key key = *partial;
    if (cogen_key_set(&key, cogen_key_options[row].name, value, l->err, l->err_size) != 0)
        return all ? 0 : -1;
    return expand(l, row + 1, &key, all);
}

static int with_range(struct listing *l, size_t row, const struct cogen_key *partial, long first,
                      long last, long step, bool all)
{
    for (long v = first; v <= last; v = step ? v + step : v * 2) {
        char text[24];
        snprintf(text, sizeof text, "%ld", v);
        if (with_value(l, row, partial, text, all) != 0)
            return -1;
    }
    return 0;
}

/* What `all` means for an option; the finished key says which of the values a model has. */
static int with_all(struct listing *l, size_t row, const struct cogen_key *partial)
{
    const char *name = cogen_key_options[row].name;
    if (strcmp(name, "model") == 0) {
        for (size_t i = 0; i < model_count; i++)
            if (models[i].listed && with_value(l, row, partial, models[i].name, true) != 0)
                return -1;
        return 0;
    }
    if (strcmp(name, "kernel") == 0)
        return with_value(l, row, partial, "front", true) ||
                       with_value(l, row, partial, "back", true)
                   ? -1
                   : 0;
    if (strcmp(name, "tokens") == 0)
        return with_range(l, row, partial, 1, COGEN_MAX_TOKENS, 1, true);
    if (strcmp(name, "tp") == 0)
        return with_range(l, row, partial, 1, 64, 0, true);
    if (strcmp(name, "ratio") == 0)
        return with_value(l, row, partial, "0", true) ||
                       with_range(l, row, partial, 1, 128, 0, true)
                   ? -1
                   : 0;
    snprintf(l->err, l->err_size, "--%s all: only model, kernel, tokens, tp and ratio take \"all\"",
             name);
    return -1;
}

static int expand(struct listing *l, size_t row, const struct cogen_key *partial, bool all)
{
    if (row == cogen_key_option_count)
        return add_key(l, partial, all);
    const char *text = l->keys->text[row];
    if (!text)
        return expand(l, row + 1, partial, all);
    char copy[512], *save = NULL;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy || !*copy) {
        snprintf(l->err, l->err_size, "--%s: a list of %zu characters: accepted are 1 .. %zu",
                 cogen_key_options[row].name, strlen(text), sizeof copy - 1);
        return -1;
    }
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *dots = strstr(item, ".."), *end1, *end2;
        long first = strtol(item, &end1, 10), last = dots ? strtol(dots + 2, &end2, 10) : 0;
        int bad;
        if (strcmp(item, "all") == 0)
            bad = with_all(l, row, partial);
        else if (dots && end1 == dots && end1 != item && end2 != dots + 2 && !*end2 &&
                 first <= last && last - first < 10000)
            bad = with_range(l, row, partial, first, last, 1, all);
        else
            bad = with_value(l, row, partial, item, all);
        if (bad)
            return -1;
    }
    return 0;
}

int cli_keys_list(const struct cli_keys *k, struct cogen_key **out, size_t *count, char *err,
                  size_t err_size)
{
    struct listing l = {.keys = k, .err = err, .err_size = err_size};
    struct cogen_key empty = cogen_key_empty();
    err[0] = '\0';
    int bad = expand(&l, 0, &empty, false);
    if (!bad && l.count == 0) {
        if (!*err)
            snprintf(err, err_size, "no key");
        bad = -1;
    }
    if (bad) {
        free(l.out);
        return -1;
    }
    *out = l.out;
    *count = l.count;
    return 0;
}
