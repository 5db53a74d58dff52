/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers in flight, by dataflow: for each register the fewest operations that may have been
 * issued behind the load into it, over all paths. A wait for a count lands what is at least that
 * old.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lint_flow.h"

enum { NOT = 255, AGE_MAX = 64 };

struct cell {
    uint8_t vm, lgkm;      /* operations of the counter issued since, NOT: not in flight by it */
    uint8_t smem : 1;      /* comes back out of order: only a count of 0 lands it */
    uint8_t flat : 1;      /* by both counters, in no order */
    uint8_t all_paths : 1; /* in flight whichever way */
    const struct inst *by;
};

struct state {
    bool reached;
    bool smem; /* a scalar load may be outstanding: counts above 0 say nothing of LDS either */
    uint8_t
        lds; /* youngest LDS access that may be outstanding, as an age; a barrier hands LDS over */
    const struct inst *lds_by;
    struct cell cell[REG_END];
};

static void land(struct cell *c)
{
    *c = (struct cell){.vm = NOT, .lgkm = NOT};
}

static bool flying(const struct cell *c)
{
    return c->vm != NOT || c->lgkm != NOT;
}

/* ---- one instruction */

static void apply_wait(struct state *s, unsigned vm, unsigned lgkm)
{
    for (int r = 0; r < REG_END; r++) {
        struct cell *c = &s->cell[r];
        if (!flying(c))
            continue;
        bool vm_done = c->vm == NOT || vm == 0 || (!c->flat && vm != NOT && c->vm >= vm);
        bool lgkm_done = c->lgkm == NOT || lgkm == 0 ||
                         (!c->flat && !c->smem && !s->smem && lgkm != NOT && c->lgkm >= lgkm);
        if (c->flat) { /* each counter is waited for by itself */
            if (vm == 0)
                c->vm = NOT;
            if (lgkm == 0)
                c->lgkm = NOT;
            if (!flying(c))
                land(c);
        } else if (vm_done && lgkm_done) {
            land(c);
        }
    }
    if (lgkm == 0 || (lgkm != NOT && !s->smem && s->lds != NOT && s->lds >= lgkm))
        s->lds = NOT;
    if (lgkm == 0)
        s->smem = false;
}

static bool counts_vm(const struct inst *in)
{
    return in->flags & IF_VMEM && strcmp(in->mnemonic, "buffer_inv") != 0;
}

static void grow(uint8_t *age)
{
    if (*age < AGE_MAX)
        ++*age;
}

static void age(struct state *s, bool vm, bool lgkm)
{
    if (lgkm)
        grow(&s->lds);
    for (int r = 0; r < REG_END; r++) {
        struct cell *c = &s->cell[r];
        if (vm)
            grow(&c->vm);
        if (lgkm)
            grow(&c->lgkm);
    }
}

static void issue(struct state *s, const struct inst *in)
{
    bool vm = counts_vm(in);
    bool lgkm = in->flags & (IF_DS | IF_SMEM) || (vm && in->flags & IF_FLAT);
    if (!vm && !lgkm)
        return;
    age(s, vm, lgkm);
    s->smem |= (in->flags & IF_SMEM) != 0;
    if (in->flags & IF_DS) {
        s->lds = 0;
        s->lds_by = in;
    }
    bool flat = vm && lgkm;
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        if (u->kind != USE_LOAD && !(in->flags & IF_SMEM))
            continue;
        for (unsigned i = 0; i < u->n && u->reg + i < REG_END; i++)
            s->cell[u->reg + i] = (struct cell){.vm = vm ? 0 : NOT,
                                                .lgkm = lgkm ? 0 : NOT,
                                                .smem = (in->flags & IF_SMEM) != 0,
                                                .flat = flat,
                                                .all_paths = true,
                                                .by = in};
    }
}

static bool is_barrier(const struct inst *in)
{
    return strcmp(in->mnemonic, "s_barrier") == 0;
}

static void step(struct state *s, const struct lint_node *node)
{
    const struct inst *in = node->in;
    if (in->flags & IF_WAIT)
        apply_wait(s, in->vmcnt, in->lgkmcnt);
    issue(s, in);
    if (node->call) { /* a callee starts with a wait for everything, by the calling convention */
        for (int r = 0; r < REG_END; r++)
            land(&s->cell[r]);
        s->smem = false;
        s->lds = NOT;
    }
}

/* ---- joins */

static bool join_age(uint8_t *a, uint8_t b)
{
    if (b >= *a)
        return false;
    *a = b;
    return true;
}

static bool join(struct state *to, const struct state *from)
{
    if (!to->reached) {
        *to = *from;
        to->reached = true;
        return true;
    }
    bool changed = from->smem && !to->smem;
    to->smem |= from->smem;
    if (join_age(&to->lds, from->lds)) {
        to->lds_by = from->lds_by;
        changed = true;
    }
    for (int r = 0; r < REG_END; r++) {
        struct cell *a = &to->cell[r];
        const struct cell *b = &from->cell[r];
        if (a->all_paths && !b->all_paths) {
            a->all_paths = false;
            changed = true;
        } else if (!flying(a) && flying(b)) {
            *a = *b;
            a->all_paths = false;
            changed = true;
            continue;
        }
        if (!flying(b))
            continue;
        changed |= join_age(&a->vm, b->vm);
        changed |= join_age(&a->lgkm, b->lgkm);
        if (b->smem && !a->smem)
            a->smem = changed = true;
        if (b->flat && !a->flat)
            a->flat = changed = true;
    }
    return changed;
}

/* ---- findings */

