/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions between f64, f32, f16, bf16 and integers. Float to integer truncates, saturates and
 * turns NaN into 0.
 */
#include "alu_lanes.h"

#include <math.h>

/* f32 source a (as double) to 32 result bits. */
#define FROM_F32(name, expr)                                                                       \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[EMU_LANES];                                                     \
        const uint32_t *s0 = emu_src_f32(alu, 0, buf);                                             \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = (double)numeric_f32(s0[l]);                                                 \
            dst[l] = (uint32_t)(expr);                                                             \
        }                                                                                          \
    }

/* Bits of source 0 as x to an f32 result, rounded as MODE says. */
#define TO_F32(name, expr)                                                                         \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN float out[EMU_LANES];                                                        \
        const uint32_t *s0 = alu->src[0];                                                          \
        int saved = emu_round_begin(alu->round32);                                                 \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l];                                                                    \
            out[l] = (float)(expr);                                                                \
        }                                                                                          \
        emu_round_end(saved);                                                                      \
        emu_put_f32(alu, out);                                                                     \
    }

static inline int32_t to_i32(double x)
{
    double t = x > -2147483648.0 ? x : -2147483648.0;
    t = t < 2147483647.0 ? t : 2147483647.0;
    return x == x ? (int32_t)t : 0;
}

static inline uint32_t to_u32(double x)
{
    double t = x > 0.0 ? x : 0.0;
    t = t < 4294967295.0 ? t : 4294967295.0;
    /* through the signed conversion, which vectorises */
    bool high = t >= 2147483648.0;
    uint32_t bits = (uint32_t)(int32_t)(high ? t - 2147483648.0 : t);
    return high ? bits | 0x80000000U : bits;
}

static inline int64_t bounded(double x, double low, double high)
{
    double t = x > low ? x : low;
    t = t < high ? t : high;
    return x == x ? (int64_t)t : 0;
}

FROM_F32(v_cvt_i32_f32, to_i32(a))
FROM_F32(v_cvt_u32_f32, to_u32(a))
FROM_F32(v_cvt_flr_i32_f32, to_i32(floor(a)))
FROM_F32(v_cvt_rpi_i32_f32, to_i32(floor(a + 0.5)))

TO_F32(v_cvt_f32_i32, (int32_t)x)
TO_F32(v_cvt_f32_u32, x)
TO_F32(v_cvt_f32_ubyte0, x & 0xff)
TO_F32(v_cvt_f32_ubyte1, x >> 8 & 0xff)
TO_F32(v_cvt_f32_ubyte2, x >> 16 & 0xff)
TO_F32(v_cvt_f32_ubyte3, x >> 24)
/* -0.5 .. 0.4375 in sixteenths: the low four bits as a signed number */
TO_F32(v_cvt_off_f32_i4, (float)((int32_t)(x << 28) >> 28) * 0.0625F)

EMU_OP(v_cvt_f32_f16)
{
    EMU_ROW_ALIGN double half[EMU_LANES];
    EMU_ROW_ALIGN float out[EMU_LANES];
    emu_src_f16(alu, 0, half);
    EMU_EACH(l)
    {
        out[l] = (float)half[l];
    }
    emu_put_f32(alu, out);
}

EMU_OP(v_cvt_f32_bf16)
{
    EMU_ROW_ALIGN uint32_t half[EMU_LANES];
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    EMU_ROW_ALIGN float out[EMU_LANES];
    emu_src_b16(alu, 0, half);
    EMU_EACH(l)
    {
        half[l] <<= 16;
    }
    struct emu_alu view = {
        .src = {half}, .neg = alu->neg, .abs = alu->abs, .denorm32 = alu->denorm32};
    const uint32_t *bits = emu_src_f32(&view, 0, buf);
    EMU_EACH(l)
    {
        out[l] = numeric_f32(bits[l]);
    }
    emu_put_f32(alu, out);
}

