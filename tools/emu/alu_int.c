/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer, bit and move operations of 16, 32 and 64 bits. The integer clamp saturates to the range
 * of the result's type.
 */
#include "alu_lanes.h"

/* Unsigned 32-bit sources x, y, z; the expression is the result's 32 bits. */
#define B32_1(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0];                                                          \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l];                                                                    \
            dst[l] = (uint32_t)(expr);                                                             \
        }                                                                                          \
    }

#define B32_2(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1];                                       \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l];                                                         \
            dst[l] = (uint32_t)(expr);                                                             \
        }                                                                                          \
    }

#define B32_3(name, expr)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1], *s2 = alu->src[2];                    \
        uint32_t *dst = alu->dst;                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l], z = s2[l];                                              \
            dst[l] = (uint32_t)(expr);                                                             \
        }                                                                                          \
    }

static inline int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : (value > high ? high : value);
}

#define U32_RANGE 0, 0xffffffffLL
#define I32_RANGE (-0x80000000LL), 0x7fffffffLL
#define U16_RANGE 0, 0xffffLL
#define I16_RANGE (-0x8000LL), 0x7fffLL

/* `wide` is the exact result; `expr` the wrapped one. With clamp the exact one is limited to the
 * range. */
#define SAT_2(name, expr, wide, range)                                                             \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1];                                       \
        uint32_t *dst = alu->dst;                                                                  \
        if (alu->clamp) {                                                                          \
            EMU_EACH(l)                                                                            \
            {                                                                                      \
                uint32_t x = s0[l], y = s1[l];                                                     \
                dst[l] = (uint32_t)limit(wide, range);                                             \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l];                                                         \
            dst[l] = (uint32_t)(expr);                                                             \
        }                                                                                          \
    }

#define SAT_3(name, wide, range)                                                                   \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1], *s2 = alu->src[2];                    \
        uint32_t *dst = alu->dst;                                                                  \
        bool clamp = alu->clamp;                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s0[l], y = s1[l], z = s2[l];                                              \
            int64_t w = (wide);                                                                    \
            dst[l] = (uint32_t)(clamp ? limit(w, range) : w);                                      \
        }                                                                                          \
    }

static inline int64_t u32(uint32_t x)
{
    return (int64_t)(uint64_t)x;
}

static inline int64_t i32(uint32_t x)
{
    return (int32_t)x;
}

static inline uint32_t u24(uint32_t x)
{
    return x & 0xffffff;
}

static inline int32_t i24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

/* --- moves, logic, shifts --- */

B32_1(v_mov_b32, x)
B32_1(v_accvgpr_read_b32, x)
B32_1(v_accvgpr_write_b32, x)
B32_1(v_accvgpr_mov_b32, x)
B32_1(v_not_b32, ~x)
B32_2(v_and_b32, x &y)
B32_2(v_or_b32, x | y)
B32_2(v_xor_b32, x ^ y)
B32_2(v_xnor_b32, ~(x ^ y))
B32_2(v_lshlrev_b32, y << (x & 31))
B32_2(v_lshrrev_b32, y >> (x & 31))
B32_2(v_ashrrev_i32, (int32_t)y >> (x & 31))
B32_3(v_and_or_b32, (x & y) | z)
B32_3(v_or3_b32, x | y | z)
B32_3(v_lshl_or_b32, x << (y & 31) | z)
B32_3(v_lshl_add_u32, (x << (y & 31)) + z)
B32_3(v_add_lshl_u32, (x + y) << (z & 31))
B32_3(v_add3_u32, x + y + z)
B32_3(v_xad_u32, (x ^ y) + z)
B32_3(v_bfi_b32, (x & y) | (~x & z))
B32_3(v_bfe_u32, x >> (y & 31) & ((1U << (z & 31)) - 1))
B32_2(v_bfm_b32, ((1U << (x & 31)) - 1) << (y & 31))
B32_3(v_alignbit_b32, ((uint64_t)x << 32 | y) >> (z & 31))
B32_3(v_alignbyte_b32, ((uint64_t)x << 32 | y) >> 8 * (z & 3))

static inline uint32_t bfe_signed(uint32_t x, uint32_t offset, uint32_t width)
{
    uint32_t field = (uint32_t)((int32_t)x >> offset) & ((1U << width) - 1);
    uint32_t top = width != 0 ? 1U << (width - 1) : 0;
    return (field ^ top) - top;
}

