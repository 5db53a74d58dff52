/* SPDX-License-Identifier: Apache-2.0 */
/* cogen timeline: runs a timeline build and shows where each workgroup spent its time. */
#include "gen/object.h"
#include "tools/cogen/case_options.h"
#include "tools/cogen/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct timeline_options {
    struct case_options c;
    const char *out;
};

static const struct cli_option options[] = {
    {"out", 'o', "DIR", "folder of trace.json (Chrome, Perfetto) and timeline.svg",
     CLI_FIELD(struct timeline_options, out), .needed = "where to write the trace"},
};

static int write_text(const char *folder, const char *file, char *text, char *err, size_t err_size)
{
    char *path = cli_join(folder, file);
    int bad = -1;
    if (!text)
        snprintf(err, err_size, "the kernels left no stamp");
    else if (!path)
        snprintf(err, err_size, "out of memory");
    else
        bad = cogen_file_write(path, text, strlen(text), err, err_size);
    if (!bad)
        printf("%s\n", path);
    free(path);
    free(text);
    return bad;
}

int cmd_timeline(int argc, char **argv)
{
    struct timeline_options o = {0};
    case_options_init(&o.c);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.c.inputs};
    cli_parse(argc, argv,
              "Runs a timeline build and writes where each workgroup spent its time: a trace for "
              "Chrome or Perfetto and a picture, a row a workgroup, coloured by stage.",
              &own);
    cli_keys_set(&o.c.keys, "timeline", "1");

    char err[ERR_SIZE];
    bool made;
    if (cli_make_folder(o.out, &made, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_FAILED, "%s", err);
    struct case_step s;
    int status = case_step_open(&o.c, &s, err, sizeof err);
    if (status == EXIT_GOOD && step_run(s.step, o.c.schedule_seed, err, sizeof err) != 0)
        status = EXIT_FAILED;
    if (status == EXIT_GOOD) {
        struct trace_launch launches[2];
        size_t n = 0;
        if (s.has_front)
            launches[n++] =
                (struct trace_launch){"front", plan_stamps(COGEN_FRONT), step_timeline(s.step, 0)};
        if (s.has_back)
            launches[n++] =
                (struct trace_launch){"back", plan_stamps(COGEN_BACK), step_timeline(s.step, 1)};
        if (write_text(o.out, "trace.json", trace_json(launches, n), err, sizeof err) != 0 ||
            write_text(o.out, "timeline.svg", trace_svg(launches, n), err, sizeof err) != 0)
            status = EXIT_FAILED;
    }
    case_step_close(&s);
    if (status == EXIT_GOOD)
        return status;
    cli_drop_folder(o.out, made);
    return cli_fail(argv[0], status, "%s", err);
}
