/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LDS: reads, writes, atomics, transposing reads; and the lane permutations that share its path.
 */
#include "wave.h"

#include <math.h>
#include <string.h>

enum ds_half { DS_WHOLE, DS_LO, DS_HI };

struct ds_row {
    const char *name;
    inst_fn *fn;
    uint8_t bytes;    /* of one access of a lane */
    uint8_t accesses; /* 2: read2, write2 */
    uint16_t stride;  /* of offset0 and offset1 */
    bool sign;
    uint8_t half;
    uint8_t op; /* atomics */
    bool returns;
    uint8_t element; /* bits, transposing reads */
};

static void count_ds(struct wave *w, const struct inst *in, struct lds_touch *t)
{
    struct flight f = {.in = in, .cls = OPC_LDS, .count = 1, .touch = t, .lanes = w->exec};
    if (in->vdst >= 0) {
        const struct opnd *d = &in->op[in->vdst];
        f.reg = (uint16_t)vnum(d);
        f.n = d->n;
        mark_loading(w, in, f.reg, f.n, w->exec);
    }
    counter_issue(w, &w->lgkm, f);
}

/* Remembers the bytes of an access until its wait, for the checks at barriers. */
static void touch(struct wave *w, struct lds_touch **list, const uint32_t addr[LANES],
                  unsigned bytes, bool write)
{
    if (!(w->xcd->launch->checks & EMU_CHECK_RACES))
        return;
    struct lds_touch *t = lds_touch_new(w, bytes, write, false);
    if (!t)
        return;
    memcpy(t->addr, addr, sizeof(t->addr));
    t->next = *list;
    *list = t;
}

static unsigned access_offset(const struct inst *in, const struct ds_row *r, unsigned k)
{
    if (r->accesses < 2)
        return (unsigned)in->offset & 0xffff;
    return (k ? in->offset1 : in->offset0) * r->stride;
}

static void addresses(struct wave *w, const struct inst *in, unsigned offset, uint32_t addr[LANES])
{
    const uint32_t *v = vrow(w, &in->op[in->vaddr], 0);
    for (unsigned i = 0; i < LANES; i++)
        addr[i] = v[i] + offset;
}

static bool fits(const struct group *g, uint32_t addr, unsigned bytes)
{
    return (uint64_t)addr + bytes <= g->lds_bytes;
}

static void ds_read(struct wave *w, const struct inst *in)
{
    const struct ds_row *r = in->row;
    struct group *g = w->group;
    struct lds_touch *touches = NULL;
    _Alignas(64) uint32_t rows[4][LANES];
    uint32_t addr[LANES];
    unsigned per = r->bytes < 4 ? 1 : r->bytes / 4;
    const struct opnd *d = &in->op[in->vdst];
    for (unsigned k = 0; k < r->accesses; k++) {
        addresses(w, in, access_offset(in, r, k), addr);
        for (uint64_t left = w->exec; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            if (!lds_access(w, in, addr[lane], r->bytes, false, false, (int)lane))
                return;
            uint8_t bytes[16] = {0};
            if (fits(g, addr[lane], r->bytes))
                memcpy(bytes, g->lds + addr[lane], r->bytes);
            for (unsigned i = 0; i < per; i++)
                memcpy(&rows[k * per + i][lane], bytes + 4 * i, 4);
        }
        touch(w, &touches, addr, r->bytes, false);
    }
    if (r->bytes >= 4 && w->exec == ~0ull) {
        for (unsigned i = 0; i < per * r->accesses && i < d->n; i++)
            memcpy(vrow(w, d, i), rows[i], sizeof(rows[i]));
        count_ds(w, in, touches);
        return;
    }
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (r->bytes >= 4) {
            for (unsigned i = 0; i < per * r->accesses && i < d->n; i++)
                vrow(w, d, i)[lane] = rows[i][lane];
            continue;
        }
        uint32_t v = rows[0][lane], *to = &vrow(w, d, 0)[lane];
        if (r->sign)
            v = r->bytes == 1 ? (uint32_t)(int32_t)(int8_t)v : (uint32_t)(int32_t)(int16_t)v;
        if (r->half == DS_LO)
            v = (*to & 0xffff0000) | (v & 0xffff);
        else if (r->half == DS_HI)
            v = (*to & 0xffff) | v << 16;
        *to = v;
    }
    count_ds(w, in, touches);
}

