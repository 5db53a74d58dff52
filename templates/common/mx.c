/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/mx.h"

#include "templates/common/wave.h"

/*
 * The exponent of amax / 448, rounded up: 448 = 1.75 * 2^8, so the quotient's exponent is amax's
 * less 8, and one more where the mantissa is above 1.75 (bits 0x600000): adding 0x1fffff carries
 * into the exponent exactly there. That is the IEEE quotient's too: its rounding never reaches a
 * power of two that the exact quotient does not.
 */
enum { CEIL_448 = 0x1fffff - (8 << 23) };

static Val exponent_up(Builder *b, Val amax)
{
    return emit(b, v_ashrrev_i32, imm(23), emit(b, v_add_u32, imm(CEIL_448), amax));
}

/* Below the smallest normal number's code there is nothing: amax is floored there. */
Val mx_code(Builder *b, Val amax)
{
    return emit(b, v_max_i32, imm(1), exponent_up(b, amax));
}

Val record_code(Builder *b, Val amax)
{
    return exponent_up(b, emit(b, v_max_f32, f32(1e-4f), amax));
}

Val mx_scale(Builder *b, Val code)
{
    return emit(b, v_lshlrev_b32, imm(23), code);
}

Val bf16_amax(Builder *b, const Val *words, int n)
{
    Val mask = mov_s(b, bits(0x7fff7fff));
    Val amax = emit(b, v_and_b32, mask, words[0]);
    for (int i = 1; i < n; i++)
        amax = emit(b, v_pk_max_u16, amax, emit(b, v_and_b32, mask, words[i]));
    return emit(b, v_max_u32, bf16_lo(b, amax), bf16_hi(b, amax));
}

Val fp8_of_bf16(Builder *b, Val pair0, Val pair1, Val scale)
{
    Val word = emit(b, v_cvt_scalef32_pk_fp8_bf16, pair0, scale);
    emit_to(b, word, v_cvt_scalef32_pk_fp8_bf16, pair1, scale, op_sel(4));
    return word;
}

Val fp8_of_f32(Builder *b, Val v0, Val v1, Val v2, Val v3, Val scale)
{
    Val word = emit(b, v_cvt_scalef32_pk_fp8_f32, v0, v1, scale);
    emit_to(b, word, v_cvt_scalef32_pk_fp8_f32, v2, v3, scale, op_sel(8));
    return word;
}

Val fp8_pair_of_bf16(Builder *b, Val pair, Val scale)
{
    return emit(b, v_cvt_scalef32_pk_fp8_bf16, pair, scale);
}

Quantized mx_quantize_bf16(Builder *b, Val words)
{
    Val each[4];
    for (int i = 0; i < 4; i++)
        each[i] = part(words, i, 1);
    Val code = mx_code(b, lanes_max_u32(b, bf16_amax(b, each, 4), 4));
    Val scale = mx_scale(b, code);
    Val bytes = vreg(b, 2);
    for (int i = 0; i < 2; i++) {
        emit_to(b, part(bytes, i, 1), v_cvt_scalef32_pk_fp8_bf16, part(words, 2 * i, 1), scale);
        emit_to(b, part(bytes, i, 1), v_cvt_scalef32_pk_fp8_bf16, part(words, 2 * i + 1, 1), scale,
                op_sel(4));
    }
    return (Quantized){bytes, code};
}
