/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix instructions. Operands are small integers, so every product and sum is exact and a plain
 * matrix product is the expected value; where an element lies is stated here again, from the
 * published layouts, by lane and register.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/test.h"

#include "alu_test.h"

enum kind { F64, F32, XF32, F16, BF16, FP8, BF8, FP6, BF6, FP4, I8 };

struct matrix_op {
    const char *name;
    unsigned m, k, blocks;
    enum kind a, b;
};

#define MATRIX_HALF(t, T)                                                                          \
    {"v_mfma_f32_32x32x4_2b_" t, 32, 4, 2, T, T}, {"v_mfma_f32_16x16x4_4b_" t, 16, 4, 4, T, T},    \
        {"v_mfma_f32_4x4x4_16b_" t, 4, 4, 16, T, T}, {"v_mfma_f32_32x32x8_" t, 32, 8, 1, T, T},    \
        {"v_mfma_f32_16x16x16_" t, 16, 16, 1, T, T}, {"v_mfma_f32_32x32x16_" t, 32, 16, 1, T, T},  \
    {                                                                                              \
        "v_mfma_f32_16x16x32_" t, 16, 32, 1, T, T                                                  \
    }

#define MATRIX_BYTES(t, A, B)                                                                      \
    {"v_mfma_f32_16x16x32_" t, 16, 32, 1, A, B},                                                   \
    {                                                                                              \
        "v_mfma_f32_32x32x16_" t, 32, 16, 1, A, B                                                  \
    }

static const struct matrix_op dense[] = {
    {"v_mfma_f64_16x16x4_f64",    16, 4,  1,  F64,  F64 },
    {"v_mfma_f64_4x4x4_4b_f64",   4,  4,  4,  F64,  F64 },
    {"v_mfma_f32_32x32x1_2b_f32", 32, 1,  2,  F32,  F32 },
    {"v_mfma_f32_16x16x1_4b_f32", 16, 1,  4,  F32,  F32 },
    {"v_mfma_f32_4x4x1_16b_f32",  4,  1,  16, F32,  F32 },
    {"v_mfma_f32_32x32x2_f32",    32, 2,  1,  F32,  F32 },
    {"v_mfma_f32_16x16x4_f32",    16, 4,  1,  F32,  F32 },
    {"v_mfma_f32_16x16x8_xf32",   16, 8,  1,  XF32, XF32},
    {"v_mfma_f32_32x32x4_xf32",   32, 4,  1,  XF32, XF32},
    MATRIX_HALF("f16", F16),
    MATRIX_HALF("bf16", BF16),
    MATRIX_BYTES("fp8_fp8", FP8, FP8),
    MATRIX_BYTES("fp8_bf8", FP8, BF8),
    MATRIX_BYTES("bf8_fp8", BF8, FP8),
    MATRIX_BYTES("bf8_bf8", BF8, BF8),
    {"v_mfma_i32_32x32x4_2b_i8",  32, 4,  2,  I8,   I8  },
    {"v_mfma_i32_16x16x4_4b_i8",  16, 4,  4,  I8,   I8  },
    {"v_mfma_i32_4x4x4_16b_i8",   4,  4,  16, I8,   I8  },
    {"v_mfma_i32_32x32x16_i8",    32, 16, 1,  I8,   I8  },
    {"v_mfma_i32_16x16x32_i8",    16, 32, 1,  I8,   I8  },
    {"v_mfma_i32_32x32x32_i8",    32, 32, 1,  I8,   I8  },
    {"v_mfma_i32_16x16x64_i8",    16, 64, 1,  I8,   I8  },
};

/* Codes of -2, -1, 0, 1, 2. */
static const uint32_t codes[][5] = {
    [XF32] = {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000},
    [F32] = {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000},
    [F16] = {0xc000,     0xbc00,     0, 0x3c00,     0x4000    },
    [BF16] = {0xc000,     0xbf80,     0, 0x3f80,     0x4000    },
    [FP8] = {0xc0,       0xb8,       0, 0x38,       0x40      },
    [BF8] = {0xc0,       0xbc,       0, 0x3c,       0x40      },
    [FP6] = {0x30,       0x28,       0, 0x08,       0x10      },
    [BF6] = {0x30,       0x2c,       0, 0x0c,       0x10      },
    [FP4] = {0xc,        0xa,        0, 0x2,        0x4       },
    [I8] = {0xfe,       0xff,       0, 0x01,       0x02      },
};

