/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector memory: global, flat, buffer and scratch loads, stores and atomics; loads into LDS; cache
 * maintenance.
 */
#include "wave.h"

#include <stdio.h>
#include <string.h>

enum space { SPACE_GLOBAL, SPACE_FLAT, SPACE_BUFFER, SPACE_SCRATCH };
enum vmem_kind { VM_LOAD, VM_STORE, VM_ATOMIC };
enum half { HALF_NONE, HALF_LO, HALF_HI };

struct vmem_row {
    const char *name; /* after global_, flat_, ... */
    uint8_t kind;
    uint8_t bytes; /* a lane in memory */
    bool sign;
    uint8_t half; /* d16: which half of the register */
    bool lds;
    uint8_t op;
};

static const struct vmem_row table[] = {
    {"load_ubyte",         VM_LOAD,   1,  false, HALF_NONE, false, 0             },
    {"load_sbyte",         VM_LOAD,   1,  true,  HALF_NONE, false, 0             },
    {"load_ushort",        VM_LOAD,   2,  false, HALF_NONE, false, 0             },
    {"load_sshort",        VM_LOAD,   2,  true,  HALF_NONE, false, 0             },
    {"load_dword",         VM_LOAD,   4,  false, HALF_NONE, false, 0             },
    {"load_dwordx2",       VM_LOAD,   8,  false, HALF_NONE, false, 0             },
    {"load_dwordx3",       VM_LOAD,   12, false, HALF_NONE, false, 0             },
    {"load_dwordx4",       VM_LOAD,   16, false, HALF_NONE, false, 0             },
    {"load_ubyte_d16",     VM_LOAD,   1,  false, HALF_LO,   false, 0             },
    {"load_ubyte_d16_hi",  VM_LOAD,   1,  false, HALF_HI,   false, 0             },
    {"load_sbyte_d16",     VM_LOAD,   1,  true,  HALF_LO,   false, 0             },
    {"load_sbyte_d16_hi",  VM_LOAD,   1,  true,  HALF_HI,   false, 0             },
    {"load_short_d16",     VM_LOAD,   2,  false, HALF_LO,   false, 0             },
    {"load_short_d16_hi",  VM_LOAD,   2,  false, HALF_HI,   false, 0             },
    {"load_lds_ubyte",     VM_LOAD,   1,  false, HALF_NONE, true,  0             },
    {"load_lds_sbyte",     VM_LOAD,   1,  true,  HALF_NONE, true,  0             },
    {"load_lds_ushort",    VM_LOAD,   2,  false, HALF_NONE, true,  0             },
    {"load_lds_sshort",    VM_LOAD,   2,  true,  HALF_NONE, true,  0             },
    {"load_lds_dword",     VM_LOAD,   4,  false, HALF_NONE, true,  0             },
    {"load_lds_dwordx3",   VM_LOAD,   12, false, HALF_NONE, true,  0             },
    {"load_lds_dwordx4",   VM_LOAD,   16, false, HALF_NONE, true,  0             },
    {"store_byte",         VM_STORE,  1,  false, HALF_NONE, false, 0             },
    {"store_byte_d16_hi",  VM_STORE,  1,  false, HALF_HI,   false, 0             },
    {"store_short",        VM_STORE,  2,  false, HALF_NONE, false, 0             },
    {"store_short_d16_hi", VM_STORE,  2,  false, HALF_HI,   false, 0             },
    {"store_dword",        VM_STORE,  4,  false, HALF_NONE, false, 0             },
    {"store_dwordx2",      VM_STORE,  8,  false, HALF_NONE, false, 0             },
    {"store_dwordx3",      VM_STORE,  12, false, HALF_NONE, false, 0             },
    {"store_dwordx4",      VM_STORE,  16, false, HALF_NONE, false, 0             },
    {"atomic_swap",        VM_ATOMIC, 4,  false, HALF_NONE, false, AT_SWAP       },
    {"atomic_cmpswap",     VM_ATOMIC, 4,  false, HALF_NONE, false, AT_CMPSWAP    },
    {"atomic_add",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_ADD        },
    {"atomic_sub",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_SUB        },
    {"atomic_smin",        VM_ATOMIC, 4,  false, HALF_NONE, false, AT_SMIN       },
    {"atomic_umin",        VM_ATOMIC, 4,  false, HALF_NONE, false, AT_UMIN       },
    {"atomic_smax",        VM_ATOMIC, 4,  false, HALF_NONE, false, AT_SMAX       },
    {"atomic_umax",        VM_ATOMIC, 4,  false, HALF_NONE, false, AT_UMAX       },
    {"atomic_and",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_AND        },
    {"atomic_or",          VM_ATOMIC, 4,  false, HALF_NONE, false, AT_OR         },
    {"atomic_xor",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_XOR        },
    {"atomic_inc",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_INC        },
    {"atomic_dec",         VM_ATOMIC, 4,  false, HALF_NONE, false, AT_DEC        },
    {"atomic_add_f32",     VM_ATOMIC, 4,  false, HALF_NONE, false, AT_ADD_F32    },
    {"atomic_pk_add_f16",  VM_ATOMIC, 4,  false, HALF_NONE, false, AT_PK_ADD_F16 },
    {"atomic_pk_add_bf16", VM_ATOMIC, 4,  false, HALF_NONE, false, AT_PK_ADD_BF16},
    {"atomic_add_f64",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_ADD_F64    },
    {"atomic_min_f64",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_MIN_F64    },
    {"atomic_max_f64",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_MAX_F64    },
    {"atomic_swap_x2",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_SWAP       },
    {"atomic_cmpswap_x2",  VM_ATOMIC, 8,  false, HALF_NONE, false, AT_CMPSWAP    },
    {"atomic_add_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_ADD        },
    {"atomic_sub_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_SUB        },
    {"atomic_smin_x2",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_SMIN       },
    {"atomic_umin_x2",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_UMIN       },
    {"atomic_smax_x2",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_SMAX       },
    {"atomic_umax_x2",     VM_ATOMIC, 8,  false, HALF_NONE, false, AT_UMAX       },
    {"atomic_and_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_AND        },
    {"atomic_or_x2",       VM_ATOMIC, 8,  false, HALF_NONE, false, AT_OR         },
    {"atomic_xor_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_XOR        },
    {"atomic_inc_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_INC        },
    {"atomic_dec_x2",      VM_ATOMIC, 8,  false, HALF_NONE, false, AT_DEC        },
};

/* Where each active lane's bytes are. */
struct places {
    uint64_t global;       /* lanes in device memory */
    uint64_t lds, scratch; /* lanes in the apertures of flat accesses, or of scratch instructions */
    uint64_t none;         /* lanes whose buffer access lies out of range: reads 0 */
    uint8_t valid[LANES];  /* buffer: dwords in range, 255: all */
    uint64_t addr[LANES];
};

static enum space space_of(const struct inst *in)
{
    switch (in->mnemonic[0]) {
    case 'g':
        return SPACE_GLOBAL;
    case 'f':
        return SPACE_FLAT;
    case 'b':
        return SPACE_BUFFER;
    default:
        return SPACE_SCRATCH;
    }
}

static void places_buffer(struct wave *w, const struct inst *in, unsigned bytes, struct places *p)
{
    unsigned v = in->op[in->saddr].reg & 127;
    uint64_t base = (w->s[v] | (uint64_t)w->s[v + 1] << 32) & 0xffffffffffffull;
    uint32_t stride = w->s[v + 1] >> 16 & 0x3fff, records = w->s[v + 2], w3 = w->s[v + 3];
    uint32_t soffset = in->soffset >= 0 ? read_s32(w, &in->op[in->soffset]) : 0;
    bool dead = !(w3 >> 15 & 15), add_tid = w3 >> 23 & 1;
    const uint32_t *index = NULL, *offset = NULL;
    if (in->idxen)
        index = vrow(w, &in->op[in->vaddr], 0);
    if (in->offen)
        offset = vrow(w, &in->op[in->vaddr], in->idxen ? 1 : 0);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t idx = (index ? index[lane] : 0) + (add_tid ? lane : 0);
        uint64_t off = (uint64_t)(offset ? offset[lane] : 0) + (uint32_t)in->offset;
        uint64_t room;
        if (dead)
            room = 0;
        else if (stride)
            room = idx < records ? (off < stride ? stride - off : 0) : 0;
        else
            room = off < records ? records - off : 0;
        p->addr[lane] = base + soffset + idx * stride + off;
        p->valid[lane] = 255;
        if (room < bytes) {
            p->valid[lane] = (uint8_t)(bytes < 4 ? 0 : room / 4);
            if (!p->valid[lane]) {
                p->none |= 1ull << lane;
                continue;
            }
        }
        p->global |= 1ull << lane;
    }
}

static void places_scratch(struct wave *w, const struct inst *in, struct places *p)
{
    uint32_t s = 0;
    if (in->saddr >= 0 && in->op[in->saddr].kind != OPND_OFF)
        s = read_s32(w, &in->op[in->saddr]);
    const uint32_t *v = NULL;
    if (in->vaddr >= 0 && in->op[in->vaddr].kind == OPND_V)
        v = vrow(w, &in->op[in->vaddr], 0);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        p->addr[lane] = (uint32_t)(s + (v ? v[lane] : 0) + (uint32_t)in->offset);
    }
    p->scratch = w->exec;
}

static void places_flat(struct wave *w, const struct inst *in, bool flat, struct places *p)
{
    const struct opnd *va = &in->op[in->vaddr];
    bool has_saddr = in->saddr >= 0 && in->op[in->saddr].kind == OPND_S;
    uint64_t base = (uint64_t)(int64_t)in->offset;
    const uint32_t *lo = vrow(w, va, 0), *hi = NULL;
    if (has_saddr)
        base += read_s64(w, &in->op[in->saddr]);
    else
        hi = vrow(w, va, 1);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t a = base + (lo[lane] | (hi ? (uint64_t)hi[lane] << 32 : 0));
        p->addr[lane] = a;
        if (flat && a >> 32 == APERTURE_SHARED)
            p->lds |= 1ull << lane;
        else if (flat && a >> 32 == APERTURE_PRIVATE)
            p->scratch |= 1ull << lane;
        else
            p->global |= 1ull << lane;
    }
    for (uint64_t left = p->lds | p->scratch; left; left &= left - 1)
        p->addr[__builtin_ctzll(left)] &= 0xffffffff;
}

static void find_places(struct wave *w, const struct inst *in, unsigned bytes, struct places *p)
{
    p->global = p->lds = p->scratch = p->none = 0;
    switch (space_of(in)) {
    case SPACE_BUFFER:
        places_buffer(w, in, bytes, p);
        break;
    case SPACE_SCRATCH:
        places_scratch(w, in, p);
        break;
    default:
        places_flat(w, in, space_of(in) == SPACE_FLAT, p);
        break;
    }
}

static inline bool partial_lane(const struct inst *in, const struct places *p, unsigned lane)
{
    return in->mnemonic[0] == 'b' && p->valid[lane] != 255;
}

/* ---- loads ---- */

struct landing { /* where loaded bytes go */
    uint32_t *row[4];
    unsigned bytes, half;
    bool sign;
};

static inline uint32_t widen(const uint8_t *p, unsigned bytes, bool sign)
{
    if (bytes == 1)
        return sign ? (uint32_t)(int32_t)(int8_t)*p : *p;
    uint16_t h;
    memcpy(&h, p, 2);
    return sign ? (uint32_t)(int32_t)(int16_t)h : h;
}

static inline void land_lane(const struct landing *to, unsigned lane, const uint8_t *p)
{
    if (to->bytes >= 4) {
        for (unsigned k = 0; k < to->bytes / 4; k++)
            memcpy(&to->row[k][lane], p + 4 * k, 4);
        return;
    }
    uint32_t v = widen(p, to->bytes, to->sign), *d = &to->row[0][lane];
    if (to->half == HALF_LO)
        *d = (*d & 0xffff0000) | (v & 0xffff);
    else if (to->half == HALF_HI)
        *d = (*d & 0xffff) | v << 16;
    else
        *d = v;
}

static bool undefined_memory(struct wave *w, const struct inst *in, const struct alloc *a,
                             const uint8_t *line, uint64_t at, unsigned bytes, int lane)
{
    for (unsigned b = (at % LINE) & ~3u; b < at % LINE + bytes && b + 4 <= LINE; b += 4) {
        uint32_t v;
        memcpy(&v, line + b, 4);
        if (__builtin_expect(v != POISON, 1))
            continue;
        uint64_t addr = (uint64_t)(uintptr_t)a->base + at / LINE * LINE + b;
        if (device_escaped(w->xcd->launch->dev, addr))
            continue;
        fault(w, in, EMU_CHECK_UNDEFINED, "undefined-memory", lane, NULL,
              "dword at 0x%llx (allocation 0x%llx + 0x%llx of 0x%zx) is read, but nobody wrote it",
              (unsigned long long)addr, (unsigned long long)(uintptr_t)a->base,
              (unsigned long long)(addr - (uint64_t)(uintptr_t)a->base), a->size);
        return true;
    }
    return false;
}

/* A lane whose bytes cross a line, or of which some dwords are out of range: dword by dword. */
static bool load_lane(struct wave *w, const struct inst *in, const struct landing *to,
                      unsigned lane, uint64_t addr, unsigned dwords)
{
    uint8_t bytes[16] = {0}, tmp[LINE];
    bool check = w->xcd->launch->checks & EMU_CHECK_UNDEFINED;
    for (unsigned b = 0; b < to->bytes && b / 4 < dwords;) {
        struct alloc *a;
        unsigned n = to->bytes - b < 4 ? to->bytes - b : 4;
        if (!mem_span(w, in, addr + b, n, (int)lane, &a))
            return false;
        uint64_t at = addr + b - (uint64_t)(uintptr_t)a->base;
        if (n > LINE - at % LINE)
            n = (unsigned)(LINE - at % LINE);
        const uint8_t *line =
            cache_line(w, in, a, at / LINE, mask_range(at % LINE, n), (int)lane, tmp);
        if (!line)
            return false;
        if (check && !a->defined && undefined_memory(w, in, a, line, at, n, (int)lane))
            return false;
        memcpy(bytes + b, line + at % LINE, n);
        b += n;
    }
    land_lane(to, lane, bytes);
    return true;
}

/* Lanes in order; neighbours in one line share the look-up. */
static bool load_global(struct wave *w, const struct inst *in, const struct landing *to,
                        const struct places *p)
{
    bool undefined = w->xcd->launch->checks & EMU_CHECK_UNDEFINED;
    uint64_t left = p->global;
    unsigned bytes = to->bytes, align = bytes < 4 ? bytes : 4;
    while (left) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t addr = p->addr[lane];
        struct alloc *a;
        if (partial_lane(in, p, lane)) {
            if (!load_lane(w, in, to, lane, addr, p->valid[lane]))
                return false;
            left &= left - 1;
            continue;
        }
        if (!mem_span(w, in, addr, bytes, (int)lane, &a))
            return false;
        uint64_t base = (uint64_t)(uintptr_t)a->base, line = (addr - base) / LINE;
        if ((addr - base) % LINE + bytes > LINE) {
            if (!load_lane(w, in, to, lane, addr, 4))
                return false;
            left &= left - 1;
            continue;
        }
        uint64_t run = 0;
        struct mask128 want = {0, 0};
        for (uint64_t more = left; more; more &= more - 1) {
            unsigned j = (unsigned)__builtin_ctzll(more);
            uint64_t at = p->addr[j] - base;
            if (at / LINE != line || at % LINE + bytes > LINE || at + bytes > a->size ||
                p->addr[j] % align || partial_lane(in, p, j))
                break;
            struct mask128 m = mask_range(at % LINE, bytes);
            want.lo |= m.lo;
            want.hi |= m.hi;
            run |= 1ull << j;
        }
        uint8_t tmp[LINE];
        const uint8_t *src = cache_line(w, in, a, line, want, (int)lane, tmp);
        if (!src)
            return false;
        bool check = undefined && !a->defined;
        for (uint64_t more = run; more; more &= more - 1) {
            unsigned j = (unsigned)__builtin_ctzll(more);
            uint64_t at = p->addr[j] - base;
            if (check && undefined_memory(w, in, a, src, at, bytes, (int)j))
                return false;
            land_lane(to, j, src + at % LINE);
        }
        left &= ~run;
    }
    return true;
}

static bool scratch_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes,
                         unsigned lane, uint8_t **at)
{
    uint32_t size = w->xcd->launch->d->private_bytes;
    if (addr + bytes > size) {
        fault(w, in, EMU_CHECK_BOUNDS, "scratch-outside", (int)lane, NULL,
              "scratch bytes 0x%llx..0x%llx lie outside the work-item's %u bytes",
              (unsigned long long)addr, (unsigned long long)addr + bytes - 1, size);
        return false;
    }
    *at = w->scratch + (size_t)lane * size + addr;
    return true;
}

