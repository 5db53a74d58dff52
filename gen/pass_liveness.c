/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liveness of virtual dwords over the block graph, and the removal of what is never read.
 *
 * A dword occupies a register where it is both alive (some path reads it) and reached (some path
 * has written it): a register first written inside masked code or a loop is not alive from the
 * kernel's start.
 */
#include <stdio.h>
#include <string.h>

#include "gen/isa.h"
#include "gen/pass.h"

uint32_t live_dwords(const struct program *p, const struct touch *t, int *count)
{
    *count = t->width;
    if (!t->special)
        return (uint32_t)t->unit;
    if (t->space == UNIT_SCC)
        return p->n_comps + LIVE_SCC;
    if (t->unit == SGPR_VCC)
        return p->n_comps + LIVE_VCC_LO;
    if (t->unit == SGPR_M0)
        return p->n_comps + LIVE_M0;
    *count = 0;
    return 0;
}

void live_step_back(const struct program *p, const struct instr *in, uint64_t *live)
{
    struct touch t[MAX_TOUCHES];
    int n = instr_touches(p, in, false, t), count;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            uint32_t first = live_dwords(p, &t[i], &count);
            for (int k = 0; k < count; k++) {
                if (pass == 0 && !(t[i].access & ACC_R))
                    live_drop(live, first + (uint32_t)k);
                if (pass == 1 && (t[i].access & ACC_R))
                    live_add(live, first + (uint32_t)k);
            }
        }
    }
}

static void step_reach(const struct program *p, const struct instr *in, uint64_t *reach)
{
    struct touch t[MAX_TOUCHES];
    int n = instr_touches(p, in, false, t), count;
    for (int i = 0; i < n; i++) {
        uint32_t first = live_dwords(p, &t[i], &count);
        for (int k = 0; k < count; k++)
            if (t[i].access & ACC_W)
                live_add(reach, first + (uint32_t)k);
    }
}

/* set |= other; true when that changed it. */
static bool merge(uint64_t *set, const uint64_t *other, size_t words)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < words; i++) {
        changed |= other[i] & ~set[i];
        set[i] |= other[i];
    }
    return changed;
}

static void solve_live(struct program *p, struct liveness *l, uint64_t *scratch)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = p->n_blocks - 1; b >= 0; b--) {
            const struct block *block = &p->blocks[b];
            uint64_t *out = live_set(l->live_out, l, b);
            for (int s = 0; s < block->n_succ; s++)
                merge(out, live_set(l->live_in, l, block->succ[s]), l->words);
            memcpy(scratch, out, l->words * sizeof *scratch);
            for (int i = block->n - 1; i >= 0; i--)
                live_step_back(p, &block->instrs[i], scratch);
            changed |= merge(live_set(l->live_in, l, b), scratch, l->words);
        }
    }
}

static void solve_reach(struct program *p, struct liveness *l, uint64_t *scratch)
{
    for (int i = 0; i < p->n_vregs; i++)
        if (p->vregs[i].fixed)
            for (int k = 0; k < p->vregs[i].width; k++)
                live_add(l->reach_in, p->vregs[i].comp + (uint32_t)k);
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < p->n_blocks; b++) {
            const struct block *block = &p->blocks[b];
            memcpy(scratch, live_set(l->reach_in, l, b), l->words * sizeof *scratch);
            for (int i = 0; i < block->n; i++)
                step_reach(p, &block->instrs[i], scratch);
            for (int s = 0; s < block->n_succ; s++)
                changed |= merge(live_set(l->reach_in, l, block->succ[s]), scratch, l->words);
        }
    }
}

bool liveness_make(struct program *p, struct liveness *l)
{
    l->n_comps = p->n_comps + LIVE_SPECIALS;
    l->words = (l->n_comps + 63) / 64;
    size_t bytes = l->words * (size_t)p->n_blocks * sizeof(uint64_t);
    l->live_in = arena_alloc(p->arena, bytes);
    l->live_out = arena_alloc(p->arena, bytes);
    l->reach_in = arena_alloc(p->arena, bytes);
    uint64_t *scratch = arena_alloc(p->arena, l->words * sizeof *scratch);
    if (!l->live_in || !l->live_out || !l->reach_in || !scratch)
        return false;
    solve_live(p, l, scratch);
    solve_reach(p, l, scratch);
    return true;
}

/* ---- dead code */

static bool is_dead(const struct program *p, const struct instr *in, const uint64_t *live)
{
    uint32_t flags = op_info(in->op)->flags;
    if (flags & (FLAG_SIDE | FLAG_STORE | FLAG_EXEC_W))
        return false;
    struct touch t[MAX_TOUCHES];
    int n = instr_touches(p, in, false, t), count;
    for (int i = 0; i < n; i++) {
        if (!(t[i].access & ACC_W))
            continue;
        uint32_t first = live_dwords(p, &t[i], &count);
        if (count == 0)
            return false; /* EXEC */
        for (int k = 0; k < count; k++)
            if (live_has(live, first + (uint32_t)k))
                return false;
    }
    return true;
}

static int sweep_block(struct program *p, struct block *b, uint64_t *live, bool *changed, char *err,
                       size_t err_size)
{
    int keep = b->n;
    for (int i = b->n - 1; i >= 0; i--) {
        const struct instr *in = &b->instrs[i];
        const struct op_info *info = op_info(in->op);
        if (is_dead(p, in, live)) {
            if ((info->flags & FLAG_LOAD) && info->counter != COUNT_SMEM) {
                snprintf(err, err_size, "%s:%d: %s: the loaded value is never used", in->file,
                         in->line, info->name);
                return -1;
            }
            *changed = true;
            continue;
        }
        live_step_back(p, in, live);
        if (--keep != i)
            b->instrs[keep] = *in;
    }
    if (keep) {
        b->n -= keep;
        memmove(b->instrs, b->instrs + keep, (size_t)b->n * sizeof *b->instrs);
    }
    return 0;
}

int pass_dead(struct program *p, char *err, size_t err_size)
{
    for (bool changed = true; changed;) {
        struct liveness l;
        if (!liveness_make(p, &l)) {
            snprintf(err, err_size, "out of memory");
            return -1;
        }
        changed = false;
        for (int b = 0; b < p->n_blocks; b++)
            if (sweep_block(p, &p->blocks[b], live_set(l.live_out, &l, b), &changed, err, err_size))
                return -1;
    }
    return 0;
}
