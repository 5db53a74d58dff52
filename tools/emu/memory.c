/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses into allocations, and what atomics make of a value there.
 */
#include "wave.h"

#include <math.h>
#include <string.h>

/* One of the allocations used lately, or a search. */
static struct alloc *recent(struct xcd *x, uint64_t addr)
{
    for (unsigned i = 0; i < RECENT; i++) {
        struct alloc *a = x->recent[i];
        if (a && addr - (uint64_t)(uintptr_t)a->base < a->size)
            return a;
    }
    struct alloc *a = device_find(x->launch->dev, addr);
    if (a)
        x->recent[x->next_recent++ % RECENT] = a;
    return a;
}

bool mem_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes, int lane,
              struct alloc **out)
{
    struct xcd *x = w->xcd;
    struct alloc *a = x->last;
    uint64_t at = a ? addr - (uint64_t)(uintptr_t)a->base : 0;
    if (!a || at >= a->size) {
        a = recent(x, addr);
        if (!a) {
            fault(w, in, EMU_CHECK_BOUNDS, "memory-outside", lane, NULL,
                  "address 0x%llx lies in no allocation", (unsigned long long)addr);
            return false;
        }
        x->last = a;
        at = addr - (uint64_t)(uintptr_t)a->base;
    }
    if (bytes > a->size - at) {
        fault(w, in, EMU_CHECK_BOUNDS, "memory-outside", lane, NULL,
              "%u bytes at 0x%llx end beyond their allocation (0x%llx, %zu bytes)", bytes,
              (unsigned long long)addr, (unsigned long long)(uintptr_t)a->base, a->size);
        return false;
    }
    unsigned align = bytes < 4 ? bytes : 4;
    if (addr % align && x->launch->checks & EMU_CHECK_BOUNDS) {
        fault(w, in, EMU_CHECK_BOUNDS, "memory-misaligned", lane, NULL,
              "address 0x%llx of a %u-byte access is not aligned to %u", (unsigned long long)addr,
              bytes, align);
        return false;
    }
    *out = a;
    return true;
}

static float as_f32(uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static uint32_t f32_bits(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    return v;
}
static double as_f64(uint64_t v)
{
    double d;
    memcpy(&d, &v, 8);
    return d;
}
static uint64_t f64_bits(double d)
{
    uint64_t v;
    memcpy(&v, &d, 8);
    return v;
}
static uint32_t flush(uint32_t v)
{
    return (v & 0x7f800000) ? v : v & 0x80000000;
}
static uint32_t bf16_add(uint32_t a, uint32_t b)
{
    uint32_t r = f32_bits(as_f32(a << 16) + as_f32(b << 16));
    if ((r & 0x7fffffff) > 0x7f800000)
        return r >> 16 | 0x40;
    return (r + 0x7fff + (r >> 16 & 1)) >> 16;
}
static float f16_value(uint32_t h)
{
    int exp = (int)(h >> 10 & 31);
    float man = (float)(h & 0x3ff), v;
    if (exp == 31)
        v = h & 0x3ff ? NAN : INFINITY;
    else if (exp == 0)
        v = ldexpf(man, -24);
    else
        v = ldexpf(man + 1024.0f, exp - 25);
    return h & 0x8000 ? -v : v;
}
static uint32_t f16_round(float v)
{
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v))
        return sign | 0x7e00;
    float a = fabsf(v);
    if (a >= 65520.0f)
        return sign | 0x7c00;
    int exp;
    frexpf(a, &exp);
    exp = exp < -13 ? -13 : exp; /* denormals share the least exponent */
    float units = nearbyintf(ldexpf(a, 11 - exp));
    uint32_t m = (uint32_t)units;
    if (a == 0)
        return sign;
    if (exp == -13 && m < 1024)
        return sign | m;
    return sign | (((uint32_t)(exp + 14) << 10) + (m - 1024));
}
static uint32_t pk_add(uint32_t a, uint32_t b, bool bf16)
{
    if (bf16)
        return bf16_add(a & 0xffff, b & 0xffff) | bf16_add(a >> 16, b >> 16) << 16;
    return f16_round(f16_value(a & 0xffff) + f16_value(b & 0xffff)) |
           f16_round(f16_value(a >> 16) + f16_value(b >> 16)) << 16;
}

uint64_t atomic_value(unsigned op, bool wide, uint64_t old, uint64_t v, uint64_t cmp)
{
    uint64_t max = wide ? ~0ull : 0xffffffffu;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sv = wide ? (int64_t)v : (int32_t)v;
    switch (op) {
    case AT_SWAP:
        return v;
    case AT_CMPSWAP:
        return old == cmp ? v : old;
    case AT_ADD:
        return (old + v) & max;
    case AT_SUB:
        return (old - v) & max;
    case AT_SMIN:
        return so < sv ? old : v;
    case AT_SMAX:
        return so > sv ? old : v;
    case AT_UMIN:
        return old < v ? old : v;
    case AT_UMAX:
        return old > v ? old : v;
    case AT_AND:
        return old & v;
    case AT_OR:
        return old | v;
    case AT_XOR:
        return old ^ v;
    case AT_INC:
        return old >= v ? 0 : old + 1;
    case AT_DEC:
        return old == 0 || old > v ? v : old - 1;
    case AT_ADD_F32:
        return flush(f32_bits(as_f32(flush((uint32_t)old)) + as_f32(flush((uint32_t)v))));
    case AT_PK_ADD_F16:
        return pk_add((uint32_t)old, (uint32_t)v, false);
    case AT_PK_ADD_BF16:
        return pk_add((uint32_t)old, (uint32_t)v, true);
    case AT_ADD_F64:
        return f64_bits(as_f64(old) + as_f64(v));
    case AT_MIN_F64:
        return f64_bits(fmin(as_f64(old), as_f64(v)));
    case AT_MAX_F64:
        return f64_bits(fmax(as_f64(old), as_f64(v)));
    default:
        return old;
    }
}
