/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores and atomics between issue and visibility. A store at device scope becomes visible at the
 * end of some round: that of the wait that covers it, or, as long as nobody waits, one that the
 * seed draws, so that a later store of the same wave may well be seen before it. Stores of one wave
 * to one line keep their order.
 */
#include "wave.h"

#include <stdlib.h>
#include <string.h>

uint64_t bloom_line(uint64_t addr)
{
    uint64_t h = addr / LINE * 0x9e3779b97f4a7c15u;
    return 1ull << (h >> 58);
}

struct pend *pend_new(struct wave *w, const struct inst *in, enum pend_kind kind, uint64_t lanes,
                      unsigned bytes)
{
    struct xcd *x = w->xcd;
    struct pend *p = x->free_pends;
    if (p)
        x->free_pends = p->next;
    else if (!(p = emu_arena_alloc(&x->arena, sizeof(*p))))
        return NULL;
    p->next = NULL;
    p->w = w;
    p->in = in;
    p->kind = kind;
    p->lanes = lanes;
    p->bytes = (uint8_t)bytes;
    p->forced = p->returns = p->noted = p->done = false;
    p->refs = 0;
    p->bloom = 0;
    return p;
}

void pend_unref(struct xcd *x, struct pend *p)
{
    if (p->refs)
        p->refs--;
    if (p->refs)
        return;
    p->next = x->free_pends;
    x->free_pends = p;
}

static void list_wave(struct wave *w)
{
    struct xcd *x = w->xcd;
    if (w->listed)
        return;
    if (!ROOM(x->pwaves, x->npwaves, x->cap_pwaves))
        return;
    x->pwaves[x->npwaves++] = w;
    w->listed = true;
}

/* Half of the stores are seen at once, some a little later, some much later: a wave that does not
 * wait has no right to any order. */
static uint64_t delay(struct wave *w)
{
    struct xcd *x = w->xcd;
    if (!(x->launch->checks & (EMU_CHECK_CACHES | EMU_CHECK_RACES)))
        return 0;
    uint64_t r = rng_next(&x->rng);
    if ((r & 3) < 2)
        return 0;
    return (r & 3) == 2 ? 1 + (r >> 8) % 8 : 32 + (r >> 8) % 64;
}

void pend_issue(struct wave *w, struct pend *p)
{
    struct xcd *x = w->xcd;
    p->seq = ++w->store_seq;
    p->epoch = w->group->barriers;
    p->known = w->group->known;
    p->covered = w->released;
    p->due = x->launch->round + delay(w);
    for (uint64_t left = p->lanes; left && p->kind != PEND_WRITEBACK; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        p->bloom |= bloom_line(p->addr[lane]) | bloom_line(p->addr[lane] + p->bytes - 1);
    }
    p->refs = 2;
    if (p->kind == PEND_PLAIN) {
        /* In the L2 at once; the log tells the others at the round's end who wrote what. */
        cache_plain_store(w, p->in, p);
        p->done = true;
        if (x->plain_tail)
            x->plain_tail->next = p;
        else
            x->plain_head = p;
        x->plain_tail = p;
        return;
    }
    if (w->pend_tail)
        w->pend_tail->next = p;
    else
        w->pend_head = p;
    w->pend_tail = p;
    w->npend++;
    list_wave(w);
}

static bool overlaps(const struct pend *p, uint64_t lanes, const uint64_t *addr)
{
    for (uint64_t a = lanes; a; a &= a - 1) {
        uint64_t line = addr[__builtin_ctzll(a)] / LINE;
        for (uint64_t b = p->lanes; b; b &= b - 1)
            if (p->addr[__builtin_ctzll(b)] / LINE == line)
                return true;
    }
    return false;
}

bool pend_conflict(struct wave *w, uint64_t lanes, const uint64_t *addr)
{
    uint64_t bloom = 0;
    for (uint64_t a = lanes; a; a &= a - 1)
        bloom |= bloom_line(addr[__builtin_ctzll(a)]);
    bool conflict = false;
    for (struct pend *p = w->pend_head; p; p = p->next) {
        if (p->bloom & bloom && overlaps(p, lanes, addr)) {
            p->forced = true;
            conflict = true;
        }
    }
    return conflict;
}

/* ---- who stored what: for the race reports ---- */

static struct mask128 without(struct mask128 a, struct mask128 b)
{
    return (struct mask128){a.lo & ~b.lo, a.hi & ~b.hi};
}

