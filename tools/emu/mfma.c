/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiply-add of bf16, f16, xf32 and narrower floats.
 *
 * Arithmetic is a MODEL, not a documented fact. On gfx942 it follows the published bit-accurate
 * study of that unit (MMA-Sim): K is taken in groups; the exact products of a group are aligned to
 * the largest exponent and cut (toward zero) at 24 fraction bits, then summed exactly; 8-bit forms
 * sum even and odd products apart and join the two, cut downward at 24 bits. The group's sum, cut
 * downward at 31 fraction bits, and C, cut downward at 24, are aligned and added; the result is
 * rounded to f32, to nearest even, once a group. 8-bit forms lose a C that lies more than 25
 * binades below. A zero factor counts with exponent -126. Groups: 8 (16-bit), 16 (8-bit), 4 (xf32).
 *
 * gfx950 has no public bit-accurate model. The same rules are used, with groups of 16 for the
 * 16-bit forms of doubled K and with one group for each 32-block of f8f6f4, whose scale is added to
 * the group's exponent before C joins. Sparse forms are the dense ones over A with zeros filled in,
 * their groups doubled.
 *
 * With `precise` the whole sum is done in double and rounded once.
 *
 * Whatever the model: when every product and every partial sum is representable in f32, the result
 * is exact. MODE's rounding and denormal fields do not act; FP16_OVFL turns overflow into the
 * largest finite f32.
 */
#include "mfma.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MAX_K = 128, BLOCK = 32 };

/* An operand split for the integer sums: value = sig * 2^(exp - mantissa bits); A's sig is lifted
 * so that a product of both has 24 fraction bits. */
struct split {
    _Alignas(64) int32_t sig[MFMA_PLANES][EMU_LANES];
    _Alignas(64) int32_t exp[MFMA_PLANES][EMU_LANES];
    int top;      /* the largest exponent */
    bool special; /* an Inf or a NaN among the elements */
};

struct operand {
    struct mfma_codes codes;
    struct mfma_order order;
    enum mfma_type type;
};

struct job {
    _Alignas(64) float va[MFMA_PLANES][EMU_LANES];
    _Alignas(64) float vb[MFMA_PLANES][EMU_LANES];
    struct split sa, sb;
    const struct mfma_shape *shape;
    struct emu_alu *alu;
    struct operand a, b;
    bool special;
};

/* xf32: an f32 of which 10 mantissa bits are used. */
#define FORMAT_XF32 ((struct numeric_format){10, 127, 0x40000, 0x3fbff, NUMERIC_INF_NAN})

static struct numeric_format format_of(enum mfma_type type, bool fnuz)
{
    switch (type) {
    case MFMA_XF32:
        return FORMAT_XF32;
    case MFMA_F16:
        return NUMERIC_F16;
    case MFMA_BF16:
        return NUMERIC_BF16;
    case MFMA_FP8:
        return fnuz ? NUMERIC_FP8_FNUZ : NUMERIC_FP8_OCP;
    case MFMA_BF8:
        return fnuz ? NUMERIC_BF8_FNUZ : NUMERIC_BF8_OCP;
    case MFMA_FP6:
        return NUMERIC_FP6;
    case MFMA_BF6:
        return NUMERIC_BF6;
    default:
        return NUMERIC_FP4;
    }
}

/* Codes of xf32 come as whole f32. */
static inline uint32_t code_of(uint32_t raw, bool xf32)
{
    return xf32 ? raw >> 13 : raw;
}

