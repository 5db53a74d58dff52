/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix tiles. Elements are small integers (or halves of them), scales powers of two, so every sum
 * is exact in any order and the comparison with plain loops is of bits.
 */
#include <math.h>

#include "rig.h"

enum { MAX_K = 128, MAX_M = 32 };

enum elem { E_BF16, E_F16, E_FP8, E_BF8, E_FP4, E_I8, E_F32, E_F64 };

struct tile {
    const char *file, *kernel;
    int archs, m, k;
    enum elem a, b;
    bool scaled;
};

/* Value of a code of an element with e exponent bits, f fraction bits and this bias. */
static double code_value(unsigned code, unsigned e, unsigned f, int bias)
{
    unsigned exponent = code >> f & ((1u << e) - 1), fraction = code & ((1u << f) - 1);
    double v = exponent ? ldexp((double)(fraction | 1u << f), (int)exponent - bias - (int)f)
                        : ldexp((double)fraction, 1 - bias - (int)f);
    return code >> (e + f) & 1 ? -v : v;
}

/* A random element: its value, and its bits. fp8 on gfx942 has its bias one higher. */
static double pick(struct rig *r, enum elem type, uint64_t *bits)
{
    bool fnuz = strcmp(r->arch, "gfx942") == 0;
    int n = (int)(rig_random(r) % 17) - 8;
    float f = (float)n;
    double d = n;
    uint32_t word;
    memcpy(&word, &f, 4);
    unsigned code;
    switch (type) {
    case E_BF16:
        *bits = word >> 16;
        return n;
    case E_F16:
        /* 2^e (1 + fraction): e from the f32's field, three bits of fraction */
        *bits =
            n ? (word >> 16 & 0x8000) | ((word >> 23 & 255) - 112) << 10 | (word >> 13 & 0x3ff) : 0;
        return n;
    case E_FP8: /* two exponents */
        code = (unsigned)(rig_random(r) % 16) + 48 + (rig_random(r) & 0x80);
        *bits = code;
        return code_value(code, 4, 3, fnuz ? 8 : 7);
    case E_BF8:
        code = (unsigned)(rig_random(r) % 8) + 56 + (rig_random(r) & 0x80);
        *bits = code;
        return code_value(code, 5, 2, fnuz ? 16 : 15);
    case E_FP4:
        *bits = rig_random(r) & 15;
        return code_value((unsigned)*bits, 2, 1, 1);
    case E_I8:
        *bits = rig_random(r) & 255;
        return (double)(int8_t)*bits;
    case E_F32:
        *bits = word;
        return n;
    default:
        memcpy(bits, &d, 8);
        return n;
    }
}

static size_t elem_size(enum elem type)
{
    static const uint8_t size[] = {2, 2, 1, 1, 1, 1, 4, 8};
    return size[type];
}

static void put(void *matrix, int at, size_t size, uint64_t bits)
{
    memcpy((uint8_t *)matrix + (size_t)at * size, &bits, size);
}

static void put_result(void *matrix, int index, enum elem type, double v)
{
    size_t at = (size_t)index;
    float f = (float)v;
    int32_t n = (int32_t)v;
    if (type == E_F64)
        memcpy((uint8_t *)matrix + 8 * at, &v, 8);
    else if (type == E_I8)
        memcpy((uint8_t *)matrix + 4 * at, &n, 4);
    else
        memcpy((uint8_t *)matrix + 4 * at, &f, 4);
}

static void fill_scales(struct rig *r, uint8_t *scales, int n)
{
    for (int i = 0; i < n; i++)
        scales[i] = (uint8_t)(126 + rig_random(r) % 3);
}

static void run_tile(struct rig *r, const struct tile *t)
{
    static double a[MAX_M][MAX_K], b[MAX_K][MAX_M];
    static uint8_t want[MAX_M * MAX_M * 8];
    int m = t->m, k = t->k, blocks = k / 32;
    size_t size = elem_size(t->a), out = t->a == E_F64 ? 8 : 4, n = (size_t)m * (size_t)m;
    void *pa = rig_in(r, (size_t)m * (size_t)k * size),
         *pb = rig_in(r, (size_t)m * (size_t)k * size);
    void *pc = rig_in(r, n * out), *pd = rig_out(r, n * out);
    uint8_t *sa = rig_in(r, 4096), *sb = rig_in(r, 4096);
    fill_scales(r, sa, 4096);
    fill_scales(r, sb, 4096);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++) {
            uint64_t bits;
            a[i][j] = pick(r, t->a, &bits);
            put(pa, i * k + j, size, bits);
            b[j][i] = pick(r, t->b, &bits);
            put(pb, j * m + i, size, bits);
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double sum = t->scaled ? 0.0 : (double)((i * 5 + j) % 9 - 4);
            if (!t->scaled)
                put_result(pc, i * m + j, t->a, sum);
            for (int l = 0; l < k; l++) {
                int e = t->scaled ? sa[i * blocks + l / 32] + sb[l / 32 * m + j] - 254 : 0;
                sum += ldexp(a[i][l] * b[l][j], e);
            }
            put_result(want, i * m + j, t->a, sum);
        }
    rig_ptr(r, pa);
    rig_ptr(r, pb);
    if (t->scaled) {
        rig_ptr(r, sa);
        rig_ptr(r, sb);
    } else {
        rig_ptr(r, pc);
    }
    rig_ptr(r, pd);
    rig_launch(r, t->kernel, 1, 64);
    rig_same(r, t->kernel, pd, want, n, out);
}

