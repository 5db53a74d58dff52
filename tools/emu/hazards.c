/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states that software must keep between two instructions of a wave, along the path that it
 * executes. A register remembers who produced it and when; each use asks the table below. Numbers:
 * CDNA3 and CDNA4 ISA guides, section 4.5 and chapter 7; where LLVM 22's hazard recogniser and the
 * guides differ, the larger.
 */
#include "wave.h"

#include <string.h>

enum hazard_row {
    H_NONE,
    H_VALU_DPP,
    H_VALU_READLANE,
    H_VALU_PERMSWAP,
    H_VALU_MFMA,
    H_TRANS_VALU,
    H_TRANS_OTHER,
    H_PARTIAL,
    H_PARTIAL_MFMA,
    H_PARTIAL_PAIR,
    H_DOT,
    H_DOT_MFMA,
    H_SWAP_MFMA,
    H_MFMA_C_SAME,
    H_MFMA_C_OVERLAP,
    H_MFMA_AB,
    H_MFMA_VALU,
    H_MFMA_MEMORY,
    H_MFMA_C_WAR,
    H_STORE_WAR,
    H_SGPR_VMEM,
    H_SGPR_VALU,
    H_SGPR_MASK,
    H_SGPR_LANESEL,
    H_SGPR_DIVFMAS,
    H_EXEC_DPP,
    H_EXEC_LANE,
    H_EXEC_MFMA,
    H_EXEC_SWAP,
    H_EXEC_DATA,
    H_EXEC_VMEM,
    H_M0,
    H_SETREG,
    H_ROWS,
};

/* Name and summary of each row; its number of wait states is fixed, or (0) comes from a table of
 * passes. */