EMU_CLONES static void split_planes(const struct mfma_codes *codes, unsigned planes, bool xf32,
                                    struct numeric_format f, unsigned lift, struct split *out)
{
    int32_t top = -1000;
    uint32_t special = 0;
    for (unsigned e = 0; e < planes; e++) {
        EMU_EACH(l)
        {
            uint32_t code = code_of(codes->code[e][l], xf32);
            uint32_t magnitude = code & (f.sign_bit - 1);
            uint32_t exponent = magnitude >> f.mbits;
            uint32_t mantissa = magnitude & ((1U << f.mbits) - 1);
            int32_t sig = (int32_t)(mantissa | (exponent != 0 ? 1U << f.mbits : 0));
            int32_t exp = (int32_t)(exponent != 0 ? exponent : 1) - f.bias;
            exp = sig == 0 ? -126 : exp;
            sig = (int32_t)((uint32_t)sig << lift);
            out->sig[e][l] = (code & f.sign_bit) != 0 ? -sig : sig;
            out->exp[e][l] = exp;
            top = exp > top ? exp : top;
            uint32_t bad = f.special == NUMERIC_FNUZ ? code == f.sign_bit : magnitude > f.max;
            special |= bad;
        }
    }
    out->top = top;
    out->special = f.special != NUMERIC_FINITE && special != 0;
}

EMU_CLONES static void value_planes(const struct operand *o, unsigned planes, bool fnuz,
                                    float (*out)[EMU_LANES])
{
    struct numeric_format f = format_of(o->type, fnuz);
    for (unsigned e = 0; e < planes; e++) {
        const uint32_t *code = o->codes.code[e];
        if (o->type == MFMA_BF16 || o->type == MFMA_XF32) {
            bool bf16 = o->type == MFMA_BF16;
            EMU_EACH(l)
            {
                out[e][l] = numeric_f32(bf16 ? code[l] << 16 : code[l] & 0xffffe000U);
            }
            continue;
        }
        EMU_EACH(l)
        {
            out[e][l] = numeric_decode(code[l], f);
        }
    }
}

/* Lane of row (column) 0 of a block for element k. */
static unsigned first_lane(const struct mfma_shape *s, const struct mfma_order *o, unsigned k,
                           unsigned block)
{
    return o->group[k] * (unsigned)s->m * s->blocks + block * s->m;
}

/* What a block's sums read: for each k, A's rows (element `row` of each is used) and B's columns.
 */
struct strip {
    const int32_t *a_sig[MAX_K], *a_exp[MAX_K];
    const int32_t *b_sig[MAX_K], *b_exp[MAX_K];
    unsigned row;
};

/*
 * Sum of products k = from, from + step, ... (count of them) for n columns: sum in units of 2^-24,
 * its exponent in top.
 */
static void group_sum_plain(const struct strip *s, unsigned from, unsigned step, unsigned count,
                            int n, int32_t *sum, int32_t *top)
{
    for (int j = 0; j < n; j++) {
        int32_t high = -100000, total = 0;
        for (unsigned i = 0, k = from; i < count; i++, k += step) {
            /* groups divide K, so rows up to `count` are set */
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
            int32_t e = s->a_exp[k][s->row] + s->b_exp[k][j];
            high = e > high ? e : high;
        }
        for (unsigned i = 0, k = from; i < count; i++, k += step) {
            int32_t product = s->a_sig[k][s->row] * s->b_sig[k][j];
            int32_t shift = high - s->a_exp[k][s->row] - s->b_exp[k][j];
            int32_t cut = (int32_t)((uint32_t)abs(product) >> (shift > 31 ? 31 : shift));
            total += product < 0 ? -cut : cut;
        }
        sum[j] = total;
        top[j] = high;
    }
}