B32_3(v_bfe_i32, bfe_signed(x, y & 31, z & 31))

EMU_OP(v_mov_b64)
{
    memcpy(alu->dst, alu->src[0], 2 * EMU_LANES * sizeof *alu->dst);
}

EMU_OP(v_pk_mov_b32)
{
    const uint32_t *low = alu->src[0] + (alu->op_sel & 1 ? EMU_LANES : 0);
    const uint32_t *high = alu->src[1] + (alu->op_sel & 2 ? EMU_LANES : 0);
    memcpy(alu->dst, low, EMU_LANES * sizeof *low);
    memcpy(alu->dst + EMU_LANES, high, EMU_LANES * sizeof *high);
}

EMU_OP(v_bfrev_b32)
{
    const uint32_t *s0 = alu->src[0];
    uint32_t *dst = alu->dst;
    EMU_EACH(l)
    {
        uint32_t x = s0[l];
        x = (x >> 1 & 0x55555555U) | (x & 0x55555555U) << 1;
        x = (x >> 2 & 0x33333333U) | (x & 0x33333333U) << 2;
        x = (x >> 4 & 0x0f0f0f0fU) | (x & 0x0f0f0f0fU) << 4;
        dst[l] = __builtin_bswap32(x);
    }
}

/* Bits from the top down to the first one that differs from `fill`'s; -1 when none does. */
static inline uint32_t leading(uint32_t x)
{
    return x != 0 ? (uint32_t)__builtin_clz(x) : 0xffffffffU;
}

B32_1(v_ffbh_u32, leading(x))
B32_1(v_ffbh_i32, leading(x ^ (uint32_t)((int32_t)x >> 31)))
B32_1(v_ffbl_b32, x != 0 ? (uint32_t)__builtin_ctz(x) : 0xffffffffU)
B32_2(v_bcnt_u32_b32, (uint32_t)__builtin_popcount(x) + y)

EMU_OP(v_mbcnt_lo_u32_b32)
{
    EMU_EACH(l)
    {
        uint32_t below = l < 32 ? (1U << l) - 1 : 0xffffffffU;
        alu->dst[l] = (uint32_t)__builtin_popcount(alu->src[0][l] & below) + alu->src[1][l];
    }
}

EMU_OP(v_mbcnt_hi_u32_b32)
{
    EMU_EACH(l)
    {
        uint32_t below = l >= 32 ? (1U << (l - 32)) - 1 : 0;
        alu->dst[l] = (uint32_t)__builtin_popcount(alu->src[0][l] & below) + alu->src[1][l];
    }
}

static inline uint32_t perm_byte(uint64_t data, uint32_t select)
{
    uint32_t byte = (uint32_t)(data >> 8 * (select & 7)) & 0xff;
    /* 8..11: the sign of bytes 1, 3, 5, 7; 12: zero; above: ones */
    uint32_t sign = (data >> (16 * (select & 3) + 15) & 1) != 0 ? 0xff : 0;
    uint32_t constant = select == 12 ? 0 : 0xff;
    return select < 8 ? byte : (select < 12 ? sign : constant);
}

EMU_OP(v_perm_b32)
{
    const uint32_t *s0 = alu->src[0], *s1 = alu->src[1], *s2 = alu->src[2];
    uint32_t *dst = alu->dst;
    EMU_EACH(l)
    {
        uint64_t data = (uint64_t)s0[l] << 32 | s1[l];
        uint32_t select = s2[l];
        dst[l] = perm_byte(data, select & 0xff) | perm_byte(data, select >> 8 & 0xff) << 8 |
                 perm_byte(data, select >> 16 & 0xff) << 16 | perm_byte(data, select >> 24) << 24;
    }
}

/* Bit 4x+2y+z of the table is the result for source bits x, y, z. */
static inline uint32_t bitop3(uint32_t x, uint32_t y, uint32_t z, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
        result |= table >> i & 1 ? term : 0;
    }
    return result;
}

EMU_OP(v_bitop3_b32)
{
    const uint32_t *s0 = alu->src[0], *s1 = alu->src[1], *s2 = alu->src[2];
    uint32_t *dst = alu->dst, table = alu->imm;
    EMU_EACH(l)
    {
        dst[l] = bitop3(s0[l], s1[l], s2[l], table);
    }
}