static const struct {
    const char *name, *what;
    uint8_t states;
} hazard_rows[H_ROWS] = {
    [H_VALU_DPP] = {"hazard-valu-dpp",       "VALU writes a VGPR, DPP reads it",                                      2},
    [H_VALU_READLANE] = {"hazard-valu-readlane",  "VALU writes a VGPR, a lane read takes it",                              1},
    [H_VALU_PERMSWAP] = {"hazard-valu-permswap",  "VALU writes a VGPR, a permlane swap uses it",                           2},
    [H_VALU_MFMA] = {"hazard-valu-mfma",      "VALU writes a VGPR, MFMA reads it",                                     2},
    [H_TRANS_VALU] = {"hazard-trans-valu",     "transcendental result, another VALU reads it",                          1},
    [H_TRANS_OTHER] = {"hazard-trans",          "transcendental result, DPP, MFMA or a swap reads it",                   2},
    [H_PARTIAL] = {"hazard-partial-write",  "part of a VGPR is written, VALU uses the VGPR",                         1},
    [H_PARTIAL_MFMA] = {"hazard-partial-mfma",   "part of a VGPR is written, MFMA reads the VGPR",                        2},
    [H_PARTIAL_PAIR] = {"hazard-partial-pair",
                    "low half converted, then the high half of the same VGPR",                                        1},
    [H_DOT] = {"hazard-dot",            "dot product result, another instruction uses it",                       3},
    [H_DOT_MFMA] = {"hazard-dot-mfma",       "dot product result, MFMA reads it",                                     3},
    [H_SWAP_MFMA] = {"hazard-permswap-mfma",  "permlane swap result, MFMA reads it",                                   2},
    [H_MFMA_C_SAME] = {"hazard-mfma-c",         "MFMA result, MFMA reads the same registers as SrcC",                    0},
    [H_MFMA_C_OVERLAP] =
        {"hazard-mfma-c-overlap",
                    "MFMA result, MFMA reads overlapping registers as SrcC (or as SrcC of another pass count)",
                    0                                                                                                  },
    [H_MFMA_AB] = {"hazard-mfma-ab",        "MFMA result, MFMA reads it as SrcA, SrcB or scale",                     0},
    [H_MFMA_VALU] = {"hazard-mfma-valu",      "MFMA result, VALU reads or overwrites it",                              0},
    [H_MFMA_MEMORY] = {"hazard-mfma-memory",
                    "MFMA result, a memory instruction reads it or loads into it",                                    0},
    [H_MFMA_C_WAR] = {"hazard-mfma-c-war",     "MFMA reads SrcC, another instruction overwrites it",                    0},
    [H_STORE_WAR] = {"hazard-store-data",
                    "store of three or four dwords, its data VGPRs are overwritten",                                  2},
    [H_SGPR_VMEM] = {"hazard-sgpr-vmem",      "VALU writes an SGPR, VMEM reads it",                                    5},
    [H_SGPR_VALU] = {"hazard-sgpr-valu",      "VALU writes an SGPR, VALU reads it as a constant",                      2},
    [H_SGPR_MASK] = {"hazard-sgpr-mask",      "VALU writes a mask, VALU takes it as mask or carry",                    2},
    [H_SGPR_LANESEL] = {"hazard-sgpr-lane",      "VALU writes an SGPR, it selects a lane",                                4},
    [H_SGPR_DIVFMAS] = {"hazard-vcc-divfmas",    "VALU writes VCC, v_div_fmas reads it",                                  4},
    [H_EXEC_DPP] = {"hazard-exec-dpp",       "VALU writes EXEC, DPP follows",                                         5},
    [H_EXEC_LANE] = {"hazard-exec-lane",      "VALU writes EXEC, a lane read or write follows",                        4},
    [H_EXEC_MFMA] = {"hazard-exec-mfma",      "VALU writes EXEC, MFMA follows",                                        4},
    [H_EXEC_SWAP] = {"hazard-exec-permswap",  "VALU writes EXEC, a permlane swap follows",                             4},
    [H_EXEC_DATA] = {"hazard-exec-data",
                    "VALU writes EXEC or VCC, VALU reads EXEC, VCCZ or EXECZ as data",                                5},
    [H_EXEC_VMEM] = {"hazard-exec-vmem",      "VALU writes EXEC, VMEM follows",                                        5},
    [H_M0] = {"hazard-m0",             "SALU writes M0, an instruction that takes its address from M0 follows",
                    1                                                                                                  },
    [H_SETREG] = {"hazard-setreg",         "s_setreg, then s_getreg or s_setreg of the same register",              2},
};

struct need {
    enum hazard_row row;
    unsigned states;
};

#define NEED(row)                                                                                  \
    (struct need)                                                                                  \
    {                                                                                              \
        row, hazard_rows[row].states                                                               \
    }

static unsigned pass_index(unsigned passes)
{
    return passes >= 16 ? 3 : passes >= 8 ? 2 : passes >= 4 ? 1 : 0;
}

/* By passes 2, 4, 8, 16; first gfx942, then gfx950. */
static const uint8_t xdl_use[2][4] = {
    {5, 7, 11, 19},
    {5, 8, 12, 20}
};
static const uint8_t xdl_c[2][4] = {
    {3, 5, 9,  17},
    {4, 6, 10, 18}
};
static const uint8_t xdl_war[4] = {1, 3, 7, 15};
static const uint8_t smfma_use[4] = {4, 6, 10, 18};
static const uint8_t smfma_c[4] = {2, 4, 8, 16};
static const uint8_t same_c[4] = {2, 0, 0, 0};
/* f64: 4x4x4 and 16x16x4; SrcC, SrcA/B and VALU, memory; first gfx942, then gfx950, where compilers
 * leave 18 before a memory instruction reads the result. */
static const uint8_t dgemm_c[2][2] = {
    {4, 9 },
    {4, 17}
};
static const uint8_t dgemm_use[2][2] = {
    {6, 11},
    {6, 19}
};
static const uint8_t dgemm_memory[2][2] = {
    {9, 18},
    {9, 18}
};

static bool is_mfma(unsigned prod)
{
    return prod >= PROD_XDL;
}

