/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling within blocks, before registers are given out. The templates' order stands, except
 * that while the next instruction would wait (for a load, a matrix or transcendental result, the
 * matrix pipe), a later one that is ready goes first. Memory, LDS and scalar loads keep their order
 * among each other; barriers, branches and the borders of stages are crossed by nothing. Work that
 * would bring more values alive than half full registers allow stays where it is.
 *
 * Time is counted in issue slots of a wave: one an instruction, four clocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/hazard.h"
#include "gen/pass.h"

enum {
    WINDOW = 96,    /* how far ahead to look */
    SLOTS_LDS = 16, /* from issue to use; what counts is their order, not their size */
    SLOTS_SMEM = 48,
    SLOTS_VMEM = 160,
    SPARE_VGPRS = 48, /* left for alignment holes of the allocator */
    SPARE_SGPRS = 24,
};

struct edge {
    int to, slots;
    int next; /* of the same source, or -1 */
};

struct node {
    struct hazard_facts facts;
    int waits_for; /* sources not yet issued */
    int ready;     /* earliest slot */
    int edges;     /* first, or -1 */
    bool done;
};

/* Who touched a dword last. */
struct user {
    int writer;              /* -1: nobody in this stretch */
    int reads;               /* readers since, a list in sched.reads; -1: none */
    int uses_left;           /* reads still to come in this stretch */
    bool alive, alive_below; /* holds a value now; is read behind the stretch */
};

struct read {
    int node, next;
};

struct sched {
    struct program *p;
    struct liveness live;
    struct node *nodes;
    int n;
    struct user *users; /* virtual dwords, specials, then EXEC */
    uint32_t n_users;
    struct edge *edges;
    int n_edges, cap_edges;
    struct read *reads;
    int n_reads, cap_reads;
    int alive[2]; /* VGPR and SGPR dwords */
    bool *is_sgpr;
};

/* ---- dependences */

static bool add_edge(struct sched *s, int from, int to, int slots)
{
    if (from < 0 || from == to)
        return true;
    for (int e = s->nodes[from].edges; e >= 0; e = s->edges[e].next) {
        if (s->edges[e].to == to) {
            if (slots > s->edges[e].slots)
                s->edges[e].slots = slots;
            return true;
        }
        if (s->edges[e].to < to)
            break; /* newest first: no edge to this one yet */
    }
    if (!PROGRAM_GROW(s->p, s->edges, s->n_edges, s->cap_edges))
        return false;
    s->edges[s->n_edges] = (struct edge){to, slots, s->nodes[from].edges};
    s->nodes[from].edges = s->n_edges++;
    s->nodes[to].waits_for++;
    return true;
}

static int load_slots(const struct op_info *info)
{
    switch (info->counter) {
    case COUNT_LDS:
        return SLOTS_LDS;
    case COUNT_SMEM:
        return SLOTS_SMEM;
    case COUNT_VM_LOAD:
        return SLOTS_VMEM;
    default:
        return 1;
    }
}

/* `behind_write`: the source writes what `to` touches. */
static bool depend(struct sched *s, int from, int to, bool behind_write)
{
    if (from < 0 || from == to)
        return true;
    const struct hazard_facts *a = &s->nodes[from].facts;
    int slots = 1;
    if (a->produces)
        slots += hazard_states(s->p, a, &s->nodes[to].facts);
    if (behind_write && load_slots(a->info) > slots)
        slots = load_slots(a->info);
    return add_edge(s, from, to, slots);
}

static uint32_t user_dwords(const struct sched *s, const struct touch *t, int *count)
{
    uint32_t first = live_dwords(s->p, t, count);
    if (*count == 0) { /* EXEC */
        *count = 1;
        return s->live.n_comps;
    }
    return first;
}

static bool depend_on_dword(struct sched *s, int i, uint32_t dword, uint8_t access)
{
    struct user *u = &s->users[dword];
    if (!depend(s, u->writer, i, true))
        return false;
    if (!(access & ACC_W)) {
        if (!PROGRAM_GROW(s->p, s->reads, s->n_reads, s->cap_reads))
            return false;
        s->reads[s->n_reads] = (struct read){i, u->reads};
        u->reads = s->n_reads++;
        return true;
    }
    for (int r = u->reads; r >= 0; r = s->reads[r].next)
        if (!depend(s, s->reads[r].node, i, false))
            return false;
    u->reads = -1;
    u->writer = i;
    return true;
}

static bool is_ordered(const struct op_info *info)
{
    return info->counter != COUNT_NONE || (info->flags & (FLAG_SIDE | FLAG_LOAD | FLAG_STORE));
}

