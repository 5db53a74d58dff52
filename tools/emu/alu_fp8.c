/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions from and to fp8, bf8, fp6, bf6 and fp4. The unscaled ones follow the target's dialect
 * (FNUZ or OCP), the v_cvt_scalef32_* family is OCP. A scale is the exponent field of an f32: e
 * stands for 2^(e-127), 255 for NaN; packing divides by it, unpacking multiplies. Packing rounds
 * once, to nearest even or stochastically; FP16_OVFL makes overflow (Inf included) saturate. fp6,
 * bf6 and fp4 have no special codes: they always saturate, NaN too (not specified). Stochastic
 * rounding adds the random number's high bits below the kept mantissa and truncates; a pack of
 * several values steps the random number with v_prng_b32 from one to the next.
 */
#include "alu_lanes.h"

enum element { ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16 };

static inline bool saturates(const struct emu_alu *alu)
{
    return (alu->mode & EMU_MODE_OVFL) != 0;
}

static inline uint32_t next_random(uint32_t x)
{
    return x << 1 ^ (x >> 31 != 0 ? 197 : 0);
}

static inline int scale_exponent(uint32_t scale)
{
    return (int)(scale >> 23 & 0xff);
}

/* f32 bits of element i of a packed source. */
static inline __attribute__((always_inline)) uint32_t load_element(const uint32_t *rows, int lane,
                                                                   unsigned i, enum element type)
{
    if (type == ELEMENT_F32) {
        return rows[i * EMU_LANES + (unsigned)lane];
    }
    uint32_t half = rows[(i >> 1) * EMU_LANES + (unsigned)lane] >> 16 * (i & 1) & 0xffff;
    return type == ELEMENT_F16 ? numeric_f32_bits(numeric_f16(half)) : half << 16;
}

static inline __attribute__((always_inline)) uint32_t encode_scaled(uint32_t bits, uint32_t scale,
                                                                    struct numeric_format f,
                                                                    enum numeric_round round,
                                                                    uint32_t random, bool saturate)
{
    int e = scale_exponent(scale);
    bits = e == 255 ? 0x7fc00000U : bits;
    return numeric_encode(bits, 127 - e, f, round, random, saturate, true);
}

/* Code times the scale, exactly. */
static inline __attribute__((always_inline)) double decode_scaled(uint32_t code, uint32_t scale,
                                                                  struct numeric_format f)
{
    int e = scale_exponent(scale);
    double value = (double)numeric_decode(code, f) * numeric_pow2(e - 127);
    return e == 255 ? numeric_f64(0x7ff8000000000000ULL) : value;
}

/* The 16-bit code or the f32 of an exact value, to nearest even. */
static inline __attribute__((always_inline)) uint32_t narrow(double value, enum element type,
                                                             bool saturate)
{
    if (type == ELEMENT_F32) {
        return numeric_f32_bits((float)value);
    }
    float odd = numeric_odd(value);
    if (type == ELEMENT_F16) {
        return numeric_encode(numeric_f32_bits(odd), 0, NUMERIC_F16, NUMERIC_NEAREST, 0, saturate,
                              false);
    }
    return numeric_bf16_bits(odd);
}

static inline void put_bits(uint32_t *dst, int lane, unsigned shift, uint32_t mask, uint32_t value)
{
    dst[lane] = (dst[lane] & ~(mask << shift)) | value << shift;
}

/* --- unscaled, in the target's dialect --- */

#define UNPACK(name, ocp, fnuz_format)                                                             \
    EMU_OP(v_cvt_f32_##name)                                                                       \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0];                                                          \
        EMU_ROW_ALIGN float out[EMU_LANES];                                                        \
        bool fnuz = alu->fnuz;                                                                     \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t code = s0[l] & 0xff;                                                          \
            out[l] = fnuz ? numeric_decode(code, fnuz_format) : numeric_decode(code, ocp);         \
        }                                                                                          \
        emu_put_f32(alu, out);                                                                     \
    }                                                                                              \
    EMU_OP(v_cvt_pk_f32_##name)                                                                    \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0];                                                          \
        EMU_ROW_ALIGN float out[2][EMU_LANES];                                                     \
        bool fnuz = alu->fnuz;                                                                     \
        unsigned word = alu->op_sel & 1 ? 16 : 0;                                                  \
        for (unsigned i = 0; i < 2; i++) {                                                         \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                uint32_t code = s0[l] >> (word + 8 * i) & 0xff;                                    \
                out[i][l] = fnuz ? numeric_decode(code, fnuz_format) : numeric_decode(code, ocp);  \
            }                                                                                      \
        }                                                                                          \
        emu_put_f32_row(alu, out[0], alu->dst);                                                    \
        emu_put_f32_row(alu, out[1], alu->dst + EMU_LANES);                                        \
    }