/* Compilers spill and reload whole registers and half-filled arrays, so scratch that nobody wrote
 * is no mistake when it is loaded: the lanes that get it are undefined, until something uses them.
 * Of loads narrower than a dword it is one. */
static bool note_undefined_scratch(struct wave *w, const struct inst *in, const struct landing *to,
                                   const uint8_t *at, unsigned lane, uint64_t addr)
{
    if (!(w->xcd->launch->checks & EMU_CHECK_UNDEFINED))
        return true;
    unsigned reg = vnum(&in->op[in->vdst]);
    for (unsigned k = 0; k < (to->bytes + 3) / 4; k++) {
        uint32_t v;
        memcpy(&v, at + 4 * k - ((uintptr_t)at & 3), 4);
        if (v != POISON)
            continue;
        if (to->bytes < 4) {
            fault(w, in, EMU_CHECK_UNDEFINED, "undefined-scratch", (int)lane, NULL,
                  "scratch byte 0x%llx is read, but nobody wrote it", (unsigned long long)addr);
            return false;
        }
        w->stay[reg + k] |= 1ull << lane;
        w->ok[reg + k] &= ~(1ull << lane);
    }
    return true;
}

static bool load_near(struct wave *w, const struct inst *in, const struct landing *to,
                      const struct places *p)
{
    for (uint64_t left = p->scratch; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *at;
        if (!scratch_span(w, in, p->addr[lane], to->bytes, lane, &at))
            return false;
        if (!note_undefined_scratch(w, in, to, at, lane, p->addr[lane]))
            return false;
        land_lane(to, lane, at);
    }
    for (uint64_t left = p->lds; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t addr = (uint32_t)p->addr[lane];
        if (!lds_access(w, in, addr, to->bytes, false, false, (int)lane))
            return false;
        uint8_t zero[16] = {0};
        land_lane(to, lane, addr + to->bytes <= w->group->lds_bytes ? w->group->lds + addr : zero);
    }
    return true;
}