static bool find_edges(struct sched *s)
{
    int ordered = -1;
    for (int i = 0; i < s->n; i++) {
        const struct hazard_facts *f = &s->nodes[i].facts;
        /* writes last: an instruction that reads and writes a dword depends on it once, as a writer
         */
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < f->n; k++) {
                int count;
                uint32_t first = user_dwords(s, &f->touch[k], &count);
                bool writes = f->touch[k].access & ACC_W;
                for (int d = 0; d < count && writes == (pass == 1); d++)
                    if (!depend_on_dword(s, i, first + (uint32_t)d, f->touch[k].access))
                        return false;
            }
        }
        if (is_ordered(f->info)) {
            if (!add_edge(s, ordered, i, 1))
                return false;
            ordered = i;
        }
    }
    return true;
}

/* ---- what is alive */

static void count_alive(struct sched *s, uint32_t dword, int by)
{
    if (dword < s->p->n_comps)
        s->alive[s->is_sgpr[dword]] += by;
}

/* Change of live VGPR and SGPR dwords if node i went now. */
static void pressure_of(const struct sched *s, int i, int change[2])
{
    const struct hazard_facts *f = &s->nodes[i].facts;
    change[0] = change[1] = 0;
    for (int k = 0; k < f->n; k++) {
        const struct touch *t = &f->touch[k];
        if (t->special)
            continue;
        for (int d = 0; d < t->width; d++) {
            const struct user *u = &s->users[t->unit + d];
            int file = t->space == UNIT_S;
            if ((t->access & ACC_W) && !u->alive)
                change[file]++;
            if ((t->access & ACC_R) && !(t->access & ACC_W) && u->uses_left == 1 && u->alive &&
                !u->alive_below)
                change[file]--;
        }
    }
}

static void account(struct sched *s, int i)
{
    const struct hazard_facts *f = &s->nodes[i].facts;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < f->n; k++) {
            int count;
            uint32_t first = user_dwords(s, &f->touch[k], &count);
            for (uint32_t d = first; d < first + (uint32_t)count; d++) {
                struct user *u = &s->users[d];
                if (pass == 0 && (f->touch[k].access & ACC_R) && --u->uses_left == 0 && u->alive &&
                    !u->alive_below) {
                    u->alive = false;
                    count_alive(s, d, -1);
                }
                bool used = u->uses_left > 0 || u->alive_below;
                if (pass == 1 && (f->touch[k].access & ACC_W) && !u->alive && used) {
                    u->alive = true;
                    count_alive(s, d, 1);
                }
            }
        }
    }
}

/* ---- choosing */

struct choice {
    int node, stall;
};

static bool is_matrix(const struct op_info *info)
{
    return info->passes > 0;
}

static int stall_of(const struct sched *s, int i, int now, int matrix_free)
{
    const struct node *n = &s->nodes[i];
    int ready = n->ready;
    if (is_matrix(n->facts.info) && matrix_free > ready)
        ready = matrix_free;
    return ready > now ? ready - now : 0;
}

static bool fits(const struct sched *s, int i)
{
    int change[2];
    const int limit[2] = {s->p->max_vgprs - SPARE_VGPRS, s->p->max_sgprs - SPARE_SGPRS};
    pressure_of(s, i, change);
    for (int f = 0; f < 2; f++)
        if (change[f] > 0 && s->alive[f] + change[f] > limit[f])
            return false;
    return true;
}

static struct choice choose(const struct sched *s, int first, int now, int matrix_free)
{
    struct choice best = {first, stall_of(s, first, now, matrix_free)};
    for (int i = first + 1; best.stall > 0 && i < s->n && i <= first + WINDOW; i++) {
        const struct node *n = &s->nodes[i];
        if (n->done || n->waits_for)
            continue;
        int stall = stall_of(s, i, now, matrix_free);
        if (stall < best.stall && fits(s, i))
            best = (struct choice){i, stall};
    }
    return best;
}

static void issue(struct sched *s, int i, int now)
{
    struct node *n = &s->nodes[i];
    n->done = true;
    account(s, i);
    for (int e = n->edges; e >= 0; e = s->edges[e].next) {
        struct node *to = &s->nodes[s->edges[e].to];
        to->waits_for--;
        if (now + s->edges[e].slots > to->ready)
            to->ready = now + s->edges[e].slots;
    }
}

/* ---- stretches */

static void begin_users(struct sched *s, const uint64_t *before, const uint64_t *behind)
{
    s->alive[0] = s->alive[1] = 0;
    for (uint32_t d = 0; d < s->n_users; d++) {
        bool followed = d < s->live.n_comps;
        s->users[d] = (struct user){.writer = -1, .reads = -1};
        s->users[d].alive = followed && live_has(before, d);
        s->users[d].alive_below = followed && live_has(behind, d);
        count_alive(s, d, s->users[d].alive);
    }
    for (int i = 0; i < s->n; i++) {
        const struct hazard_facts *f = &s->nodes[i].facts;
        for (int k = 0; k < f->n; k++) {
            int count;
            uint32_t first = user_dwords(s, &f->touch[k], &count);
            for (int d = 0; d < count; d++)
                s->users[first + (uint32_t)d].uses_left += (f->touch[k].access & ACC_R) != 0;
        }
    }
}

