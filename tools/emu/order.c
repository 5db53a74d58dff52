/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before between workgroups, for values that are handed over in device memory. A load that
 * is no poll must not depend on luck: of the store that it reads, the loading wave must know that
 * it was over before a flag that has been seen.
 *
 * What a store carries: of its own wave, every store that s_waitcnt vmcnt had covered when it was
 * issued; of the other waves of its workgroup, what they had covered when the last barrier was
 * passed. A load that sees a store learns what it carries: its wave at once, the other waves of its
 * workgroup at the next barrier. A load in a polling loop, and an atomic, may see anything: that is
 * how it learns. Knowledge passed on through a third workgroup is looked for at the round's end,
 * where every workgroup's table can be read.
 */
#include "wave.h"

#include <stdlib.h>
#include <string.h>

enum { SETTLED = 255, POLL_INSTS = 256, CANDIDATES = 64 };

/* What an observer (a wave of this workgroup, or SETTLED: all of them) knows of a wave of another
 * one. */
struct order_entry {
    uint32_t wave;    /* global number + 1, 0: free */
    uint32_t seq;     /* its stores up to this one are over */
    uint32_t exact;   /* the last store of it that was itself seen */
    uint32_t barrier; /* barriers that this workgroup had passed when it was learned */
    uint8_t observer;
};

struct order_table {
    struct order_entry *at;
    unsigned n, cap;
};

/* A load that found no order: a fault unless a third workgroup knows better. */
struct order_candidate {
    struct wave *w;
    const struct inst *in, *by_in;
    uint32_t group, by_wave, by_group, seq;
    int lane;
};

/* ---- tables */

static struct order_entry *slot(const struct order_table *t, uint32_t wave, unsigned observer)
{
    unsigned i = ((wave + 1) * 2654435761u ^ observer * 40503u) & (t->cap - 1);
    while (t->at[i].wave && (t->at[i].wave != wave + 1 || t->at[i].observer != observer))
        i = (i + 1) & (t->cap - 1);
    return &t->at[i];
}

static const struct order_entry *look(const struct order_table *t, uint32_t wave, unsigned observer)
{
    const struct order_entry *e = t->cap ? slot(t, wave, observer) : NULL;
    return e && e->wave ? e : NULL;
}

static struct order_entry *entry(struct order_table *t, uint32_t wave, unsigned observer)
{
    if (t->n * 2 >= t->cap) {
        struct order_table more = {.cap = t->cap ? t->cap * 2 : 256};
        more.at = calloc(more.cap, sizeof *more.at);
        if (!more.at)
            return NULL;
        for (unsigned i = 0; i < t->cap; i++)
            if (t->at[i].wave)
                *slot(&more, t->at[i].wave - 1, t->at[i].observer) = t->at[i];
        more.n = t->n;
        free(t->at);
        *t = more;
    }
    struct order_entry *e = slot(t, wave, observer);
    if (!e->wave) {
        t->n++;
        *e = (struct order_entry){.wave = wave + 1, .observer = (uint8_t)observer};
    }
    return e;
}

static struct order_table *table_of(const struct group *g)
{
    struct order_table **at = &g->xcd->launch->orders[g->index];
    if (!*at)
        *at = calloc(1, sizeof **at);
    return *at;
}

bool order_begin(struct launch *l)
{
    l->orders = NULL;
    if (l->checks & EMU_CHECK_RACES)
        l->orders = (struct order_table **)calloc(l->ngroups, sizeof *l->orders);
    return l->orders || !(l->checks & EMU_CHECK_RACES);
}

void order_end(struct launch *l)
{
    for (uint64_t i = 0; l->orders && i < l->ngroups; i++) {
        if (l->orders[i])
            free(l->orders[i]->at);
        free(l->orders[i]);
    }
    free((void *)l->orders);
    l->orders = NULL;
}

/* ---- learning */