static uint64_t hash_lanes(const struct landing *to, uint64_t lanes)
{
    uint64_t h = lanes;
    unsigned n = to->bytes >= 4 ? to->bytes / 4 : 1;
    for (unsigned k = 0; k < n; k++)
        for (uint64_t left = lanes; left; left &= left - 1)
            h = (h ^ to->row[k][__builtin_ctzll(left)]) * 0x9e3779b97f4a7c15u;
    return h;
}

/* A load may be a poll. Only one that comes to the same address again is worth a closer look. */
static void note_poll(struct wave *w, const struct inst *in, const struct landing *to,
                      const struct places *p)
{
    unsigned first = (unsigned)__builtin_ctzll(p->global);
    uint64_t watch = 0, hash = 0;
    if (spin_again(w, in, p->addr[first])) {
        uint64_t last = ~0ull;
        for (uint64_t left = p->global; left; left &= left - 1) {
            uint64_t line = p->addr[__builtin_ctzll(left)] / LINE;
            if (line != last)
                watch |= bloom_line(line * LINE);
            last = line;
        }
        hash = hash_lanes(to, p->global) | 1;
        w->block_addr = p->addr[first];
        w->block_value = to->row[0][first];
    }
    spin_note(w, in, p->addr[first], hash, watch);
}

