/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulator executes, by mnemonic, for reports of what is tested. */
#ifndef EMU_IMPLEMENTED_H
#define EMU_IMPLEMENTED_H

#include <stdbool.h>
#include <stddef.h>

enum emu_family { EMU_SALU, EMU_SMEM, EMU_VALU, EMU_VMEM, EMU_DS, EMU_FAMILIES };

const char *emu_family_name(enum emu_family family);
/* The i-th mnemonic of a family into name, without encoding suffix; false past the last. Some are
 * of one target only. */
bool emu_implemented(enum emu_family family, size_t i, char *name, size_t size);

#endif