static const struct tile tiles[] = {
    {"mfma",    "bf16_16",       RIG_BOTH, 16, 16,  E_BF16, E_BF16, false},
    {"mfma",    "bf16_32",       RIG_BOTH, 32, 8,   E_BF16, E_BF16, false},
    {"mfma",    "f16_16",        RIG_BOTH, 16, 16,  E_F16,  E_F16,  false},
    {"mfma",    "f16_32",        RIG_BOTH, 32, 8,   E_F16,  E_F16,  false},
    {"mfma",    "fp8_16",        RIG_BOTH, 16, 32,  E_FP8,  E_FP8,  false},
    {"mfma",    "fp8_32",        RIG_BOTH, 32, 16,  E_FP8,  E_FP8,  false},
    {"mfma",    "bf8_fp8_16",    RIG_BOTH, 16, 32,  E_BF8,  E_FP8,  false},
    {"mfma",    "i8_16",         RIG_BOTH, 16, 32,  E_I8,   E_I8,   false},
    {"mfma",    "i8_32",         RIG_BOTH, 32, 16,  E_I8,   E_I8,   false},
    {"mfma",    "f32_16",        RIG_BOTH, 16, 4,   E_F32,  E_F32,  false},
    {"mfma",    "f32_32",        RIG_BOTH, 32, 2,   E_F32,  E_F32,  false},
    {"mfma",    "f64_16",        RIG_BOTH, 16, 4,   E_F64,  E_F64,  false},
    {"mfma950", "bf16_16x32",    RIG_950,  16, 32,  E_BF16, E_BF16, false},
    {"mfma950", "bf16_32x16",    RIG_950,  32, 16,  E_BF16, E_BF16, false},
    {"mfma950", "f16_16x32",     RIG_950,  16, 32,  E_F16,  E_F16,  false},
    {"mfma950", "f16_32x16",     RIG_950,  32, 16,  E_F16,  E_F16,  false},
    {"mfma950", "i8_16x64",      RIG_950,  16, 64,  E_I8,   E_I8,   false},
    {"mfma950", "i8_32x32",      RIG_950,  32, 32,  E_I8,   E_I8,   false},
    {"mfma950", "scaled_fp8_16", RIG_950,  16, 128, E_FP8,  E_FP8,  true },
    {"mfma950", "scaled_fp8_32", RIG_950,  32, 64,  E_FP8,  E_FP8,  true },
    {"mfma950", "scaled_fp4_16", RIG_950,  16, 128, E_FP4,  E_FP4,  true },
    {"mfma950", "scaled_fp4_32", RIG_950,  32, 64,  E_FP4,  E_FP4,  true },
};
enum { TILES = sizeof tiles / sizeof tiles[0] };

static void tiles_of(struct rig *r, const char *file)
{
    for (int i = 0; i < TILES; i++)
        if (strcmp(tiles[i].file, file) == 0)
            run_tile(r, &tiles[i]);
}
static void both_targets(struct rig *r)
{
    tiles_of(r, "mfma");
}
static void only_950(struct rig *r)
{
    tiles_of(r, "mfma950");
}

static void gemm(struct rig *r)
{
    enum { N = 64, DEPTH = 48 };
    static double a[N][DEPTH], b[DEPTH][N];
    static float want[N * N];
    uint16_t *pa = rig_in(r, N * DEPTH * 2), *pb = rig_in(r, N * DEPTH * 2);
    float *c = rig_out(r, sizeof want);
    for (int i = 0; i < N * DEPTH; i++) {
        uint64_t bits;
        a[i / DEPTH][i % DEPTH] = pick(r, E_BF16, &bits);
        pa[i] = (uint16_t)bits;
        b[i / N][i % N] = pick(r, E_BF16, &bits);
        pb[i] = (uint16_t)bits;
    }
    for (int i = 0; i < N * N; i++) {
        double sum = 0.0;
        for (int k = 0; k < DEPTH; k++)
            sum += a[i / N][k] * b[k][i % N];
        want[i] = (float)sum;
    }
    rig_ptr(r, pa);
    rig_ptr(r, pb);
    rig_ptr(r, c);
    rig_u32(r, N);
    rig_u32(r, DEPTH);
    rig_launch(r, "gemm", N / 32 * (N / 32), 256);
    rig_same(r, "gemm", c, want, N * N, 4);
}

