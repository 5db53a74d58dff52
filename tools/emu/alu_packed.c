/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two 16-bit operations in one dword. For the low result op_sel and neg (neg_lo) choose each
 * source's half and sign, for the high result op_sel_hi and neg_hi.
 */
#include "alu_half.h"

#include <math.h>

static unsigned picked_shift(const struct emu_alu *alu, unsigned i, unsigned half)
{
    return (half == 0 ? alu->op_sel : alu->op_sel_hi) >> i & 1 ? 16 : 0;
}

static bool picked_neg(const struct emu_alu *alu, unsigned i, unsigned half)
{
    return (half == 0 ? alu->neg : alu->neg_hi) >> i & 1;
}

static void half_values(const struct emu_alu *alu, unsigned i, unsigned half, double *out)
{
    emu_half_f16(alu, alu->src[i], picked_shift(alu, i, half), false, picked_neg(alu, i, half),
                 out);
}

static void half_raw(const struct emu_alu *alu, unsigned i, unsigned half, uint32_t *out)
{
    unsigned shift = picked_shift(alu, i, half);
    EMU_EACH(l)
    {
        out[l] = alu->src[i][l] >> shift & 0xffff;
    }
}

static void join(struct emu_alu *alu, uint32_t codes[2][EMU_LANES])
{
    EMU_EACH(l)
    {
        alu->dst[l] = (codes[0][l] & 0xffff) | codes[1][l] << 16;
    }
}

/* a, b, c: values of the halves. */
#define PK_F16(name, sources, expr)                                                                \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s[3][EMU_LANES] = {{0}};                                              \
        EMU_ROW_ALIGN double out[EMU_LANES];                                                       \
        EMU_ROW_ALIGN uint32_t codes[2][EMU_LANES];                                                \
        for (unsigned half = 0; half < 2; half++) {                                                \
            for (unsigned i = 0; i < (sources); i++) {                                             \
                half_values(alu, i, half, s[i]);                                                   \
            }                                                                                      \
            int saved = emu_round_begin(alu->round16_64);                                          \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                double a = s[0][l], b = s[1][l], c = s[2][l];                                      \
                (void)c;                                                                           \
                out[l] = (expr);                                                                   \
            }                                                                                      \
            emu_round_end(saved);                                                                  \
            emu_round_f16(alu, out, codes[half]);                                                  \
        }                                                                                          \
        join(alu, codes);                                                                          \
    }

PK_F16(v_pk_add_f16, 2, a + b)
PK_F16(v_pk_mul_f16, 2, a *b)
PK_F16(v_pk_fma_f16, 3, fma(a, b, c))

/* Codes x, y, z of the halves; the result is one of them (or a quieted NaN), then modified. */
#define PK_SELECT(name, sources, expr)                                                             \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t bits[3][EMU_LANES] = {{0}}, codes[2][EMU_LANES];                    \
        EMU_ROW_ALIGN double out[EMU_LANES];                                                       \
        bool ieee = (alu->mode & EMU_MODE_IEEE) != 0;                                              \
        (void)ieee;                                                                                \
        for (unsigned half = 0; half < 2; half++) {                                                \
            for (unsigned i = 0; i < (sources); i++) {                                             \
                emu_half_bits(alu, alu->src[i], picked_shift(alu, i, half), false,                 \
                              picked_neg(alu, i, half), bits[i]);                                  \
            }                                                                                      \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                uint32_t x = bits[0][l], y = bits[1][l], z = bits[2][l];                           \
                (void)z;                                                                           \
                codes[half][l] = (expr);                                                           \
                out[l] = (double)numeric_f16(codes[half][l]);                                      \
            }                                                                                      \
            if (alu->clamp || (alu->denorm16_64 & 2) == 0) {                                       \
                emu_round_f16(alu, out, codes[half]);                                              \
            }                                                                                      \
        }                                                                                          \
        join(alu, codes);                                                                          \
    }