static bool wait_for_own_stores(struct wave *w, const struct inst *in, const struct places *p)
{
    if (!w->npend || !pend_conflict(w, p->global, p->addr))
        return false;
    w->pc = in->pc; /* again, when they are visible */
    w->state = WAVE_WAIT;
    w->block = in;
    return true;
}

static void count_vmem(struct wave *w, const struct inst *in, struct flight f)
{
    f.in = in;
    f.count = 1;
    f.flat = in->flags & IF_FLAT && f.n;
    counter_issue(w, &w->vm, f);
    if (in->flags & IF_FLAT)
        counter_issue(w, &w->lgkm, (struct flight){.in = in, .cls = OPC_OTHER, .count = 1});
}

static void exec_load(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    if (wait_for_own_stores(w, in, &p))
        return;
    const struct opnd *d = &in->op[in->vdst];
    struct landing to = {.bytes = r->bytes, .half = r->half, .sign = r->sign};
    for (unsigned k = 0; k < d->n && k < 4; k++)
        to.row[k] = vrow(w, d, k);
    for (uint64_t left = p.none; left; left &= left - 1) {
        static const uint8_t zero[16];
        land_lane(&to, (unsigned)__builtin_ctzll(left), zero);
    }
    if (!load_global(w, in, &to, &p))
        return;
    mark_loading(w, in, vnum(d), d->n, w->exec);
    if (!load_near(w, in, &to, &p))
        return;
    if (p.global)
        note_poll(w, in, &to, &p);
    count_vmem(
        w, in,
        (struct flight){.cls = OPC_LOAD, .reg = (uint16_t)vnum(d), .n = d->n, .lanes = w->exec});
}

