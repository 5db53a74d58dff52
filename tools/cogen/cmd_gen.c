/* SPDX-License-Identifier: Apache-2.0 */
/* cogen gen: code objects and their manifest. */
#include "tools/cogen/cli.h"
#include "tools/cogen/make.h"

#include <stdio.h>
#include <stdlib.h>

struct gen_options {
    struct cli_keys keys;
    struct make_options make;
};

#define FIELD(member) CLI_FIELD(struct gen_options, member)
static const struct cli_option options[] = {
    {"out", 'o', "DIR", "folder of the code objects and manifest.json", FIELD(make.folder),
     .needed = "where to write the code objects"},
    {"jobs", 'j', "N", "threads (1); the bytes do not depend on it", FIELD(make.jobs), .least = 1,
     .most = 256},
    {"assembly", 0, NULL, "keep the assembly too, NAME.s beside NAME.co", FIELD(make.assembly)},
    {"llvm-mc", 0, "PATH", "assembler, in place of $COGEN_LLVM_MC or the one found by the build",
     FIELD(make.tools.llvm_mc)},
    {"ld-lld", 0, "PATH", "linker, in place of $COGEN_LD_LLD or the one found by the build",
     FIELD(make.tools.ld_lld)},
};

int cmd_gen(int argc, char **argv)
{
    struct gen_options o = {
        .make = {.jobs = 1, .progress = true}
    };
    cli_keys_init(&o.keys,
                  "The keys; each option takes a list \"1,2,8..16\", and model, kernel, "
                  "tokens, tp and ratio \"all\":",
                  false);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.keys.table};
    cli_parse(
        argc, argv,
        "Generates the code objects of every combination of the options given, and their manifest.",
        &own);

    char err[ERR_SIZE];
    struct cogen_key *keys;
    size_t count;
    if (cli_keys_list(&o.keys, &keys, &count, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_BAD_INPUT, "%s", err);
    bool made;
    int bad = cli_make_folder(o.make.folder, &made, err, sizeof err);
    if (!bad)
        bad = make_library(keys, count, &o.make, err, sizeof err);
    free(keys);
    if (bad) {
        cli_drop_folder(o.make.folder, made);
        return cli_fail(argv[0], EXIT_FAILED, "%s", err);
    }
    printf("%s/%s: %zu kernel%s\n", o.make.folder, MAKE_MANIFEST, count, count == 1 ? "" : "s");
    return EXIT_GOOD;
}