UNPACK(fp8, NUMERIC_FP8_OCP, NUMERIC_FP8_FNUZ)
UNPACK(bf8, NUMERIC_BF8_OCP, NUMERIC_BF8_FNUZ)

EMU_CLONES static void encode_row(const uint32_t *bits, bool saturate, bool fnuz, bool bf8,
                                  uint32_t *codes)
{
#define ENCODE(format)                                                                             \
    EMU_EACH(l)                                                                                    \
    {                                                                                              \
        codes[l] = numeric_encode(bits[l], 0, format, NUMERIC_NEAREST, 0, saturate, true);         \
    }
    if (fnuz && bf8) {
        ENCODE(NUMERIC_BF8_FNUZ)
    } else if (fnuz) {
        ENCODE(NUMERIC_FP8_FNUZ)
    } else if (bf8) {
        ENCODE(NUMERIC_BF8_OCP)
    } else {
        ENCODE(NUMERIC_FP8_OCP)
    }
#undef ENCODE
}

/* Two codes into the low or the high word; the other word is kept. */
static void pack_two(struct emu_alu *alu, bool bf8)
{
    EMU_ROW_ALIGN uint32_t buf[EMU_LANES];
    EMU_ROW_ALIGN uint32_t code[2][EMU_LANES];
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t *s = emu_src_f32(alu, i, buf);
        encode_row(s, saturates(alu), alu->fnuz, bf8, code[i]);
    }
    EMU_EACH(l)
    {
        code[0][l] |= code[1][l] << 8;
    }
    emu_put_b16(alu, code[0], true);
}

EMU_OP(v_cvt_pk_fp8_f32)
{
    pack_two(alu, false);
}

EMU_OP(v_cvt_pk_bf8_f32)
{
    pack_two(alu, true);
}

#define SR_BYTE(name, ocp, fnuz_format)                                                            \
    EMU_OP(v_cvt_sr_##name##_f32)                                                                  \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[EMU_LANES];                                                     \
        const uint32_t *s0 = emu_src_f32(alu, 0, buf), *random = alu->src[1];                      \
        bool saturate = saturates(alu), fnuz = alu->fnuz;                                          \
        unsigned shift = 8 * (alu->op_sel >> 2 & 3);                                               \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t code = fnuz ? numeric_encode(s0[l], 0, fnuz_format, NUMERIC_STOCHASTIC,       \
                                                  random[l], saturate, true)                       \
                                 : numeric_encode(s0[l], 0, ocp, NUMERIC_STOCHASTIC, random[l],    \
                                                  saturate, true);                                 \
            put_bits(dst, l, shift, 0xff, code);                                                   \
        }                                                                                          \
    }

SR_BYTE(fp8, NUMERIC_FP8_OCP, NUMERIC_FP8_FNUZ)
SR_BYTE(bf8, NUMERIC_BF8_OCP, NUMERIC_BF8_FNUZ)

/* --- scaled, packing: two elements to 8-bit codes in a word, or to 4-bit codes in a byte --- */