static const unsigned bits_of[] = {[F64] = 64,  [F32] = 32, [XF32] = 32, [F16] = 16,
                                   [BF16] = 16, [FP8] = 8,  [BF8] = 8,   [FP6] = 6,
                                   [BF6] = 6,   [FP4] = 4,  [I8] = 8};

static int a_value[16][32][128], b_value[16][128][32], c_value[16][32][32];
static uint32_t a_rows[32 * EMU_LANES], b_rows[32 * EMU_LANES], c_rows[64 * EMU_LANES],
    d_rows[64 * EMU_LANES];

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

/* Element e of lane l's operand: a value -2..2. */
static void put_element(uint32_t *rows, enum kind kind, unsigned l, unsigned e, int value)
{
    if (kind == F64) {
        uint64_t bits = D((double)value);
        rows[2 * e * EMU_LANES + l] = (uint32_t)bits;
        rows[(2 * e + 1) * EMU_LANES + l] = (uint32_t)(bits >> 32);
        return;
    }
    uint64_t code = codes[kind][value + 2];
    unsigned bit = bits_of[kind] * e;
    rows[bit / 32 * EMU_LANES + l] |= (uint32_t)(code << bit % 32);
    if (bit % 32 + bits_of[kind] > 32) {
        rows[(bit / 32 + 1) * EMU_LANES + l] |= (uint32_t)(code >> (32 - bit % 32));
    }
}

/* k of element e in lane group g. */
static unsigned k_of(const struct matrix_op *op, enum kind kind, bool by_format, unsigned g,
                     unsigned e)
{
    if (by_format && bits_of[kind] == 8) {
        return e < 16 ? 16 * g + e : op->k / 2 + 16 * g + e - 16;
    }
    return op->m * op->k * op->blocks / 64 * g + e;
}

static void fill(const struct matrix_op *op, bool by_format, unsigned seed)
{
    unsigned per_lane = op->m * op->k * op->blocks / 64;
    memset(a_rows, 0, sizeof a_rows);
    memset(b_rows, 0, sizeof b_rows);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        unsigned i = l % op->m, block = l / op->m % op->blocks, g = l / op->m / op->blocks;
        for (unsigned e = 0; e < per_lane; e++) {
            int x = (int)(next_random(&seed) % 5) - 2, y = (int)(next_random(&seed) % 5) - 2;
            a_value[block][i][k_of(op, op->a, by_format, g, e)] = x;
            b_value[block][k_of(op, op->b, by_format, g, e)][i] = y;
            put_element(a_rows, op->a, l, e, x);
            put_element(b_rows, op->b, l, e, y);
        }
    }
}

struct place {
    unsigned reg, lane;
};

/* D's element i, j of a block. */
static struct place place_of(const struct matrix_op *op, unsigned block, unsigned i, unsigned j)
{
    if (op->a == F64) {
        return op->m == 16 ? (struct place){2 * (i / 4), 16 * (i % 4) + j}
                           : (struct place){0, 16 * i + 4 * block + j};
    }
    if (op->m == 32) {
        return (struct place){16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j};
    }
    return op->m == 16 ? (struct place){4 * block + i % 4, 16 * (i / 4) + j}
                       : (struct place){i, 4 * block + j};
}

static void put_c(const struct matrix_op *op, uint32_t *rows, unsigned seed)
{
    for (unsigned block = 0; block < op->blocks; block++) {
        for (unsigned i = 0; i < op->m; i++) {
            for (unsigned j = 0; j < op->m; j++) {
                int value = (int)(next_random(&seed) % 201) - 100;
                struct place at = place_of(op, block, i, j);
                c_value[block][i][j] = value;
                uint64_t bits = op->a == F64  ? D((double)value)
                                : op->a == I8 ? (uint32_t)value
                                              : F((float)value);
                rows[at.reg * EMU_LANES + at.lane] = (uint32_t)bits;
                if (op->a == F64) {
                    rows[(at.reg + 1) * EMU_LANES + at.lane] = (uint32_t)(bits >> 32);
                }
            }
        }
    }
}

static void expect(const struct matrix_op *op, unsigned block, unsigned i, unsigned j, double want)
{
    struct place at = place_of(op, block, i, j);
    uint64_t got = d_rows[at.reg * EMU_LANES + at.lane];
    uint64_t bits = op->a == F64 ? D(want) : op->a == I8 ? (uint32_t)(int)want : F((float)want);
    if (op->a == F64) {
        got |= (uint64_t)d_rows[(at.reg + 1) * EMU_LANES + at.lane] << 32;
    }
    if (got != bits) {
        fail_msg("%s D[%u][%u] of block %u: %llx, want %llx (%g)", op->name, i, j, block,
                 (unsigned long long)got, (unsigned long long)bits, want);
    }
}

