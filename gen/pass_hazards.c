/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states. Along every path the pass carries the producers issued less than HAZARD_LONGEST wait
 * states ago, with their age: wait states gone by since, the fewest over all paths. Every
 * instruction is one wait state, s_nop n is n + 1.
 */
#include <stdio.h>
#include <string.h>

#include "gen/hazard_table.h"
#include "gen/pass.h"

/* An instruction's registers with their roles, worked out once. */
struct facts {
    const struct instr *in;
    const struct op_info *info;
    int n;
    struct touch touch[MAX_TOUCHES];
    uint32_t role[MAX_TOUCHES];
    uint32_t hwreg; /* roles without a register */
    bool produces;  /* some row has it as a producer */
    int nops;       /* wait states to put in front */
};

struct event {
    const struct facts *producer;
    int age;
};

struct events {
    struct event *list;
    int n, cap;
};

/* ---- roles */

static uint32_t vgpr_role(const struct instr *in, const struct op_info *info, const struct touch *t)
{
    bool valu = info->enc >= ENC_VOP1 && info->enc <= ENC_VOP3P, dpp = instr_is_dpp(in);
    uint32_t role = 0;
    if (t->access & ACC_R) {
        bool dot_acc = info->cls == CLASS_DOT && (t->operand == 3 || t->operand == 0);
        role |= dot_acc ? ROLE_DOT_ACC : ROLE_VSRC;
        if (dpp && t->operand <= 1)
            role |= ROLE_DPP;
    }
    if (t->access & ACC_W) {
        const Val *dst_sel = instr_mod(in, MOD_SDWA_DST), *op_sel = instr_mod(in, MOD_OP_SEL);
        bool part = t->access & ACC_PART;
        bool sdwa = dst_sel && dst_sel->imm != SDWA_DWORD;
        role |= ROLE_VDST;
        if (valu && (part || sdwa))
            role |= ROLE_PART_ANY;
        if (valu && (sdwa || (part && op_sel && op_sel->imm)))
            role |= ROLE_PART;
    }
    if (t->tag == TAG_AB || t->tag == TAG_SCALE)
        role |= ROLE_AB;
    if (t->tag == TAG_C)
        role |= ROLE_C;
    if (t->tag == TAG_DATA && t->width >= 3)
        role |= ROLE_DATA34;
    return role;
}

static uint32_t sgpr_role(const struct touch *t)
{
    bool exec = t->special && t->unit == SGPR_EXEC;
    uint32_t role = 0;
    if (t->access & ACC_W)
        role |= exec ? ROLE_EXEC : ROLE_SDST;
    if (!(t->access & ACC_R))
        return role;
    if (exec)
        return role | (t->operand == 255 ? 0 : ROLE_EXEC_DATA);
    if (t->operand == 255)
        return role | ROLE_VCC_READ;
    if (t->tag == TAG_MASK)
        return role | ROLE_MASK;
    return role | (t->tag == TAG_SEL ? ROLE_SEL : ROLE_SCONST);
}

static void make_facts(const struct program *p, const struct instr *in, struct facts *f)
{
    f->in = in;
    f->info = op_info(in->op);
    f->n = instr_touches(p, in, true, f->touch);
    if (f->info->flags & FLAG_HWREG)
        f->hwreg |= ROLE_HWREG;
    if (f->info->flags & FLAG_HWREG_W)
        f->hwreg |= ROLE_HWREG_W;
    uint32_t all = f->hwreg;
    for (int i = 0; i < f->n; i++) {
        if (f->touch[i].space == UNIT_V)
            f->role[i] = vgpr_role(in, f->info, &f->touch[i]);
        else if (f->touch[i].space == UNIT_S)
            f->role[i] = sgpr_role(&f->touch[i]);
        all |= f->role[i];
    }
    for (int i = 0; i < hazard_count; i++)
        f->produces |=
            (hazards[i].producer >> f->info->cls & 1) && (hazards[i].producer_role & all);
}

/* ---- rows */

static bool related(enum relation relation, const struct facts *a, const struct touch *x,
                    const struct facts *b, const struct touch *y)
{
    bool overlap =
        x->space == y->space && x->unit < y->unit + y->width && y->unit < x->unit + x->width;
    bool equal = x->unit == y->unit && x->width == y->width && a->info->passes == b->info->passes;
    switch (relation) {
    case REL_OVERLAP:
        return overlap;
    case REL_SAME:
        return overlap && equal;
    case REL_NOT_SAME:
        return overlap && !equal;
    case REL_SAME_OP:
        return overlap && a->in->op == b->in->op;
    case REL_OTHER_OP:
        return overlap && a->in->op != b->in->op;
    case REL_ALWAYS:
        return true;
    }
    return false;
}