static void wide_f32(const struct emu_alu *alu, unsigned i, double *out)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    const uint32_t *bits = emu_src_f32(alu, i, buf);
    EMU_EACH(l)
    {
        out[l] = (double)numeric_f32(bits[l]);
    }
}

EMU_OP(v_cvt_f16_f32)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    wide_f32(alu, 0, out);
    emu_put_f16(alu, out, false);
}

/* Two f32 to two f16 in one register, with a rounding of their own. */
static void pack_f16(struct emu_alu *alu, unsigned round)
{
    EMU_ROW_ALIGN double value[EMU_LANES];
    EMU_ROW_ALIGN uint32_t code[2][EMU_LANES];
    struct emu_alu view = *alu;
    view.round16_64 = (uint8_t)round;
    for (unsigned i = 0; i < 2; i++) {
        wide_f32(alu, i, value);
        emu_round_f16(&view, value, code[i]);
    }
    EMU_EACH(l)
    {
        alu->dst[l] = code[0][l] | code[1][l] << 16;
    }
}

EMU_OP(v_cvt_pk_f16_f32)
{
    pack_f16(alu, NUMERIC_NEAREST);
}

EMU_OP(v_cvt_pkrtz_f16_f32)
{
    pack_f16(alu, NUMERIC_ZERO);
}

EMU_OP(v_cvt_pk_bf16_f32)
{
    EMU_ROW_ALIGN uint32_t buf[2][EMU_LANES];
    const uint32_t *s0 = emu_src_f32(alu, 0, buf[0]), *s1 = emu_src_f32(alu, 1, buf[1]);
    uint32_t *dst = alu->dst;
    EMU_EACH(l)
    {
        dst[l] = numeric_bf16_bits(numeric_f32(s0[l])) | numeric_bf16_bits(numeric_f32(s1[l]))
                                                             << 16;
    }
}

/* Stochastic rounding: source 1 is the random number, its high bits act. */
EMU_OP(v_cvt_sr_f16_f32)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES], out[EMU_LANES];
    const uint32_t *s0 = emu_src_f32(alu, 0, buf);
    const uint32_t *random = alu->src[1];
    bool saturate = (alu->mode & EMU_MODE_OVFL) != 0;
    EMU_EACH(l)
    {
        out[l] =
            numeric_encode(s0[l], 0, NUMERIC_F16, NUMERIC_STOCHASTIC, random[l], saturate, false);
    }
    emu_put_b16(alu, out, true);
}

EMU_OP(v_cvt_sr_bf16_f32)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES], out[EMU_LANES];
    const uint32_t *s0 = emu_src_f32(alu, 0, buf);
    const uint32_t *random = alu->src[1];
    EMU_EACH(l)
    {
        uint32_t bits = s0[l], finite = (bits & 0x7f800000U) != 0x7f800000U;
        uint32_t quiet = emu_is_nan32(bits) ? 0x400000U : 0;
        out[l] = (bits + (finite ? random[l] >> 16 : quiet)) >> 16;
        out[l] = emu_is_nan32(bits) ? bits >> 16 | 0x40 : out[l];
    }
    emu_put_b16(alu, out, true);
}

/* --- f64 --- */

#define FROM_F64(name, expr)                                                                       \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s0[EMU_LANES];                                                        \
        emu_src_f64(alu, 0, s0);                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s0[l];                                                                      \
            alu->dst[l] = (uint32_t)(expr);                                                        \
        }                                                                                          \
    }

FROM_F64(v_cvt_i32_f64, to_i32(a))
FROM_F64(v_cvt_u32_f64, to_u32(a))

EMU_OP(v_cvt_f32_f64)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    EMU_ROW_ALIGN float out[EMU_LANES];
    emu_src_f64(alu, 0, s0);
    int saved = emu_round_begin(alu->round32);
    EMU_EACH(l)
    {
        out[l] = (float)s0[l];
    }
    emu_round_end(saved);
    emu_put_f32(alu, out);
}