static void ds_write(struct wave *w, const struct inst *in)
{
    const struct ds_row *r = in->row;
    struct group *g = w->group;
    struct lds_touch *touches = NULL;
    uint32_t addr[LANES];
    spin_reset(w);
    for (unsigned k = 0; k < r->accesses; k++) {
        addresses(w, in, access_offset(in, r, k), addr);
        const struct opnd *o = &in->op[k ? in->vdata2 : in->vdata];
        unsigned n = r->bytes < 4 ? 1 : r->bytes / 4;
        for (uint64_t left = w->exec; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            if (!lds_access(w, in, addr[lane], r->bytes, true, false, (int)lane))
                return;
            uint32_t data[4] = {0};
            for (unsigned i = 0; i < n && i < o->n; i++)
                data[i] = vrow(w, o, i)[lane];
            if (r->half == DS_HI)
                data[0] >>= 16;
            if (fits(g, addr[lane], r->bytes))
                memcpy(g->lds + addr[lane], data, r->bytes);
        }
        touch(w, &touches, addr, r->bytes, true);
    }
    count_ds(w, in, touches);
}

static uint64_t lane_value(const struct wave *w, const struct inst *in, int op, unsigned n,
                           unsigned lane)
{
    if (op < 0)
        return 0;
    const struct opnd *o = &in->op[op];
    return vrow(w, o, 0)[lane] | (n > 1 ? (uint64_t)vrow(w, o, 1)[lane] << 32 : 0);
}

static void ds_atomic(struct wave *w, const struct inst *in)
{
    const struct ds_row *r = in->row;
    struct group *g = w->group;
    uint32_t addr[LANES];
    unsigned n = r->bytes / 4;
    spin_reset(w);
    addresses(w, in, (unsigned)in->offset & 0xffff, addr);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!lds_access(w, in, addr[lane], r->bytes, false, true, (int)lane) ||
            !lds_access(w, in, addr[lane], r->bytes, true, true, (int)lane))
            return;
        uint64_t old = 0, v = lane_value(w, in, in->vdata, n, lane);
        if (fits(g, addr[lane], r->bytes)) {
            memcpy(&old, g->lds + addr[lane], r->bytes);
            uint64_t v2 = lane_value(w, in, in->vdata2, n, lane);
            /* What is compared comes first in this family. */
            uint64_t new = r->op == AT_CMPSWAP ? atomic_value(r->op, n > 1, old, v2, v)
                                               : atomic_value(r->op, n > 1, old, v, v2);
            memcpy(g->lds + addr[lane], &new, r->bytes);
        }
        if (in->vdst >= 0)
            for (unsigned i = 0; i < n; i++)
                vrow(w, &in->op[in->vdst], i)[lane] = (uint32_t)(old >> 32 * i);
    }
    struct lds_touch *touches = NULL;
    touch(w, &touches, addr, r->bytes, true);
    count_ds(w, in, touches);
}

/* Bits at .. at + n - 1 of three dwords. */
static uint32_t bit_field(const uint32_t d[4], unsigned at, unsigned n)
{
    uint64_t two = d[at / 32] | (uint64_t)(at / 32 < 3 ? d[at / 32 + 1] : 0) << 32;
    return (uint32_t)(two >> at % 32) & (uint32_t)((1ull << n) - 1);
}

