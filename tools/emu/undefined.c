/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Undefined bits of scalar registers. Compilers merge lane masks of which the inactive lanes' bits
 * were never written ("s_andn2 s[0:1], s[0:1], exec; s_or ..."), copy them, and park them in lanes
 * of a VGPR; only bits that decide something may be called a mistake. So moves and bitwise
 * operations carry undefined bits on, a mask must be defined where EXEC is on, and any other use
 * counts as a read of what nobody wrote. A lane of a VGPR has one state for its 32 bits: a value
 * that is undefined in part is taken for defined there.
 */
#include "wave.h"

#include <string.h>

enum { BITWISE_MAD64 = 255 }; /* inst.bitwise, beside 1 + the number of a row */
enum bitwise { BW_NONE, BW_COPY, BW_AND, BW_OR, BW_XOR };

struct bitwise_row {
    const char *name; /* without s_ and _b32, _b64 */
    enum bitwise op;
    bool not_first, not_second, exec; /* the second operand is EXEC */
};
static const struct bitwise_row rows[] = {
    {"mov",            BW_COPY, false, false, false},
    {"not",            BW_COPY, false, false, false},
    {"and",            BW_AND,  false, false, false},
    {"andn2",          BW_AND,  false, true,  false},
    {"nand",           BW_AND,  false, false, false},
    {"or",             BW_OR,   false, false, false},
    {"orn2",           BW_OR,   false, true,  false},
    {"nor",            BW_OR,   false, false, false},
    {"xor",            BW_XOR,  false, false, false},
    {"xnor",           BW_XOR,  false, false, false},
    {"and_saveexec",   BW_AND,  false, false, true },
    {"andn1_saveexec", BW_AND,  true,  false, true },
    {"andn2_saveexec", BW_AND,  false, true,  true },
    {"nand_saveexec",  BW_AND,  false, false, true },
    {"or_saveexec",    BW_OR,   false, false, true },
    {"orn1_saveexec",  BW_OR,   true,  false, true },
    {"orn2_saveexec",  BW_OR,   false, true,  true },
    {"nor_saveexec",   BW_OR,   false, false, true },
    {"xor_saveexec",   BW_XOR,  false, false, true },
    {"xnor_saveexec",  BW_XOR,  false, false, true },
};

void undefined_decode(struct inst *in)
{
    if (strcmp(in->mnemonic, "v_mad_u64_u32") == 0 || strcmp(in->mnemonic, "v_mad_i64_i32") == 0) {
        in->bitwise = BITWISE_MAD64;
        return;
    }
    const char *end = strrchr(in->mnemonic, '_');
    if (in->mnemonic[0] != 's' || !end || (strcmp(end, "_b32") != 0 && strcmp(end, "_b64") != 0))
        return;
    size_t n = (size_t)(end - in->mnemonic) - 2;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, in->mnemonic + 2, n) == 0)
            in->bitwise = (uint8_t)(i + 1);
}

/* Undefined bits of an operand of one or two dwords. */
static uint64_t undefined_bits(const struct wave *w, const struct opnd *o, bool wide)
{
    uint64_t bits = 0;
    if (o->kind != OPND_S)
        return 0;
    for (unsigned i = 0; i < (wide ? 2u : 1u); i++) {
        unsigned s = (o->reg + i) & 127;
        if (w->sstate[s] == REG_UNDEFINED)
            bits |= (uint64_t)w->sundef[s] << 32 * i;
    }
    return bits;
}

static uint64_t combine(enum bitwise op, uint64_t a, uint64_t ua, uint64_t b, uint64_t ub)
{
    switch (op) {
    case BW_AND: /* a defined 0 decides */
        return (ua | ub) & ~((~ua & ~a) | (~ub & ~b));
    case BW_OR: /* a defined 1 does */
        return (ua | ub) & ~((~ua & a) | (~ub & b));
    case BW_XOR:
        return ua | ub;
    default:
        return ua;
    }
}

