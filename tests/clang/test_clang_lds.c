/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, scans and transposes. */
#include "rig.h"

static uint32_t *random_words(struct rig *r, size_t n, uint32_t mask)
{
    uint32_t *p = rig_in(r, n * 4);
    for (size_t i = 0; i < n; i++)
        p[i] = rig_random(r) & mask;
    return p;
}

enum { GROUPS = 5 };

static void sum_tree(struct rig *r)
{
    uint32_t *in = random_words(r, GROUPS * 256, ~0u), want[GROUPS] = {0};
    uint32_t *out = rig_out(r, sizeof want);
    for (int i = 0; i < GROUPS * 256; i++)
        want[i / 256] += in[i];
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "sum_tree", GROUPS, 256);
    rig_same(r, "sum_tree", out, want, GROUPS, 4);
}

static void max_waves(struct rig *r)
{
    float *in = rig_in(r, GROUPS * 256 * 4), *out = rig_out(r, GROUPS * 4), want[GROUPS];
    for (int i = 0; i < GROUPS * 256; i++) {
        in[i] = (float)(int32_t)rig_random(r) * 0.001f;
        want[i / 256] = i % 256 && want[i / 256] > in[i] ? want[i / 256] : in[i];
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "max_waves", GROUPS, 256);
    rig_same(r, "max_waves", out, want, GROUPS, 4);
}

static void sum_rows(struct rig *r)
{
    uint32_t *in = random_words(r, GROUPS * 64, ~0u), sum[GROUPS] = {0}, want[GROUPS * 64];
    uint32_t *out = rig_out(r, sizeof want);
    for (int i = 0; i < GROUPS * 64; i++)
        sum[i / 64] += in[i];
    for (int i = 0; i < GROUPS * 64; i++)
        want[i] = sum[i / 64] + in[i ^ 1];
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "sum_rows", GROUPS, 64);
    rig_same(r, "sum_rows", out, want, GROUPS * 64, 4);
}

static void scan(struct rig *r)
{
    uint32_t *in = random_words(r, GROUPS * 256, ~0u), want[GROUPS * 256];
    uint32_t *out = rig_out(r, sizeof want);
    for (int i = 0; i < GROUPS * 256; i++)
        want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "scan", GROUPS, 256);
    rig_same(r, "scan", out, want, GROUPS * 256, 4);
}

static void ballot(struct rig *r)
{
    int32_t *in = (int32_t *)random_words(r, GROUPS * 64, ~0u);
    uint64_t *mask = rig_out(r, GROUPS * 8), want_mask[GROUPS] = {0};
    uint32_t *rank = rig_out(r, GROUPS * 64 * 4), want[GROUPS * 64];
    for (int g = 0; g < GROUPS; g++) {
        int32_t first = 0;
        uint32_t below = 0;
        for (int l = 63; l >= 0; l--)
            if (in[g * 64 + l] <= 0)
                first = in[g * 64 + l]; /* of the lanes that take this branch */
        for (int l = 0; l < 64; l++) {
            bool on = in[g * 64 + l] > 0;
            want[g * 64 + l] = on ? below : 1000 + (uint32_t)first;
            want_mask[g] |= (uint64_t)on << l;
            below += on;
        }
    }
    rig_ptr(r, in);
    rig_ptr(r, mask);
    rig_ptr(r, rank);
    rig_launch(r, "ballot", GROUPS, 64);
    rig_same(r, "ballot", mask, want_mask, GROUPS, 8);
    rig_same(r, "ballot rank", rank, want, GROUPS * 64, 4);
}

static void transpose(struct rig *r)
{
    enum { WIDTH = 96, HEIGHT = 64 };
    uint32_t *in = random_words(r, WIDTH * HEIGHT, ~0u);
    static uint32_t want[WIDTH * HEIGHT];
    uint32_t *out = rig_out(r, sizeof want);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            want[x * HEIGHT + y] = in[y * WIDTH + x];
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_u32(r, WIDTH);
    rig_u32(r, HEIGHT);
    rig_launch(r, "transpose", WIDTH / 32 * (HEIGHT / 32), 256);
    rig_same(r, "transpose", out, want, WIDTH * HEIGHT, 4);
}

static void transpose_wide(struct rig *r)
{
    uint32_t *in = random_words(r, GROUPS * 256, ~0u), want[GROUPS * 256];
    uint32_t *out = rig_out(r, sizeof want);
    for (int g = 0; g < GROUPS; g++) {
        uint32_t flat[16][16];
        for (int l = 0; l < 64; l++)
            for (int k = 0; k < 4; k++)
                flat[4 * (l >> 4) + k][l & 15] = in[g * 256 + 4 * (63 - l) + k];
        for (int l = 0; l < 64; l++)
            for (int k = 0; k < 4; k++)
                want[g * 256 + 4 * l + k] = flat[l & 15][4 * (l >> 4) + k];
    }
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_launch(r, "transpose_wide", GROUPS, 64);
    rig_same(r, "transpose_wide", out, want, GROUPS * 256, 4);
}

static void stencil(struct rig *r)
{
    enum { N = GROUPS * 128 };
    float *in = rig_in(r, N * 4), *out = rig_out(r, N * 4), want[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)(rig_random(r) & 0xffff);
    for (int i = 0; i < N; i++)
        want[i] = (i ? in[i - 1] : 0.0f) + 2.0f * in[i] + (i + 1 < N ? in[i + 1] : 0.0f);
    rig_ptr(r, in);
    rig_ptr(r, out);
    rig_u32(r, N);
    rig_launch(r, "stencil", GROUPS, 128);
    rig_same(r, "stencil", out, want, N, 4);
}

static void reductions(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"reduce", RIG_BOTH, sum_tree },
        {"reduce", RIG_BOTH, max_waves},
        {"reduce", RIG_BOTH, sum_rows },
        {"reduce", RIG_BOTH, scan     },
        {"reduce", RIG_BOTH, ballot   },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        rig_run(&cases[i]);
}

static void transposes(void **state)
{
    (void)state;
    static const struct rig_case cases[] = {
        {"transpose", RIG_BOTH, transpose     },
        {"transpose", RIG_BOTH, transpose_wide},
        {"transpose", RIG_BOTH, stencil       },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        rig_run(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(transposes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
