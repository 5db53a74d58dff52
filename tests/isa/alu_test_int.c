/* SPDX-License-Identifier: Apache-2.0 */
/* Integer, bit, lane-moving, packed and dot-product instructions. */

#include "tests/support/test.h"

#include "alu_test.h"

#define NEG(x) ((uint32_t)-(x))

void alu_test_int(void **state)
{
    const struct alu_case cases[] = {
        {"v_mov_b32", S(0xdeadbeef), W(0xdeadbeef)},
        {"v_accvgpr_read_b32", S(0x12345678), W(0x12345678)},
        {"v_accvgpr_write_b32", S(0x12345678), W(0x12345678)},
        {"v_accvgpr_mov_b32", S(0x12345678), W(0x12345678)},
        {"v_mov_b64", S(0x123456789abcdef0), W(0x123456789abcdef0)},
        {"v_pk_mov_b32", S(0x1111111122222222, 0x3333333344444444), W(0x4444444422222222)},
        {"v_pk_mov_b32", S(0x1111111122222222, 0x3333333344444444), W(0x3333333311111111),
         .op_sel = 3},
        {"v_not_b32", S(0x0f0f0f0f), W(0xf0f0f0f0)},
        {"v_bfrev_b32", S(0x80000001), W(0x80000001)},
        {"v_bfrev_b32", S(0x00000006), W(0x60000000)},
        {"v_ffbh_u32", S(0x00010000), W(15)},
        {"v_ffbh_u32", S(0), W(0xffffffff)},
        {"v_ffbh_i32", S(0xffff0000), W(16)},
        {"v_ffbh_i32", S(0x00010000), W(15)},
        {"v_ffbh_i32", S(0xffffffff), W(0xffffffff)},
        {"v_ffbl_b32", S(0x00010000), W(16)},
        {"v_ffbl_b32", S(0), W(0xffffffff)},
        {"v_prng_b32", S(0x80000001), W(0x000000c7)}, /* 2 ^ 197 */
        {"v_prng_b32", S(3), W(6)},
        {"v_sat_pk_u8_i16", S(0xffff0123), W(0x00ff)},
        {"v_sat_pk_u8_i16", S(0x00800012), W(0x8012)},
        {"v_and_b32", S(0xff00ff00, 0x0ff00ff0), W(0x0f000f00)},
        {"v_or_b32", S(0xff00ff00, 0x0ff00ff0), W(0xfff0fff0)},
        {"v_xor_b32", S(0xff00ff00, 0x0ff00ff0), W(0xf0f0f0f0)},
        {"v_xnor_b32", S(0xff00ff00, 0x0ff00ff0), W(0x0f0f0f0f)},
        {"v_lshlrev_b32", S(4, 0x12345678), W(0x23456780)},
        {"v_lshlrev_b32", S(36, 0x12345678), W(0x23456780)}, /* low five bits */
        {"v_lshrrev_b32", S(4, 0x82345678), W(0x08234567)},
        {"v_ashrrev_i32", S(4, 0x82345678), W(0xf8234567)},
        {"v_and_or_b32", S(0xff00, 0x1234, 0xf), W(0x120f)},
        {"v_or3_b32", S(1, 2, 4), W(7)},
        {"v_lshl_or_b32", S(0x12, 8, 0x34), W(0x1234)},
        {"v_lshl_or_b32", S(0x12, 40, 0x34), W(0x1234)},
        {"v_lshl_add_u32", S(5, 2, 7), W(27)},
        {"v_lshl_add_u32", S(0x80000000, 1, 7), W(7)},
        {"v_add_lshl_u32", S(5, 2, 3), W(56)},
        {"v_add3_u32", S(0xffffffff, 2, 3), W(4)},
        {"v_xad_u32", S(0xf0, 0x0f, 1), W(0x100)},
        {"v_bfi_b32", S(0xffff0000, 0x12345678, 0x9abcdef0), W(0x1234def0)},
        {"v_bfe_u32", S(0x12345678, 8, 12), W(0x456)},
        {"v_bfe_u32", S(0x12345678, 8, 0), W(0)},
        {"v_bfe_u32", S(0xff000000, 28, 31), W(0xf)},
        {"v_bfe_i32", S(0x00000800, 8, 4), W(0xfffffff8)},
        {"v_bfe_i32", S(0x00000700, 8, 4), W(7)},
        {"v_bfe_i32", S(0xffffffff, 8, 0), W(0)},
        {"v_bfm_b32", S(4, 8), W(0xf00)},
        {"v_bfm_b32", S(32, 8), W(0)},
        {"v_alignbit_b32", S(0x12345678, 0x9abcdef0, 8), W(0x789abcde)},
        {"v_alignbit_b32", S(0x12345678, 0x9abcdef0, 32), W(0x9abcdef0)},
        {"v_alignbyte_b32", S(0x12345678, 0x9abcdef0, 3), W(0x3456789a)},
        {"v_perm_b32", S(0x07060504, 0x03020100, 0x07050301), W(0x07050301)},
        {"v_perm_b32", S(0x07060504, 0x03020100, 0x0c0d0400), W(0x00ff0400)},
        {"v_perm_b32", S(0x80008000, 0x80000000, 0x0b0a0908),
         W(0xffffff00)}, /* signs of bytes 7, 5, 3, 1 */
        {"v_perm_b32", S(0x00800080, 0x00808080, 0x0b0a0908), W(0x000000ff)},
        {"v_bitop3_b32", S(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa), W(0x6c6c6c6c), .imm = 0x6c},
        {"v_bitop3_b32", S(0xff00ff00, 0x0ff00ff0, 0x12345678), W(0x0f000f00),
         .imm = 0xc0}, /* x & y */
        {"v_bitop3_b16", S(0xf0f0, 0xcccc, 0xaaaa), W(0x1234caca), .imm = 0xca, .old = 0x12340000},
        {"v_bitop3_b16", S(0xf0f00000, 0xcccc, 0xaaaa), W(0xe8e81234), .imm = 0xe8, .old = 0x1234,
         .op_sel = 9},
        {"v_bcnt_u32_b32", S(0xf0f00001, 10), W(19)},
        {"v_add_u32", S(0xffffffff, 2), W(1)},
        {"v_add_u32", S(0xffffffff, 2), W(0xffffffff), .clamp = true},
        {"v_sub_u32", S(1, 2), W(0xffffffff)},
        {"v_sub_u32", S(1, 2), W(0), .clamp = true},
        {"v_subrev_u32", S(1, 2), W(1)},
        {"v_subrev_u32", S(3, 2), W(0), .clamp = true},
        {"v_add_i32", S(0x7fffffff, 1), W(0x80000000)},
        {"v_add_i32", S(0x7fffffff, 1), W(0x7fffffff), .clamp = true},
        {"v_sub_i32", S(0x80000000, 1), W(0x7fffffff)},
        {"v_sub_i32", S(0x80000000, 1), W(0x80000000), .clamp = true},
        {"v_add_co_u32", S(0xffffffff, 1), W(0), .mask = MASK_1},
        {"v_add_co_u32", S(0xfffffffe, 1), W(0xffffffff), .mask = MASK_0},
        {"v_add_co_u32", S(0xffffffff, 1), W(0), .mask = MASK_1,
         .carry = true}, /* carry-in ignored */
        {"v_sub_co_u32", S(1, 2), W(0xffffffff), .mask = MASK_1},
        {"v_sub_co_u32", S(2, 2), W(0), .mask = MASK_0},
        {"v_subrev_co_u32", S(2, 1), W(0xffffffff), .mask = MASK_1},
        {"v_subrev_co_u32", S(1, 2), W(1), .mask = MASK_0},
        {"v_addc_co_u32", S(0xffffffff, 0), W(0), .mask = MASK_1, .carry = true},
        {"v_addc_co_u32", S(0xffffffff, 0), W(0xffffffff), .mask = MASK_0},
        {"v_addc_co_u32", S(0xffffffff, 0xffffffff), W(0xffffffff), .mask = MASK_1, .carry = true},
        {"v_subb_co_u32", S(1, 1), W(0xffffffff), .mask = MASK_1, .carry = true},
        {"v_subb_co_u32", S(1, 1), W(0), .mask = MASK_0},
        {"v_subbrev_co_u32", S(0xffffffff, 0), W(0), .mask = MASK_1, .carry = true},
        {"v_subbrev_co_u32", S(1, 3), W(1), .mask = MASK_0, .carry = true},
        {"v_mul_lo_u32", S(0x10001, 0x10001), W(0x20001)},
        {"v_mul_hi_u32", S(0xffffffff, 0xffffffff), W(0xfffffffe)},
        {"v_mul_hi_i32", S(0xffffffff, 0xffffffff), W(0)},
        {"v_mul_hi_i32", S(0x80000000, 2), W(0xffffffff)},
        {"v_mul_u32_u24", S(0xff000003, 0x01000005), W(15)},
        {"v_mul_hi_u32_u24", S(0x00ffffff, 0x00ffffff), W(0xffff)},
        {"v_mul_i32_i24", S(0x00ffffff, 5), W(NEG(5))},
        {"v_mul_hi_i32_i24", S(0x00800000, 0x00800000), W(0x4000)},
        {"v_mul_hi_i32_i24", S(0x00ffffff, 1), W(0xffffffff)},
        {"v_mad_u32_u24", S(0xff000003, 5, 1), W(16)},
        {"v_mad_u32_u24", S(0xffff, 0xffff, 0xffffffff), W(0xffffffff), .clamp = true},
        {"v_mad_i32_i24", S(0xffffff, 5, 1), W(NEG(4))},
        {"v_mad_i32_i24", S(0x800000, 0x7fffff, 0), W(0x80000000), .clamp = true},
        {"v_min_i32", S(0xffffffff, 1), W(0xffffffff)},
        {"v_max_i32", S(0xffffffff, 1), W(1)},
        {"v_min_u32", S(0xffffffff, 1), W(1)},
        {"v_max_u32", S(0xffffffff, 1), W(0xffffffff)},
        {"v_min3_u32", S(3, 0xffffffff, 2), W(2)},
        {"v_max3_u32", S(3, 0xffffffff, 2), W(0xffffffff)},
        {"v_med3_u32", S(3, 0xffffffff, 2), W(3)},
        {"v_min3_i32", S(3, 0xffffffff, 2), W(0xffffffff)},
        {"v_max3_i32", S(3, 0xffffffff, 2), W(3)},
        {"v_med3_i32", S(3, 0xffffffff, 2), W(2)},
        {"v_med3_i32", S(5, 5, 2), W(5)},
        {"v_lshl_add_u64", S(0x80000001, 4, 0x100000000), W(0x900000010)},
        {"v_lshl_add_u64", S(1, 5, 0), W(1)}, /* beyond 4: no shift */
        {"v_lshl_add_u64", S(0xffffffffffffffff, 0, 1), W(0)},
        {"v_lshlrev_b64", S(36, 0x12345678), W(0x2345678000000000)},
        {"v_lshrrev_b64", S(36, 0x8234567800000000), W(0x08234567)},
        {"v_ashrrev_i64", S(36, 0x8234567800000000), W(0xfffffffff8234567)},
        {"v_ashrrev_i64", S(64, 0x8234567800000000), W(0x8234567800000000)},
        {"v_mad_u64_u32", S(0xffffffff, 0xffffffff, 0x1ffffffff), W(0), .mask = MASK_1},
        {"v_mad_u64_u32", S(0xffffffff, 2, 1), W(0x1ffffffff), .mask = MASK_0},
        {"v_mad_i64_i32", S(0xffffffff, 2, 1), W(0xffffffffffffffff), .mask = MASK_1},
        {"v_mad_i64_i32", S(3, 2, 1), W(7), .mask = MASK_0},
        {"v_add_u16", S(0xffff, 2), W(1), .old = 0xffffffff},
        {"v_add_u16", S(0xffff, 2), W(0xffff), .clamp = true},
        {"v_sub_u16", S(1, 2), W(0xffff)},
        {"v_sub_u16", S(1, 2), W(0), .clamp = true},
        {"v_subrev_u16", S(1, 2), W(1)},
        {"v_mul_lo_u16", S(0x101, 0x101), W(0x0201)},
        {"v_lshlrev_b16", S(20, 0x1234), W(0x2340)},
        {"v_lshrrev_b16", S(4, 0xff8234), W(0x0823)},
        {"v_ashrrev_i16", S(4, 0x8234), W(0xf823)},
        {"v_max_u16", S(0xffff, 1), W(0xffff)},
        {"v_min_u16", S(0xffff, 1), W(1)},
        {"v_max_i16", S(0xffff, 1), W(1)},
        {"v_min_i16", S(0xffff, 1), W(0xffff)},
        {"v_add_i16", S(0x7fff, 1), W(0x12348000), .old = 0x12340000},
        {"v_add_i16", S(0x7fff, 1), W(0x7fff), .clamp = true},
        {"v_sub_i16", S(0x8000, 1), W(0x8000), .clamp = true},
        {"v_sub_i16", S(0x00050000, 3), W(0x00020001), .op_sel = 9, .old = 1},
        {"v_mad_u16", S(3, 5, 7), W(0xabcd0016), .old = 0xabcd0000},
        {"v_mad_u16", S(0x100, 0x100, 7), W(0xffff), .clamp = true},
        {"v_mad_i16", S(0xffff, 5, 7), W(2)},
        {"v_mad_i16", S(0x8000, 2, 0), W(0x8000), .clamp = true},
        {"v_mad_legacy_u16", S(3, 5, 7), W(0x16), .old = 0xabcd0000},
        {"v_mad_legacy_i16", S(0xffff, 5, 7), W(2), .old = 0xabcd0000},
        {"v_min3_u16", S(3, 0xffff, 2), W(2)},
        {"v_max3_u16", S(3, 0xffff, 2), W(0xffff)},
        {"v_med3_u16", S(3, 0xffff, 2), W(3)},
        {"v_min3_i16", S(3, 0xffff, 2), W(0xffff)},
        {"v_max3_i16", S(3, 0xffff, 2), W(3)},
        {"v_med3_i16", S(3, 0xffff, 2), W(2)},
        {"v_mad_u32_u16", S(0xffff, 0xffff, 1), W(0xfffe0002)},
        {"v_mad_u32_u16", S(0x00030000, 5, 1), W(16), .op_sel = 1},
        {"v_mad_i32_i16", S(0xffff, 5, 1), W(NEG(4))},
        {"v_sad_u8", S(0x01020304, 0x04030201, 10), W(18)},
        {"v_msad_u8", S(0x01020304, 0x04000201, 10),
         W(17)}, /* 3 + 1 + 3, the zero reference skipped */
        {"v_sad_hi_u8", S(0x01020304, 0x04030201, 10), W(0x0008000a)},
        {"v_sad_u16", S(0x00010005, 0x00040001, 10), W(17)},
        {"v_sad_u32", S(3, 10, 1), W(8)},
        {"v_sad_u32", S(0, 0xffffffff, 2), W(0xffffffff), .clamp = true},
        {"v_lerp_u8", S(0x10203040, 0x20304051, 0x00000101), W(0x18283849)},
        {"v_qsad_pk_u16_u8", S(0x0000000504030201, 0x04030201, 0x0001000000000000),
         W(0x000e000a00040000)},
        {"v_mqsad_pk_u16_u8", S(0x0000000504030201, 0x04030200, 0x0001000000000000),
         W(0x000b000800030000)},
        {"v_cvt_pk_u16_u32", S(0x12345, 7), W(0x0007ffff)},
        {"v_cvt_pk_i16_i32", S(0x12345, 0xffff0000), W(0x80007fff)},
        {"v_cvt_pk_i16_i32", S(NEG(2), 3), W(0x0003fffe)},
        {"v_ashr_pk_i8_i32", S(0x1000, NEG(0x20), 4), W(0x1234fe7f), .old = 0x12340000},
        {"v_ashr_pk_u8_i32", S(0x2000, NEG(0x20), 4), W(0x00ff1234), .old = 0x1234, .op_sel = 8},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

void alu_test_packed(void **state)
{
    const struct alu_case cases[] = {
        {"v_pk_fma_f32",
         S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32, F(1.0F) | F(-1.0F) << 32),
         W(F(11.0F) | F(20.0F) << 32)},
        {"v_pk_fma_f32", S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32, F(1.0F)),
         W(F(11.0F) | F(11.0F) << 32), .hi_off = 7},
        {"v_pk_fma_f32", S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32, F(1.0F)),
         W(F(16.0F) | F(-21.0F) << 32), .op_sel = 1, .neg_hi = 1},
        {"v_pk_mul_f32", S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32),
         W(F(-10.0F) | F(21.0F) << 32), .neg = 2},
        {"v_pk_mul_f32", S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32),
         W(F(14.0F) | F(15.0F) << 32), .op_sel = 2, .hi_off = 2},
        {"v_pk_add_f32", S(F(2.0F) | F(3.0F) << 32, F(5.0F) | F(7.0F) << 32),
         W(F(7.0F) | F(10.0F) << 32)},
        {"v_pk_add_f32", S(1ULL | 1ULL << 32, 0), W(0), .flush32 = 3},
        {"v_pk_add_f16", S(0x40003c00, 0x42003c00), W(0x45004000)},
        {"v_pk_add_f16", S(0x40003c00, 0x42003c00), W(0x3c000000), .neg = 1, .neg_hi = 1},
        {"v_pk_add_f16", S(0x40003c00, 0x42003c00), W(0x42004000), .hi_off = 2},
        {"v_pk_mul_f16", S(0x40003c00, 0x42003c00), W(0x46003c00)},
        {"v_pk_mul_f16", S(0x40003c00, 0x42003c00), W(0x46004600), .op_sel = 3},
        {"v_pk_fma_f16", S(0x40003c00, 0x42003c00, 0x3c003c00), W(0x47004000)},
        {"v_pk_min_f16", S(0x40007e00, 0x42003c00), W(0x40003c00)},
        {"v_pk_max_f16", S(0x4000fc00, 0x42003c00), W(0x42003c00)},
        {"v_pk_minimum3_f16", S(0x40007e00, 0x42003c00, 0x3c003c00), W(0x3c007e00)},
        {"v_pk_maximum3_f16", S(0x40008000, 0x42000000, 0x3c00bc00), W(0x42000000)},
        {"v_pk_fmac_f16", S(0x40003c00, 0x42003c00), W(0x47004000), .old = 0x3c003c00},
        {"v_pk_add_i16", S(0x7fff0001, 0x00010002), W(0x80000003)},
        {"v_pk_add_i16", S(0x7fff0001, 0x00010002), W(0x7fff0003), .clamp = true},
        {"v_pk_sub_i16", S(0x80000001, 0x00010002), W(0x7fffffff)},
        {"v_pk_sub_i16", S(0x80000001, 0x00010002), W(0x8000ffff), .clamp = true},
        {"v_pk_add_u16", S(0xffff0001, 0x00010002), W(0x00000003)},
        {"v_pk_add_u16", S(0xffff0001, 0x00010002), W(0xffff0003), .clamp = true},
        {"v_pk_sub_u16", S(0x00000005, 0x00010002), W(0xffff0003)},
        {"v_pk_sub_u16", S(0x00000005, 0x00010002), W(0x00000003), .clamp = true},
        {"v_pk_mul_lo_u16", S(0x01010003, 0x01010005), W(0x0201000f)},
        {"v_pk_mad_u16", S(0x00030002, 0x00050007, 0x00010001), W(0x0010000f)},
        {"v_pk_mad_i16", S(0xffff0002, 0x00050007, 0x00010001), W(0xfffc000f)},
        {"v_pk_lshlrev_b16", S(0x00040010, 0x12341234), W(0x23401234)},
        {"v_pk_lshrrev_b16", S(0x00040001, 0x82348234), W(0x0823411a)},
        {"v_pk_ashrrev_i16", S(0x00040001, 0x82348234), W(0xf823c11a)},
        {"v_pk_max_i16", S(0xffff0001, 0x00010002), W(0x00010002)},
        {"v_pk_min_i16", S(0xffff0001, 0x00010002), W(0xffff0001)},
        {"v_pk_max_u16", S(0xffff0001, 0x00010002), W(0xffff0002)},
        {"v_pk_min_u16", S(0xffff0001, 0x00010002), W(0x00010001)},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

