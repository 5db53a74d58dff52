/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command: argp's view of its tables, and the fields that they set. */
#include "tools/cogen/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 64, FIRST_KEY = 0x4000 };

struct parse {
    const struct cli_table *table[MAX_ROWS]; /* by number of the row, over all tables */
    const struct cli_option *row[MAX_ROWS];
    bool given[MAX_ROWS];
    int count;
    struct argp_option options[2 * MAX_ROWS];
};

int cli_number(const char *text, int64_t least, int64_t most, int64_t *number, char *err,
               size_t err_size)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 0);
    if (!errno && end != text && !*end && *number >= least && *number <= most)
        return 0;
    snprintf(err, err_size, "accepted are numbers %lld .. %lld", (long long)least, (long long)most);
    return -1;
}

static int set_field(const struct cli_option *row, void *field, const char *text, char *err,
                     size_t err_size)
{
    int64_t number = 0;
    bool is_number = row->kind == CLI_INT || row->kind == CLI_U32 || row->kind == CLI_U64;
    if (is_number && cli_number(text, row->least, row->most, &number, err, err_size) != 0)
        return -1;
    switch (row->kind) {
    case CLI_OWN:
        return row->take(field, text, err, err_size);
    case CLI_SWITCH:
        *(bool *)field = true;
        break;
    case CLI_TEXT:
        *(const char **)field = text;
        break;
    case CLI_INT:
        *(int *)field = (int)number;
        break;
    case CLI_U32:
        *(uint32_t *)field = (uint32_t)number;
        break;
    case CLI_U64:
        *(uint64_t *)field = (uint64_t)number;
        break;
    }
    return 0;
}

static void take(struct parse *p, int i, const char *text, struct argp_state *state)
{
    const struct cli_option *row = p->row[i];
    char err[ERR_SIZE];
    p->given[i] = true;
    if (set_field(row, (char *)p->table[i]->into + row->at, text, err, sizeof err) != 0)
        argp_failure(state, EXIT_BAD_INPUT, 0, "--%s %s: %s", row->name, text, err);
}

/* The argument that is no option goes to the row without a name. */
static void take_argument(struct parse *p, const char *text, struct argp_state *state)
{
    int i = 0;
    while (i < p->count && p->row[i]->name)
        i++;
    if (i == p->count)
        argp_failure(state, EXIT_BAD_INPUT, 0, "stray argument \"%s\": everything is an option",
                     text);
    else if (p->given[i])
        argp_failure(state, EXIT_BAD_INPUT, 0, "stray argument \"%s\": one %s is taken", text,
                     p->row[i]->value);
    else
        take(p, i, text, state);
}

static void refuse_missing(const struct parse *p, struct argp_state *state)
{
    for (int i = 0; i < p->count; i++) {
        const struct cli_option *row = p->row[i];
        if (row->needed && !p->given[i])
            argp_failure(state, EXIT_BAD_INPUT, 0, "%s%s%s%s is missing: %s", row->name ? "--" : "",
                         row->name ? row->name : "", row->name ? " " : "", row->value, row->needed);
    }
}

static int key_of(const struct cli_option *row, int i)
{
    return row->letter ? row->letter : FIRST_KEY + i;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    if (key == ARGP_KEY_ARG) {
        take_argument(p, arg, state);
        return 0;
    }
    if (key == ARGP_KEY_END) {
        refuse_missing(p, state);
        return 0;
    }
    for (int i = 0; i < p->count; i++) {
        if (!p->row[i]->name || key_of(p->row[i], i) != key)
            continue;
        take(p, i, arg ? arg : "1", state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

void cli_parse(int argc, char **argv, const char *what, const struct cli_table *tables)
{
    struct parse p = {0};
    char argument[64] = "";
    struct argp_option *o = p.options;
    int group = 0;
    for (const struct cli_table *t = tables; t; t = t->next, group++) {
        if (t->header)
            *o++ = (struct argp_option){.doc = t->header, .group = group};
        for (size_t i = 0; i < t->count && p.count < MAX_ROWS; i++) {
            const struct cli_option *row = &t->rows[i];
            if (row->name)
                *o++ = (struct argp_option){row->name,  key_of(row, p.count),
                                            row->value, row->bare ? OPTION_ARG_OPTIONAL : 0,
                                            row->help,  group};
            else
                snprintf(argument, sizeof argument, row->needed ? "%s" : "[%s]", row->value);
            p.table[p.count] = t;
            p.row[p.count++] = row;
        }
    }
    argp_err_exit_status = EXIT_BAD_INPUT;
    const struct argp argp = {.options = p.options,
                              .parser = parse,
                              .args_doc = *argument ? argument : NULL,
                              .doc = what};
    argp_parse(&argp, argc, argv, 0, NULL, &p);
}