static struct alloc *find(struct launch *l, struct alloc *last, uint64_t addr)
{
    if (last && addr - (uint64_t)(uintptr_t)last->base < last->size)
        return last;
    return device_find(l->dev, addr);
}

static struct writer **writers_at(struct launch *l, struct alloc *a, uint64_t line)
{
    uint32_t i = a->gshadow[line];
    if (i)
        return &l->writers[i];
    if (!ROOM(l->writers, l->nwriters + 1, l->cap_writers) ||
        !ROOM(l->writer_slots, l->nwriters + 1, l->cap_slots))
        return NULL;
    a->gshadow[line] = ++l->nwriters;
    l->writer_slots[l->nwriters] = &a->gshadow[line];
    l->writers[l->nwriters] = NULL;
    return &l->writers[l->nwriters];
}

static void add_line(struct launch *l, const struct pend *p, struct alloc *a, uint64_t line,
                     struct mask128 m, bool released, bool pending)
{
    struct writer **head = writers_at(l, a, line);
    if (!head)
        return;
    for (struct writer **at = head; *at;) {
        struct writer *o = *at;
        bool same = o->wave == p->w->gid && o->seq == p->seq;
        /* What is visible now replaces what was; its own pending entry is fulfilled. */
        if (same || (!pending && !o->pending))
            o->mask = without(o->mask, m);
        if (!(o->mask.lo | o->mask.hi))
            *at = o->next;
        else
            at = &o->next;
    }
    struct writer *n = emu_arena_alloc(&l->arena, sizeof(*n));
    if (!n)
        return;
    *n = (struct writer){.mask = m,
                         .wave = p->w->gid,
                         .group = p->w->group->index,
                         .in = p->in,
                         .seq = p->seq,
                         .epoch = p->epoch,
                         .known = p->known,
                         .covered = p->covered,
                         .id = (uint8_t)p->w->id,
                         .nwaves = (uint8_t)p->w->group->nwaves,
                         .round = l->round,
                         .xcd = (uint8_t)p->w->xcd->index,
                         .released = released,
                         .pending = pending,
                         .next = *head};
    *head = n;
}

void writers_add(struct launch *l, const struct pend *p, bool released, bool pending)
{
    if (!(l->checks & (EMU_CHECK_RACES | EMU_CHECK_CACHES)))
        return;
    struct alloc *a = NULL;
    uint64_t line = 0;
    struct mask128 m = {0, 0};
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t addr = p->addr[lane], end = addr + p->bytes;
        while (addr < end) {
            struct alloc *b = find(l, a, addr);
            if (!b)
                return;
            uint64_t at = addr - (uint64_t)(uintptr_t)b->base;
            unsigned n = (unsigned)(end - addr), room = LINE - at % LINE;
            n = n < room ? n : room;
            if (b != a || at / LINE != line) {
                if (a)
                    add_line(l, p, a, line, m, released, pending);
                a = b;
                line = at / LINE;
                m = (struct mask128){0, 0};
            }
            struct mask128 r = mask_range(at % LINE, n);
            m.lo |= r.lo;
            m.hi |= r.hi;
            addr += n;
        }
    }
    if (a)
        add_line(l, p, a, line, m, released, pending);
}

void writers_release(struct launch *l, unsigned xcd, struct alloc *a, uint64_t line)
{
    if (!a->gshadow[line])
        return;
    for (struct writer *o = l->writers[a->gshadow[line]]; o; o = o->next)
        if (o->xcd == xcd && !o->released) {
            o->released = true;
            o->round = l->round;
        }
}

/* ---- commit ---- */

static void commit_store(struct launch *l, struct pend *p)
{
    struct wave *w = p->w;
    uint8_t data[LINE];
    struct mask128 m = {0, 0};
    struct alloc *a = NULL;
    uint64_t line = 0;
    bool changed = false;
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned b = 0; b < p->bytes;) {
            uint64_t addr = p->addr[lane] + b;
            struct alloc *c = find(l, a, addr);
            if (!c)
                return;
            uint64_t at = addr - (uint64_t)(uintptr_t)c->base;
            if (c != a || at / LINE != line) {
                if (a)
                    changed |= cache_commit(l, w->xcd, (int)w->group->cu, a, line, m, data);
                a = c;
                line = at / LINE;
                m = (struct mask128){0, 0};
            }
            unsigned n = p->bytes - b < 4 ? p->bytes - b : 4;
            if (n > LINE - at % LINE)
                n = (unsigned)(LINE - at % LINE);
            uint32_t v = p->data[b / 4][lane] >> 8 * (b % 4);
            memcpy(data + at % LINE, &v, n);
            struct mask128 r = mask_range(at % LINE, n);
            m.lo |= r.lo;
            m.hi |= r.hi;
            b += n;
        }
    }
    if (a)
        changed |= cache_commit(l, w->xcd, (int)w->group->cu, a, line, m, data);
    l->commits += changed;
}