void alu_test_dot(void **state)
{
    const struct alu_case cases[] = {
        {"v_dot2_f32_f16", S(0x40003c00, 0x42004400, F(0.5F)), W(F(10.5F))}, /* 1*4 + 2*3 */
        {"v_dot2_f32_f16", S(0x40003c00, 0x42004400, F(0.5F)), W(F(2.5F)), .neg = 1},
        {"v_dot2_f32_bf16", S(0x40003f80, 0x40404080, F(0.5F)), W(F(10.5F))},
        {"v_dot2c_f32_f16", S(0x40003c00, 0x42004400), W(F(10.5F)), .old = F(0.5F)},
        {"v_dot2c_f32_bf16", S(0x40003f80, 0x40404080), W(F(10.5F)), .old = F(0.5F)},
        {"v_dot2_i32_i16", S(0xffff0002, 0x00030004, 10), W(15)},
        {"v_dot2_i32_i16", S(0x7fff7fff, 0x7fff7fff, 0x7fffffff), W(0x7fffffff), .clamp = true},
        {"v_dot2_u32_u16", S(0xffff0002, 0x00030004, 10), W(0x3000f)},
        {"v_dot2_u32_u16", S(0xffffffff, 0xffffffff, 0), W(0xffffffff), .clamp = true},
        {"v_dot4_i32_i8", S(0xff020304, 0x05060708, 1), W(61)}, /* -5 + 12 + 21 + 32 + 1 */
        {"v_dot4_u32_u8", S(0xff020304, 0x05060708, 1), W(1341)}, /* 1275 + 12 + 21 + 32 + 1 */
        {"v_dot8_i32_i4", S(0xf1111111, 0x22222222, 0), W(12)},
        {"v_dot8_u32_u4", S(0xf1111111, 0x22222222, 0), W(44)},
        {"v_dot2c_i32_i16", S(0xffff0002, 0x00030004), W(15), .old = 10},
        {"v_dot4c_i32_i8", S(0xff020304, 0x05060708), W(61), .old = 1},
        {"v_dot8c_i32_i4", S(0xf1111111, 0x22222222), W(13), .old = 1},
    };
    alu_run(*state, cases, sizeof cases / sizeof cases[0]);
}