/* Sixteen lanes hold rows of sixteen elements, in lane order; lane i gets column i. */
static void ds_read_tr(struct wave *w, const struct inst *in)
{
    const struct ds_row *r = in->row;
    struct group *g = w->group;
    uint32_t addr[LANES], raw[LANES][4];
    if (w->exec != ~0ull) {
        fault(w, in, EMU_CHECK_UNDEFINED, "partial-exec", -1, NULL,
              "a transposing LDS read needs all lanes active, EXEC is 0x%016llx",
              (unsigned long long)w->exec);
        return;
    }
    addresses(w, in, (unsigned)in->offset & 0xffff, addr);
    memset(raw, 0, sizeof(raw));
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!lds_access(w, in, addr[lane], r->bytes, false, false, (int)lane))
            return;
        if (fits(g, addr[lane], r->bytes))
            memcpy(raw[lane], g->lds + addr[lane], r->bytes);
    }
    unsigned bits = r->element, per = r->bytes * 8 / bits, lanes_a_row = 16 / per;
    const struct opnd *d = &in->op[in->vdst];
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t out[4] = {0};
        unsigned group = lane & ~15u, col = lane & 15;
        for (unsigned k = 0; k < per; k++) {
            uint32_t v =
                bit_field(raw[group + k * lanes_a_row + col / per], col % per * bits, bits);
            uint64_t at = (uint64_t)v << (k * bits % 32);
            out[k * bits / 32] |= (uint32_t)at;
            if (k * bits / 32 < 3)
                out[k * bits / 32 + 1] |= (uint32_t)(at >> 32);
        }
        for (unsigned i = 0; i < d->n && i < 4; i++)
            vrow(w, d, i)[lane] = out[i];
    }
    struct lds_touch *touches = NULL;
    touch(w, &touches, addr, r->bytes, false);
    count_ds(w, in, touches);
}

/* ---- permutations ---- */

static void put_lanes(struct wave *w, const struct inst *in, const uint32_t out[LANES])
{
    uint32_t *d = vrow(w, &in->op[in->vdst], 0);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        d[lane] = out[lane];
    }
    count_ds(w, in, NULL);
}

static void ds_bpermute(struct wave *w, const struct inst *in)
{
    uint32_t out[LANES];
    const uint32_t *addr = vrow(w, &in->op[in->vaddr], 0), *src = vrow(w, &in->op[in->vdata], 0);
    for (unsigned i = 0; i < LANES; i++) {
        unsigned j = (addr[i] + (uint32_t)in->offset) / 4 & 63;
        out[i] = w->exec >> j & 1 ? src[j] : 0;
    }
    put_lanes(w, in, out);
}

static void ds_permute(struct wave *w, const struct inst *in)
{
    uint32_t out[LANES] = {0};
    const uint32_t *addr = vrow(w, &in->op[in->vaddr], 0), *src = vrow(w, &in->op[in->vdata], 0);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        out[(addr[i] + (uint32_t)in->offset) / 4 & 63] = src[i];
    }
    put_lanes(w, in, out);
}

static unsigned swizzle_lane(unsigned mode, unsigned i)
{
    if (mode >> 15 == 0) { /* and, or, xor masks of five bits each, over 32 lanes */
        unsigned low = (((i & 31) & (mode & 31)) | (mode >> 5 & 31)) ^ (mode >> 10 & 31);
        return (i & 32) | low;
    }
    if (mode >> 13 == 6) { /* rotate over 32 lanes by the bits in the mask's complement */
        unsigned mask = mode & 31, n = mode >> 5 & 31, left = mode >> 10 & 1;
        unsigned r = left ? (i & 31) - n : (i & 31) + n;
        return (i & 32) | ((i & mask) | (r & 31 & ~mask));
    }
    return (i & ~3u) | (mode >> 2 * (i & 3) & 3);
}

static void ds_swizzle(struct wave *w, const struct inst *in)
{
    uint32_t out[LANES];
    const uint32_t *src = vrow(w, &in->op[in->vdata], 0);
    for (unsigned i = 0; i < LANES; i++) {
        unsigned j = swizzle_lane(in->swizzle, i);
        out[i] = w->exec >> j & 1 ? src[j] : 0;
    }
    put_lanes(w, in, out);
}

static void ds_nop(struct wave *w, const struct inst *in)
{
    (void)w, (void)in;
}

static void ds_addtid(struct wave *w, const struct inst *in)
{
    const struct ds_row *r = in->row;
    struct group *g = w->group;
    uint32_t addr[LANES];
    bool write = in->vdata >= 0;
    uint32_t *row = vrow(w, &in->op[write ? in->vdata : in->vdst], 0);
    for (unsigned i = 0; i < LANES; i++)
        addr[i] = (w->s[S_M0] & 0xffff) + ((uint32_t)in->offset & 0xffff) + 4 * i;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!lds_access(w, in, addr[lane], r->bytes, write, false, (int)lane))
            return;
        if (!fits(g, addr[lane], 4))
            continue;
        if (write)
            memcpy(g->lds + addr[lane], &row[lane], 4);
        else
            memcpy(&row[lane], g->lds + addr[lane], 4);
    }
    struct lds_touch *touches = NULL;
    touch(w, &touches, addr, 4, write);
    count_ds(w, in, touches);
}