static void unlink_pend(struct wave *w, struct pend *p)
{
    struct pend **at = &w->pend_head, *before = NULL;
    while (*at && *at != p) {
        before = *at;
        at = &(*at)->next;
    }
    if (!*at)
        return;
    *at = p->next;
    if (w->pend_tail == p)
        w->pend_tail = before;
    w->npend--;
}

/* An atomic sees what it changes: its wave learns what the stores there carry. */
static void atomic_sees(struct launch *l, const struct pend *p)
{
    struct alloc *a = NULL;
    for (uint64_t left = l->orders ? p->lanes : 0; left; left &= left - 1) {
        uint64_t addr = p->addr[__builtin_ctzll(left)];
        a = find(l, a, addr);
        if (!a)
            return;
        uint64_t at = addr - (uint64_t)(uintptr_t)a->base;
        struct mask128 m = mask_range(at % LINE, p->bytes);
        uint32_t rec = a->gshadow[at / LINE];
        for (const struct writer *by = rec ? l->writers[rec] : NULL; by; by = by->next)
            if (mask_meets(by->mask, m) && !by->pending && by->group != p->w->group->index)
                order_seen(p->w, by);
    }
}

static void commit_one(struct launch *l, struct pend *p)
{
    struct wave *w = p->w;
    /* Older stores of the wave to the same lines come first; a write-back takes what was stored
     * before it. */
    for (struct pend *q = w->pend_head; q && q != p;) {
        struct pend *next = q->next;
        if (q->bloom & p->bloom && overlaps(q, p->lanes, p->addr)) {
            commit_one(l, q);
            next = w->pend_head;
        }
        q = next;
    }
    unlink_pend(w, p);
    switch (p->kind) {
    case PEND_STORE:
        commit_store(l, p);
        writers_add(l, p, true, false);
        break;
    case PEND_ATOMIC:
        atomic_sees(l, p);
        vmem_atomic_commit(l, p);
        writers_add(l, p, true, false);
        break;
    case PEND_WRITEBACK:
        cache_write_back(l, w->xcd);
        break;
    case PEND_PLAIN:
        break;
    }
    p->done = true;
    pend_unref(w->xcd, p);
}

static void log_plain(struct launch *l, struct xcd *x)
{
    for (struct pend *p = x->plain_head, *next; p; p = next) {
        next = p->next;
        writers_add(l, p, false, false);
        l->commits++;
        pend_unref(x, p);
    }
    x->plain_head = x->plain_tail = NULL;
}

/* Stores issued this round that stay pending: others' loads can then say what they overtake. */
static void note_pending(struct launch *l, struct wave *w)
{
    for (struct pend *p = w->pend_head; p; p = p->next)
        if (p->kind == PEND_STORE && !p->noted) {
            writers_add(l, p, true, true);
            p->noted = true;
        }
}

void commit_round(struct launch *l)
{
    struct pend **due = NULL;
    size_t n = 0, cap = 0;
    l->committed_bloom = 0;
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        log_plain(l, x);
        for (unsigned k = 0; k < x->npwaves; k++) {
            for (struct pend *p = x->pwaves[k]->pend_head; p; p = p->next) {
                if (!p->forced && p->due > l->round)
                    continue;
                if (!ROOM(due, n, cap))
                    break;
                due[n++] = p;
            }
        }
    }
    /* Each due store holds one more reference until the end: committing one may commit others. */
    for (size_t i = 0; i < n; i++)
        due[i]->refs++;
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_next(&l->rng) % i;
        struct pend *t = due[i - 1];
        due[i - 1] = due[j];
        due[j] = t;
    }
    for (size_t i = 0; i < n; i++)
        if (!due[i]->done)
            commit_one(l, due[i]);
    for (size_t i = 0; i < n; i++)
        pend_unref(due[i]->w->xcd, due[i]);
    free((void *)due);
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        unsigned kept = 0;
        for (unsigned k = 0; k < x->npwaves; k++) {
            struct wave *w = x->pwaves[k];
            if (w->npend) {
                x->pwaves[kept++] = w;
                if (l->checks & EMU_CHECK_RACES)
                    note_pending(l, w);
            } else {
                w->listed = false;
            }
        }
        x->npwaves = kept;
    }
}
