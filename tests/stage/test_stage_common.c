/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stages share, each helper in a kernel of one workgroup: the plan's argument `x` is the
 * input, `q` the output, and scalar arguments stand for what a helper takes at run time.
 */
#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "templates/common/mx.h"
#include "templates/common/products.h"
#include "templates/common/rope.h"
#include "templates/common/wave.h"
#include "tests/ref/num.h"

enum { WIDTHS = 6 };

static const struct ref_params small = {.model_name = "v41-flash", .tokens = 4, .tp = 4, .seed = 1};

static void open_rig(struct rig *r, void (*template)(Builder *))
{
    rig_open(r, &small, REF_X | REF_SWA, (const char *const[]){"keys", "given", NULL});
    rig_build(r, template);
}

/* Work-item t's first input dword of `dwords`, and its results. */
static Val item_input(Builder *b, int dwords)
{
    stage(b, "test");
    args_load(b);
    Val byte = mul_add(b, b->tid, 4 * dwords, imm(0));
    if (dwords == 4)
        return emit(b, global_load_dwordx4, byte, arg(b, "x"));
    if (dwords == 2)
        return emit(b, global_load_dwordx2, byte, arg(b, "x"));
    return emit(b, global_load_dword, byte, arg(b, "x"));
}

static void item_output(Builder *b, int index, int dwords, Val value)
{
    Val byte = mul_add(b, b->tid, 4 * dwords, imm(4 * index));
    emit_void(b, global_store_dword, byte, value, arg(b, "q"));
}

static const void *run(struct rig *r, const void *input, size_t size)
{
    emu_mem_copy(r->device, rig_arg(r, "x"), input, size);
    rig_run(r, 1);
    return rig_arg(r, "q");
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

/* ---- division by a run-time number */

static void division_template(Builder *b)
{
    Val x = item_input(b, 1);
    Divisor d = divisor(b, arg(b, "swa_block"));
    QuoRem lane = div_by(b, x, d), wave = s_div_by(b, uniform(b, x), d);
    item_output(b, 0, 4, lane.quo);
    item_output(b, 1, 4, lane.rem);
    item_output(b, 2, 4, mov_v(b, wave.quo));
    item_output(b, 3, 4, mov_v(b, wave.rem));
    kernel_end(b);
}

/* Around multiples of d, both ends of the range, and anything. */
static void make_dividends(uint32_t *x, uint32_t d)
{
    uint64_t state = d;
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t k = (uint32_t)(draw(&state) % (UINT32_MAX / d + UINT64_C(1)));
        const uint32_t choices[] = {k * d,          k * d - 1, k * d + d - 1,
                                    UINT32_MAX - i, i,         (uint32_t)draw(&state)};
        x[(i * 77) % THREADS] =
            choices[i % 6]; /* so that each wave's first lane has another kind */
    }
}

static void division_is_exact(void **state)
{
    (void)state;
    static const uint32_t divisors[] = {1,       2,        3,          5,          7,
                                        16,      63,       64,         127,        65537,
                                        1000003, 16777215, 0x7fffffff, 0x80000001, UINT32_MAX};
    struct rig r;
    open_rig(&r, division_template);
    for (size_t i = 0; i < sizeof divisors / sizeof divisors[0]; i++) {
        uint32_t x[THREADS], d = divisors[i];
        make_dividends(x, d);
        rig_set(&r, "swa_block", d);
        const uint32_t *out = run(&r, x, sizeof x);
        for (int t = 0; t < THREADS; t++) {
            uint32_t first = x[t / 64 * 64];
            const uint32_t want[4] = {x[t] / d, x[t] % d, first / d, first % d};
            for (int k = 0; k < 4; k++)
                if (out[4 * t + k] != want[k])
                    fail_msg("%u by %u, result %d: %u, not %u", k < 2 ? x[t] : first, d, k,
                             out[4 * t + k], want[k]);
        }
    }
    rig_close(&r);
}

/* ---- division by constants */

static const int lane_constants[] = {1, 5, 80, 112, 160, 224};

