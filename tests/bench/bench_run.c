/* SPDX-License-Identifier: Apache-2.0 */
/* Wall time of `cogen run` on the emulator, from the command to its files: inputs made, kernel
 * generated, assembled, run. The exit status is 1 when a command fails or takes longer than its
 * limit. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/support/shell.h"

extern char **environ;

static const struct {
    const char *what, *kernel, *tokens;
    double limit_s; /* 0: none */
} rows[] = {
    {"K1 v41-flash S=1  tp 4 ratio 2",    "front", "1",  3 },
    {"K1 v41-flash S=48 tp 4 ratio 2",    "front", "48", 30},
    {"K2 v41-flash S=1  tp 4 ratio 2",    "back",  "1",  0 },
    {"layer v41-flash S=16 tp 4 ratio 2", "layer", "16", 0 },
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds, or -1 when the command failed. */
static double run(const char *cogen, const char *kernel, const char *tokens, const char *folder)
{
    const char *const argv[] = {cogen,       "run",      "--kernel", kernel, "--model",
                                "v41-flash", "--tokens", tokens,     "--tp", "4",
                                "--ratio",   "2",        "--seed",   "7",    "--device",
                                "emu",       "--out",    folder,     NULL};
    pid_t child;
    int status;
    double start = now();
    if (posix_spawn(&child, cogen, NULL, NULL, (char *const *)argv, environ) != 0 ||
        waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return -1;
    return now() - start;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/cogen-bench-XXXXXX", line[64];
    if (argc != 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_run COGEN\n");
        return 2;
    }
    int bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double s = run(argv[1], rows[i].kernel, rows[i].tokens, folder);
        int over = s < 0 || (rows[i].limit_s > 0 && s > rows[i].limit_s);
        bad |= over;
        printf("%-34s %7.2f s", rows[i].what, s);
        if (rows[i].limit_s > 0)
            printf("  limit %g s", rows[i].limit_s);
        printf("%s\n", s < 0 ? "  FAILED" : over ? "  TOO LONG" : "");
        fflush(stdout);
    }
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    if (shell(line) != 0)
        return 1;
    return bad;
}
