/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an AQL packet's fields to waves in their initial state, and back to a result.
 */
#include "wave.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void **p, size_t *cap, size_t need)
{
    if (*cap >= need)
        return true;
    free(*p);
    *cap = 0;
    *p = aligned_alloc(64, (need + 63) & ~(size_t)63);
    if (!*p)
        return false;
    *cap = need;
    return true;
}

static bool group_memory(struct launch *l, struct group *g)
{
    const struct kernel *k = l->k;
    unsigned n = l->waves_per_group;
    if (g->waves_cap < n) {
        free(g->waves);
        g->waves = aligned_alloc(64, (n * sizeof(*g->waves) + 63) & ~(size_t)63);
        g->waves_cap = g->waves ? n : 0;
        if (!g->waves)
            return false;
        memset(g->waves, 0, n * sizeof(*g->waves));
    }
    size_t regs = (size_t)(k->pub.vgprs + k->pub.agprs) * LANES * 4 * n;
    size_t scratch = (size_t)l->d->private_bytes * LANES * n;
    if (!grow((void **)&g->rows_pool, &g->rows_cap, regs) ||
        !grow((void **)&g->scratch_pool, &g->scratch_cap, scratch ? scratch : 1))
        return false;
    g->lds_bytes = l->d->lds_bytes;
    if (g->lds_cap < g->lds_bytes) {
        free(g->lds);
        free(g->cells);
        free((void *)g->cell_in);
        g->lds = aligned_alloc(64, (g->lds_bytes + 63) & ~63u);
        g->cells = calloc(g->lds_bytes / 4 + 1, sizeof(*g->cells));
        g->cell_in = (const struct inst **)calloc(g->lds_bytes / 4 + 1, sizeof(*g->cell_in));
        g->lds_cap = g->lds && g->cells && g->cell_in ? g->lds_bytes : 0;
        g->epoch = 0;
        if (!g->lds_cap)
            return false;
    }
    if (g->epoch > 50000) {
        memset(g->cells, 0, (g->lds_cap / 4 + 1) * sizeof(*g->cells));
        g->epoch = 0;
    }
    /* Undefined values that nobody checks are at least the same ones each time. */
    if (!(l->checks & EMU_CHECK_UNDEFINED)) {
        memset(g->rows_pool, 0, regs);
        if (scratch)
            memset(g->scratch_pool, 0, scratch);
        if (g->lds_bytes)
            memset(g->lds, 0, g->lds_bytes);
    } else {
        for (size_t i = 0; i < scratch / 4; i++)
            ((uint32_t *)g->scratch_pool)[i] = POISON;
    }
    return true;
}

static void put_sgpr(struct wave *w, unsigned *at, uint32_t v)
{
    if (*at < 102) {
        w->s[*at] = v;
        w->sstate[*at] = REG_OK;
    }
    (*at)++;
}

static void put_sgpr64(struct wave *w, unsigned *at, const void *p)
{
    put_sgpr(w, at, (uint32_t)(uintptr_t)p);
    put_sgpr(w, at, (uint32_t)((uint64_t)(uintptr_t)p >> 32));
}

static void init_sgprs(struct launch *l, struct group *g, struct wave *w)
{
    const struct kernel *k = l->k;
    unsigned at = 0;
    if (k->props & 1 << 1)
        put_sgpr64(w, &at, l->d->packet);
    if (k->props & 1 << 2)
        put_sgpr64(w, &at, NULL);
    if (k->props & 1 << 3)
        put_sgpr64(w, &at, l->d->kernarg);
    if (k->props & 1 << 4)
        put_sgpr64(w, &at, (const void *)(uintptr_t)l->dev->dispatches);
    if (k->props & 1 << 6)
        put_sgpr(w, &at, l->d->private_bytes);
    for (unsigned i = 0; i < k->preload_len; i++) {
        uint32_t v = 0;
        memcpy(&v, (const uint8_t *)l->d->kernarg + (k->preload_off + i) * 4u, 4);
        put_sgpr(w, &at, v);
    }
    unsigned user = k->rsrc2 >> 1 & 31;
    if (user > at)
        at = user;
    for (unsigned d = 0; d < 3; d++)
        if (k->rsrc2 >> (7 + d) & 1)
            put_sgpr(w, &at, g->id[d]);
    if (k->rsrc2 >> 10 & 1)
        put_sgpr(w, &at, l->waves_per_group);
}

