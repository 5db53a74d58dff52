/* SPDX-License-Identifier: Apache-2.0 */
/* Vector memory stores, and atomics, which are stores on their way until they meet memory. */
#include "exec_vmem.h"

#include <string.h>

/* ---- stores ---- */

static bool store_near(struct wave *w, const struct inst *in, const struct places *p,
                       const struct pend *d)
{
    const struct opnd *o = &in->op[in->vdata];
    uint64_t undefined[4] = {0};
    bool checked = w->xcd->launch->checks != 0;
    for (unsigned k = 0; k < o->n && k < 4 && checked; k++) {
        /* In scratch, what is undefined stays so; elsewhere it is a mistake, and in flight too. */
        unsigned reg = vnum(o) + k;
        undefined[k] = ~w->ok[reg] & p->scratch;
        uint64_t bad = w->flight[reg] & p->scratch;
        if ((reg & 255) >= (o->acc ? w->na : w->nv))
            bad |= p->scratch;
        bad |= ~w->ok[reg] & w->exec & ~p->scratch;
        if (bad && in->mnemonic[0] != 'g' && in->mnemonic[0] != 'b' &&
            !check_vgpr(w, in, reg, 1, bad))
            return false;
    }
    for (uint64_t left = p->scratch | p->lds; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *at = NULL;
        if (p->scratch >> lane & 1) {
            if (!scratch_span(w, in, p->addr[lane], d->bytes, lane, &at))
                return false;
        } else {
            uint32_t addr = (uint32_t)p->addr[lane];
            if (!lds_access(w, in, addr, d->bytes, true, false, (int)lane))
                return false;
            if (addr + d->bytes > w->group->lds_bytes)
                continue;
            at = w->group->lds + addr;
        }
        for (unsigned b = 0; b < d->bytes; b += 4) {
            unsigned n = d->bytes - b < 4 ? d->bytes - b : 4;
            bool ok = ~undefined[b / 4] >> lane & 1;
            uint32_t poison = POISON;
            memcpy(at + b, ok || n < 4 ? &d->data[b / 4][lane] : &poison, n);
        }
    }
    return true;
}

/* Bounds of each lane, and stored words that look like poison. */
static bool check_store(struct wave *w, const struct inst *in, const struct pend *d)
{
    struct alloc *a;
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!mem_span(w, in, d->addr[lane], d->bytes, (int)lane, &a))
            return false;
        if (a->code) {
            fault(w, in, EMU_CHECK_BOUNDS, "store-to-code", (int)lane, NULL,
                  "store to 0x%llx, inside a code object", (unsigned long long)d->addr[lane]);
            return false;
        }
        if (a->defined || d->bytes < 4)
            continue;
        for (unsigned k = 0; k < d->bytes / 4; k++)
            if (__builtin_expect(d->data[k][lane] == POISON, 0))
                device_escape(w->xcd->launch->dev, d->addr[lane] + 4 * k);
    }
    return true;
}

/* Lanes of which only the first dwords are in range: one store a lane would be right and slow; they
 * are rare. */
static void trim(const struct inst *in, const struct places *p, struct pend *d)
{
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (partial_lane(in, p, lane))
            d->lanes &= ~(1ull << lane);
    }
}

static struct pend *gather_store(struct wave *w, const struct inst *in, const struct vmem_row *r,
                                 const struct places *p, enum pend_kind kind)
{
    struct pend *d = pend_new(w, in, kind, p->global, r->bytes);
    if (!d)
        return NULL;
    memcpy(d->addr, p->addr, sizeof(d->addr));
    const struct opnd *o = &in->op[in->vdata];
    for (unsigned k = 0; k < o->n && k < 4; k++)
        memcpy(d->data[k], vrow(w, o, k), LANES * 4);
    if (r->half == HALF_HI)
        for (unsigned i = 0; i < LANES; i++)
            d->data[0][i] >>= 16;
    return d;
}

/* The dwords in range of lanes that are cut off by the buffer's end, as dword stores of their own.
 */
static bool store_cut_lanes(struct wave *w, const struct inst *in, const struct places *p,
                            const struct pend *all, enum pend_kind kind)
{
    for (unsigned k = 0; k < 4 && k < all->bytes / 4u; k++) {
        uint64_t lanes = 0;
        for (uint64_t left = p->global; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            if (partial_lane(in, p, lane) && k < p->valid[lane])
                lanes |= 1ull << lane;
        }
        if (!lanes)
            continue;
        struct pend *d = pend_new(w, in, kind, lanes, 4);
        if (!d)
            return false;
        for (unsigned i = 0; i < LANES; i++)
            d->addr[i] = p->addr[i] + 4 * k;
        memcpy(d->data[0], all->data[k], LANES * 4);
        if (!check_store(w, in, d))
            return false;
        pend_issue(w, d);
        pend_unref(w->xcd, d); /* no counter of its own */
    }
    return true;
}

