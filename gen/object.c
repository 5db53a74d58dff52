/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- tools */

struct tool {
    const char *name, *variable, *built_in, *package;
};

static const struct tool assembler = {"llvm-mc", "COGEN_LLVM_MC", COGEN_DEFAULT_LLVM_MC, "llvm-22"};
static const struct tool linker = {"ld.lld", "COGEN_LD_LLD", COGEN_DEFAULT_LD_LLD, "lld-22"};

/* The tool's path, or NULL and a line. */
static const char *find_tool(const struct tool *tool, const char *given, char *err, size_t err_size)
{
    const char *path = given;
    if (!path || !*path)
        path = getenv(tool->variable);
    if (!path || !*path)
        path = tool->built_in;
    if (*path && access(path, X_OK) == 0)
        return path;
    snprintf(err, err_size, "%s%s%s: not found; install Debian's package %s or set %s", tool->name,
             *path ? " at " : "", path, tool->package, tool->variable);
    return NULL;
}

/* The message in a tool's output: the first line with an error, without the file name in front. */
static void first_message(const char *output, char *message, size_t size)
{
    const char *line = strstr(output, "error:");
    if (!line)
        line = output;
    const char *start = line;
    while (start > output && start[-1] != '\n')
        start--;
    /* "<stdin>:12:3: error: ..." keeps its line number */
    const char *number = strstr(start, ":");
    const char *from = number && number < line ? number + 1 : start;
    snprintf(message, size, "%s%.*s", from == start ? "" : "line ", (int)strcspn(from, "\n"), from);
}

/* Reads what a child says, at most size - 1 bytes, until it closes the pipe. */
static void drain(int fd, char *buf, size_t size)
{
    size_t n = 0;
    char rest[512];
    for (;;) {
        bool full = n + 1 >= size;
        ssize_t got = read(fd, full ? rest : buf + n, full ? sizeof rest : size - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (!full)
            n += (size_t)got;
    }
    buf[n] = '\0';
}

static int spawn_failed(const char *path, int code, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s: cannot run: %s", path, strerror(code));
    return -1;
}

/* Runs a program with its standard output and error in a pipe. 0, or -1 and its first message. */
static int run(const struct tool *tool, const char *const *argv, char *err, size_t err_size)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        return spawn_failed(argv[0], errno, err, err_size);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
    pid_t child;
    int code = posix_spawn(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (code) {
        close(fds[0]);
        return spawn_failed(argv[0], code, err, err_size);
    }
    char output[4096], message[512];
    drain(fds[0], output, sizeof output);
    close(fds[0]);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    first_message(output, message, sizeof message);
    if (WIFSIGNALED(status))
        snprintf(message, sizeof message, "ended by signal %d", WTERMSIG(status));
    snprintf(err, err_size, "%s: %s", tool->name,
             message[0] ? message : "failed without a message");
    return -1;
}

/* ---- files */

static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A new file beside path, its name in name; its descriptor or -1. */
static int open_beside(const char *path, const char *what, char *name, size_t size)
{
    if (snprintf(name, size, "%s.%s.XXXXXX", path, what) >= (int)size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkostemp(name, O_CLOEXEC);
}

static int file_failed(const char *path, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s: %s", path, strerror(errno));
    return -1;
}

/* mkostemp's files are for the owner alone. */
static void make_readable(int fd)
{
    (void)!fchmod(fd, 0644);
}

int cogen_file_write(const char *path, const void *data, size_t size, char *err, size_t err_size)
{
    char name[PATH_MAX];
    int fd = open_beside(path, "tmp", name, sizeof name);
    if (fd < 0)
        return file_failed(path, err, err_size);
    make_readable(fd);
    int bad = write_all(fd, data, size);
    int code = bad ? file_failed(path, err, err_size) : 0;
    if (close(fd) && !code)
        code = file_failed(path, err, err_size);
    if (!code && rename(name, path))
        code = file_failed(path, err, err_size);
    if (code)
        unlink(name);
    return code;
}

struct names {
    char text[PATH_MAX], object[PATH_MAX], linked[PATH_MAX];
};

static int make_temporaries(const char *text, const char *path, struct names *n, char *err,
                            size_t err_size)
{
    int fd = open_beside(path, "s", n->text, sizeof n->text);
    if (fd < 0) {
        n->text[0] = '\0';
        return file_failed(path, err, err_size);
    }
    int bad = write_all(fd, text, strlen(text));
    if (close(fd) || bad)
        return file_failed(path, err, err_size);
    fd = open_beside(path, "o", n->object, sizeof n->object);
    if (fd < 0) {
        n->object[0] = '\0';
        return file_failed(path, err, err_size);
    }
    close(fd);
    fd = open_beside(path, "tmp", n->linked, sizeof n->linked);
    if (fd < 0) {
        n->linked[0] = '\0';
        return file_failed(path, err, err_size);
    }
    close(fd);
    return 0;
}

int cogen_object_write(const char *text, const char *arch, const char *path,
                       const struct cogen_tools *tools, char *err, size_t err_size)
{
    const char *mc = find_tool(&assembler, tools ? tools->llvm_mc : NULL, err, err_size);
    const char *ld = mc ? find_tool(&linker, tools ? tools->ld_lld : NULL, err, err_size) : NULL;
    if (!ld)
        return -1;
    char cpu[64];
    snprintf(cpu, sizeof cpu, "-mcpu=%s", arch);
    struct names n = {0};
    int code = make_temporaries(text, path, &n, err, err_size);
    /* No debug information, no source name: nothing of where the files lie reaches the output. */
    const char *const assemble[] = {
        mc, "-triple=amdgcn-amd-amdhsa", cpu, "-filetype=obj", n.text, "-o", n.object, NULL};
    const char *const link[] = {ld, "-shared", "--build-id=none", n.object, "-o", n.linked, NULL};
    if (!code)
        code = run(&assembler, assemble, err, err_size);
    if (!code)
        code = run(&linker, link, err, err_size);
    if (!code) {
        int fd = open(n.linked, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            make_readable(fd);
            close(fd);
        }
        if (rename(n.linked, path))
            code = file_failed(path, err, err_size);
    }
    if (n.text[0])
        unlink(n.text);
    if (n.object[0])
        unlink(n.object);
    if (n.linked[0] && code)
        unlink(n.linked);
    return code;
}