/* Reorders instrs[0 .. n - 1]; the live sets are those above and below. */
static bool schedule_stretch(struct sched *s, struct instr *instrs, int n, const uint64_t *before,
                             const uint64_t *behind)
{
    s->n = n;
    s->n_edges = s->n_reads = 0;
    s->nodes = calloc((size_t)n, sizeof *s->nodes);
    struct instr *out = malloc((size_t)n * sizeof *out);
    bool ok = s->nodes && out;
    for (int i = 0; ok && i < n; i++) {
        hazard_facts_make(s->p, &instrs[i], false, &s->nodes[i].facts);
        s->nodes[i].edges = -1;
    }
    if (ok)
        begin_users(s, before, behind);
    ok = ok && find_edges(s);
    for (int at = 0, first = 0, now = 0, matrix_free = 0; ok && at < n; at++) {
        while (s->nodes[first].done)
            first++;
        struct choice c = choose(s, first, now, matrix_free);
        now += c.stall;
        issue(s, c.node, now);
        if (is_matrix(s->nodes[c.node].facts.info))
            matrix_free = now + s->nodes[c.node].facts.info->passes;
        out[at] = instrs[c.node];
        now++;
    }
    if (ok)
        memcpy(instrs, out, (size_t)n * sizeof *out);
    free(out);
    free(s->nodes);
    return ok;
}

/* Nothing crosses it. */
static bool is_fence(const struct instr *in)
{
    uint32_t flags = op_info(in->op)->flags;
    return (flags & (FLAG_BARRIER | FLAG_JUMP | FLAG_CJUMP | FLAG_END)) ||
           in->op == OP_stores_done || in->op == OP_s_sleep;
}

static int stretch_end(const struct block *b, int from)
{
    int to = from;
    while (to < b->n && !is_fence(&b->instrs[to]) && b->instrs[to].stage == b->instrs[from].stage)
        to++;
    return to;
}

/* The live set above instrs[from .. to - 1], from the one below, in place. */
static void step_up(const struct program *p, const struct block *b, int from, int to,
                    uint64_t *live)
{
    for (int i = to - 1; i >= from; i--)
        live_step_back(p, &b->instrs[i], live);
}

static bool schedule_block(struct sched *s, int index, uint64_t *before, uint64_t *behind)
{
    struct block *b = &s->p->blocks[index];
    size_t bytes = s->live.words * sizeof *before;
    /* Backwards, so that one live set serves: what is below a stretch is known before it is
     * reordered. */
    int *starts = malloc(((size_t)b->n + 1) * sizeof *starts), n = 0;
    if (!starts)
        return false;
    for (int at = 0; at < b->n;) {
        int to = stretch_end(b, at);
        starts[n++] = at;
        at = to > at ? to : at + 1;
    }
    memcpy(behind, live_set(s->live.live_out, &s->live, index), bytes);
    bool ok = true;
    for (int k = n - 1, to = b->n; ok && k >= 0; to = starts[k--]) {
        memcpy(before, behind, bytes);
        step_up(s->p, b, starts[k], to, before);
        if (to - starts[k] > 2)
            ok = schedule_stretch(s, &b->instrs[starts[k]], to - starts[k], before, behind);
        memcpy(behind, before, bytes);
    }
    free(starts);
    return ok;
}

int pass_schedule(struct program *p, char *err, size_t err_size)
{
    struct sched s = {.p = p};
    bool ok = liveness_make(p, &s.live);
    s.n_users = s.live.n_comps + 1;
    size_t bytes = s.live.words * sizeof(uint64_t);
    uint64_t *before = arena_alloc(p->arena, bytes), *behind = arena_alloc(p->arena, bytes);
    s.users = arena_alloc(p->arena, s.n_users * sizeof *s.users);
    s.is_sgpr = arena_alloc(p->arena, p->n_comps + 1);
    ok = ok && before && behind && s.users && s.is_sgpr;
    for (int r = 0; ok && r < p->n_vregs; r++)
        memset(s.is_sgpr + p->vregs[r].comp, p->vregs[r].kind == VAL_S, p->vregs[r].width);
    for (int b = 0; ok && b < p->n_blocks; b++)
        ok = schedule_block(&s, b, before, behind);
    if (!ok)
        snprintf(err, err_size, "out of memory");
    return ok ? 0 : -1;
}