#if defined(__x86_64__)
/* Sixteen columns from column `at` on; the same integers as group_sum_plain. */
__attribute__((target("avx2"))) static void group_sum_avx2(const struct strip *s, unsigned from,
                                                           unsigned step, unsigned count, int at,
                                                           int32_t *sum, int32_t *top)
{
    __m256i high[2], total[2];
    unsigned row = s->row;
    for (int c = 0; c < 2; c++) {
        high[c] = _mm256_set1_epi32(-100000);
        total[c] = _mm256_setzero_si256();
    }
    for (unsigned i = 0, k = from; i < count; i++, k += step) {
        const int32_t *be = s->b_exp[k] + at;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as above */
        __m256i ae = _mm256_set1_epi32(s->a_exp[k][row]);
        for (int c = 0; c < 2; c++) {
            __m256i e = _mm256_loadu_si256((const __m256i_u *)(be + 8 * c));
            high[c] = _mm256_max_epi32(high[c], _mm256_add_epi32(e, ae));
        }
    }
    for (unsigned i = 0, k = from; i < count; i++, k += step) {
        const int32_t *be = s->b_exp[k] + at, *bs = s->b_sig[k] + at;
        __m256i ae = _mm256_set1_epi32(s->a_exp[k][row]), as = _mm256_set1_epi32(s->a_sig[k][row]);
        for (int c = 0; c < 2; c++) {
            __m256i e = _mm256_loadu_si256((const __m256i_u *)(be + 8 * c));
            __m256i b = _mm256_loadu_si256((const __m256i_u *)(bs + 8 * c));
            __m256i product = _mm256_mullo_epi32(b, as);
            __m256i shift = _mm256_sub_epi32(_mm256_sub_epi32(high[c], ae), e);
            __m256i cut = _mm256_srlv_epi32(_mm256_abs_epi32(product), shift); /* 0 from 32 on */
            total[c] = _mm256_add_epi32(total[c], _mm256_sign_epi32(cut, product));
        }
    }
    for (int c = 0; c < 2; c++) {
        _mm256_storeu_si256((__m256i_u *)(sum + 8 * c), total[c]);
        _mm256_storeu_si256((__m256i_u *)(top + 8 * c), high[c]);
    }
}
#endif

static void group_sum(const struct strip *s, unsigned from, unsigned step, unsigned count, int n,
                      int32_t *sum, int32_t *top)
{
#if defined(__x86_64__)
    if (n >= 16 && __builtin_cpu_supports("avx2")) {
        for (int j = 0; j < n; j += 16) {
            group_sum_avx2(s, from, step, count, j, sum + j, top + j);
        }
        return;
    }
#endif
    group_sum_plain(s, from, step, count, n, sum, top);
}

/* Joins the odd sum to the even one. */
static inline __attribute__((always_inline)) void
join_sums(const int n, int32_t *sum, int32_t *top, const int32_t *sum1, const int32_t *top1)
{
    for (int j = 0; j < n; j++) {
        int32_t high = top[j] > top1[j] ? top[j] : top1[j];
        int32_t down0 = high - top[j], down1 = high - top1[j];
        down0 = down0 > 31 ? 31 : down0;
        down1 = down1 > 31 ? 31 : down1;
        sum[j] = (sum[j] >> down0) + (sum1[j] >> down1);
        top[j] = high;
    }
}

/* acc = RNE(sum * 2^(top - 24) + acc) with the cuts of the head comment. */
static inline __attribute__((always_inline)) void
add_group(const int n, const int32_t *sum, const int32_t *top, bool split, bool limit, float *acc)
{
    for (int j = 0; j < n; j++) {
        float c = acc[j];
        int32_t ec = (int32_t)(numeric_f32_bits(c) >> 23 & 0xff);
        ec = (ec > 1 ? ec : 1) - 127;
        int32_t high = top[j] > ec ? top[j] : ec;
        double s = floor((double)sum[j] * numeric_pow2(7 + top[j] - high));
        double cut = floor((double)c * numeric_pow2(24 - high));
        cut = split && ec < high - 25 ? 0.0 : cut;
        float r = (float)((s + cut * 128.0) * numeric_pow2(high - 31));
        bool over = limit && fabsf(r) > FLT_MAX && fabsf(c) <= FLT_MAX;
        acc[j] = over ? (r < 0.0F ? -FLT_MAX : FLT_MAX) : r;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static inline __m256d pow2_avx2(__m128i exponent)
{
    __m256i biased = _mm256_cvtepi32_epi64(_mm_add_epi32(exponent, _mm_set1_epi32(1023)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
}

/* add_group without the limit, four columns at a time: the same operations in the same order. */
__attribute__((target("avx2"))) static void
add_group_avx2(int n, const int32_t *sum, const int32_t *top, bool split, float *acc)
{
    for (int j = 0; j < n; j += 4) {
        __m128 c = _mm_loadu_ps(acc + j);
        __m128i e = _mm_loadu_si128((const __m128i_u *)(top + j));
        __m128i ec = _mm_srli_epi32(_mm_slli_epi32(_mm_castps_si128(c), 1), 24);
        ec = _mm_sub_epi32(_mm_max_epi32(ec, _mm_set1_epi32(1)), _mm_set1_epi32(127));
        __m128i high = _mm_max_epi32(e, ec);
        __m256d s = _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i_u *)(sum + j)));
        __m128i down = _mm_add_epi32(_mm_sub_epi32(e, high), _mm_set1_epi32(7));
        s = _mm256_floor_pd(_mm256_mul_pd(s, pow2_avx2(down)));
        __m256d cut =
            _mm256_mul_pd(_mm256_cvtps_pd(c), pow2_avx2(_mm_sub_epi32(_mm_set1_epi32(24), high)));
        cut = _mm256_floor_pd(cut);
        if (split) {
            __m128i lost = _mm_cmplt_epi32(ec, _mm_sub_epi32(high, _mm_set1_epi32(25)));
            cut = _mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cvtepi32_epi64(lost)), cut);
        }
        __m256d total = _mm256_add_pd(s, _mm256_mul_pd(cut, _mm256_set1_pd(128.0)));
        total = _mm256_mul_pd(total, pow2_avx2(_mm_sub_epi32(high, _mm_set1_epi32(31))));
        _mm_storeu_ps(acc + j, _mm256_cvtpd_ps(total));
    }
}
#endif

