/* SPDX-License-Identifier: Apache-2.0 */
/* Vector memory loads, into registers and into LDS, and what makes one a poll. */
#include "exec_vmem.h"

#include <string.h>

struct landing { /* where loaded bytes go */
    uint32_t *row[4];
    unsigned bytes, half;
    bool sign;
};

static inline uint32_t widen(const uint8_t *p, unsigned bytes, bool sign)
{
    if (bytes == 1)
        return sign ? (uint32_t)(int32_t)(int8_t)*p : *p;
    uint16_t h;
    memcpy(&h, p, 2);
    return sign ? (uint32_t)(int32_t)(int16_t)h : h;
}

static inline void land_lane(const struct landing *to, unsigned lane, const uint8_t *p)
{
    if (to->bytes >= 4) {
        for (unsigned k = 0; k < to->bytes / 4; k++)
            memcpy(&to->row[k][lane], p + 4 * k, 4);
        return;
    }
    uint32_t v = widen(p, to->bytes, to->sign), *d = &to->row[0][lane];
    if (to->half == HALF_LO)
        *d = (*d & 0xffff0000) | (v & 0xffff);
    else if (to->half == HALF_HI)
        *d = (*d & 0xffff) | v << 16;
    else
        *d = v;
}

static bool undefined_memory(struct wave *w, const struct inst *in, const struct alloc *a,
                             const uint8_t *line, uint64_t at, unsigned bytes, int lane)
{
    for (unsigned b = (at % LINE) & ~3u; b < at % LINE + bytes && b + 4 <= LINE; b += 4) {
        uint32_t v;
        memcpy(&v, line + b, 4);
        if (__builtin_expect(v != POISON, 1))
            continue;
        uint64_t addr = (uint64_t)(uintptr_t)a->base + at / LINE * LINE + b;
        if (device_escaped(w->xcd->launch->dev, addr))
            continue;
        fault(w, in, EMU_CHECK_UNDEFINED, "undefined-memory", lane, NULL,
              "dword at 0x%llx (allocation 0x%llx + 0x%llx of 0x%zx) is read, but nobody wrote it",
              (unsigned long long)addr, (unsigned long long)(uintptr_t)a->base,
              (unsigned long long)(addr - (uint64_t)(uintptr_t)a->base), a->size);
        return true;
    }
    return false;
}

/* A lane whose bytes cross a line, or of which some dwords are out of range: dword by dword. */
static bool load_lane(struct wave *w, const struct inst *in, const struct landing *to,
                      unsigned lane, uint64_t addr, unsigned dwords)
{
    uint8_t bytes[16] = {0}, tmp[LINE];
    bool check = w->xcd->launch->checks & EMU_CHECK_UNDEFINED;
    for (unsigned b = 0; b < to->bytes && b / 4 < dwords;) {
        struct alloc *a;
        unsigned n = to->bytes - b < 4 ? to->bytes - b : 4;
        if (!mem_span(w, in, addr + b, n, (int)lane, &a))
            return false;
        uint64_t at = addr + b - (uint64_t)(uintptr_t)a->base;
        if (n > LINE - at % LINE)
            n = (unsigned)(LINE - at % LINE);
        const uint8_t *line =
            cache_line(w, in, a, at / LINE, mask_range(at % LINE, n), (int)lane, tmp);
        if (!line)
            return false;
        if (check && !a->defined && undefined_memory(w, in, a, line, at, n, (int)lane))
            return false;
        memcpy(bytes + b, line + at % LINE, n);
        b += n;
    }
    land_lane(to, lane, bytes);
    return true;
}

/* Lanes in order; neighbours in one line share the look-up. */
static bool load_global(struct wave *w, const struct inst *in, const struct landing *to,
                        const struct places *p)
{
    bool undefined = w->xcd->launch->checks & EMU_CHECK_UNDEFINED;
    uint64_t left = p->global;
    unsigned bytes = to->bytes, align = bytes < 4 ? bytes : 4;
    while (left) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t addr = p->addr[lane];
        struct alloc *a;
        if (partial_lane(in, p, lane)) {
            if (!load_lane(w, in, to, lane, addr, p->valid[lane]))
                return false;
            left &= left - 1;
            continue;
        }
        if (!mem_span(w, in, addr, bytes, (int)lane, &a))
            return false;
        uint64_t base = (uint64_t)(uintptr_t)a->base, line = (addr - base) / LINE;
        if ((addr - base) % LINE + bytes > LINE) {
            if (!load_lane(w, in, to, lane, addr, 4))
                return false;
            left &= left - 1;
            continue;
        }
        uint64_t run = 0;
        struct mask128 want = {0, 0};
        for (uint64_t more = left; more; more &= more - 1) {
            unsigned j = (unsigned)__builtin_ctzll(more);
            uint64_t at = p->addr[j] - base;
            if (at / LINE != line || at % LINE + bytes > LINE || at + bytes > a->size ||
                p->addr[j] % align || partial_lane(in, p, j))
                break;
            struct mask128 m = mask_range(at % LINE, bytes);
            want.lo |= m.lo;
            want.hi |= m.hi;
            run |= 1ull << j;
        }
        uint8_t tmp[LINE];
        const uint8_t *src = cache_line(w, in, a, line, want, (int)lane, tmp);
        if (!src)
            return false;
        bool check = undefined && !a->defined;
        for (uint64_t more = run; more; more &= more - 1) {
            unsigned j = (unsigned)__builtin_ctzll(more);
            uint64_t at = p->addr[j] - base;
            if (check && undefined_memory(w, in, a, src, at, bytes, (int)j))
                return false;
            land_lane(to, j, src + at % LINE);
        }
        left &= ~run;
    }
    return true;
}

