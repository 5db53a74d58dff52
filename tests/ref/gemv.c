/* SPDX-License-Identifier: Apache-2.0 */
#include "gemv.h"

#include "num.h"
#include "parallel.h"

#include <stdlib.h>

/* 4 rows of a against 3 rows of b: 12 accumulators of 4 f64, what 16 vector registers hold with the
 * operands. */
enum { ROWS = 4, COLS = 3, CHUNK = 512, BLOCK_ROWS = 32 };

typedef double f64x4 __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) void dot_tile(const double *a, size_t lda, int rows,
                                                           const double *b, size_t ldb, int cols,
                                                           size_t n, double *out, size_t ldo,
                                                           int add)
{
    f64x4 acc[ROWS][COLS] = {{{0}}};
    for (size_t k = 0; k < n; k += 4)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++)
                acc[i][j] += *(const f64x4 *)(a + i * lda + k) * *(const f64x4 *)(b + j * ldb + k);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            f64x4 s = acc[i][j];
            double sum = (s[0] + s[1]) + (s[2] + s[3]);
            out[i * ldo + j] = add ? out[i * ldo + j] + sum : sum;
        }
}

static inline __attribute__((always_inline)) void dot_body(const double *a, size_t lda, size_t rows,
                                                           const double *b, size_t ldb, size_t cols,
                                                           size_t n, double *out, size_t ldo,
                                                           int add)
{
    for (size_t j = 0; j < cols; j += COLS) {
        const double *bj = b + j * ldb;
        size_t left = cols - j, i = 0;
        for (; i + ROWS <= rows; i += ROWS) {
            const double *ai = a + i * lda;
            double *o = out + i * ldo + j;
            if (left >= 3)
                dot_tile(ai, lda, ROWS, bj, ldb, 3, n, o, ldo, add);
            else if (left == 2)
                dot_tile(ai, lda, ROWS, bj, ldb, 2, n, o, ldo, add);
            else
                dot_tile(ai, lda, ROWS, bj, ldb, 1, n, o, ldo, add);
        }
        for (; i < rows; i++)
            for (size_t c = 0; c < (left < COLS ? left : COLS); c++)
                dot_tile(a + i * lda, lda, 1, bj + c * ldb, ldb, 1, n, out + i * ldo + j + c, ldo,
                         add);
    }
}

typedef void dot_fn(const double *a, size_t lda, size_t rows, const double *b, size_t ldb,
                    size_t cols, size_t n, double *out, size_t ldo, int add);

static void dot_any(const double *a, size_t lda, size_t rows, const double *b, size_t ldb,
                    size_t cols, size_t n, double *out, size_t ldo, int add)
{
    dot_body(a, lda, rows, b, ldb, cols, n, out, ldo, add);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void dot_avx2(const double *a, size_t lda, size_t rows,
                                                         const double *b, size_t ldb, size_t cols,
                                                         size_t n, double *out, size_t ldo, int add)
{
    dot_body(a, lda, rows, b, ldb, cols, n, out, ldo, add);
}

static dot_fn *pick_dot(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? dot_avx2 : dot_any;
}
#else
static dot_fn *pick_dot(void)
{
    return dot_any;
}
#endif

void ref_dot(const double *a, size_t lda, size_t rows, const double *b, size_t ldb, size_t cols,
             size_t n, double *out, size_t ldo)
{
    pick_dot()(a, lda, rows, b, ldb, cols, n, out, ldo, 0);
}

/* Columns k .. k + n - 1 of row ROW, dequantized; n <= CHUNK and k are multiples of 32. */
static void decode_row(const struct ref_weight *w, size_t row, size_t k, size_t n, double *out)
{
    const double *table = ref_e4m3_table();
    const uint8_t *codes = w->codes + row / 32 * (w->k / 32) + k / 32;
    for (size_t b = 0; b < n; b += 32) {
        double scale = ref_e8m0(codes[b / 32]);
        for (size_t half = 0; half < 32; half += 16) {
            const uint8_t *p = w->bytes + ref_weight_at(w, row, k + b + half);
            for (size_t i = 0; i < 16; i++)
                out[b + half + i] = table[p[i]] * scale;
        }
    }
}

struct gemv_job {
    const struct ref_gemv *g;
    const double *x; /* [tokens, k1 - k0] */
    dot_fn *dot;
};

static void gemv_block(void *arg, int block)
{
    const struct gemv_job *job = arg;
    const struct ref_gemv *g = job->g;
    size_t kn = g->k1 - g->k0;
    _Alignas(64) double rows[ROWS][CHUNK];
    double acc[ROWS][REF_MAX_TOKENS];
    for (size_t r = (size_t)block * BLOCK_ROWS; r < (size_t)(block + 1) * BLOCK_ROWS; r += ROWS) {
        memset(acc, 0, sizeof acc);
        for (size_t k = 0; k < kn; k += CHUNK) {
            size_t n = kn - k < CHUNK ? kn - k : CHUNK;
            for (size_t i = 0; i < ROWS; i++)
                decode_row(g->w, g->row0 + r + i, g->k0 + k, n, rows[i]);
            job->dot(rows[0], CHUNK, ROWS, job->x + k, kn, g->tokens, n, acc[0], REF_MAX_TOKENS, 1);
        }
        for (size_t t = 0; t < g->tokens; t++)
            for (size_t i = 0; i < ROWS; i++)
                g->out[t * g->out_stride + r + i] = acc[i][t];
    }
}

int ref_gemv(const struct ref_gemv *g)
{
    size_t kn = g->k1 - g->k0;
    double *x = aligned_alloc(64, g->tokens * kn * sizeof *x);
    if (!x)
        return -1;
    const double *table = ref_e4m3_table();
    for (size_t t = 0; t < g->tokens; t++)
        for (size_t k = 0; k < kn; k++)
            x[t * kn + k] =
                table[g->x8[t * g->x8_stride + k]] * ref_e8m0(g->x8s[t * g->x8s_stride + k / 32]);
    struct gemv_job job = {.g = g, .x = x, .dot = pick_dot()};
    ref_parallel((int)(g->rows / BLOCK_ROWS), gemv_block, &job);
    free(x);
    return 0;
}
