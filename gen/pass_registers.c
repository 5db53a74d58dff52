/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register allocation. Each virtual dword has a list of spans (slots of the program's text where it
 * holds a value, holes left out); a tuple goes to the first aligned place where none of its dwords'
 * spans meets another's. Tuples are placed widest first, then longest; when that does not fit, in
 * the order of their first span.
 *
 * Instruction i reads at slot 2 i and writes at slot 2 i + 1, so a result may take the place of a
 * source that dies there, unless its row is marked EARLY.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/hazard.h"
#include "gen/isa.h"
#include "gen/pass.h"

struct span {
    uint32_t comp;
    int from, to; /* slots, inclusive */
};

struct alloc {
    struct program *p;
    struct liveness live;
    struct span *spans; /* sorted by comp once all are found */
    int n_spans, cap_spans;
    int *first; /* spans of dword c: first[c] .. first[c + 1] - 1 */
    int slots;
    bool spread;     /* keep registers back while reusing them would cost wait states */
    int *block_slot; /* slot of a block's first instruction */
    int *end, *born; /* of a dword, while a block is walked: slot it is alive to (-1: dead),
                        earliest write */
    char *err;
    size_t err_size;
};

static int fail(struct alloc *a, const char *message)
{
    snprintf(a->err, a->err_size, "%s", message);
    return -1;
}

static bool add_span(struct alloc *a, uint32_t comp, int from, int to)
{
    if (comp >= a->p->n_comps)
        return true;
    if (!PROGRAM_GROW(a->p, a->spans, a->n_spans, a->cap_spans))
        return false;
    a->spans[a->n_spans++] = (struct span){comp, from, to};
    return true;
}

/* Where a partly unused load's idle dwords stay reserved to: its first use in the block waits for
 * all of it. */
static int load_settles(const struct alloc *a, const struct block *b, int at, int base)
{
    struct touch mine[MAX_TOUCHES], t[MAX_TOUCHES];
    instr_touches(a->p, &b->instrs[at], false, mine);
    for (int i = at + 1; i < b->n; i++) {
        int n = instr_touches(a->p, &b->instrs[i], false, t);
        for (int k = 0; k < n; k++)
            if (!t[k].special && t[k].unit < mine[0].unit + mine[0].width &&
                mine[0].unit < t[k].unit + t[k].width)
                return base + 2 * i;
    }
    return base + 2 * b->n - 1;
}

static bool reads_dword(const struct program *p, const struct touch *t, int n, uint32_t c)
{
    for (int k = 0, count; k < n; k++) {
        uint32_t first = live_dwords(p, &t[k], &count);
        if ((t[k].access & ACC_R) && c >= first && c < first + (uint32_t)count)
            return true;
    }
    return false;
}

/* The slot up to which a touch's registers are kept back. */
static int kept_back(const struct alloc *a, const struct block *b, int i, int base,
                     const struct hazard_facts *f, int touch)
{
    int states = a->spread && f->produces ? hazard_reuse_states(a->p, f, touch) : 0;
    int last = i + states < b->n ? i + states : b->n - 1;
    return states ? base + 2 * last + 1 : -1;
}

static bool walk_writes(struct alloc *a, const struct block *b, int i, int base,
                        const struct hazard_facts *f)
{
    bool early = f->info->flags & FLAG_EARLY;
    int count;
    for (int k = 0; k < f->n; k++) {
        const struct touch *t = &f->touch[k];
        if (!(t->access & ACC_W))
            continue;
        uint32_t first = live_dwords(a->p, t, &count);
        int kept = kept_back(a, b, i, base, f, k);
        for (uint32_t c = first; c < first + (uint32_t)count; c++) {
            /* an accumulator, read and written in place, is no clash with itself */
            int slot = base + 2 * i + !(early && !reads_dword(a->p, f->touch, f->n, c));
            int to = a->end[c];
            if (to < 0) {
                to = base + 2 * i + 1;
                if (f->info->flags & FLAG_LOAD)
                    to = load_settles(a, b, i, base);
            }
            if (to < kept)
                to = kept;
            a->born[c] = slot;
            if (t->access & ACC_R) {
                a->end[c] = to; /* goes on upwards */
            } else {
                if (!add_span(a, c, slot, to))
                    return false;
                a->end[c] = -1;
            }
        }
    }
    return true;
}