EMU_OP(v_bitop3_b16)
{
    EMU_ROW_ALIGN uint32_t s[3][EMU_LANES], out[EMU_LANES];
    for (unsigned i = 0; i < 3; i++) {
        emu_src_b16(alu, i, s[i]);
    }
    EMU_EACH(l)
    {
        out[l] = bitop3(s[0][l], s[1][l], s[2][l], alu->imm);
    }
    emu_put_b16(alu, out, true);
}

/* Float modifiers of the VOP3 form act on the bits, without flushing. */
EMU_OP(v_cndmask_b32)
{
    EMU_ROW_ALIGN uint32_t buf[2][EMU_LANES];
    const uint32_t *s0 = emu_src_b32(alu, 0, buf[0]), *s1 = emu_src_b32(alu, 1, buf[1]);
    uint32_t *dst = alu->dst;
    uint64_t mask = alu->carry_in;
    EMU_EACH(l)
    {
        dst[l] = mask >> l & 1 ? s1[l] : s0[l];
    }
}

/* The rows of src[0] of the swaps are writable by contract. */
static uint32_t *second_result(const struct emu_alu *alu)
{
    return (uint32_t *)(uintptr_t)alu->src[0];
}

EMU_OP(v_swap_b32)
{
    uint32_t *d = alu->dst, *s = second_result(alu);
    EMU_EACH(l)
    {
        uint32_t held = d[l];
        d[l] = s[l];
        s[l] = held;
    }
}

static void swap_halves(struct emu_alu *alu, int width)
{
    uint32_t *d = alu->dst, *s = second_result(alu);
    EMU_EACH(l)
    {
        if ((l & width) == 0) {
            uint32_t held = s[l];
            s[l] = d[l + width];
            d[l + width] = held;
        }
    }
}

EMU_OP(v_permlane16_swap_b32)
{
    swap_halves(alu, 16);
}

EMU_OP(v_permlane32_swap_b32)
{
    swap_halves(alu, 32);
}

B32_1(v_prng_b32, x << 1 ^ (x >> 31 != 0 ? 197 : 0))

/* --- adds, products --- */

SAT_2(v_add_u32, x + y, u32(x) + u32(y), U32_RANGE)
SAT_2(v_sub_u32, x - y, u32(x) - u32(y), U32_RANGE)
SAT_2(v_subrev_u32, y - x, u32(y) - u32(x), U32_RANGE)
SAT_2(v_add_i32, x + y, i32(x) + i32(y), I32_RANGE)
SAT_2(v_sub_i32, x - y, i32(x) - i32(y), I32_RANGE)

/* Carry or borrow as `wide`'s bit 32; clamp limits as above. */
#define CARRY(name, wide)                                                                          \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        const uint32_t *s0 = alu->src[0], *s1 = alu->src[1];                                       \
        uint32_t *dst = alu->dst;                                                                  \
        uint8_t carry[EMU_LANES];                                                                  \
        uint64_t in = alu->carry_in;                                                               \
        bool clamp = alu->clamp;                                                                   \
        (void)in;                                                                                  \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            int64_t x = u32(s0[l]), y = u32(s1[l]);                                                \
            int64_t w = (wide);                                                                    \
            carry[l] = (uint8_t)(w >> 32 & 1);                                                     \
            dst[l] = (uint32_t)(clamp ? limit(w, U32_RANGE) : w);                                  \
        }                                                                                          \
        alu->mask_out = emu_mask(carry);                                                           \
    }

CARRY(v_add_co_u32, x + y)
CARRY(v_sub_co_u32, x - y)
CARRY(v_subrev_co_u32, y - x)
CARRY(v_addc_co_u32, x + y + (int64_t)(in >> l & 1))
CARRY(v_subb_co_u32, x - y - (int64_t)(in >> l & 1))
CARRY(v_subbrev_co_u32, y - x - (int64_t)(in >> l & 1))