static struct need mfma_use(const struct wave *w, const struct vreg_haz *h, enum hazard_row row,
                            bool memory)
{
    unsigned i = pass_index(h->passes), big = h->passes > 4;
    if (h->kind == PROD_XDL)
        return (struct need){row, xdl_use[w->xcd->launch->dev->gfx950][i]};
    if (h->kind == PROD_SMFMA)
        return (struct need){row, smfma_use[i]};
    const uint8_t (*f64)[2] = memory ? dgemm_memory : dgemm_use;
    return (struct need){row, f64[w->xcd->launch->dev->gfx950][big]};
}

static struct need mfma_c(const struct wave *w, const struct vreg_haz *h, const struct inst *in,
                          const struct use *u)
{
    bool gfx950 = w->xcd->launch->dev->gfx950, xdl = in->flags & IF_XDL;
    unsigned i = pass_index(h->passes), big = h->passes > 4;
    bool same = h->mfma_reg == u->reg && h->mfma_n == u->n && h->passes == in->passes;
    if (h->kind == PROD_XDL) {
        if (same && xdl)
            return (struct need){H_MFMA_C_SAME, same_c[i]};
        unsigned n = xdl_c[gfx950][i];
        if (!xdl && gfx950 && i == 0)
            n = 3;
        return (struct need){H_MFMA_C_OVERLAP, n};
    }
    if (h->kind == PROD_SMFMA) {
        if (xdl)
            return (struct need){H_NONE, 0};
        if (same)
            return (struct need){H_MFMA_C_SAME, same_c[i]};
        return (struct need){H_MFMA_C_OVERLAP, smfma_c[i]};
    }
    if (same && in->flags & IF_DGEMM)
        return (struct need){H_NONE, 0};
    return (struct need){H_MFMA_C_OVERLAP, dgemm_c[gfx950][big]};
}

/* The accumulator of a dot product may follow one of the same opcode at once. */
static bool dot_chain(const struct vreg_haz *h, const struct inst *in, unsigned reg)
{
    if (!h->in || in->alu != h->in->alu)
        return false;
    int op = in->nsrc > 2 ? in->src[2] : in->dst;
    return op >= 0 && in->op[op].kind == OPND_V && reg - vnum(&in->op[op]) < in->op[op].n;
}

static struct need read_need(const struct wave *w, const struct vreg_haz *h, const struct inst *in,
                             const struct use *u, unsigned reg)
{
    const struct need none = {H_NONE, 0};
    bool mfma_ab = u->kind == USE_MFMA_AB, mfma_cc = u->kind == USE_MFMA_C;
    bool memory = u->kind == USE_VMEM || u->kind == USE_STORE;
    if (is_mfma(h->kind)) {
        if (mfma_cc)
            return mfma_c(w, h, in, u);
        if (mfma_ab)
            return mfma_use(w, h, H_MFMA_AB, false);
        return mfma_use(w, h, memory ? H_MFMA_MEMORY : H_MFMA_VALU, memory);
    }
    if (memory)
        return none;
    if (mfma_ab || mfma_cc) {
        switch (h->kind) {
        case PROD_TRANS:
            return NEED(H_TRANS_OTHER);
        case PROD_PARTIAL:
            return NEED(H_PARTIAL_MFMA);
        case PROD_DOT:
            return NEED(H_DOT_MFMA);
        case PROD_PERMSWAP:
            return NEED(H_SWAP_MFMA);
        default:
            return NEED(H_VALU_MFMA);
        }
    }
    if (h->kind == PROD_DOT)
        return dot_chain(h, in, reg) ? none : NEED(H_DOT);
    if (u->kind == USE_DPP)
        return h->kind == PROD_TRANS ? NEED(H_TRANS_OTHER) : NEED(H_VALU_DPP);
    if (u->kind == USE_PERMSWAP)
        return h->kind == PROD_TRANS ? NEED(H_TRANS_OTHER) : NEED(H_VALU_PERMSWAP);
    if (h->kind == PROD_PARTIAL)
        return NEED(H_PARTIAL);
    if (h->kind == PROD_TRANS)
        return in->flags & IF_TRANS ? none : NEED(H_TRANS_VALU);
    if (u->kind == USE_READLANE)
        return NEED(H_VALU_READLANE);
    return none;
}

