/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weakest memory that the documents allow: a vector L1 per CU, an L2 per XCD, lines of 128
 * bytes that stay as they were fetched until an access or an invalidate of the right scope says
 * otherwise.
 *
 * Nothing is copied when a line is fetched: a bit per CU and one for the L2 say who has it. Only
 * when bytes of such a line change for everybody else does each holder get a copy of the old bytes:
 * its stale copy. Plain stores stay in their XCD's L2 as dirty bytes until a write-back or the
 * kernel's end.
 */
#include "wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line_rec *cache_rec(struct xcd *x, struct alloc *a, uint64_t line)
{
    uint64_t *shadow = &a->xshadow[x->index][line];
    uint64_t i = *shadow >> SHADOW_REC_SHIFT;
    if (i)
        return x->recs[i];
    if (!ROOM(x->recs, x->nrecs + 1, x->cap_recs))
        return NULL;
    struct line_rec *r = emu_arena_alloc(&x->arena, sizeof(*r));
    if (!r)
        return NULL;
    r->alloc = a;
    r->line = line;
    x->recs[++x->nrecs] = r;
    *shadow |= (uint64_t)x->nrecs << SHADOW_REC_SHIFT;
    return r;
}

static struct line_rec *existing_rec(const struct xcd *x, const struct alloc *a, uint64_t line)
{
    uint64_t i = a->xshadow[x->index][line] >> SHADOW_REC_SHIFT;
    return i ? x->recs[i] : NULL;
}

static struct stale_copy *stale_of(const struct line_rec *r, int cu)
{
    for (struct stale_copy *s = r->stale; s; s = s->next)
        if (s->cu == cu)
            return s;
    return NULL;
}

static void drop_stale(struct line_rec *r, int cu)
{
    for (struct stale_copy **p = &r->stale; *p; p = &(*p)->next) {
        if ((*p)->cu == cu) {
            *p = (*p)->next;
            return;
        }
    }
}

static void overlay(uint8_t to[LINE], const uint8_t from[LINE], struct mask128 m)
{
    if (m.lo == ~0ull && m.hi == ~0ull) {
        memcpy(to, from, LINE);
        return;
    }
    for (unsigned i = 0; i < LINE; i++)
        if (mask_bit(m, i))
            to[i] = from[i];
}

static unsigned line_bytes(const struct alloc *a, uint64_t line)
{
    size_t left = a->size - line * LINE;
    return left < LINE ? (unsigned)left : LINE;
}

static void memory_line(const struct alloc *a, uint64_t line, uint8_t to[LINE])
{
    unsigned n = line_bytes(a, line);
    memcpy(to, a->base + line * LINE, n);
    memset(to + n, 0, LINE - n);
}

/* The line as the L2 gives it, and which of its bytes are stale. */
static struct mask128 l2_view(const struct xcd *x, const struct alloc *a, uint64_t line,
                              uint8_t to[LINE])
{
    struct mask128 stale = {0, 0};
    const struct line_rec *r = existing_rec(x, a, line);
    const struct stale_copy *s = r ? stale_of(r, -1) : NULL;
    if (s) {
        memcpy(to, s->data, LINE);
        stale = s->mask;
    } else {
        memory_line(a, line, to);
    }
    if (r && (r->dirty.lo | r->dirty.hi)) {
        overlay(to, r->data, r->dirty);
        stale.lo &= ~r->dirty.lo;
        stale.hi &= ~r->dirty.hi;
    }
    return stale;
}

static struct stale_copy *add_stale(struct xcd *x, struct line_rec *r, int cu)
{
    struct stale_copy *s = emu_arena_alloc(&x->arena, sizeof(*s));
    if (!s)
        return NULL;
    s->cu = cu;
    s->next = r->stale;
    r->stale = s;
    return s;
}

/* Bytes `m` of the line change for the L1s of this XCD except `own`'s: each keeps what it has seen.
 */
static void l1_go_stale(struct xcd *x, struct alloc *a, uint64_t line, int own, struct mask128 m,
                        const uint8_t *data)
{
    uint32_t holders = (uint32_t)a->xshadow[x->index][line];
    if (own >= 0)
        holders &= ~(1u << own);
    struct line_rec *r = holders ? cache_rec(x, a, line) : existing_rec(x, a, line);
    if (!r)
        return;
    uint8_t view[LINE];
    struct mask128 stale = {0, 0};
    bool have = false;
    for (; holders; holders &= holders - 1) {
        int cu = __builtin_ctz(holders);
        struct stale_copy *s = stale_of(r, cu);
        if (!s) {
            if (!have)
                stale = l2_view(x, a, line, view);
            have = true;
            s = add_stale(x, r, cu);
            if (!s)
                return;
            memcpy(s->data, view, LINE);
            s->mask = stale;
        }
        s->mask.lo |= m.lo;
        s->mask.hi |= m.hi;
    }
    struct stale_copy *mine = own >= 0 ? stale_of(r, own) : NULL;
    if (mine) { /* its own store goes through its L1 */
        overlay(mine->data, data, m);
        mine->mask.lo &= ~m.lo;
        mine->mask.hi &= ~m.hi;
    }
}