static int product(const struct matrix_op *op, unsigned a_block, unsigned block, unsigned i,
                   unsigned j)
{
    int sum = c_value[block][i][j];
    for (unsigned k = 0; k < op->k; k++) {
        sum += a_value[a_block][i][k] * b_value[block][k][j];
    }
    return sum;
}

void alu_test_mfma_exact(void **state)
{
    for (unsigned n = 0; n < sizeof dense / sizeof dense[0]; n++) {
        const struct matrix_op *op = &dense[n];
        for (unsigned precise = 0; precise < 2; precise++) {
            fill(op, false, n + 1);
            put_c(op, c_rows, n + 7);
            struct emu_alu alu = {
                .dst = d_rows, .src = {a_rows, b_rows, c_rows},
                     .denorm32 = 3, .precise = precise
            };
            alu_row(*state, op->name)->fn(&alu);
            for (unsigned block = 0; block < op->blocks; block++) {
                for (unsigned i = 0; i < op->m; i++) {
                    for (unsigned j = 0; j < op->m; j++) {
                        expect(op, block, i, j, product(op, block, block, i, j));
                    }
                }
            }
        }
    }
}

/* cbsz and abid broadcast blocks of A; blgp moves lanes of B, or negates with f64. */
void alu_test_mfma_layout(void **state)
{
    static const struct matrix_op four = {"v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, F16, F16};
    fill(&four, false, 5);
    put_c(&four, c_rows, 6);
    struct emu_alu alu = {
        .dst = d_rows, .src = {a_rows, b_rows, c_rows},
             .cbsz = 1, .abid = 1
    };
    alu_row(*state, four.name)->fn(&alu);
    for (unsigned block = 0; block < 4; block++) {
        for (unsigned i = 0; i < 16; i++) {
            expect(&four, block, i, 3, product(&four, block | 1, block, i, 3));
        }
    }
    alu.cbsz = 2;
    alu.abid = 2;
    alu_row(*state, four.name)->fn(&alu);
    for (unsigned block = 0; block < 4; block++) {
        expect(&four, block, 7, 3, product(&four, 2, block, 7, 3));
    }
    /* blgp 3: B rotated by one group of 16 lanes, so block b uses the columns of block b + 1 */
    alu.cbsz = 0;
    alu.blgp = 3;
    alu_row(*state, four.name)->fn(&alu);
    for (unsigned block = 0; block < 4; block++) {
        int sum = c_value[block][7][3];
        for (unsigned k = 0; k < 4; k++) {
            sum += a_value[block][7][k] * b_value[(block + 1) % 4][k][3];
        }
        expect(&four, block, 7, 3, sum);
    }
    static const struct matrix_op wide = {"v_mfma_f64_16x16x4_f64", 16, 4, 1, F64, F64};
    fill(&wide, false, 8);
    put_c(&wide, c_rows, 9);
    alu.blgp = 1 | 4; /* -A, -C */
    alu_row(*state, wide.name)->fn(&alu);
    expect(&wide, 0, 5, 6, -product(&wide, 0, 0, 5, 6));
}

struct sparse_op {
    const char *name;
    unsigned m, k;
    enum kind a, b;
};

#define SPARSE_HALF(t, T)                                                                          \
    {"v_smfmac_f32_16x16x32_" t, 16, 32, T, T}, {"v_smfmac_f32_32x32x16_" t, 32, 16, T, T},        \
        {"v_smfmac_f32_16x16x64_" t, 16, 64, T, T},                                                \
    {                                                                                              \
        "v_smfmac_f32_32x32x32_" t, 32, 32, T, T                                                   \
    }
#define SPARSE_BYTES(t, A, B)                                                                      \
    {"v_smfmac_f32_16x16x64_" t, 16, 64, A, B}, {"v_smfmac_f32_32x32x32_" t, 32, 32, A, B},        \
        {"v_smfmac_f32_16x16x128_" t, 16, 128, A, B},                                              \
    {                                                                                              \
        "v_smfmac_f32_32x32x64_" t, 32, 64, A, B                                                   \
    }

static const struct sparse_op sparse[] = {
    SPARSE_HALF("f16", F16),
    SPARSE_HALF("bf16", BF16),
    SPARSE_BYTES("fp8_fp8", FP8, FP8),
    SPARSE_BYTES("fp8_bf8", FP8, BF8),
    SPARSE_BYTES("bf8_fp8", BF8, FP8),
    SPARSE_BYTES("bf8_bf8", BF8, BF8),
    {"v_smfmac_i32_16x16x64_i8",  16, 64,  I8, I8},
    {"v_smfmac_i32_32x32x32_i8",  32, 32,  I8, I8},
    {"v_smfmac_i32_16x16x128_i8", 16, 128, I8, I8},
    {"v_smfmac_i32_32x32x64_i8",  32, 64,  I8, I8},
};

/* Of each four k of a row two are kept, 2 of the 6 choices; the second set of indices is used where
 * there is one. */
void alu_test_mfma_sparse(void **state)
{
    static const unsigned choices[6][2] = {
        {0, 1},
        {0, 2},
        {0, 3},
        {1, 2},
        {1, 3},
        {2, 3}
    };
    static uint32_t index[EMU_LANES];
    for (unsigned n = 0; n < 2 * (sizeof sparse / sizeof sparse[0]); n++) {
        const struct sparse_op *form = &sparse[n / 2];
        const struct matrix_op op = {form->name, form->m, form->k, 1, form->a, form->b};
        unsigned per_lane = op.m * op.k / 64, bits = per_lane, seed = n + 3;
        fill(&op, false, n);
        put_c(&op, d_rows, n + 1);
        unsigned set = 32 / bits - 1;
        memset(a_rows, 0, sizeof a_rows);
        memset(index, 0, sizeof index);
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned i = l % op.m, g = l / op.m;
            for (unsigned quad = 0; quad < per_lane / 4; quad++) {
                const unsigned *keep = choices[next_random(&seed) % 6];
                for (unsigned at = 0; at < 4; at++) {
                    int *x = &a_value[0][i][per_lane * g + 4 * quad + at];
                    if (at == keep[0] || at == keep[1]) {
                        put_element(a_rows, op.a, l, 2 * quad + (at == keep[1]), *x);
                    } else {
                        *x = 0;
                    }
                }
                index[l] |= (keep[0] | keep[1] << 2) << (4 * quad + bits * set);
            }
        }
        struct emu_alu alu = {
            .dst = d_rows,
            .src = {a_rows, b_rows, index},
            .abid = (uint8_t)set,
            .precise = n % 2 == 1
        };
        alu_row(*state, op.name)->fn(&alu);
        for (unsigned i = 0; i < op.m; i++) {
            for (unsigned j = 0; j < op.m; j++) {
                expect(&op, 0, i, j, product(&op, 0, 0, i, j));
            }
        }
    }
}

