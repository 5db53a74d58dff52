/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares: v_cmp_* and v_cmpx_*, which differ only in what the caller does with the mask. Each
 * relation is one row of a list, applied to every type.
 */
#include "alu_lanes.h"

#define COMPARE(name, load0, load1, type, expr)                                                    \
    EMU_OP(v_cmp_##name)                                                                           \
    {                                                                                              \
        uint8_t flags[EMU_LANES];                                                                  \
        load0 load1 EMU_EACH(l)                                                                    \
        {                                                                                          \
            type a = GET(x, l), b = GET(y, l);                                                     \
            (void)a, (void)b;                                                                      \
            flags[l] = (uint8_t)(expr);                                                            \
        }                                                                                          \
        alu->mask_out = emu_mask(flags);                                                           \
    }                                                                                              \
    void emu_v_cmpx_##name(struct emu_alu *alu)                                                    \
    {                                                                                              \
        emu_v_cmp_##name(alu);                                                                     \
    }

/* Relations of floats: the n-forms are the negation of an ordered relation, so true for NaN. */
#define FLOAT_RELATIONS(T)                                                                         \
    T(f, 0)                                                                                        \
    T(lt, a < b)                                                                                   \
    T(eq, a == b)                                                                                  \
    T(le, a <= b)                                                                                  \
    T(gt, a > b)                                                                                   \
    T(lg, (a < b) | (a > b))                                                                       \
    T(ge, a >= b)                                                                                  \
    T(o, (a == a) & (b == b))                                                                      \
    T(u, (a != a) | (b != b))                                                                      \
    T(nge, !(a >= b))                                                                              \
    T(nlg, !((a < b) | (a > b)))                                                                   \
    T(ngt, !(a > b))                                                                               \
    T(nle, !(a <= b))                                                                              \
    T(neq, !(a == b))                                                                              \
    T(nlt, !(a < b))                                                                               \
    T(tru, 1)

#define INT_RELATIONS(T)                                                                           \
    T(f, 0)                                                                                        \
    T(lt, a < b)                                                                                   \
    T(eq, a == b)                                                                                  \
    T(le, a <= b)                                                                                  \
    T(gt, a > b)                                                                                   \
    T(ne, a != b)                                                                                  \
    T(ge, a >= b)                                                                                  \
    T(t, 1)

/* f32 */
#define GET(row, l) numeric_f32(row[l])
#define LOAD32(row, i)                                                                             \
    EMU_ROW_ALIGN uint32_t buf_##row[EMU_LANES];                                                   \
    const uint32_t *row = emu_src_f32(alu, i, buf_##row);
#define CMP_F32(name, expr) COMPARE(name##_f32, LOAD32(x, 0), LOAD32(y, 1), float, expr)
FLOAT_RELATIONS(CMP_F32)
#undef GET

/* f64, f16 */
#define GET(row, l) row[l]
#define LOAD64(row, i)                                                                             \
    EMU_ROW_ALIGN double row[EMU_LANES];                                                           \
    emu_src_f64(alu, i, row);
#define CMP_F64(name, expr) COMPARE(name##_f64, LOAD64(x, 0), LOAD64(y, 1), double, expr)
FLOAT_RELATIONS(CMP_F64)

#define LOAD16(row, i)                                                                             \
    EMU_ROW_ALIGN double row[EMU_LANES];                                                           \
    emu_src_f16(alu, i, row);
#define CMP_F16(name, expr) COMPARE(name##_f16, LOAD16(x, 0), LOAD16(y, 1), double, expr)
FLOAT_RELATIONS(CMP_F16)

/* 32-bit integers, then 16 */
#define RAW32(row, i) const uint32_t *row = alu->src[i];
#define CMP_U32(name, expr) COMPARE(name##_u32, RAW32(x, 0), RAW32(y, 1), uint32_t, expr)
INT_RELATIONS(CMP_U32)
#undef GET
#define GET(row, l) (int32_t)row[l]
#define CMP_I32(name, expr) COMPARE(name##_i32, RAW32(x, 0), RAW32(y, 1), int32_t, expr)
INT_RELATIONS(CMP_I32)
#undef GET

#define RAW16(row, i)                                                                              \
    EMU_ROW_ALIGN uint32_t row[EMU_LANES];                                                         \
    emu_src_b16(alu, i, row);
#define GET(row, l) row[l]
#define CMP_U16(name, expr) COMPARE(name##_u16, RAW16(x, 0), RAW16(y, 1), uint32_t, expr)
INT_RELATIONS(CMP_U16)
#undef GET
#define GET(row, l) (int16_t)row[l]
#define CMP_I16(name, expr) COMPARE(name##_i16, RAW16(x, 0), RAW16(y, 1), int32_t, expr)
INT_RELATIONS(CMP_I16)
#undef GET

/* 64-bit integers */
#define GET(row, l) emu_row64(row, l)
#define CMP_U64(name, expr) COMPARE(name##_u64, RAW32(x, 0), RAW32(y, 1), uint64_t, expr)
INT_RELATIONS(CMP_U64)
#undef GET
#define GET(row, l) (int64_t)emu_row64(row, l)
#define CMP_I64(name, expr) COMPARE(name##_i64, RAW32(x, 0), RAW32(y, 1), int64_t, expr)
INT_RELATIONS(CMP_I64)

/*
 * The class of a float among ten, as the bit number in the mask of source 1: signalling NaN, quiet
 * NaN, -Inf, -normal, -denormal, -0, +0, +denormal, +normal, +Inf. Denormals are never flushed
 * here.
 */
static inline unsigned float_class(uint64_t bits, unsigned mbits, unsigned ebits)
{
    uint64_t mantissa = bits & ((1ULL << mbits) - 1);
    uint64_t ones = (1ULL << ebits) - 1, exponent = bits >> mbits & ones;
    bool negative = bits >> (mbits + ebits) & 1;
    if (exponent == ones && mantissa != 0) {
        return mantissa >> (mbits - 1) & 1 ? 1 : 0;
    }
    unsigned rank = exponent == ones ? 3 : (exponent != 0 ? 2 : (mantissa != 0 ? 1 : 0));
    return negative ? 5 - rank : 6 + rank;
}

static uint64_t modified(const struct emu_alu *alu, uint64_t bits, unsigned sign)
{
    bits = alu->abs & 1 ? bits & ~(1ULL << sign) : bits;
    return alu->neg & 1 ? bits ^ 1ULL << sign : bits;
}

#define CLASS(name, bits, mbits, ebits)                                                            \
    void emu_v_cmp_class_##name(struct emu_alu *alu)                                               \
    {                                                                                              \
        uint64_t mask = 0;                                                                         \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint64_t x = modified(alu, bits, (mbits) + (ebits));                                   \
            mask |= (uint64_t)(alu->src[1][l] >> float_class(x, mbits, ebits) & 1) << l;           \
        }                                                                                          \
        alu->mask_out = mask;                                                                      \
    }                                                                                              \
    void emu_v_cmpx_class_##name(struct emu_alu *alu)                                              \
    {                                                                                              \
        emu_v_cmp_class_##name(alu);                                                               \
    }

CLASS(f16, alu->src[0][l] >> (alu->op_sel & 1 ? 16 : 0) & 0xffff, 10, 5)
CLASS(f32, alu->src[0][l], 23, 8)
CLASS(f64, emu_row64(alu->src[0], l), 52, 11)