PK_SELECT(v_pk_min_f16, 2, emu_min16(x, y, ieee))
PK_SELECT(v_pk_max_f16, 2, emu_max16(x, y, ieee))
PK_SELECT(v_pk_minimum3_f16, 3, emu_minimum16(emu_minimum16(x, y), z))
PK_SELECT(v_pk_maximum3_f16, 3, emu_maximum16(emu_maximum16(x, y), z))

/* VOP2: both halves in place, no op_sel; neg and abs of the VOP3 form act on both. */
EMU_OP(v_pk_fmac_f16)
{
    EMU_ROW_ALIGN double s[3][EMU_LANES], out[EMU_LANES];
    EMU_ROW_ALIGN uint32_t codes[2][EMU_LANES];
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < 2; i++) {
            emu_half_f16(alu, alu->src[i], 16 * half, alu->abs >> i & 1, alu->neg >> i & 1, s[i]);
        }
        emu_half_f16(alu, alu->dst, 16 * half, false, false, s[2]);
        int saved = emu_round_begin(alu->round16_64);
        EMU_EACH(l)
        {
            out[l] = fma(s[0][l], s[1][l], s[2][l]);
        }
        emu_round_end(saved);
        emu_round_f16(alu, out, codes[half]);
    }
    join(alu, codes);
}

static inline int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : (value > high ? high : value);
}

static inline int32_t i16(uint32_t x)
{
    return (int16_t)x;
}

#define U16_RANGE 0, 0xffffLL
#define I16_RANGE (-0x8000LL), 0x7fffLL

/* x, y, z: the halves, zero-extended; clamp limits the exact result to the range. */
#define PK_INT(name, sources, wide, range)                                                         \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t s[3][EMU_LANES] = {{0}}, codes[2][EMU_LANES];                       \
        bool clamp = alu->clamp;                                                                   \
        for (unsigned half = 0; half < 2; half++) {                                                \
            for (unsigned i = 0; i < (sources); i++) {                                             \
                half_raw(alu, i, half, s[i]);                                                      \
            }                                                                                      \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                uint32_t x = s[0][l], y = s[1][l], z = s[2][l];                                    \
                (void)z;                                                                           \
                int64_t w = (int64_t)(wide);                                                       \
                codes[half][l] = (uint32_t)(clamp ? limit(w, range) : w);                          \
            }                                                                                      \
        }                                                                                          \
        join(alu, codes);                                                                          \
    }

PK_INT(v_pk_add_i16, 2, i16(x) + i16(y), I16_RANGE)
PK_INT(v_pk_sub_i16, 2, i16(x) - i16(y), I16_RANGE)
PK_INT(v_pk_add_u16, 2, x + y, U16_RANGE)
PK_INT(v_pk_sub_u16, 2, (int64_t)x - (int64_t)y, U16_RANGE)
PK_INT(v_pk_mul_lo_u16, 2, x *y, U16_RANGE)
PK_INT(v_pk_mad_u16, 3, (int64_t)x *y + z, U16_RANGE)
PK_INT(v_pk_mad_i16, 3, (int64_t)i16(x) * i16(y) + i16(z), I16_RANGE)
PK_INT(v_pk_lshlrev_b16, 2, y << (x & 15) & 0xffff, U16_RANGE)
PK_INT(v_pk_lshrrev_b16, 2, y >> (x & 15), U16_RANGE)
PK_INT(v_pk_ashrrev_i16, 2, i16(y) >> (x & 15), I16_RANGE)
PK_INT(v_pk_max_i16, 2, i16(x) < i16(y) ? i16(y) : i16(x), I16_RANGE)
PK_INT(v_pk_min_i16, 2, i16(x) < i16(y) ? i16(x) : i16(y), I16_RANGE)
PK_INT(v_pk_max_u16, 2, x < y ? y : x, U16_RANGE)
PK_INT(v_pk_min_u16, 2, x < y ? x : y, U16_RANGE)