/* Instructions whose result depends on the lane, or that need wider operands than a case has. */
void alu_test_lanes(void **state)
{
    static uint32_t a[4 * EMU_LANES], b[4 * EMU_LANES], c[4 * EMU_LANES], d[4 * EMU_LANES];
    struct emu_alu alu = {
        .dst = d, .src = {a, b, c},
             .exec = ~0ULL
    };
    for (unsigned l = 0; l < EMU_LANES; l++) {
        a[l] = 0xffffffff;
        b[l] = 100;
    }
    alu_row(*state, "v_mbcnt_lo_u32_b32")->fn(&alu);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        assert_int_equal(d[l], 100 + (l < 32 ? l : 32));
    }
    alu_row(*state, "v_mbcnt_hi_u32_b32")->fn(&alu);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        assert_int_equal(d[l], 100 + (l < 32 ? 0 : l - 32));
    }
    for (unsigned l = 0; l < EMU_LANES; l++) {
        d[l] = l;
        a[l] = 1000 + l;
    }
    alu_row(*state, "v_swap_b32")->fn(&alu);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        assert_int_equal(d[l], 1000 + l);
        assert_int_equal(a[l], l);
    }
    /* rows of 16 lanes, with d = d0 d1 d2 d3 and s = s0 s1 s2 s3: d0 s0 d2 s2 and d1 s1 d3 s3 */
    static const int d16[4] = {0, 100, 2, 102}, s16[4] = {1, 101, 3, 103};
    static const int d32[4] = {0, 1, 100, 101}, s32[4] = {2, 3, 102, 103};
    for (unsigned wide = 0; wide < 2; wide++) {
        for (unsigned l = 0; l < EMU_LANES; l++) {
            d[l] = l / 16;
            a[l] = 100 + l / 16;
        }
        alu_row(*state, wide ? "v_permlane32_swap_b32" : "v_permlane16_swap_b32")->fn(&alu);
        for (unsigned l = 0; l < EMU_LANES; l++) {
            assert_int_equal(d[l], (wide ? d32 : d16)[l / 16]);
            assert_int_equal(a[l], (wide ? s32 : s16)[l / 16]);
        }
    }
    /* a mask takes each lane its own way */
    alu.carry_in = 0xf0;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        a[l] = l;
        b[l] = 100 + l;
    }
    alu_row(*state, "v_cndmask_b32")->fn(&alu);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        assert_int_equal(d[l], l >= 4 && l < 8 ? 100 + l : l);
    }
    /* windows 1 2 3 4, 2 3 4 5, 3 4 5 0, 4 5 0 0 against 1 2 3 0, the zero not counted; addends 1,
     * 2, 3, 4 */
    for (unsigned l = 0; l < EMU_LANES; l++) {
        a[l] = 0x04030201;
        a[EMU_LANES + l] = 5;
        b[l] = 0x00030201;
        for (unsigned i = 0; i < 4; i++) {
            c[i * EMU_LANES + l] = i + 1;
        }
    }
    alu_row(*state, "v_mqsad_u32_u8")->fn(&alu);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        assert_int_equal(d[l], 1);
        assert_int_equal(d[EMU_LANES + l], 2 + 3);
        assert_int_equal(d[2 * EMU_LANES + l], 3 + 6);
        assert_int_equal(d[3 * EMU_LANES + l], 4 + 9);
    }
}
