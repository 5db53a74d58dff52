/* SPDX-License-Identifier: Apache-2.0 */
/* f32, f64 and f16 arithmetic on ordinary and edge operands. */

#include "tests/support/test.h"

#include "alu_test.h"

#define INF 0x7f800000
#define NINF 0xff800000
#define QNAN 0x7fc00000
#define SNAN 0x7f800001
#define NZERO 0x80000000
#define IEEE EMU_MODE_IEEE
#define DX10 EMU_MODE_DX10_CLAMP

void alu_test_f32(void **state)
{
    const struct alu_case cases[] = {
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(3.0F))},
        {"v_add_f32", S(INF, NINF), .nan = true},
        {"v_add_f32", S(NZERO, NZERO), W(NZERO)},
        {"v_add_f32", S(F(1.0F), F(-1.0F)), W(0)},
        {"v_add_f32", S(F(1.0F), F(-1.0F)), W(NZERO), .round32 = 2},
        {"v_add_f32", S(1, 1), W(2)},
        {"v_add_f32", S(1, 1), W(0), .flush32 = 1},
        {"v_add_f32", S(0x00800000, 0x80000001), W(0x00800000), .flush32 = 1},
        {"v_add_f32", S(0x00800000, 0x80000001), W(0), .flush32 = 2},
        {"v_add_f32", S(0x3f800000, 0x33800000), W(0x3f800000)}, /* 1 + half ulp: even */
        {"v_add_f32", S(0x3f800000, 0x33800000), W(0x3f800001), .round32 = 1},
        {"v_add_f32", S(0x3f800000, 0x33800001), W(0x3f800000), .round32 = 3},
        {"v_add_f32", S(0x7f7fffff, 0x7f7fffff), W(INF)},
        {"v_add_f32", S(0x7f7fffff, 0x7f7fffff), W(0x7f7fffff), .round32 = 3},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(-1.0F)), .neg = 2},
        {"v_add_f32", S(F(-1.0F), F(-2.0F)), W(F(-1.0F)), .abs = 1},
        {"v_add_f32", S(F(-1.0F), F(-2.0F)), W(F(1.0F)), .abs = 2},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(-3.0F)), .abs = 3, .neg = 3},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(1.0F)), .clamp = true},
        {"v_add_f32", S(F(-1.0F), F(-2.0F)), W(0), .clamp = true},
        {"v_add_f32", S(QNAN, F(1.0F)), W(0), .clamp = true, .mode = DX10},
        {"v_add_f32", S(QNAN, F(1.0F)), .nan = true, .clamp = true},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(6.0F)), .omod = 1, .flush32 = 2},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(12.0F)), .omod = 2, .flush32 = 2},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(1.5F)), .omod = 3, .flush32 = 2},
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(3.0F)), .omod = 1}, /* denormals kept: no omod */
        {"v_add_f32", S(F(1.0F), F(2.0F)), W(F(3.0F)), .omod = 1, .flush32 = 2, .mode = IEEE},
        {"v_add_f32", S(NZERO, NZERO), W(0), .omod = 1, .flush32 = 2},
        {"v_sub_f32", S(F(5.0F), F(3.0F)), W(F(2.0F))},
        {"v_sub_f32", S(0, NZERO), W(0)},
        {"v_subrev_f32", S(F(5.0F), F(3.0F)), W(F(-2.0F))},
        {"v_mul_f32", S(F(3.0F), F(-0.5F)), W(F(-1.5F))},
        {"v_mul_f32", S(0, INF), .nan = true},
        {"v_mul_f32", S(0x00800000, F(0.5F)), W(0x00400000)},
        {"v_mul_f32", S(0x00800000, F(0.5F)), W(0), .flush32 = 2},
        {"v_mul_f32", S(0x80800000, F(0.5F)), W(NZERO), .flush32 = 2},
        {"v_mul_legacy_f32", S(0, INF), W(0)},
        {"v_mul_legacy_f32", S(QNAN, NZERO), W(0)},
        {"v_mul_legacy_f32", S(F(3.0F), F(2.0F)), W(F(6.0F))},
        {"v_fma_f32", S(F(2.0F), F(3.0F), F(4.0F)), W(F(10.0F))},
        {"v_fma_f32", S(0x3f800001, 0x3f800001, 0xbf800002),
         W(0x28800000)}, /* 2^-46: not rounded before */
        {"v_fma_f32", S(F(2.0F), F(3.0F), F(4.0F)), W(F(2.0F)), .neg = 4, .clamp = false},
        {"v_fma_f32", S(INF, F(1.0F), NINF), .nan = true},
        {"v_fmac_f32", S(F(2.0F), F(3.0F)), W(F(10.0F)), .old = F(4.0F)},
        {"v_fmac_f32", S(0, 0), W(0), .old = 1, .flush32 = 1},
        {"v_fmaak_f32", S(F(2.0F), F(3.0F)), W(F(11.0F)), .imm = 0x40a00000},
        {"v_fmamk_f32", S(F(2.0F), F(3.0F)), W(F(13.0F)), .imm = 0x40a00000},
        {"v_min_f32", S(F(1.0F), F(-2.0F)), W(F(-2.0F))},
        {"v_min_f32", S(0, NZERO), W(NZERO)},
        {"v_min_f32", S(NZERO, 0), W(NZERO)},
        {"v_min_f32", S(QNAN, F(1.0F)), W(F(1.0F))},
        {"v_min_f32", S(F(1.0F), QNAN), W(F(1.0F))},
        {"v_min_f32", S(SNAN, F(1.0F)), W(F(1.0F))},
        {"v_min_f32", S(SNAN, F(1.0F)), W(0x7fc00001), .mode = IEEE},
        {"v_min_f32", S(F(1.0F), SNAN), W(0x7fc00001), .mode = IEEE},
        {"v_min_f32", S(NINF, F(1.0F)), W(NINF)},
        {"v_max_f32", S(F(1.0F), F(-2.0F)), W(F(1.0F))},
        {"v_max_f32", S(NZERO, 0), W(0)},
        {"v_max_f32", S(0, NZERO), W(0)},
        {"v_max_f32", S(QNAN, NINF), W(NINF)},
        {"v_max_f32", S(F(1.0F), SNAN), W(0x7fc00001), .mode = IEEE},
        {"v_max_f32", S(1, 2), W(0), .flush32 = 1},
        {"v_min3_f32", S(F(1.0F), F(-2.0F), F(0.5F)), W(F(-2.0F))},
        {"v_min3_f32", S(QNAN, QNAN, F(0.5F)), W(F(0.5F))},
        {"v_max3_f32", S(F(1.0F), F(-2.0F), F(7.5F)), W(F(7.5F))},
        {"v_max3_f32", S(F(-1.0F), F(-2.0F), QNAN), W(F(-1.0F))},
        {"v_med3_f32", S(F(1.0F), F(3.0F), F(2.0F)), W(F(2.0F))},
        {"v_med3_f32", S(F(3.0F), F(2.0F), F(1.0F)), W(F(2.0F))},
        {"v_med3_f32", S(F(9.0F), F(0.0F), F(1.0F)), W(F(1.0F))},
        {"v_med3_f32", S(QNAN, F(4.0F), F(3.0F)), W(F(3.0F))},
        {"v_med3_f32", S(F(-1.0F), F(-3.0F), F(5.0F)), W(F(-1.0F))},
        {"v_minimum3_f32", S(F(1.0F), F(2.0F), NZERO), W(NZERO)},
        {"v_minimum3_f32", S(F(1.0F), F(2.0F), QNAN), W(QNAN)},
        {"v_minimum3_f32", S(SNAN, F(2.0F), F(1.0F)), W(0x7fc00001)},
        {"v_maximum3_f32", S(NZERO, 0, F(-1.0F)), W(0)},
        {"v_maximum3_f32", S(F(1.0F), QNAN, F(3.0F)), W(QNAN)},
        {"v_floor_f32", S(F(-1.5F)), W(F(-2.0F))},
        {"v_floor_f32", S(NZERO), W(NZERO)},
        {"v_ceil_f32", S(F(-1.5F)), W(F(-1.0F))},
        {"v_ceil_f32", S(F(0.25F)), W(F(1.0F))},
        {"v_trunc_f32", S(F(-1.75F)), W(F(-1.0F))},
        {"v_rndne_f32", S(F(2.5F)), W(F(2.0F))},
        {"v_rndne_f32", S(F(3.5F)), W(F(4.0F))},
        {"v_rndne_f32", S(F(-0.5F)), W(NZERO)},
        {"v_fract_f32", S(F(2.75F)), W(F(0.75F))},
        {"v_fract_f32", S(F(-0.25F)), W(F(0.75F))},
        {"v_fract_f32", S(0xa0000000), W(0x3f7fffff)}, /* a tiny negative number: just below 1 */
        {"v_fract_f32", S(INF), .nan = true},
        {"v_ldexp_f32", S(F(1.5F), 3), W(F(12.0F))},
        {"v_ldexp_f32", S(F(1.5F), 0xffffffff), W(F(0.75F))},
        {"v_ldexp_f32", S(F(1.0F), (uint32_t)-149), W(1)},
        {"v_ldexp_f32", S(F(1.0F), (uint32_t)-150), W(0)},
        {"v_ldexp_f32", S(F(1.0F), 100000), W(INF)},
        {"v_ldexp_f32", S(1, 149), W(F(1.0F))},
        {"v_frexp_mant_f32", S(F(12.0F)), W(F(0.75F))},
        {"v_frexp_mant_f32", S(1), W(F(0.5F))},
        {"v_frexp_mant_f32", S(NINF), W(NINF)},
        {"v_frexp_mant_f32", S(NZERO), W(NZERO)},
        {"v_frexp_exp_i32_f32", S(F(12.0F)), W(4)},
        {"v_frexp_exp_i32_f32", S(1), W((uint32_t)-148)},
        {"v_frexp_exp_i32_f32", S(INF), W(0)},
        {"v_frexp_exp_i32_f32", S(0), W(0)},
        {"v_exp_f32", S(F(3.0F)), W(F(8.0F))},
        {"v_exp_f32", S(NINF), W(0)},
        {"v_exp_f32", S(F(-130.0F)), W(0)}, /* denormal results are flushed whatever MODE says */
        {"v_exp_f32", S(F(128.0F)), W(INF)},
        {"v_exp_f32", S(F(0.5F)), W(0x3fb504f3)},
        {"v_exp_legacy_f32", S(F(-2.0F)), W(F(0.25F))},
        {"v_log_f32", S(F(8.0F)), W(F(3.0F))},
        {"v_log_f32", S(0), W(NINF)},
        {"v_log_f32", S(1), W(NINF)}, /* a denormal counts as zero */
        {"v_log_f32", S(F(-1.0F)), .nan = true},
        {"v_log_legacy_f32", S(F(0.5F)), W(F(-1.0F))},
        {"v_rcp_f32", S(F(4.0F)), W(F(0.25F))},
        {"v_rcp_f32", S(NZERO), W(NINF)},
        {"v_rcp_f32", S(NINF), W(NZERO)},
        {"v_rcp_f32", S(F(3.0F)), W(0x3eaaaaab)},
        {"v_rcp_f32", S(0x7f7fffff), W(0)}, /* denormal result */
        {"v_rcp_iflag_f32", S(F(-2.0F)), W(F(-0.5F))},
        {"v_rsq_f32", S(F(4.0F)), W(F(0.5F))},
        {"v_rsq_f32", S(0), W(INF)},
        {"v_rsq_f32", S(F(-4.0F)), .nan = true},
        {"v_sqrt_f32", S(F(2.0F)), W(0x3fb504f3)},
        {"v_sqrt_f32", S(NZERO), W(NZERO)},
        {"v_sin_f32", S(F(0.25F)), W(F(1.0F))},
        {"v_sin_f32", S(F(-0.75F)), W(F(1.0F))},
        {"v_sin_f32", S(F(300.25F)), W(0)},
        {"v_cos_f32", S(F(0.5F)), W(F(-1.0F))},
        {"v_cos_f32", S(F(300.25F)), W(F(1.0F))},
        {"v_cubeid_f32", S(F(1.0F), F(0.5F), F(0.25F)), W(F(0.0F))},
        {"v_cubeid_f32", S(F(1.0F), F(-2.0F), F(0.25F)), W(F(3.0F))},
        {"v_cubeid_f32", S(F(1.0F), F(-2.0F), F(-2.0F)), W(F(5.0F))},
        {"v_cubesc_f32", S(F(1.0F), F(0.5F), F(0.25F)), W(F(-0.25F))},
        {"v_cubesc_f32", S(F(1.0F), F(0.5F), F(-4.0F)), W(F(-1.0F))},
        {"v_cubetc_f32", S(F(1.0F), F(0.5F), F(0.25F)), W(F(-0.5F))},
        {"v_cubetc_f32", S(F(1.0F), F(-5.0F), F(0.25F)), W(F(-0.25F))},
        {"v_cubema_f32", S(F(1.0F), F(-5.0F), F(0.25F)), W(F(-10.0F))},
        {"v_cndmask_b32", S(5, 7), W(5)},
        {"v_cndmask_b32", S(5, 7), W(7), .carry = true},
        {"v_cndmask_b32", S(1, F(2.0F)), W(F(-2.0F)), .neg = 2, .carry = true, .flush32 = 3},
        {"v_cndmask_b32", S(1, F(2.0F)), W(1), .neg = 2, .flush32 = 3},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

