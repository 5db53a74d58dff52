/* SPDX-License-Identifier: Apache-2.0 */
/* Products in f64. The operands' products and the sums of the weights' and activations' ranges are
   exact in f64, so the order of the additions does not show. */
#ifndef REF_GEMV_H
#define REF_GEMV_H

#include "case.h"

/* out[t][row - row0] = sum over k0 <= k < k1 of W[row][k] * X[t][k - k0], for rows row0 .. row0 +
   rows - 1. x8 [tokens, >= k1 - k0] e4m3, x8_stride bytes apart; x8s [tokens, ..] codes of 32
   values, x8s_stride bytes apart; both point at k0. row0, rows, k0 and k1 are multiples of 32. out
   rows are out_stride f64 apart, the caller's. */
struct ref_gemv {
    const struct ref_weight *w;
    size_t row0, rows, k0, k1;
    const uint8_t *x8, *x8s;
    size_t x8_stride, x8s_stride;
    size_t tokens;
    double *out;
    size_t out_stride;
};

/* Returns 0, or -1 when memory is short. */
int ref_gemv(const struct ref_gemv *g);

/* out[i][j] = sum over k < n of a[i][k] * b[j][k] for i < rows, j < cols: a's, b's and out's rows
   are lda, ldb and ldo f64 apart; n is a multiple of 4 and the rows of a and b are 32-byte aligned.
 */
void ref_dot(const double *a, size_t lda, size_t rows, const double *b, size_t ldb, size_t cols,
             size_t n, double *out, size_t ldo);

#endif
