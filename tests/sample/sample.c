/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a list of keys with many schedules each, through the command line:
 *
 *     sample COGEN KEYS.txt SCHEDULES [STEP]
 *
 * takes every STEP-th key of the list (1). A line a key with its time; the last line counts, as
 * test runners do.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 512, WORDS = 64 };

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs `cogen verify --kernel LINE --schedules N`; its output goes to a file, shown when it fails.
 * 0: it holds. */
static int verify(const char *cogen, const char *line, const char *schedules)
{
    char words[LINE], *argv[WORDS], log[] = "/tmp/cogen-sample-XXXXXX";
    int n = 0, fd = mkstemp(log), status = -1;
    pid_t child;
    if (fd < 0)
        return -1;
    snprintf(words, sizeof words, "%s", line);
    argv[n++] = (char *)cogen;
    argv[n++] = "verify";
    argv[n++] = "--schedules";
    argv[n++] = (char *)schedules;
    argv[n++] = "--kernel";
    char *rest = words;
    for (char *w; n < WORDS - 1 && (w = strsep(&rest, " "));)
        if (*w)
            argv[n++] = w;
    argv[n] = NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
    int failed = posix_spawn(&child, cogen, &actions, NULL, argv, environ) != 0 ||
                 waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
                 WEXITSTATUS(status) != 0;
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        char text[4096];
        ssize_t got;
        lseek(fd, 0, SEEK_SET);
        while ((got = read(fd, text, sizeof text)) > 0)
            fwrite(text, 1, (size_t)got, stdout);
    }
    close(fd);
    unlink(log);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    char line[LINE];
    int step = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1, number = 0, passed = 0, failed = 0;
    FILE *keys = argc >= 4 && step > 0 ? fopen(argv[2], "r") : NULL;
    if (!keys) {
        fprintf(stderr, "usage: sample COGEN KEYS.txt SCHEDULES [STEP]%s%s\n",
                argc >= 4 ? ": " : "", argc >= 4 ? strerror(errno) : "");
        return 2;
    }
    double begin = now();
    while (fgets(line, sizeof line, keys)) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        if (!*line || *line == '#' || number++ % step)
            continue;
        double start = now();
        int bad = verify(argv[1], line, argv[3]) != 0;
        failed += bad;
        passed += !bad;
        printf("%-6s %6.1f s  %s\n", bad ? "FAILED" : "ok", now() - start, line);
        fflush(stdout);
    }
    fclose(keys);
    printf("%s schedules each, %.0f s\n%d passed, %d failed\n", argv[3], now() - begin, passed,
           failed);
    return failed || !passed;
}