/* Memory to LDS: lane i's bytes go to M0 + offset + i times their (dword-rounded) size. */
static void exec_load_lds(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    if (wait_for_own_stores(w, in, &p))
        return;
    _Alignas(64) uint32_t rows[4][LANES];
    memset(rows, 0, sizeof(rows));
    struct landing to = {
        .bytes = r->bytes, .sign = r->sign, .row = {rows[0], rows[1], rows[2], rows[3]}
    };
    if (!load_global(w, in, &to, &p))
        return;
    struct group *g = w->group;
    unsigned step = r->bytes <= 4 ? 4 : 16, bytes = r->bytes < 4 ? 4 : r->bytes;
    struct lds_touch *t = lds_touch_new(w, bytes, true, true);
    if (!t)
        return;
    bool track = w->xcd->launch->checks & EMU_CHECK_RACES;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t addr = w->s[S_M0] + (uint32_t)in->offset + lane * step;
        t->addr[lane] = addr;
        if (!lds_access(w, in, addr, bytes, true, false, (int)lane))
            return;
        for (unsigned k = 0; k < bytes / 4; k++) {
            if ((uint64_t)addr + 4 * k + 4 > g->lds_bytes)
                break;
            memcpy(g->lds + addr + 4 * k, &rows[k][lane], 4);
            if (track)
                g->cells[addr / 4 + k].dma = 1;
        }
    }
    count_vmem(w, in, (struct flight){.cls = OPC_LDS_DMA, .touch = t});
}

/* ---- stores ---- */

