/* SPDX-License-Identifier: Apache-2.0 */
/* cogen gen: code objects and their manifest. */
#include "tools/cogen/cli.h"
#include "tools/cogen/make.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPT_ASSEMBLY = 1, OPT_MC, OPT_LLD };

struct gen_options {
    struct cli_keys keys;
    struct make_options make;
};

static const struct argp_option options[] = {
    {"out", 'o', "DIR", 0, "folder of the code objects and manifest.json", 0},
    {"jobs", 'j', "N", 0, "threads (1); the bytes do not depend on it", 0},
    {"assembly", OPT_ASSEMBLY, 0, 0, "keep the assembly too, NAME.s beside NAME.co", 0},
    {"llvm-mc", OPT_MC, "PATH", 0,
     "assembler, in place of $COGEN_LLVM_MC or the one found by the build", 0},
    {"ld-lld", OPT_LLD, "PATH", 0,
     "linker, in place of $COGEN_LD_LLD or the one found by the build", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gen_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->keys;
        return 0;
    case 'o':
        o->make.folder = arg;
        return 0;
    case 'j':
        o->make.jobs = (int)cli_number("jobs", arg, 1, 256, state);
        return 0;
    case OPT_ASSEMBLY:
        o->make.assembly = true;
        return 0;
    case OPT_MC:
        o->make.tools.llvm_mc = arg;
        return 0;
    case OPT_LLD:
        o->make.tools.ld_lld = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_failure(state, EXIT_BAD_INPUT, 0, "stray argument \"%s\": everything is an option",
                     arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->make.folder)
            argp_failure(state, EXIT_BAD_INPUT, 0,
                         "--out DIR is missing: where to write the code objects");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_gen(int argc, char **argv)
{
    struct gen_options o = {
        .make = {.jobs = 1, .progress = true}
    };
    cli_keys_init(&o.keys,
                  "The keys; each option takes a list \"1,2,8..16\", and model, kernel, "
                  "tokens, tp and ratio \"all\":",
                  false);
    const struct argp argp = {
        options, parse, NULL,
        "Generates the code objects of every combination of the options given, and their manifest.",
        o.keys.child};
    cli_parse(&argp, argc, argv, &o);

    char err[ERR_SIZE];
    struct cogen_key *keys;
    size_t count;
    if (cli_keys_list(&o.keys, &keys, &count, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_BAD_INPUT, "%s", err);
    int bad = cli_make_folder(o.make.folder, err, sizeof err);
    if (!bad)
        bad = make_library(keys, count, &o.make, err, sizeof err);
    free(keys);
    if (bad)
        return cli_fail(argv[0], EXIT_FAILED, "%s", err);
    printf("%s/%s: %zu kernel%s\n", o.make.folder, MAKE_MANIFEST, count, count == 1 ? "" : "s");
    return EXIT_GOOD;
}
