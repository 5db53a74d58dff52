/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between number formats. */
#include <stdio.h>

#include "tests/support/test.h"

#include "alu_test.h"

#define INF 0x7f800000
#define NINF 0xff800000
#define QNAN 0x7fc00000
#define OVFL EMU_MODE_OVFL

void alu_test_convert(void **state)
{
    const struct alu_case cases[] = {
        {"v_cvt_i32_f32", S(F(-1.75F)), W((uint32_t)-1)},
        {"v_cvt_i32_f32", S(F(3e9F)), W(0x7fffffff)},
        {"v_cvt_i32_f32", S(NINF), W(0x80000000)},
        {"v_cvt_i32_f32", S(QNAN), W(0)},
        {"v_cvt_i32_f32", S(F(2.5F)), W((uint32_t)-2), .neg = 1},
        {"v_cvt_u32_f32", S(F(-1.75F)), W(0)},
        {"v_cvt_u32_f32", S(F(3e9F)), W(3000000000U)},
        {"v_cvt_u32_f32", S(F(5e9F)), W(0xffffffff)},
        {"v_cvt_u32_f32", S(QNAN), W(0)},
        {"v_cvt_flr_i32_f32", S(F(-1.25F)), W((uint32_t)-2)},
        {"v_cvt_rpi_i32_f32", S(F(-1.5F)), W((uint32_t)-1)},
        {"v_cvt_rpi_i32_f32", S(F(2.5F)), W(3)},
        {"v_cvt_f32_i32", S(0xffffffff), W(F(-1.0F))},
        {"v_cvt_f32_i32", S(0x01000001), W(0x4b800000)}, /* 2^24 + 1: tie to even */
        {"v_cvt_f32_i32", S(0x01000001), W(0x4b800001), .round32 = 1},
        {"v_cvt_f32_u32", S(0xffffffff), W(F(4294967296.0F))},
        {"v_cvt_f32_u32", S(0xffffffff), W(0x4f7fffff), .round32 = 3},
        {"v_cvt_f32_ubyte0", S(0x04030201), W(F(1.0F))},
        {"v_cvt_f32_ubyte1", S(0x04030201), W(F(2.0F))},
        {"v_cvt_f32_ubyte2", S(0x04030201), W(F(3.0F))},
        {"v_cvt_f32_ubyte3", S(0xff030201), W(F(255.0F))},
        {"v_cvt_off_f32_i4", S(0x18), W(F(-0.5F))},
        {"v_cvt_off_f32_i4", S(0x07), W(F(0.4375F))},
        {"v_cvt_f32_f16", S(0x3c00), W(F(1.0F))},
        {"v_cvt_f32_f16", S(0x0001), W(F(0x1p-24F))},
        {"v_cvt_f32_f16", S(0x0001), W(0), .flush16_64 = 1},
        {"v_cvt_f32_f16", S(0xfc000000), W(NINF), .op_sel = 1},
        {"v_cvt_f32_f16", S(0x7e00), .nan = true},
        {"v_cvt_f32_bf16", S(0x3f80), W(F(1.0F))},
        {"v_cvt_f32_bf16", S(0xc0403f80), W(F(-3.0F)), .op_sel = 1},
        {"v_cvt_f16_f32", S(F(1.0F)), W(0x3c00), .old = 0xffffffff},
        {"v_cvt_f16_f32", S(F(65520.0F)), W(0x7c00)},
        {"v_cvt_f16_f32", S(F(65519.0F)), W(0x7bff)},
        {"v_cvt_f16_f32", S(F(65520.0F)), W(0x7bff), .mode = OVFL},
        {"v_cvt_f16_f32", S(INF), W(0x7c00), .mode = OVFL},
        {"v_cvt_f16_f32", S(F(0x1p-25F)), W(0)},
        {"v_cvt_f16_f32", S(0x33000001), W(1)}, /* just above 2^-25 */
        {"v_cvt_f16_f32", S(F(0x1p-25F)), W(1), .round16_64 = 1},
        {"v_cvt_f16_f32", S(F(0x1.004p0F)), W(0x3c01)},
        {"v_cvt_f16_f32", S(F(0x1.002p0F)), W(0x3c00)},
        {"v_cvt_f16_f32", S(F(0x1.006p0F)), W(0x3c02)},
        {"v_cvt_f16_u16", S(0xffff), W(0x7c00)},
        {"v_cvt_f16_u16", S(0x0801), W(0x6800)},
        {"v_cvt_f16_i16", S(0xffff), W(0xbc00)},
        {"v_cvt_i16_f16", S(0xbe00), W(0xffff)},
        {"v_cvt_i16_f16", S(0x7c00), W(0x7fff)},
        {"v_cvt_u16_f16", S(0xbe00), W(0)},
        {"v_cvt_u16_f16", S(0x7bff), W(65504)},
        {"v_cvt_u16_f16", S(0x7e00), W(0)},
        {"v_cvt_norm_i16_f16", S(0x3c00), W(0x7fff)},
        {"v_cvt_norm_i16_f16", S(0xc000), W(0x8001)},
        {"v_cvt_norm_u16_f16", S(0x3800), W(0x8000)}, /* 32767.5 to even */
        {"v_cvt_norm_u16_f16", S(0xbc00), W(0)},
        {"v_cvt_pk_f16_f32", S(F(1.0F), F(-2.0F)), W(0xc0003c00)},
        {"v_cvt_pk_f16_f32", S(F(0x1.006p0F), F(65520.0F)), W(0x7c003c02), .round16_64 = 3},
        {"v_cvt_pkrtz_f16_f32", S(F(0x1.006p0F), F(65520.0F)), W(0x7bff3c01)},
        {"v_cvt_pk_bf16_f32", S(F(1.0F), F(-2.0F)), W(0xc0003f80)},
        {"v_cvt_pk_bf16_f32", S(0x3f808000, 0x3f818000), W(0x3f823f80)}, /* ties to even */
        {"v_cvt_pk_bf16_f32", S(0x3f808001, 0x7f7fffff), W(0x7f803f81)},
        {"v_cvt_pk_bf16_f32", S(0x7f800001, 0xffffffff), W(0xffff7fc0)},
        {"v_cvt_pk_bf16_f32", S(F(-1.0F), F(2.0F)), W(0xc0003f80), .abs = 1, .neg = 2},
        {"v_cvt_pk_bf16_f32", S(0x00018000, 0x80010000), W(0x80010002)}, /* denormals kept */
        {"v_cvt_sr_f16_f32", S(0x3f801000, 0x80000000), W(0xabcd3c01), .old = 0xabcd0000},
        {"v_cvt_sr_f16_f32", S(0x3f801000, 0x7fffffff), W(0x3c001234), .old = 0x1234, .op_sel = 8},
        {"v_cvt_sr_bf16_f32", S(0x3f808000, 0x80000000), W(0xabcd3f81), .old = 0xabcd0000},
        {"v_cvt_sr_bf16_f32", S(0x3f808000, 0x7fffffff), W(0x3f801234), .old = 0x1234, .op_sel = 8},
        {"v_cvt_sr_bf16_f32", S(INF, 0xffffffff), W(0x7f80)},
        {"v_cvt_pk_u8_f32", S(F(300.0F), 1, 0x11223344), W(0x1122ff44)},
        {"v_cvt_pk_u8_f32", S(F(-3.0F), 3, 0x11223344), W(0x00223344)},
        {"v_cvt_pkaccum_u8_f32", S(F(7.0F), 2), W(0x11073344), .old = 0x11223344},
        {"v_cvt_pknorm_i16_f32", S(F(1.0F), F(-1.0F)), W(0x80017fff)},
        {"v_cvt_pknorm_i16_f32", S(F(7.0F), QNAN), W(0x00007fff)},
        {"v_cvt_pknorm_u16_f32", S(F(1.0F), F(0.5F)), W(0x8000ffff)},
        {"v_cvt_pknorm_i16_f16", S(0x3c00, 0xbc00), W(0x80017fff)},
        {"v_cvt_pknorm_u16_f16", S(0x3c00, 0x3800), W(0x8000ffff)},
        {"v_cvt_i32_f64", S(D(-1.75)), W((uint32_t)-1)},
        {"v_cvt_i32_f64", S(D(1e10)), W(0x7fffffff)},
        {"v_cvt_u32_f64", S(D(4294967295.5)), W(0xffffffff)},
        {"v_cvt_u32_f64", S(D(-1.0)), W(0)},
        {"v_cvt_f32_f64", S(D(1.0 + 0x1p-24)), W(F(1.0F))},
        {"v_cvt_f32_f64", S(D(1.0 + 0x1p-24)), W(0x3f800001), .round32 = 1},
        {"v_cvt_f32_f64", S(D(1e300)), W(INF)},
        {"v_cvt_f64_f32", S(F(-1.5F)), W(D(-1.5))},
        {"v_cvt_f64_f32", S(1), W(D(0x1p-149))},
        {"v_cvt_f64_i32", S(0x80000000), W(D(-2147483648.0))},
        {"v_cvt_f64_u32", S(0x80000000), W(D(2147483648.0))},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

/*
 * OCP E4M3: 1 = 38, 448 = 7e, NaN 7f, least 2^-9 = 01. OCP E5M2: 1 = 3c, 57344 = 7b, Inf 7c. FNUZ:
 * biases one more (1 = 40 in both), largest 7f, NaN 80. fp4: 0 .5 1 1.5 2 3 4 6 as 0..7, sign in
 * bit 3.
 */
void alu_test_fp8(void **state)
{
    const uint32_t one = 0x3f800000, half = 0x3f000000, two = 0x40000000;
    const struct alu_case cases[] = {
        {"v_cvt_f32_fp8", S(0x38), W(one)},
        {"v_cvt_f32_fp8", S(0x38), W(half), .fnuz = true},
        {"v_cvt_f32_fp8", S(0xfe), W(F(-448.0F))},
        {"v_cvt_f32_fp8", S(0xff), .nan = true},
        {"v_cvt_f32_fp8", S(0xff), W(F(-240.0F)), .fnuz = true},
        {"v_cvt_f32_fp8", S(0x80), W(0x80000000)},
        {"v_cvt_f32_fp8", S(0x80), .nan = true, .fnuz = true},
        {"v_cvt_f32_fp8", S(0x01), W(F(0x1p-9F))},
        {"v_cvt_f32_bf8", S(0x3c), W(one)},
        {"v_cvt_f32_bf8", S(0x7c), W(INF)},
        {"v_cvt_f32_bf8", S(0x7d), .nan = true},
        {"v_cvt_f32_bf8", S(0x7d), W(F(40960.0F)), .fnuz = true},
        {"v_cvt_f32_bf8", S(0x01), W(F(0x1p-16F))},
        {"v_cvt_pk_f32_fp8", S(0x3038b840), W(F(2.0F) | F(-1.0F) << 32)},
        {"v_cvt_pk_f32_fp8", S(0x3038b840), W(F(1.0F) | F(0.5F) << 32), .op_sel = 1},
        {"v_cvt_pk_f32_bf8", S(0x403c), W(F(1.0F) | F(2.0F) << 32)},
        {"v_cvt_pk_fp8_f32", S(one, F(-448.0F)), W(0xabcdfe38), .old = 0xabcd1234},
        {"v_cvt_pk_fp8_f32", S(one, F(-448.0F)), W(0xfe381234), .old = 0xabcd1234, .op_sel = 8},
        {"v_cvt_pk_fp8_f32", S(F(1.0625F), F(1.1875F)), W(0x3a38)}, /* ties to even */
        {"v_cvt_pk_fp8_f32", S(F(464.0F), F(464.5F)), W(0x7f7e)}, /* above the tie: NaN */
        {"v_cvt_pk_fp8_f32", S(F(464.0F), F(-1e9F)), W(0xfe7e), .mode = OVFL},
        {"v_cvt_pk_fp8_f32", S(INF, QNAN), W(0x7f7e), .mode = OVFL},
        {"v_cvt_pk_fp8_f32", S(F(0x1p-10F), F(0x1.8p-10F)), W(0x0100)},
        {"v_cvt_pk_fp8_f32", S(1, 0x80000000), W(0x8000)},
        {"v_cvt_pk_fp8_f32", S(one, F(240.0F)), W(0x7f40), .fnuz = true},
        {"v_cvt_pk_fp8_f32", S(F(249.0F), F(-1e-9F)), W(0x0080), .fnuz = true}, /* NaN; no -0 */
        {"v_cvt_pk_fp8_f32", S(F(249.0F), F(-1e9F)), W(0xff7f), .fnuz = true, .mode = OVFL},
        {"v_cvt_pk_bf8_f32", S(one, F(57344.0F)), W(0x7b3c)},
        {"v_cvt_pk_bf8_f32", S(F(61439.0F), F(61440.0F)), W(0x7c7b)},
        {"v_cvt_pk_bf8_f32", S(F(-1e9F), QNAN), W(0x7efb), .mode = OVFL},
        {"v_cvt_pk_bf8_f32", S(one, F(61440.0F)), W(0x8040), .fnuz = true},
        {"v_cvt_sr_fp8_f32", S(F(1.0625F), 0x80000000), W(0x11223339), .old = 0x11223344},
        {"v_cvt_sr_fp8_f32", S(F(1.0625F), 0x7fffffff), W(0x11383344), .old = 0x11223344,
         .op_sel = 8},
        {"v_cvt_sr_fp8_f32", S(one, 0xffffffff), W(0x38223344), .old = 0x11223344, .op_sel = 12},
        {"v_cvt_sr_fp8_f32", S(one, 0xffffffff), W(0x11224044), .old = 0x11223344, .op_sel = 4,
         .fnuz = true},
        {"v_cvt_sr_bf8_f32", S(F(1.125F), 0x80000000), W(0x1122333d), .old = 0x11223344},
        {"v_cvt_sr_bf8_f32", S(F(1.125F), 0x7fffffff), W(0x1122333c), .old = 0x11223344},
        /* scales: exponent field only; 0x40000000 is 2, 0x3f000000 is 1/2 */
        {"v_cvt_scalef32_pk_f32_fp8", S(0xb83840, two), W(F(4.0F) | F(2.0F) << 32)},
        {"v_cvt_scalef32_pk_f32_fp8", S(0x38b84040, 0x407fffff), W(F(-2.0F) | F(2.0F) << 32),
         .op_sel = 1},
        {"v_cvt_scalef32_pk_f32_fp8", S(0x3838, 0),
         W(0x00400000ULL | 0x00400000ULL << 32)}, /* 2^-127 */
        {"v_cvt_scalef32_pk_f32_bf8", S(0x403c, half), W(F(0.5F) | F(1.0F) << 32)},
        {"v_cvt_scalef32_pk_f16_fp8", S(0xb838, two), W(0xc0004000)},
        {"v_cvt_scalef32_pk_f16_bf8", S(0x403c, two), W(0x44004000)},
        {"v_cvt_scalef32_pk_f16_fp8", S(0x7e7e, F(256.0F)), W(0x7c007c00)}, /* 448 * 256 */
        {"v_cvt_scalef32_pk_bf16_fp8", S(0xb838, two), W(0xc0004000)},
        {"v_cvt_scalef32_pk_bf16_bf8", S(0x403c, half), W(0x3f803f00)},
        {"v_cvt_scalef32_pk_f32_fp4", S(0xa4, two), W(F(4.0F) | F(-2.0F) << 32)},
        {"v_cvt_scalef32_pk_f32_fp4", S(0x73000000, one), W(F(1.5F) | F(6.0F) << 32), .op_sel = 3},
        {"v_cvt_scalef32_pk_f16_fp4", S(0xa400, one), W(0xbc004000), .op_sel = 1},
        {"v_cvt_scalef32_pk_bf16_fp4", S(0xa40000, one), W(0xbf804000), .op_sel = 2},
        {"v_cvt_scalef32_f32_fp8", S(0x38404850, two), W(F(16.0F))},
        {"v_cvt_scalef32_f32_fp8", S(0x38404850, two), W(F(2.0F)), .op_sel = 3},
        {"v_cvt_scalef32_f32_bf8", S(0x3c40, two), W(F(2.0F)), .op_sel = 1},
        {"v_cvt_scalef32_f16_fp8", S(0x38404850, two), W(0xabcd4800), .op_sel = 1,
         .old = 0xabcd1234},
        {"v_cvt_scalef32_f16_fp8", S(0x38404850, two), W(0x40001234), .op_sel = 11,
         .old = 0xabcd1234},
        {"v_cvt_scalef32_f16_bf8", S(0x3c, two), W(0x4000)},
        {"v_cvt_scalef32_pk_fp8_f32", S(F(2.0F), F(-4.0F), two), W(0xabcdc038), .old = 0xabcd1234},
        {"v_cvt_scalef32_pk_fp8_f32", S(F(2.0F), F(896.0F), two), W(0x7e381234), .old = 0xabcd1234,
         .op_sel = 8},
        {"v_cvt_scalef32_pk_fp8_f32", S(F(1e9F), F(1e9F), one), W(0x7f7f)},
        {"v_cvt_scalef32_pk_fp8_f32", S(F(1e9F), F(1e9F), one), W(0x7e7e), .mode = OVFL},
        {"v_cvt_scalef32_pk_fp8_f32", S(0x00400000, 0x00000001, 0),
         W(0x0038)}, /* 2^-127 over 2^-127 */
        {"v_cvt_scalef32_pk_fp8_f32", S(one, one, INF), W(0x7f7f)}, /* a NaN scale */
        {"v_cvt_scalef32_pk_fp8_f32", S(one, one, one), W(0x38b8), .neg = 1},
        {"v_cvt_scalef32_pk_bf8_f32", S(F(2.0F), F(-4.0F), two), W(0xc03c)},
        {"v_cvt_scalef32_pk_fp8_f16", S(0xc4004000, two), W(0xabcdc038), .old = 0xabcd1234},
        {"v_cvt_scalef32_pk_bf8_f16", S(0xc4004000, two), W(0xc03c)},
        {"v_cvt_scalef32_pk_fp8_bf16", S(0xc0804000, two), W(0xc0381234), .old = 0xabcd1234,
         .op_sel = 8},
        {"v_cvt_scalef32_pk_bf8_bf16", S(0xc0804000, two), W(0xc03c)},
        {"v_cvt_scalef32_pk_fp4_f32", S(F(2.0F), F(-12.0F), two), W(0x112233f2), .old = 0x11223344},
        {"v_cvt_scalef32_pk_fp4_f32", S(F(5.0F), F(0.25F), one), W(0x06223344), .old = 0x11223344,
         .op_sel = 12},
        {"v_cvt_scalef32_pk_fp4_f32", S(F(100.0F), F(-100.0F), one), W(0xf7)},
        {"v_cvt_scalef32_pk_fp4_f16", S(0xc4004000, two), W(0x1122c244), .old = 0x11223344,
         .op_sel = 4},
        {"v_cvt_scalef32_pk_fp4_bf16", S(0xc0804000, two), W(0x11c23344), .old = 0x11223344,
         .op_sel = 8},
        {"v_cvt_scalef32_sr_fp8_f32", S(F(2.125F), 0x80000000, two), W(0x11223339),
         .old = 0x11223344},
        {"v_cvt_scalef32_sr_bf8_f32", S(F(2.25F), 0x7fffffff, two), W(0x1122333c),
         .old = 0x11223344},
        {"v_cvt_scalef32_sr_fp8_f16", S(0x4040, 0x80000000, two), W(0x11223944), .old = 0x11223344,
         .op_sel = 4},
        {"v_cvt_scalef32_sr_bf8_f16", S(0x4000, 0xffffffff, two), W(0x3c)},
        {"v_cvt_scalef32_sr_fp8_bf16", S(0x4008, 0x80000000, two), W(0x39)},
        {"v_cvt_scalef32_sr_bf8_bf16", S(0x4000, 0xffffffff, two), W(0x3c)},
        /* 1.25 lies halfway between 1 and 1.5; the second element sees (r << 1) ^ 197 */
        {"v_cvt_scalef32_sr_pk_fp4_f32", S(F(1.25F) | F(1.25F) << 32, 0x80000000, one),
         W(0x11222344), .old = 0x11223344, .op_sel = 4},
        {"v_cvt_scalef32_sr_pk_fp4_f16", S(0x3d003d00, 0x40000000, one), W(0x32)},
        {"v_cvt_scalef32_sr_pk_fp4_bf16", S(0x3fa03fa0, 0xc0000000, one), W(0x33)},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

/* Element i of 32 six-bit codes in six dwords. */
static unsigned code6(const uint32_t *rows, unsigned i)
{
    unsigned value = 0;
    for (unsigned b = 0; b < 6; b++) {
        unsigned bit = 6 * i + b;
        value |= (rows[bit / 32 * EMU_LANES + 9] >> bit % 32 & 1) << b;
    }
    return value;
}

/* Magnitudes of E2M3 (bias 1) and E3M2 (bias 3), stated as tables. */
static const float fp6_values[32] = {0, 0.125F, 0.25F, 0.375F, 0.5F, 0.625F, 0.75F, 0.875F,
                                     1, 1.125F, 1.25F, 1.375F, 1.5F, 1.625F, 1.75F, 1.875F,
                                     2, 2.25F,  2.5F,  2.75F,  3,    3.25F,  3.5F,  3.75F,
                                     4, 4.5F,   5,     5.5F,   6,    6.5F,   7,     7.5F};
static const float bf6_values[32] = {
    0,      0.0625F, 0.125F, 0.1875F, 0.25F, 0.3125F, 0.375F, 0.4375F, 0.5F, 0.625F, 0.75F,
    0.875F, 1,       1.25F,  1.5F,    1.75F, 2,       2.5F,   3,       3.5F, 4,      5,
    6,      7,       8,      10,      12,    14,      16,     20,      24,   28};

static uint32_t half_of(float value, bool bf16)
{
    uint32_t bits = (uint32_t)F(value);
    if (bf16) {
        return bits >> 16;
    }
    return value == 0 ? bits >> 16
                      : (bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - ((127 - 15) << 10));
}

/* Every code of a format through every width, with a scale of 4: unpacking, then packing back. */
static void round_trip6(struct alu_coverage *coverage, const char *format, const float *values)
{
    static uint32_t packed[6 * EMU_LANES], scale[EMU_LANES], wide[32 * EMU_LANES],
        again[6 * EMU_LANES], random[EMU_LANES], halves[2][16 * EMU_LANES];
    static const char *const types[] = {"f32", "f16", "bf16"};
    for (unsigned upper = 0; upper < 2; upper++) {
        memset(packed, 0, sizeof packed);
        for (unsigned i = 0; i < 32; i++) {
            unsigned code = (i + 32 * upper) & 63;
            for (unsigned b = 0; b < 6; b++) {
                for (unsigned l = 0; l < EMU_LANES; l++) {
                    packed[(6 * i + b) / 32 * EMU_LANES + l] |= (code >> b & 1) << (6 * i + b) % 32;
                    scale[l] = 0x40800000;
                    random[l] = 0xffffffff;
                }
            }
        }
        for (unsigned t = 0; t < 3; t++) {
            char name[48];
            snprintf(name, sizeof name, "v_cvt_scalef32_pk32_%s_%s", types[t], format);
            struct emu_alu alu = {
                .dst = wide, .src = {packed, scale},
                     .exec = ~0ULL, .denorm32 = 3
            };
            alu_row(coverage, name)->fn(&alu);
            for (unsigned i = 0; i < 32; i++) {
                float value = (upper ? -4.0F : 4.0F) * values[i];
                uint32_t got = t == 0 ? wide[i * EMU_LANES + 9]
                                      : wide[i / 2 * EMU_LANES + 9] >> 16 * (i % 2) & 0xffff;
                assert_int_equal(got, t == 0 ? (uint32_t)F(value) : half_of(value, t == 2));
            }
            for (unsigned stochastic = 0; stochastic < 2; stochastic++) {
                struct emu_alu back = {.dst = again, .exec = ~0ULL, .denorm32 = 3};
                back.src[0] = wide;
                back.src[1] = stochastic ? random : scale;
                back.src[2] = scale;
                snprintf(name, sizeof name, "v_cvt_scalef32_%spk32_%s_%s", stochastic ? "sr_" : "",
                         format, types[t]);
                if (t == 0 && !stochastic) { /* two sources of sixteen, interleaved */
                    snprintf(name, sizeof name, "v_cvt_scalef32_2xpk16_%s_f32", format);
                    for (unsigned i = 0; i < 32; i++) {
                        memcpy(halves[i % 2] + i / 2 * EMU_LANES, wide + i * EMU_LANES,
                               EMU_LANES * 4);
                    }
                    back.src[0] = halves[0];
                    back.src[1] = halves[1];
                }
                alu_row(coverage, name)->fn(&back);
                for (unsigned i = 0; i < 32; i++) {
                    assert_int_equal(code6(again, i),
                                     code6(packed, i)); /* exact values do not move */
                }
            }
        }
    }
}

void alu_test_pack6(void **state)
{
    round_trip6(*state, "fp6", fp6_values);
    round_trip6(*state, "bf6", bf6_values);
    /* rounding and saturation: 1.0625 ties to 1, 100 saturates, -0.0625 ties to -0 (fp6) */
    static uint32_t in[16 * EMU_LANES], scale[EMU_LANES], out[6 * EMU_LANES];
    for (unsigned l = 0; l < EMU_LANES; l++) {
        in[l] = 0x3c405640; /* f16 100, 1.0625 */
        in[EMU_LANES + l] = 0xac00;
        scale[l] = 0x3f800000;
    }
    struct emu_alu alu = {
        .dst = out, .src = {in, scale},
             .exec = ~0ULL
    };
    alu_row(*state, "v_cvt_scalef32_pk32_fp6_f16")->fn(&alu);
    assert_int_equal(code6(out, 0), 0x1f);
    assert_int_equal(code6(out, 1), 0x08);
    assert_int_equal(code6(out, 2), 0x20);
}
