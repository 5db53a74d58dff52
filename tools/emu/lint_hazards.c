/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states on every path: from each instruction that leaves something behind it, walks all ways
 * onward as far as its wait states reach, and asks the emulator's own table at each instruction
 * met.
 */
#include <stdlib.h>
#include <string.h>

#include "lint_flow.h"

enum { FAR = 28, NEAR = 6, START = 64, MAX_STEPS = 20000 };

struct walk {
    const struct lint_flow *flow;
    struct lint_sink *sink;
    struct wave *wave; /* only its hazard state is used */
    uint8_t *reported; /* by node: once is enough */
    uint32_t reach;    /* wait states that matter behind the producer */
    uint32_t steps;    /* bounds the walk where branches are dense */
};

static uint32_t reach_of(const struct inst *in)
{
    if (in->flags & IF_MFMA)
        return FAR;
    if (in->flags & (IF_VALU | IF_BIG_STORE | IF_CMPX | IF_WRITES_EXEC))
        return NEAR;
    for (unsigned k = 0; k < in->nwr; k++)
        if (in->flags & IF_SALU && in->wr[k].reg == REG_S + S_M0)
            return NEAR;
    return in->hw_width && in->flags & IF_SALU ? NEAR : 0;
}

/* What the producer left in a register ends where the register is written again. */
struct undo {
    unsigned reg;
    bool scalar;
    struct vreg_haz v;
    struct sreg_haz s;
};

enum { UNDO_MAX = 80 };

static int overwrite(struct wave *w, const struct inst *in, struct undo *undo)
{
    int n = 0;
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        for (unsigned i = 0; i < u->n && n < UNDO_MAX; i++) {
            unsigned reg = u->reg + i;
            if (reg >= REG_S) {
                struct sreg_haz *h = &w->sh[(reg - REG_S) & 127];
                if (!h->in && !h->salu_in)
                    continue;
                undo[n++] = (struct undo){.reg = (reg - REG_S) & 127, .scalar = true, .s = *h};
                *h = (struct sreg_haz){0};
            } else if (w->vh[reg].kind != PROD_NONE && u->lanes == LANES_ALL) {
                undo[n++] = (struct undo){.reg = reg, .v = w->vh[reg]};
                w->vh[reg].kind = PROD_NONE;
            }
        }
    }
    return n;
}

static void restore(struct wave *w, const struct undo *undo, int n)
{
    while (n--) {
        if (undo[n].scalar)
            w->sh[undo[n].reg] = undo[n].s;
        else
            w->vh[undo[n].reg] = undo[n].v;
    }
}

static void report(struct walk *k, uint32_t node, const struct inst *by, bool certain)
{
    struct fault *f = &k->wave->xcd->fault;
    if (!k->reported[node]) {
        /* the first line of the finding: "rule (hazard): what" */
        const char *body = f->text ? strstr(f->text, "): ") : NULL;
        size_t length = body ? strcspn(body + 3, "\n") : 0;
        k->reported[node] = 1;
        lint_report(k->sink, EMU_CHECK_HAZARDS, f->what, k->flow->nodes[node].in, by, certain,
                    "%.*s", (int)length, body ? body + 3 : "");
    }
    free(f->text);
    *f = (struct fault){0};
    k->wave->xcd->stop = false;
}

static void walk(struct walk *k, uint32_t node, const struct inst *by, uint32_t passed,
                 bool certain)
{
    const struct lint_node *at = &k->flow->nodes[node];
    if (passed > k->reach || k->steps++ > MAX_STEPS)
        return;
    k->wave->clk = START + 1 + passed;
    if (!hazard_check(k->wave, at->in))
        report(k, node, by, certain);
    if (at->call)
        return;
    struct undo undo[UNDO_MAX];
    int n = overwrite(k->wave, at->in, undo);
    for (int j = 0; j < at->nnext; j++)
        walk(k, at->next[j], by, passed + at->in->wait_states, certain && at->nnext == 1);
    restore(k->wave, undo, n);
}

static void forget(struct wave *w, const struct inst *in)
{
    for (unsigned k = 0; k < in->nwr + in->nrd; k++) {
        const struct use *u = k < in->nwr ? &in->wr[k] : &in->rd[k - in->nwr];
        for (unsigned i = 0; i < u->n; i++) {
            if (u->reg + i >= REG_S)
                w->sh[(u->reg + i - REG_S) & 127] = (struct sreg_haz){0};
            else
                w->vh[u->reg + i] = (struct vreg_haz){0};
        }
    }
    w->exec_in = w->setreg_in = NULL;
    w->haz_valu = w->haz_mem = 0;
}

int lint_hazards(const struct lint_flow *flow, struct lint_sink *sink)
{
    struct launch *launch = calloc(1, sizeof *launch);
    struct wave *wave = calloc(1, sizeof *wave);
    struct group group = {0};
    uint8_t *reported = calloc(flow->n ? flow->n : 1, 1);
    int failed = !launch || !wave || !reported;
    if (!failed) {
        struct kernel kernel = {.pub = *sink->kernel};
        launch->dev = flow->obj->dev;
        launch->obj = flow->obj;
        launch->k = &kernel;
        launch->xcd[0].launch = launch;
        wave->xcd = &launch->xcd[0];
        wave->group = &group;
        struct walk k = {.flow = flow, .sink = sink, .wave = wave, .reported = reported};
        for (uint32_t i = 0; i < flow->n; i++) {
            const struct lint_node *node = &flow->nodes[i];
            k.reach = reach_of(node->in);
            if (!k.reach || node->call)
                continue;
            k.steps = 0;
            wave->clk = START;
            hazard_update(wave, node->in);
            wave->haz_valu = wave->haz_mem = START + FAR + 1;
            for (int j = 0; j < node->nnext; j++)
                walk(&k, node->next[j], node->in, 0, node->nnext == 1);
            forget(wave, node->in);
        }
    }
    free(launch);
    free(wave);
    free(reported);
    return failed ? -1 : 0;
}