static void constants_template(Builder *b)
{
    Val x = item_input(b, 1);
    for (int i = 0; i < 6; i++) {
        QuoRem lane = div_const(b, x, lane_constants[i]);
        QuoRem wave = div_const(b, uniform(b, x), lane_constants[i]);
        item_output(b, 4 * i, 24, lane.quo);
        item_output(b, 4 * i + 1, 24, lane.rem);
        item_output(b, 4 * i + 2, 24, mov_v(b, wave.quo));
        item_output(b, 4 * i + 3, 24, mov_v(b, wave.rem));
    }
    kernel_end(b);
}

static void division_by_constants_is_exact(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, constants_template);
    uint32_t x[THREADS];
    for (uint32_t t = 0; t < THREADS; t++)
        x[t] = t < 256 ? t : t < 400 ? 65535 - (t - 256) : (t - 399) * 160 - (t & 1);
    const uint32_t *out = run(&r, x, sizeof x);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < 6; i++) {
            uint32_t d = (uint32_t)lane_constants[i], first = x[t / 64 * 64];
            assert_int_equal(out[24 * t + 4 * i], x[t] / d);
            assert_int_equal(out[24 * t + 4 * i + 1], x[t] % d);
            assert_int_equal(out[24 * t + 4 * i + 2], first / d);
            assert_int_equal(out[24 * t + 4 * i + 3], first % d);
        }
    }
    rig_close(&r);
}

/* ---- f64 */

/* Of every item's x: 1 / x, its sums over a column of lanes and over all of them, 1 / sqrt(x), and
 * a constant. */
enum { F64_RESULTS = 5 };
static const double f64_constant = 0.1;

static void f64_template(Builder *b)
{
    Val x = emit(b, v_cvt_f32_u32, item_input(b, 1));
    Val inverse = f64_inverse(b, f64_add_f32(b, NONE, x));
    const Val values[F64_RESULTS] = {inverse, rows_sum_f64(b, inverse), lanes_sum_f64(b, inverse),
                                     f64_inverse_root(b, x), mov_v(b, f64_const(b, f64_constant))};
    for (int i = 0; i < 2 * F64_RESULTS; i++)
        item_output(b, i, 2 * F64_RESULTS, part(values[i / 2], i % 2, 1));
    kernel_end(b);
}

static double f64_output(const uint32_t *out, int item, int value)
{
    double d;
    memcpy(&d, out + ((size_t)item * F64_RESULTS + (size_t)value) * 2, sizeof d);
    return d;
}

static void near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= want * bound))
        fail_msg("%.17g, not %.17g", got, want);
}

static void f64_functions_and_sums(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, f64_template);
    uint32_t x[THREADS];
    uint64_t random = 11;
    for (int t = 0; t < THREADS; t++)
        x[t] = t < 8 ? (uint32_t)t + 1 : 1 + ((uint32_t)draw(&random) & 0xfffff);
    const uint32_t *out = run(&r, x, sizeof x);
    for (int t = 0; t < THREADS; t++) {
        double column = 0, all = 0;
        for (int l = 0; l < 64; l++) {
            double v = f64_output(out, t / 64 * 64 + l, 0);
            column += l % 16 == t % 16 ? v : 0;
            all += v;
        }
        near(f64_output(out, t, 0), 1.0 / x[t], 0x1p-44);
        near(f64_output(out, t, 1), column, 0x1p-48);
        near(f64_output(out, t, 2), all, 0x1p-48);
        near(f64_output(out, t, 3), 1 / sqrt(x[t]), 0x1p-44);
        near(f64_output(out, t, 4), f64_constant, 0);
    }
    rig_close(&r);
}

/* 1 / sqrt of what norms may meet: v41's eps to f32's end. */
static void roots_template(Builder *b)
{
    Val root = f64_inverse_root(b, item_input(b, 1));
    item_output(b, 0, 2, part(root, 0, 1));
    item_output(b, 1, 2, part(root, 1, 1));
    kernel_end(b);
}

