/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the vector memory instructions' files share: a row of their table, and where the lanes'
 * bytes are.
 */
#ifndef EMU_EXEC_VMEM_H
#define EMU_EXEC_VMEM_H

#include "wave.h"

enum vmem_kind { VM_LOAD, VM_STORE, VM_ATOMIC };
enum half { HALF_NONE, HALF_LO, HALF_HI };

struct vmem_row {
    const char *name; /* after global_, flat_, ... */
    uint8_t kind;
    uint8_t bytes; /* a lane in memory */
    bool sign;
    uint8_t half; /* d16: which half of the register */
    bool lds;
    uint8_t op;
};

/* Where each active lane's bytes are. */
struct places {
    uint64_t global;       /* lanes in device memory */
    uint64_t lds, scratch; /* lanes in the apertures of flat accesses, or of scratch instructions */
    uint64_t none;         /* lanes whose buffer access lies out of range: reads 0 */
    uint8_t valid[LANES];  /* buffer: dwords in range, 255: all */
    uint64_t addr[LANES];
};

/* exec_vmem.c */
void find_places(struct wave *w, const struct inst *in, unsigned bytes, struct places *p);
/* A work-item's bytes of scratch; false after a fault. */
bool scratch_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes,
                  unsigned lane, uint8_t **at);
/* Whether the wave's own stores to these lines are still on their way: it comes again then. */
bool wait_for_own_stores(struct wave *w, const struct inst *in, const struct places *p);
void count_vmem(struct wave *w, const struct inst *in, struct flight f);

static inline bool partial_lane(const struct inst *in, const struct places *p, unsigned lane)
{
    return in->mnemonic[0] == 'b' && p->valid[lane] != 255;
}

inst_fn exec_load, exec_load_lds; /* exec_vmem_load.c */
inst_fn exec_store, exec_atomic;  /* exec_vmem_store.c */

#endif
