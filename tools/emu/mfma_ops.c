/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix instructions by shape; their arithmetic is in mfma.c and mfma_wide.c. */
#include "mfma.h"

#define MFMA(name, run, ...)                                                                       \
    void emu_v_##name(struct emu_alu *alu)                                                         \
    {                                                                                              \
        static const struct mfma_shape shape = {__VA_ARGS__};                                      \
        run(alu, &shape);                                                                          \
    }

/* m, k, blocks, A, B, group, even/odd split, sparse, scaled */
MFMA(mfma_f64_16x16x4_f64, mfma_f64, 16, 4, 1, MFMA_F64, MFMA_F64)
MFMA(mfma_f64_4x4x4_4b_f64, mfma_f64, 4, 4, 4, MFMA_F64, MFMA_F64)

MFMA(mfma_f32_32x32x1_2b_f32, mfma_f32, 32, 1, 2, MFMA_F32, MFMA_F32)
MFMA(mfma_f32_16x16x1_4b_f32, mfma_f32, 16, 1, 4, MFMA_F32, MFMA_F32)
MFMA(mfma_f32_4x4x1_16b_f32, mfma_f32, 4, 1, 16, MFMA_F32, MFMA_F32)
MFMA(mfma_f32_32x32x2_f32, mfma_f32, 32, 2, 1, MFMA_F32, MFMA_F32)
MFMA(mfma_f32_16x16x4_f32, mfma_f32, 16, 4, 1, MFMA_F32, MFMA_F32)

MFMA(mfma_f32_16x16x8_xf32, mfma_float, 16, 8, 1, MFMA_XF32, MFMA_XF32, 4)
MFMA(mfma_f32_32x32x4_xf32, mfma_float, 32, 4, 1, MFMA_XF32, MFMA_XF32, 4)

#define HALF(type, T)                                                                              \
    MFMA(mfma_f32_32x32x4_2b_##type, mfma_float, 32, 4, 2, T, T, 4)                                \
    MFMA(mfma_f32_16x16x4_4b_##type, mfma_float, 16, 4, 4, T, T, 4)                                \
    MFMA(mfma_f32_4x4x4_16b_##type, mfma_float, 4, 4, 16, T, T, 4)                                 \
    MFMA(mfma_f32_32x32x8_##type, mfma_float, 32, 8, 1, T, T, 8)                                   \
    MFMA(mfma_f32_16x16x16_##type, mfma_float, 16, 16, 1, T, T, 8)                                 \
    MFMA(mfma_f32_32x32x16_##type, mfma_float, 32, 16, 1, T, T, 16)                                \
    MFMA(mfma_f32_16x16x32_##type, mfma_float, 16, 32, 1, T, T, 16)                                \
    MFMA(smfmac_f32_16x16x32_##type, mfma_float, 16, 32, 1, T, T, 16, false, true)                 \
    MFMA(smfmac_f32_32x32x16_##type, mfma_float, 32, 16, 1, T, T, 16, false, true)                 \
    MFMA(smfmac_f32_16x16x64_##type, mfma_float, 16, 64, 1, T, T, 16, false, true)                 \
    MFMA(smfmac_f32_32x32x32_##type, mfma_float, 32, 32, 1, T, T, 16, false, true)

HALF(f16, MFMA_F16)
HALF(bf16, MFMA_BF16)

#define BYTES(types, A, B)                                                                         \
    MFMA(mfma_f32_16x16x32_##types, mfma_float, 16, 32, 1, A, B, 16, true)                         \
    MFMA(mfma_f32_32x32x16_##types, mfma_float, 32, 16, 1, A, B, 16, true)                         \
    MFMA(smfmac_f32_16x16x64_##types, mfma_float, 16, 64, 1, A, B, 32, true, true)                 \
    MFMA(smfmac_f32_32x32x32_##types, mfma_float, 32, 32, 1, A, B, 32, true, true)                 \
    MFMA(smfmac_f32_16x16x128_##types, mfma_float, 16, 128, 1, A, B, 32, true, true)               \
    MFMA(smfmac_f32_32x32x64_##types, mfma_float, 32, 64, 1, A, B, 32, true, true)

BYTES(bf8_bf8, MFMA_BF8, MFMA_BF8)
BYTES(bf8_fp8, MFMA_BF8, MFMA_FP8)
BYTES(fp8_bf8, MFMA_FP8, MFMA_BF8)
BYTES(fp8_fp8, MFMA_FP8, MFMA_FP8)

#define BY_FORMAT MFMA_BY_FORMAT, MFMA_BY_FORMAT, 32, true, false
MFMA(mfma_f32_16x16x128_f8f6f4, mfma_float, 16, 128, 1, BY_FORMAT, false)
MFMA(mfma_f32_32x32x64_f8f6f4, mfma_float, 32, 64, 1, BY_FORMAT, false)
MFMA(mfma_scale_f32_16x16x128_f8f6f4, mfma_float, 16, 128, 1, BY_FORMAT, true)
MFMA(mfma_scale_f32_32x32x64_f8f6f4, mfma_float, 32, 64, 1, BY_FORMAT, true)

MFMA(mfma_i32_32x32x4_2b_i8, mfma_i8, 32, 4, 2, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_16x16x4_4b_i8, mfma_i8, 16, 4, 4, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_4x4x4_16b_i8, mfma_i8, 4, 4, 16, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_32x32x16_i8, mfma_i8, 32, 16, 1, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_16x16x32_i8, mfma_i8, 16, 32, 1, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_32x32x32_i8, mfma_i8, 32, 32, 1, MFMA_I8, MFMA_I8)
MFMA(mfma_i32_16x16x64_i8, mfma_i8, 16, 64, 1, MFMA_I8, MFMA_I8)
MFMA(smfmac_i32_16x16x64_i8, mfma_i8, 16, 64, 1, MFMA_I8, MFMA_I8, 0, false, true)
MFMA(smfmac_i32_32x32x32_i8, mfma_i8, 32, 32, 1, MFMA_I8, MFMA_I8, 0, false, true)
MFMA(smfmac_i32_16x16x128_i8, mfma_i8, 16, 128, 1, MFMA_I8, MFMA_I8, 0, false, true)
MFMA(smfmac_i32_32x32x64_i8, mfma_i8, 32, 64, 1, MFMA_I8, MFMA_I8, 0, false, true)