static const char *register_name(unsigned reg, char name[16])
{
    if (reg < REG_A)
        snprintf(name, 16, "v%u", reg);
    else if (reg < REG_S)
        snprintf(name, 16, "a%u", reg - REG_A);
    else if (reg - REG_S == S_VCC || reg - REG_S == S_VCC + 1)
        snprintf(name, 16, "vcc");
    else
        snprintf(name, 16, "s%u", reg - REG_S);
    return name;
}

static bool report_use(struct lint_sink *sink, const struct state *s, const struct inst *in,
                       const struct use *u, bool read)
{
    for (unsigned i = 0; i < u->n && u->reg + i < REG_END; i++) {
        const struct cell *c = &s->cell[u->reg + i];
        if (!flying(c))
            continue;
        char name[16];
        bool vm = c->vm != NOT;
        lint_report(sink, EMU_CHECK_WAITS,
                    vm ? (read ? "vmcnt-read" : "vmcnt-write")
                       : (read ? "lgkmcnt-read" : "lgkmcnt-write"),
                    in, c->by, c->all_paths,
                    "%s is %s while the load into it may be in flight; s_waitcnt %s(%u) must come "
                    "first",
                    register_name(u->reg + i, name), read ? "read" : "overwritten",
                    vm ? "vmcnt" : "lgkmcnt",
                    vm        ? c->vm
                    : c->smem ? 0
                              : c->lgkm);
        return true;
    }
    return false;
}

static void check(struct lint_sink *sink, const struct state *s, const struct inst *in)
{
    if (is_barrier(in) && s->lds != NOT)
        lint_report(sink, EMU_CHECK_WAITS, "lgkmcnt-barrier", in, s->lds_by, false,
                    "an LDS access of the wave may not have ended at the barrier that hands LDS to "
                    "the others; s_waitcnt lgkmcnt(%u) must come first",
                    s->lds);
    for (unsigned k = 0; k < in->nrd; k++)
        if (report_use(sink, s, in, &in->rd[k], true))
            return;
    for (unsigned k = 0; k < in->nwr; k++)
        if (report_use(sink, s, in, &in->wr[k], false))
            return;
}

/* ---- the fixpoint, over blocks: a state is kept only where paths meet or a branch lands */

struct waits {
    const struct lint_flow *flow;
    uint32_t *block;  /* by node: 1 + number of the block that starts there, 0: none */
    struct state *in; /* by block */
    uint32_t *start;  /* by block: its first node */
    uint32_t blocks;
};

static int find_blocks(struct waits *w)
{
    const struct lint_flow *f = w->flow;
    w->block = calloc(f->n ? f->n : 1, sizeof *w->block);
    if (!w->block)
        return -1;
    w->block[f->entry] = 1;
    for (uint32_t i = 0; i < f->n; i++)
        for (int j = 0; j < f->nodes[i].nnext; j++)
            if (f->nodes[i].nnext > 1 || f->nodes[i].next[j] != i + 1 ||
                f->nodes[f->nodes[i].next[j]].preds > 1)
                w->block[f->nodes[i].next[j]] = 1;
    for (uint32_t i = 0; i < f->n; i++)
        if (w->block[i])
            w->block[i] = ++w->blocks;
    w->in = calloc(w->blocks ? w->blocks : 1, sizeof *w->in);
    w->start = calloc(w->blocks ? w->blocks : 1, sizeof *w->start);
    if (!w->in || !w->start)
        return -1;
    for (uint32_t i = 0; i < f->n; i++)
        if (w->block[i])
            w->start[w->block[i] - 1] = i;
    return 0;
}

/* Runs a block from its entry state; the last node's number. With a sink, reports. */
static uint32_t run_block(const struct waits *w, uint32_t b, struct state *s,
                          struct lint_sink *sink)
{
    uint32_t i = w->start[b];
    *s = w->in[b];
    for (;;) {
        const struct lint_node *node = &w->flow->nodes[i];
        if (sink)
            check(sink, s, node->in);
        step(s, node);
        if (node->nnext != 1 || w->block[node->next[0]])
            return i;
        i = node->next[0];
    }
}

static int fixpoint(struct waits *w)
{
    struct state *s = malloc(sizeof *s);
    bool *dirty = calloc(w->blocks ? w->blocks : 1, sizeof *dirty);
    if (!s || !dirty) {
        free(s);
        free(dirty);
        return -1;
    }
    uint32_t entry = w->block[w->flow->entry] - 1;
    for (int r = 0; r < REG_END; r++)
        land(&w->in[entry].cell[r]);
    w->in[entry].lds = NOT;
    w->in[entry].reached = dirty[entry] = true;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < w->blocks; b++) {
            if (!dirty[b])
                continue;
            dirty[b] = false;
            const struct lint_node *last = &w->flow->nodes[run_block(w, b, s, NULL)];
            for (int j = 0; j < last->nnext; j++) {
                uint32_t to = w->block[last->next[j]] - 1;
                if (join(&w->in[to], s))
                    dirty[to] = again = true;
            }
        }
    }
    free(s);
    free(dirty);
    return 0;
}

int lint_waits(const struct lint_flow *flow, struct lint_sink *sink)
{
    struct waits w = {.flow = flow};
    struct state *s = malloc(sizeof *s);
    int failed = !s || find_blocks(&w) || fixpoint(&w);
    for (uint32_t b = 0; !failed && b < w.blocks; b++)
        if (w.in[b].reached)
            run_block(&w, b, s, sink);
    free(s);
    free(w.block);
    free(w.in);
    free(w.start);
    return failed ? -1 : 0;
}