static void roots_of_every_size(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, roots_template);
    float x[THREADS];
    uint64_t random = 13;
    for (int t = 0; t < THREADS; t++)
        x[t] = ref_bits_f32((uint32_t)(60 + draw(&random) % 195) << 23 |
                            (uint32_t)(draw(&random) & 0x7fffff));
    const double *out = run(&r, x, sizeof x);
    for (int t = 0; t < THREADS; t++)
        near(out[t], 1 / sqrt((double)x[t]), 0x1p-44);
    rig_close(&r);
}

/* ---- products */

/* The lane's V4 as A and as X, twice: D = 2 A A^T. */
static void products_template(Builder *b)
{
    Val v = item_input(b, 4);
    Products p = products_begin(b);
    products_add_bf16(b, &p, v, v);
    products_add_bf16(b, &p, v, v);
    Val sums = products_f32(b, &p);
    for (int n = 0; n < 4; n++)
        item_output(b, n, 12, part(sums, n, 1));
    for (int n = 0; n < 8; n++)
        item_output(b, 4 + n, 12, part(p.sums, n, 1));
    kernel_end(b);
}

/* Element k of row i of a wave's A: lane i + 16 (k / 8). */
static double element(const uint16_t *wave, int i, int k)
{
    return ref_bf16_f32(wave[(i + 16 * (k / 8)) * 8 + k % 8]);
}

static void check_product(const uint16_t *wave, const uint32_t *out, int row, int column)
{
    double want = 0, size = 0, sum;
    for (int k = 0; k < 32; k++) {
        double product = 2 * element(wave, row, k) * element(wave, column, k);
        want += product;
        size += fabs(product);
    }
    const uint32_t *lane = out + (size_t)(column + 16 * (row / 4)) * 12;
    float f = ref_bits_f32(lane[row % 4]);
    memcpy(&sum, lane + 4 + 2 * (row % 4), sizeof sum);
    bool near_enough = isinf((float)want) || fabs(sum - want) <= size * 0x1p-46;
    if (f != (float)want || !near_enough)
        fail_msg("row %d, column %d: %.17g, as f32 %.9g, not %.17g", row, column, sum, (double)f,
                 want);
}

/* Rows of values of mixed size; in the last two waves some whose products are past f32. */
static void products_are_rounded_once(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, products_template);
    static uint16_t x[THREADS * 8];
    uint64_t random = 21;
    for (int i = 0; i < THREADS * 8; i++) {
        bool huge = i >= 6 * 64 * 8 && i / 8 % 16 < 3;
        uint64_t exponent = huge ? 190 + draw(&random) % 4 : 120 + draw(&random) % 9;
        uint64_t sign = huge ? 0 : draw(&random) & 1;
        x[i] = (uint16_t)(sign << 15 | exponent << 7 | (draw(&random) & 127));
    }
    const uint32_t *out = run(&r, x, sizeof x);
    for (int wave = 0; wave < WAVES; wave++)
        for (int i = 0; i < 256; i++)
            check_product(x + (size_t)wave * 64 * 8, out + (size_t)wave * 64 * 12, i / 16, i % 16);
    rig_close(&r);
}

/* ---- lanes */

static void lanes_template(Builder *b)
{
    Val x = item_input(b, 1);
    for (int i = 0; i < WIDTHS; i++) {
        item_output(b, 2 * i, 2 * WIDTHS, lanes_max_u32(b, x, 2 << i));
        item_output(b, 2 * i + 1, 2 * WIDTHS, lanes_max_f32(b, emit(b, v_cvt_f32_u32, x), 2 << i));
    }
    kernel_end(b);
}

static void lanes_reduce_in_groups(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, lanes_template);
    uint32_t x[THREADS];
    uint64_t random = 5;
    for (int t = 0; t < THREADS; t++)
        x[t] = (uint32_t)draw(&random) & 0xffff;
    const uint32_t *out = run(&r, x, sizeof x);
    for (int t = 0; t < THREADS; t++, out += 2 * WIDTHS) {
        for (int i = 0; i < WIDTHS; i++) {
            int width = 2 << i, first = t / width * width;
            uint32_t most = 0;
            for (int k = first; k < first + width; k++)
                most = x[k] > most ? x[k] : most;
            assert_int_equal(out[2 * i], most);
            assert_int_equal(out[2 * i + 1], ref_f32_bits((float)most));
        }
    }
    rig_close(&r);
}

