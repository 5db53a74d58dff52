/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds: which waves run, for how long, when they sleep, when nothing will ever happen again.
 */
#include "wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_CLOCKS 2048 /* what s_memtime sees of a round */
#define PARK_MAX 64       /* rounds */
#define IDLE_PROOF 4      /* rounds of nothing but polling before states are compared */
#define IDLE_MAX 4000
/* Instructions that a wave gets on top after such a round: a polling loop then comes round. */
#define IDLE_QUANTUM 4096
#define HOLD_IDLE 2 /* rounds without progress that let the late workgroup start */

uint64_t wave_clock(const struct wave *w)
{
    const struct launch *l = w->xcd->launch;
    return 1000000 + l->round * ROUND_CLOCKS + l->skew + w->insts % ROUND_CLOCKS;
}

/* ---- polling ---- */

static uint64_t state_hash(const struct wave *w)
{
    uint64_t h = w->pc ^ w->exec * 31 ^ (uint64_t)w->scc << 40;
    for (unsigned i = 0; i < 128; i++)
        h = (h ^ w->s[i]) * 0x9e3779b97f4a7c15u;
    for (unsigned acc = 0; acc < 2; acc++) {
        unsigned n = acc ? w->na : w->nv;
        for (size_t i = 0; i < (size_t)n * LANES; i++)
            h = (h ^ w->rows[acc][i]) * 0x9e3779b97f4a7c15u;
    }
    return h;
}

static void prove(struct wave *w)
{
    if (w->xcd->launch->idle < IDLE_PROOF) {
        w->proven = false;
        w->proof = 0;
        return;
    }
    uint64_t h = state_hash(w);
    w->proven = w->proof == h;
    w->proof = h;
}

/* The load's last sight, or the place for one: the oldest of its set. Loads of a polling loop lie
 * close to one another and must not push each other out, or the loop would never look like one. */
static struct sight *sight_of(struct wave *w, const struct inst *in)
{
    struct sight *set = w->sights[(in->pc >> 3) % SPIN_SETS], *place = set;
    for (unsigned i = 0; i < SPIN_WAYS; i++) {
        if (set[i].in == in)
            return &set[i];
        if (set[i].note < place->note)
            place = &set[i];
    }
    return place;
}

bool spin_again(struct wave *w, const struct inst *in, uint64_t addr_hash)
{
    const struct sight *s = sight_of(w, in);
    return s->in == in && s->addr_hash == addr_hash;
}

/* A load has been done. One that sees what it saw the time before, around the whole loop, is a
 * poll: the wave parks until one of the lines changes or a few rounds have passed. */
void spin_note(struct wave *w, const struct inst *in, uint64_t addr_hash, uint64_t value_hash,
               uint64_t watch)
{
    struct sight *s = sight_of(w, in);
    w->notes++;
    bool same =
        s->in == in && s->addr_hash == addr_hash && value_hash && s->value_hash == value_hash;
    uint32_t loop = w->notes - s->note;
    *s = (struct sight){in, addr_hash, value_hash, w->notes};
    if (!same) {
        w->spins = 0;
        w->park = 0;
        w->watch = 0;
    }
    w->watch |= watch;
    if (!same || ++w->spins < (w->park ? loop : 2 * loop))
        return;
    w->state = WAVE_PARKED;
    w->block = in;
    w->park = w->park ? (w->park * 2 < PARK_MAX ? w->park * 2 : PARK_MAX) : 1;
    w->wake = w->xcd->launch->round + w->park;
    w->spins = 0;
    prove(w);
}

/* Since its last new sight, barrier or wake the wave has seen nothing but what it saw before. */
static bool polls(const struct wave *w)
{
    return w->spins || w->park;
}

void spin_reset(struct wave *w)
{
    w->spins = 0;
    w->park = 0;
    w->watch = 0;
}

/* ---- a wave's quantum ---- */

