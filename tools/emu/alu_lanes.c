/* SPDX-License-Identifier: Apache-2.0 */
#include "alu_lanes.h"

#include <fenv.h>

/* FP_DENORM: bit 0 keeps denormal sources, bit 1 keeps denormal results. */
enum { DENORM_IN = 1, DENORM_OUT = 2 };

static inline uint32_t flush32(uint32_t bits)
{
    return (bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits;
}

EMU_CLONES static const uint32_t *modify32(const uint32_t *row, uint32_t *buf, uint32_t keep,
                                           uint32_t flip, bool flush)
{
    EMU_EACH(l)
    {
        uint32_t bits = row[l];
        bits = flush ? flush32(bits) : bits;
        buf[l] = (bits & keep) ^ flip;
    }
    return buf;
}

static const uint32_t *source32(const struct emu_alu *alu, unsigned i, uint32_t *buf, bool flush)
{
    bool abs = alu->abs >> i & 1, neg = alu->neg >> i & 1;
    if (!abs && !neg && !flush) {
        return alu->src[i];
    }
    return modify32(alu->src[i], buf, abs ? 0x7fffffffU : 0xffffffffU, neg ? 0x80000000U : 0,
                    flush);
}

const uint32_t *emu_src_f32(const struct emu_alu *alu, unsigned i, uint32_t *buf)
{
    return source32(alu, i, buf, (alu->denorm32 & DENORM_IN) == 0);
}

const uint32_t *emu_src_b32(const struct emu_alu *alu, unsigned i, uint32_t *buf)
{
    return source32(alu, i, buf, false);
}

const uint32_t *emu_src_trans(const struct emu_alu *alu, unsigned i, uint32_t *buf)
{
    return source32(alu, i, buf, true);
}

EMU_CLONES void emu_src_f64(const struct emu_alu *alu, unsigned i, double *buf)
{
    uint64_t keep = alu->abs >> i & 1 ? 0x7fffffffffffffffULL : ~0ULL;
    uint64_t flip = alu->neg >> i & 1 ? 1ULL << 63 : 0;
    bool flush = (alu->denorm16_64 & DENORM_IN) == 0;
    const uint32_t *rows = alu->src[i];
    EMU_EACH(l)
    {
        uint64_t bits = emu_row64(rows, l);
        bits = flush && (bits & 0x7ff0000000000000ULL) == 0 ? bits & 1ULL << 63 : bits;
        buf[l] = numeric_f64((bits & keep) ^ flip);
    }
}

EMU_CLONES void emu_half_f16(const struct emu_alu *alu, const uint32_t *row, unsigned shift,
                             bool abs, bool neg, double *buf)
{
    uint32_t keep = abs ? 0x7fff : 0xffff, flip = neg ? 0x8000 : 0;
    bool flush = (alu->denorm16_64 & DENORM_IN) == 0;
    EMU_EACH(l)
    {
        uint32_t bits = row[l] >> shift & 0xffff;
        bits = flush && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
        buf[l] = (double)numeric_f16((bits & keep) ^ flip);
    }
}

void emu_src_f16(const struct emu_alu *alu, unsigned i, double *buf)
{
    emu_half_f16(alu, alu->src[i], alu->op_sel >> i & 1 ? 16 : 0, alu->abs >> i & 1,
                 alu->neg >> i & 1, buf);
}

EMU_CLONES void emu_src_b16(const struct emu_alu *alu, unsigned i, uint32_t *buf)
{
    unsigned shift = alu->op_sel >> i & 1 ? 16 : 0;
    const uint32_t *row = alu->src[i];
    EMU_EACH(l)
    {
        buf[l] = row[l] >> shift & 0xffff;
    }
}

/* Output modifiers exist only where denormal results are flushed and IEEE mode is off; they turn -0
 * into +0. */
static float omod_factor(const struct emu_alu *alu, unsigned denorm)
{
    static const float factors[4] = {1.0F, 2.0F, 4.0F, 0.5F};
    bool ignored = (denorm & DENORM_OUT) != 0 || (alu->mode & EMU_MODE_IEEE) != 0;
    return ignored ? 1.0F : factors[alu->omod & 3];
}

EMU_CLONES static void finish32(float *out, float factor, bool flush, bool clamp, bool nan_to_zero)
{
    EMU_EACH(l)
    {
        float x = out[l];
        x = factor != 1.0F ? x * factor + 0.0F : x;
        uint32_t bits = numeric_f32_bits(x);
        bits = flush ? flush32(bits) : bits;
        x = numeric_f32(bits);
        float clamped = x > 0.0F ? x : 0.0F;
        clamped = clamped < 1.0F ? clamped : 1.0F;
        clamped = x != x && !nan_to_zero ? x : clamped;
        out[l] = clamp ? clamped : x;
    }
}

void emu_put_f32_row(struct emu_alu *alu, float *out, uint32_t *row)
{
    float factor = alu->omod != 0 ? omod_factor(alu, alu->denorm32) : 1.0F;
    bool flush = (alu->denorm32 & DENORM_OUT) == 0;
    if (flush || alu->clamp || factor != 1.0F) {
        finish32(out, factor, flush, alu->clamp, (alu->mode & EMU_MODE_DX10_CLAMP) != 0);
    }
    memcpy(row, out, EMU_LANES * sizeof *row);
}

void emu_put_f32(struct emu_alu *alu, float *out)
{
    emu_put_f32_row(alu, out, alu->dst);
}

static inline double clamp64(double x, bool nan_to_zero)
{
    double clamped = x > 0.0 ? x : 0.0;
    clamped = clamped < 1.0 ? clamped : 1.0;
    return x != x && !nan_to_zero ? x : clamped;
}

EMU_CLONES void emu_put_f64(struct emu_alu *alu, double *out)
{
    double factor = alu->omod != 0 ? (double)omod_factor(alu, alu->denorm16_64) : 1.0;
    bool flush = (alu->denorm16_64 & DENORM_OUT) == 0;
    bool nan_to_zero = (alu->mode & EMU_MODE_DX10_CLAMP) != 0;
    bool clamp = alu->clamp;
    uint32_t *rows = alu->dst;
    EMU_EACH(l)
    {
        double x = out[l];
        x = factor != 1.0 ? x * factor + 0.0 : x;
        uint64_t bits = numeric_f64_bits(x);
        bits = flush && (bits & 0x7ff0000000000000ULL) == 0 ? bits & 1ULL << 63 : bits;
        x = numeric_f64(bits);
        emu_put64(rows, l, numeric_f64_bits(clamp ? clamp64(x, nan_to_zero) : x));
    }
}

EMU_CLONES static void encode_f16_nearest(const double *out, double factor, bool saturate,
                                          uint32_t *codes)
{
    EMU_EACH(l)
    {
        double x = factor != 1.0 ? out[l] * factor + 0.0 : out[l];
        codes[l] = numeric_encode(numeric_f32_bits(numeric_odd(x)), 0, NUMERIC_F16, NUMERIC_NEAREST,
                                  0, saturate, false);
    }
}

static void encode_f16_directed(const double *out, double factor, unsigned round, bool saturate,
                                uint32_t *codes)
{
    EMU_EACH(l)
    {
        double x = factor != 1.0 ? out[l] * factor + 0.0 : out[l];
        codes[l] = numeric_encode(numeric_f32_bits(numeric_odd(x)), 0, NUMERIC_F16,
                                  (enum numeric_round)(round & 3), 0, saturate, false);
    }
}

EMU_CLONES static void finish_f16(uint32_t *codes, bool flush, bool clamp, bool nan_to_zero)
{
    EMU_EACH(l)
    {
        uint32_t c = codes[l];
        c = flush && (c & 0x7c00) == 0 ? c & 0x8000 : c;
        bool nan = (c & 0x7fff) > 0x7c00;
        uint32_t clamped = (c & 0x8000) != 0 ? 0 : (c > 0x3c00 ? 0x3c00 : c);
        clamped = nan ? (nan_to_zero ? 0 : c) : clamped;
        codes[l] = clamp ? clamped : c;
    }
}

void emu_round_f16(const struct emu_alu *alu, const double *out, uint32_t *codes)
{
    double factor = alu->omod != 0 ? (double)omod_factor(alu, alu->denorm16_64) : 1.0;
    bool saturate = (alu->mode & EMU_MODE_OVFL) != 0;
    if (alu->round16_64 == 0) {
        encode_f16_nearest(out, factor, saturate, codes);
    } else {
        encode_f16_directed(out, factor, alu->round16_64, saturate, codes);
    }
    bool flush = (alu->denorm16_64 & DENORM_OUT) == 0;
    if (flush || alu->clamp) {
        finish_f16(codes, flush, alu->clamp, (alu->mode & EMU_MODE_DX10_CLAMP) != 0);
    }
}

void emu_put_b16(struct emu_alu *alu, const uint32_t *out, bool keep)
{
    uint32_t *dst = alu->dst;
    if ((alu->op_sel & 8) != 0) {
        EMU_EACH(l)
        {
            dst[l] = (dst[l] & 0xffff) | out[l] << 16;
        }
        return;
    }
    uint32_t kept = keep ? 0xffff0000U : 0;
    EMU_EACH(l)
    {
        dst[l] = (dst[l] & kept) | (out[l] & 0xffff);
    }
}

void emu_put_f16(struct emu_alu *alu, const double *out, bool keep)
{
    EMU_ROW_ALIGN uint32_t codes[EMU_LANES];
    emu_round_f16(alu, out, codes);
    emu_put_b16(alu, codes, keep);
}

int emu_round_begin(unsigned mode)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (mode == 0) {
        return -1;
    }
    int saved = fegetround();
    fesetround(modes[mode & 3]);
    return saved;
}

void emu_round_end(int saved)
{
    if (saved >= 0) {
        fesetround(saved);
    }
}
