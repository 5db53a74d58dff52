/* SPDX-License-Identifier: Apache-2.0 */
/* Split, first half: keys times q, and the chunk's softmax. */
#include <float.h>

#include "templates/back/split.h"
#include "templates/common/products.h"

/* 2^(code - 127) as the f32 whose exponent field is byte `at` of the word. */
static Val code_scale(Builder *b, Val word, int at)
{
    Val code = at == 3 ? emit(b, v_lshrrev_b32, imm(24), word)
                       : emit(b, v_bfe_u32, word, imm(8 * at), imm(8));
    return emit(b, v_lshlrev_b32, imm(23), code);
}

/* Eight e4m3 of a key, dwords `first` and first + 1 of a 16-byte piece, as bf16: exact, since a
 * code is a power of two. */
static Val dequant_8(Builder *b, Val bytes, int first, Val scale)
{
    Val out = vreg(b, 4);
    for (int i = 0; i < 4; i++)
        emit_to(b, part(out, i, 1), v_cvt_scalef32_pk_bf16_fp8, part(bytes, first + i / 2, 1),
                scale, op_sel(i % 2));
    return out;
}

enum { STEPS = HEAD_DIM / 32, NOPE_STEPS = NOPE_DIM / 32, AHEAD = 2 };

/* Where q lies for a lane: row r of the wave's first head tile, at the lane's dims of the nope and
 * of the rope steps. */
struct q_rows {
    Val nope, rope; /* V1 */
};

/* A contraction takes dims in any order that A and B share: lane g's 16 bytes of nope block c are
 * two steps of 8 dims. */
static struct q_rows q_rows(struct split *s)
{
    Builder *b = s->b;
    Val head = emit(b, s_mul_i32, s->group, imm(s->tiles * HEAD_TILE));
    Val row = emit(b, v_add_u32, head, s->r);
    Val base = emit(b, v_mad_u32_u24, row, imm(s->p->ql_row), imm(s->q));
    return (struct q_rows){emit(b, v_lshl_add_u32, s->g, imm(5), base),
                           emit(b, v_lshl_add_u32, s->g, imm(4), base)};
}

static void read_q(struct split *s, const struct q_rows *rows, int step, Val q[SPLIT_MAX_TILES])
{
    bool nope = step < NOPE_STEPS;
    int at = nope ? 128 * (step / 2) + 16 * (step % 2) : 64 * step;
    for (int i = 0; i < s->tiles; i++)
        q[i] = emit(s->b, ds_read_b128, nope ? rows->nope : rows->rope,
                    off(i * HEAD_TILE * s->p->ql_row + at));
}

void split_scores(struct split *s, Val scores[SPLIT_MAX_TILES])
{
    Builder *b = s->b;
    heading(b, "keys (A, dequantized once) times q of each head tile (B)");
    struct q_rows rows = q_rows(s);
    Val q[STEPS][SPLIT_MAX_TILES], scale = NONE;
    Products sums[SPLIT_MAX_TILES];
    for (int i = 0; i < s->tiles; i++)
        sums[i] = products_begin(b);
    for (int step = 0; step < AHEAD; step++)
        read_q(s, &rows, step, q[step]);
    for (int step = 0; step < STEPS; step++) {
        if (step + AHEAD < STEPS)
            read_q(s, &rows, step + AHEAD, q[step + AHEAD]);
        int c = step / 2;
        if (step < NOPE_STEPS && step % 2 == 0)
            scale = code_scale(b, part(s->codes, c / 4, 1), c % 4);
        Val keys = step < NOPE_STEPS ? dequant_8(b, s->nope[c], 2 * (step % 2), scale)
                                     : s->rope[step - NOPE_STEPS];
        for (int i = 0; i < s->tiles; i++)
            products_add_bf16(b, &sums[i], keys, q[step][i]);
    }
    for (int i = 0; i < s->tiles; i++)
        scores[i] = products_f32(b, &sums[i]);
}

/* Masks (S2) of the lanes whose key 4 g + n is there, from the ballot over lanes r of one row
 * of 16. */
static void present_keys(struct split *s, Val there[4])
{
    Builder *b = s->b;
    Val shift = emit(b, v_lshlrev_b32, imm(2), s->g);
    Val mine = emit(b, v_lshrrev_b32, shift, part(s->present, 0, 1));
    for (int n = 0; n < 4; n++) {
        Val bit =
            n == 0 ? emit(b, v_and_b32, imm(1), mine) : emit(b, v_bfe_u32, mine, imm(n), imm(1));
        there[n] = emit(b, v_cmp_ne_u32, imm(0), bit);
    }
}