static bool store_near(struct wave *w, const struct inst *in, const struct places *p,
                       const struct pend *d)
{
    const struct opnd *o = &in->op[in->vdata];
    uint64_t undefined[4] = {0};
    bool checked = w->xcd->launch->checks != 0;
    for (unsigned k = 0; k < o->n && k < 4 && checked; k++) {
        /* In scratch, what is undefined stays so; elsewhere it is a mistake, and in flight too. */
        unsigned reg = vnum(o) + k;
        undefined[k] = ~w->ok[reg] & p->scratch;
        uint64_t bad = w->flight[reg] & p->scratch;
        if ((reg & 255) >= (o->acc ? w->na : w->nv))
            bad |= p->scratch;
        bad |= ~w->ok[reg] & w->exec & ~p->scratch;
        if (bad && in->mnemonic[0] != 'g' && in->mnemonic[0] != 'b' &&
            !check_vgpr(w, in, reg, 1, bad))
            return false;
    }
    for (uint64_t left = p->scratch | p->lds; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *at = NULL;
        if (p->scratch >> lane & 1) {
            if (!scratch_span(w, in, p->addr[lane], d->bytes, lane, &at))
                return false;
        } else {
            uint32_t addr = (uint32_t)p->addr[lane];
            if (!lds_access(w, in, addr, d->bytes, true, false, (int)lane))
                return false;
            if (addr + d->bytes > w->group->lds_bytes)
                continue;
            at = w->group->lds + addr;
        }
        for (unsigned b = 0; b < d->bytes; b += 4) {
            unsigned n = d->bytes - b < 4 ? d->bytes - b : 4;
            bool ok = ~undefined[b / 4] >> lane & 1;
            uint32_t poison = POISON;
            memcpy(at + b, ok || n < 4 ? &d->data[b / 4][lane] : &poison, n);
        }
    }
    return true;
}

/* Bounds of each lane, and stored words that look like poison. */
static bool check_store(struct wave *w, const struct inst *in, const struct pend *d)
{
    struct alloc *a;
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!mem_span(w, in, d->addr[lane], d->bytes, (int)lane, &a))
            return false;
        if (a->code) {
            fault(w, in, EMU_CHECK_BOUNDS, "store-to-code", (int)lane, NULL,
                  "store to 0x%llx, inside a code object", (unsigned long long)d->addr[lane]);
            return false;
        }
        if (a->defined || d->bytes < 4)
            continue;
        for (unsigned k = 0; k < d->bytes / 4; k++)
            if (__builtin_expect(d->data[k][lane] == POISON, 0))
                device_escape(w->xcd->launch->dev, d->addr[lane] + 4 * k);
    }
    return true;
}

/* Lanes of which only the first dwords are in range: one store a lane would be right and slow; they
 * are rare. */
static void trim(const struct inst *in, const struct places *p, struct pend *d)
{
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (partial_lane(in, p, lane))
            d->lanes &= ~(1ull << lane);
    }
}

static struct pend *gather_store(struct wave *w, const struct inst *in, const struct vmem_row *r,
                                 const struct places *p, enum pend_kind kind)
{
    struct pend *d = pend_new(w, in, kind, p->global, r->bytes);
    if (!d)
        return NULL;
    memcpy(d->addr, p->addr, sizeof(d->addr));
    const struct opnd *o = &in->op[in->vdata];
    for (unsigned k = 0; k < o->n && k < 4; k++)
        memcpy(d->data[k], vrow(w, o, k), LANES * 4);
    if (r->half == HALF_HI)
        for (unsigned i = 0; i < LANES; i++)
            d->data[0][i] >>= 16;
    return d;
}

/* The dwords in range of lanes that are cut off by the buffer's end, as dword stores of their own.
 */
static bool store_cut_lanes(struct wave *w, const struct inst *in, const struct places *p,
                            const struct pend *all, enum pend_kind kind)
{
    for (unsigned k = 0; k < 4 && k < all->bytes / 4u; k++) {
        uint64_t lanes = 0;
        for (uint64_t left = p->global; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            if (partial_lane(in, p, lane) && k < p->valid[lane])
                lanes |= 1ull << lane;
        }
        if (!lanes)
            continue;
        struct pend *d = pend_new(w, in, kind, lanes, 4);
        if (!d)
            return false;
        for (unsigned i = 0; i < LANES; i++)
            d->addr[i] = p->addr[i] + 4 * k;
        memcpy(d->data[0], all->data[k], LANES * 4);
        if (!check_store(w, in, d))
            return false;
        pend_issue(w, d);
        pend_unref(w->xcd, d); /* no counter of its own */
    }
    return true;
}

static void exec_store(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    spin_reset(w);
    bool weak = w->xcd->launch->checks & EMU_CHECK_CACHES;
    enum pend_kind kind = in->sc1 || !weak ? PEND_STORE : PEND_PLAIN;
    if (kind == PEND_PLAIN && w->npend && wait_for_own_stores(w, in, &p))
        return;
    struct pend *d = gather_store(w, in, r, &p, kind);
    if (!d)
        return;
    if (!store_near(w, in, &p, d) || !store_cut_lanes(w, in, &p, d, kind))
        return;
    trim(in, &p, d);
    if (!check_store(w, in, d))
        return;
    struct flight f = {.cls = OPC_STORE};
    if (d->lanes) {
        f.pend = d;
        pend_issue(w, d);
    } else {
        pend_unref(w->xcd, d);
    }
    count_vmem(w, in, f);
}