B32_2(v_mul_lo_u32, x *y)
B32_2(v_mul_hi_u32, (uint64_t)x *y >> 32)
B32_2(v_mul_hi_i32, (uint64_t)(i32(x) * i32(y)) >> 32)
B32_2(v_mul_u32_u24, u24(x) * u24(y))
B32_2(v_mul_hi_u32_u24, (uint64_t)u24(x) * u24(y) >> 32)
B32_2(v_mul_i32_i24, (int64_t)i24(x) * i24(y))
B32_2(v_mul_hi_i32_i24, (uint64_t)((int64_t)i24(x) * i24(y)) >> 32)
SAT_3(v_mad_u32_u24, u32(u24(x)) * u32(u24(y)) + u32(z), U32_RANGE)
SAT_3(v_mad_i32_i24, (int64_t)i24(x) * i24(y) + i32(z), I32_RANGE)

B32_2(v_min_i32, i32(x) < i32(y) ? x : y)
B32_2(v_max_i32, i32(x) < i32(y) ? y : x)
B32_2(v_min_u32, x < y ? x : y)
B32_2(v_max_u32, x < y ? y : x)

static inline uint32_t umin(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static inline uint32_t umax(uint32_t x, uint32_t y)
{
    return x < y ? y : x;
}

static inline uint32_t umed(uint32_t x, uint32_t y, uint32_t z)
{
    return umax(umin(x, y), umin(umax(x, y), z));
}

/* Signed order is unsigned order with the top bit flipped. */
#define FLIP 0x80000000U

B32_3(v_min3_u32, umin(umin(x, y), z))
B32_3(v_max3_u32, umax(umax(x, y), z))
B32_3(v_med3_u32, umed(x, y, z))
B32_3(v_min3_i32, umin(umin(x ^ FLIP, y ^ FLIP), z ^ FLIP) ^ FLIP)
B32_3(v_max3_i32, umax(umax(x ^ FLIP, y ^ FLIP), z ^ FLIP) ^ FLIP)
B32_3(v_med3_i32, umed(x ^ FLIP, y ^ FLIP, z ^ FLIP) ^ FLIP)

/* --- 64 bits --- */

EMU_OP(v_lshl_add_u64)
{
    EMU_EACH(l)
    {
        unsigned shift = alu->src[1][l] & 7; /* 0..4 act, more gives no shift */
        uint64_t x = emu_row64(alu->src[0], l) << (shift > 4 ? 0 : shift);
        emu_put64(alu->dst, l, x + emu_row64(alu->src[2], l));
    }
}

#define SHIFT64(name, expr)                                                                        \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            unsigned n = alu->src[0][l] & 63;                                                      \
            uint64_t x = emu_row64(alu->src[1], l);                                                \
            emu_put64(alu->dst, l, (uint64_t)(expr));                                              \
        }                                                                                          \
    }

SHIFT64(v_lshlrev_b64, x << n)
SHIFT64(v_lshrrev_b64, x >> n)
SHIFT64(v_ashrrev_i64, (int64_t)x >> n)

EMU_OP(v_mad_u64_u32)
{
    uint64_t mask = 0;
    EMU_EACH(l)
    {
        unsigned __int128 sum = (unsigned __int128)((uint64_t)alu->src[0][l] * alu->src[1][l]) +
                                emu_row64(alu->src[2], l);
        bool over = (sum >> 64) != 0;
        mask |= (uint64_t)over << l;
        emu_put64(alu->dst, l, alu->clamp && over ? ~0ULL : (uint64_t)sum);
    }
    alu->mask_out = mask;
}

/* The mask is bit 64 of the 65-bit signed sum: its sign. */
EMU_OP(v_mad_i64_i32)
{
    uint64_t mask = 0;
    EMU_EACH(l)
    {
        __int128 sum = (__int128)(i32(alu->src[0][l]) * i32(alu->src[1][l])) +
                       (int64_t)emu_row64(alu->src[2], l);
        int64_t low = (int64_t)(uint64_t)sum;
        bool over = sum != low;
        int64_t limited = sum < 0 ? INT64_MIN : INT64_MAX;
        mask |= (uint64_t)(sum < 0) << l;
        emu_put64(alu->dst, l, (uint64_t)(alu->clamp && over ? limited : low));
    }
    alu->mask_out = mask;
}

/* --- 16 bits --- */

static inline int32_t i16(uint32_t x)
{
    return (int16_t)x;
}

/* x, y, z: zero-extended halves. The result is `wide`, wrapped or with clamp limited to the range.
 */
