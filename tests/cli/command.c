/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "tests/support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/read_file.h"
#include "tests/support/shell.h"

static void slurp(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
    unlink(path);
}

const struct said *cogen(const char *format, ...)
{
    static struct said said;
    char line[8192], whole[9216], out[] = "/tmp/cogen-out-XXXXXX", err[] = "/tmp/cogen-err-XXXXXX";
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    int fd = mkstemp(out);
    assert_true(fd >= 0);
    close(fd);
    fd = mkstemp(err);
    assert_true(fd >= 0);
    close(fd);
    const char *bin = getenv("COGEN_BIN");
    snprintf(whole, sizeof whole, "%s/cogen %s >%s 2>%s </dev/null", bin ? bin : "bin", line, out,
             err);
    said.status = shell(whole);
    slurp(out, said.out, sizeof said.out);
    slurp(err, said.err, sizeof said.err);
    return &said;
}

void refused(const struct said *s, int code, const char *const *words, const char *file, int line)
{
    bool good = s->status == code;
    const char *end = strchr(s->err, '\n');
    good = good && end && end[1] == '\0';
    for (; good && *words; words++)
        good = strstr(s->err, *words) != NULL;
    if (good)
        return;
    print_error("status %d, said: %s%s\n", s->status, s->err, *words ? *words : "");
    _fail(file, line);
}

char *fresh_folder(void)
{
    char *path = strdup("/tmp/cogen-test-XXXXXX");
    assert_non_null(path);
    assert_non_null(mkdtemp(path));
    return path;
}

void drop_folder(char *folder)
{
    char line[4096];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    assert_int_equal(shell(line), 0);
    free(folder);
}

static void join(char *path, size_t size, const char *folder, const char *file)
{
    snprintf(path, size, "%s/%s", folder, file);
}

char *file_bytes(const char *folder, const char *file, size_t *size)
{
    char path[4096];
    join(path, sizeof path, folder, file);
    char *bytes = read_file(path, size);
    if (!bytes)
        fail_msg("%s does not read", path);
    return bytes;
}

void same_file(const char *a, const char *b, const char *file)
{
    size_t na, nb;
    char *x = file_bytes(a, file, &na), *y = file_bytes(b, file, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(x, y, na);
    free(x);
    free(y);
}

void put_file(const char *folder, const char *file, const void *bytes, size_t size)
{
    char path[4096];
    join(path, sizeof path, folder, file);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

bool file_exists(const char *folder, const char *file)
{
    char path[4096];
    join(path, sizeof path, folder, file);
    return access(path, F_OK) == 0;
}

int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.' || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
    closedir(dir);
    return n;
}