/* ---- MXFP8 */

static void codes_template(Builder *b)
{
    Val amax = item_input(b, 1);
    item_output(b, 0, 2, mx_code(b, amax));
    item_output(b, 1, 2, record_code(b, amax));
    kernel_end(b);
}

/* Each exponent of a finite f32 with mantissas about 1.75, where the quotient by 448 passes a power
 * of two. */
static void codes_are_the_quotients(void **state)
{
    (void)state;
    static const uint32_t mantissas[] = {0,        1,        0x400000, 0x5fffff,
                                         0x600000, 0x600001, 0x7ffffe, 0x7fffff};
    struct rig r;
    open_rig(&r, codes_template);
    for (uint32_t from = 0; from < 255; from += THREADS / 8) {
        float amax[THREADS];
        for (uint32_t t = 0; t < THREADS; t++) {
            uint32_t exponent = from + t / 8 < 255 ? from + t / 8 : 254;
            amax[t] = ref_bits_f32(exponent << 23 | mantissas[t % 8]);
        }
        const uint32_t *out = run(&r, amax, sizeof amax);
        for (int t = 0; t < THREADS; t++) {
            float floored = amax[t] < 1.1754943508222875e-38f ? 1.1754943508222875e-38f : amax[t];
            float record = amax[t] < 1e-4f ? 1e-4f : amax[t];
            assert_int_equal(out[2 * t], ref_ceil_exp(ref_div448(floored)));
            assert_int_equal(out[2 * t + 1], ref_ceil_exp(ref_div448(record)));
        }
    }
    rig_close(&r);
}

static void quantize_template(Builder *b)
{
    Quantized q = mx_quantize_bf16(b, item_input(b, 4));
    item_output(b, 0, 3, part(q.bytes, 0, 1));
    item_output(b, 1, 3, part(q.bytes, 1, 1));
    item_output(b, 2, 3, q.code);
    kernel_end(b);
}

/* A group's values within a few octaves of each other, the groups anywhere. */
static void make_groups(uint16_t *x, uint64_t *random)
{
    for (int g = 0; g < THREADS / 4; g++) {
        uint32_t top = (uint32_t)draw(random) % 255, span = 1 + (uint32_t)draw(random) % 20;
        for (int i = 0; i < 32; i++) {
            uint32_t below = (uint32_t)draw(random) % span,
                     exponent = top > below ? top - below : 0;
            x[32 * g + i] =
                (uint16_t)((draw(random) & 1) << 15 | exponent << 7 | (draw(random) & 127));
        }
    }
}

static void rows_quantize_to_the_bit(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, quantize_template);
    uint64_t random = 77;
    for (int round = 0; round < 16; round++) {
        static uint16_t x[THREADS * 8];
        make_groups(x, &random);
        const uint32_t *out = run(&r, x, sizeof x);
        for (int g = 0; g < THREADS / 4; g++) {
            float values[32];
            uint8_t bytes[32], code;
            for (int i = 0; i < 32; i++)
                values[i] = ref_bf16_f32(x[32 * g + i]);
            ref_mx_quant(values, 1, 32, bytes, &code);
            for (int lane = 0; lane < 4; lane++) {
                assert_memory_equal(&out[3 * (4 * g + lane)], bytes + 8 * lane, 8);
                assert_int_equal(out[3 * (4 * g + lane) + 2], code);
            }
        }
    }
    rig_close(&r);
}

/* ---- RoPE */

static void rope_template(Builder *b)
{
    Val in = item_input(b, 4);
    Pair v = {part(in, 0, 1), part(in, 1, 1)};
    Pair turned = rope(b, v, part(in, 2, 1), part(in, 3, 1));
    Pair back = rope_inverse(b, v, part(in, 2, 1), part(in, 3, 1));
    item_output(b, 0, 4, turned.even);
    item_output(b, 1, 4, turned.odd);
    item_output(b, 2, 4, back.even);
    item_output(b, 3, 4, back.odd);
    kernel_end(b);
}