/* The result's undefined bits, kept until the instruction has been executed. */
static bool carry(struct wave *w, const struct inst *in)
{
    const struct bitwise_row *r = &rows[in->bitwise - 1];
    bool wide = in->mnemonic[strlen(in->mnemonic) - 1] == '4';
    const struct opnd *x = &in->op[1], *y = &in->op[2];
    uint64_t a = wide ? read_s64(w, x) : read_s32(w, x), ua = undefined_bits(w, x, wide);
    uint64_t b = w->exec, ub = 0;
    if (!r->exec && in->nops > 2) {
        b = wide ? read_s64(w, y) : read_s32(w, y);
        ub = undefined_bits(w, y, wide);
    }
    a ^= r->not_first ? ~0ull : 0;
    b ^= r->not_second ? ~0ull : 0;
    uint64_t bits = combine(r->op, a, ua, b, ub);
    if (bits && (r->exec || in->op[0].reg >= S_EXEC))
        return false; /* EXEC itself would be undefined */
    w->undef_bits = bits;
    w->undef_pending = bits != 0;
    return true;
}

bool undefined_allowed(struct wave *w, const struct inst *in, const struct use *u, unsigned i)
{
    unsigned s = (u->reg - REG_S + i) & 127;
    if (u->kind == USE_MASK)
        return !((uint32_t)(w->exec >> 32 * (i & 1)) & w->sundef[s]);
    if (in->bitwise == BITWISE_MAD64) {
        const struct opnd *o = &in->op[in->src[2]];
        bool high = o->kind == OPND_S && i == 1 && u->n == 2 && u->reg == REG_S + o->reg;
        w->undef_bits = high ? w->exec : 0;
        w->undef_pending |= high;
        return high;
    }
    if (in->bitwise)
        return carry(w, in);
    if (in->flags & IF_WRITELANE && u->kind == USE_VALU) {
        w->undef_bits = w->sundef[s];
        w->undef_pending = w->undef_bits == 0xffffffff;
        return true;
    }
    return false;
}

/* v_mad_u64_u32 stands for 32-bit multiply-adds too, its addend's high dword being whatever there
 * is: the result's high dword is then undefined in the same lanes. */
bool undefined_high(struct wave *w, const struct inst *in, const struct use *u, unsigned i,
                    uint64_t lanes)
{
    if (in->bitwise != BITWISE_MAD64 || i != 1 || u->n != 2 || u->reg >= REG_S)
        return false;
    const struct opnd *o = &in->op[in->src[2]];
    unsigned reg = u->reg + 1;
    if (o->kind != OPND_V || vnum(o) != u->reg || w->flight[reg] & lanes ||
        (reg & 255) >= (o->acc ? w->na : w->nv))
        return false;
    w->undef_bits = ~w->ok[reg] & lanes;
    w->undef_pending = true;
    return true;
}

void undefined_mark(struct wave *w, const struct inst *in)
{
    w->undef_pending = false;
    if (in->bitwise == BITWISE_MAD64) {
        w->ok[vnum(&in->op[in->dst]) + 1] &= ~w->undef_bits;
        return;
    }
    if (in->flags & IF_WRITELANE) {
        w->ok[vnum(&in->op[0])] &= ~(1ull << (read_s32(w, &in->op[2]) & 63));
        return;
    }
    const struct opnd *d = &in->op[0];
    for (unsigned i = 0; i < d->n && i < 2; i++) {
        unsigned s = (d->reg + i) & 127;
        w->sundef[s] = (uint32_t)(w->undef_bits >> 32 * i);
        if (w->sundef[s])
            w->sstate[s] = REG_UNDEFINED;
    }
    bool decides_scc = in->bitwise && rows[in->bitwise - 1].op != BW_COPY;
    if (decides_scc || strncmp(in->mnemonic, "s_not", 5) == 0) {
        uint64_t v = d->n > 1 ? read_s64(w, d) : read_s32(w, d);
        if (!(v & ~w->undef_bits)) {
            w->sstate[S_SCC] = REG_UNDEFINED;
            w->sundef[S_SCC] = 0xffffffff;
        }
    }
}