struct scales {
    int a[4];            /* of the row, by 32-block, unbiased */
    const int32_t *b[4]; /* of the columns */
};

static inline __attribute__((always_inline)) void model_row(const struct mfma_shape *shape,
                                                            const struct strip *strip,
                                                            const struct scales *scales, bool limit,
                                                            const int n, float *acc)
{
    int32_t sum[32], top[32], sum1[32], top1[32];
    unsigned group = shape->group;
    for (unsigned k = 0; k < shape->k; k += group) {
        if (shape->split) {
            group_sum(strip, k, 2, group / 2, n, sum, top);
            group_sum(strip, k + 1, 2, group / 2, n, sum1, top1);
            join_sums(n, sum, top, sum1, top1);
        } else {
            group_sum(strip, k, 1, group, n, sum, top);
        }
        if (shape->scaled) {
            int sa = scales->a[k / BLOCK];
            const int32_t *sb = scales->b[k / BLOCK];
            for (int j = 0; j < n; j++) {
                top[j] += sa + sb[j];
            }
        }
#if defined(__x86_64__)
        if (n >= 4 && !limit && __builtin_cpu_supports("avx2")) {
            add_group_avx2(n, sum, top, shape->split, acc);
            continue;
        }
#endif
        add_group(n, sum, top, shape->split, limit, acc);
    }
}

/* Built for each width, so that the column loops have fixed length. */
#define MODEL_ROW(n)                                                                               \
    EMU_CLONES static void model_row_##n(const struct mfma_shape *shape,                           \
                                         const struct strip *strip, const struct scales *scales,   \
                                         bool limit, float *acc)                                   \
    {                                                                                              \
        model_row(shape, strip, scales, limit, n, acc);                                            \
    }

MODEL_ROW(1)
MODEL_ROW(4)
MODEL_ROW(16)
MODEL_ROW(32)

/* Scale bytes of both operands for every lane: byte chosen by op_sel and op_sel_hi. 255 is NaN. */
struct scale_rows {
    int32_t exp[2][EMU_LANES];
    bool nan[2][EMU_LANES];
    bool any_nan;
};

static void load_scales(const struct job *j, struct scale_rows *out)
{
    const struct emu_alu *alu = j->alu;
    memset(out, 0, sizeof *out);
    for (unsigned n = 0; n < 2 && j->shape->scaled && alu->src[3] != NULL; n++) {
        unsigned byte = (alu->op_sel >> n & 1U) + 2 * (alu->op_sel_hi >> n & 1U);
        EMU_EACH(l)
        {
            uint32_t code = alu->src[3][n * EMU_LANES + (unsigned)l] >> 8 * byte & 0xff;
            out->exp[n][l] = (int32_t)code - 127;
            out->nan[n][l] = code == 255;
            out->any_nan |= code == 255;
        }
    }
}

