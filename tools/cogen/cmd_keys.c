/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cogen keys: what this build can generate. Nothing is listed from memory: every key is asked of
 * the code that would generate it (the plan, or with --build the whole generator), and runs of
 * token counts that answer alike are one row.
 */
#include "gen/generate.h"
#include "gen/model.h"
#include "tools/cogen/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keys_options {
    struct cli_keys keys;
    bool json, build, refused;
};

#define FIELD(member) CLI_FIELD(struct keys_options, member)
static const struct cli_option options[] = {
    {"json",    0, NULL, "print JSON instead of a table",                       FIELD(json)   },
    {"build",   0, NULL, "generate every key too (minutes), not only its plan", FIELD(build)  },
    {"refused", 0, NULL, "show also what is refused, and why",                  FIELD(refused)},
};

/* 0 when the generator takes the key; fills the finished key. */
static int ask(const struct keys_options *o, const struct cli_keys *keys, struct cogen_key *key,
               char *err, size_t err_size)
{
    if (cli_keys_one(keys, key, err, err_size) != 0)
        return -1;
    struct plan *plan = malloc(sizeof *plan);
    if (!plan) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    int bad = plan_make(key, plan, err, err_size);
    free(plan);
    if (!bad && o->build) {
        struct cogen_code code;
        bad = cogen_generate(key, NULL, &code, err, err_size);
        if (!bad)
            cogen_code_free(&code);
    }
    return bad;
}

/* A run of token counts that answer alike. */
struct row {
    struct cogen_key key; /* of the first; without meaning when refused before it was finished */
    const char *model, *kernel;
    int tp, ratio, first, last;
    bool good;
    char why[ERR_SIZE];
};

static void table_row(const struct row *r)
{
    if (r->good)
        printf("%-10s %-6s %3d %6d %5d  %2d .. %2d\n", r->model, r->kernel, r->tp, r->ratio,
               r->key.topk, r->first, r->last);
    else
        printf("%-10s %-6s %3d %6d     -  %2d .. %2d  refused: %s\n", r->model, r->kernel, r->tp,
               r->ratio, r->first, r->last, r->why);
}

static json_t *json_row(const struct row *r)
{
    json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:b}", "model", r->model, "kernel",
                          r->kernel, "tp", r->tp, "ratio", r->ratio, "tokens_first", r->first,
                          "tokens_last", r->last, "builds", r->good);
    if (!r->good) {
        json_object_set_new(o, "reason", json_string(r->why));
        return o;
    }
    json_t *key = json_object();
    for (size_t i = 0; i < cogen_key_option_count; i++) {
        char text[128];
        const char *name = cogen_key_options[i].name;
        if (strcmp(name, "tokens") != 0)
            json_object_set_new(key, name,
                                json_string(cogen_key_get(&r->key, name, text, sizeof text)));
    }
    json_object_set_new(o, "key", key);
    return o;
}

static void emit_row(const struct keys_options *o, const struct row *r, json_t *list)
{
    if (r->first > r->last || (!r->good && !o->refused))
        return;
    if (list)
        json_array_append_new(list, json_row(r));
    else
        table_row(r);
}

static bool wanted(const struct cli_keys *keys, const char *option, const char *value)
{
    const char *text = cli_keys_text(keys, option);
    return !text || strcmp(text, value) == 0;
}

/* All token counts of one (model, kernel, tp, ratio). */
static int list_tokens(const struct keys_options *o, struct cli_keys keys, struct row *r,
                       json_t *list)
{
    int good = 0;
    for (int s = 1; s <= COGEN_MAX_TOKENS; s++) {
        char text[16], why[ERR_SIZE] = "";
        snprintf(text, sizeof text, "%d", s);
        if (!wanted(&o->keys, "tokens", text))
            continue;
        cli_keys_set(&keys, "tokens", text);
        struct cogen_key key;
        bool ok = ask(o, &keys, &key, why, sizeof why) == 0;
        good += ok;
        if (r->first <= r->last && ok == r->good && (ok || strcmp(why, r->why) == 0) &&
            s == r->last + 1) {
            r->last = s;
            continue;
        }
        emit_row(o, r, list);
        r->first = r->last = s;
        r->good = ok;
        r->key = key;
        snprintf(r->why, sizeof r->why, "%s", why);
    }
    emit_row(o, r, list);
    return good;
}

static int list_model(const struct keys_options *o, const struct model *m, json_t *list)
{
    static const char *const kernels[] = {"front", "back"};
    int good = 0;
    struct row *r = malloc(sizeof *r);
    for (int k = 0; r && k < 2; k++)
        for (int tp = 1; tp <= m->o_groups; tp *= 2)
            for (int i = 0; i < m->n_ratios; i++) {
                char tp_text[16], ratio_text[16];
                snprintf(tp_text, sizeof tp_text, "%d", tp);
                snprintf(ratio_text, sizeof ratio_text, "%d", m->ratios[i]);
                if (!wanted(&o->keys, "kernel", kernels[k]) || !wanted(&o->keys, "tp", tp_text) ||
                    !wanted(&o->keys, "ratio", ratio_text))
                    continue;
                struct cli_keys keys = o->keys;
                cli_keys_set(&keys, "model", m->name);
                cli_keys_set(&keys, "kernel", kernels[k]);
                cli_keys_set(&keys, "tp", tp_text);
                cli_keys_set(&keys, "ratio", ratio_text);
                *r = (struct row){.model = m->name,
                                  .kernel = kernels[k],
                                  .tp = tp,
                                  .ratio = m->ratios[i],
                                  .first = 1};
                good += list_tokens(o, keys, r, list);
            }
    free(r);
    return good;
}

int cmd_keys(int argc, char **argv)
{
    struct keys_options o = {0};
    cli_keys_init(&o.keys, "Only keys with:", false);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.keys.table};
    cli_parse(argc, argv,
              "Lists the keys that this build generates: a row holds a run of token counts.", &own);

    json_t *list = o.json ? json_array() : NULL;
    if (!o.json)
        printf("%-10s %-6s %3s %6s %5s  %s\n", "model", "kernel", "tp", "ratio", "topk", "tokens");
    int good = 0;
    for (size_t i = 0; i < model_count; i++)
        if (cli_keys_text(&o.keys, "model") ? wanted(&o.keys, "model", models[i].name)
                                            : models[i].listed)
            good += list_model(&o, &models[i], list);
    if (list) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        printf("\n");
        json_decref(list);
    } else {
        printf("%d keys\n", good);
    }
    return good ? EXIT_GOOD : cli_fail(argv[0], EXIT_FAILED, "no key of these options builds");
}
