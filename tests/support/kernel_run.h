/* SPDX-License-Identifier: Apache-2.0 */
/* A generated kernel on the emulated device. */
#ifndef TESTS_SUPPORT_KERNEL_RUN_H
#define TESTS_SUPPORT_KERNEL_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "gen/plan.h"
#include "tools/emu/emu.h"

/* Assembly text as an object on the device, through the generator's assembler and linker. NULL and
 * a line in err. */
struct emu_object *kernel_load(struct emu_device *device, const char *text, char *err,
                               size_t err_size);

/* Launches the object's kernel with the plan's arguments: by their index device addresses or
 * numbers. */
enum emu_status kernel_launch(struct emu_device *device, const struct emu_object *object,
                              const struct plan *plan, const uint64_t *values, int workgroups,
                              uint64_t seed, struct emu_result *result);

#endif