static void l2_changes(struct xcd *x, struct alloc *a, uint64_t line, bool own, struct mask128 m,
                       const uint8_t *data)
{
    struct line_rec *r = existing_rec(x, a, line);
    if (own) {
        struct stale_copy *s = r ? stale_of(r, -1) : NULL;
        if (s) {
            overlay(s->data, data, m);
            s->mask.lo &= ~m.lo;
            s->mask.hi &= ~m.hi;
        }
        if (r) {
            r->dirty.lo &= ~m.lo;
            r->dirty.hi &= ~m.hi;
        }
        return;
    }
    if (!(a->xshadow[x->index][line] & SHADOW_L2))
        return;
    r = cache_rec(x, a, line);
    if (!r)
        return;
    struct stale_copy *s = stale_of(r, -1);
    if (!s) {
        s = add_stale(x, r, -1);
        if (!s)
            return;
        memory_line(a, line, s->data);
    }
    s->mask.lo |= m.lo;
    s->mask.hi |= m.hi;
}

bool cache_commit(struct launch *l, struct xcd *x, int cu, struct alloc *a, uint64_t line,
                  struct mask128 m, const uint8_t *data)
{
    if (l->checks & EMU_CHECK_CACHES) {
        for (unsigned i = 0; i < XCDS; i++) {
            struct xcd *y = &l->xcd[i];
            if (!a->xshadow[i][line])
                continue;
            l1_go_stale(y, a, line, y == x ? cu : -1, m, data);
            l2_changes(y, a, line, y == x, m, data);
        }
    }
    uint8_t *to = a->base + line * LINE;
    unsigned n = line_bytes(a, line);
    bool changed = false;
    for (unsigned i = 0; i < n; i++) {
        if (!mask_bit(m, i))
            continue;
        changed |= to[i] != data[i];
        to[i] = data[i];
    }
    l->committed_bloom |= bloom_line((uint64_t)(uintptr_t)to);
    return changed;
}

/* A plain store: its bytes become dirty in the XCD's L2. */
static void store_line(struct wave *w, struct alloc *a, uint64_t line, struct mask128 m,
                       const uint8_t *data)
{
    struct xcd *x = w->xcd;
    l1_go_stale(x, a, line, (int)w->group->cu, m, data);
    struct line_rec *r = cache_rec(x, a, line);
    if (!r)
        return;
    overlay(r->data, data, m);
    r->dirty.lo |= m.lo;
    r->dirty.hi |= m.hi;
}

void cache_plain_store(struct wave *w, const struct inst *in, const struct pend *p)
{
    (void)in;
    uint8_t data[LINE];
    struct mask128 m = {0, 0};
    struct alloc *a = NULL;
    uint64_t line = 0;
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned b = 0; b < p->bytes;) {
            uint64_t addr = p->addr[lane] + b;
            if (!a || addr - (uint64_t)(uintptr_t)a->base >= a->size ||
                (addr - (uint64_t)(uintptr_t)a->base) / LINE != line) {
                if (a)
                    store_line(w, a, line, m, data);
                a = w->xcd->last;
                if (!a || addr - (uint64_t)(uintptr_t)a->base >= a->size)
                    a = device_find(w->xcd->launch->dev, addr);
                if (!a)
                    return;
                line = (addr - (uint64_t)(uintptr_t)a->base) / LINE;
                m = (struct mask128){0, 0};
            }
            unsigned at = (addr - (uint64_t)(uintptr_t)a->base) % LINE;
            unsigned n = p->bytes - b < 4 ? p->bytes - b : 4;
            if (n > LINE - at)
                n = LINE - at;
            uint32_t v = p->data[b / 4][lane] >> 8 * (b % 4);
            memcpy(data + at, &v, n);
            struct mask128 r = mask_range(at, n);
            m.lo |= r.lo;
            m.hi |= r.hi;
            b += n;
        }
    }
    if (a)
        store_line(w, a, line, m, data);
}