void alu_test_f64(void **state)
{
    const uint64_t inf = 0x7ff0000000000000, nan = 0x7ff8000000000000, nzero = 1ULL << 63;
    const uint64_t snan = 0x7ff0000000000001;
    const struct alu_case cases[] = {
        {"v_add_f64", S(D(1.0), D(0x1p-53)), W(D(1.0))},
        {"v_add_f64", S(D(1.0), D(0x1p-53)), W(0x3ff0000000000001), .round16_64 = 1},
        {"v_add_f64", S(1, 1), W(2)},
        {"v_add_f64", S(1, 1), W(0), .flush16_64 = 3},
        {"v_add_f64", S(D(1.0), D(2.0)), W(D(1.0)), .neg = 1},
        {"v_add_f64", S(D(1.0), D(2.0)), W(D(1.0)), .clamp = true},
        {"v_mul_f64", S(D(3.0), D(-0.5)), W(D(-1.5))},
        {"v_mul_f64", S(D(0x1p1023), D(4.0)), W(inf)},
        {"v_min_f64", S(0, nzero), W(nzero)},
        {"v_min_f64", S(nan, D(1.0)), W(D(1.0))},
        {"v_min_f64", S(snan, D(1.0)), W(0x7ff8000000000001), .mode = IEEE},
        {"v_max_f64", S(nzero, 0), W(0)},
        {"v_max_f64", S(D(-3.0), D(2.0)), W(D(2.0))},
        {"v_max_f64", S(D(5.0), nan), W(D(5.0))},
        {"v_fma_f64", S(D(1.0 + 0x1p-52), D(1.0 + 0x1p-52), D(-1.0 - 0x1p-51)), W(D(0x1p-104))},
        {"v_fmac_f64", S(D(2.0), D(3.0)), W(D(10.0)), .old = D(4.0)},
        {"v_floor_f64", S(D(-1.5)), W(D(-2.0))},
        {"v_ceil_f64", S(D(1.25)), W(D(2.0))},
        {"v_trunc_f64", S(D(-1.75)), W(D(-1.0))},
        {"v_rndne_f64", S(D(2.5)), W(D(2.0))},
        {"v_rndne_f64", S(D(-1.5)), W(D(-2.0))},
        {"v_fract_f64", S(D(-0.25)), W(D(0.75))},
        {"v_fract_f64", S(D(-1e-300)), W(0x3fefffffffffffff)},
        {"v_rcp_f64", S(D(4.0)), W(D(0.25))},
        {"v_rcp_f64", S(nzero), W(inf | nzero)},
        {"v_sqrt_f64", S(D(9.0)), W(D(3.0))},
        {"v_rsq_f64", S(D(16.0)), W(D(0.25))},
        {"v_ldexp_f64", S(D(1.5), 4), W(D(24.0))},
        {"v_ldexp_f64", S(D(1.0), (uint32_t)-1074), W(1)},
        {"v_ldexp_f64", S(D(1.0), 0x7fffffff), W(inf)},
        {"v_frexp_mant_f64", S(D(12.0)), W(D(0.75))},
        {"v_frexp_mant_f64", S(1), W(D(0.5))},
        {"v_frexp_exp_i32_f64", S(D(12.0)), W(4)},
        {"v_frexp_exp_i32_f64", S(1), W((uint32_t)-1073)},
        {"v_frexp_exp_i32_f64", S(inf), W(0)},
        /* 2/pi = 0.a2f9836e 4e441529 fc2757d1 ... (hex); 53 bits a segment */
        {"v_trig_preop_f64", S(D(1.0), 0), W(0x3fe45f306dc9c882)},
        {"v_trig_preop_f64", S(D(1.0), 1), W(0x3c94a7f09d5f47d4)},
        {"v_trig_preop_f64", S(D(1.0), 2), W(0x394a6ee06db14acc)},
        /* 2^56: exponent field 1079 skips two bits */
        {"v_trig_preop_f64", S(D(0x1p56), 0), W(0x3fc17cc1b727220a)},
        {"v_trig_preop_f64", S(D(1.0), 31), W(0)}, /* past the last bit */
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

/* f16: 1 = 3c00, 2 = 4000, 3 = 4200, 0.5 = 3800, largest 65504 = 7bff, smallest denormal 2^-24 =
 * 0001. */
void alu_test_f16(void **state)
{
    const struct alu_case cases[] = {
        {"v_add_f16", S(0x3c00, 0x4000), W(0x4200), .old = 0xffffffff},
        {"v_add_f16", S(0x3c00ffff, 0x4000), W(0x4200), .op_sel = 1},
        {"v_add_f16", S(0x3c00, 0x4000), W(0x42001234), .old = 0x12341234, .op_sel = 8},
        {"v_add_f16", S(0x7bff, 0x7bff), W(0x7c00)},
        {"v_add_f16", S(0x7bff, 0x7bff), W(0x7bff), .mode = EMU_MODE_OVFL},
        {"v_add_f16", S(0x7c00, 0x3c00), W(0x7c00), .mode = EMU_MODE_OVFL}, /* a true Inf stays */
        {"v_add_f16", S(0x7bff, 0x7bff), W(0x7bff), .round16_64 = 3},
        {"v_add_f16", S(0x0001, 0x0001), W(0x0002)},
        {"v_add_f16", S(0x0001, 0x0001), W(0), .flush16_64 = 1},
        {"v_add_f16", S(0x3c00, 0x0001), W(0x3c01), .round16_64 = 1},
        {"v_add_f16", S(0x6800, 0x3c00), W(0x6800)}, /* 2048 + 1: tie to even */
        {"v_add_f16", S(0x6801, 0x3c00), W(0x6802)}, /* 2050 + 1 */
        {"v_add_f16", S(0x4000, 0x4000), W(0x3c00), .clamp = true},
        {"v_sub_f16", S(0x3c00, 0x4000), W(0xbc00)},
        {"v_subrev_f16", S(0x3c00, 0x4000), W(0x3c00)},
        {"v_mul_f16", S(0x4000, 0xc200), W(0xc600)},
        {"v_mul_f16", S(0x0400, 0x3800), W(0x0200)},
        {"v_mul_f16", S(0x0400, 0x3800), W(0), .flush16_64 = 2},
        {"v_mul_f16", S(0x4000, 0x4000), W(0x4800), .omod = 1, .flush16_64 = 2},
        {"v_min_f16", S(0x8000, 0x0000), W(0x8000)},
        {"v_min_f16", S(0x7e00, 0x3c00), W(0x3c00)},
        {"v_min_f16", S(0x7c01, 0x3c00), W(0x7e01), .mode = IEEE},
        {"v_max_f16", S(0xbc00, 0x4000), W(0x4000)},
        {"v_max_f16", S(0x8000, 0x0000), W(0)},
        {"v_ldexp_f16", S(0x3c00, 3), W(0x4800)},
        {"v_ldexp_f16", S(0x3c00, 0xffe8), W(0x0001)}, /* -24 */
        {"v_mac_f16", S(0x4000, 0x4200), W(0x4900), .old = 0x00004400},
        {"v_madak_f16", S(0x4000, 0x4200), W(0x4700), .imm = 0x3c00},
        {"v_madmk_f16", S(0x4000, 0x4200), W(0x4700), .imm = 0x4000},
        {"v_mad_f16", S(0x4000, 0x4200, 0x3c00), W(0xabcd4700), .old = 0xabcd0000},
        {"v_mad_legacy_f16", S(0x4000, 0x4200, 0x3c00), W(0x4700), .old = 0xabcd0000},
        /* (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20: fused keeps it, mad loses it */
        {"v_fma_f16", S(0x3c01, 0x3c01, 0xbc02), W(0xabcd0010), .old = 0xabcd0000},
        {"v_fma_f16", S(0x3c01, 0x3c01, 0xbc02), W(0x0010abcd), .old = 0x0000abcd, .op_sel = 8},
        {"v_mad_f16", S(0x3c01, 0x3c01, 0xbc02), W(0)},
        {"v_fma_legacy_f16", S(0x4000, 0x4200, 0x3c00), W(0x4700), .old = 0xabcd0000},
        {"v_min3_f16", S(0x4000, 0x3c00, 0x4200), W(0x3c00)},
        {"v_max3_f16", S(0x4000, 0x3c00, 0x4200), W(0x4200)},
        {"v_med3_f16", S(0x4000, 0x3c00, 0x4200), W(0x4000)},
        {"v_med3_f16", S(0x7e00, 0x3c00, 0x4200), W(0x3c00)},
        {"v_floor_f16", S(0xbe00), W(0xc000)}, /* -1.5 */
        {"v_ceil_f16", S(0x3c01), W(0x4000)},
        {"v_trunc_f16", S(0xbe00), W(0xbc00)},
        {"v_rndne_f16", S(0x4100), W(0x4000)}, /* 2.5 */
        {"v_fract_f16", S(0xb400), W(0x3a00)}, /* -0.25 */
        {"v_fract_f16", S(0x8001), W(0x3bff)},
        {"v_rcp_f16", S(0x4400), W(0x3400)},
        {"v_rcp_f16", S(0x8000), W(0xfc00)},
        {"v_sqrt_f16", S(0x4400), W(0x4000)},
        {"v_rsq_f16", S(0x4400), W(0x3800)},
        {"v_exp_f16", S(0x4200), W(0x4800)},
        {"v_log_f16", S(0x4800), W(0x4200)},
        {"v_log_f16", S(0x0001), W(0xce00)}, /* -24 */
        {"v_sin_f16", S(0x3400), W(0x3c00)},
        {"v_cos_f16", S(0x3800), W(0xbc00)},
        {"v_frexp_mant_f16", S(0x4a00), W(0x3a00)}, /* 12 = 0.75 * 2^4 */
        {"v_frexp_exp_i16_f16", S(0x4a00), W(4)},
        {"v_frexp_exp_i16_f16", S(0x0001), W(0xffe9)}, /* -23 */
        {"v_frexp_exp_i16_f16", S(0x7c00), W(0)},
        {"v_div_fixup_f16", S(0x3c00, 0x0000, 0x0000), W(0xfe00)},
        {"v_div_fixup_f16", S(0x3c00, 0x8000, 0x3c00), W(0xfc00)},
        {"v_div_fixup_f16", S(0xbc00, 0x4000, 0x4000), W(0x3c00)},
        {"v_div_fixup_legacy_f16", S(0x3c00, 0x7c00, 0xbc00), W(0x8000), .old = 0xffff0000},
        {"v_div_fixup_legacy_f16", S(0x3c00, 0x3c00, 0x7e01), W(0x7e01)},
        {"v_pack_b32_f16", S(0x3c00, 0x4000), W(0x40003c00)},
        {"v_pack_b32_f16", S(0x3c000000, 0x4000), W(0x40003c00), .op_sel = 1},
        {"v_pack_b32_f16", S(0x3c00, 0x4000), W(0xc0003c00), .neg = 2},
        {"v_fma_mix_f32", S(F(2.0F), F(3.0F), F(1.0F)), W(F(7.0F))},
        {"v_fma_mix_f32", S(0x40000000, 0x4200, F(1.0F)), W(F(7.0F)), .hi_on = 3, .op_sel = 1},
        {"v_fma_mix_f32", S(F(2.0F), F(-3.0F), F(1.0F)), W(F(5.0F)), .abs = 2, .neg = 4},
        {"v_fma_mixlo_f16", S(F(2.0F), F(3.0F), F(1.0F)), W(0xabcd4700), .old = 0xabcd1234},
        {"v_fma_mixhi_f16", S(F(2.0F), F(3.0F), F(1.0F)), W(0x47001234), .old = 0xabcd1234},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

/* The sequences that compilers emit for a division, over these instructions. */
static uint64_t lane_op(struct alu_coverage *coverage, const char *name, uint64_t a, uint64_t b,
                        uint64_t c, uint8_t neg, bool *mask)
{
    static uint32_t src[3][2 * EMU_LANES], dst[2 * EMU_LANES];
    const struct emu_alu_op *op = alu_row(coverage, name);
    const uint64_t values[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned l = 0; l < EMU_LANES; l++) {
            src[i][l] = (uint32_t)values[i];
            src[i][EMU_LANES + l] = (uint32_t)(values[i] >> 32);
        }
    }
    struct emu_alu alu = {
        .dst = dst,
        .src = {src[0], src[1], src[2]},
        .exec = ~0ULL,
        .neg = neg,
        .denorm32 = 3,
        .denorm16_64 = 3,
        .carry_in = mask != NULL && *mask ? ~0ULL : 0
    };
    op->fn(&alu);
    if (mask != NULL && (op->flags & EMU_ALU_MASK_OUT)) {
        *mask = alu.mask_out >> 5 & 1;
    }
    return (uint64_t)dst[EMU_LANES + 7] << 32 | dst[7];
}

static uint32_t divide32(struct alu_coverage *cov, uint32_t n, uint32_t d)
{
    bool ignored = false, mask = false;
    uint64_t ds = lane_op(cov, "v_div_scale_f32", d, d, n, 0, &ignored);
    uint64_t ns = lane_op(cov, "v_div_scale_f32", n, d, n, 0, &mask);
    uint64_t r = lane_op(cov, "v_rcp_f32", ds, 0, 0, 0, NULL);
    uint64_t e = lane_op(cov, "v_fma_f32", ds, r, F(1.0F), 1, NULL);
    r = lane_op(cov, "v_fma_f32", e, r, r, 0, NULL);
    uint64_t q = lane_op(cov, "v_mul_f32", ns, r, 0, 0, NULL);
    e = lane_op(cov, "v_fma_f32", ds, q, ns, 1, NULL);
    q = lane_op(cov, "v_fma_f32", e, r, q, 0, NULL);
    e = lane_op(cov, "v_fma_f32", ds, q, ns, 1, NULL);
    q = lane_op(cov, "v_div_fmas_f32", e, r, q, 0, &mask);
    return (uint32_t)lane_op(cov, "v_div_fixup_f32", q, d, n, 0, NULL);
}

static uint64_t divide64(struct alu_coverage *cov, uint64_t n, uint64_t d)
{
    bool ignored = false, mask = false;
    uint64_t ds = lane_op(cov, "v_div_scale_f64", d, d, n, 0, &ignored);
    uint64_t ns = lane_op(cov, "v_div_scale_f64", n, d, n, 0, &mask);
    uint64_t r = lane_op(cov, "v_rcp_f64", ds, 0, 0, 0, NULL);
    uint64_t e = lane_op(cov, "v_fma_f64", ds, r, D(1.0), 1, NULL);
    r = lane_op(cov, "v_fma_f64", r, e, r, 0, NULL);
    uint64_t q = lane_op(cov, "v_mul_f64", ns, r, 0, 0, NULL);
    e = lane_op(cov, "v_fma_f64", ds, q, ns, 1, NULL);
    q = lane_op(cov, "v_div_fmas_f64", e, r, q, 0, &mask);
    return lane_op(cov, "v_div_fixup_f64", q, d, n, 0, NULL);
}

void alu_test_division(void **state)
{
    static const uint32_t edges[] = {0x3f800000, 0x40400000, 0xc0e00000, 0x00000001,
                                     0x007fffff, 0x00800000, 0x7f7fffff, 0x7e800001,
                                     0x7f000000, 0x0c000003, 0x72345678, 0x80000123,
                                     0x1e3c0000, 0x5f800000, 0x00012345, 0xfe7fffff};
    enum { COUNT = sizeof edges / sizeof edges[0] };
    for (unsigned i = 0; i < COUNT; i++) {
        for (unsigned j = 0; j < COUNT; j++) {
            float n, d;
            memcpy(&n, &edges[i], 4);
            memcpy(&d, &edges[j], 4);
            uint32_t got = divide32(*state, edges[i], edges[j]);
            if (got != (uint32_t)F(n / d)) {
                fail_msg("%a / %a: %08x, want %08x", (double)n, (double)d, got, (uint32_t)F(n / d));
            }
        }
    }
    static const uint32_t specials[][3] = {
        {0,          0,          0xffc00000},
        {0x3f800000, 0,          0x7f800000},
        {0x3f800000, 0x80000000, 0xff800000},
        {0x7f800000, 0x7f800000, 0xffc00000},
        {0,          0x3f800000, 0         },
        {0xbf800000, 0x7f800000, 0x80000000},
    };
    for (unsigned i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        assert_int_equal(divide32(*state, specials[i][0], specials[i][1]), specials[i][2]);
    }
    static const double doubles[] = {1.0,
                                     3.0,
                                     -7.0,
                                     0x1p-1074,
                                     0x1.fp-1023,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     0x1.8p1022,
                                     0x1.23456789p700,
                                     0x1p-800,
                                     0x1.1p-300,
                                     0x1.7p1021};
    for (unsigned i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        for (unsigned j = 0; j < sizeof doubles / sizeof doubles[0]; j++) {
            uint64_t got = divide64(*state, D(doubles[i]), D(doubles[j]));
            if (got != D(doubles[i] / doubles[j])) {
                fail_msg("%a / %a: %llx, want %llx", doubles[i], doubles[j],
                         (unsigned long long)got, (unsigned long long)D(doubles[i] / doubles[j]));
            }
        }
    }
}
