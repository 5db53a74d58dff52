/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shell.h"

#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>

extern char **environ;

int shell(const char *line)
{
    const char *const argv[] = {"sh", "-c", line, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, (char *const *)argv, environ) != 0 ||
        waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
