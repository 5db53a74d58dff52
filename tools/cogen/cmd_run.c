/* SPDX-License-Identifier: Apache-2.0 */
/* cogen run: a kernel or a layer step on made inputs; its outputs as raw little-endian files. */
#include "gen/object.h"
#include "tools/cogen/case_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run_options {
    struct case_options c;
    const char *out;
};

static const struct cli_option options[] = {
    {"out", 'o', "DIR",
     "folder of the outputs: qr q records kt klen out, each NAME.bin as far as written", CLI_FIELD(struct run_options, out), .needed = "where to write the outputs"},
};

static int write_outputs(const struct step *step, const char *folder, char *err, size_t err_size)
{
    for (size_t i = 0; i < step_output_count; i++) {
        size_t size;
        const void *bytes = step_output(step, step_output_names[i], &size);
        if (!bytes)
            continue;
        char file[32];
        snprintf(file, sizeof file, "%s.bin", step_output_names[i]);
        char *path = cli_join(folder, file);
        int bad = !path || cogen_file_write(path, bytes, size, err, err_size) != 0;
        free(path);
        if (bad)
            return -1;
    }
    return 0;
}

int cmd_run(int argc, char **argv)
{
    struct run_options o = {0};
    case_options_init(&o.c);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.c.inputs};
    cli_parse(argc, argv,
              "Makes a step's inputs from a seed, launches the front kernel, the back kernel or "
              "both, and writes what they computed.",
              &own);

    char err[ERR_SIZE];
    bool made;
    if (cli_make_folder(o.out, &made, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_FAILED, "%s", err);
    struct case_step s;
    int status = case_step_open(&o.c, &s, err, sizeof err);
    if (status == EXIT_GOOD && (step_run(s.step, o.c.schedule_seed, err, sizeof err) != 0 ||
                                write_outputs(s.step, o.out, err, sizeof err) != 0))
        status = EXIT_FAILED;
    case_step_close(&s);
    if (status == EXIT_GOOD)
        return status;
    cli_drop_folder(o.out, made);
    return cli_fail(argv[0], status, "%s", err);
}
