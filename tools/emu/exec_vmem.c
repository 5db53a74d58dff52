/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector memory: which instructions there are (global, flat, buffer, scratch), where their lanes'
 * bytes lie, how they are decoded and counted; and cache maintenance, which has no lanes.
 */
#include "exec_vmem.h"

#include <stdio.h>
#include <string.h>

enum space { SPACE_GLOBAL, SPACE_FLAT, SPACE_BUFFER, SPACE_SCRATCH };

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

/* ---- where the bytes are ---- */

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

void find_places(struct wave *w, const struct inst *in, unsigned bytes, struct places *p)
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

bool scratch_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes,
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

/* ---- waiting and counting ---- */

bool wait_for_own_stores(struct wave *w, const struct inst *in, const struct places *p)
{
    if (!w->npend || !pend_conflict(w, p->global, p->addr))
        return false;
    w->pc = in->pc; /* again, when they are visible */
    w->state = WAVE_WAIT;
    w->block = in;
    return true;
}

void count_vmem(struct wave *w, const struct inst *in, struct flight f)
{
    f.in = in;
    f.count = 1;
    f.flat = in->flags & IF_FLAT && f.n;
    counter_issue(w, &w->vm, f);
    if (in->flags & IF_FLAT)
        counter_issue(w, &w->lgkm, (struct flight){.in = in, .cls = OPC_OTHER, .count = 1});
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