/* One block's operands, as its sums read them. */
struct block {
    struct strip strip;     /* the model's, of B and of A's row strip.row */
    struct scales scales;   /* the same */
    const float *b[MAX_K];  /* plain values of B's columns */
    unsigned a_lane[MAX_K]; /* lane of A's row 0 */
    const struct scale_rows *scale_rows;
    unsigned scale_blocks; /* of K, 0: not scaled */
};

static void block_begin(const struct job *job, const struct scale_rows *scale_rows, unsigned block,
                        struct block *x)
{
    const struct mfma_shape *s = job->shape;
    unsigned a_block = mfma_a_block(job->alu, s, block);
    x->scale_rows = scale_rows;
    x->scale_blocks = s->scaled ? s->k / (unsigned)BLOCK : 0;
    for (unsigned k = 0; k < s->k; k++) {
        unsigned plane = job->b.order.plane[k], lane = first_lane(s, &job->b.order, k, block);
        x->b[k] = &job->vb[plane][lane];
        x->a_lane[k] = first_lane(s, &job->a.order, k, a_block);
        if (job->alu->precise) {
            continue;
        }
        x->strip.b_sig[k] = &job->sb.sig[plane][lane];
        x->strip.b_exp[k] = &job->sb.exp[plane][lane];
        x->strip.a_sig[k] = &job->sa.sig[job->a.order.plane[k]][x->a_lane[k]];
        x->strip.a_exp[k] = &job->sa.exp[job->a.order.plane[k]][x->a_lane[k]];
    }
    for (unsigned b = 0; b < x->scale_blocks; b++) {
        x->scales.b[b] = &scale_rows->exp[1][s->m * b];
    }
}

/* A block's exact sums in double. Factors are f32 values, whose products double holds exactly. */
struct precise {
    _Alignas(64) double a[32][MAX_K];  /* [row][k] */
    _Alignas(64) double total[32][32]; /* [row][column] */
    int scale[32][4];                  /* of A's row, by 32-block, unbiased */
};

typedef float float4 __attribute__((vector_size(16)));
typedef double double4 __attribute__((vector_size(32)));

/* Sums of 32 in K, each at its scale, of four rows and four columns. */
static inline __attribute__((always_inline)) void precise_tile(const struct mfma_shape *shape,
                                                               const struct block *x,
                                                               struct precise *p, unsigned row,
                                                               unsigned column)
{
    unsigned step = shape->scaled ? BLOCK : shape->k;
    for (unsigned from = 0; from < shape->k; from += step) {
        double4 sum[4] = {{0.0}};
        for (unsigned k = from; k < from + step; k++) {
            float4 narrow;
            memcpy(&narrow, x->b[k] + column, sizeof narrow);
            double4 b = __builtin_convertvector(narrow, double4);
            for (unsigned i = 0; i < 4; i++) {
                sum[i] += p->a[row + i][k] * b;
            }
        }
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned j = 0; j < 4; j++) {
                unsigned b = from / BLOCK;
                int scale = shape->scaled ? p->scale[row + i][b] + x->scales.b[b][column + j] : 0;
                p->total[row + i][column + j] += sum[i][j] * numeric_pow2(scale);
            }
        }
    }
}

EMU_CLONES static void precise_sums(const struct mfma_shape *shape, const struct block *x,
                                    struct precise *p)
{
    for (unsigned row = 0; row < shape->m; row += 4) {
        for (unsigned column = 0; column < shape->m; column += 4) {
            precise_tile(shape, x, p, row, column);
        }
    }
}

