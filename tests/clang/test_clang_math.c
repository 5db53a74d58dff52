/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point of three widths, 64-bit integers, bytes and halfwords. Division, roots and fused
 * multiply-adds are correctly rounded on both sides, so results are the same bits. */
#include <math.h>
#include <stdlib.h>

#include "rig.h"

enum { N = 256 };

static double special(struct rig *r, int i)
{
    static const double values[] = {0.0,  -0.0,  1.0,      -1.0,  0.1,    3.0,      1e30, -1e-30,
                                    1e38, 1e-40, INFINITY, 1e300, 1e-300, 123456.7, 2.5,  -7.0};
    if (i % 3 == 0)
        return values[rig_random(r) % 16];
    return ldexp((double)(int32_t)rig_random(r), (int)(rig_random(r) % 60) - 50);
}

static void divide_f32(struct rig *r)
{
    float *a = rig_in(r, N * 4), *b = rig_in(r, N * 4), *q = rig_out(r, N * 4),
          *s = rig_out(r, N * 4), want_q[N], want_s[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)special(r, i);
        b[i] = (float)special(r, i + 1);
        if (b[i] == 0.0f || (isinf(a[i]) && isinf(b[i])))
            b[i] = 3.0f; /* 0 / 0 and the like: any NaN would do */
        want_q[i] = a[i] / b[i];
        want_s[i] = sqrtf(fabsf(a[i]));
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, q);
    rig_ptr(r, s);
    rig_launch(r, "divide_f32", N / 64, 64);
    rig_same(r, "divide_f32", q, want_q, N, 4);
    rig_same(r, "sqrt_f32", s, want_s, N, 4);
}

static void divide_f64(struct rig *r)
{
    double *a = rig_in(r, N * 8), *b = rig_in(r, N * 8), *q = rig_out(r, N * 8),
           *s = rig_out(r, N * 8), want_q[N], want_s[N];
    for (int i = 0; i < N; i++) {
        a[i] = special(r, i);
        b[i] = special(r, i + 1);
        if (b[i] == 0.0 || (isinf(a[i]) && isinf(b[i])))
            b[i] = 3.0;
        want_q[i] = a[i] / b[i];
        want_s[i] = sqrt(fabs(a[i]));
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, q);
    rig_ptr(r, s);
    rig_launch(r, "divide_f64", N / 64, 64);
    rig_same(r, "divide_f64", q, want_q, N, 8);
    rig_same(r, "sqrt_f64", s, want_s, N, 8);
}

static void polynomial_f64(struct rig *r)
{
    enum { DEGREE = 9 };
    double *x = rig_in(r, N * 8), *y = rig_out(r, N * 8), want[N];
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        x[i] = (double)(int32_t)rig_random(r) / 1e9;
        for (int k = DEGREE; k >= 0; k--)
            sum = fma(sum, x[i], (double)(k + 1));
        want[i] = floor(sum) + fmin(x[i], 0.25);
    }
    rig_ptr(r, x);
    rig_ptr(r, y);
    rig_u32(r, DEGREE);
    rig_launch(r, "polynomial_f64", N / 64, 64);
    rig_same(r, "polynomial_f64", y, want, N, 8);
}

/* Nearest even half of a float that is no NaN. */
static uint16_t half_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    double v = fabs((double)f);
    if (v >= 65520.0)
        return sign | 0x7c00;
    int e;
    frexp(v, &e);
    e = e < -13 ? -13 : e; /* v < 2^e; eleven bits, or the fixed grid of the denormals */
    double steps = nearbyint(ldexp(v, 11 - e));
    if (v == 0.0)
        return sign;
    return (uint16_t)(sign + ((uint16_t)steps + ((uint16_t)(e + 13) << 10)));
}

static void convert(struct rig *r)
{
    double *x = rig_in(r, N * 8);
    float *f = rig_out(r, N * 4), want_f[N];
    int32_t *n = rig_out(r, N * 4), want_n[N];
    uint64_t *u = rig_out(r, N * 8), want_u[N];
    uint16_t *h = rig_out(r, N * 2), want_h[N];
    for (int i = 0; i < N; i++) {
        x[i] = ldexp((double)(int32_t)rig_random(r), -(int)(rig_random(r) % 48));
        want_f[i] = (float)x[i];
        want_n[i] = (int32_t)x[i];
        want_u[i] = (uint64_t)fabs(x[i] * 4096.0);
        want_h[i] = half_of(want_f[i]);
    }
    rig_ptr(r, x);
    rig_ptr(r, f);
    rig_ptr(r, n);
    rig_ptr(r, u);
    rig_ptr(r, h);
    rig_launch(r, "convert", N / 64, 64);
    rig_same(r, "f64 to f32", f, want_f, N, 4);
    rig_same(r, "f64 to i32", n, want_n, N, 4);
    rig_same(r, "f64 to u64", u, want_u, N, 8);
    rig_same(r, "f64 to f16", h, want_h, N, 2);
}