static bool pk_fp8(const struct inst *in)
{
    return strncmp(in->mnemonic, "v_cvt_pk_fp8", 12) == 0 ||
           strncmp(in->mnemonic, "v_cvt_pk_bf8", 12) == 0;
}

static struct need write_need(const struct wave *w, const struct vreg_haz *h, const struct inst *in,
                              const struct use *u, unsigned reg)
{
    const struct need none = {H_NONE, 0};
    if (u->kind == USE_MFMA_D)
        return none;
    if (is_mfma(h->kind))
        return mfma_use(w, h, u->kind == USE_LOAD ? H_MFMA_MEMORY : H_MFMA_VALU,
                        u->kind == USE_LOAD);
    if (u->kind == USE_LOAD)
        return none;
    if (h->kind == PROD_DOT)
        return dot_chain(h, in, reg) ? none : NEED(H_DOT);
    if (h->kind == PROD_PARTIAL)
        return NEED(H_PARTIAL);
    if (h->kind == PROD_VALU && in->flags & IF_PARTIAL && h->in && in->alu == h->in->alu &&
        pk_fp8(in))
        return NEED(H_PARTIAL_PAIR);
    return none;
}

static bool violated(struct wave *w, const struct inst *in, const struct inst *by, struct need n,
                     uint32_t t, const char *file, unsigned reg)
{
    uint32_t between = w->clk - t - 1;
    if (!n.row || between >= n.states)
        return false;
    fault(
        w, in, EMU_CHECK_HAZARDS, hazard_rows[n.row].name, -1, by,
        "%s: %u wait states are needed between the two, there %s %u (%s%u); put s_nop %u or other "
        "work between",
        hazard_rows[n.row].what, n.states, between == 1 ? "is" : "are", between, file, reg,
        n.states - between - 1);
    return true;
}

static bool vgpr_violated(struct wave *w, const struct inst *in, const struct inst *by,
                          struct need n, uint32_t t, unsigned reg)
{
    return violated(w, in, by, n, t, reg < REG_A ? "v" : "a", reg & 255);
}

static bool check_vgpr_reads(struct wave *w, const struct inst *in, const struct use *u)
{
    for (unsigned i = 0; i < u->n; i++) {
        const struct vreg_haz *h = &w->vh[u->reg + i];
        if (h->kind == PROD_NONE || w->clk - h->t > 32)
            continue;
        if (vgpr_violated(w, in, h->in, read_need(w, h, in, u, u->reg + i), h->t, u->reg + i))
            return false;
    }
    return true;
}

static bool check_vgpr_writes(struct wave *w, const struct inst *in, const struct use *u)
{
    for (unsigned i = 0; i < u->n; i++) {
        unsigned reg = u->reg + i;
        const struct vreg_haz *h = &w->vh[reg];
        if (h->kind != PROD_NONE && w->clk - h->t <= 32 &&
            vgpr_violated(w, in, h->in, write_need(w, h, in, u, reg), h->t, reg))
            return false;
        if (u->kind != USE_MFMA_D && w->clk - h->c_t <= 16 && h->c_in &&
            vgpr_violated(w, in, h->c_in,
                          (struct need){H_MFMA_C_WAR, xdl_war[pass_index(h->c_passes)]}, h->c_t,
                          reg))
            return false;
        if (u->kind != USE_LOAD && h->s_in && w->clk - h->s_t <= 2 &&
            vgpr_violated(w, in, h->s_in, NEED(H_STORE_WAR), h->s_t, reg))
            return false;
    }
    return true;
}