/* ---- atomics ---- */

static void exec_atomic(struct wave *w, const struct inst *in)
{
    const struct vmem_row *r = in->row;
    struct places p;
    find_places(w, in, r->bytes, &p);
    spin_reset(w);
    if (p.lds | p.scratch) {
        fault(w, in, EMU_CHECK_BOUNDS, "flat-atomic", -1, NULL,
              "flat atomics to LDS or scratch are not executed");
        return;
    }
    struct pend *d = gather_store(w, in, r, &p, PEND_ATOMIC);
    if (!d)
        return;
    trim(in, &p, d);
    d->returns = in->vdst >= 0;
    struct alloc *a;
    for (uint64_t left = d->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!mem_span(w, in, d->addr[lane], r->bytes, (int)lane, &a))
            return;
        if (d->addr[lane] % r->bytes) {
            fault(w, in, EMU_CHECK_BOUNDS, "memory-misaligned", (int)lane, NULL,
                  "address 0x%llx of an atomic is not aligned to %u",
                  (unsigned long long)d->addr[lane], r->bytes);
            return;
        }
    }
    struct flight f = {.cls = OPC_ATOMIC};
    if (d->lanes) {
        f.pend = d;
        pend_issue(w, d);
    } else {
        pend_unref(w->xcd, d);
    }
    if (in->vdst >= 0) {
        unsigned n = r->bytes / 4;
        f.reg = (uint16_t)vnum(&in->op[in->vdst]);
        f.n = (uint8_t)n;
        f.lanes = w->exec;
        for (uint64_t left = w->exec & ~p.global; left; left &= left - 1)
            for (unsigned k = 0; k < n; k++)
                vrow(w, &in->op[in->vdst], k)[__builtin_ctzll(left)] = 0;
        mark_loading(w, in, f.reg, n, w->exec);
    }
    count_vmem(w, in, f);
}

void vmem_atomic_commit(struct launch *l, struct pend *p)
{
    const struct vmem_row *r = p->in->row;
    struct wave *w = p->w;
    bool wide = r->bytes == 8;
    unsigned n = r->bytes / 4;
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        struct alloc *a = device_find(l->dev, p->addr[lane]);
        if (!a)
            return;
        uint64_t at = p->addr[lane] - (uint64_t)(uintptr_t)a->base, line = at / LINE, old = 0;
        uint8_t *mem = a->base + at, data[LINE];
        /* Bytes dirty in its own L2 are older. */
        uint64_t rec = a->xshadow[w->xcd->index][line] >> SHADOW_REC_SHIFT;
        struct mask128 m = mask_range(at % LINE, r->bytes);
        memcpy(data + at % LINE, mem, r->bytes);
        if (rec && mask_meets(w->xcd->recs[rec]->dirty, m))
            memcpy(data + at % LINE, w->xcd->recs[rec]->data + at % LINE, r->bytes);
        memcpy(&old, data + at % LINE, r->bytes);
        if (!a->defined && (uint32_t)old == POISON && l->checks & EMU_CHECK_UNDEFINED &&
            r->op != AT_SWAP && !device_escaped(l->dev, p->addr[lane])) {
            fault(w, p->in, EMU_CHECK_UNDEFINED, "undefined-memory", (int)lane, NULL,
                  "atomic on 0x%llx, which nobody wrote", (unsigned long long)p->addr[lane]);
            return;
        }
        uint64_t v = p->data[0][lane], cmp = 0;
        if (wide)
            v |= (uint64_t)p->data[1][lane] << 32;
        if (r->op == AT_CMPSWAP)
            cmp = p->data[n][lane] | (wide ? (uint64_t)p->data[n + 1][lane] << 32 : 0);
        uint64_t new = atomic_value(r->op, wide, old, v, cmp);
        memcpy(data + at % LINE, &new, r->bytes);
        l->commits += cache_commit(l, w->xcd, (int)w->group->cu, a, line, m, data);
        if (p->returns)
            for (unsigned k = 0; k < n; k++)
                vrow(w, &p->in->op[p->in->vdst], k)[lane] = (uint32_t)(old >> 32 * k);
    }
}

/* ---- cache maintenance ---- */

static void exec_inv(struct wave *w, const struct inst *in)
{
    if (in->sc1)
        cache_invalidate(w, true);
    count_vmem(w, in, (struct flight){.cls = OPC_OTHER});
}

static void exec_wbl2(struct wave *w, const struct inst *in)
{
    struct flight f = {.cls = OPC_STORE};
    struct pend *p = in->sc1 ? pend_new(w, in, PEND_WRITEBACK, 0, 1) : NULL;
    if (p) {
        pend_issue(w, p);
        f.pend = p;
    }
    count_vmem(w, in, f);
}

