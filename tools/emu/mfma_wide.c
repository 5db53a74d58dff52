/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix multiply-add of f32, f64 and 8-bit integers, whose arithmetic is plain: fused
 * multiply-adds in order of K for the floats, exact integer sums modulo 2^32.
 */
#include "mfma.h"

#include <math.h>

static unsigned lane_of(const struct mfma_shape *s, const struct mfma_order *o, unsigned k,
                        unsigned block)
{
    return o->group[k] * (unsigned)s->m * s->blocks + block * s->m;
}

/* f32 denormals of A and B are flushed when MODE says so. */
static float source_f32(uint32_t bits, bool flush)
{
    return numeric_f32(flush && (bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}

EMU_CLONES static void fma_columns(float a, const float *b, int n, float *acc)
{
    for (int j = 0; j < n; j++) {
        acc[j] = fmaf(a, b[j], acc[j]);
    }
}

void mfma_f32(struct emu_alu *alu, const struct mfma_shape *s)
{
    struct mfma_codes a, b;
    struct mfma_order order;
    unsigned planes = mfma_planes(s), m = s->m;
    bool flush = (alu->denorm32 & 1) == 0;
    mfma_order(s, s->a, &order);
    mfma_unpack(alu->src[0], s->a, planes, 0, &a);
    mfma_unpack(alu->src[1], s->b, planes, alu->blgp, &b);
    for (unsigned block = 0; block < s->blocks; block++) {
        unsigned a_block = mfma_a_block(alu, s, block);
        for (unsigned i = 0; i < m; i++) {
            struct mfma_place place = mfma_place(s, block, i);
            size_t at = place.reg * EMU_LANES + place.lane;
            float acc[32], column[32];
            double exact[32] = {0};
            memcpy(acc, alu->src[2] + at, m * sizeof *acc);
            for (unsigned k = 0; k < s->k; k++) {
                unsigned plane = order.plane[k];
                float x = source_f32(a.code[plane][lane_of(s, &order, k, a_block) + i], flush);
                const uint32_t *row = &b.code[plane][lane_of(s, &order, k, block)];
                for (unsigned j = 0; j < m; j++) {
                    column[j] = source_f32(row[j], flush);
                    exact[j] += (double)x * (double)column[j];
                }
                if (!alu->precise) {
                    fma_columns(x, column, (int)m, acc);
                }
            }
            for (unsigned j = 0; alu->precise && j < m; j++) {
                acc[j] = (float)(exact[j] + (double)acc[j]);
            }
            memcpy(alu->dst + at, acc, m * sizeof *acc);
        }
    }
}

/* blgp negates A, B, C here. */
void mfma_f64(struct emu_alu *alu, const struct mfma_shape *s)
{
    struct mfma_order order;
    unsigned m = s->m;
    mfma_order(s, s->a, &order);
    double sign_a = alu->blgp & 1 ? -1.0 : 1.0, sign_b = alu->blgp & 2 ? -1.0 : 1.0;
    double sign_c = alu->blgp & 4 ? -1.0 : 1.0;
    for (unsigned block = 0; block < s->blocks; block++) {
        unsigned a_block = mfma_a_block(alu, s, block);
        for (unsigned i = 0; i < m; i++) {
            struct mfma_place place = mfma_place_f64(s, block, i);
            size_t at = 2 * place.reg * EMU_LANES;
            for (unsigned j = 0; j < m; j++) {
                int lane = (int)(place.lane + j);
                double acc = sign_c * numeric_f64(emu_row64(alu->src[2] + at, lane));
                for (unsigned k = 0; k < s->k; k++) {
                    int la = (int)(lane_of(s, &order, k, a_block) + i);
                    int lb = (int)(lane_of(s, &order, k, block) + j);
                    double x = sign_a * numeric_f64(emu_row64(alu->src[0], la));
                    double y = sign_b * numeric_f64(emu_row64(alu->src[1], lb));
                    acc = fma(x, y, acc);
                }
                emu_put64(alu->dst + at, lane, numeric_f64_bits(acc));
            }
        }
    }
}

static inline int32_t signed_byte(uint32_t code)
{
    return (int32_t)(code << 24) >> 24;
}

void mfma_i8(struct emu_alu *alu, const struct mfma_shape *s)
{
    struct mfma_codes a, b;
    struct mfma_order order;
    unsigned planes = mfma_planes(s), m = s->m;
    const uint32_t *c = s->sparse ? alu->dst : alu->src[2];
    mfma_order(s, s->a, &order);
    if (s->sparse) {
        mfma_expand(alu, s, &a);
    } else {
        mfma_unpack(alu->src[0], s->a, planes, 0, &a);
    }
    mfma_unpack(alu->src[1], s->b, planes, alu->blgp, &b);
    for (unsigned block = 0; block < s->blocks; block++) {
        unsigned a_block = mfma_a_block(alu, s, block);
        for (unsigned i = 0; i < m; i++) {
            struct mfma_place place = mfma_place(s, block, i);
            size_t at = place.reg * EMU_LANES + place.lane;
            uint32_t acc[32];
            memcpy(acc, c + at, m * sizeof *acc);
            for (unsigned k = 0; k < s->k; k++) {
                unsigned plane = order.plane[k];
                int32_t x = signed_byte(a.code[plane][lane_of(s, &order, k, a_block) + i]);
                const uint32_t *row = &b.code[plane][lane_of(s, &order, k, block)];
                for (unsigned j = 0; j < m; j++) {
                    acc[j] += (uint32_t)(x * signed_byte(row[j]));
                }
            }
            memcpy(alu->dst + at, acc, m * sizeof *acc);
        }
    }
}