/* The first time an instruction is met, or no instruction. */
static __attribute__((noinline)) const struct inst *fetch_first(struct wave *w)
{
    const struct inst *in = object_fetch(w->xcd->launch->obj, w->pc);
    if (!in) {
        struct inst at = {.text = "(no code)", .mnemonic = "", .pc = w->pc};
        fault(w, &at, EMU_CHECK_BOUNDS, "bad-jump", -1, NULL,
              "the program counter 0x%x lies outside the code", w->pc);
    }
    return in;
}

static inline const struct inst *fetch(struct wave *w)
{
    struct object *obj = w->xcd->launch->obj;
    const struct inst *in = NULL;
    if (w->pc < obj->image_size && !(w->pc & 3))
        in = __atomic_load_n(&obj->insts[w->pc / 4], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!in, 0))
        in = fetch_first(w);
    if (__builtin_expect(w->mode >> 27 & 1, 0) && in && in->flags & IF_VALU)
        return inst_indexed(in, w->s[S_M0]);
    return in;
}

static void trace(const struct wave *w, const struct inst *in)
{
    fprintf(w->xcd->launch->dev->config.trace, "%u.%u %06x exec %016llx  %s\n", w->group->index,
            w->id, (unsigned)(in->pc - w->xcd->launch->obj->text_offset),
            (unsigned long long)w->exec, in->text);
}

static void run_checked(struct wave *w)
{
    struct launch *l = w->xcd->launch;
    bool hazards = l->checks & EMU_CHECK_HAZARDS, tracing = l->dev->config.trace != NULL;
    while (w->quantum && w->state == WAVE_RUN) {
        const struct inst *in = fetch(w);
        if (!in)
            return;
        if (tracing)
            trace(w, in);
        if (!check_reads(w, in) || !check_writes(w, in))
            return;
        if (hazards && !hazard_check(w, in))
            return;
        uint64_t exec = w->exec;
        w->pc = in->pc + in->bytes;
        in->exec(w, in);
        if (w->state >= WAVE_ENDED || w->state == WAVE_WAIT) {
            if (w->state == WAVE_ENDED)
                w->insts++;
            return;
        }
        mark_writes(w, in, exec);
        if (__builtin_expect(w->undef_pending, 0))
            undefined_mark(w, in);
        if (hazards)
            hazard_update(w, in);
        w->insts++;
        w->quantum--;
    }
}

static void run_free(struct wave *w)
{
    while (w->quantum && w->state == WAVE_RUN) {
        const struct inst *in = fetch(w);
        if (!in)
            return;
        w->pc = in->pc + in->bytes;
        in->exec(w, in);
        if (w->state == WAVE_WAIT)
            return;
        w->insts++;
        w->quantum--;
    }
}

void wave_end(struct wave *w)
{
    w->state = WAVE_ENDED;
    w->group->ended++;
    w->xcd->progress = true;
    counters_drop(w);
    if (w->xcd->launch->groups_left) /* others wait for this slot */
        for (struct pend *p = w->pend_head; p; p = p->next)
            p->forced = true;
}

/* All waves that still live are at the barrier. */
static void barrier_full(struct xcd *x, struct group *g)
{
    if (g->ended && x->launch->checks & EMU_CHECK_RACES) {
        struct wave *waiting = NULL, *gone = NULL;
        for (unsigned i = 0; i < g->nwaves; i++) {
            if (g->waves[i].state == WAVE_BARRIER)
                waiting = &g->waves[i];
            else
                gone = &g->waves[i];
        }
        fault(
            waiting, waiting->block, EMU_CHECK_RACES, "barrier-divergence", -1, NULL,
            "%u waves wait at the barrier (number %u of the workgroup) but wave %u has ended: not "
            "every wave passes the same number of barriers",
            g->at_barrier, g->barriers + 1, gone ? gone->id : 0);
        return;
    }
    for (unsigned i = 0; i < g->nwaves; i++)
        if (g->waves[i].state == WAVE_BARRIER)
            g->waves[i].state = WAVE_RUN;
    g->at_barrier = 0;
    x->progress = true;
    order_barrier(g);
    lds_epoch(g);
}