EMU_OP(v_cvt_f64_f32)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    wide_f32(alu, 0, out);
    emu_put_f64(alu, out);
}

EMU_OP(v_cvt_f64_i32)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    EMU_EACH(l)
    {
        out[l] = (double)(int32_t)alu->src[0][l];
    }
    emu_put_f64(alu, out);
}

EMU_OP(v_cvt_f64_u32)
{
    EMU_ROW_ALIGN double out[EMU_LANES];
    EMU_EACH(l)
    {
        out[l] = (double)alu->src[0][l];
    }
    emu_put_f64(alu, out);
}

/* --- 16-bit integers --- */

#define FROM_F16(name, expr)                                                                       \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s0[EMU_LANES];                                                        \
        EMU_ROW_ALIGN uint32_t out[EMU_LANES];                                                     \
        emu_src_f16(alu, 0, s0);                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            double a = s0[l];                                                                      \
            out[l] = (uint32_t)(expr) & 0xffff;                                                    \
        }                                                                                          \
        emu_put_b16(alu, out, false);                                                              \
    }

/* Normalised: +-1 (or 0..1) to the integer's range, to nearest even. */
static inline uint32_t snorm16(double x)
{
    return (uint32_t)bounded(rint(x * 32767.0), -32767.0, 32767.0) & 0xffff;
}

static inline uint32_t unorm16(double x)
{
    return (uint32_t)bounded(rint(x * 65535.0), 0.0, 65535.0);
}

FROM_F16(v_cvt_i16_f16, bounded(a, -32768.0, 32767.0))
FROM_F16(v_cvt_u16_f16, bounded(a, 0.0, 65535.0))
FROM_F16(v_cvt_norm_i16_f16, snorm16(a))
FROM_F16(v_cvt_norm_u16_f16, unorm16(a))

#define TO_F16(name, expr)                                                                         \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t s0[EMU_LANES];                                                      \
        EMU_ROW_ALIGN double out[EMU_LANES];                                                       \
        emu_src_b16(alu, 0, s0);                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l];                                                                    \
            out[l] = (double)(expr);                                                               \
        }                                                                                          \
        emu_put_f16(alu, out, false);                                                              \
    }

TO_F16(v_cvt_f16_u16, x)
TO_F16(v_cvt_f16_i16, (int16_t)x)

#define PKNORM(name, load, norm)                                                                   \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN double s[2][EMU_LANES];                                                      \
        load(alu, 0, s[0]);                                                                        \
        load(alu, 1, s[1]);                                                                        \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            alu->dst[l] = norm(s[0][l]) | norm(s[1][l]) << 16;                                     \
        }                                                                                          \
    }

PKNORM(v_cvt_pknorm_i16_f32, wide_f32, snorm16)
PKNORM(v_cvt_pknorm_u16_f32, wide_f32, unorm16)
PKNORM(v_cvt_pknorm_i16_f16, emu_src_f16, snorm16)
PKNORM(v_cvt_pknorm_u16_f16, emu_src_f16, unorm16)

/* f32 to one byte of a dword: of source 2 (pk) or of the old result (pkaccum); source 1 says which
 * byte. Truncated and saturated as the wider conversions. */
static void pack_byte(struct emu_alu *alu, const uint32_t *rest)
{
    EMU_ROW_ALIGN double s0[EMU_LANES];
    wide_f32(alu, 0, s0);
    EMU_EACH(l)
    {
        unsigned shift = 8 * (alu->src[1][l] & 3);
        uint32_t byte = (uint32_t)bounded(s0[l], 0.0, 255.0);
        alu->dst[l] = (rest[l] & ~(0xffU << shift)) | byte << shift;
    }
}

EMU_OP(v_cvt_pk_u8_f32)
{
    pack_byte(alu, alu->src[2]);
}

EMU_OP(v_cvt_pkaccum_u8_f32)
{
    pack_byte(alu, alu->dst);
}