/* All pairs of formats; scales differ by row, column and block, bytes are chosen by op_sel. */
void alu_test_mfma_scale(void **state)
{
    static const enum kind formats[5] = {FP8, BF8, FP6, BF6, FP4};
    static uint32_t scales[2 * EMU_LANES];
    for (unsigned n = 0; n < 100; n++) {
        bool scaled = n >= 50, tall = n / 25 % 2;
        unsigned fa = n % 5, fb = n / 5 % 5, byte_a = n % 4, byte_b = n / 3 % 4;
        struct matrix_op op = {NULL, tall ? 32 : 16, tall ? 64 : 128, 1, formats[fa], formats[fb]};
        char name[48];
        snprintf(name, sizeof name, "v_mfma_%sf32_%s_f8f6f4", scaled ? "scale_" : "",
                 tall ? "32x32x64" : "16x16x128");
        op.name = name;
        fill(&op, true, n);
        put_c(&op, c_rows, n + 1);
        for (unsigned l = 0; l < EMU_LANES; l++) {
            scales[l] = 0x11111111U & ~(0xffU << 8 * byte_a);
            scales[l] |= (127 + (l * 7 + n) % 5 - 2) << 8 * byte_a;
            scales[EMU_LANES + l] = 0x22222222U & ~(0xffU << 8 * byte_b);
            scales[EMU_LANES + l] |= (127 + (l * 3 + n) % 3 - 1) << 8 * byte_b;
        }
        struct emu_alu alu = {
            .dst = d_rows,
            .src = {a_rows, b_rows, c_rows, scaled ? scales : NULL},
            .cbsz = (uint8_t)fa,
            .blgp = (uint8_t)fb,
            .op_sel = (uint8_t)((byte_a & 1) | (byte_b & 1) << 1),
            .op_sel_hi = (uint8_t)(byte_a >> 1 | (byte_b >> 1) << 1),
            .precise = n % 2 == 1
        };
        alu_row(*state, name)->fn(&alu);
        for (unsigned i = 0; i < op.m; i++) {
            for (unsigned j = 0; j < op.m; j++) {
                double sum = c_value[0][i][j];
                for (unsigned k = 0; k < op.k; k++) {
                    unsigned la = i + op.m * (k / 32), lb = j + op.m * (k / 32);
                    int exponent = (int)((la * 7 + n) % 5 + (lb * 3 + n) % 3) - 3;
                    double factor = scaled ? ldexp(1.0, exponent) : 1.0;
                    sum += factor * a_value[0][i][k] * b_value[0][k][j];
                }
                expect(&op, 0, i, j, sum);
            }
        }
    }
}

