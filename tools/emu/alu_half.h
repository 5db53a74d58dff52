/* SPDX-License-Identifier: Apache-2.0 */
/* f16 compares and selections on codes, shared by the scalar and the packed forms. */
#ifndef EMU_ALU_HALF_H
#define EMU_ALU_HALF_H

#include "alu_lanes.h"

static inline bool emu_is_nan16(uint32_t x)
{
    return (x & 0x7fff) > 0x7c00;
}

static inline bool emu_is_snan16(uint32_t x)
{
    return emu_is_nan16(x) && (x & 0x200) == 0;
}

/* Order of the codes as numbers. */
static inline int32_t emu_key16(uint32_t x)
{
    return emu_key32(x << 16);
}

static inline uint32_t emu_min16(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = emu_key16(a) < emu_key16(b) ? a : b;
    r = emu_is_nan16(b) ? a : r;
    r = emu_is_nan16(a) ? b : r;
    r = ieee && emu_is_snan16(b) ? b | 0x200 : r;
    return ieee && emu_is_snan16(a) ? a | 0x200 : r;
}

static inline uint32_t emu_max16(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = emu_key16(a) < emu_key16(b) ? b : a;
    r = emu_is_nan16(b) ? a : r;
    r = emu_is_nan16(a) ? b : r;
    r = ieee && emu_is_snan16(b) ? b | 0x200 : r;
    return ieee && emu_is_snan16(a) ? a | 0x200 : r;
}

static inline uint32_t emu_minimum16(uint32_t a, uint32_t b)
{
    uint32_t r = emu_key16(a) < emu_key16(b) ? a : b;
    r = emu_is_nan16(b) ? b | 0x200 : r;
    return emu_is_nan16(a) ? a | 0x200 : r;
}

static inline uint32_t emu_maximum16(uint32_t a, uint32_t b)
{
    uint32_t r = emu_key16(a) < emu_key16(b) ? b : a;
    r = emu_is_nan16(b) ? b | 0x200 : r;
    return emu_is_nan16(a) ? a | 0x200 : r;
}

static inline uint32_t emu_med16(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    bool nan = emu_is_nan16(a) || emu_is_nan16(b) || emu_is_nan16(c);
    uint32_t least = emu_min16(emu_min16(a, b, ieee), c, ieee);
    int32_t ka = emu_key16(a), kb = emu_key16(b), kc = emu_key16(c);
    uint32_t low = ka < kb ? a : b, high = ka < kb ? b : a;
    uint32_t top = emu_key16(high) < kc ? high : c;
    uint32_t middle = emu_key16(low) < emu_key16(top) ? top : low;
    return nan ? least : middle;
}

/* Codes of a row's halves (shift 0 or 16) with modifiers, flushed as MODE says. */
static inline void emu_half_bits(const struct emu_alu *alu, const uint32_t *row, unsigned shift,
                                 bool abs, bool neg, uint32_t *buf)
{
    bool flush = (alu->denorm16_64 & 1) == 0;
    EMU_EACH(l)
    {
        uint32_t bits = row[l] >> shift & 0xffff;
        bits = flush && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
        buf[l] = (bits & (abs ? 0x7fff : 0xffff)) ^ (neg ? 0x8000 : 0);
    }
}

#endif
