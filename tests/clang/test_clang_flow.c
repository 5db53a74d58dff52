/* SPDX-License-Identifier: Apache-2.0 */
/* Divergent control flow, scalar loads, arguments by value, scratch and calls; atomics and data
 * handed between workgroups. */
#include <stdlib.h>

#include "rig.h"

enum { GROUPS = 4, N = GROUPS * 64 };

static void collatz(struct rig *r)
{
    uint32_t *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N];
    for (int i = 0; i < N; i++) {
        uint32_t v = in[i] = 1 + rig_random(r) % 3000, n = 0;
        while (v != 1) {
            v = v & 1 ? 3 * v + 1 : v >> 1;
            if (++n == 500)
                break;
        }
        want[i] = n;
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "collatz", GROUPS, 64);
    rig_same(r, "collatz", out, want, N, 4);
}

static int nested_of(int n)
{
    int sum = 0;
    for (int a = 0; a < n; a++) {
        if (a % 3 == 2)
            continue;
        for (int b = a; b < n; b++) {
            if ((a ^ b) == 5)
                break;
            switch ((a + b + n) & 7) {
            case 0:
                sum += a;
                break;
            case 1:
                sum -= b;
                break;
            case 2:
                sum ^= 0x55;
                break;
            case 5:
                sum += a * b;
                break;
            default:
                sum += 1;
                break;
            }
        }
        if (sum > 4000)
            return sum;
    }
    return -sum;
}

static void nested(struct rig *r)
{
    int32_t *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N];
    for (int i = 0; i < N; i++) {
        in[i] = (int32_t)(rig_random(r) % 24) - 1;
        want[i] = nested_of(in[i]);
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "nested", GROUPS, 64);
    rig_same(r, "nested", out, want, N, 4);
}

static void uniform(struct rig *r)
{
    enum { ROUNDS = 11 };
    uint32_t *table = rig_in(r, 64), *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N];
    for (int i = 0; i < 16; i++)
        table[i] = rig_random(r);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t acc = in[i] = rig_random(r);
        for (uint32_t k = 0; k < ROUNDS; k++) {
            uint32_t t = table[k + i / 64];
            acc = acc * table[t & 15] + t;
            if (table[k] > 0x80000000u)
                acc ^= table[(k + 3) & 15];
        }
        want[i] = acc;
    }
    rig_ptr(r, table);
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_u32(r, ROUNDS);
    rig_launch(r, "uniform", GROUPS, 64);
    rig_same(r, "uniform", out, want, N, 4);
}

struct plan {
    int32_t scale;
    int16_t bias[3];
    uint8_t on;
    int64_t far;
    const int32_t *in;
    _Alignas(16) float f[4];
};

static void by_value(struct rig *r)
{
    int32_t *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N];
    float *fout = rig_out(r, N * 4), want_f[N];
    struct plan p = {
        .scale = -7, .bias = {100, -200, 300},
             .on = 1, .far = -(5ll << 33), .in = in
    };
    for (int i = 0; i < 4; i++)
        p.f[i] = 1.5f * (float)i;
    for (int i = 0; i < N; i++) {
        in[i] = (int32_t)rig_random(r) >> 8;
        want[i] = in[i] * p.scale + p.bias[i % 3] + (int32_t)(p.far >> 33);
        want_f[i] = p.f[i & 3] * 2.0f;
    }
    rig_arg(r, &p, sizeof p, 16);
    rig_ptr(r, out);
    rig_ptr(r, fout);
    rig_launch(r, "by_value", GROUPS, 64);
    rig_same(r, "by_value", out, want, N, 4);
    rig_same(r, "by_value floats", fout, want_f, N, 4);
}

static void grid3(struct rig *r)
{
    enum { W = 16, H = 12, D = 6 };
    uint32_t *out = rig_out(r, W * H * D * 4), want[W * H * D];
    for (uint32_t i = 0; i < W * H * D; i++)
        want[i] = i % W + 100 * (i / W % H) + 10000 * (i / W / H);
    rig_ptr(r, out);
    rig_u32(r, W);
    rig_u32(r, H);
    rig_launch3(r, "grid3", (uint32_t[3]){W, H, D}, (uint32_t[3]){8, 4, 2});
    rig_same(r, "grid3", out, want, W * H * D, 4);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort(struct rig *r)
{
    int32_t *in = rig_in(r, N * 64), *out = rig_out(r, N * 64), want[N * 16];
    for (int i = 0; i < N * 16; i++)
        want[i] = in[i] = (int32_t)rig_random(r);
    for (int i = 0; i < N; i++)
        qsort(want + 16 * i, 16, 4, by_number);
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "sort", GROUPS, 64);
    rig_same(r, "sort", out, want, N * 16, 4);
}