static bool wake(struct launch *l, struct wave *w)
{
    switch (w->state) {
    case WAVE_RUN:
        return true;
    case WAVE_WAIT:
        w->state = WAVE_RUN;
        return true;
    case WAVE_SLEEP:
    case WAVE_PARKED:
        if (l->round < w->wake && !(w->state == WAVE_PARKED && l->committed_bloom & w->watch))
            return false;
        w->state = WAVE_RUN;
        return true;
    default:
        return false;
    }
}

static uint64_t draw_quantum(struct rng *rng)
{
    uint64_t r = rng_next(rng);
    return (r & 3) == 0 ? 16 + (r >> 8) % 64 : 256 + (r >> 8) % 2048;
}

static void run_wave(struct xcd *x, struct group *g, struct wave *w)
{
    if (x->launch->checks || x->launch->dev->config.trace)
        run_checked(w);
    else
        run_free(w);
    if (w->state == WAVE_BARRIER) {
        spin_reset(w);
        g->at_barrier++;
        if (x->launch->checks & EMU_CHECK_RACES)
            lds_hold(w);
    }
    if (w->state == WAVE_SLEEP && !w->park) /* one that polls besides is compared where it parks */
        prove(w);
    if ((w->state == WAVE_RUN || w->state == WAVE_WAIT || w->state == WAVE_BARRIER) && !polls(w))
        x->progress = true;
    if (g->at_barrier && g->at_barrier + g->ended == g->nwaves)
        barrier_full(x, g);
}

/* What the round leaves: when a wave of the group runs again, and what would wake it before. */
static void sum_up(struct group *g, uint64_t round)
{
    g->next = ~0ull;
    g->watch = g->insts = 0;
    g->proven = true;
    for (unsigned i = 0; i < g->nwaves; i++) {
        const struct wave *w = &g->waves[i];
        g->insts += w->insts;
        uint64_t at = ~0ull;
        if (w->state == WAVE_RUN || w->state == WAVE_WAIT) {
            at = round + 1;
            g->proven = false;
        } else if (w->state == WAVE_PARKED || w->state == WAVE_SLEEP) {
            at = w->wake;
            g->proven &= w->proven;
            if (w->state == WAVE_PARKED)
                g->watch |= w->watch;
        }
        g->next = at < g->next ? at : g->next;
    }
}

static void run_group(struct xcd *x, struct group *g)
{
    struct launch *l = x->launch;
    if (l->round < g->next && !(l->committed_bloom & g->watch))
        return;
    if (l->hold && g->index == l->late)
        return;
    unsigned i = 0;
    do { /* a workgroup has a wave at least */
        struct wave *w = &g->waves[i];
        if (w->state != WAVE_ENDED && w->state != WAVE_BARRIER)
            wake(l, w);
        w->quantum = draw_quantum(&x->rng) + (l->idle ? IDLE_QUANTUM : 0);
    } while (++i < g->nwaves);
    unsigned start = (unsigned)(rng_next(&x->rng) % g->nwaves);
    for (bool again = true; again;) {
        again = false;
        for (unsigned k = 0; k < g->nwaves && !x->stop; k++) {
            struct wave *w = &g->waves[(start + k) % g->nwaves];
            if (w->state != WAVE_RUN || !w->quantum)
                continue;
            run_wave(x, g, w);
            again = true;
        }
    }
    sum_up(g, l->round);
}

static bool group_over(const struct group *g)
{
    if (g->ended < g->nwaves)
        return false;
    for (unsigned i = 0; i < g->nwaves; i++)
        if (g->waves[i].npend)
            return false;
    return true;
}

static void finish_group(struct xcd *x, struct group *g)
{
    g->live = false;
    for (unsigned i = 0; i < g->nwaves; i++) {
        x->insts += g->waves[i].insts;
        x->macs += g->waves[i].macs;
    }
}