/* first, second: rows holding the elements as `type`; element indices 0 and `index1`. */
#define PACK_PAIR(name, type, second, index1, scale, format, width, shift_expr)                    \
    EMU_OP(v_cvt_scalef32_##name)                                                                  \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[2][EMU_LANES], low[EMU_LANES], high[EMU_LANES];                 \
        bool f32 = (type) == ELEMENT_F32;                                                          \
        const uint32_t *s0 = f32 ? emu_src_b32(alu, 0, buf[0]) : alu->src[0];                      \
        const uint32_t *s1 = f32 ? emu_src_b32(alu, second, buf[1]) : alu->src[0];                 \
        const uint32_t *s2 = alu->src[scale];                                                      \
        bool saturate = saturates(alu);                                                            \
        unsigned shift = (shift_expr);                                                             \
        uint32_t mask = (1U << 2 * (width)) - 1;                                                   \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            low[l] = encode_scaled(load_element(s0, l, 0, type), s2[l], format, NUMERIC_NEAREST,   \
                                   0, saturate);                                                   \
        }                                                                                          \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            high[l] = encode_scaled(load_element(s1, l, index1, type), s2[l], format,              \
                                    NUMERIC_NEAREST, 0, saturate);                                 \
        }                                                                                          \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            put_bits(dst, l, shift, mask, low[l] | high[l] << (width));                            \
        }                                                                                          \
    }

#define DST_WORD (alu->op_sel & 8 ? 16 : 0)
#define DST_BYTE (8 * (alu->op_sel >> 2 & 3))

PACK_PAIR(pk_fp8_f32, ELEMENT_F32, 1, 0, 2, NUMERIC_FP8_OCP, 8, DST_WORD)
PACK_PAIR(pk_bf8_f32, ELEMENT_F32, 1, 0, 2, NUMERIC_BF8_OCP, 8, DST_WORD)
PACK_PAIR(pk_fp8_f16, ELEMENT_F16, 0, 1, 1, NUMERIC_FP8_OCP, 8, DST_WORD)
PACK_PAIR(pk_bf8_f16, ELEMENT_F16, 0, 1, 1, NUMERIC_BF8_OCP, 8, DST_WORD)
PACK_PAIR(pk_fp8_bf16, ELEMENT_BF16, 0, 1, 1, NUMERIC_FP8_OCP, 8, DST_WORD)
PACK_PAIR(pk_bf8_bf16, ELEMENT_BF16, 0, 1, 1, NUMERIC_BF8_OCP, 8, DST_WORD)
PACK_PAIR(pk_fp4_f32, ELEMENT_F32, 1, 0, 2, NUMERIC_FP4, 4, DST_BYTE)
PACK_PAIR(pk_fp4_f16, ELEMENT_F16, 0, 1, 1, NUMERIC_FP4, 4, DST_BYTE)
PACK_PAIR(pk_fp4_bf16, ELEMENT_BF16, 0, 1, 1, NUMERIC_FP4, 4, DST_BYTE)

/* One element, stochastically, to a byte. */
#define PACK_SR(name, type, format)                                                                \
    EMU_OP(v_cvt_scalef32_sr_##name)                                                               \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t buf[EMU_LANES];                                                     \
        bool f32 = (type) == ELEMENT_F32;                                                          \
        const uint32_t *s0 = f32 ? emu_src_b32(alu, 0, buf) : alu->src[0];                         \
        unsigned index = !f32 ? alu->op_sel & 1 : 0;                                               \
        bool saturate = saturates(alu);                                                            \
        unsigned shift = DST_BYTE;                                                                 \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t code = encode_scaled(load_element(s0, l, index, type), alu->src[2][l],        \
                                          format, NUMERIC_STOCHASTIC, alu->src[1][l], saturate);   \
            put_bits(alu->dst, l, shift, 0xff, code);                                              \
        }                                                                                          \
    }

PACK_SR(fp8_f32, ELEMENT_F32, NUMERIC_FP8_OCP)
PACK_SR(bf8_f32, ELEMENT_F32, NUMERIC_BF8_OCP)
PACK_SR(fp8_f16, ELEMENT_F16, NUMERIC_FP8_OCP)
PACK_SR(bf8_f16, ELEMENT_F16, NUMERIC_BF8_OCP)
PACK_SR(fp8_bf16, ELEMENT_BF16, NUMERIC_FP8_OCP)
PACK_SR(bf8_bf16, ELEMENT_BF16, NUMERIC_BF8_OCP)