static float unit_float(uint64_t *random)
{
    return ((float)(draw(random) & 0xffffff) - 8388608.0f) / 8388608.0f;
}

static void pairs_turn_to_the_bit(void **state)
{
    (void)state;
    struct rig r;
    open_rig(&r, rope_template);
    uint64_t random = 3;
    static float in[THREADS * 4];
    for (int i = 0; i < THREADS * 4; i++)
        in[i] = unit_float(&random);
    const uint32_t *out = run(&r, in, sizeof in);
    for (int t = 0; t < THREADS; t++) {
        for (int inverse = 0; inverse < 2; inverse++) {
            float v[64] = {in[4 * t], in[4 * t + 1]}, cos_sin[64] = {0};
            cos_sin[0] = in[4 * t + 2];
            cos_sin[32] = in[4 * t + 3];
            ref_rope(v, cos_sin, inverse ? -1.0f : 1.0f);
            assert_int_equal(out[4 * t + 2 * inverse], ref_f32_bits(v[0]));
            assert_int_equal(out[4 * t + 2 * inverse + 1], ref_f32_bits(v[1]));
        }
    }
    rig_close(&r);
}

/* ---- addresses past 4 GiB, from a base whose low word is high */

static void addresses_template(Builder *b)
{
    Val x = item_input(b, 2);
    Val index = part(x, 0, 1), more = part(x, 1, 1);
    Val lane = lane_addr(b, arg(b, "swa"), index, arg(b, "swa_stride"), more);
    Val wave = addr_mul64(b, arg(b, "swa"), uniform(b, index), arg(b, "swa_stride"));
    Val plus_const = addr_plus(b, arg(b, "swa"), INT64_C(0x1fffffff8));
    Val product = addr_mul(b, arg(b, "swa"), uniform(b, index), uniform(b, more));
    const Val out[] = {lane, wave, plus_const, product};
    for (int i = 0; i < 4; i++) {
        Val v = is_sgpr(out[i]) ? mov_v(b, out[i]) : out[i];
        item_output(b, 2 * i, 8, part(v, 0, 1));
        item_output(b, 2 * i + 1, 8, part(v, 1, 1));
    }
    kernel_end(b);
}

static void addresses_carry(void **state)
{
    (void)state;
    static const uint64_t bases[] = {0x7f12fffffff0, 0x7f1280000000, 0x7f1200000010};
    static const uint64_t strides[] = {37376, 0xffffffff, 0x100000000, 0x3ffffff80};
    struct rig r;
    open_rig(&r, addresses_template);
    uint64_t random = 1;
    for (int round = 0; round < 12; round++) {
        uint64_t base = bases[round % 3], stride = strides[round / 3];
        static uint32_t x[THREADS * 2];
        for (int i = 0; i < THREADS; i++) {
            x[2 * i] = (uint32_t)draw(&random) >> (i % 2 ? 12 : 20);
            x[2 * i + 1] = i % 3 ? (uint32_t)draw(&random) : UINT32_MAX;
        }
        rig_set(&r, "swa", base);
        rig_set(&r, "swa_stride", stride);
        const uint64_t *out = run(&r, x, sizeof x);
        for (int t = 0; t < THREADS; t++) {
            const uint32_t *mine = &x[2 * t], *first = &x[t / 64 * 128];
            assert_int_equal(out[4 * t], base + mine[0] * stride + mine[1]);
            assert_int_equal(out[4 * t + 1], base + first[0] * stride);
            assert_int_equal(out[4 * t + 2], base + UINT64_C(0x1fffffff8));
            assert_int_equal(out[4 * t + 3], base + (uint64_t)first[0] * first[1]);
        }
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_is_exact),       cmocka_unit_test(division_by_constants_is_exact),
        cmocka_unit_test(lanes_reduce_in_groups),  cmocka_unit_test(f64_functions_and_sums),
        cmocka_unit_test(roots_of_every_size),     cmocka_unit_test(products_are_rounded_once),
        cmocka_unit_test(codes_are_the_quotients), cmocka_unit_test(rows_quantize_to_the_bit),
        cmocka_unit_test(pairs_turn_to_the_bit),   cmocka_unit_test(addresses_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
