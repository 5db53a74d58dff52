/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct command commands[] = {
    {"gen",      cmd_gen,      "generate code objects and their manifest, for one key or many"         },
    {"dump",     cmd_dump,     "print a key's assembly, with stages and reasons"                       },
    {"inspect",  cmd_inspect,
     "registers, LDS, code size, instruction counts, arguments of a kernel"                            },
    {"run",      cmd_run,      "run a kernel or a layer step on made inputs; write its outputs"        },
    {"verify",   cmd_verify,   "run and compare with the C reference; many schedules, if asked"        },
    {"keys",     cmd_keys,     "list what this build can generate"                                     },
    {"sweep",    cmd_sweep,    "generate and assemble every default key; print the table of resources" },
    {"timeline", cmd_timeline, "run a timeline build; write a trace and a picture of it"               },
    {"emu",      cmd_emu,      "run any code object on the emulator"                                   },
    {"lint",     cmd_lint,     "find missing waits and wait states in a code object without running it"},
};
const size_t command_count = sizeof commands / sizeof commands[0];

static void usage(FILE *out)
{
    fprintf(out, "Usage: cogen COMMAND [OPTION...]\n"
                 "Generates, inspects and runs the fused attention kernels of gfx950.\n\n");
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out,
            "\n`cogen COMMAND --help` tells a command's options; `cogen --version` the version.\n");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        usage(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        usage(stdout);
        return EXIT_GOOD;
    }
    if (strcmp(name, "--version") == 0) {
        printf("cogen %s\n", COGEN_VERSION);
        return EXIT_GOOD;
    }
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        char who[64];
        snprintf(who, sizeof who, "cogen %s", name);
        argv[1] = who;
        return commands[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "cogen: no command \"%s\"; the commands are:", name);
    for (size_t i = 0; i < command_count; i++)
        fprintf(stderr, " %s", commands[i].name);
    fprintf(stderr, "\n");
    return EXIT_BAD_INPUT;
}

int cli_fail(const char *who, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "%s: ", who);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    return status;
}