static void walk_reads(struct alloc *a, const struct block *b, int i, int base,
                       const struct hazard_facts *f)
{
    int count;
    for (int k = 0; k < f->n; k++) {
        if (!(f->touch[k].access & ACC_R))
            continue;
        uint32_t first = live_dwords(a->p, &f->touch[k], &count);
        int kept = kept_back(a, b, i, base, f, k);
        int to = kept > base + 2 * i ? kept : base + 2 * i;
        for (uint32_t c = first; c < first + (uint32_t)count; c++)
            if (a->end[c] < to)
                a->end[c] = to;
    }
}

static bool walk_block(struct alloc *a, int index)
{
    const struct block *b = &a->p->blocks[index];
    int base = a->block_slot[index], last = base + 2 * b->n;
    const uint64_t *out = live_set(a->live.live_out, &a->live, index);
    const uint64_t *reach = live_set(a->live.reach_in, &a->live, index);
    for (uint32_t c = 0; c < a->live.n_comps; c++) {
        a->end[c] = live_has(out, c) ? last : -1;
        a->born[c] = -1;
    }
    for (int i = b->n - 1; i >= 0; i--) {
        struct hazard_facts f;
        hazard_facts_make(a->p, &b->instrs[i], false, &f);
        if (!walk_writes(a, b, i, base, &f))
            return false;
        walk_reads(a, b, i, base, &f);
    }
    for (uint32_t c = 0; c < a->live.n_comps; c++) {
        int from = live_has(reach, c) ? base : a->born[c];
        if (a->end[c] >= 0 && from >= 0 && !add_span(a, c, from, a->end[c]))
            return false;
    }
    return true;
}

static void undefined_read(struct alloc *a, const struct instr *in, const struct touch *t,
                           int dword)
{
    char what[40];
    if (t->space == UNIT_SCC)
        snprintf(what, sizeof what, "SCC");
    else if (t->special)
        snprintf(what, sizeof what, "%s", t->unit == SGPR_VCC ? "VCC" : "M0");
    else
        snprintf(what, sizeof what, "operand %d, dword %d", t->operand + 1, dword);
    snprintf(a->err, a->err_size, "%s:%d: %s: %s is read but never written before", in->file,
             in->line, op_info(in->op)->name, what);
}

/* A read that nothing can have written before it. */
static int check_reads(struct alloc *a)
{
    struct program *p = a->p;
    uint64_t *reach = arena_alloc(p->arena, a->live.words * sizeof *reach);
    if (!reach)
        return fail(a, "out of memory");
    for (int b = 0; b < p->n_blocks; b++) {
        memcpy(reach, live_set(a->live.reach_in, &a->live, b), a->live.words * sizeof *reach);
        for (int i = 0; i < p->blocks[b].n; i++) {
            const struct instr *in = &p->blocks[b].instrs[i];
            struct touch t[MAX_TOUCHES];
            int n = instr_touches(p, in, false, t), count;
            for (int k = 0; k < n; k++) {
                uint32_t first = live_dwords(p, &t[k], &count);
                for (uint32_t c = first; c < first + (uint32_t)count; c++) {
                    if ((t[k].access & ACC_R) && !t[k].keeps && !live_has(reach, c)) {
                        undefined_read(a, in, &t[k], (int)(c - first));
                        return -1;
                    }
                }
            }
            for (int k = 0; k < n; k++) {
                uint32_t first = live_dwords(p, &t[k], &count);
                for (uint32_t c = first; c < first + (uint32_t)count; c++)
                    if (t[k].access & ACC_W)
                        live_add(reach, c);
            }
        }
    }
    return 0;
}