static bool row_matches(const struct hazard *h, const struct facts *a, const struct facts *b)
{
    if (!(h->producer >> a->info->cls & 1) || !(h->consumer >> b->info->cls & 1))
        return false;
    if ((h->producer_role & a->hwreg) && (h->consumer_role & b->hwreg))
        return true;
    for (int i = 0; i < a->n; i++) {
        if (!(a->role[i] & h->producer_role))
            continue;
        for (int k = 0; k < b->n; k++)
            if ((b->role[k] & h->consumer_role) &&
                related(h->relation, a, &a->touch[i], b, &b->touch[k]))
                return true;
    }
    return false;
}

static int passes_index(int passes)
{
    return passes >= 16 ? 3 : passes >= 8 ? 2 : passes >= 4 ? 1 : 0;
}

static int states_between(const struct program *p, const struct facts *a, const struct facts *b)
{
    int arch = p->arch_950 ? HAZARD_950 : HAZARD_942, most = 0;
    for (int i = 0; i < hazard_count; i++) {
        int states = hazards[i].states[passes_index(a->info->passes)];
        if (states > most && (hazards[i].archs & arch) && row_matches(&hazards[i], a, b))
            most = states;
    }
    return most;
}

/* ---- along the paths */

static void step(const struct program *p, struct events *e, struct facts *f)
{
    int nops = 0;
    for (int i = 0; i < e->n; i++) {
        int lacking = states_between(p, e->list[i].producer, f) - e->list[i].age;
        if (lacking > nops)
            nops = lacking;
    }
    f->nops = nops;
    int kept = 0;
    for (int i = 0; i < e->n; i++) {
        struct event next = {e->list[i].producer, e->list[i].age + nops + 1};
        if (next.age < HAZARD_LONGEST && next.producer != f)
            e->list[kept++] = next;
    }
    e->n = kept;
}

static bool add_event(struct program *p, struct events *e, const struct facts *f, int age,
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

static bool run_block(struct program *p, const struct block *b, struct facts *facts,
                      const struct events *in, struct events *now)
{
    bool ignored;
    now->n = 0;
    for (int i = 0; i < in->n; i++)
        if (!add_event(p, now, in->list[i].producer, in->list[i].age, &ignored))
            return false;
    for (int i = 0; i < b->n; i++) {
        step(p, now, &facts[i]);
        if (facts[i].produces && !add_event(p, now, &facts[i], 0, &ignored))
            return false;
    }
    return true;
}

static bool solve(struct program *p, struct facts **facts, struct events *at)
{
    struct events now = {0};
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = 0; b < p->n_blocks; b++) {
            const struct block *block = &p->blocks[b];
            if (!run_block(p, block, facts[b], &at[b], &now))
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

static bool write_nops(struct program *p, struct block *b, const struct facts *facts)
{
    struct block out = {0};
    for (int i = 0; i < b->n; i++) {
        const struct instr *in = &b->instrs[i];
        for (int left = facts[i].nops; left > 0; left -= 16) {
            struct instr nop = {.op = OP_s_nop,
                                .stage = in->stage,
                                .region = in->region,
                                .n = 1,
                                .file = in->file,
                                .line = in->line};
            nop.operands[0] =
                (Val){.kind = VAL_IMM, .width = 1, .imm = (left > 16 ? 16 : left) - 1};
            if (!program_append(p, &out, &nop))
                return false;
        }
        if (!program_append(p, &out, in))
            return false;
    }
    b->instrs = out.instrs;
    b->n = out.n;
    b->cap = out.cap;
    return true;
}

int pass_hazards(struct program *p, char *err, size_t err_size)
{
    size_t n = (size_t)p->n_blocks;
    struct facts **facts = arena_alloc(p->arena, n * sizeof *facts);
    struct events *at = arena_alloc(p->arena, n * sizeof *at);
    bool ok = facts && at;
    for (int b = 0; ok && b < p->n_blocks; b++) {
        const struct block *block = &p->blocks[b];
        facts[b] = arena_alloc(p->arena, ((size_t)block->n + 1) * sizeof **facts);
        ok = facts[b] != NULL;
        for (int i = 0; ok && i < block->n; i++)
            make_facts(p, &block->instrs[i], &facts[b][i]);
    }
    ok = ok && solve(p, facts, at);
    for (int b = 0; ok && b < p->n_blocks; b++)
        ok = write_nops(p, &p->blocks[b], facts[b]);
    if (!ok)
        snprintf(err, err_size, "out of memory");
    return ok ? 0 : -1;
}