static void remember_l1(struct fetch_list *list, uint64_t *shadow, const struct inst *in)
{
    if (ROOM(list->at, list->n, list->cap))
        list->at[list->n++] = (struct fetched){shadow, in};
}

static void remember_l2(struct line_list *list, uint64_t *shadow)
{
    if (ROOM(list->at, list->n, list->cap))
        list->at[list->n++] = shadow;
}

static const struct inst *fetched_by(const struct xcd *x, unsigned cu, const uint64_t *shadow)
{
    const struct fetch_list *list = &x->l1[cu];
    for (size_t i = list->n; i-- > 0;)
        if (list->at[i].shadow == shadow)
            return list->at[i].in;
    return NULL;
}

/* The load that brought a line in: this CU's, or for the L2 that of any CU which still has it. */
static const struct inst *first_fetch(const struct wave *w, const uint64_t *shadow, bool l2)
{
    const struct inst *in = fetched_by(w->xcd, w->group->cu, shadow);
    for (unsigned cu = 0; l2 && cu < 32; cu++) {
        const struct inst *other = cu == w->group->cu ? NULL : fetched_by(w->xcd, cu, shadow);
        if (other)
            return other;
    }
    return in;
}

static void stale_fault(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                        struct mask128 hit, int lane, bool l2)
{
    struct launch *l = w->xcd->launch;
    unsigned byte =
        hit.lo ? (unsigned)__builtin_ctzll(hit.lo) : 64 + (unsigned)__builtin_ctzll(hit.hi);
    const struct writer *by = NULL;
    for (by = a->gshadow[line] ? l->writers[a->gshadow[line]] : NULL; by; by = by->next)
        if (mask_bit(by->mask, byte))
            break;
    const uint64_t *shadow = &a->xshadow[w->xcd->index][line];
    const struct inst *first = first_fetch(w, shadow, l2);
    char fetch[256] = "an earlier plain load";
    if (first)
        snprintf(fetch, sizeof(fetch), "a plain load (0x%x: %s)",
                 (unsigned)(first->pc - l->obj->text_offset), first->text);
    unsigned long long base = (uintptr_t)a->base, at = line * LINE + byte;
    char who[64] = "another workgroup";
    if (by)
        snprintf(who, sizeof(who), "workgroup %u", by->group);
    fault(w, in, EMU_CHECK_CACHES, "stale-read", lane, by ? by->in : NULL,
          "plain load of 0x%llx (allocation 0x%llx + 0x%llx) gets old bytes: %s has brought the "
          "128-byte line into the %s, and %s has stored to it since; load with sc1, or put a "
          "buffer_inv sc1 after the flag is seen%s",
          base + at, base, at, fetch, l2 ? "XCD's L2" : "CU's L1", who,
          first && first != in ? " (or keep data of different flags in different lines)" : "");
}

const uint8_t *cache_line(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                          struct mask128 want, int lane, uint8_t tmp[LINE])
{
    struct xcd *x = w->xcd;
    unsigned checks = x->launch->checks;
    const uint8_t *mem = a->base + line * LINE;
    if (!(checks & (EMU_CHECK_CACHES | EMU_CHECK_RACES)))
        return mem;
    if (a->gshadow[line] && !writers_check(w, in, a, line, want, lane))
        return NULL;
    bool plain = !in->sc1 && !(in->flags & IF_SMEM);
    if (!(checks & EMU_CHECK_CACHES))
        return !plain || writers_acquired(w, in, a, line, want, lane) ? mem : NULL;
    uint64_t *shadow = &a->xshadow[x->index][line], s = *shadow;
    uint64_t l1 = SHADOW_L1(w->group->cu);
    bool rec = s >> SHADOW_REC_SHIFT;
    if (in->sc1) {
        struct line_rec *r = rec ? x->recs[s >> SHADOW_REC_SHIFT] : NULL;
        if (!r || !(r->dirty.lo | r->dirty.hi))
            return mem;
        memory_line(a, line, tmp);
        overlay(tmp, r->data, r->dirty);
        return tmp;
    }
    bool in_l1 = s & l1;
    if (!in_l1 || !(s & SHADOW_L2)) {
        if (!in_l1)
            remember_l1(&x->l1[w->group->cu], shadow, in);
        if (!(s & SHADOW_L2))
            remember_l2(&x->l2, shadow);
        *shadow = s | l1 | SHADOW_L2;
    }
    if (!rec)
        return !plain || writers_acquired(w, in, a, line, want, lane) ? mem : NULL;
    struct line_rec *r = x->recs[s >> SHADOW_REC_SHIFT];
    struct stale_copy *mine = in_l1 ? stale_of(r, (int)w->group->cu) : NULL;
    struct mask128 stale;
    if (mine) {
        memcpy(tmp, mine->data, LINE);
        stale = mine->mask;
    } else {
        stale = l2_view(x, a, line, tmp);
        if (!in_l1 && (stale.lo | stale.hi)) {
            mine = add_stale(x, r, (int)w->group->cu);
            if (mine) {
                memcpy(mine->data, tmp, LINE);
                mine->mask = stale;
            }
            mine = NULL;
        }
    }
    if (mask_meets(stale, want)) {
        struct mask128 hit = {stale.lo & want.lo, stale.hi & want.hi};
        stale_fault(w, in, a, line, hit, lane, !mine);
        return NULL;
    }
    return !plain || writers_acquired(w, in, a, line, want, lane) ? tmp : NULL;
}