#define B16(name, sources, wide, range, keep)                                                      \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t s[3][EMU_LANES], out[EMU_LANES];                                    \
        for (unsigned i = 0; i < (sources); i++) {                                                 \
            emu_src_b16(alu, i, s[i]);                                                             \
        }                                                                                          \
        if ((sources) < 3) {                                                                       \
            memset(s[2], 0, sizeof s[2]);                                                          \
        }                                                                                          \
        bool clamp = alu->clamp;                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s[0][l], y = s[1][l], z = s[2][l];                                        \
            (void)z;                                                                               \
            int64_t w = (int64_t)(wide);                                                           \
            out[l] = (uint32_t)(clamp ? limit(w, range) : w);                                      \
        }                                                                                          \
        emu_put_b16(alu, out, keep);                                                               \
    }

B16(v_add_u16, 2, x + y, U16_RANGE, false)
B16(v_sub_u16, 2, u32(x) - u32(y), U16_RANGE, false)
B16(v_subrev_u16, 2, u32(y) - u32(x), U16_RANGE, false)
B16(v_mul_lo_u16, 2, x *y, U16_RANGE, false)
B16(v_lshlrev_b16, 2, y << (x & 15) & 0xffff, U16_RANGE, false)
B16(v_lshrrev_b16, 2, y >> (x & 15), U16_RANGE, false)
B16(v_ashrrev_i16, 2, i16(y) >> (x & 15), I16_RANGE, false)
B16(v_max_u16, 2, umax(x, y), U16_RANGE, false)
B16(v_min_u16, 2, umin(x, y), U16_RANGE, false)
B16(v_max_i16, 2, i16(x) < i16(y) ? i16(y) : i16(x), I16_RANGE, false)
B16(v_min_i16, 2, i16(x) < i16(y) ? i16(x) : i16(y), I16_RANGE, false)
B16(v_add_i16, 2, i16(x) + i16(y), I16_RANGE, true)
B16(v_sub_i16, 2, i16(x) - i16(y), I16_RANGE, true)
B16(v_mad_u16, 3, x *y + u32(z), U16_RANGE, true)
B16(v_mad_i16, 3, (int64_t)i16(x) * i16(y) + i16(z), I16_RANGE, true)
B16(v_mad_legacy_u16, 3, x *y + u32(z), U16_RANGE, false)
B16(v_mad_legacy_i16, 3, (int64_t)i16(x) * i16(y) + i16(z), I16_RANGE, false)
B16(v_min3_u16, 3, umin(umin(x, y), z), U16_RANGE, true)
B16(v_max3_u16, 3, umax(umax(x, y), z), U16_RANGE, true)
B16(v_med3_u16, 3, umed(x, y, z), U16_RANGE, true)

static inline uint32_t flip16(uint32_t x)
{
    return (uint32_t)i16(x) ^ FLIP;
}

B16(v_min3_i16, 3, i16(umin(umin(flip16(x), flip16(y)), flip16(z)) & 0xffff), I16_RANGE, true)
B16(v_max3_i16, 3, i16(umax(umax(flip16(x), flip16(y)), flip16(z)) & 0xffff), I16_RANGE, true)
B16(v_med3_i16, 3, i16(umed(flip16(x), flip16(y), flip16(z)) & 0xffff), I16_RANGE, true)

/* 16-bit factors with a 32-bit addend: op_sel chooses the factors' halves only. */
#define MAD16(name, product, addend, range)                                                        \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t s[2][EMU_LANES];                                                    \
        emu_src_b16(alu, 0, s[0]);                                                                 \
        emu_src_b16(alu, 1, s[1]);                                                                 \
        const uint32_t *s2 = alu->src[2];                                                          \
        uint32_t *dst = alu->dst;                                                                  \
        bool clamp = alu->clamp;                                                                   \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            uint32_t x = s[0][l], y = s[1][l], z = s2[l];                                          \
            int64_t w = (int64_t)(product) + (addend);                                             \
            dst[l] = (uint32_t)(clamp ? limit(w, range) : w);                                      \
        }                                                                                          \
    }

MAD16(v_mad_u32_u16, x *y, u32(z), U32_RANGE)
MAD16(v_mad_i32_i16, i16(x) * i16(y), i32(z), I32_RANGE)

/* --- sums of absolute differences --- */

static inline uint32_t absdiff(uint32_t x, uint32_t y)
{
    return x < y ? y - x : x - y;
}