void order_barrier(struct group *g)
{
    if (!(g->xcd->launch->checks & EMU_CHECK_RACES))
        return;
    uint32_t *known = emu_arena_alloc(&g->xcd->arena, g->nwaves * sizeof *known);
    for (unsigned i = 0; known && i < g->nwaves; i++)
        known[i] = g->waves[i].released;
    g->known = known;
}

static void learn(struct order_table *t, uint32_t wave, const struct wave *w, uint32_t seq,
                  uint32_t exact)
{
    struct order_entry *e = entry(t, wave, w->id);
    if (!e)
        return;
    uint32_t barrier = w->group->barriers;
    if (e->barrier < barrier && (e->seq || e->exact)) { /* the others know the older part by now */
        struct order_entry old = *e, *all = entry(t, wave, SETTLED);
        if (all) {
            all->seq = old.seq > all->seq ? old.seq : all->seq;
            all->exact = old.exact > all->exact ? old.exact : all->exact;
        }
        e = entry(t, wave, w->id);
        if (!e)
            return;
    }
    e->seq = seq > e->seq ? seq : e->seq;
    e->exact = exact > e->exact ? exact : e->exact;
    e->barrier = barrier;
}

/* The wave has seen the store. */
static void observe(struct wave *w, const struct writer *by)
{
    struct order_table *t = table_of(w->group);
    if (!t)
        return;
    const struct order_entry *e = look(t, by->wave, w->id);
    if (e && e->exact >= by->seq)
        return;
    uint32_t first = by->wave - by->id;
    for (unsigned i = 0; by->known && i < by->nwaves; i++)
        if (i != by->id && by->known[i])
            learn(t, first + i, w, by->known[i], 0);
    learn(t, by->wave, w, by->covered, by->seq);
}

void order_seen(struct wave *w, const struct writer *by)
{
    if (w->xcd->launch->orders)
        observe(w, by);
}

/* ---- asking */

static bool tells(const struct order_entry *e, uint32_t seq)
{
    return e && (e->seq >= seq || e->exact == seq);
}

static bool knows(struct wave *w, const struct writer *by)
{
    struct order_table *t = table_of(w->group);
    if (!t || tells(look(t, by->wave, w->id), by->seq) ||
        tells(look(t, by->wave, SETTLED), by->seq))
        return true;
    for (unsigned o = 0; o < w->group->nwaves; o++) {
        const struct order_entry *e = look(t, by->wave, o);
        if (tells(e, by->seq) && e->barrier < w->group->barriers)
            return true;
    }
    return false;
}

/* ---- polls */

static bool ends_poll(const struct inst *in)
{
    if (in->flags & (IF_DS | IF_MFMA) || strcmp(in->mnemonic, "s_barrier") == 0 ||
        strcmp(in->mnemonic, "s_endpgm") == 0)
        return true;
    /* what a compiler keeps in scratch at -O0, by flat addresses too, is no hand-over */
    return in->flags & IF_STORE && strncmp(in->mnemonic, "scratch_", 8) != 0 &&
           strncmp(in->mnemonic, "flat_", 5) != 0;
}

/* Where an instruction may go next; a call or a jump by register leaves what is looked at. */
static int next_insts(const struct inst *in, uint32_t to[2])
{
    uint32_t next = in->pc + in->bytes;
    to[0] = next;
    if (!(in->flags & IF_BRANCH))
        return 1;
    if (in->op[0].kind != OPND_IMM)
        return 0;
    uint32_t target = next + (uint32_t)((int32_t)(int16_t)in->op[0].imm * 4);
    if (strcmp(in->mnemonic, "s_branch") == 0) {
        to[0] = target;
        return 1;
    }
    to[1] = target;
    return 2;
}

/* Can control come back to the load with nothing but looking in between? Or (peel) does it come so
 * to the same load once more, in a loop of its own: compilers peel the first turn off a polling
 * loop. */