#define READ(name, bytes, sign, half)                                                              \
    {"ds_read_" name, ds_read, bytes, 1, 0, sign, half, 0, true, 0}
#define READ2(name, bytes, stride)                                                                 \
    {"ds_read2" name, ds_read, bytes, 2, stride, false, DS_WHOLE, 0, true, 0}
#define WRITE(name, bytes, half) {"ds_write_" name, ds_write, bytes, 1, 0, false, half, 0, false, 0}
#define ATOMIC(name, type, bytes, op)                                                              \
    {"ds_" name "_" type, ds_atomic, bytes, 1, 0, false, DS_WHOLE, op, false, 0},                  \
        {"ds_" name "_rtn_" type, ds_atomic, bytes, 1, 0, false, DS_WHOLE, op, true, 0}
#define TRANSPOSE(name, bytes, bits)                                                               \
    {"ds_read_" name, ds_read_tr, bytes, 1, 0, false, DS_WHOLE, 0, true, bits}

static const struct ds_row table[] = {
    READ("b32", 4, false, DS_WHOLE),
    READ("b64", 8, false, DS_WHOLE),
    READ("b96", 12, false, DS_WHOLE),
    READ("b128", 16, false, DS_WHOLE),
    READ("u8", 1, false, DS_WHOLE),
    READ("i8", 1, true, DS_WHOLE),
    READ("u16", 2, false, DS_WHOLE),
    READ("i16", 2, true, DS_WHOLE),
    READ("u8_d16", 1, false, DS_LO),
    READ("u8_d16_hi", 1, false, DS_HI),
    READ("i8_d16", 1, true, DS_LO),
    READ("i8_d16_hi", 1, true, DS_HI),
    READ("u16_d16", 2, false, DS_LO),
    READ("u16_d16_hi", 2, false, DS_HI),
    READ2("_b32", 4, 4),
    READ2("_b64", 8, 8),
    {"ds_read2st64_b32",    ds_read,     4, 2, 256, false, DS_WHOLE, 0,       true,  0},
    {"ds_read2st64_b64",    ds_read,     8, 2, 512, false, DS_WHOLE, 0,       true,  0},
    WRITE("b8", 1, DS_WHOLE),
    WRITE("b16", 2, DS_WHOLE),
    WRITE("b32", 4, DS_WHOLE),
    WRITE("b64", 8, DS_WHOLE),
    WRITE("b96", 12, DS_WHOLE),
    WRITE("b128", 16, DS_WHOLE),
    WRITE("b8_d16_hi", 1, DS_HI),
    WRITE("b16_d16_hi", 2, DS_HI),
    {"ds_write2_b32",       ds_write,    4, 2, 4,   false, DS_WHOLE, 0,       false, 0},
    {"ds_write2_b64",       ds_write,    8, 2, 8,   false, DS_WHOLE, 0,       false, 0},
    {"ds_write2st64_b32",   ds_write,    4, 2, 256, false, DS_WHOLE, 0,       false, 0},
    {"ds_write2st64_b64",   ds_write,    8, 2, 512, false, DS_WHOLE, 0,       false, 0},
    TRANSPOSE("b64_tr_b16", 8, 16),
    TRANSPOSE("b64_tr_b8", 8, 8),
    TRANSPOSE("b64_tr_b4", 8, 4),
    TRANSPOSE("b96_tr_b6", 12, 6),
    ATOMIC("add", "u32", 4, AT_ADD),
    ATOMIC("sub", "u32", 4, AT_SUB),
    ATOMIC("rsub", "u32", 4, AT_RSUB),
    ATOMIC("inc", "u32", 4, AT_INC),
    ATOMIC("dec", "u32", 4, AT_DEC),
    ATOMIC("min", "i32", 4, AT_SMIN),
    ATOMIC("max", "i32", 4, AT_SMAX),
    ATOMIC("min", "u32", 4, AT_UMIN),
    ATOMIC("max", "u32", 4, AT_UMAX),
    ATOMIC("and", "b32", 4, AT_AND),
    ATOMIC("or", "b32", 4, AT_OR),
    ATOMIC("xor", "b32", 4, AT_XOR),
    ATOMIC("mskor", "b32", 4, AT_MSKOR),
    {"ds_wrxchg_rtn_b32",   ds_atomic,   4, 1, 0,   false, DS_WHOLE, AT_SWAP, true,  0},
    ATOMIC("cmpst", "b32", 4, AT_CMPSWAP),
    ATOMIC("add", "f32", 4, AT_ADD_F32),
    ATOMIC("min", "f32", 4, AT_MIN_F32),
    ATOMIC("max", "f32", 4, AT_MAX_F32),
    ATOMIC("pk_add", "f16", 4, AT_PK_ADD_F16),
    ATOMIC("pk_add", "bf16", 4, AT_PK_ADD_BF16),
    ATOMIC("add", "u64", 8, AT_ADD),
    ATOMIC("sub", "u64", 8, AT_SUB),
    ATOMIC("rsub", "u64", 8, AT_RSUB),
    ATOMIC("inc", "u64", 8, AT_INC),
    ATOMIC("dec", "u64", 8, AT_DEC),
    ATOMIC("min", "i64", 8, AT_SMIN),
    ATOMIC("max", "i64", 8, AT_SMAX),
    ATOMIC("min", "u64", 8, AT_UMIN),
    ATOMIC("max", "u64", 8, AT_UMAX),
    ATOMIC("and", "b64", 8, AT_AND),
    ATOMIC("or", "b64", 8, AT_OR),
    ATOMIC("xor", "b64", 8, AT_XOR),
    ATOMIC("mskor", "b64", 8, AT_MSKOR),
    {"ds_wrxchg_rtn_b64",   ds_atomic,   8, 1, 0,   false, DS_WHOLE, AT_SWAP, true,  0},
    ATOMIC("cmpst", "b64", 8, AT_CMPSWAP),
    ATOMIC("add", "f64", 8, AT_ADD_F64),
    ATOMIC("min", "f64", 8, AT_MIN_F64),
    ATOMIC("max", "f64", 8, AT_MAX_F64),
    {"ds_bpermute_b32",     ds_bpermute, 4, 1, 0,   false, DS_WHOLE, 0,       true,  0},
    {"ds_permute_b32",      ds_permute,  4, 1, 0,   false, DS_WHOLE, 0,       true,  0},
    {"ds_swizzle_b32",      ds_swizzle,  4, 1, 0,   false, DS_WHOLE, 0,       true,  0},
    {"ds_read_addtid_b32",  ds_addtid,   4, 1, 0,   false, DS_WHOLE, 0,       true,  0},
    {"ds_write_addtid_b32", ds_addtid,   4, 1, 0,   false, DS_WHOLE, 0,       false, 0},
    {"ds_nop",              ds_nop,      0, 0, 0,   false, DS_WHOLE, 0,       false, 0},
};