/* ---- conversions */

/* Nearest code (even fraction on a tie) of a magnitude below the format's largest. */
static unsigned nearest_code(double v, unsigned e, unsigned f, int bias)
{
    unsigned best = 0;
    double distance = INFINITY, magnitude = fabs(v);
    for (unsigned code = 0; code < 1u << (e + f); code++) {
        double d = fabs(code_value(code, e, f, bias) - magnitude);
        if (d < distance || (d == distance && !(code & 1))) {
            best = code;
            distance = d;
        }
    }
    return best | (signbit(v) ? 1u << (e + f) : 0);
}

enum { GROUPS = 4, N = GROUPS * 64 };

static void to_fp8(struct rig *r)
{
    bool fnuz = strcmp(r->arch, "gfx942") == 0;
    float *in = rig_in(r, N * 16);
    uint8_t *fp8 = rig_out(r, N * 4), *bf8 = rig_out(r, N * 4), want[N * 4], want_b[N * 4];
    for (int i = 0; i < N * 4; i++) {
        in[i] = ldexpf((float)((int32_t)rig_random(r) | 1), -24 - (int)(rig_random(r) % 16));
        want[i] = (uint8_t)nearest_code((double)in[i], 4, 3, fnuz ? 8 : 7);
        want_b[i] = (uint8_t)nearest_code((double)in[i], 5, 2, fnuz ? 16 : 15);
        if (fnuz && want[i] == 0x80)
            want[i] = 0; /* there is no minus zero */
        if (fnuz && want_b[i] == 0x80)
            want_b[i] = 0;
    }
    rig_ptr(r, in);
    rig_ptr(r, fp8);
    rig_ptr(r, bf8);
    rig_launch(r, "to_fp8", GROUPS, 64);
    rig_same(r, "to_fp8", fp8, want, N * 4, 1);
    rig_same(r, "to_bf8", bf8, want_b, N * 4, 1);
}

static void from_fp8(struct rig *r)
{
    bool fnuz = strcmp(r->arch, "gfx942") == 0;
    uint8_t *in = rig_in(r, N * 4);
    float *out = rig_out(r, N * 16), want[N * 4];
    for (int i = 0; i < N * 4; i++) {
        in[i] = (uint8_t)i;
        if ((in[i] & 0x7f) == 0x7f || in[i] == 0x80)
            in[i] = 0x38; /* NaN of one of the dialects, minus zero */
        want[i] = (float)code_value(in[i], 4, 3, fnuz ? 8 : 7);
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "from_fp8", GROUPS, 64);
    rig_same(r, "from_fp8", out, want, N * 4, 4);
}

static void pack_bf16(struct rig *r)
{
    float *in = rig_in(r, N * 8);
    uint16_t *out = rig_out(r, N * 4), want[2 * N];
    for (int i = 0; i < 2 * N; i++) {
        uint32_t word = rig_random(r);
        word = (word & 0x3fffffff) + 0x20000000; /* no NaN, no denormal */
        if (i % 3 == 0)
            word = (word & 0xffff0000) | 0x8000; /* a tie */
        memcpy(&in[i], &word, 4);
        want[i] = (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "pack_bf16", GROUPS, 64);
    rig_same(r, "pack_bf16", out, want, 2 * N, 2);
}

static void pack_fp4(struct rig *r)
{
    float *in = rig_in(r, N * 32);
    uint32_t *out = rig_out(r, N * 4), want[N] = {0};
    for (int i = 0; i < N * 8; i++) {
        in[i] = (float)((int32_t)(rig_random(r) % 97) - 48) * 0.25f;
        double v = (double)in[i] / 2.0; /* the scale */
        want[i / 8] |= nearest_code(v, 2, 1, 1) << 4 * (i % 8);
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "pack_fp4", GROUPS, 64);
    rig_same(r, "pack_fp4", out, want, N, 4);
}

static void run_all(const struct rig_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rig_run(&cases[i]);
}
#define RUN(cases) run_all(cases, sizeof(cases) / sizeof(cases[0]))

static void matrix_tiles(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"mfma",    RIG_BOTH, both_targets},
        {"mfma950", RIG_950,  only_950    },
        {"mfma",    RIG_BOTH, gemm        },
    };
    RUN(cases);
}

static void conversions(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"mfma",    RIG_BOTH, to_fp8   },
        {"mfma",    RIG_BOTH, from_fp8 },
        {"mfma950", RIG_950,  pack_bf16},
        {"mfma950", RIG_950,  pack_fp4 },
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_tiles),
        cmocka_unit_test(conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
