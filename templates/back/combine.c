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

enum {
    LANES = 64,
    MAX_STAT_REGS = 4,
    LANE_DIMS = 8,
    MAX_FLIGHT = 8,
    ROPE_LANE = NOPE_DIM / LANE_DIMS
};

struct combine {
    Back *k;
    Builder *b;
    const struct plan *p;
    Val token, group, head;    /* S1 */
    Val kv_len, live;          /* S1: keys, chunks that were computed */
    int regs;                  /* stats a lane: chunks lane, lane + 64, ... */
    int flight;                /* partials loaded at a time */
    Val partials, byte;        /* S2, V1: where the token's partials are, the lane's in one */
    Val weight[MAX_STAT_REGS]; /* V1: 2^(a chunk's max - the final max) */
    Val inverse;               /* V2: 1 / denominator, f64 */
};

struct rotation {
    Val cos, sin; /* V4 */
};

/* The sink in base 2, finite, so that no difference of two maxima is a NaN: -inf stands for no
 * sink. */
static Val sink_base2(struct combine *c)
{
    Builder *b = c->b;
    Val sink = emit(b, v_mul_f32, load_i32(b, arg(b, "sink"), c->head), mov_v(b, f32(1.44269504f)));
    return emit(b, v_med3_f32, sink, mov_v(b, f32(-FLT_MAX)), mov_v(b, f32(FLT_MAX)));
}

/* The live chunks' stats, a chunk a lane: V2 (max, sum); (-FLT_MAX, 0) past the live ones. */
static void load_stats(struct combine *c, Val stats[MAX_STAT_REGS])
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val base = addr_mul(b, scratch_at(b, "pstat"), c->token, imm(p->n_chunks * p->h * 8));
    for (int i = 0; i < c->regs; i++) {
        Val chunk = plus(b, b->lane, i * LANES);
        stats[i] = vreg(b, 2);
        emit_to(b, part(stats[i], 0, 1), v_mov_b32, f32(-FLT_MAX));
        emit_to(b, part(stats[i], 1, 1), v_mov_b32, imm(0));
        Val byte = mul_add(b, chunk, p->h * 8, emit(b, s_lshl_b32, c->head, imm(3)));
        Lanes live = lanes_if(b, emit(b, v_cmp_gt_u32, c->live, chunk), false);
        emit_to(b, stats[i], global_load_dwordx2, byte, base, SC1);
        lanes_end(b, &live);
    }
}

/* Each chunk's weight and the denominator. A head's dims are all divided by the one denominator
 * and, where a token has few keys, take few values: were it off by an ulp, a rounding tie would
 * move many of them at once. */
static void weigh(struct combine *c, const Val stats[MAX_STAT_REGS])
{
    Builder *b = c->b;
    Val sink = sink_base2(c), top = sink, total = NONE;
    for (int i = 0; i < c->regs; i++)
        top = emit(b, v_max_f32, top, part(stats[i], 0, 1));
    top = lanes_max_f32(b, top, LANES);
    for (int i = 0; i < c->regs; i++) {
        c->weight[i] = emit(b, v_exp_f32, emit(b, v_sub_f32, part(stats[i], 0, 1), top));
        Val sum = emit(b, v_cvt_f64_f32, part(stats[i], 1, 1));
        total = f64_add_product(b, total, sum, emit(b, v_cvt_f64_f32, c->weight[i]));
    }
    total = lanes_sum_f64(b, total);
    Val of_sink = emit(b, v_exp_f32, emit(b, v_sub_f32, sink, top));
    c->inverse = f64_inverse(b, f64_add_f32(b, total, of_sink));
}

/* Partials of c->flight chunks from `chunk` (S1 or imm) on, in flight together: the lane's eight
 * values, V4 each. Past the live ones the last is read again, for a weight of 0. */
static void load_partials(struct combine *c, Val chunk, Val words[MAX_FLIGHT])
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    Val last = emit(b, s_sub_u32, c->live, imm(1));
    for (int i = 0; i < c->flight; i++) {
        Val inside = emit(b, s_min_u32, plus(b, chunk, i), last);
        Val base = addr_mul(b, c->partials, inside, imm(p->h * HEAD_DIM * 2));
        emit_to(b, words[i], global_load_dwordx4, c->byte, base, SC1);
    }
}

/* total (f64 of each dim) += the chunks' values at their weights. */
static void add_partials(struct combine *c, const Val total[LANE_DIMS], Val chunk, Val weights,
                         const Val words[MAX_FLIGHT])
{
    Builder *b = c->b;
    for (int i = 0; i < c->flight; i++) {
        Val lane = emit(b, s_and_b32, plus(b, chunk, i), imm(LANES - 1));
        Val weight = emit(b, v_cvt_f64_f32, emit(b, v_readlane_b32, weights, lane));
        for (int k = 0; k < LANE_DIMS; k++) {
            Val word = part(words[i], k / 2, 1);
            Val value = k % 2 ? bf16_hi(b, word) : bf16_lo(b, word);
            f64_add_product(b, total[k], emit(b, v_cvt_f64_f32, value), weight);
        }
    }
}

