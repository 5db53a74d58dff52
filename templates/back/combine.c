/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combine: a token's chunks of 8 heads merged with the sink, rotated back, quantized -> XO, XOS,
 * flag crdy[token][group].
 *
 * A wave takes a head, a lane eight of its dims. The chunks' (max, sum) lie a chunk a lane: one
 * reduction gives every weight, and the partials are then added at their final weight, however many
 * chunks the token has.
 */
#include <float.h>

#include "templates/back/back.h"
#include "templates/common/mx.h"
#include "templates/common/rope.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"

enum { LANES = 64, MAX_STAT_REGS = 4, LANE_DIMS = 8, FLIGHT = 4, ROPE_LANE = NOPE_DIM / LANE_DIMS };

struct combine {
    Back *k;
    Builder *b;
    const struct plan *p;
    Val token, group, head;    /* S1 */
    Val kv_len, live;          /* S1: keys, chunks that were computed */
    int regs;                  /* stats a lane: chunks lane, lane + 64, ... */
    Val weight[MAX_STAT_REGS]; /* V1: 2^(a chunk's max - the final max); 0 past the live chunks */
    Val inverse;               /* V1: 1 / denominator */
};

/* The sink in base 2, finite, so that no difference of two maxima is a NaN: -inf stands for no
 * sink. */
static Val sink_base2(struct combine *c)
{
    Builder *b = c->b;
    Val sink = emit(b, v_mul_f32, load_i32(b, arg(b, "sink"), c->head), mov_v(b, f32(1.44269504f)));
    return emit(b, v_med3_f32, sink, mov_v(b, f32(-FLT_MAX)), mov_v(b, f32(FLT_MAX)));
}

/* 1 / x, within an ulp of the quotient, for x >= 1: the largest term of a denominator is 2^0. */
static Val inverse_of(Builder *b, Val x)
{
    Val r = emit(b, v_rcp_f32, x);
    Val error = emit(b, v_fma_f32, neg(x), r, f32(1.0f));
    return emit(b, v_fma_f32, error, r, r);
}

/* Weights and denominator out of the live chunks' stats. */
static void combine_weights(struct combine *c)
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val stats = addr_mul(b, scratch_at(b, "pstat"), c->token, imm(p->n_chunks * p->h * 8));
    Val lowest = mov_v(b, f32(-FLT_MAX)), max[MAX_STAT_REGS], sum[MAX_STAT_REGS];
    Val top = sink_base2(c), sink = top;
    for (int i = 0; i < c->regs; i++) {
        Val chunk = plus(b, b->lane, i * LANES);
        Val there = emit(b, v_cmp_gt_u32, c->live, chunk);
        Val stat = vreg(b, 2);
        emit_to(b, part(stat, 0, 1), v_mov_b32, lowest);
        emit_to(b, part(stat, 1, 1), v_mov_b32, imm(0));
        Val byte = mul_add(b, chunk, p->h * 8, emit(b, s_lshl_b32, c->head, imm(3)));
        Lanes live = lanes_if(b, there, true);
        emit_to(b, stat, global_load_dwordx2, byte, stats, SC1);
        lanes_end(b, &live);
        max[i] = part(stat, 0, 1);
        sum[i] = part(stat, 1, 1);
        top = emit(b, v_max_f32, top, max[i]);
    }
    top = lanes_max_f32(b, top, LANES);
    Val total = NONE;
    for (int i = 0; i < c->regs; i++) {
        c->weight[i] = emit(b, v_exp_f32, emit(b, v_sub_f32, max[i], top));
        Val part_sum = emit(b, v_mul_f32, sum[i], c->weight[i]);
        total = i ? emit(b, v_add_f32, total, part_sum) : part_sum;
    }
    total = lanes_sum_f32(b, total, LANES);
    Val of_sink = emit(b, v_exp_f32, emit(b, v_sub_f32, sink, top));
    c->inverse = inverse_of(b, emit(b, v_add_f32, total, of_sink));
}