static void gather(struct rig *r)
{
    uint32_t *in = rig_in(r, N * 4), *out = rig_out(r, N * 8), want[2 * N];
    for (int i = 0; i < N; i++) {
        uint32_t x = in[i] = rig_random(r), sum = 0, count[8] = {0};
        for (int k = 0; k < 8; k++) {
            uint32_t n = x >> 4 * k & 15, first = (n * 7 + 3) & 31;
            count[n & 7]++;
            sum = sum * 33 + (((first ^ 1) * 7 + 3) & 31);
        }
        want[2 * i] = sum;
        want[2 * i + 1] = count[x & 7] * 100 + count[7];
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "gather", GROUPS, 64);
    rig_same(r, "gather", out, want, 2 * N, 4);
}

static uint32_t mix(uint32_t a, uint32_t b, uint64_t c, uint32_t *side)
{
    *side += a ^ (uint32_t)c;
    return a * 31 + b + (uint32_t)(c >> 32);
}

static void called(struct rig *r)
{
    uint32_t *in = rig_in(r, N * 16), *out = rig_out(r, N * 8), want[2 * N];
    float *fout = rig_out(r, N * 16), want_f[4 * N];
    for (int i = 0; i < 4 * N; i++)
        in[i] = rig_random(r);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t side = i, s = 1;
        for (uint32_t k = 0; k < 4; k++)
            s = mix(s, in[4 * i + k], (uint64_t)s << 31 | k, &side);
        if (s & 1)
            s = mix(s, side, 5, &side);
        want[2 * i] = s;
        want[2 * i + 1] = side;
        float v[4] = {(float)i, 1.0f, 2.0f, 3.0f};
        for (uint32_t k = 0; k < 4; k++)
            want_f[4 * i + k] = v[(k + (i & 3)) & 3];
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_ptr(r, fout);
    rig_launch(r, "called", GROUPS, 64);
    rig_same(r, "called", out, want, 2 * N, 4);
    rig_same(r, "called floats", fout, want_f, 4 * N, 4);
}

/* A product of zeros and ones is exact and so is the halving: one rounding a step, fused or not. */
static void spill(struct rig *r)
{
    enum { M = 1024 };
    float *in = rig_in(r, 2048 * 4), *out = rig_out(r, M * 4), want[M];
    for (int i = 0; i < 2048; i++)
        in[i] = (float)(rig_random(r) & 1);
    for (int i = 0; i < M; i++) {
        float t = 0.0f;
        for (int k = 0; k < 96; k++) {
            float x = in[(i + (95 - k) * 37) & 2047], y = in[(i + k * 5 % 96 * 37) & 2047];
            t = t * 0.5f + x * y;
        }
        want[i] = t;
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "spill", M / 1024, 1024);
    rig_same(r, "spill", out, want, M, 4);
}

/* ---- atomics */