/* Small integers, so that contraction into fused multiply-adds changes nothing. */
static void half_math(struct rig *r)
{
    uint16_t *a = rig_in(r, N * 4), *b = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[2 * N];
    for (int i = 0; i < 2 * N; i++) {
        int x = (int)(rig_random(r) % 61) - 30, y = (int)(rig_random(r) % 61) - 30;
        a[i] = half_of((float)x);
        b[i] = half_of((float)y);
        int v = x * y + 1 - x;
        want[i] = half_of((float)v);
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, out);
    rig_launch(r, "half_math", N / 64, 64);
    rig_same(r, "half_math", out, want, 2 * N, 2);
}

static void wide(struct rig *r)
{
    uint64_t *a = rig_in(r, N * 8), *b = rig_in(r, N * 8), *out = rig_out(r, N * 64), want[N * 8];
    for (int i = 0; i < N; i++) {
        a[i] = (uint64_t)rig_random(r) << 32 | rig_random(r);
        b[i] = ((uint64_t)rig_random(r) << 32 | rig_random(r)) >> (rig_random(r) & 63);
        a[i] >>= i % 5 == 0 ? 33 : 0;
        b[i] += !b[i];
        int64_t x = (int64_t)a[i], y = (int64_t)(b[i] | 1);
        uint64_t *w = want + 8 * i;
        w[0] = a[i] * b[i];
        w[1] = a[i] / b[i];
        w[2] = a[i] % b[i];
        w[3] = (uint64_t)(x / y);
        w[4] = (uint64_t)(x % y);
        w[5] = a[i] << (b[i] & 63);
        w[6] = (uint64_t)(x >> (b[i] & 63));
        w[7] = (uint64_t)(((unsigned __int128)a[i] * b[i]) >> 64);
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, out);
    rig_launch(r, "wide", N / 64, 64);
    rig_same(r, "wide", out, want, N * 8, 8);
}

static void bits(struct rig *r)
{
    uint32_t *a = rig_in(r, N * 4), *out = rig_out(r, N * 32), want[N * 8];
    for (int i = 0; i < N; i++) {
        uint32_t x = a[i] = rig_random(r) >> (i & 31), *w = want + 8 * i, n = (uint32_t)i & 31;
        if (i == 7)
            x = a[i] = 0;
        uint32_t count = 0, lead = 99, trail = 99, reverse = 0;
        for (uint32_t k = 0; k < 32; k++) {
            count += x >> k & 1;
            reverse |= (x >> k & 1) << (31 - k);
            lead = x >> k & 1 ? 31 - k : lead;
            trail = x >> (31 - k) & 1 ? 31 - k : trail;
        }
        w[0] = count;
        w[1] = lead;
        w[2] = trail;
        w[3] = reverse;
        w[4] = x << 24 | (x << 8 & 0xff0000) | (x >> 8 & 0xff00) | x >> 24;
        w[5] = x / 10;
        w[6] = (uint32_t)((int32_t)x % 7);
        w[7] = n ? x << n | x >> (32 - n) : x;
    }
    rig_ptr(r, a);
    rig_ptr(r, out);
    rig_launch(r, "bits", N / 64, 64);
    rig_same(r, "bits", out, want, N * 8, 4);
}

/* Rows two gigabytes apart on either side: pages cost nothing until they are touched. */
static void strided(struct rig *r)
{
    enum { ROWS = 2 };
    const int64_t stride = 0x20000400; /* in dwords */
    uint32_t *base = rig_out(r, (size_t)stride * 4 * (2 * ROWS + 1)),
             *middle = base + stride * ROWS, want[64] = {0};
    for (uint32_t l = 0; l < 64; l++)
        for (uint32_t k = 0; k < ROWS; k++)
            want[l] += k * 1000 + l + 7;
    rig_ptr(r, middle);
    rig_arg(r, &stride, 8, 8);
    rig_u32(r, ROWS);
    rig_launch(r, "strided", 1, 64);
    rig_same(r, "strided", middle + 64, want, 64, 4);
    for (uint32_t l = 0; l < 64; l++) {
        assert_int_equal(middle[stride + l], 1000 + l);
        assert_int_equal(middle[l - 2 * stride], 1000 + l + 7);
    }
}

