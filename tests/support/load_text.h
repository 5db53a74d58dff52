/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_LOAD_TEXT_H
#define TESTS_SUPPORT_LOAD_TEXT_H

#include <stddef.h>

#include "tools/emu/emu.h"

/* Assembly text as an object on the emulated device, through the generator's assembler and linker.
 * NULL and a line in err. */
struct emu_object *load_text(struct emu_device *device, const char *text, char *err,
                             size_t err_size);

#endif
