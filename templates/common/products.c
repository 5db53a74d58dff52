/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/products.h"

#include <float.h>

#include "templates/common/wave.h"

Products products_begin(Builder *b)
{
    return (Products){vreg(b, 8), vreg(b, 4), false};
}

/* -v, pair by pair: a packed f32 instruction's constant is for both halves. */
static Val negated(Builder *b, Val v)
{
    Val out = vreg(b, 4);
    for (int i = 0; i < 4; i += 2)
        emit_to(b, part(out, i, 2), v_pk_add_f32, part(v, i, 2), imm(0), neg_lo(1), neg_hi(1));
    return out;
}

/* The first product of a sum is taken as it is. */
static void add(Builder *b, Products *p, Val first, Val rest)
{
    for (int n = 0; n < 4; n++) {
        Val sum = part(p->sums, 2 * n, 2);
        if (p->begun)
            f64_add_f32(b, sum, part(first, n, 1));
        else
            emit_to(b, sum, v_cvt_f64_f32, part(first, n, 1));
    }
    for (int n = 0; p->begun && n < 4; n += 2)
        emit_to(b, part(p->rest, n, 2), v_pk_add_f32, part(p->rest, n, 2), part(rest, n, 2));
    p->begun = true;
}

/* Where the second multiplication of a product goes. */
static Val rest_of(Builder *b, const Products *p)
{
    return p->begun ? vreg(b, 4) : p->rest;
}

void products_add_bf16(Builder *b, Products *p, Val a, Val x)
{
    Val first = emit(b, v_mfma_f32_16x16x32_bf16, a, x, imm(0)), rest = rest_of(b, p);
    emit_to(b, rest, v_mfma_f32_16x16x32_bf16, a, x, negated(b, first));
    add(b, p, first, rest);
}

void products_add_mx(Builder *b, Products *p, Val a, Val x, Val a_code, Val x_code)
{
    Val first = emit(b, v_mfma_scale_f32_16x16x128_f8f6f4, a, x, imm(0), a_code, x_code);
    Val rest = rest_of(b, p);
    emit_to(b, rest, v_mfma_scale_f32_16x16x128_f8f6f4, a, x, negated(b, first), a_code, x_code);
    add(b, p, first, rest);
}

/* x; the nearest finite value of an infinity, any of a NaN. */
static Val make_finite(Builder *b, Val x)
{
    Val most = mov_s(b, f32(FLT_MAX));
    return emit(b, v_med3_f32, x, neg(most), most);
}

void products_end(Builder *b, Products *p)
{
    for (int n = 0; n < 4; n++)
        f64_add_f32(b, part(p->sums, 2 * n, 2), make_finite(b, part(p->rest, n, 1)));
}

Val products_f32(Builder *b, Products *p)
{
    Val out = vreg(b, 4);
    products_end(b, p);
    for (int n = 0; n < 4; n++)
        emit_to(b, part(out, n, 1), v_cvt_f32_f64, part(p->sums, 2 * n, 2));
    return out;
}
