/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/kernel_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gen/object.h"
#include "tests/support/read_file.h"

struct emu_object *kernel_load(struct emu_device *device, const char *text, char *err,
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

enum emu_status kernel_launch(struct emu_device *device, const struct emu_object *object,
                              const struct plan *plan, const uint64_t *values, int workgroups,
                              uint64_t seed, struct emu_result *result)
{
    *result = (struct emu_result){.status = EMU_INVALID};
    uint8_t *kernarg = emu_mem_alloc(device, (size_t)plan->kernarg_size, 64, true);
    if (!kernarg)
        return EMU_INVALID;
    for (int i = 0; i < plan->n_args; i++)
        emu_mem_copy(device, kernarg + plan->args[i].offset, &values[i],
                     (size_t)plan->args[i].size);
    const struct emu_kernel *kernel = emu_object_kernel(object, 0);
    struct emu_dispatch d = {
        .kernel = kernel->handle,
        .grid = {(uint32_t)workgroups * THREADS, 1, 1},
        .group = {THREADS,                        1, 1},
        .lds_bytes = kernel->group_size,
        .kernarg = kernarg,
    };
    emu_device_reseed(device, seed);
    enum emu_status status = emu_dispatch(device, &d, result);
    emu_mem_free(device, kernarg);
    return status;
}