/* buffer_inv: the CU's L1, and the clean lines of the XCD's L2. */
void cache_invalidate(struct wave *w, bool l2)
{
    struct xcd *x = w->xcd;
    struct fetch_list *list = &x->l1[w->group->cu];
    for (size_t i = 0; i < list->n; i++) {
        uint64_t *s = list->at[i].shadow;
        *s &= ~SHADOW_L1(w->group->cu);
        if (*s >> SHADOW_REC_SHIFT)
            drop_stale(x->recs[*s >> SHADOW_REC_SHIFT], (int)w->group->cu);
    }
    list->n = 0;
    if (!l2)
        return;
    for (size_t i = 0; i < x->l2.n; i++) {
        uint64_t *s = x->l2.at[i];
        *s &= ~SHADOW_L2;
        if (*s >> SHADOW_REC_SHIFT)
            drop_stale(x->recs[*s >> SHADOW_REC_SHIFT], -1);
    }
    x->l2.n = 0;
    x->inv_round[w->group->cu] = x->launch->round;
}

void cache_write_back(struct launch *l, struct xcd *x)
{
    for (uint32_t i = 1; i <= x->nrecs; i++) {
        struct line_rec *r = x->recs[i];
        struct mask128 m = r->dirty;
        if (!(m.lo | m.hi))
            continue;
        r->dirty = (struct mask128){0, 0};
        uint8_t data[LINE];
        memcpy(data, r->data, LINE);
        if (cache_commit(l, x, -1, r->alloc, r->line, m, data))
            l->commits++;
        writers_release(l, x->index, r->alloc, r->line);
    }
}

void cache_begin(struct launch *l)
{
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        x->nrecs = 0;
        x->last = NULL;
        for (unsigned k = 0; k < RECENT; k++)
            x->recent[k] = NULL;
        x->l2.n = 0;
        for (unsigned c = 0; c < 32; c++)
            x->l1[c].n = 0;
        memset(x->inv_round, 0, sizeof(x->inv_round));
        arena_reset(&x->arena);
        x->free_pends = NULL;
        x->free_touches = NULL;
        x->plain_head = x->plain_tail = NULL;
        x->npwaves = 0;
    }
    arena_reset(&l->arena);
    l->nwriters = 0;
}

/* Every shadow word in use is in a list of its XCD. */
static void clear_shadow(struct launch *l)
{
    for (unsigned k = 0; k < XCDS; k++) {
        struct xcd *x = &l->xcd[k];
        for (unsigned c = 0; c < 32; c++) {
            for (size_t i = 0; i < x->l1[c].n; i++)
                *x->l1[c].at[i].shadow = 0;
            x->l1[c].n = 0;
        }
        for (size_t i = 0; i < x->l2.n; i++)
            *x->l2.at[i] = 0;
        x->l2.n = 0;
        for (uint32_t i = 1; i <= x->nrecs; i++)
            x->recs[i]->alloc->xshadow[k][x->recs[i]->line] = 0;
        x->nrecs = 0;
    }
    for (uint32_t i = 1; i <= l->nwriters; i++)
        *l->writer_slots[i] = 0;
    l->nwriters = 0;
}

/* The kernel's end writes every L2 back. */
void cache_end(struct launch *l)
{
    for (unsigned k = 0; k < XCDS; k++) {
        struct xcd *x = &l->xcd[k];
        for (uint32_t i = 1; i <= x->nrecs; i++) {
            struct line_rec *r = x->recs[i];
            uint8_t *to = r->alloc->base + r->line * LINE;
            unsigned n = line_bytes(r->alloc, r->line);
            for (unsigned b = 0; b < n; b++)
                if (mask_bit(r->dirty, b))
                    to[b] = r->data[b];
        }
    }
    clear_shadow(l);
}
