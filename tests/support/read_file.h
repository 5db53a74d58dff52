/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_READ_FILE_H
#define TESTS_SUPPORT_READ_FILE_H

#include <stddef.h>

/* A whole file, a zero byte behind it; the caller frees. NULL when it cannot be read. */
void *read_file(const char *path, size_t *size);

#endif
