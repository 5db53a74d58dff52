/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dot products of packed elements plus an addend. The integer sums are exact, then wrapped or
 * (clamp) limited. The f16 and bf16 forms sum in f32: how the hardware rounds within is not
 * documented; here the exact sum, kept in double, is rounded once. Their denormals follow MODE's
 * f32 field. The c-forms (v_dot2c_*) add to the destination.
 */
#include "alu_lanes.h"

static inline int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : (value > high ? high : value);
}

/* Element i, `bits` wide, signed or not. */
static inline int64_t element(uint32_t x, unsigned i, unsigned bits, bool is_signed)
{
    uint32_t field = x >> bits * i & ((1U << bits) - 1);
    uint32_t top = 1U << (bits - 1);
    return is_signed ? (int64_t)(int32_t)((field ^ top) - top) : (int64_t)field;
}

static inline int64_t signs_of(const struct emu_alu *alu, unsigned i, unsigned half)
{
    return (half == 0 ? alu->neg : alu->neg_hi) >> i & 1;
}

static inline void dot_int(struct emu_alu *alu, const uint32_t *addend, unsigned bits,
                           bool is_signed)
{
    bool clamp = alu->clamp, halves = bits == 16 && addend != alu->dst;
    EMU_EACH(l)
    {
        uint32_t x = alu->src[0][l], y = alu->src[1][l];
        if (halves) { /* op_sel, op_sel_hi choose the halves that meet */
            unsigned xl = alu->op_sel & 1 ? 16 : 0, xh = alu->op_sel_hi & 1 ? 16 : 0;
            unsigned yl = alu->op_sel & 2 ? 16 : 0, yh = alu->op_sel_hi & 2 ? 16 : 0;
            x = (x >> xl & 0xffff) | (x >> xh & 0xffff) << 16;
            y = (y >> yl & 0xffff) | (y >> yh & 0xffff) << 16;
        }
        int64_t sum = is_signed ? (int64_t)(int32_t)addend[l] : (int64_t)addend[l];
        for (unsigned i = 0; i < 32 / bits; i++) {
            sum += element(x, i, bits, is_signed) * element(y, i, bits, is_signed);
        }
        int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : (int64_t)UINT32_MAX;
        alu->dst[l] = (uint32_t)(clamp ? limit(sum, low, high) : sum);
    }
}

#define DOT_INT(name, bits, is_signed)                                                             \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        dot_int(alu, alu->src[2], bits, is_signed);                                                \
    }

#define DOTC_INT(name, bits)                                                                       \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        dot_int(alu, alu->dst, bits, true);                                                        \
    }

DOT_INT(v_dot2_i32_i16, 16, true)
DOT_INT(v_dot2_u32_u16, 16, false)
DOT_INT(v_dot4_i32_i8, 8, true)
DOT_INT(v_dot4_u32_u8, 8, false)
DOT_INT(v_dot8_i32_i4, 4, true)
DOT_INT(v_dot8_u32_u4, 4, false)
DOTC_INT(v_dot2c_i32_i16, 16)
DOTC_INT(v_dot4c_i32_i8, 8)
DOTC_INT(v_dot8c_i32_i4, 4)

static inline double half_value(const struct emu_alu *alu, unsigned i, unsigned half, int lane,
                                bool bf16, bool packed)
{
    unsigned pick = packed ? (half == 0 ? alu->op_sel : alu->op_sel_hi) >> i & 1U : half;
    uint32_t code = alu->src[i][lane] >> 16 * pick & 0xffff;
    double value = (double)(bf16 ? numeric_bf16(code) : numeric_f16(code));
    bool neg = packed ? signs_of(alu, i, half) != 0 : (alu->neg >> i & 1) != 0;
    value = !packed && (alu->abs >> i & 1) != 0 && value < 0 ? -value : value;
    return neg ? -value : value;
}

static inline void dot_float(struct emu_alu *alu, const uint32_t *addend, bool bf16, bool packed)
{
    EMU_ROW_ALIGN float out[EMU_LANES];
    EMU_EACH(l)
    {
        double sum =
            half_value(alu, 0, 0, l, bf16, packed) * half_value(alu, 1, 0, l, bf16, packed);
        sum += half_value(alu, 0, 1, l, bf16, packed) * half_value(alu, 1, 1, l, bf16, packed);
        out[l] = (float)(sum + (double)numeric_f32(addend[l]));
    }
    emu_put_f32(alu, out);
}

static const uint32_t *float_addend(const struct emu_alu *alu, uint32_t *buf)
{
    struct emu_alu view = {
        .src = {alu->src[2]}, .denorm32 = alu->denorm32, .neg = alu->neg >> 2 & 1};
    return emu_src_f32(&view, 0, buf);
}

EMU_OP(v_dot2_f32_f16)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    dot_float(alu, float_addend(alu, buf), false, true);
}

EMU_OP(v_dot2_f32_bf16)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    dot_float(alu, float_addend(alu, buf), true, true);
}

EMU_OP(v_dot2c_f32_f16)
{
    dot_float(alu, alu->dst, false, false);
}

EMU_OP(v_dot2c_f32_bf16)
{
    dot_float(alu, alu->dst, true, false);
}
