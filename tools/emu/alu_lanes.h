/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the families of lane arithmetic (alu_*.c, mfma.c) share: gathering of sources with their
 * modifiers, storing of results with theirs, rounding modes. The sources come back as a row to
 * read; it is the caller's own row when no modifier applies.
 */
#ifndef EMU_ALU_LANES_H
#define EMU_ALU_LANES_H

#include "alu.h"
#include "numeric.h"

/* Every lane loop is built twice, for AVX2 with FMA and for the baseline; both give the same
 * results. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_CLONES
#endif
#endif
#ifndef EMU_CLONES
#define EMU_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#else
#define EMU_CLONES
#endif

#define EMU_ROW_ALIGN _Alignas(64)

/* Every function of the table. */
#define SRC(...)
#define X(name, dst, src, flags) emu_alu_fn emu_##name;
#include "alu_table.h"
#undef X
#undef SRC

#define EMU_OP(name) EMU_CLONES void emu_##name(struct emu_alu *alu)

#define EMU_EACH(l) for (int l = 0; l < EMU_LANES; l++)

/* f32 source i with abs, neg and flushing of denormals applied; buf is used when any of them is
 * needed. */
const uint32_t *emu_src_f32(const struct emu_alu *alu, unsigned i, uint32_t *buf);
/* The same without flushing: bit moves that take float modifiers. */
const uint32_t *emu_src_b32(const struct emu_alu *alu, unsigned i, uint32_t *buf);
/* The same with denormals always flushed: the transcendental unit. */
const uint32_t *emu_src_trans(const struct emu_alu *alu, unsigned i, uint32_t *buf);
/* f64 source i (rows 2i, 2i+1 of its operand) into buf. */
void emu_src_f64(const struct emu_alu *alu, unsigned i, double *buf);
/* f16 source i, its half chosen by op_sel, widened. */
void emu_src_f16(const struct emu_alu *alu, unsigned i, double *buf);
/* Raw 16-bit source i, its half chosen by op_sel, zero-extended. */
void emu_src_b16(const struct emu_alu *alu, unsigned i, uint32_t *buf);
/* The float values of a row of f16 halves with modifiers (bit `shift` 0 or 16), flushed as MODE
 * says. */
void emu_half_f16(const struct emu_alu *alu, const uint32_t *row, unsigned shift, bool abs,
                  bool neg, double *buf);

/* Result rows: flush, omod, clamp; then to dst. */
void emu_put_f32(struct emu_alu *alu, float *out);
void emu_put_f32_row(struct emu_alu *alu, float *out, uint32_t *row);
void emu_put_f64(struct emu_alu *alu, double *out);
/* f16 results, given exactly or rounded to odd beyond f32: rounded once. The other half of dst is
 * kept when the result goes to the high half or `keep` is set, zero otherwise. */
void emu_put_f16(struct emu_alu *alu, const double *out, bool keep);
/* f16 codes of out after omod, clamp, rounding and flushing. */
void emu_round_f16(const struct emu_alu *alu, const double *out, uint32_t *codes);
void emu_put_b16(struct emu_alu *alu, const uint32_t *out, bool keep);

/* Sets the host's rounding mode; returns the one to restore with emu_round_end. */
int emu_round_begin(unsigned mode);
void emu_round_end(int saved);

static inline uint64_t emu_row64(const uint32_t *rows, int lane)
{
    return (uint64_t)rows[EMU_LANES + lane] << 32 | rows[lane];
}

static inline void emu_put64(uint32_t *rows, int lane, uint64_t value)
{
    rows[lane] = (uint32_t)value;
    rows[EMU_LANES + lane] = (uint32_t)(value >> 32);
}

/* A lane mask from a row of 0 / 1. */
static inline uint64_t emu_mask(const uint8_t *flags)
{
    uint64_t mask = 0;
    EMU_EACH(l)
    {
        mask |= (uint64_t)(flags[l] & 1) << l;
    }
    return mask;
}

/* Float compares and selections that the ISA spells out. */
static inline bool emu_is_nan32(uint32_t x)
{
    return (x & 0x7fffffffU) > 0x7f800000U;
}

/* Order of the bits as numbers: -0 below +0. */
static inline int32_t emu_key32(uint32_t x)
{
    return (int32_t)(x ^ ((uint32_t)((int32_t)x >> 31) & 0x7fffffffU));
}

static inline uint32_t emu_quiet32(uint32_t x)
{
    return x | 0x00400000U;
}

static inline bool emu_is_snan32(uint32_t x)
{
    return emu_is_nan32(x) & ((x & 0x00400000U) == 0); /* no branch: lane loops vectorise */
}

/* v_min_f32 / v_max_f32: a number wins over a NaN; with IEEE set a signalling NaN wins, made quiet.
 */
static inline uint32_t emu_min32(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = emu_key32(a) < emu_key32(b) ? a : b;
    r = emu_is_nan32(b) ? a : r;
    r = emu_is_nan32(a) ? b : r;
    r = (ieee & emu_is_snan32(b)) ? emu_quiet32(b) : r;
    return (ieee & emu_is_snan32(a)) ? emu_quiet32(a) : r;
}

static inline uint32_t emu_max32(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = emu_key32(a) < emu_key32(b) ? b : a;
    r = emu_is_nan32(b) ? a : r;
    r = emu_is_nan32(a) ? b : r;
    r = (ieee & emu_is_snan32(b)) ? emu_quiet32(b) : r;
    return (ieee & emu_is_snan32(a)) ? emu_quiet32(a) : r;
}

/* minimum / maximum of IEEE 754-2019: any NaN gives a quiet NaN. */
static inline uint32_t emu_minimum32(uint32_t a, uint32_t b)
{
    uint32_t r = emu_key32(a) < emu_key32(b) ? a : b;
    r = emu_is_nan32(b) ? emu_quiet32(b) : r;
    return emu_is_nan32(a) ? emu_quiet32(a) : r;
}

static inline uint32_t emu_maximum32(uint32_t a, uint32_t b)
{
    uint32_t r = emu_key32(a) < emu_key32(b) ? b : a;
    r = emu_is_nan32(b) ? emu_quiet32(b) : r;
    return emu_is_nan32(a) ? emu_quiet32(a) : r;
}

static inline uint32_t emu_med32(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    bool nan = emu_is_nan32(a) || emu_is_nan32(b) || emu_is_nan32(c);
    uint32_t least = emu_min32(emu_min32(a, b, ieee), c, ieee);
    int32_t ka = emu_key32(a), kb = emu_key32(b), kc = emu_key32(c);
    uint32_t low = ka < kb ? a : b, high = ka < kb ? b : a;
    uint32_t top = emu_key32(high) < kc ? high : c;
    uint32_t middle = emu_key32(low) < emu_key32(top) ? top : low;
    return nan ? least : middle;
}

#endif