static void bytes(struct rig *r)
{
    int8_t *a = rig_in(r, N), *sum = rig_in(r, N), want_s[N];
    uint8_t *b = rig_in(r, N), *diff = rig_in(r, N), want_d[N];
    for (int i = 0; i < N; i++) {
        a[i] = (int8_t)rig_random(r);
        b[i] = (uint8_t)rig_random(r);
        want_s[i] = (int8_t)(a[i] + (int8_t)b[i]);
        want_d[i] = (uint8_t)(b[i] > 100 ? b[i] - 100 : a[i]);
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, sum);
    rig_ptr(r, diff);
    rig_launch(r, "bytes", N / 128, 128);
    rig_same(r, "byte sums", sum, want_s, N, 1);
    rig_same(r, "byte differences", diff, want_d, N, 1);
}

static void shorts(struct rig *r)
{
    int16_t *a = rig_in(r, N * 2);
    uint16_t *b = rig_in(r, N * 2), *top = rig_in(r, N * 2), want_t[N];
    int32_t *out = rig_out(r, N * 4), want[N];
    for (int i = 0; i < N; i++) {
        a[i] = (int16_t)rig_random(r);
        b[i] = (uint16_t)rig_random(r);
        want[i] = a[i] * b[i];
        want_t[i] = (uint16_t)((uint32_t)want[i] >> 16);
    }
    rig_ptr(r, a);
    rig_ptr(r, b);
    rig_ptr(r, out);
    rig_ptr(r, top);
    rig_launch(r, "shorts", N / 128, 128);
    rig_same(r, "products", out, want, N, 4);
    rig_same(r, "high halves", top, want_t, N, 2);
}

static void shorts_in_lds(struct rig *r)
{
    int16_t *a = rig_in(r, N * 2), *out = rig_in(r, N * 2), want[N];
    uint8_t *low = rig_in(r, N), want_l[N];
    for (int i = 0; i < N; i++)
        a[i] = (int16_t)rig_random(r);
    for (int i = 0; i < N; i++) {
        const int16_t *tile = a + i / 128 * 128;
        int l = i % 128;
        want[i] = (int16_t)(tile[127 - l] - tile[(l + 5) & 127]);
        want_l[i] = (uint8_t)(tile[l ^ 1] >> 3);
    }
    rig_ptr(r, a);
    rig_ptr(r, out);
    rig_ptr(r, low);
    rig_launch(r, "shorts_in_lds", N / 128, 128);
    rig_same(r, "shorts_in_lds", out, want, N, 2);
    rig_same(r, "bytes of LDS", low, want_l, N, 1);
}

static void quads(struct rig *r)
{
    uint8_t *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N * 4], add = 77;
    for (int i = 0; i < N * 4; i++)
        in[i] = (uint8_t)rig_random(r);
    for (int i = 0; i < N; i++) {
        want[4 * i] = in[4 * i + 2];
        want[4 * i + 1] = (uint8_t)(in[4 * i + 1] + add);
        want[4 * i + 2] = in[4 * i];
        want[4 * i + 3] = in[4 * i + 3];
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_arg(r, &add, 1, 1);
    rig_launch(r, "quads", N / 64, 64);
    rig_same(r, "quads", out, want, N * 4, 1);
}

static void run_all(const struct rig_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rig_run(&cases[i]);
}
#define RUN(cases) run_all(cases, sizeof(cases) / sizeof(cases[0]))

static void floats(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"math", RIG_BOTH, divide_f32    },
        {"math", RIG_BOTH, divide_f64    },
        {"math", RIG_BOTH, polynomial_f64},
        {"math", RIG_BOTH, convert       },
        {"math", RIG_BOTH, half_math     },
    };
    RUN(cases);
}

static void integers(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"int64", RIG_BOTH, wide   },
        {"int64", RIG_BOTH, bits   },
        {"int64", RIG_BOTH, strided},
    };
    RUN(cases);
}

static void narrow(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"narrow", RIG_BOTH, bytes        },
        {"narrow", RIG_BOTH, shorts       },
        {"narrow", RIG_BOTH, shorts_in_lds},
        {"narrow", RIG_BOTH, quads        },
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),
        cmocka_unit_test(integers),
        cmocka_unit_test(narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
