/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order between waves. In LDS: two waves of a workgroup may touch the same bytes, one of them
 * writing, only with a barrier between. In memory: what another workgroup stored is handed over
 * only by stores at device scope (or a write-back) whose completion was waited for before the flag
 * was stored.
 */
#include "wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEVERAL 255

static void lds_fault(struct wave *w, const struct inst *in, const char *what, int lane,
                      uint32_t addr, const struct inst *other, unsigned by, const char *how)
{
    char who[32] = "several waves";
    if (by != SEVERAL)
        snprintf(who, sizeof(who), "wave %u", by);
    fault(w, in, EMU_CHECK_RACES, what, lane, other,
          "LDS address 0x%x: %s %s; an s_waitcnt and an s_barrier must lie between", addr, who,
          how);
}

static bool lds_cell_access(struct wave *w, const struct inst *in, uint32_t addr, uint8_t mask,
                            bool write, bool atomic, int lane)
{
    struct group *g = w->group;
    struct lds_cell *c = &g->cells[addr / 4];
    unsigned checks = w->xcd->launch->checks;
    uint16_t e = g->epoch;
    if (c->wepoch < g->epoch0) { /* of an earlier workgroup in this slot */
        c->def = c->wmask = 0;
        c->wepoch = 0;
        c->dma = 0;
    }
    if (c->repoch < g->epoch0)
        c->repoch = 0;
    if (checks & EMU_CHECK_RACES) {
        if (c->dma && c->wmask & mask) {
            lds_fault(w, in, "lds-dma-race", lane, addr, g->cell_in[addr / 4], c->wwave,
                      "loads it from memory and has not waited for vmcnt yet");
            return false;
        }
        bool both = atomic && c->atomic;
        if (c->wepoch >= e && c->wwave != w->id && c->wwave != SEVERAL && c->wmask & mask &&
            !both) {
            lds_fault(
                w, in, "lds-race", lane, addr, g->cell_in[addr / 4], c->wwave,
                c->wepoch > e || g->barriers == 0 || c->wepoch == e
                    ? "writes it between the same two barriers (or did not wait for the write "
                      "before the barrier)"
                    : "writes it");
            return false;
        }
        if (write && c->repoch >= e && c->rwave != w->id && c->rmask & mask && !both) {
            lds_fault(w, in, "lds-race", lane, addr, NULL, c->rwave,
                      "reads it between the same two barriers (or did not wait for the read before "
                      "the barrier)");
            return false;
        }
    }
    if (!write) {
        if (checks & EMU_CHECK_UNDEFINED && (c->def & mask) != mask) {
            fault(w, in, EMU_CHECK_UNDEFINED, "undefined-lds", lane, NULL,
                  "LDS address 0x%x is read, but nobody wrote it", addr);
            return false;
        }
        bool here = c->repoch >= e;
        c->rwave = here && c->rwave != w->id ? SEVERAL : (uint8_t)w->id;
        c->rmask = (here ? c->rmask : 0) | mask;
        if (!here)
            c->repoch = e;
    }
    if (write || atomic) {
        bool here = c->wepoch >= e;
        bool alone = !here || c->wwave == w->id;
        c->wmask = (here ? c->wmask : 0) | mask;
        c->wwave = alone ? (uint8_t)w->id : SEVERAL;
        c->atomic = atomic;
        if (!here)
            c->wepoch = e;
        c->def |= mask;
        g->cell_in[addr / 4] = in;
    }
    return true;
}

/* The usual case, nothing to say: true when the access has been noted. */
static inline bool lds_cell_quiet(const struct wave *w, const struct inst *in, struct group *g,
                                  struct lds_cell *c, uint32_t cell, uint8_t mask, bool write)
{
    uint16_t e = g->epoch;
    uint8_t id = (uint8_t)w->id;
    if (c->wepoch < g->epoch0 || c->dma || (c->wepoch >= e && c->wwave != id))
        return false;
    if (write) {
        if (c->repoch >= e && c->rwave != id)
            return false;
        c->wmask = c->wepoch >= e ? c->wmask | mask : mask;
        c->wepoch = c->wepoch > e ? c->wepoch : e;
        c->wwave = id;
        c->atomic = 0;
        c->def |= mask;
        g->cell_in[cell] = in;
        return true;
    }
    if ((c->def & mask) != mask)
        return false;
    if (c->repoch < e) {
        c->repoch = e;
        c->rwave = id;
        c->rmask = mask;
    } else {
        c->rwave = c->rwave == id ? id : SEVERAL;
        c->rmask |= mask;
    }
    return true;
}