/* Compilers spill and reload whole registers and half-filled arrays, so scratch that nobody wrote
 * is no mistake when it is loaded: the lanes that get it are undefined, until something uses them.
 * Of loads narrower than a dword it is one. */
static bool note_undefined_scratch(struct wave *w, const struct inst *in, const struct landing *to,
                                   const uint8_t *at, unsigned lane, uint64_t addr)
{
    if (!(w->xcd->launch->checks & EMU_CHECK_UNDEFINED))
        return true;
    unsigned reg = vnum(&in->op[in->vdst]);
    for (unsigned k = 0; k < (to->bytes + 3) / 4; k++) {
        uint32_t v;
        memcpy(&v, at + 4 * k - ((uintptr_t)at & 3), 4);
        if (v != POISON)
            continue;
        if (to->bytes < 4) {
            fault(w, in, EMU_CHECK_UNDEFINED, "undefined-scratch", (int)lane, NULL,
                  "scratch byte 0x%llx is read, but nobody wrote it", (unsigned long long)addr);
            return false;
        }
        w->stay[reg + k] |= 1ull << lane;
        w->ok[reg + k] &= ~(1ull << lane);
    }
    return true;
}

static bool load_near(struct wave *w, const struct inst *in, const struct landing *to,
                      const struct places *p)
{
    for (uint64_t left = p->scratch; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *at;
        if (!scratch_span(w, in, p->addr[lane], to->bytes, lane, &at))
            return false;
        if (!note_undefined_scratch(w, in, to, at, lane, p->addr[lane]))
            return false;
        land_lane(to, lane, at);
    }
    for (uint64_t left = p->lds; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t addr = (uint32_t)p->addr[lane];
        if (!lds_access(w, in, addr, to->bytes, false, false, (int)lane))
            return false;
        uint8_t zero[16] = {0};
        land_lane(to, lane, addr + to->bytes <= w->group->lds_bytes ? w->group->lds + addr : zero);
    }
    return true;
}

static uint64_t hash_lanes(const struct landing *to, uint64_t lanes)
{
    uint64_t h = lanes;
    unsigned n = to->bytes >= 4 ? to->bytes / 4 : 1;
    for (unsigned k = 0; k < n; k++)
        for (uint64_t left = lanes; left; left &= left - 1)
            h = (h ^ to->row[k][__builtin_ctzll(left)]) * 0x9e3779b97f4a7c15u;
    return h;
}

/* A load may be a poll. Only one that comes to the same address again is worth a closer look. */
static void note_poll(struct wave *w, const struct inst *in, const struct landing *to,
                      const struct places *p)
{
    unsigned first = (unsigned)__builtin_ctzll(p->global);
    uint64_t watch = 0, hash = 0;
    if (spin_again(w, in, p->addr[first])) {
        uint64_t last = ~0ull;
        for (uint64_t left = p->global; left; left &= left - 1) {
            uint64_t line = p->addr[__builtin_ctzll(left)] / LINE;
            if (line != last)
                watch |= bloom_line(line * LINE);
            last = line;
        }
        hash = hash_lanes(to, p->global) | 1;
        w->block_addr = p->addr[first];
        w->block_value = to->row[0][first];
    }
    spin_note(w, in, p->addr[first], hash, watch);
}

void exec_load(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    if (wait_for_own_stores(w, in, &p))
        return;
    const struct opnd *d = &in->op[in->vdst];
    struct landing to = {.bytes = r->bytes, .half = r->half, .sign = r->sign};
    for (unsigned k = 0; k < d->n && k < 4; k++)
        to.row[k] = vrow(w, d, k);
    for (uint64_t left = p.none; left; left &= left - 1) {
        static const uint8_t zero[16];
        land_lane(&to, (unsigned)__builtin_ctzll(left), zero);
    }
    if (!load_global(w, in, &to, &p))
        return;
    mark_loading(w, in, vnum(d), d->n, w->exec);
    if (!load_near(w, in, &to, &p))
        return;
    if (p.global)
        note_poll(w, in, &to, &p);
    count_vmem(
        w, in,
        (struct flight){.cls = OPC_LOAD, .reg = (uint16_t)vnum(d), .n = d->n, .lanes = w->exec});
}

/* Memory to LDS: lane i's bytes go to M0 + offset + i times their (dword-rounded) size. */
void exec_load_lds(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    if (wait_for_own_stores(w, in, &p))
        return;
    _Alignas(64) uint32_t rows[4][LANES];
    memset(rows, 0, sizeof(rows));
    struct landing to = {
        .bytes = r->bytes, .sign = r->sign, .row = {rows[0], rows[1], rows[2], rows[3]}
    };
    if (!load_global(w, in, &to, &p))
        return;
    struct group *g = w->group;
    unsigned step = r->bytes <= 4 ? 4 : 16, bytes = r->bytes < 4 ? 4 : r->bytes;
    struct lds_touch *t = lds_touch_new(w, bytes, true, true);
    if (!t)
        return;
    bool track = w->xcd->launch->checks & EMU_CHECK_RACES;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t addr = w->s[S_M0] + (uint32_t)in->offset + lane * step;
        t->addr[lane] = addr;
        if (!lds_access(w, in, addr, bytes, true, false, (int)lane))
            return;
        for (unsigned k = 0; k < bytes / 4; k++) {
            if ((uint64_t)addr + 4 * k + 4 > g->lds_bytes)
                break;
            memcpy(g->lds + addr + 4 * k, &rows[k][lane], 4);
            if (track)
                g->cells[addr / 4 + k].dma = 1;
        }
    }
    count_vmem(w, in, (struct flight){.cls = OPC_LDS_DMA, .touch = t});
}
