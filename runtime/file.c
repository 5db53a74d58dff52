/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/error.h"
#include "runtime/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum cogen_rt_status rt_read_file(const char *path, void **bytes, size_t *size,
                                  struct cogen_rt_error *err)
{
    *bytes = NULL;
    *size = 0;
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0 || S_ISDIR(st.st_mode)) {
        int why = f && S_ISDIR(st.st_mode) ? EISDIR : errno;
        if (f)
            fclose(f);
        return rt_fail(err, COGEN_RT_BAD_FILE, "%s: %s", path, strerror(why));
    }
    size_t room = (size_t)st.st_size;
    char *block = calloc(1, room + 1);
    size_t n = block ? fread(block, 1, room, f) : 0;
    bool bad = ferror(f);
    fclose(f);
    if (!block)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory for its %zu bytes", path, room);
    if (bad) {
        free(block);
        return rt_fail(err, COGEN_RT_BAD_FILE, "%s: read error", path);
    }
    *bytes = block;
    *size = n;
    return rt_ok(err);
}

uint64_t rt_fnv1a(const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    return h;
}

const char *const rt_kind_names[] = {"pointer", "i32", "i64", "f32"};

uint64_t rt_args_digest(const struct cogen_rt_arg *args, size_t count)
{
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < count; i++) {
        char line[128];
        int n = snprintf(line, sizeof line, "%s:%u:%u:%s\n", args[i].name, args[i].offset,
                         args[i].size, rt_kind_names[args[i].kind]);
        for (int j = 0; j < n && j < (int)sizeof line - 1; j++)
            h = (h ^ (unsigned char)line[j]) * 0x100000001b3ull;
    }
    return h;
}
