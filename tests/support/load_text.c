/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/load_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gen/object.h"
#include "tests/support/read_file.h"

struct emu_object *load_text(struct emu_device *device, const char *text, char *err,
                             size_t err_size)
{
    char path[] = "/tmp/cogen-text-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        snprintf(err, err_size, "%s: cannot be made", path);
        return NULL;
    }
    close(fd);
    struct emu_object *object = NULL;
    void *bytes = NULL;
    size_t size;
    if (cogen_object_write(text, emu_device_config(device)->arch, path, NULL, err, err_size) == 0) {
        bytes = read_file(path, &size);
        if (!bytes)
            snprintf(err, err_size, "%s: cannot be read", path);
        else if (emu_object_load(device, bytes, size, &object, err, err_size) != 0)
            object = NULL;
    }
    unlink(path);
    free(bytes);
    return object;
}