static void init_wave(struct launch *l, struct group *g, unsigned i)
{
    const struct kernel *k = l->k;
    struct wave *w = &g->waves[i];
    w->group = g;
    w->xcd = g->xcd;
    w->id = i;
    w->gid = (uint32_t)(g->index * l->waves_per_group + i);
    w->state = WAVE_RUN;
    w->scc = false;
    w->nv = k->pub.vgprs;
    w->na = k->pub.agprs;
    w->ns = k->pub.sgprs < 102 ? k->pub.sgprs : 102;
    w->rows[0] = g->rows_pool + (size_t)i * (w->nv + w->na) * LANES;
    w->rows[1] = w->rows[0] + (size_t)w->nv * LANES;
    w->scratch = g->scratch_pool + (size_t)i * l->d->private_bytes * LANES;
    w->insts = w->macs = 0;
    w->clk += 1024; /* beyond every wait state of the slot's wave before */
    w->haz_valu = w->haz_mem = w->clk;
    w->vm.head = w->vm.n = w->vm.value = 0;
    w->lgkm.head = w->lgkm.n = w->lgkm.value = 0;
    w->nflats = 0;
    w->pend_head = w->pend_tail = NULL;
    w->npend = 0;
    w->listed = false;
    w->store_seq = w->released = 0;
    w->proof = 0;
    w->proven = false;
    w->block = NULL;
    memset(w->sights, 0, sizeof(w->sights));
    w->notes = 0;
    spin_reset(w);
    bool undefined = l->checks & EMU_CHECK_UNDEFINED, bounds = l->checks & EMU_CHECK_BOUNDS;
    for (unsigned r = 0; r < 512; r++) {
        bool inside = (r & 255) < (r < REG_A ? w->nv : w->na);
        w->ok[r] = inside && !undefined ? ~0ull : 0;
        w->flight[r] = inside || !bounds ? 0 : ~0ull;
        w->vdef[r] = NULL;
        w->stay[r] = 0;
    }
    memset(w->s, 0, sizeof(w->s));
    memset(w->sstate, undefined ? REG_UNDEFINED : REG_OK, sizeof(w->sstate));
    w->sstate[S_EXEC] = w->sstate[S_EXEC + 1] = REG_OK;
    memset(w->sundef, 0xff, sizeof(w->sundef));
    w->undef_pending = false;
    init_sgprs(l, g, w);
    for (unsigned r = w->ns; bounds && r < 102; r++)
        w->sstate[r] = REG_OUTSIDE;
    /* MODE's low byte is the descriptor's FLOAT_MODE. */
    set_mode(w, (k->rsrc1 >> 12 & 0xff) | (k->rsrc1 >> 21 & 1) << 8 | (k->rsrc1 >> 23 & 1) << 9 |
                    (k->rsrc1 >> 26 & 1) << 23);
    w->alu_mode.fnuz = !l->dev->gfx950;
    w->alu_mode.precise = l->dev->config.precise_mfma;
    w->pc = (uint32_t)k->entry + (k->preload_len ? 256 : 0);
    uint32_t total = g->size[0] * g->size[1] * g->size[2];
    unsigned dims = k->rsrc2 >> 11 & 3;
    w->exec = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t flat = i * LANES + lane;
        if (flat >= total)
            break;
        w->exec |= 1ull << lane;
        uint32_t x = flat % g->size[0], y = flat / g->size[0] % g->size[1],
                 z = flat / g->size[0] / g->size[1];
        w->rows[0][lane] = x | (dims > 0 ? y << 10 : 0) | (dims > 1 ? z << 20 : 0);
    }
    w->ok[0] = w->exec;
}