static void run_xcd(void *arg, unsigned index)
{
    struct launch *l = arg;
    struct xcd *x = &l->xcd[index];
    x->progress = false;
    for (unsigned s = 0; s < x->nslots && !x->stop; s++) {
        struct group *g = &x->slots[s];
        if (g->live && group_over(g))
            finish_group(x, g);
        if (!g->live) {
            if (x->next_group >= l->ngroups)
                continue;
            group_start(x, g, x->next_group);
            x->next_group += XCDS;
            x->progress = true;
            if (!g->live) {
                x->stop = true;
                return;
            }
        }
        run_group(x, g);
    }
}

/* ---- between rounds ---- */

struct census {
    uint64_t live; /* workgroups */
    uint64_t next; /* round of the next event, ~0: none */
    uint64_t pends;
    bool proven; /* every wave that is not at a barrier repeats itself exactly */
    uint64_t insts;
};

static struct census take_census(const struct launch *l)
{
    struct census c = {.next = ~0ull, .proven = true};
    for (unsigned i = 0; i < XCDS; i++) {
        const struct xcd *x = &l->xcd[i];
        c.insts += x->insts;
        for (unsigned s = 0; s < x->nslots; s++) {
            const struct group *g = &x->slots[s];
            if (!g->live)
                continue;
            c.live++;
            c.insts += g->insts;
            c.proven &= g->proven;
            uint64_t at = g->next;
            if (l->committed_bloom & g->watch || (g->ended == g->nwaves && group_over(g)))
                at = l->round + 1;
            c.next = at < c.next ? at : c.next;
        }
        for (unsigned k = 0; k < x->npwaves; k++) {
            for (const struct pend *p = x->pwaves[k]->pend_head; p; p = p->next) {
                c.pends++;
                uint64_t due = p->forced || p->due <= l->round ? l->round + 1 : p->due;
                c.next = due < c.next ? due : c.next;
            }
        }
        if (x->next_group < l->ngroups)
            c.live++;
    }
    return c;
}

struct waiters { /* waves that wait at the same instruction in the same way */
    const struct inst *at;
    enum wave_state state;
    unsigned count;
    const struct wave *first;
};

static unsigned collect_waiters(const struct launch *l, struct waiters *list, unsigned max)
{
    unsigned n = 0;
    for (unsigned i = 0; i < XCDS; i++) {
        const struct xcd *x = &l->xcd[i];
        for (unsigned s = 0; s < x->nslots; s++) {
            const struct group *g = &x->slots[s];
            for (unsigned k = 0; g->live && k < g->nwaves; k++) {
                const struct wave *w = &g->waves[k];
                if (w->state == WAVE_ENDED)
                    continue;
                unsigned j = 0;
                while (j < n && (list[j].at != w->block || list[j].state != w->state))
                    j++;
                if (j == max)
                    continue;
                if (j == n)
                    list[n++] = (struct waiters){w->block, w->state, 0, w};
                list[j].count++;
                if (w->group->index < list[j].first->group->index)
                    list[j].first = w;
            }
        }
    }
    return n;
}

