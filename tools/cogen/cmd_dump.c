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

static const struct cli_option options[] = {
    {"out", 'o', "FILE", "write there instead of standard output",
     CLI_FIELD(struct dump_options, out)},
};

int cmd_dump(int argc, char **argv)
{
    struct dump_options o = {0};
    cli_keys_init(&o.keys, "The key:", false);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.keys.table};
    cli_parse(argc, argv,
              "Prints the assembly of a key, with its LDS and scratch maps, stages and reasons.",
              &own);

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
