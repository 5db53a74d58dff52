/* SPDX-License-Identifier: Apache-2.0 */
/* What atomics make of a value, in memory as in LDS. */
#include "numeric.h"
#include "wave.h"

#include <math.h>

static uint32_t flush(uint32_t v)
{
    return (v & 0x7f800000) ? v : v & 0x80000000;
}

static uint32_t add_f16(uint32_t a, uint32_t b)
{
    return numeric_f16_bits(numeric_f16(a) + numeric_f16(b));
}

static uint32_t add_bf16(uint32_t a, uint32_t b)
{
    return numeric_bf16_bits(numeric_bf16(a) + numeric_bf16(b));
}

static uint32_t in_halves(uint32_t (*add)(uint32_t a, uint32_t b), uint32_t a, uint32_t b)
{
    return add(a & 0xffff, b & 0xffff) | add(a >> 16, b >> 16) << 16;
}

uint64_t atomic_value(unsigned op, bool wide, uint64_t old, uint64_t v, uint64_t v2)
{
    uint64_t max = wide ? ~0ull : 0xffffffffu;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sv = wide ? (int64_t)v : (int32_t)v;
    switch (op) {
    case AT_SWAP:
        return v;
    case AT_CMPSWAP:
        return old == v2 ? v : old;
    case AT_ADD:
        return (old + v) & max;
    case AT_SUB:
        return (old - v) & max;
    case AT_RSUB:
        return (v - old) & max;
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
    case AT_MSKOR:
        return (old & ~v) | v2;
    case AT_INC:
        return old >= v ? 0 : old + 1;
    case AT_DEC:
        return old == 0 || old > v ? v : old - 1;
    case AT_ADD_F32:
        return flush(
            numeric_f32_bits(numeric_f32(flush((uint32_t)old)) + numeric_f32(flush((uint32_t)v))));
    case AT_MIN_F32:
        return numeric_f32((uint32_t)v) < numeric_f32((uint32_t)old) ? v : old;
    case AT_MAX_F32:
        return numeric_f32((uint32_t)v) > numeric_f32((uint32_t)old) ? v : old;
    case AT_PK_ADD_F16:
        return in_halves(add_f16, (uint32_t)old, (uint32_t)v);
    case AT_PK_ADD_BF16:
        return in_halves(add_bf16, (uint32_t)old, (uint32_t)v);
    case AT_ADD_F64:
        return numeric_f64_bits(numeric_f64(old) + numeric_f64(v));
    case AT_MIN_F64:
        return numeric_f64_bits(fmin(numeric_f64(old), numeric_f64(v)));
    case AT_MAX_F64:
        return numeric_f64_bits(fmax(numeric_f64(old), numeric_f64(v)));
    default:
        return old;
    }
}