/* One row of A against one column of B: everything else is zero. */
static float dot(struct alu_coverage *coverage, const char *name, enum kind kind, unsigned k,
                 const uint32_t *a, const uint32_t *b, float c, struct emu_alu alu)
{
    unsigned per_lane = 16 * k / 64;
    memset(a_rows, 0, sizeof a_rows);
    memset(b_rows, 0, sizeof b_rows);
    memset(c_rows, 0, sizeof c_rows);
    for (unsigned i = 0; i < k; i++) {
        unsigned l = 16 * (i / per_lane), bit = bits_of[kind] * (i % per_lane);
        a_rows[bit / 32 * EMU_LANES + l] |= a[i] << bit % 32;
        b_rows[bit / 32 * EMU_LANES + l] |= b[i] << bit % 32;
    }
    c_rows[0] = (uint32_t)F(c);
    alu.dst = d_rows;
    alu.src[0] = a_rows;
    alu.src[1] = b_rows;
    alu.src[2] = c_rows;
    alu_row(coverage, name)->fn(&alu);
    float value;
    memcpy(&value, d_rows, sizeof value);
    return value;
}

/* Of row 0 of A. */
static void nan_scale(struct alu_coverage *coverage, struct emu_alu alu)
{
    static uint32_t scales[2 * EMU_LANES];
    for (unsigned l = 0; l < 2 * EMU_LANES; l++) {
        scales[l] = l == 0 ? 0xff : 0x7f;
    }
    memset(a_rows, 0, sizeof a_rows);
    memset(b_rows, 0, sizeof b_rows);
    memset(c_rows, 0, sizeof c_rows);
    alu.dst = d_rows;
    alu.src[0] = a_rows;
    alu.src[1] = b_rows;
    alu.src[2] = c_rows;
    alu.src[3] = scales;
    alu_row(coverage, "v_mfma_scale_f32_16x16x128_f8f6f4")->fn(&alu);
    assert_true((d_rows[0] & 0x7fffffff) > 0x7f800000);
    assert_int_equal(d_rows[EMU_LANES], 0);
}

/* Inf, NaN and overflow are the same however sums are made. */
static void specials(struct alu_coverage *coverage, struct emu_alu alu)
{
    static const char *const bf16 = "v_mfma_f32_16x16x16_bf16";
    uint32_t a[32] = {0x7f80}, b[32] = {0x3f80};
    assert_true(dot(coverage, bf16, BF16, 16, a, b, 1.0F, alu) == INFINITY);
    a[1] = 0xff80, b[1] = 0x3f80;
    assert_true(isnan(dot(coverage, bf16, BF16, 16, a, b, 1.0F, alu)));
    a[0] = 0;
    assert_true(dot(coverage, bf16, BF16, 16, a, b, 1.0F, alu) == -INFINITY);
    assert_true(isnan(dot(coverage, bf16, BF16, 16, a, b, INFINITY, alu)));
    a[0] = 0x7f00, b[0] = 0x4000, a[1] = 0; /* 2^127 * 2 */
    assert_true(dot(coverage, bf16, BF16, 16, a, b, 1.0F, alu) == INFINITY);
    alu.mode = EMU_MODE_OVFL;
    assert_true(dot(coverage, bf16, BF16, 16, a, b, 1.0F, alu) == 0x1.fffffep127F);
    alu.mode = 0, a[0] = 0;
    assert_true(isnan(dot(coverage, bf16, BF16, 16, a, b, NAN, alu)));
    assert_true(dot(coverage, bf16, BF16, 16, a, b, -INFINITY, alu) == -INFINITY);
    nan_scale(coverage, alu);
}