/* The most of a head over every key tile: f32 [key_tiles] at `row` in LDS. */
static Val max_of_row(struct split *s, Val row, int at)
{
    Builder *b = s->b;
    Val m = NONE;
    for (int i = 0; i < s->p->key_tiles / 4; i++) {
        Val four = emit(b, ds_read_b128, row, off(at + 16 * i));
        Val two = emit(b, v_max3_f32, part(four, 0, 1), part(four, 1, 1), part(four, 2, 1));
        m = i == 0 ? emit(b, v_max_f32, two, part(four, 3, 1))
                   : emit(b, v_max3_f32, m, two, part(four, 3, 1));
    }
    return m;
}

void split_softmax(struct split *s, const Val scores[SPLIT_MAX_TILES])
{
    Builder *b = s->b;
    const struct plan *p = s->p;
    heading(b, "scores in base 2, an absent key's -FLT_MAX; the most of the wave's 16 keys to LDS");
    Val there[4], lowest = mov_v(b, f32(-FLT_MAX));
    present_keys(s, there);
    Val head = emit(b, s_mul_i32, s->group, imm(s->tiles * HEAD_TILE));
    Val row = emit(b, v_add_u32, head, s->r); /* of the wave's first tile in the unit */
    Val stat = mul_add(b, row, p->key_tiles, s->tile);
    Val max_row = mul_add(b, row, p->key_tiles * 4, imm(s->max));
    Val max = mul_add(b, stat, 4, imm(s->max)), sum = mul_add(b, stat, 8, imm(s->sum));
    int tile_stats = HEAD_TILE * p->key_tiles;
    Val sv[SPLIT_MAX_TILES], most[SPLIT_MAX_TILES], sums[SPLIT_MAX_TILES];
    for (int i = 0; i < s->tiles; i++) {
        sv[i] = vreg(b, 4);
        for (int n = 0; n < 4; n++) {
            Val scaled = emit(b, v_mul_f32, arg(b, "qk_scale"), part(scores[i], n, 1));
            emit_to(b, part(sv[i], n, 1), v_cndmask_b32, lowest, scaled, there[n]);
        }
        Val three = emit(b, v_max3_f32, part(sv[i], 0, 1), part(sv[i], 1, 1), part(sv[i], 2, 1));
        most[i] = rows_max_f32(b, emit(b, v_max_f32, three, part(sv[i], 3, 1)));
    }
    Lanes first = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), s->g), false);
    for (int i = 0; i < s->tiles; i++)
        emit_void(b, ds_write_b32, max, most[i], off(i * tile_stats * 4));
    lanes_end(b, &first);
    barrier(b);

    heading(b, "p = 2^(score - the chunk's most), summed in f64, kept as bf16");
    Val prob = mul_add(b, row, p->p_row, emit(b, v_lshlrev_b32, imm(3), s->g));
    emit_to(b, prob, v_add_u32, s_mul_add(b, s->tile, 32, imm(s->prob)), prob);
    for (int i = 0; i < s->tiles; i++) {
        Val m = max_of_row(s, max_row, i * tile_stats * 4);
        Val e[4];
        for (int n = 0; n < 4; n++) {
            Val below = emit(b, v_sub_f32, part(sv[i], n, 1), m);
            e[n] = emit(b, v_cndmask_b32, imm(0), emit(b, v_exp_f32, below), there[n]);
        }
        Val pair = vreg(b, 2);
        emit_to(b, part(pair, 0, 1), v_cvt_pk_bf16_f32, e[0], e[1]);
        emit_to(b, part(pair, 1, 1), v_cvt_pk_bf16_f32, e[2], e[3]);
        emit_void(b, ds_write_b64, prob, pair, off(i * HEAD_TILE * p->p_row));
        Val four = NONE;
        for (int n = 0; n < 4; n++)
            four = f64_add_f32(b, four, e[n]);
        sums[i] = rows_sum_f64(b, four);
    }
    Lanes again = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), s->g), false);
    for (int i = 0; i < s->tiles; i++)
        emit_void(b, ds_write_b64, sum, sums[i], off(i * tile_stats * 8));
    lanes_end(b, &again);
    barrier(b);
}