/* Over four bytes; `masked`: reference bytes of zero do not count. */
static inline uint32_t sad8(uint32_t x, uint32_t y, bool masked)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        uint32_t reference = y >> i & 0xff, d = absdiff(x >> i & 0xff, reference);
        sum += masked && reference == 0 ? 0 : d;
    }
    return sum;
}

SAT_3(v_sad_u8, (int64_t)sad8(x, y, false) + u32(z), U32_RANGE)
SAT_3(v_msad_u8, (int64_t)sad8(x, y, true) + u32(z), U32_RANGE)
SAT_3(v_sad_hi_u8, ((int64_t)sad8(x, y, false) << 16) + u32(z), U32_RANGE)
SAT_3(v_sad_u16, (int64_t)absdiff(x & 0xffff, y & 0xffff) + absdiff(x >> 16, y >> 16) + u32(z),
      U32_RANGE)
SAT_3(v_sad_u32, (int64_t)absdiff(x, y) + u32(z), U32_RANGE)

/* Four windows of four bytes, one byte apart, against one reference. */
static void quad_sad16(struct emu_alu *alu, bool masked)
{
    EMU_EACH(l)
    {
        uint64_t data = emu_row64(alu->src[0], l), add = emu_row64(alu->src[2], l), out = 0;
        for (unsigned i = 0; i < 4; i++) {
            uint32_t sum = sad8((uint32_t)(data >> 8 * i), alu->src[1][l], masked) +
                           (uint32_t)(add >> 16 * i & 0xffff);
            sum = alu->clamp ? umin(sum, 0xffff) : sum & 0xffff;
            out |= (uint64_t)sum << 16 * i;
        }
        emu_put64(alu->dst, l, out);
    }
}

EMU_OP(v_qsad_pk_u16_u8)
{
    quad_sad16(alu, false);
}

EMU_OP(v_mqsad_pk_u16_u8)
{
    quad_sad16(alu, true);
}

EMU_OP(v_mqsad_u32_u8)
{
    EMU_EACH(l)
    {
        uint64_t data = emu_row64(alu->src[0], l);
        uint32_t reference = alu->src[1][l];
        for (unsigned i = 0; i < 4; i++) {
            int64_t sum = (int64_t)sad8((uint32_t)(data >> 8 * i), reference, true) +
                          u32(alu->src[2][i * EMU_LANES + (unsigned)l]);
            alu->dst[i * EMU_LANES + (unsigned)l] =
                (uint32_t)(alu->clamp ? limit(sum, U32_RANGE) : sum);
        }
    }
}

static inline uint32_t lerp8(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        result |= ((x >> i & 0xff) + (y >> i & 0xff) + (z >> i & 1)) >> 1 << i;
    }
    return result;
}

B32_3(v_lerp_u8, lerp8(x, y, z))

/* --- packing with saturation --- */

static inline uint32_t sat_u8(int32_t x)
{
    return (uint32_t)limit(x, 0, 255);
}

static inline uint32_t sat_i8(int32_t x)
{
    return (uint32_t)limit(x, -128, 127) & 0xff;
}

B32_1(v_sat_pk_u8_i16, sat_u8(i16(x)) | sat_u8(i16(x >> 16)) << 8)
B32_2(v_cvt_pk_u16_u32, umin(x, 0xffff) | umin(y, 0xffff) << 16)
B32_2(v_cvt_pk_i16_i32,
      ((uint32_t)limit(i32(x), I16_RANGE) & 0xffff) | (uint32_t)limit(i32(y), I16_RANGE) << 16)

/* Two 16-bit results' worth of bytes into one half of the destination. */
#define ASHR_PK(name, sat)                                                                         \
    EMU_OP(name)                                                                                   \
    {                                                                                              \
        EMU_ROW_ALIGN uint32_t out[EMU_LANES];                                                     \
        EMU_EACH(l)                                                                                \
        {                                                                                          \
            unsigned n = alu->src[2][l] & 31;                                                      \
            out[l] = sat((int32_t)alu->src[0][l] >> n) | sat((int32_t)alu->src[1][l] >> n) << 8;   \
        }                                                                                          \
        emu_put_b16(alu, out, true);                                                               \
    }

ASHR_PK(v_ashr_pk_i8_i32, sat_i8)
ASHR_PK(v_ashr_pk_u8_i32, sat_u8)