/* The weighted sum of the live chunks' partials. The first ones are loaded ahead of the weights. */
static void merge(struct combine *c, Val total[LANE_DIMS])
{
    Builder *b = c->b;
    const struct plan *p = c->p;
    c->partials =
        addr_mul(b, scratch_at(b, "part"), c->token, imm(p->n_chunks * p->h * HEAD_DIM * 2));
    c->byte = mul_add(b, b->lane, LANE_DIMS * 2, emit(b, s_lshl_b32, c->head, imm(10)));
    c->flight = p->n_chunks < MAX_FLIGHT ? p->n_chunks : MAX_FLIGHT;
    Val stats[MAX_STAT_REGS] = {{0}}, words[MAX_FLIGHT] = {{0}};
    for (int k = 0; k < LANE_DIMS; k++)
        total[k] = fill_v(b, 2, 0);
    load_stats(c, stats);
    for (int i = 0; i < c->flight; i++)
        words[i] = vreg(b, 4);
    load_partials(c, imm(0), words);
    weigh(c, stats);
    if (p->n_chunks <= MAX_FLIGHT) {
        add_partials(c, total, mov_s(b, imm(0)), c->weight[0], words);
        return;
    }
    Label done = label(b, "merged");
    for (int i = 0; i < c->regs; i++) {
        Val chunk = mov_s(b, imm(i * LANES));
        Label again = loop_begin(b, "chunks");
        add_partials(c, total, chunk, c->weight[i], words);
        emit_to(b, chunk, s_add_u32, chunk, imm(MAX_FLIGHT));
        emit_void(b, s_cmp_lt_u32, chunk, c->live);
        jump_if(b, IF_SCC0, done);
        load_partials(c, chunk, words);
        emit_void(b, s_cmp_lt_u32, chunk, imm((i + 1) * LANES));
        loop_end(b, IF_SCC1, again);
    }
    place(b, done);
}

/* Cosines and sines of the four pairs that a lane of dims 448 .. holds; the first four's in the
 * lanes before. */
static struct rotation load_rotation(struct combine *c)
{
    Builder *b = c->b;
    Val row = cos_sin_row(b, part(load_i64(b, arg(b, "pos"), c->token), 0, 1));
    Val pairs = emit(b, v_max_i32, imm(0), plus(b, b->lane, -ROPE_LANE));
    Val byte = emit(b, v_lshlrev_b32, imm(4), pairs);
    return (struct rotation){emit(b, global_load_dwordx4, byte, row),
                             emit(b, global_load_dwordx4, byte, row, off(ROPE_DIM / 2 * 4))};
}

/* Inverse RoPE of the eight values in the lanes that hold dims 448 .. */
static void unrotate(struct combine *c, const struct rotation *r, Val values)
{
    Builder *b = c->b;
    Lanes rotated = lanes_if(b, emit(b, v_cmp_le_u32, imm(ROPE_LANE), b->lane), false);
    for (int i = 0; i < 4; i++) {
        Val even = part(values, 2 * i, 1), odd = part(values, 2 * i + 1, 1);
        Pair y = rope_inverse(b, (Pair){even, odd}, part(r->cos, i, 1), part(r->sin, i, 1));
        emit_to(b, even, v_mov_b32, y.even);
        emit_to(b, odd, v_mov_b32, y.odd);
    }
    lanes_end(b, &rotated);
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
    Val kv_len = load_kv_len(k, c.token);
    c.kv_len = is_sgpr(kv_len) ? kv_len : uniform(b, kv_len);
    Val rounded = emit(b, s_add_i32, c.kv_len, imm(p->chunk - 1));
    c.live = emit(b, s_lshr_b32, rounded, imm(p->chunk == 64 ? 6 : 7));
    Val values = fill_v(b, LANE_DIMS, 0);
    /* a token without keys, as a pad row, is zero; its position may be anything */
    emit_void(b, s_cmp_gt_i32, c.kv_len, imm(0));
    Uniform some = uniform_if(b, IF_SCC1);
    struct rotation rotation = load_rotation(&c);
    await_chunks(&c);
    stamp(b, "combine_wait");
    Val total[LANE_DIMS];
    merge(&c, total);
    for (int i = 0; i < LANE_DIMS; i++) {
        Val o = emit(b, v_cvt_f32_f64, emit(b, v_mul_f64, total[i], c.inverse));
        emit_to(b, part(values, i, 1), v_mov_b32, bf16_round(b, o));
    }
    unrotate(&c, &rotation, values);
    uniform_end(b, &some);
    store_quantized(&c, values);
    publish(b, &k->mb, "crdy", u.unit);
    units_end(b, &u);
}
