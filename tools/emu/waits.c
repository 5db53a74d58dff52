/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and the registers they guard. A register with a load in flight is poison: the value is
 * already in the register file, but no instruction may look at it or overwrite it before the wait,
 * so whether it comes early or at the last moment cannot be told apart. Registers that nobody wrote
 * are undefined in the lanes that nobody wrote.
 */
#include "wave.h"

#include <stdio.h>

static void reg_name(unsigned reg, char name[24])
{
    if (reg < REG_A)
        snprintf(name, 24, "v%u", reg);
    else if (reg < REG_S)
        snprintf(name, 24, "a%u", reg - REG_A);
    else if (reg - REG_S < 102)
        snprintf(name, 24, "s%u", reg - REG_S);
    else if (reg - REG_S == S_SCC)
        snprintf(name, 24, "scc");
    else if (reg - REG_S == S_M0)
        snprintf(name, 24, "m0");
    else if (reg - REG_S == S_VCC || reg - REG_S == S_VCC + 1)
        snprintf(name, 24, "vcc");
    else
        snprintf(name, 24, "scalar %u", reg - REG_S);
}

static const char *counter_name(const struct inst *in)
{
    if (in->flags & IF_FLAT)
        return "vmcnt(0) and lgkmcnt(0)";
    return in->flags & IF_VMEM ? "vmcnt" : "lgkmcnt";
}

static const char *flight_rule(const struct inst *in, bool read)
{
    if (in && in->flags & IF_VMEM)
        return read ? "vmcnt-read" : "vmcnt-write";
    return read ? "lgkmcnt-read" : "lgkmcnt-write";
}

static void bad_vgpr(struct wave *w, const struct inst *in, unsigned reg, uint64_t lanes, bool read)
{
    char name[24];
    reg_name(reg, name);
    unsigned limit = reg < REG_A ? w->nv : w->na;
    if ((reg & 255) >= limit) {
        fault(w, in, EMU_CHECK_BOUNDS, "vgpr-outside", -1, NULL,
              "%s lies outside the %u %s registers of the kernel descriptor", name, limit,
              reg < REG_A ? "vector" : "accumulation");
        return;
    }
    uint64_t flying = w->flight[reg] & lanes;
    if (flying) {
        const struct inst *by = w->vdef[reg];
        fault(
            w, in, EMU_CHECK_WAITS, flight_rule(by, read), __builtin_ctzll(flying), by,
            "%s is %s while the load into it is still in flight; s_waitcnt %s must cover the load "
            "first",
            name, read ? "read" : "overwritten", counter_name(by));
        return;
    }
    uint64_t undefined = ~w->ok[reg] & lanes;
    fault(w, in, EMU_CHECK_UNDEFINED, "undefined-vgpr", undefined ? __builtin_ctzll(undefined) : 0,
          NULL, "%s is read, but nobody wrote it in lanes 0x%016llx", name,
          (unsigned long long)undefined);
}

static void bad_sgpr(struct wave *w, const struct inst *in, unsigned s, bool read)
{
    char name[24];
    reg_name(REG_S + s, name);
    if (w->sstate[s] == REG_OUTSIDE)
        fault(w, in, EMU_CHECK_BOUNDS, "sgpr-outside", -1, NULL,
              "%s lies outside the %u scalar registers of the kernel descriptor", name, w->ns);
    else if (w->sstate[s] == REG_INFLIGHT)
        fault(
            w, in, EMU_CHECK_WAITS, flight_rule(w->sdef[s], read), -1, w->sdef[s],
            "%s is %s while the scalar load into it is still in flight; s_waitcnt lgkmcnt(0) must "
            "come first",
            name, read ? "read" : "overwritten");
    else
        fault(w, in, EMU_CHECK_UNDEFINED, "undefined-sgpr", -1, NULL,
              "%s is read, but nobody wrote it", name);
}

bool check_vgpr(struct wave *w, const struct inst *in, unsigned reg, unsigned n, uint64_t lanes)
{
    for (unsigned i = 0; i < n; i++) {
        if (~w->ok[reg + i] & lanes) {
            bad_vgpr(w, in, reg + i, lanes, true);
            return false;
        }
    }
    return true;
}

bool check_reads(struct wave *w, const struct inst *in)
{
    for (unsigned k = 0; k < in->nrd; k++) {
        const struct use *u = &in->rd[k];
        if (u->reg < REG_S) {
            if (u->lanes == LANES_OWN)
                continue;
            uint64_t lanes = u->lanes == LANES_ALL ? ~0ull : w->exec;
            for (unsigned i = 0; i < u->n; i++) {
                if (__builtin_expect((~w->ok[u->reg + i] & lanes) != 0, 0)) {
                    if (undefined_high(w, in, u, i, lanes))
                        continue;
                    bad_vgpr(w, in, u->reg + i, lanes, true);
                    return false;
                }
            }
        } else {
            for (unsigned i = 0; i < u->n; i++) {
                unsigned s = (u->reg - REG_S + i) & 127;
                if (__builtin_expect(w->sstate[s] != REG_OK, 0)) {
                    if (w->sstate[s] == REG_UNDEFINED && undefined_allowed(w, in, u, i))
                        continue;
                    bad_sgpr(w, in, s, true);
                    return false;
                }
            }
        }
    }
    return true;
}

