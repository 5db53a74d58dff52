/* SPDX-License-Identifier: Apache-2.0 */
/* cogen dump: a key's assembly, as text that assembles. */
#include "gen/generate.h"
#include "gen/object.h"
#include "tools/cogen/cli.h"

#include <stdio.h>
#include <string.h>

struct dump_options {
    struct cli_keys keys;
    const char *out;
};

static const struct argp_option options[] = {
    {"out", 'o', "FILE", 0, "write there instead of standard output", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct dump_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->keys;
        return 0;
    case 'o':
        o->out = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_failure(state, EXIT_BAD_INPUT, 0, "stray argument \"%s\": everything is an option",
                     arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_dump(int argc, char **argv)
{
    struct dump_options o = {0};
    cli_keys_init(&o.keys, "The key:", false);
    const struct argp argp = {
        options, parse, NULL,
        "Prints the assembly of a key, with its LDS and scratch maps, stages and reasons.",
        o.keys.child};
    cli_parse(&argp, argc, argv, &o);

    char err[ERR_SIZE];
    struct cogen_key key;
    if (cli_keys_one(&o.keys, &key, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_BAD_INPUT, "%s", err);
    struct cogen_code code;
    if (cogen_generate(&key, NULL, &code, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_FAILED, "%s", err);
    int bad = 0;
    if (o.out)
        bad = cogen_file_write(o.out, code.text, strlen(code.text), err, sizeof err);
    else if (fputs(code.text, stdout) == EOF || fflush(stdout) != 0) {
        snprintf(err, sizeof err, "standard output: write error");
        bad = -1;
    }
    cogen_code_free(&code);
    return bad ? cli_fail(argv[0], EXIT_FAILED, "%s", err) : EXIT_GOOD;
}