/* total += the lane's eight values of a chunk at the chunk's weight (S1). */
static void add_chunk(Builder *b, Val total, Val words, Val weight)
{
    for (int i = 0; i < 4; i++) {
        Val word = part(words, i, 1), lo = part(total, 2 * i, 1), hi = part(total, 2 * i + 1, 1);
        emit_to(b, lo, v_fma_f32, bf16_lo(b, word), weight, lo);
        emit_to(b, hi, v_fma_f32, bf16_hi(b, word), weight, hi);
    }
}

/* FLIGHT chunks from `chunk` (S1) on, their loads in flight together; past the live ones the last
 * is read at weight 0. */
static void add_chunks(struct combine *c, Val total, Val chunk, Val weights, Val partials, Val byte)
{
    Builder *b = c->b;
    Val words[FLIGHT], weight[FLIGHT];
    Val last = emit(b, s_add_i32, c->live, imm(-1));
    for (int i = 0; i < FLIGHT; i++) {
        Val at = plus(b, chunk, i), inside = emit(b, s_min_u32, at, last);
        Val base = addr_mul(b, partials, inside, imm(c->p->h * HEAD_DIM * 2));
        words[i] = emit(b, global_load_dwordx4, byte, base, SC1);
        weight[i] = emit(b, v_readlane_b32, weights, emit(b, s_and_b32, at, imm(LANES - 1)));
    }
    for (int i = 0; i < FLIGHT; i++)
        add_chunk(b, total, words[i], weight[i]);
}

/* The weighted sum of the live chunks' partials, V8. */
static Val combine_partials(struct combine *c)
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val total = fill_v(b, LANE_DIMS, 0);
    Val partials =
        addr_mul(b, scratch_at(b, "part"), c->token, imm(p->n_chunks * p->h * HEAD_DIM * 2));
    Val byte = emit(b, v_lshlrev_b32, imm(4), b->lane);
    emit_to(b, byte, v_add_u32, emit(b, s_lshl_b32, c->head, imm(10)), byte);
    for (int i = 0; i < c->regs; i++) {
        Val chunk = mov_s(b, imm(i * LANES));
        Val end = i + 1 < c->regs ? emit(b, s_min_u32, c->live, imm((i + 1) * LANES)) : c->live;
        emit_void(b, s_cmp_lt_u32, chunk, end);
        Uniform some = uniform_if(b, IF_SCC1);
        Label again = loop_begin(b, "chunks");
        add_chunks(c, total, chunk, c->weight[i], partials, byte);
        emit_to(b, chunk, s_add_i32, chunk, imm(FLIGHT));
        emit_void(b, s_cmp_lt_u32, chunk, end);
        loop_end(b, IF_SCC1, again);
        uniform_end(b, &some);
    }
    return total;
}

/* Inverse RoPE of the eight values in the lanes that hold dims 448 .. */
static void unrotate(struct combine *c, Val values)
{
    Builder *b = c->b;
    emit_void(b, s_cmp_gt_i32, c->kv_len,
              imm(0)); /* a pad row is zero, and its position may be anything */
    Uniform some = uniform_if(b, IF_SCC1);
    Val row = cos_sin_row(b, part(load_i64(b, arg(b, "pos"), c->token), 0, 1));
    Lanes rotated = lanes_if(b, emit(b, v_cmp_le_u32, imm(ROPE_LANE), b->lane), true);
    Val byte = emit(b, v_lshlrev_b32, imm(4), plus(b, b->lane, -ROPE_LANE));
    Val cos = emit(b, global_load_dwordx4, byte, row);
    Val sin = emit(b, global_load_dwordx4, byte, row, off(ROPE_DIM / 2 * 4));
    for (int i = 0; i < 4; i++) {
        Val even = part(values, 2 * i, 1), odd = part(values, 2 * i + 1, 1);
        Pair y = rope_inverse(b, (Pair){even, odd}, part(cos, i, 1), part(sin, i, 1));
        emit_to(b, even, v_mov_b32, y.even);
        emit_to(b, odd, v_mov_b32, y.odd);
    }
    lanes_end(b, &rotated);
    uniform_end(b, &some);
}

