/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "num.h"

enum { ROPE_BYTES = 2 * REF_ROPE, BLOCKS = REF_NOPE / 64 };

struct ref_verdict ref_compare_bf16(const uint16_t *got, const uint16_t *want, size_t n)
{
    struct ref_verdict v = {0};
    size_t got_nan = 0, want_nan = 0, off = 0;
    double square = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        double g = ref_bf16_f32(got[i]), w = ref_bf16_f32(want[i]);
        got_nan += isnan(g);
        want_nan += isnan(w);
        w = isnan(w) ? 0 : w;
        square += w * w;
    }
    if ((got_nan > 0) != (want_nan > 0)) {
        snprintf(v.text, sizeof v.text, "%zu NaN against %zu", got_nan, want_nan);
        return v;
    }
    double rms = n ? sqrt(square / (double)n) : 0;
    rms = rms > 1e-30 ? rms : 1e-30;
    for (size_t i = 0; i < n; i++) {
        double g = ref_bf16_f32(got[i]), w = ref_bf16_f32(want[i]);
        g = isnan(g) ? 0 : g;
        w = isnan(w) ? 0 : w;
        double d = fabs(g - w), a = fabs(w);
        double step = exp2(floor(log2(a > rms ? a : rms)) - 7);
        error += d * d;
        off += d > step * 1.0001;
        v.worst = d / (a + rms) > v.worst ? d / (a + rms) : v.worst;
    }
    v.l2 = n ? sqrt(error / (double)n) / rms : 0;
    v.off = n ? (double)off / (double)n : 0;
    v.holds = v.l2 <= 2e-3 && v.off <= 5e-3 && v.worst <= 0.03;
    snprintf(v.text, sizeof v.text, "l2 %.2e  off %.3f %%  worst %.2e", v.l2, 100 * v.off, v.worst);
    return v;
}

static int ordinal(uint8_t b)
{
    return b & 0x80 ? -(b & 0x7F) : b & 0x7F;
}

struct ref_verdict ref_compare_records(const uint8_t *got, const uint8_t *want, size_t n)
{
    size_t scales_off = 0, codes = 0, codes_off = 0;
    int worst_scale = 0, worst_code = 0;
    bool pad = false;
    uint16_t *rope = calloc(2 * n + 1, ROPE_BYTES);
    struct ref_verdict v = {.text = "out of memory"};
    if (!rope)
        return v;
    for (size_t r = 0; r < n; r++) {
        const uint8_t *g = got + r * REF_RECORD, *w = want + r * REF_RECORD;
        for (int b = 0; b < BLOCKS; b++) {
            int ds = abs(g[REF_DATA + b] - w[REF_DATA + b]);
            scales_off += ds > 0;
            worst_scale = ds > worst_scale ? ds : worst_scale;
            for (int i = b * 64; ds == 0 && i < (b + 1) * 64; i++) {
                int dc = abs(ordinal(g[i]) - ordinal(w[i]));
                codes++;
                codes_off += dc > 0;
                worst_code = dc > worst_code ? dc : worst_code;
            }
        }
        pad |= g[REF_RECORD - 1] != 0;
        memcpy(rope + r * REF_ROPE, g + REF_NOPE, ROPE_BYTES);
        memcpy(rope + (n + r) * REF_ROPE, w + REF_NOPE, ROPE_BYTES);
    }
    v = ref_compare_bf16(rope, rope + n * REF_ROPE, n * REF_ROPE);
    free(rope);
    double scale_share = n ? (double)scales_off / (double)(n * BLOCKS) : 0;
    double code_share = codes ? (double)codes_off / (double)codes : 0;
    char of_rope[sizeof v.text];
    memcpy(of_rope, v.text, sizeof of_rope);
    snprintf(v.text, sizeof v.text, "scales off %.2f %%  codes off %.3f %%  rope: %.90s",
             100 * scale_share, 100 * code_share, of_rope);
    v.holds = v.holds && worst_scale <= 1 && scale_share <= 5e-3 && worst_code <= 1 &&
              code_share <= 5e-3 && !pad;
    return v;
}

struct ref_verdict ref_compare_bits(const void *got, const void *want, size_t bytes)
{
    const uint8_t *g = got, *w = want;
    struct ref_verdict v = {0};
    for (size_t i = 0; i < bytes; i++)
        v.differ += g[i] != w[i];
    v.holds = v.differ == 0;
    snprintf(v.text, sizeof v.text, "%zu of %zu bytes differ", v.differ, bytes);
    return v;
}
