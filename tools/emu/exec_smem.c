/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar memory: loads through the scalar cache, clocks, cache maintenance. Scalar loads may return
 * in any order, so their registers stay poison until lgkmcnt(0).
 */
#include "wave.h"

#include <stdio.h>
#include <string.h>

struct smem_row {
    const char *name;
    uint8_t dwords;
    bool buffer;
};

static const struct smem_row loads[] = {
    {"s_load_dword",           1,  false},
    {"s_load_dwordx2",         2,  false},
    {"s_load_dwordx4",         4,  false},
    {"s_load_dwordx8",         8,  false},
    {"s_load_dwordx16",        16, false},
    {"s_buffer_load_dword",    1,  true },
    {"s_buffer_load_dwordx2",  2,  true },
    {"s_buffer_load_dwordx4",  4,  true },
    {"s_buffer_load_dwordx8",  8,  true },
    {"s_buffer_load_dwordx16", 16, true },
};

static void mark_scalar(struct wave *w, const struct inst *in, unsigned reg, unsigned n)
{
    for (unsigned i = 0; i < n && reg + i < 128; i++) {
        if (w->sstate[reg + i] != REG_OUTSIDE)
            w->sstate[reg + i] = w->xcd->launch->checks & EMU_CHECK_WAITS ? REG_INFLIGHT : REG_OK;
        w->sdef[reg + i] = in;
    }
    struct flight f = {.in = in,
                       .cls = OPC_SMEM,
                       .reg = (uint16_t)(REG_S + reg),
                       .n = (uint8_t)n,
                       .count = n > 1 ? 2 : 1};
    counter_issue(w, &w->lgkm, f);
}

static void exec_sload(struct wave *w, const struct inst *in)
{
    const struct smem_row *r = in->row;
    uint64_t addr = read_s64(w, &in->op[1]);
    uint64_t off = (uint64_t)(int64_t)in->offset;
    bool bounded = false;
    uint64_t limit = 0;
    if (r->buffer) {
        unsigned v = in->op[1].reg;
        addr &= 0xffffffffffffull;
        limit = w->s[(v + 2) & 127];
        bounded = true;
    }
    if (in->nops > 2) {
        const struct opnd *o = &in->op[2];
        if (o->kind == OPND_IMM)
            off += r->buffer ? (uint64_t)o->imm : (uint64_t)(int64_t)(int32_t)o->imm;
        else
            off += read_s32(w, o);
    }
    addr = (addr & ~3ull) + (off & ~3ull);
    unsigned dst = in->op[0].reg;
    uint64_t hash = 0;
    for (unsigned i = 0; i < r->dwords; i++, addr += 4) {
        uint32_t value = 0;
        if (!bounded || (off & ~3ull) + 4 * i + 4 <= limit) {
            struct alloc *a;
            if (!mem_span(w, in, addr, 4, -1, &a))
                return;
            uint64_t at = addr - (uint64_t)(uintptr_t)a->base, line = at / LINE;
            uint8_t tmp[LINE];
            const uint8_t *p = cache_line(w, in, a, line, mask_range(at % LINE, 4), -1, tmp);
            if (!p)
                return;
            memcpy(&value, p + at % LINE, 4);
            if (value == POISON && !a->defined && w->xcd->launch->checks & EMU_CHECK_UNDEFINED &&
                !device_escaped(w->xcd->launch->dev, addr)) {
                fault(w, in, EMU_CHECK_UNDEFINED, "undefined-memory", -1, NULL,
                      "dword at 0x%llx (allocation 0x%llx + 0x%llx) was never written",
                      (unsigned long long)addr, (unsigned long long)(uintptr_t)a->base,
                      (unsigned long long)at);
                return;
            }
        }
        hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
        write_s32(w, dst + i, value);
    }
    spin_note(w, in, addr, hash | 1, bloom_line(addr - 4));
    mark_scalar(w, in, dst, r->dwords);
}

static void exec_memtime(struct wave *w, const struct inst *in)
{
    uint64_t t = wave_clock(w);
    if (strcmp(in->mnemonic, "s_memrealtime") == 0)
        t /= 24; /* 100 MHz beside 2.4 GHz */
    write_s64(w, in->op[0].reg, t);
    mark_scalar(w, in, in->op[0].reg, 2);
}

static void exec_dcache(struct wave *w, const struct inst *in)
{
    struct flight f = {.in = in, .cls = OPC_SMEM, .count = 1};
    counter_issue(w, &w->lgkm, f);
}

static const char *const others[] = {"s_memtime", "s_memrealtime", "s_dcache_inv", "s_dcache_wb"};

const char *smem_name(size_t i)
{
    size_t n = sizeof(loads) / sizeof(loads[0]);
    if (i < n)
        return loads[i].name;
    return i - n < sizeof(others) / sizeof(others[0]) ? others[i - n] : NULL;
}

void decode_smem(struct inst *in)
{
    if (strcmp(in->mnemonic, others[0]) == 0 || strcmp(in->mnemonic, others[1]) == 0) {
        in->exec = exec_memtime;
        in->flags |= IF_SMEM;
        inst_writes(in, 0, USE_SALU, LANES_OWN);
        return;
    }
    if (strcmp(in->mnemonic, others[2]) == 0 || strcmp(in->mnemonic, others[3]) == 0) {
        in->exec = exec_dcache;
        in->flags |= IF_SMEM;
        return;
    }
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        if (strcmp(loads[i].name, in->mnemonic) != 0 || in->nops < 2)
            continue;
        in->row = &loads[i];
        in->exec = exec_sload;
        in->flags |= IF_SMEM;
        inst_writes(in, 0, USE_SALU, LANES_OWN);
        for (int k = 1; k < in->nops; k++)
            inst_reads(in, k, USE_SALU, LANES_ALL);
        return;
    }
}