static enum hazard_row sgpr_row(const struct use *u)
{
    switch (u->kind) {
    case USE_VMEM:
        return H_SGPR_VMEM;
    case USE_VALU:
    case USE_READLANE:
    case USE_MFMA_AB:
        return H_SGPR_VALU;
    case USE_MASK:
        return H_SGPR_MASK;
    case USE_LANESEL:
        return H_SGPR_LANESEL;
    case USE_DIVFMAS:
        return H_SGPR_DIVFMAS;
    default:
        return H_NONE;
    }
}

static bool check_sgprs(struct wave *w, const struct inst *in, const struct use *u)
{
    enum hazard_row row = sgpr_row(u);
    if (!row)
        return true;
    for (unsigned i = 0; i < u->n; i++) {
        unsigned s = (u->reg - REG_S + i) & 127;
        const struct sreg_haz *h = &w->sh[s];
        if (h->in && w->clk - h->t <= 6 && violated(w, in, h->in, NEED(row), h->t, "s", s))
            return false;
    }
    return true;
}

/* VALU wrote EXEC a short while ago. */
static bool check_exec(struct wave *w, const struct inst *in)
{
    enum hazard_row row = H_NONE;
    if (in->flags & IF_DPP)
        row = H_EXEC_DPP;
    else if (in->flags & (IF_READLANE | IF_WRITELANE))
        row = H_EXEC_LANE;
    else if (in->flags & IF_MFMA)
        row = H_EXEC_MFMA;
    else if (in->flags & IF_PERMSWAP)
        row = H_EXEC_SWAP;
    else if (in->flags & IF_EXEC_DATA)
        row = H_EXEC_DATA;
    else if (in->flags & IF_VMEM)
        row = H_EXEC_VMEM;
    return !row || !violated(w, in, w->exec_in, NEED(row), w->exec_t, "exec", 0);
}

static bool reads_vccz(const struct inst *in)
{
    for (unsigned k = 0; k < in->nops; k++)
        if (in->op[k].kind == OPND_SPECIAL && in->op[k].reg == SPECIAL_VCCZ)
            return true;
    return false;
}

static bool is_setreg(const struct inst *in)
{
    return in->mnemonic[0] == 's' && strncmp(in->mnemonic, "s_setreg", 8) == 0;
}

static bool check_scalar(struct wave *w, const struct inst *in)
{
    const struct sreg_haz *m0 = &w->sh[S_M0], *vcc = &w->sh[S_VCC];
    if (in->flags & IF_M0 && m0->salu_in &&
        violated(w, in, m0->salu_in, NEED(H_M0), m0->salu_t, "m", 0))
        return false;
    if (in->flags & IF_EXEC_DATA && in->flags & IF_VALU && vcc->in && reads_vccz(in) &&
        violated(w, in, vcc->in, NEED(H_EXEC_DATA), vcc->t, "vccz", 0))
        return false;
    if (in->hw_width && in->flags & IF_SALU && w->setreg_in && w->setreg_in->hwreg == in->hwreg &&
        violated(w, in, w->setreg_in, NEED(H_SETREG), w->setreg_t[in->hwreg & 63], "hwreg",
                 in->hwreg))
        return false;
    return true;
}

bool hazard_check(struct wave *w, const struct inst *in)
{
    uint32_t now = w->clk;
    bool memory = in->flags & (IF_VMEM | IF_DS);
    bool valu = now < w->haz_valu, mem = now < w->haz_mem;
    for (unsigned k = 0; k < in->nrd; k++) {
        const struct use *u = &in->rd[k];
        if (u->reg >= REG_S) {
            if (u->kind != USE_SALU && !check_sgprs(w, in, u))
                return false;
        } else if (memory ? mem : valu || u->kind != USE_VALU) {
            if (!check_vgpr_reads(w, in, u))
                return false;
        }
    }
    bool pair = in->flags & IF_PARTIAL;
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        if (u->reg < REG_S && (memory ? mem : valu || pair || u->kind == USE_PERMSWAP) &&
            !check_vgpr_writes(w, in, u))
            return false;
    }
    if (w->exec_in && now - w->exec_t <= 6 && !check_exec(w, in))
        return false;
    if ((in->flags & (IF_M0 | IF_EXEC_DATA) || (in->hw_width && in->flags & IF_SALU)) &&
        !check_scalar(w, in))
        return false;
    return true;
}