static void histogram(struct rig *r)
{
    enum { BYTES = 5000 };
    uint8_t *in = rig_in(r, BYTES);
    uint32_t *out = rig_in(r, 1024), want[256] = {0};
    for (int i = 0; i < BYTES; i++) {
        in[i] = (uint8_t)(rig_random(r) & rig_random(r));
        want[in[i]]++;
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_u32(r, BYTES);
    rig_launch(r, "histogram", 5, 256);
    rig_same(r, "histogram", out, want, 256, 4);
}

static int by_word(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void kinds(struct rig *r)
{
    enum { ITEMS = 3 * 256 };
    int32_t *i32 = rig_in(r, 32), want[8] = {0, 0, 0, 0, -1, 0, 0, 0};
    uint64_t *u64 = rig_in(r, 16), want64[2] = {0};
    uint32_t *tickets = rig_out(r, ITEMS * 4), all[ITEMS];
    i32[4] = -1;
    for (int v = 0; v < ITEMS; v++) {
        want[0] += v;
        want[1] = -v < want[1] ? -v : want[1];
        want[2] = v * 3 > want[2] ? v * 3 : want[2];
        want[3] |= (int32_t)(1u << (v & 31));
        want[4] &= ~(1 << (v & 15));
        want[5] ^= v;
        want[6] -= 2;
        want[7]++;
        want64[0] += 0x100000001ull * (uint64_t)v;
        want64[1] = (uint64_t)v << 40;
        all[v] = (uint32_t)v;
    }
    rig_ptr(r, i32);
    rig_ptr(r, u64);
    rig_ptr(r, tickets);
    rig_launch(r, "kinds", ITEMS / 256, 256);
    rig_same(r, "kinds", i32, want, 8, 4);
    rig_same(r, "kinds of 64 bits", u64, want64, 2, 8);
    qsort(tickets, ITEMS, 4, by_word); /* each work-item has one of its own */
    rig_same(r, "tickets", tickets, all, ITEMS, 4);
}

static void floats(struct rig *r)
{
    float *sum = rig_in(r, 4), want = 4 * 2016.0f;
    double *wide = rig_in(r, 8), want_wide = 4 * 1008.0;
    float *highest = rig_in(r, 4), want_high = 2016.0f + 3.0f;
    rig_ptr(r, sum);
    rig_ptr(r, wide);
    rig_ptr(r, highest);
    rig_launch(r, "floats", 4, 64);
    rig_same(r, "float sum", sum, &want, 1, 4);
    rig_same(r, "double sum", wide, &want_wide, 1, 8);
    rig_same(r, "highest by compare and swap", highest, &want_high, 1, 4);
}

static void lock(struct rig *r)
{
    uint32_t *locks = rig_in(r, 256), *counter = rig_in(r, 4), want = 9 * 3 * 5;
    rig_ptr(r, locks);
    rig_ptr(r, counter);
    rig_launch(r, "lock", 9, 64);
    rig_same(r, "counter behind a lock", counter, &want, 1, 4);
}

static void chain(struct rig *r)
{
    enum { LINKS = 12 };
    uint32_t *rows = rig_out(r, LINKS * 512), *flags = rig_in(r, LINKS * 4), want[LINKS * 128];
    for (uint32_t i = 0; i < LINKS * 128; i++)
        want[i] = i < 128 ? i : want[(i - 128) ^ 1] + 1;
    rig_ptr(r, rows);
    rig_ptr(r, flags);
    rig_launch(r, "chain", LINKS, 128);
    rig_same(r, "chain", rows, want, LINKS * 128, 4);
}

static void last_one(struct rig *r)
{
    enum { PARTS = 13 };
    uint32_t *parts = rig_out(r, PARTS * 256), *count = rig_in(r, 4), *total = rig_out(r, 256),
             want[64];
    for (uint32_t l = 0; l < 64; l++)
        want[l] = PARTS * (PARTS - 1) / 2 * l;
    rig_ptr(r, parts);
    rig_ptr(r, count);
    rig_ptr(r, total);
    rig_u32(r, PARTS);
    rig_launch(r, "last_one", PARTS, 64);
    rig_same(r, "last_one", total, want, 64, 4);
}

static void run_all(const struct rig_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rig_run(&cases[i]);
}
#define RUN(cases) run_all(cases, sizeof(cases) / sizeof(cases[0]))

static void control_flow(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"flow", RIG_BOTH, collatz },
        {"flow", RIG_BOTH, nested  },
        {"flow", RIG_BOTH, uniform },
        {"flow", RIG_BOTH, by_value},
        {"flow", RIG_BOTH, grid3   },
    };
    RUN(cases);
}

static void scratch_and_calls(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"scratch", RIG_BOTH, sort  },
        {"scratch", RIG_BOTH, gather},
        {"scratch", RIG_BOTH, called},
        {"scratch", RIG_BOTH, spill },
    };
    RUN(cases);
}

static void atomics(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"sync", RIG_BOTH, histogram},
        {"sync", RIG_BOTH, kinds    },
        {"sync", RIG_BOTH, floats   },
        {"sync", RIG_BOTH, lock     },
    };
    RUN(cases);
}

static void between_workgroups(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"sync", RIG_BOTH, chain   },
        {"sync", RIG_BOTH, last_one},
    };
    RUN(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_flow),
        cmocka_unit_test(scratch_and_calls),
        cmocka_unit_test(atomics),
        cmocka_unit_test(between_workgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