/* ---- decoding ---- */

static const struct vmem_row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static bool assign(struct inst *in, const struct vmem_row *r, enum space space)
{
    bool buffer = space == SPACE_BUFFER, lds = r->lds || in->lds;
    int at = 0;
    bool ret = r->kind == VM_ATOMIC && in->sc0;
    if (buffer) {
        if (!lds) {
            in->vdata = (int8_t)at++;
            if (r->kind == VM_LOAD || ret)
                in->vdst = in->vdata;
        }
        in->vaddr = (int8_t)at++;
        in->saddr = (int8_t)at++;
        in->soffset = (int8_t)at++;
        if (in->op[in->soffset].kind == OPND_S)
            in->flags |= IF_SGPR_SOFFSET;
        if (in->op[in->vaddr].kind == OPND_OFF && (in->offen || in->idxen))
            return false;
        return at <= in->nops;
    }
    if ((r->kind == VM_LOAD && !lds) || ret)
        in->vdst = (int8_t)at++;
    in->vaddr = (int8_t)at++;
    if (r->kind != VM_LOAD)
        in->vdata = (int8_t)at++;
    if (space != SPACE_FLAT)
        in->saddr = (int8_t)at++;
    return at <= in->nops;
}

static void list_uses(struct inst *in, const struct vmem_row *r)
{
    inst_reads(in, in->vaddr, USE_VMEM, LANES_EXEC);
    inst_reads(in, in->saddr, USE_VMEM, LANES_ALL);
    inst_reads(in, in->soffset, USE_VMEM, LANES_ALL);
    bool lds = r->lds || in->lds;
    bool near = in->mnemonic[0] == 's' || in->mnemonic[0] == 'f';
    if (r->kind != VM_LOAD)
        inst_reads(in, in->vdata, USE_STORE, near && r->kind == VM_STORE ? LANES_OWN : LANES_EXEC);
    if (in->vdst >= 0) {
        const struct opnd *d = &in->op[in->vdst];
        unsigned n = r->kind == VM_ATOMIC ? r->bytes / 4u : d->n;
        inst_writes_reg(in, vnum(d), n, USE_LOAD, LANES_OWN);
    }
    if (lds) {
        in->flags |= IF_LDS_DMA | IF_M0;
        inst_reads_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
    }
    bool wide = in->vdata >= 0 && in->op[in->vdata].n > 2;
    if (r->kind != VM_LOAD && wide)
        in->flags |= IF_BIG_STORE;
    if (r->kind != VM_LOAD && in->vdst < 0)
        in->flags |= IF_STORE;
}

void decode_vmem(struct inst *in)
{
    static const struct {
        const char *prefix;
        enum space space;
    } spaces[] = {
        {"global_",  SPACE_GLOBAL },
        {"flat_",    SPACE_FLAT   },
        {"buffer_",  SPACE_BUFFER },
        {"scratch_", SPACE_SCRATCH},
    };
    if (strcmp(in->mnemonic, "buffer_inv") == 0 || strcmp(in->mnemonic, "buffer_wbl2") == 0) {
        in->exec = in->mnemonic[7] == 'i' ? exec_inv : exec_wbl2;
        in->flags |= IF_VMEM;
        return;
    }
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        size_t n = strlen(spaces[i].prefix);
        if (strncmp(in->mnemonic, spaces[i].prefix, n) != 0)
            continue;
        const struct vmem_row *r = find_row(in->mnemonic + n);
        if (!r || (r->lds && spaces[i].space != SPACE_GLOBAL) || !assign(in, r, spaces[i].space))
            return;
        in->row = r;
        in->flags |= IF_VMEM | (spaces[i].space == SPACE_FLAT ? IF_FLAT : 0);
        list_uses(in, r);
        if (r->kind == VM_LOAD)
            in->exec = r->lds || in->lds ? exec_load_lds : exec_load;
        else
            in->exec = r->kind == VM_STORE ? exec_store : exec_atomic;
        return;
    }
}

/* Each row once for each address space that has it. */
bool vmem_name(size_t i, char *name, size_t size)
{
    static const char *const spaces[] = {"global", "flat", "buffer", "scratch"};
    static const char *const others[] = {"buffer_inv", "buffer_wbl2"};
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        const struct vmem_row *r = &table[k];
        for (unsigned s = 0; s < 4; s++) {
            if ((r->lds && s != 0) || (s == 3 && r->kind == VM_ATOMIC))
                continue;
            if (i-- == 0) {
                snprintf(name, size, "%s_%s", spaces[s], r->name);
                return true;
            }
        }
    }
    if (i < sizeof(others) / sizeof(others[0])) {
        snprintf(name, size, "%s", others[i]);
        return true;
    }
    return false;
}
