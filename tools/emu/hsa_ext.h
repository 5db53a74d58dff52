/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the emulated HSA library offers beyond HSA. A client finds these with dlsym, so that it also
 * runs on a library that has none of them.
 */
#ifndef EMU_HSA_EXT_H
#define EMU_HSA_EXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct emu_hsa_counters {
    uint64_t dispatches; /* kernel dispatches since hsa_init, this one included */
    uint64_t insts;      /* wave instructions of the last one */
    uint64_t mfma_macs;  /* multiply-adds of the last one's MFMA */
    uint64_t reports;    /* findings of the last one */
};

/* The last finding, or the last reason why a code object was refused; empty when there was none.
 * Writes at most `size` bytes with the terminator and returns the length of the whole text, as
 * snprintf does. */
size_t emu_hsa_last_finding(char *text, size_t size);
/* Counters of the last finished dispatch of any queue. 0, or -1 before hsa_init. */
int emu_hsa_last_dispatch(struct emu_hsa_counters *counters);
/* Seed of the schedule of dispatches that start after this call. 0, or -1 before hsa_init. */
int emu_hsa_reseed(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
