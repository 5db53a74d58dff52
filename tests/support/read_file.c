/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/read_file.h"

#include <stdio.h>
#include <stdlib.h>

void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *bytes = end >= 0 && fseek(file, 0, SEEK_SET) == 0 ? calloc(1, (size_t)end + 1) : NULL;
    *size = (size_t)end;
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}
