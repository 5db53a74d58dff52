/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulator's HSA library exports beyond the ABI, for clients that find it by dlsym. */
#ifndef EMU_HSA_EXT_H
#define EMU_HSA_EXT_H

#include <stddef.h>
#include <stdint.h>

/* Seed of the schedule of later dispatches. */
void cogen_emu_set_seed(uint64_t seed);
/* The last dispatch's findings, cut to size; the whole length is returned, 0: none. */
size_t cogen_emu_finding(char *text, size_t size);
/* Wave instructions and MFMA multiply-adds of the last dispatch. */
void cogen_emu_counters(uint64_t *insts, uint64_t *mfma_macs);

#endif