bool check_writes(struct wave *w, const struct inst *in)
{
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        if (u->reg < REG_S) {
            uint64_t lanes = u->lanes == LANES_ALL ? ~0ull : w->exec;
            for (unsigned i = 0; i < u->n; i++) {
                if (__builtin_expect((w->flight[u->reg + i] & lanes) != 0, 0)) {
                    bad_vgpr(w, in, u->reg + i, lanes, false);
                    return false;
                }
            }
        } else {
            for (unsigned i = 0; i < u->n; i++) {
                unsigned s = (u->reg - REG_S + i) & 127;
                if (__builtin_expect(w->sstate[s] >= REG_INFLIGHT, 0)) {
                    bad_sgpr(w, in, s, false);
                    return false;
                }
            }
        }
    }
    return true;
}

void mark_writes(struct wave *w, const struct inst *in, uint64_t exec)
{
    for (unsigned k = 0; k < in->nwr; k++) {
        const struct use *u = &in->wr[k];
        if (u->lanes == LANES_OWN)
            continue;
        if (u->reg < REG_S) {
            uint64_t lanes = u->lanes == LANES_ALL ? ~0ull : exec;
            for (unsigned i = 0; i < u->n; i++)
                w->ok[u->reg + i] |= lanes;
        } else {
            for (unsigned i = 0; i < u->n; i++)
                w->sstate[(u->reg - REG_S + i) & 127] = REG_OK;
        }
    }
}

void mark_loading(struct wave *w, const struct inst *in, unsigned reg, unsigned n, uint64_t lanes)
{
    if (!(w->xcd->launch->checks & EMU_CHECK_WAITS)) {
        for (unsigned i = 0; i < n; i++)
            w->ok[reg + i] |= lanes;
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        w->stay[reg + i] &= ~lanes;
        w->ok[reg + i] &= ~lanes;
        w->flight[reg + i] |= lanes;
        w->vdef[reg + i] = in;
    }
}

static void land(struct wave *w, const struct flight *f)
{
    if (f->n && f->reg < REG_S) {
        for (unsigned i = 0; i < f->n; i++) {
            w->flight[f->reg + i] &= ~f->lanes;
            w->ok[f->reg + i] |= f->lanes & ~w->stay[f->reg + i];
        }
    } else if (f->n) {
        for (unsigned i = 0; i < f->n; i++) {
            unsigned s = (f->reg - REG_S + i) & 127;
            if (w->sstate[s] == REG_INFLIGHT)
                w->sstate[s] = REG_OK;
        }
    }
}

static void pop(struct wave *w, struct counter *c)
{
    struct flight *f = &c->q[c->head];
    c->head = (c->head + 1) % (INFLIGHT_MAX + 1);
    c->n--;
    c->value -= f->count;
    if (f->flat) {
        /* The register is free when both counters have been at zero; a full list lets the oldest
         * go. */
        if (w->nflats == FLATS) {
            land(w, &w->flats[0]);
            w->flats[0] = w->flats[--w->nflats];
        }
        w->flats[w->nflats++] = *f;
    } else {
        land(w, f);
    }
    if (f->touch)
        lds_touch_done(w, f);
    if (f->pend) {
        w->released = f->pend->seq > w->released ? f->pend->seq : w->released;
        pend_unref(w->xcd, f->pend);
    }
}

/* The wave has ended: nobody waits any more. */
void counters_drop(struct wave *w)
{
    while (w->vm.n)
        pop(w, &w->vm);
    while (w->lgkm.n)
        pop(w, &w->lgkm);
    w->nflats = 0;
}

void counter_issue(struct wave *w, struct counter *c, struct flight f)
{
    unsigned max = c == &w->vm ? 63 : 15;
    /* The hardware does not issue beyond the counter's range, so the oldest has come back by now.
     */
    while (c->n && (c->value + f.count > max || c->n == INFLIGHT_MAX))
        pop(w, c);
    c->q[(c->head + c->n) % (INFLIGHT_MAX + 1)] = f;
    c->n++;
    c->value += f.count;
}

static bool holds_smem(const struct counter *c)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->q[(c->head + i) % (INFLIGHT_MAX + 1)].cls == OPC_SMEM)
            return true;
    return false;
}

/* Stores and atomics that the wait covers must be committed first: then the wave waits for the
 * round's end. */
static bool commits_needed(struct counter *c, unsigned target)
{
    unsigned value = c->value;
    bool needed = false;
    for (unsigned i = 0; i < c->n && value > target; i++) {
        struct flight *f = &c->q[(c->head + i) % (INFLIGHT_MAX + 1)];
        value -= f->count;
        if (f->pend && !f->pend->done) {
            f->pend->forced = true;
            needed = true;
        }
    }
    return needed;
}

bool wait_counters(struct wave *w, unsigned vm, unsigned lgkm)
{
    if (w->vm.value > vm && commits_needed(&w->vm, vm))
        return false;
    while (w->vm.n && w->vm.value > vm)
        pop(w, &w->vm);
    /* Scalar loads come back in any order: short of zero nothing is known of any of them. */
    if (w->lgkm.value > lgkm && (lgkm == 0 || !holds_smem(&w->lgkm)))
        while (w->lgkm.n && w->lgkm.value > lgkm)
            pop(w, &w->lgkm);
    if (w->nflats && !w->vm.n && !w->lgkm.n) {
        for (unsigned i = 0; i < w->nflats; i++)
            land(w, &w->flats[i]);
        w->nflats = 0;
    }
    return true;
}