#define PACK_SR_FP4(name, type)                                                                    \
    EMU_OP(v_cvt_scalef32_sr_pk_fp4_##name)                                                        \
    {                                                                                              \
        unsigned shift = DST_BYTE;                                                                 \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t random = alu->src[1][l], scale = alu->src[2][l];                              \
            uint32_t low = encode_scaled(load_element(alu->src[0], l, 0, type), scale,             \
                                         NUMERIC_FP4, NUMERIC_STOCHASTIC, random, true);           \
            uint32_t high =                                                                        \
                encode_scaled(load_element(alu->src[0], l, 1, type), scale, NUMERIC_FP4,           \
                              NUMERIC_STOCHASTIC, next_random(random), true);                      \
            put_bits(alu->dst, l, shift, 0xff, low | high << 4);                                   \
        }                                                                                          \
    }

PACK_SR_FP4(f32, ELEMENT_F32)
PACK_SR_FP4(f16, ELEMENT_F16)
PACK_SR_FP4(bf16, ELEMENT_BF16)

/* --- scaled, unpacking --- */

/* Two codes of `width` bits from bit shift_expr on. */
#define UNPACK_PAIR(name, type, format, width, shift_expr)                                         \
    EMU_OP(v_cvt_scalef32_pk_##name)                                                               \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1];                                       \
        unsigned shift = (shift_expr);                                                             \
        uint32_t mask = (1U << (width)) - 1, *dst = alu->dst;                                      \
        bool saturate = saturates(alu);                                                            \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t pair = s0[l] >> shift, scale = s1[l];                                         \
            uint32_t low = narrow(decode_scaled(pair & mask, scale, format), type, saturate);      \
            uint32_t high =                                                                        \
                narrow(decode_scaled(pair >> (width) & mask, scale, format), type, saturate);      \
            if ((type) == ELEMENT_F32) {                                                           \
                dst[l] = low;                                                                      \
                dst[EMU_LANES + l] = high;                                                         \
            } else {                                                                               \
                dst[l] = low | high << 16;                                                         \
            }                                                                                      \
        }                                                                                          \
    }

#define SRC_WORD (alu->op_sel & 1 ? 16 : 0)
#define SRC_BYTE (8 * (alu->op_sel & 3))

UNPACK_PAIR(f32_fp8, ELEMENT_F32, NUMERIC_FP8_OCP, 8, SRC_WORD)
UNPACK_PAIR(f32_bf8, ELEMENT_F32, NUMERIC_BF8_OCP, 8, SRC_WORD)
UNPACK_PAIR(f16_fp8, ELEMENT_F16, NUMERIC_FP8_OCP, 8, SRC_WORD)
UNPACK_PAIR(f16_bf8, ELEMENT_F16, NUMERIC_BF8_OCP, 8, SRC_WORD)
UNPACK_PAIR(bf16_fp8, ELEMENT_BF16, NUMERIC_FP8_OCP, 8, SRC_WORD)
UNPACK_PAIR(bf16_bf8, ELEMENT_BF16, NUMERIC_BF8_OCP, 8, SRC_WORD)
UNPACK_PAIR(f32_fp4, ELEMENT_F32, NUMERIC_FP4, 4, SRC_BYTE)
UNPACK_PAIR(f16_fp4, ELEMENT_F16, NUMERIC_FP4, 4, SRC_BYTE)
UNPACK_PAIR(bf16_fp4, ELEMENT_BF16, NUMERIC_FP4, 4, SRC_BYTE)

#define UNPACK_ONE(name, type, format)                                                             \
    EMU_OP(v_cvt_scalef32_##name)                                                                  \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t out[EMU_LANES];                                                     \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1];                                       \
        unsigned shift = SRC_BYTE;                                                                 \
        bool saturate = saturates(alu);                                                            \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            out[l] = narrow(decode_scaled(s0[l] >> shift & 0xff, s1[l], format), type, saturate);  \
        }                                                                                          \
        if ((type) == ELEMENT_F32) {                                                               \
            memcpy(alu->dst, out, sizeof out);                                                     \
        } else {                                                                                   \
            emu_put_b16(alu, out, true);                                                           \
        }                                                                                          \
    }

UNPACK_ONE(f32_fp8, ELEMENT_F32, NUMERIC_FP8_OCP)
UNPACK_ONE(f32_bf8, ELEMENT_F32, NUMERIC_BF8_OCP)
UNPACK_ONE(f16_fp8, ELEMENT_F16, NUMERIC_FP8_OCP)
UNPACK_ONE(f16_bf8, ELEMENT_F16, NUMERIC_BF8_OCP)

