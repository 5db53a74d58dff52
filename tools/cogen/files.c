/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the command line, whole or not at all, and the line of progress. */
#include "tools/cogen/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *cli_join(const char *folder, const char *file)
{
    char *path = NULL;
    size_t n = strlen(folder);
    return asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", file) < 0 ? NULL
                                                                                             : path;
}

int cli_make_folder(const char *path, bool *made, char *err, size_t err_size)
{
    *made = false;
    char *copy = strdup(*path ? path : ".");
    if (!copy) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    int bad = 0;
    for (char *p = copy + 1; !bad; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        bool fresh = mkdir(copy, 0777) == 0;
        bad = !fresh && errno != EEXIST;
        *made |= fresh; /* where a parent was not there, the folder was not either */
        *p = end;
        if (!end)
            break;
    }
    struct stat st;
    if (!bad && (stat(copy, &st) != 0 || !S_ISDIR(st.st_mode))) {
        errno = ENOTDIR;
        bad = 1;
    }
    /* Permission bits do not tell of read-only file systems: make a file. */
    char *probe = bad ? NULL : cli_join(copy, ".cogen-XXXXXX");
    if (probe) {
        int fd = mkstemp(probe);
        if (fd >= 0) {
            close(fd);
            unlink(probe);
        }
        bad = fd < 0;
    }
    if (bad) {
        snprintf(err, err_size, "%s: cannot write there: %s", path, strerror(errno));
        cli_drop_folder(path, *made);
        *made = false;
    }
    free(probe);
    free(copy);
    return bad ? -1 : 0;
}

void cli_drop_folder(const char *path, bool made)
{
    if (made)
        rmdir(path);
}

int cli_temp_folder(char *path, size_t path_size, char *err, size_t err_size)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, path_size, "%s/cogen-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(path))
        return 0;
    snprintf(err, err_size, "%s: %s", path, strerror(errno));
    return -1;
}

void cli_temp_remove(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    int folder = dirfd(dir);
    for (struct dirent *e; folder >= 0 && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(folder, e->d_name, 0);
    closedir(dir);
    rmdir(path);
}

struct cli_progress cli_progress_begin(const char *what, size_t total)
{
    return (struct cli_progress){what, total, isatty(STDERR_FILENO) != 0};
}

void cli_progress_step(struct cli_progress *p, size_t done, const char *detail)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K%s %zu/%zu %s", p->what, done, p->total, detail ? detail : "");
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
}