static bool find_loop(struct object *obj, const struct inst *load, bool peel)
{
    uint32_t seen[POLL_INSTS], todo[POLL_INSTS + 2], to[2];
    int nseen = 0, n = next_insts(load, todo);
    while (n && nseen < POLL_INSTS) {
        uint32_t pc = todo[--n];
        if (pc == load->pc)
            return true;
        bool again = false;
        for (int i = 0; i < nseen; i++)
            again |= seen[i] == pc;
        const struct inst *in = again ? NULL : object_fetch(obj, pc);
        if (!in || ends_poll(in))
            continue;
        if (peel && strcmp(in->text, load->text) == 0 && find_loop(obj, in, false))
            return true;
        seen[nseen++] = pc;
        for (int k = next_insts(in, to); k > 0 && n < POLL_INSTS;)
            todo[n++] = to[--k];
    }
    return false;
}

/* A load in a loop that only looks: no store, LDS access or barrier in it. */
static bool is_poll(struct object *obj, const struct inst *in)
{
    enum { UNKNOWN, YES, NO };
    uint8_t *poll = &((struct inst *)(uintptr_t)in)->poll;
    uint8_t known = __atomic_load_n(poll, __ATOMIC_RELAXED);
    if (known == UNKNOWN) {
        known = find_loop(obj, in, true) ? YES : NO;
        __atomic_store_n(poll, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

static bool is_atomic(const struct inst *in)
{
    return strstr(in->mnemonic, "atomic") != NULL;
}

void order_load(struct wave *w, const struct inst *in, const struct writer *by, int lane)
{
    struct xcd *x = w->xcd;
    if (!is_atomic(in) && !is_atomic(by->in) && !knows(w, by) && !is_poll(x->launch->obj, in)) {
        if (x->norders < CANDIDATES &&
            (x->orders || (x->orders = calloc(CANDIDATES, sizeof *x->orders))))
            x->orders[x->norders++] = (struct order_candidate){.w = w,
                                                               .in = in,
                                                               .by_in = by->in,
                                                               .group = w->group->index,
                                                               .by_wave = by->wave,
                                                               .by_group = by->group,
                                                               .seq = by->seq,
                                                               .lane = lane};
        return;
    }
    observe(w, by);
}

/* ---- the round's end: knowledge through third workgroups */

/* Does a workgroup that `index` has heard of, itself or through others, know the store? */
static bool heard(const struct launch *l, uint32_t index, const struct order_candidate *c,
                  uint8_t *visited)
{
    const struct order_table *t = l->orders[index];
    for (unsigned i = 0; t && i < t->cap; i++) {
        const struct order_entry *e = &t->at[i];
        uint32_t third = e->wave ? (e->wave - 1) / l->waves_per_group : c->by_group;
        if (third == c->by_group || visited[third])
            continue;
        visited[third] = 1;
        for (unsigned o = 0; l->orders[third] && o <= l->waves_per_group; o++)
            if (tells(look(l->orders[third], c->by_wave, o < l->waves_per_group ? o : SETTLED),
                      c->seq))
                return true;
        if (heard(l, third, c, visited))
            return true;
    }
    return false;
}

void order_round(struct launch *l)
{
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        for (unsigned k = 0; k < x->norders && !x->stop; k++) {
            const struct order_candidate *c = &x->orders[k];
            uint8_t *visited = calloc(l->ngroups, 1);
            bool fine = !visited || heard(l, c->group, c, visited);
            free(visited);
            if (!fine)
                fault(c->w, c->in, EMU_CHECK_RACES, "unordered-load", c->lane, c->by_in,
                      "reads what workgroup %u stored, and nothing that this wave has seen says "
                      "that the store was "
                      "over: the storing wave must s_waitcnt vmcnt(0) (and pass a barrier, when "
                      "another wave "
                      "stores the flag) before the flag's store, and this wave must see the flag, "
                      "or pass a "
                      "barrier after the wave that saw it",
                      c->by_group);
        }
        x->norders = 0;
    }
}