void group_start(struct xcd *x, struct group *g, uint64_t index)
{
    struct launch *l = x->launch;
    if (!group_memory(l, g)) {
        x->fault = (struct fault){.kind = EMU_CHECK_BOUNDS,
                                  .status = EMU_INVALID,
                                  .what = "memory",
                                  .text = strdup("out of memory for a workgroup\n")};
        return;
    }
    g->xcd = x;
    g->index = (uint32_t)index;
    g->id[0] = (uint32_t)(index % l->groups[0]);
    g->id[1] = (uint32_t)(index / l->groups[0] % l->groups[1]);
    g->id[2] = (uint32_t)(index / l->groups[0] / l->groups[1]);
    uint32_t items = 1;
    for (unsigned d = 0; d < 3; d++) {
        uint32_t left = l->d->grid[d] - g->id[d] * l->d->group[d];
        g->size[d] = left < l->d->group[d] ? left : l->d->group[d];
        items *= g->size[d];
    }
    g->cu = g->slot % (l->dev->config.cus / XCDS);
    g->nwaves = (items + LANES - 1) / LANES;
    g->ended = g->at_barrier = 0;
    g->barriers = 0;
    g->epoch0 = ++g->epoch;
    g->nseen = 0;
    g->known = NULL;
    if (g->seen)
        memset(g->seen, 0, g->cap_seen * sizeof(*g->seen));
    for (unsigned i = 0; i < g->nwaves; i++)
        init_wave(l, g, i);
    g->next = g->watch = g->insts = 0;
    g->proven = false;
    g->live = true;
}

static void set_report(struct device *dev, const struct fault *f, struct emu_result *result)
{
    free(dev->report_text);
    dev->report_text = f->text;
    dev->report = (struct emu_report){.kind = f->kind,
                                      .what = f->what,
                                      .text = f->text ? f->text : f->what,
                                      .pc = f->pc,
                                      .workgroup = f->group,
                                      .wave = f->wave,
                                      .lane = f->lane};
    result->report_count = 1;
    result->reports = &dev->report;
}

static enum emu_status invalid(struct device *dev, struct emu_result *result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static enum emu_status invalid(struct device *dev, struct emu_result *result, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    struct fault f = {.kind = EMU_CHECK_BOUNDS, .what = "invalid-dispatch", .text = strdup(text)};
    set_report(dev, &f, result);
    return result->status = EMU_INVALID;
}

static unsigned waves_per_simd(const struct kernel *k)
{
    unsigned total = (k->pub.agprs ? k->accum_offset + k->pub.agprs : k->pub.vgprs);
    total = (total + 7) & ~7u;
    unsigned n = 512 / (total ? total : 8);
    return n > 8 ? 8 : n;
}

/* Workgroups of this dispatch that fit on a CU together. */
static unsigned fit_on_cu(const struct device *dev, const struct kernel *k, uint32_t lds,
                          unsigned waves)
{
    unsigned granule = dev->gfx950 ? 1280 : 512;
    unsigned n = waves_per_simd(k) * 4 / waves;
    uint32_t rounded = (lds + granule - 1) / granule * granule;
    if (rounded) {
        unsigned by_lds = dev->lds_max / rounded;
        n = by_lds < n ? by_lds : n;
    }
    return n;
}

static bool make_slots(struct launch *l)
{
    uint64_t each = (l->ngroups + XCDS - 1) / XCDS;
    uint64_t most = (uint64_t)l->slots_per_cu * (l->dev->config.cus / XCDS);
    unsigned n = (unsigned)(each < most ? each : most);
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        x->launch = l;
        x->index = i;
        x->next_group = i;
        x->rng.s = l->dev->config.seed * 0x2545f4914f6cdd1dull + i * 0x9e37 + 1;
        x->stop = false;
        x->fault = (struct fault){0};
        x->insts = x->macs = 0;
        if (x->cap_slots < n) {
            struct group *slots = realloc(x->slots, n * sizeof(*slots));
            if (!slots)
                return false;
            memset(slots + x->cap_slots, 0, (n - x->cap_slots) * sizeof(*slots));
            x->slots = slots;
            x->cap_slots = n;
        }
        x->nslots = n;
        for (unsigned s = 0; s < n; s++) {
            x->slots[s].slot = s;
            x->slots[s].live = false;
        }
    }
    return true;
}