void exec_store(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    spin_reset(w);
    bool weak = w->xcd->launch->checks & EMU_CHECK_CACHES;
    enum pend_kind kind = in->sc1 || !weak ? PEND_STORE : PEND_PLAIN;
    if (kind == PEND_PLAIN && w->npend && wait_for_own_stores(w, in, &p))
        return;
    struct pend *d = gather_store(w, in, r, &p, kind);
    if (!d)
        return;
    if (!store_near(w, in, &p, d) || !store_cut_lanes(w, in, &p, d, kind))
        return;
    trim(in, &p, d);
    if (!check_store(w, in, d))
        return;
    struct flight f = {.cls = OPC_STORE};
    if (d->lanes) {
        f.pend = d;
        pend_issue(w, d);
    } else {
        pend_unref(w->xcd, d);
    }
    count_vmem(w, in, f);
}

/* ---- atomics ---- */

void exec_atomic(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    spin_reset(w);
    if (p.lds | p.scratch) {
        fault(w, in, EMU_CHECK_BOUNDS, "flat-atomic", -1, NULL,
              "flat atomics to LDS or scratch are not executed");
        return;
    }
    struct pend *d = gather_store(w, in, r, &p, PEND_ATOMIC);
    if (!d)
        return;
    trim(in, &p, d);
    d->returns = in->vdst >= 0;
    struct alloc *a;
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!mem_span(w, in, d->addr[lane], r->bytes, (int)lane, &a))
            return;
        if (d->addr[lane] % r->bytes) {
            fault(w, in, EMU_CHECK_BOUNDS, "memory-misaligned", (int)lane, NULL,
                  "address 0x%llx of an atomic is not aligned to %u",
                  (unsigned long long)d->addr[lane], r->bytes);
            return;
        }
    }
    struct flight f = {.cls = OPC_ATOMIC};
    if (d->lanes) {
        f.pend = d;
        pend_issue(w, d);
    } else {
        pend_unref(w->xcd, d);
    }
    if (in->vdst >= 0) {
        unsigned n = r->bytes / 4;
        f.reg = (uint16_t)vnum(&in->op[in->vdst]);
        f.n = (uint8_t)n;
        f.lanes = w->exec;
        for (uint64_t left = w->exec & ~p.global; left; left &= left - 1)
            for (unsigned k = 0; k < n; k++)
                vrow(w, &in->op[in->vdst], k)[__builtin_ctzll(left)] = 0;
        mark_loading(w, in, f.reg, n, w->exec);
    }
    count_vmem(w, in, f);
}

void vmem_atomic_commit(struct launch *l, struct pend *p)
{
    const struct vmem_row *r = p->in->row;
    struct wave *w = p->w;
    bool wide = r->bytes == 8;
    unsigned n = r->bytes / 4;
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        struct alloc *a = device_find(l->dev, p->addr[lane]);
        if (!a)
            return;
        uint64_t at = p->addr[lane] - (uint64_t)(uintptr_t)a->base, line = at / LINE, old = 0;
        uint8_t *mem = a->base + at, data[LINE];
        /* Bytes dirty in its own L2 are older. */
        uint64_t rec = a->xshadow[w->xcd->index][line] >> SHADOW_REC_SHIFT;
        struct mask128 m = mask_range(at % LINE, r->bytes);
        memcpy(data + at % LINE, mem, r->bytes);
        if (rec && mask_meets(w->xcd->recs[rec]->dirty, m))
            memcpy(data + at % LINE, w->xcd->recs[rec]->data + at % LINE, r->bytes);
        memcpy(&old, data + at % LINE, r->bytes);
        if (!a->defined && (uint32_t)old == POISON && l->checks & EMU_CHECK_UNDEFINED &&
            r->op != AT_SWAP && !device_escaped(l->dev, p->addr[lane])) {
            fault(w, p->in, EMU_CHECK_UNDEFINED, "undefined-memory", (int)lane, NULL,
                  "atomic on 0x%llx, which nobody wrote", (unsigned long long)p->addr[lane]);
            return;
        }
        uint64_t v = p->data[0][lane], cmp = 0;
        if (wide)
            v |= (uint64_t)p->data[1][lane] << 32;
        if (r->op == AT_CMPSWAP)
            cmp = p->data[n][lane] | (wide ? (uint64_t)p->data[n + 1][lane] << 32 : 0);
        uint64_t new = atomic_value(r->op, wide, old, v, cmp);
        memcpy(data + at % LINE, &new, r->bytes);
        l->commits += cache_commit(l, w->xcd, (int)w->group->cu, a, line, m, data);
        if (p->returns)
            for (unsigned k = 0; k < n; k++)
                vrow(w, &p->in->op[p->in->vdst], k)[lane] = (uint32_t)(old >> 32 * k);
    }
}