void decode_ds(struct inst *in)
{
    if (strncmp(in->mnemonic, "ds_", 3) != 0 || in->gds)
        return;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct ds_row *r = &table[i];
        if (strcmp(r->name, in->mnemonic) != 0)
            continue;
        int at = 0;
        bool addtid = r->fn == ds_addtid;
        if (r->returns)
            in->vdst = (int8_t)at++;
        if (r->fn != ds_swizzle && !addtid && r->fn != ds_nop)
            in->vaddr = (int8_t)at++;
        if (at < in->nops)
            in->vdata = (int8_t)at++;
        if (at < in->nops)
            in->vdata2 = (int8_t)at++;
        if (at > in->nops)
            return;
        in->row = r;
        in->exec = r->fn;
        in->flags |= IF_DS;
        inst_reads(in, in->vaddr, USE_VMEM, LANES_EXEC);
        inst_reads(in, in->vdata, USE_STORE, LANES_EXEC);
        inst_reads(in, in->vdata2, USE_STORE, LANES_EXEC);
        inst_writes(in, in->vdst, USE_LOAD, LANES_OWN);
        if (addtid) {
            in->flags |= IF_M0;
            inst_reads_reg(in, REG_S + S_M0, 1, USE_SALU, LANES_ALL);
        }
        return;
    }
}

const char *ds_name(size_t i)
{
    return i < sizeof(table) / sizeof(table[0]) ? table[i].name : NULL;
}
