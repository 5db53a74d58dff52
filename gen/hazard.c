/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions against the rows of the hazard table. */
#include "gen/hazard.h"

/* ---- roles */

static uint32_t vgpr_role(const struct instr *in, const struct op_info *info, const struct touch *t)
{
    bool valu = info->enc >= ENC_VOP1 && info->enc <= ENC_VOP3P, dpp = instr_is_dpp(in);
    uint32_t role = 0;
    bool writelane = info->cls == CLASS_LANE && t->keeps; /* the other lanes stay, unread */
    if ((t->access & ACC_R) && !writelane) {
        bool dot_acc = info->cls == CLASS_DOT && (t->operand == 3 || t->operand == 0);
        role |= dot_acc ? ROLE_DOT_ACC : ROLE_VSRC;
        if (dpp && t->operand <= 1)
            role |= ROLE_DPP;
    }
    if (t->access & ACC_W) {
        const Val *dst_sel = instr_mod(in, MOD_SDWA_DST), *op_sel = instr_mod(in, MOD_OP_SEL);
        bool part = (t->access & ACC_PART) && info->cls != CLASS_LANE; /* a lane is no part */
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

void hazard_facts_make(const struct program *p, const struct instr *in, bool physical,
                       struct hazard_facts *f)
{
    *f = (struct hazard_facts){.in = in};
    f->info = op_info(in->op);
    f->n = instr_touches(p, in, physical, f->touch);
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

static bool related(enum relation relation, const struct hazard_facts *a, const struct touch *x,
                    const struct hazard_facts *b, const struct touch *y)
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

static bool row_matches(const struct hazard *h, const struct hazard_facts *a,
                        const struct hazard_facts *b)
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

int hazard_states(const struct program *p, const struct hazard_facts *a,
                  const struct hazard_facts *b)
{
    int arch = p->arch_950 ? HAZARD_950 : HAZARD_942, most = 0;
    for (int i = 0; i < hazard_count; i++) {
        int states = hazards[i].states[passes_index(a->info->passes)];
        if (states > most && (hazards[i].archs & arch) && row_matches(&hazards[i], a, b))
            most = states;
    }
    return most;
}

int hazard_reuse_states(const struct program *p, const struct hazard_facts *f, int touch)
{
    int arch = p->arch_950 ? HAZARD_950 : HAZARD_942, most = 0;
    for (int i = 0; i < hazard_count; i++) {
        const struct hazard *h = &hazards[i];
        int states = h->states[passes_index(f->info->passes)];
        if ((h->producer >> f->info->cls & 1) && (h->producer_role & f->role[touch]) &&
            (h->consumer_role & ROLE_VDST) && h->relation == REL_OVERLAP && (h->archs & arch) &&
            states > most)
            most = states;
    }
    return most;
}