/* Eight values a lane, 32 in four lanes -> e4m3 and a code. */
static void store_quantized(struct combine *c, Val values)
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val amax = NONE;
    for (int i = 0; i < LANE_DIMS; i += 2) {
        Val v0 = absv(part(values, i, 1)), v1 = absv(part(values, i + 1, 1));
        amax = i ? emit(b, v_max3_f32, amax, v0, v1) : emit(b, v_max_f32, v0, v1);
    }
    amax = lanes_max_f32(b, amax, 4);
    Val code = mx_code(b, amax), scale = mx_scale(b, code), bytes = vreg(b, 2);
    for (int i = 0; i < 2; i++) {
        Val word = fp8_of_f32(b, part(values, 4 * i, 1), part(values, 4 * i + 1, 1),
                              part(values, 4 * i + 2, 1), part(values, 4 * i + 3, 1), scale);
        emit_to(b, part(bytes, i, 1), v_mov_b32, word);
    }
    Val xo = addr_mul(b, scratch_at(b, "xo"), c->token, imm(p->q_rows));
    Val xos = addr_mul(b, scratch_at(b, "xos"), c->token, imm(p->q_rows / 32));
    Val at = mul_add(b, b->lane, LANE_DIMS, emit(b, s_lshl_b32, c->head, imm(9)));
    emit_void(b, global_store_dwordx2, at, bytes, xo, SC1);
    Val quarter = emit(b, v_lshrrev_b32, imm(5), at);
    Val low = emit(b, v_and_b32, imm(3), b->lane);
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), low), false);
    emit_void(b, global_store_byte, quarter, code, xos, SC1);
    lanes_end(b, &one);
}

/* The chunks of this token and these heads' block are there. */
static void await_chunks(struct combine *c)
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val first = s_mul_add(b, c->token, p->n_chunks * p->head_blocks, imm(0));
    if (p->head_blocks > 1) {
        Val block = div_const(b, c->group, p->unit_heads / COMB_HEADS).quo;
        first = emit(b, s_add_i32, first, block);
    }
    await_flags(b, &c->k->mb, "srdy", c->live, first, p->head_blocks);
}

void combine_stage(Back *k)
{
    Builder *b = k->b;
    const struct plan *p = k->p;
    stage(b, "combine");
    Units u = units_begin(b, &p->place_comb, "combine");
    struct combine c = {.k = k, .b = b, .p = p, .regs = (p->n_chunks + LANES - 1) / LANES};
    QuoRem at = div_const(b, u.unit, p->h / COMB_HEADS);
    c.token = at.quo;
    c.group = at.rem;
    c.head = emit(b, s_lshl3_add_u32, c.group, b->wave);
    await_keys(k, c.token);
    c.kv_len = load_kv_len(k, c.token);
    Val rounded = emit(b, s_add_i32, c.kv_len, imm(p->chunk - 1));
    c.live = emit(b, s_lshr_b32, rounded, imm(p->chunk == 64 ? 6 : 7));
    await_chunks(&c);
    stamp(b, "combine_wait");
    combine_weights(&c);
    Val total = combine_partials(&c), values = vreg(b, LANE_DIMS);
    for (int i = 0; i < LANE_DIMS; i++) {
        Val o = emit(b, v_mul_f32, part(total, i, 1), c.inverse);
        emit_to(b, part(values, i, 1), v_mov_b32, bf16_round(b, o));
    }
    unrotate(&c, values);
    store_quantized(&c, values);
    publish(b, &k->mb, "crdy", u.unit);
    units_end(b, &u);
}
