/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program that asks for the GPU driver by opening /dev/kfd: it gets /dev/null
 * instead. */
#include <dlfcn.h>
#undef _FILE_OFFSET_BITS
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

static const char *redirect(const char *path)
{
    return strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...);                                                    \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                    \
        va_end(args);                                                                              \
        int (*next)(const char *, int, ...);                                                       \
        void *symbol = dlsym(RTLD_NEXT, #name);                                                    \
        memcpy((void *)&next, (const void *)&symbol, sizeof next);                                 \
        return next(redirect(path), flags, mode);                                                  \
    }

OPEN(open)
OPEN(open64)
