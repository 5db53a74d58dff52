/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses into allocations. */
#include "wave.h"

#include <string.h>

/* One of the allocations used lately, or a search. */
static struct alloc *recent(struct xcd *x, uint64_t addr)
{
    for (unsigned i = 0; i < RECENT; i++) {
        struct alloc *a = x->recent[i];
        if (a && addr - (uint64_t)(uintptr_t)a->base < a->size)
            return a;
    }
    struct alloc *a = device_find(x->launch->dev, addr);
    if (a)
        x->recent[x->next_recent++ % RECENT] = a;
    return a;
}

bool mem_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes, int lane,
              struct alloc **out)
{
    struct xcd *x = w->xcd;
    struct alloc *a = x->last;
    uint64_t at = a ? addr - (uint64_t)(uintptr_t)a->base : 0;
    if (!a || at >= a->size) {
        a = recent(x, addr);
        if (!a) {
            fault(w, in, EMU_CHECK_BOUNDS, "memory-outside", lane, NULL,
                  "address 0x%llx lies in no allocation", (unsigned long long)addr);
            return false;
        }
        x->last = a;
        at = addr - (uint64_t)(uintptr_t)a->base;
    }
    if (bytes > a->size - at) {
        fault(w, in, EMU_CHECK_BOUNDS, "memory-outside", lane, NULL,
              "%u bytes at 0x%llx end beyond their allocation (0x%llx, %zu bytes)", bytes,
              (unsigned long long)addr, (unsigned long long)(uintptr_t)a->base, a->size);
        return false;
    }
    unsigned align = bytes < 4 ? bytes : 4;
    if (addr % align && x->launch->checks & EMU_CHECK_BOUNDS) {
        fault(w, in, EMU_CHECK_BOUNDS, "memory-misaligned", lane, NULL,
              "address 0x%llx of a %u-byte access is not aligned to %u", (unsigned long long)addr,
              bytes, align);
        return false;
    }
    *out = a;
    return true;
}