void alu_test_mfma_model(void **state)
{
    static const char *const bf16 = "v_mfma_f32_16x16x16_bf16";
    const struct emu_alu plain = {0}, exact = {.precise = true};
    uint32_t a[32] = {0}, b[32] = {0};
    /* 2^24 + 1 - 2^24 in one group: nothing is lost, the group is summed exactly at 24 fraction
     * bits */
    a[0] = 0x4b80, b[0] = 0x3f80; /* 2^24 */
    a[1] = 0x3f80, b[1] = 0x3f80;
    a[2] = 0xcb80, b[2] = 0x3f80;
    assert_true(dot(*state, bf16, BF16, 16, a, b, 0, plain) == 1.0F);
    /* 2^-1 is cut off by the largest product: 25 bits below */
    a[1] = 0x3f00;
    assert_true(dot(*state, bf16, BF16, 16, a, b, 0, plain) == 0.0F);
    assert_true(dot(*state, bf16, BF16, 16, a, b, 0, exact) == 0.5F);
    /* in the next group of eight the small one meets an f32 sum: 2^24 + 0.5 rounds to 2^24 */
    a[1] = 0, a[8] = 0x3f00, b[8] = 0x3f80, a[2] = 0;
    assert_true(dot(*state, bf16, BF16, 16, a, b, 0, plain) == 16777216.0F);
    /* C is cut downward at 24 fraction bits of the larger exponent */
    memset(a, 0, sizeof a);
    a[0] = 0x4b80;
    assert_true(dot(*state, bf16, BF16, 16, a, b, 1.0F, plain) == 16777216.0F); /* tie to even */
    assert_true(dot(*state, bf16, BF16, 16, a, b, 1.75F, plain) ==
                16777216.0F); /* 1.75 becomes 1 */
    assert_true(dot(*state, bf16, BF16, 16, a, b, 1.75F, exact) == 16777218.0F);
    /* denormal sources and results are kept */
    a[0] = 0x0001, b[0] = 0x3f80;
    assert_true(dot(*state, bf16, BF16, 16, a, b, 0, plain) == 0x1p-133F);
    specials(*state, plain);
    specials(*state, exact);
    /* 8-bit forms lose a C more than 25 binades below: 448 * 448 = 1.53 * 2^17 counts as exponent
     * 16 */
    static const char *const fp8 = "v_mfma_f32_16x16x32_fp8_fp8";
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[0] = 0x7e, b[0] = 0x7e;
    a[1] = 0xfe, b[1] = 0x7e;
    assert_true(dot(*state, fp8, FP8, 32, a, b, 0x1p-9F, plain) == 0.0F);
    assert_true(dot(*state, fp8, FP8, 32, a, b, 0x1p-8F, plain) == 0x1p-8F);
    assert_true(dot(*state, fp8, FP8, 32, a, b, 0x1p-9F, exact) == 0x1p-9F);
    a[0] = 0x7f;
    assert_true(isnan(dot(*state, fp8, FP8, 32, a, b, 0, plain)));
    /* FNUZ: the same byte is half as much, 80 is NaN */
    const struct emu_alu fnuz = {.fnuz = true};
    a[0] = 0x38, b[0] = 0x38, a[1] = 0;
    assert_true(dot(*state, fp8, FP8, 32, a, b, 0, plain) == 1.0F);
    assert_true(dot(*state, fp8, FP8, 32, a, b, 0, fnuz) == 0.25F);
    a[5] = 0x80;
    assert_true(isnan(dot(*state, fp8, FP8, 32, a, b, 0, fnuz)));
    /* f32 forms are fused multiply-adds; denormals of A and B follow MODE */
    static const char *const f32 = "v_mfma_f32_16x16x4_f32";
    const struct emu_alu keep = {.denorm32 = 3};
    uint32_t fa[4] = {0x3f800001}, fb[4] = {0x3f800001};
    assert_true(dot(*state, f32, F32, 4, fa, fb, -0x1.000004p0F, keep) == 0x1p-46F);
    fa[0] = 1, fb[0] = 0x4b000000;
    assert_true(dot(*state, f32, F32, 4, fa, fb, 0, keep) == 0x1p-126F);
    assert_true(dot(*state, f32, F32, 4, fa, fb, 0, plain) == 0.0F);
    /* xf32 uses ten mantissa bits */
    static const char *const xf32 = "v_mfma_f32_16x16x8_xf32";
    uint32_t xa[8] = {0x3f801fff}, xb[8] = {0x3f802000};
    assert_true(dot(*state, xf32, XF32, 8, xa, xb, 0, plain) == 0x1.004p0F);
}