static int by_comp(const void *x, const void *y)
{
    const struct span *a = x, *b = y;
    if (a->comp != b->comp)
        return a->comp < b->comp ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int find_spans(struct alloc *a)
{
    struct program *p = a->p;
    a->slots = a->n_spans = 0;
    a->block_slot = arena_alloc(p->arena, (size_t)p->n_blocks * sizeof(int));
    a->end = arena_alloc(p->arena, a->live.n_comps * sizeof(int));
    a->born = arena_alloc(p->arena, a->live.n_comps * sizeof(int));
    a->first = arena_alloc(p->arena, ((size_t)p->n_comps + 1) * sizeof(int));
    if (!a->block_slot || !a->end || !a->born || !a->first)
        return fail(a, "out of memory");
    for (int b = 0; b < p->n_blocks; b++) {
        a->block_slot[b] = a->slots;
        a->slots += 2 * p->blocks[b].n + 1;
    }
    for (int b = 0; b < p->n_blocks; b++)
        if (!walk_block(a, b))
            return fail(a, "out of memory");
    if (a->n_spans)
        qsort(a->spans, (size_t)a->n_spans, sizeof *a->spans, by_comp);
    int at = 0;
    for (uint32_t c = 0; c <= p->n_comps; c++) {
        while (at < a->n_spans && a->spans[at].comp < c)
            at++;
        a->first[c] = at;
    }
    return 0;
}

/* ---- placement: a set of occupied slots for each physical register */

struct file {
    uint64_t *taken;
    size_t words; /* a register's */
    int limit;
    int used;
};

static uint64_t mask_of(int from, int to, size_t word)
{
    uint64_t mask = ~UINT64_C(0);
    if ((size_t)from / 64 == word)
        mask &= ~UINT64_C(0) << (from % 64);
    if ((size_t)to / 64 == word && to % 64 != 63)
        mask &= (UINT64_C(1) << (to % 64 + 1)) - 1;
    return mask;
}

static bool dword_fits(const struct alloc *a, const struct file *f, uint32_t comp, int reg)
{
    const uint64_t *taken = f->taken + (size_t)reg * f->words;
    for (int i = a->first[comp]; i < a->first[comp + 1]; i++) {
        const struct span *s = &a->spans[i];
        for (size_t w = (size_t)s->from / 64; w <= (size_t)s->to / 64; w++)
            if (taken[w] & mask_of(s->from, s->to, w))
                return false;
    }
    return true;
}

static void dword_take(const struct alloc *a, struct file *f, uint32_t comp, int reg)
{
    uint64_t *taken = f->taken + (size_t)reg * f->words;
    for (int i = a->first[comp]; i < a->first[comp + 1]; i++) {
        const struct span *s = &a->spans[i];
        for (size_t w = (size_t)s->from / 64; w <= (size_t)s->to / 64; w++)
            taken[w] |= mask_of(s->from, s->to, w);
    }
    if (reg >= f->used)
        f->used = reg + 1;
}

static bool tuple_place(struct alloc *a, struct file *f, struct vreg *r)
{
    int align = r->width == 1 ? 1 : r->kind == VAL_V || r->width == 2 ? 2 : 4;
    int from = r->fixed ? r->phys : 0, to = r->fixed ? r->phys : f->limit - r->width;
    for (int reg = from; reg <= to; reg += align) {
        bool fits = true;
        for (int k = 0; k < r->width && fits; k++)
            fits = dword_fits(a, f, r->comp + (uint32_t)k, reg + k);
        if (!fits)
            continue;
        r->phys = (int16_t)reg;
        for (int k = 0; k < r->width; k++)
            dword_take(a, f, r->comp + (uint32_t)k, reg + k);
        return true;
    }
    return false;
}

/* A tuple in the order of placement. */
struct entry {
    int vreg;
    int fixed, width, length, start;
    int by_start;
};

static int by_order(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->fixed != b->fixed)
        return b->fixed - a->fixed;
    if (a->by_start && a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->width != b->width)
        return b->width - a->width;
    if (a->length != b->length)
        return b->length - a->length;
    return a->vreg - b->vreg;
}

static struct entry entry_of(const struct alloc *a, int index)
{
    const struct vreg *r = &a->p->vregs[index];
    struct entry e = {.vreg = index, .fixed = r->fixed, .width = r->width, .start = a->slots};
    for (int i = a->first[r->comp]; i < a->first[r->comp + r->width]; i++) {
        e.length += a->spans[i].to - a->spans[i].from + 1;
        if (a->spans[i].from < e.start)
            e.start = a->spans[i].from;
    }
    return e;
}