static enum emu_status check_dispatch(struct device *dev, const struct emu_dispatch *d,
                                      struct launch *l, struct emu_result *r)
{
    l->k = object_kernel_at(dev, d->kernel, &l->obj);
    if (!l->k)
        return invalid(dev, r, "no kernel has the handle 0x%llx", (unsigned long long)d->kernel);
    const struct kernel *k = l->k;
    uint64_t items = 1, ngroups = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!d->group[i] || !d->grid[i])
            return invalid(dev, r, "kernel %s: grid or workgroup size of 0", k->pub.name);
        items *= d->group[i];
        l->groups[i] = (uint32_t)(((uint64_t)d->grid[i] + d->group[i] - 1) / d->group[i]);
        ngroups *= l->groups[i];
        if (items > 1024)
            return invalid(dev, r, "kernel %s: workgroups of more than 1024 work-items",
                           k->pub.name);
    }
    l->ngroups = ngroups;
    l->waves_per_group = (unsigned)((items + LANES - 1) / LANES);
    if (d->lds_bytes < k->pub.group_size || d->lds_bytes > dev->lds_max)
        return invalid(dev, r, "kernel %s: %u bytes of LDS, static need %u, limit %u", k->pub.name,
                       d->lds_bytes, k->pub.group_size, dev->lds_max);
    if (d->private_bytes < k->pub.private_size)
        return invalid(dev, r, "kernel %s: %u bytes of scratch, it needs %u", k->pub.name,
                       d->private_bytes, k->pub.private_size);
    if (!d->kernarg && k->pub.kernarg_size)
        return invalid(dev, r, "kernel %s: no kernarg segment", k->pub.name);
    l->slots_per_cu = fit_on_cu(dev, k, d->lds_bytes, l->waves_per_group);
    if (!l->slots_per_cu)
        return invalid(dev, r,
                       "kernel %s: a workgroup of %u waves with %u + %u VGPRs does not fit on "
                       "a compute unit",
                       k->pub.name, l->waves_per_group, k->pub.vgprs, k->pub.agprs);
    return EMU_OK;
}

enum emu_status emu_dispatch(struct emu_device *device, const struct emu_dispatch *dispatch,
                             struct emu_result *result)
{
    struct device *dev = (struct device *)device;
    *result = (struct emu_result){0};
    struct launch *l = dev->launch;
    if (!l && !(l = dev->launch = calloc(1, sizeof(*l))))
        return invalid(dev, result, "out of memory");
    l->dev = dev;
    l->d = dispatch;
    l->checks = dev->config.checks;
    if (check_dispatch(dev, dispatch, l, result) != EMU_OK)
        return EMU_INVALID;
    l->round = 1;
    l->rng.s = dev->config.seed ^ 0x6a09e667f3bcc909ull;
    l->fault = (struct fault){0};
    l->done = false;
    l->commits = l->idle = l->skew = 0;
    l->committed_bloom = 0;
    l->late = rng_next(&l->rng) % l->ngroups;
    l->hold = l->checks & EMU_CHECK_RACES && l->ngroups > XCDS;
    if (!make_slots(l) || !order_begin(l))
        return invalid(dev, result, "out of memory");
    l->groups_left = l->xcd[0].next_group + (uint64_t)l->xcd[0].nslots * XCDS < l->ngroups;
    dev->dispatches++;
    cache_begin(l);
    result->status = launch_run(l);
    cache_end(l);
    order_end(l);
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        result->insts += x->insts;
        result->mfma_macs += x->macs;
        for (unsigned s = 0; s < x->nslots; s++) {
            const struct group *g = &x->slots[s];
            for (unsigned k = 0; g->live && k < g->nwaves; k++) {
                result->insts += g->waves[k].insts;
                result->mfma_macs += g->waves[k].macs;
            }
        }
        free(x->fault.text);
        x->fault.text = NULL;
    }
    if (result->status != EMU_OK)
        set_report(dev, &l->fault, result);
    return result->status;
}

void launch_free(struct launch *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < XCDS; i++) {
        struct xcd *x = &l->xcd[i];
        for (unsigned s = 0; s < x->cap_slots; s++) {
            struct group *g = &x->slots[s];
            free(g->waves);
            free(g->rows_pool);
            free(g->scratch_pool);
            free(g->lds);
            free(g->cells);
            free((void *)g->cell_in);
            free(g->seen);
        }
        free(x->slots);
        free((void *)x->recs);
        free((void *)x->pwaves);
        free(x->orders);
        for (unsigned c = 0; c < 32; c++)
            free(x->l1[c].at);
        free((void *)x->l2.at);
        arena_free(&x->arena);
    }
    arena_free(&l->arena);
    free((void *)l->writers);
    free((void *)l->writer_slots);
    free(l);
}
