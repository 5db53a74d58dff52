/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states. Along every path the pass carries the producers issued less than HAZARD_LONGEST wait
 * states ago, with their age: wait states gone by since, the fewest over all paths. Every
 * instruction is one wait state, s_nop n is n + 1.
 */
#include <stdio.h>
#include <string.h>

#include "gen/hazard.h"
#include "gen/pass.h"

/* An instruction, with the wait states to put in front of it. */
struct slot {
    struct hazard_facts facts;
    int nops;
};

/* The instructions of a block. */
struct row {
    struct slot *slots;
};

struct event {
    const struct hazard_facts *producer;
    int age;
};

struct events {
    struct event *list;
    int n, cap;
};

/* ---- along the paths */

static void step(const struct program *p, struct events *e, struct slot *s)
{
    int nops = 0;
    for (int i = 0; i < e->n; i++) {
        int lacking = hazard_states(p, e->list[i].producer, &s->facts) - e->list[i].age;
        if (lacking > nops)
            nops = lacking;
    }
    s->nops = nops;
    int kept = 0;
    for (int i = 0; i < e->n; i++) {
        struct event next = {e->list[i].producer, e->list[i].age + nops + 1};
        if (next.age < HAZARD_LONGEST && next.producer != &s->facts)
            e->list[kept++] = next;
    }
    e->n = kept;
}

static bool add_event(struct program *p, struct events *e, const struct hazard_facts *f, int age,
                      bool *changed)
{
    for (int i = 0; i < e->n; i++) {
        if (e->list[i].producer == f) {
            if (age < e->list[i].age) {
                e->list[i].age = age;
                *changed = true;
            }
            return true;
        }
    }
    if (!PROGRAM_GROW(p, e->list, e->n, e->cap))
        return false;
    e->list[e->n++] = (struct event){f, age};
    *changed = true;
    return true;
}

static bool run_block(struct program *p, const struct block *b, struct slot *slots,
                      const struct events *in, struct events *now)
{
    bool ignored;
    now->n = 0;
    for (int i = 0; i < in->n; i++)
        if (!add_event(p, now, in->list[i].producer, in->list[i].age, &ignored))
            return false;
    for (int i = 0; i < b->n; i++) {
        step(p, now, &slots[i]);
        if (slots[i].facts.produces && !add_event(p, now, &slots[i].facts, 0, &ignored))
            return false;
    }
    return true;
}

static bool solve(struct program *p, struct row *rows, struct events *at)
{
    struct events now = {0};
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < p->n_blocks; b++) {
            const struct block *block = &p->blocks[b];
            if (!run_block(p, block, rows[b].slots, &at[b], &now))
                return false;
            for (int s = 0; s < block->n_succ; s++)
                for (int i = 0; i < now.n; i++)
                    if (!add_event(p, &at[block->succ[s]], now.list[i].producer, now.list[i].age,
                                   &changed))
                        return false;
        }
    }
    return true;
}

static bool write_nops(struct program *p, struct block *b, const struct slot *slots)
{
    struct block out = {0};
    for (int i = 0; i < b->n; i++) {
        const struct instr *in = &b->instrs[i];
        for (int left = slots[i].nops; left > 0; left -= 16) {
            struct instr nop = instr_beside(in, OP_s_nop, (left > 16 ? 16 : left) - 1);
            if (!program_append(p, &out, &nop))
                return false;
        }
        if (!program_append(p, &out, in))
            return false;
    }
    block_rewrite(b, &out);
    return true;
}

int pass_hazards(struct program *p, char *err, size_t err_size)
{
    size_t n = (size_t)p->n_blocks;
    struct row *rows = arena_alloc(p->arena, n * sizeof *rows);
    struct events *at = arena_alloc(p->arena, n * sizeof *at);
    bool ok = rows && at;
    for (int b = 0; ok && b < p->n_blocks; b++) {
        const struct block *block = &p->blocks[b];
        rows[b].slots = arena_alloc(p->arena, ((size_t)block->n + 1) * sizeof *rows->slots);
        ok = rows[b].slots != NULL;
        for (int i = 0; ok && i < block->n; i++)
            hazard_facts_make(p, &block->instrs[i], true, &rows[b].slots[i].facts);
    }
    ok = ok && solve(p, rows, at);
    for (int b = 0; ok && b < p->n_blocks; b++)
        ok = write_nops(p, &p->blocks[b], rows[b].slots);
    if (!ok)
        snprintf(err, err_size, "out of memory");
    return ok ? 0 : -1;
}