static void precise_block(const struct job *job, const struct block *x, struct precise *p)
{
    const struct mfma_shape *s = job->shape;
    memset(p->total, 0, sizeof p->total);
    for (unsigned k = 0; k < s->k; k++) {
        const float *column = &job->va[job->a.order.plane[k]][x->a_lane[k]];
        for (unsigned i = 0; i < s->m; i++) {
            p->a[i][k] = (double)column[i];
        }
    }
    for (unsigned b = 0; b < x->scale_blocks; b++) {
        for (unsigned i = 0; i < s->m; i++) {
            p->scale[i][b] = x->scale_rows->exp[0][i + s->m * b];
        }
    }
    precise_sums(s, x, p);
}

/* Sums of one output where Inf, NaN or huge products occur: the group's outcome is that of the
 * plain sum then. */
static float special_output(const struct job *job, const struct strip *strip, const float *va,
                            const float *vb, const struct scales *scales, bool limit, float c)
{
    const struct mfma_shape *shape = job->shape;
    unsigned group = shape->group;
    float acc = c;
    for (unsigned k = 0; k < shape->k; k += group) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set for every block of K */
        int scale = shape->scaled ? scales->a[k / BLOCK] + scales->b[k / BLOCK][0] : 0;
        double plain = 0.0;
        bool up = false, down = false;
        for (unsigned i = k; i < k + group; i++) {
            double product = (double)va[i] * (double)vb[i];
            plain += product;
            up |= product >= 0x1p128;
            down |= product <= -0x1p128;
        }
        plain = plain * numeric_pow2(scale) + (double)acc;
        if (!isfinite(plain)) {
            acc = (float)plain;
            continue;
        }
        if (up || down) {
            float huge = limit ? FLT_MAX : INFINITY;
            acc = up && down ? NAN : (up ? huge : -huge);
            continue;
        }
        struct mfma_shape one = *shape;
        one.k = (uint8_t)group;
        struct strip part = {.row = strip->row};
        for (unsigned i = 0; i < group; i++) {
            part.a_sig[i] = strip->a_sig[k + i];
            part.a_exp[i] = strip->a_exp[k + i];
            part.b_sig[i] = strip->b_sig[k + i];
            part.b_exp[i] = strip->b_exp[k + i];
        }
        struct scales part_scales = {.a = {shape->scaled ? scales->a[k / BLOCK] : 0},
                                     .b = {shape->scaled ? scales->b[k / BLOCK] : NULL}};
        model_row_1(&one, &part, &part_scales, limit, &acc);
    }
    return acc;
}

/* A row's outputs: its exact sums and C, rounded once. */
static void precise_outputs(const double *total, int n, bool limit, float *acc)
{
    for (int j = 0; j < n; j++) {
        double exact = total[j] + (double)acc[j];
        float r = (float)exact;
        bool over = limit && isinf(r) && isfinite(exact);
        acc[j] = over ? (r < 0.0F ? -FLT_MAX : FLT_MAX) : r;
    }
}

static void special_row(const struct job *job, const struct block *x, bool limit, float *acc)
{
    const struct mfma_shape *s = job->shape;
    float va[MAX_K] = {0};
    for (unsigned k = 0; k < s->k; k++) {
        va[k] = job->va[job->a.order.plane[k]][x->a_lane[k] + x->strip.row];
    }
    for (unsigned j = 0; j < s->m; j++) {
        struct strip column = x->strip;
        float values_b[MAX_K] = {0};
        struct scales column_scales = x->scales;
        for (unsigned k = 0; k < s->k; k++) {
            column.b_sig[k] += j;
            column.b_exp[k] += j;
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set for every k of the shape */
            values_b[k] = x->b[k][j];
        }
        for (unsigned b = 0; b < x->scale_blocks; b++) {
            column_scales.b[b] += j;
        }
        acc[j] = special_output(job, &column, va, values_b, &column_scales, limit, acc[j]);
    }
}

static void model_outputs(const struct mfma_shape *s, const struct block *x, bool limit, float *acc)
{
    if (s->m == 32) {
        model_row_32(s, &x->strip, &x->scales, limit, acc);
    } else if (s->m == 16) {
        model_row_16(s, &x->strip, &x->scales, limit, acc);
    } else {
        model_row_4(s, &x->strip, &x->scales, limit, acc);
    }
}

