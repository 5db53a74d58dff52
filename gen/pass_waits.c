/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits. For every physical register with a load in flight the pass knows its age: how many
 * operations of the same counter were issued behind it, the fewest over all paths. vmcnt and LDS
 * come back in order, so waiting for `age` outstanding operations covers the register and leaves
 * the younger ones in flight. SMEM comes back in any order: where it may be outstanding, only
 * lgkmcnt(0) says anything.
 *
 * Any touch of a register in flight is a use, overwriting and reloading it included.
 */
#include <stdio.h>
#include <string.h>

#include "gen/isa.h"
#include "gen/pass.h"

enum {
    DONE = 255, /* an age: nothing in flight */
    /* Oldest ages kept apart. One below the counter's largest value, which waits for nothing. */
    VM_CAP = 62,
    LGKM_CAP = 14,
};

struct flight {
    uint8_t vm[PHYS_VGPRS];   /* a VMEM load into a VGPR */
    uint8_t lds[PHYS_VGPRS];  /* an LDS load into a VGPR */
    uint8_t smem[PHYS_SGPRS]; /* 0: an SMEM load into an SGPR is in flight */
    uint8_t store;            /* youngest store or write-back to device memory */
    uint8_t any_lds;          /* youngest LDS operation */
    uint8_t any_smem;         /* 0: some SMEM operation is in flight */
};

struct wait {
    int vm, lgkm; /* DONE: none needed */
};

static void need(int *wait, int age)
{
    if (age < *wait)
        *wait = age;
}

static void need_lgkm(const struct flight *f, struct wait *w, int age)
{
    if (age != DONE)
        need(&w->lgkm, f->any_smem != DONE ? 0 : age);
}

static struct wait wait_for(const struct program *p, const struct instr *in, const struct flight *f)
{
    struct wait w = {DONE, DONE};
    struct touch t[MAX_TOUCHES];
    int n = instr_touches(p, in, true, t);
    for (int i = 0; i < n; i++) {
        for (int u = t[i].unit; u < t[i].unit + t[i].width; u++) {
            if (t[i].space == UNIT_V) {
                need(&w.vm, f->vm[u]);
                need_lgkm(f, &w, f->lds[u]);
            } else if (t[i].space == UNIT_S) {
                need_lgkm(f, &w, f->smem[u]);
            }
        }
    }
    if (op_info(in->op)->flags & FLAG_BARRIER)
        need_lgkm(f, &w, f->any_lds);
    if (in->op == OP_stores_done)
        need(&w.vm, f->store);
    return w;
}

static void settle(uint8_t *ages, size_t n, int wait)
{
    for (size_t i = 0; i < n; i++)
        if (ages[i] >= wait)
            ages[i] = DONE;
}

static void apply_wait(struct flight *f, struct wait w)
{
    settle(f->vm, sizeof f->vm, w.vm);
    settle(&f->store, 1, w.vm);
    settle(f->lds, sizeof f->lds, w.lgkm);
    settle(&f->any_lds, 1, w.lgkm);
    if (w.lgkm == 0) {
        settle(f->smem, sizeof f->smem, 0);
        settle(&f->any_smem, 1, 0);
    }
}

static void grow_older(uint8_t *ages, size_t n, int cap)
{
    for (size_t i = 0; i < n; i++)
        if (ages[i] < cap)
            ages[i]++;
}

static void issue(const struct program *p, const struct instr *in, struct flight *f)
{
    const struct op_info *info = op_info(in->op);
    uint8_t *dst = NULL;
    switch (info->counter) {
    case COUNT_VM_LOAD:
    case COUNT_VM_STORE:
        grow_older(f->vm, sizeof f->vm, VM_CAP);
        grow_older(&f->store, 1, VM_CAP);
        if (info->flags & FLAG_STORE)
            f->store = 0;
        if (info->counter == COUNT_VM_LOAD)
            dst = f->vm;
        break;
    case COUNT_LDS:
        grow_older(f->lds, sizeof f->lds, LGKM_CAP);
        f->any_lds = 0;
        if (info->flags & FLAG_LOAD)
            dst = f->lds;
        break;
    case COUNT_SMEM:
        f->any_smem = 0;
        dst = f->smem;
        break;
    default:
        return;
    }
    struct touch t[MAX_TOUCHES];
    int n = instr_touches(p, in, true, t);
    for (int i = 0; dst && i < n; i++)
        if (t[i].access & ACC_W)
            memset(dst + t[i].unit, 0, t[i].width);
}

/* To the fewest operations behind each load; true when that changed `to`. */
static bool merge(struct flight *to, const struct flight *from)
{
    uint8_t *a = (uint8_t *)to;
    const uint8_t *b = (const uint8_t *)from;
    bool changed = false;
    for (size_t i = 0; i < sizeof *to; i++) {
        if (b[i] < a[i]) {
            a[i] = b[i];
            changed = true;
        }
    }
    return changed;
}

static bool write_block(struct program *p, struct block *b, struct flight *f)
{
    struct block out = {0};
    for (int i = 0; i < b->n; i++) {
        const struct instr *in = &b->instrs[i];
        struct wait w = wait_for(p, in, f);
        apply_wait(f, w);
        issue(p, in, f);
        struct instr wait = instr_beside(in, OP_s_waitcnt, w.vm | w.lgkm << 8);
        if ((w.vm != DONE || w.lgkm != DONE) && !program_append(p, &out, &wait))
            return false;
        if (in->op == OP_stores_done)
            continue;
        if (!program_append(p, &out, in))
            return false;
    }
    block_rewrite(b, &out);
    return true;
}

int pass_waits(struct program *p, char *err, size_t err_size)
{
    struct flight *at = arena_alloc(p->arena, (size_t)p->n_blocks * sizeof *at);
    if (!at) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    memset(at, DONE, (size_t)p->n_blocks * sizeof *at);
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < p->n_blocks; b++) {
            const struct block *block = &p->blocks[b];
            struct flight f = at[b];
            for (int i = 0; i < block->n; i++) {
                apply_wait(&f, wait_for(p, &block->instrs[i], &f));
                issue(p, &block->instrs[i], &f);
            }
            for (int s = 0; s < block->n_succ; s++)
                changed |= merge(&at[block->succ[s]], &f);
        }
    }
    for (int b = 0; b < p->n_blocks; b++) {
        struct flight f = at[b];
        if (!write_block(p, &p->blocks[b], &f)) {
            snprintf(err, err_size, "out of memory");
            return -1;
        }
    }
    return 0;
}