/* 1 when every register of the kind has its place, 0 when not, -1 out of memory. */
static int place_all(struct alloc *a, enum val_kind kind, int limit, int by_start, int *used)
{
    struct program *p = a->p;
    struct file f = {.words = (size_t)a->slots / 64 + 1, .limit = limit};
    struct entry *order = calloc((size_t)p->n_vregs + 1, sizeof *order);
    f.taken = calloc(f.words * (size_t)limit, sizeof *f.taken);
    int n = 0, ok = order && f.taken ? 1 : -1;
    for (int i = 0; ok == 1 && i < p->n_vregs; i++) {
        if (p->vregs[i].kind != kind)
            continue;
        order[n] = entry_of(a, i);
        order[n++].by_start = by_start;
    }
    if (ok == 1)
        qsort(order, (size_t)n, sizeof *order, by_order);
    for (int i = 0; ok == 1 && i < n; i++)
        if (order[i].length && !tuple_place(a, &f, &p->vregs[order[i].vreg]))
            ok = 0;
    *used = f.used;
    free(order);
    free(f.taken);
    return ok;
}

/* Most dwords of a kind alive at once, and the slot. */
static int find_peak(const struct alloc *a, enum val_kind kind, int *slot)
{
    const struct program *p = a->p;
    int *delta = calloc((size_t)a->slots + 2, sizeof *delta), peak = 0;
    *slot = 0;
    for (int r = 0; delta && r < p->n_vregs; r++) {
        const struct vreg *v = &p->vregs[r];
        for (int i = a->first[v->comp]; v->kind == kind && i < a->first[v->comp + v->width]; i++) {
            delta[a->spans[i].from]++;
            delta[a->spans[i].to + 1]--;
        }
    }
    for (int s = 0, now = 0; delta && s < a->slots; s++) {
        now += delta[s];
        if (now > peak) {
            peak = now;
            *slot = s;
        }
    }
    free(delta);
    return peak;
}

static const struct instr *instr_at(const struct alloc *a, int slot)
{
    const struct program *p = a->p;
    int b = p->n_blocks - 1;
    while (b > 0 && (a->block_slot[b] > slot || p->blocks[b].n == 0))
        b--;
    int i = (slot - a->block_slot[b]) / 2;
    return i < p->blocks[b].n ? &p->blocks[b].instrs[i] : &p->blocks[b].instrs[p->blocks[b].n - 1];
}

static int out_of_registers(const struct alloc *a, enum val_kind kind, int limit, int peak,
                            int slot)
{
    const struct instr *in = instr_at(a, slot);
    snprintf(a->err, a->err_size,
             "stage %s: out of %s: %d dwords are alive at %s:%d (%s), %d registers to hold them",
             a->p->stages[in->stage], kind == VAL_V ? "VGPRs" : "SGPRs", peak, in->file, in->line,
             op_info(in->op)->name, limit);
    return -1;
}

/* One kind of register: kept back where that costs wait states, then not; both orders. */
static int allocate(struct alloc *a, enum val_kind kind, int limit, int *used, int *peak)
{
    int slot = 0, ok = 0;
    for (int way = 0; way < 4 && ok == 0; way++) {
        a->spread = way < 2;
        if (find_spans(a))
            return -1;
        ok = place_all(a, kind, limit, way % 2, used);
    }
    if (ok < 0)
        return fail(a, "out of memory");
    a->spread = false;
    if (find_spans(a))
        return -1;
    *peak = find_peak(a, kind, &slot);
    return ok ? 0 : out_of_registers(a, kind, limit, *peak, slot);
}

int pass_registers(struct program *p, char *err, size_t err_size)
{
    struct alloc a = {.p = p, .err = err, .err_size = err_size};
    if (!liveness_make(p, &a.live))
        return fail(&a, "out of memory");
    if (check_reads(&a) || allocate(&a, VAL_V, p->max_vgprs, &p->vgprs, &p->peak_vgprs) ||
        allocate(&a, VAL_S, p->max_sgprs, &p->sgprs, &p->peak_sgprs))
        return -1;
    return 0;
}