bool lds_access(struct wave *w, const struct inst *in, uint32_t addr, unsigned bytes, bool write,
                bool atomic, int lane)
{
    struct group *g = w->group;
    unsigned checks = w->xcd->launch->checks;
    if (checks & EMU_CHECK_BOUNDS) {
        if ((uint64_t)addr + bytes > g->lds_bytes) {
            fault(w, in, EMU_CHECK_BOUNDS, "lds-outside", lane, NULL,
                  "LDS bytes 0x%x..0x%llx lie outside the workgroup's %u bytes", addr,
                  (unsigned long long)addr + bytes - 1, g->lds_bytes);
            return false;
        }
        unsigned align = bytes < 4 ? bytes : 4;
        if (addr % align) {
            fault(w, in, EMU_CHECK_BOUNDS, "lds-misaligned", lane, NULL,
                  "LDS address 0x%x of a %u-byte access is not aligned to %u", addr, bytes, align);
            return false;
        }
    }
    if ((uint64_t)addr + bytes > g->lds_bytes)
        return true; /* reads as 0, writes are dropped: the caller sees to it */
    if (!(checks & (EMU_CHECK_RACES | EMU_CHECK_UNDEFINED)))
        return true;
    if (!((addr | bytes) & 3) && !atomic) {
        for (uint32_t cell = addr / 4; cell < (addr + bytes) / 4; cell++)
            if (!lds_cell_quiet(w, in, g, &g->cells[cell], cell, 15, write) &&
                !lds_cell_access(w, in, cell * 4, 15, write, false, lane))
                return false;
        return true;
    }
    for (unsigned b = 0; b < bytes;) {
        unsigned at = (addr + b) & 3, n = 4 - at < bytes - b ? 4 - at : bytes - b;
        uint8_t mask = (uint8_t)(((1u << n) - 1) << at);
        if (!lds_cell_access(w, in, (addr + b) & ~3u, mask, write, atomic, lane))
            return false;
        b += n;
    }
    return true;
}

/* A barrier has been passed. */
void lds_epoch(struct group *g)
{
    g->barriers++;
    if (++g->epoch != 65000)
        return;
    for (uint32_t i = 0; g->cells && i < g->lds_bytes / 4; i++) {
        struct lds_cell *c = &g->cells[i];
        c->wepoch = c->wepoch >= g->epoch0 ? 1 : 0;
        c->repoch = 0;
    }
    g->epoch0 = 1;
    g->epoch = 2;
}

/* LDS instructions that a wave carries unwaited over a barrier may happen after it. */
void lds_hold(struct wave *w)
{
    struct group *g = w->group;
    for (unsigned i = 0; i < w->lgkm.n; i++) {
        struct lds_touch *t = w->lgkm.q[(w->lgkm.head + i) % (INFLIGHT_MAX + 1)].touch;
        for (; t; t = t->next) {
            for (uint64_t left = t->lanes; left; left &= left - 1) {
                uint32_t addr = t->addr[__builtin_ctzll(left)];
                for (unsigned b = 0; b < t->bytes && addr + b < g->lds_bytes; b += 4) {
                    struct lds_cell *c = &g->cells[(addr + b) / 4];
                    if (t->write && c->wwave == w->id && c->wepoch == g->epoch)
                        c->wepoch = g->epoch + 1;
                    if (!t->write && c->rwave == w->id && c->repoch == g->epoch)
                        c->repoch = g->epoch + 1;
                }
            }
        }
    }
}

struct lds_touch *lds_touch_new(struct wave *w, unsigned bytes, bool write, bool dma)
{
    struct xcd *x = w->xcd;
    struct lds_touch *t = x->free_touches;
    if (t)
        x->free_touches = t->next;
    else if (!(t = emu_arena_alloc(&x->arena, sizeof(*t))))
        return NULL;
    t->next = NULL;
    t->lanes = w->exec;
    t->bytes = (uint16_t)bytes;
    t->write = write;
    t->dma = dma;
    return t;
}

/* A counted LDS access is over. */
void lds_touch_done(struct wave *w, struct flight *f)
{
    struct group *g = w->group;
    for (struct lds_touch *t = f->touch, *next; t; t = next) {
        next = t->next;
        for (uint64_t left = t->dma ? t->lanes : 0; left; left &= left - 1) {
            uint32_t addr = t->addr[__builtin_ctzll(left)];
            for (unsigned b = 0; b < t->bytes && addr + b < g->lds_bytes; b += 4) {
                struct lds_cell *c = &g->cells[(addr + b) / 4];
                c->dma = 0;
                c->wepoch = g->epoch;
                c->wwave = (uint8_t)w->id;
            }
        }
        t->next = w->xcd->free_touches;
        w->xcd->free_touches = t;
    }
    f->touch = NULL;
}

/* ---- memory handed from one workgroup to another ---- */