static void deadlock(struct launch *l, const char *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return;
    struct waiters list[24];
    unsigned n = collect_waiters(l, list, 24);
    fprintf(f, "deadlock: kernel %s: %s\n", l->k->pub.name, why);
    struct fault *at = &l->fault;
    for (unsigned i = 0; i < n; i++) {
        const struct wave *w = list[i].first;
        const char *how = list[i].state == WAVE_BARRIER  ? "wait at the barrier"
                          : list[i].state == WAVE_SLEEP  ? "sleep in a loop at"
                          : list[i].state == WAVE_PARKED ? "poll with"
                                                         : "stand at";
        fprintf(f, "  %u wave%s %s 0x%x: %s (first: workgroup %u wave %u", list[i].count,
                list[i].count == 1 ? "" : "s", how,
                list[i].at ? (unsigned)(list[i].at->pc - l->obj->text_offset) : 0,
                list[i].at ? list[i].at->text : "?", w->group->index, w->id);
        if (list[i].state == WAVE_PARKED && list[i].at && list[i].at->flags & IF_VMEM)
            fprintf(f, ", address 0x%llx holds 0x%x", (unsigned long long)w->block_addr,
                    w->block_value);
        fprintf(f, ")\n");
    }
    uint64_t outside = 0;
    for (unsigned i = 0; i < XCDS; i++)
        if (l->xcd[i].next_group < l->ngroups)
            outside += (l->ngroups - l->xcd[i].next_group + XCDS - 1) / XCDS;
    if (outside)
        fprintf(f, "  %llu workgroups never started: the grid is not resident as a whole\n",
                (unsigned long long)outside);
    fclose(f);
    launch_fault(l, EMU_CHECK_RACES, EMU_DEADLOCK, "deadlock", text);
    if (n) {
        at->pc = list[0].at ? (uint32_t)(list[0].at->pc - l->obj->text_offset) : 0;
        at->group = list[0].first->group->index;
        at->wave = list[0].first->id;
    }
}

static void end_of_round(struct launch *l)
{
    uint64_t before = l->commits;
    order_round(l);
    commit_round(l);
    bool progress = l->commits != before;
    l->groups_left = 0;
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        progress |= x->progress;
        l->groups_left += x->next_group < l->ngroups;
        if (x->stop && !l->done) {
            l->fault = x->fault;
            x->fault.text = NULL;
            l->done = true;
        }
    }
    if (l->done)
        return;
    struct census c = take_census(l);
    if (!c.live) {
        l->done = true;
        return;
    }
    uint64_t max = l->dev->config.max_insts;
    if (max && c.insts > max) {
        char *text = NULL;
        if (asprintf(&text,
                     "limit: kernel %s has executed %llu wave instructions, the limit is %llu\n",
                     l->k->pub.name, (unsigned long long)c.insts, (unsigned long long)max) < 0)
            text = NULL;
        launch_fault(l, EMU_CHECK_BOUNDS, EMU_LIMIT, "limit", text);
        return;
    }
    l->idle = progress ? 0 : l->idle + 1;
    /* One workgroup, the seed's choice, starts only when the others have gone as far as they can
     * without it. */
    if (l->hold && l->idle >= HOLD_IDLE && !c.pends) {
        l->hold = false;
        l->idle = 0;
    }
    /* Time passes at a standstill, faster and faster, for kernels that give up by the clock. */
    if (l->idle > IDLE_PROOF)
        l->skew += 1ull << (l->idle < 36 ? l->idle : 36);
    if (c.next == ~0ull)
        deadlock(l, "every wave waits at a barrier that some wave never reaches");
    else if (!c.pends && l->idle > IDLE_PROOF + 4 && c.proven)
        deadlock(l, "every wave polls memory that nobody will change, or waits for one that does");
    else if (!c.pends && l->idle > IDLE_MAX)
        deadlock(l, "no wave has stored or finished anything for a very long time");
    l->round = c.next > l->round + 1 && c.next != ~0ull ? c.next : l->round + 1;
}

static void stop(struct launch *l)
{
    char *text = NULL;
    if (asprintf(&text, "stopped: kernel %s ran when its queue was destroyed\n", l->k->pub.name) <
        0)
        text = NULL;
    launch_fault(l, EMU_CHECK_BOUNDS, EMU_LIMIT, "stopped", text);
}

enum emu_status launch_run(struct launch *l)
{
    while (!l->done) {
        if (l->d->stopped && l->d->stopped(l->d->stopped_arg)) {
            stop(l);
            break;
        }
        if (l->dev->config.trace)
            for (unsigned i = 0; i < XCDS; i++)
                run_xcd(l, i);
        else
            pool_run(l->dev->pool, run_xcd, l, XCDS);
        end_of_round(l);
    }
    return l->fault.what ? l->fault.status : EMU_OK;
}