static enum prod_kind producer(const struct inst *in, unsigned *horizon)
{
    *horizon = 0;
    if (in->flags & IF_MFMA) {
        *horizon = 28;
        return in->flags & IF_DGEMM ? PROD_DGEMM : in->flags & IF_XDL ? PROD_XDL : PROD_SMFMA;
    }
    if (!(in->flags & IF_VALU))
        return PROD_NONE;
    if (in->flags & IF_TRANS) {
        *horizon = 2;
        return PROD_TRANS;
    }
    if (in->flags & IF_DOT) {
        *horizon = 4;
        return PROD_DOT;
    }
    if (in->flags & IF_PARTIAL) {
        *horizon = 2;
        return PROD_PARTIAL;
    }
    return in->flags & IF_PERMSWAP ? PROD_PERMSWAP : PROD_VALU;
}

static void until(uint32_t *at, uint32_t t)
{
    if ((int32_t)(t - *at) > 0)
        *at = t;
}

static void update_mfma(struct wave *w, const struct inst *in)
{
    for (unsigned k = 0; k < in->nrd; k++) {
        const struct use *u = &in->rd[k];
        if (u->kind != USE_MFMA_C || u->reg >= REG_S || !(in->flags & IF_XDL) ||
            u->reg == in->wr[0].reg)
            continue;
        for (unsigned i = 0; i < u->n; i++) {
            struct vreg_haz *h = &w->vh[u->reg + i];
            h->c_t = w->clk;
            h->c_passes = in->passes;
            h->c_in = in;
        }
    }
    until(&w->haz_mem, w->clk + 28);
}

static void update_store(struct wave *w, const struct inst *in)
{
    for (unsigned k = 0; k < in->nrd; k++) {
        const struct use *u = &in->rd[k];
        if (u->kind != USE_STORE || u->reg >= REG_S)
            continue;
        for (unsigned i = 0; i < u->n; i++) {
            w->vh[u->reg + i].s_t = w->clk;
            w->vh[u->reg + i].s_in = in;
        }
    }
    until(&w->haz_valu, w->clk + 4);
}

void hazard_update(struct wave *w, const struct inst *in)
{
    unsigned horizon;
    enum prod_kind kind = producer(in, &horizon);
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        if (u->reg < REG_S) {
            for (unsigned i = 0; i < u->n; i++) {
                struct vreg_haz *h = &w->vh[u->reg + i];
                h->t = w->clk;
                h->kind = (uint8_t)kind;
                h->passes = in->passes;
                h->mfma_reg = u->reg;
                h->mfma_n = u->n;
                h->in = in;
            }
            continue;
        }
        for (unsigned i = 0; i < u->n; i++) {
            struct sreg_haz *h = &w->sh[(u->reg - REG_S + i) & 127];
            h->in = in->flags & IF_VALU ? in : NULL;
            h->t = w->clk;
            h->salu_in = in->flags & IF_SALU ? in : NULL;
            h->salu_t = w->clk;
        }
    }
    if (horizon)
        until(&w->haz_valu, w->clk + horizon + 1);
    if (in->flags & IF_MFMA)
        update_mfma(w, in);
    if (in->flags & IF_BIG_STORE)
        update_store(w, in);
    if (in->flags & (IF_CMPX | IF_WRITES_EXEC)) {
        w->exec_in = in->flags & IF_VALU ? in : NULL;
        w->exec_t = w->clk;
    }
    if (in->hw_width && in->flags & IF_SALU && is_setreg(in)) {
        w->setreg_in = in;
        w->setreg_t[in->hwreg & 63] = w->clk;
    }
    w->clk += in->wait_states;
}