/* A NaN among the scales of an output's row and column. */
static void nan_scales(const struct mfma_shape *s, const struct block *x, float *acc)
{
    for (unsigned j = 0; x->scale_rows->any_nan && j < s->m; j++) {
        bool nan = false;
        for (unsigned b = 0; b < x->scale_blocks; b++) {
            nan |= x->scale_rows->nan[0][x->strip.row + s->m * b];
            nan |= x->scale_rows->nan[1][j + s->m * b];
        }
        acc[j] = nan ? NAN : acc[j];
    }
}

/* One block's product: rows of D one after another. */
static void run_block(const struct job *job, const struct scale_rows *scale_rows, unsigned block)
{
    const struct mfma_shape *s = job->shape;
    const struct emu_alu *alu = job->alu;
    const uint32_t *c_rows = s->sparse ? alu->dst : alu->src[2];
    bool limit = (alu->mode & EMU_MODE_OVFL) != 0;
    struct block x = {0};
    struct precise exact;
    block_begin(job, scale_rows, block, &x);
    if (alu->precise) {
        precise_block(job, &x, &exact);
    }
    for (unsigned i = 0; i < s->m; i++) {
        struct mfma_place place = mfma_place(s, block, i);
        unsigned at = place.reg * EMU_LANES + place.lane;
        float acc[32];
        memcpy(acc, c_rows + at, s->m * sizeof *acc);
        x.strip.row = i;
        for (unsigned b = 0; b < x.scale_blocks; b++) {
            x.scales.a[b] = scale_rows->exp[0][i + s->m * b];
        }
        if (alu->precise) {
            precise_outputs(exact.total[i], (int)s->m, limit, acc);
        } else if (job->special) {
            special_row(job, &x, limit, acc);
        } else {
            model_outputs(s, &x, limit, acc);
        }
        nan_scales(s, &x, acc);
        memcpy(alu->dst + at, acc, s->m * sizeof *acc);
    }
}

/* Both operands for the integer sums; whether plain ones are needed instead. */
static bool split_operands(struct job *job, unsigned planes)
{
    enum mfma_type a = job->a.type, b = job->b.type;
    bool fnuz = job->alu->fnuz;
    struct numeric_format fa = format_of(a, fnuz), fb = format_of(b, fnuz);
    unsigned lift = (unsigned)(24 - fa.mbits - fb.mbits);
    split_planes(&job->a.codes, planes, a == MFMA_XF32, fa, lift, &job->sa);
    split_planes(&job->b.codes, planes, b == MFMA_XF32, fb, 0, &job->sb);
    return job->sa.special || job->sb.special || job->sa.top + job->sb.top >= 127;
}

void mfma_float(struct emu_alu *alu, const struct mfma_shape *shape)
{
    static const struct scale_rows no_scales;
    struct scale_rows scale_rows;
    struct job job;
    bool by_format = shape->a == MFMA_BY_FORMAT;
    unsigned planes = mfma_planes(shape);
    job.shape = shape;
    job.alu = alu;
    job.a.type = by_format ? mfma_format(alu->cbsz) : shape->a;
    job.b.type = by_format ? mfma_format(alu->blgp) : shape->b;
    mfma_order(shape, job.a.type, &job.a.order);
    mfma_order(shape, job.b.type, &job.b.order);
    if (shape->sparse) {
        mfma_expand(alu, shape, &job.a.codes);
    } else {
        mfma_unpack(alu->src[0], job.a.type, planes, 0, &job.a.codes);
    }
    mfma_unpack(alu->src[1], job.b.type, planes, by_format ? 0 : alu->blgp, &job.b.codes);
    bool fnuz = alu->fnuz;
    job.special = !alu->precise && split_operands(&job, planes);
    if (job.special || alu->precise) {
        value_planes(&job.a, planes, fnuz, job.va);
        value_planes(&job.b, planes, fnuz, job.vb);
    }
    if (shape->scaled) {
        load_scales(&job, &scale_rows);
    }
    for (unsigned block = 0; block < shape->blocks; block++) {
        run_block(&job, shape->scaled ? &scale_rows : &no_scales, block);
    }
}