static struct seen *seen_slot(struct seen *table, unsigned cap, uint32_t wave)
{
    unsigned i = wave * 2654435761u & (cap - 1);
    while (table[i].in && table[i].wave != wave)
        i = (i + 1) & (cap - 1);
    return &table[i];
}

static bool seen_grow(struct group *g)
{
    unsigned cap = g->cap_seen ? g->cap_seen * 2 : 64;
    struct seen *table = calloc(cap, sizeof(*table));
    if (!table)
        return false;
    for (unsigned i = 0; i < g->cap_seen; i++)
        if (g->seen[i].in)
            *seen_slot(table, cap, g->seen[i].wave) = g->seen[i];
    free(g->seen);
    g->seen = table;
    g->cap_seen = cap;
    return true;
}

/* Notes that the workgroup has observed a store of `by`, and with it whatever that wave stored
 * before in order. */
static void seen_note(struct group *g, const struct writer *by, const struct inst *in)
{
    if (g->nseen * 2 >= g->cap_seen && !seen_grow(g))
        return;
    struct seen *s = seen_slot(g->seen, g->cap_seen, by->wave);
    if (s->in && s->seq >= by->seq)
        return;
    g->nseen += !s->in;
    *s = (struct seen){by->wave, by->group, by->seq, by->epoch, in};
}

/* Has this workgroup observed something that was stored after `by`, by the same wave or past a
 * later barrier? */
static const struct inst *overtaken(const struct group *g, const struct writer *by)
{
    for (unsigned i = 0; i < g->cap_seen; i++) {
        const struct seen *s = &g->seen[i];
        if (!s->in)
            continue;
        if (s->wave == by->wave ? s->seq > by->seq : s->group == by->group && s->epoch > by->epoch)
            return s->in;
    }
    return NULL;
}

bool writers_check(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                   struct mask128 want, int lane)
{
    struct launch *l = w->xcd->launch;
    if (!(l->checks & EMU_CHECK_RACES))
        return true;
    unsigned long long where = (unsigned long long)(uintptr_t)a->base, off = line * LINE;
    bool scalar = in->flags & IF_SMEM;
    for (const struct writer *by = l->writers[a->gshadow[line]]; by; by = by->next) {
        if (!mask_meets(by->mask, want))
            continue;
        if (scalar && !by->pending) {
            fault(w, in, EMU_CHECK_RACES, "scalar-cache", lane, by->in,
                  "scalar load from allocation 0x%llx + line 0x%llx, which workgroup %u has stored "
                  "to "
                  "during this dispatch: the scalar cache is not coherent; use a vector load",
                  where, off, by->group);
            return false;
        }
        if (by->group == w->group->index)
            continue;
        if (by->pending) {
            const struct inst *flag = overtaken(w->group, by);
            if (flag) {
                fault(w, in, EMU_CHECK_RACES, "flag-before-data", lane, by->in,
                      "load from allocation 0x%llx + line 0x%llx finds a store of workgroup %u not "
                      "visible yet, though a later store of it was already seen (by 0x%x: %s); the "
                      "storing wave must s_waitcnt vmcnt(0) (and pass a barrier, when another wave "
                      "stores the flag) before the flag's store",
                      where, off, by->group, (unsigned)(flag->pc - l->obj->text_offset),
                      flag->text);
                return false;
            }
            continue;
        }
        if (!by->released) {
            fault(w, in, EMU_CHECK_RACES, "missing-release", lane, by->in,
                  "load from allocation 0x%llx + line 0x%llx, whose bytes workgroup %u stored "
                  "without "
                  "device scope: they stay in the L2 of XCD %u; store with sc1, or buffer_wbl2 sc1 "
                  "and "
                  "s_waitcnt vmcnt(0) before the flag's store",
                  where, off, by->group, by->xcd);
            return false;
        }
        seen_note(w->group, by, in);
        order_load(w, in, by, lane);
    }
    return true;
}

bool writers_acquired(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                      struct mask128 want, int lane)
{
    struct launch *l = w->xcd->launch;
    if (!(l->checks & EMU_CHECK_RACES) || !a->gshadow[line])
        return true;
    for (const struct writer *by = l->writers[a->gshadow[line]]; by; by = by->next) {
        if (!mask_meets(by->mask, want) || by->pending || by->group == w->group->index ||
            w->xcd->inv_round[w->group->cu] > by->round)
            continue;
        fault(
            w, in, EMU_CHECK_RACES, "missing-acquire", lane, by->in,
            "plain load from allocation 0x%llx + line 0x%llx, whose bytes workgroup %u has stored "
            "during this dispatch: nothing keeps an older copy of the line out of the L1 and L2; "
            "load with sc1, or put a buffer_inv sc1 after the flag is seen",
            (unsigned long long)(uintptr_t)a->base, (unsigned long long)line * LINE, by->group);
        return false;
    }
    return true;
}
