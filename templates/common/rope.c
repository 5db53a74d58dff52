/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/rope.h"

#include "gen/model.h"
#include "templates/common/wave.h"

Pair rope(Builder *b, Pair v, Val cos, Val sin)
{
    Val e_cos = emit(b, v_mul_f32, v.even, cos), o_sin = emit(b, v_mul_f32, v.odd, sin);
    Val e_sin = emit(b, v_mul_f32, v.even, sin), o_cos = emit(b, v_mul_f32, v.odd, cos);
    return (Pair){emit(b, v_sub_f32, e_cos, o_sin), emit(b, v_add_f32, e_sin, o_cos)};
}

Pair rope_inverse(Builder *b, Pair v, Val cos, Val sin)
{
    Val e_cos = emit(b, v_mul_f32, v.even, cos), o_sin = emit(b, v_mul_f32, v.odd, sin);
    Val e_sin = emit(b, v_mul_f32, v.even, sin), o_cos = emit(b, v_mul_f32, v.odd, cos);
    return (Pair){emit(b, v_add_f32, e_cos, o_sin), emit(b, v_sub_f32, o_cos, e_sin)};
}

Val cos_sin_row(Builder *b, Val pos)
{
    return addr_mul(b, arg(b, "cos_sin"), pos, imm(ROPE_DIM * 4));
}