/* --- 32 elements of six bits in six dwords, element 0 lowest --- */

static inline uint32_t get6(const uint32_t *rows, int lane, unsigned i)
{
    unsigned bit = 6 * i, word = bit / 32, shift = bit % 32;
    uint64_t pair = rows[word * EMU_LANES + (unsigned)lane];
    if (shift > 26) {
        pair |= (uint64_t)rows[(word + 1) * EMU_LANES + (unsigned)lane] << 32;
    }
    return (uint32_t)(pair >> shift) & 0x3f;
}

static inline void add6(uint32_t *words, unsigned i, uint32_t code)
{
    unsigned bit = 6 * i, word = bit / 32, shift = bit % 32;
    words[word] |= code << shift;
    if (shift > 26) {
        words[word + 1] |= code >> (32 - shift);
    }
}

/* What a packing of 32 reads: element i of source i % sources (2: the two are interleaved), or all
 * of source 0. */
struct pack6 {
    enum element type;
    unsigned sources;
    const uint32_t *scale, *random; /* random NULL: to nearest even */
};

static inline void pack6(struct emu_alu *alu, struct pack6 p, struct numeric_format format)
{
    EMU_EACH(l)
    {
        uint32_t words[6] = {0};
        uint32_t random = p.random != NULL ? p.random[l] : 0;
        enum numeric_round round = p.random != NULL ? NUMERIC_STOCHASTIC : NUMERIC_NEAREST;
        for (unsigned i = 0; i < 32; i++) {
            uint32_t bits = load_element(alu->src[i % p.sources], l, i / p.sources, p.type);
            add6(words, i, encode_scaled(bits, p.scale[l], format, round, random, true));
            random = next_random(random);
        }
        for (unsigned k = 0; k < 6; k++) {
            alu->dst[k * EMU_LANES + (unsigned)l] = words[k];
        }
    }
}

static inline void unpack6(struct emu_alu *alu, enum element type, struct numeric_format format)
{
    bool saturate = saturates(alu);
    EMU_EACH(l)
    {
        for (unsigned i = 0; i < 32; i++) {
            uint32_t code = get6(alu->src[0], l, i);
            uint32_t value = narrow(decode_scaled(code, alu->src[1][l], format), type, saturate);
            if (type == ELEMENT_F32) {
                alu->dst[i * EMU_LANES + (unsigned)l] = value;
            } else {
                uint32_t *word = &alu->dst[(i >> 1) * EMU_LANES + (unsigned)l];
                *word = i & 1 ? *word | value << 16 : value;
            }
        }
    }
}

#define PACK6(name, format)                                                                        \
    EMU_OP(v_cvt_scalef32_2xpk16_##name##_f32)                                                     \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_F32, 2, alu->src[2], NULL}, format);                     \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_pk32_##name##_f16)                                                       \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_F16, 1, alu->src[1], NULL}, format);                     \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_pk32_##name##_bf16)                                                      \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_BF16, 1, alu->src[1], NULL}, format);                    \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_sr_pk32_##name##_f32)                                                    \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_F32, 1, alu->src[2], alu->src[1]}, format);              \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_sr_pk32_##name##_f16)                                                    \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_F16, 1, alu->src[2], alu->src[1]}, format);              \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_sr_pk32_##name##_bf16)                                                   \
    {                                                                                              \
        pack6(alu, (struct pack6){ELEMENT_BF16, 1, alu->src[2], alu->src[1]}, format);             \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_pk32_f32_##name)                                                         \
    {                                                                                              \
        unpack6(alu, ELEMENT_F32, format);                                                         \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_pk32_f16_##name)                                                         \
    {                                                                                              \
        unpack6(alu, ELEMENT_F16, format);                                                         \
    }                                                                                              \
    EMU_OP(v_cvt_scalef32_pk32_bf16_##name)                                                        \
    {                                                                                              \
        unpack6(alu, ELEMENT_BF16, format);                                                        \
    }

PACK6(fp6, NUMERIC_FP6)
PACK6(bf6, NUMERIC_BF6)
