/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qkv: a token's K halves summed -> bf16; its q latent normed -> qr_out and MXFP8 -> QX8; its KV
 * row normed, rotated, quantized -> the record at its slot. Four waves: work-item i has q columns 8
 * i .. and kv columns 2 i, 2 i + 1.
 */
#include "templates/common/mx.h"
#include "templates/common/rope.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"
#include "templates/front/front.h"

enum {
    Q_COLUMNS = 8, /* a work-item's q columns: 16 bytes of bf16 */
    KV_COLUMNS = 2,
    COLUMNS = Q_COLUMNS + KV_COLUMNS,
    ROPE_FIRST = NOPE_DIM / 2, /* first work-item with a rotated pair */
    RECORD_BLOCK = 64,         /* nope values that share a scale */
};

typedef struct Token {
    Front *f;
    Val t;            /* S1 */
    Val pos, slot;    /* S2, i64 */
    Val has_q;        /* S2: lanes with q columns */
    Val q_weights;    /* V4: bf16 of the q norm */
    Val kv_weights;   /* V1: two bf16 */
    Val cos, sin;     /* V1: of this lane's pair */
    Val sums;         /* LDS byte offset, imm */
    Val q[Q_COLUMNS]; /* f32, rounded to bf16 */
    Val kv[KV_COLUMNS];
    Val q_scale, kv_scale; /* V1: 1 / rms */
} Token;

/* What does not wait for the partials. */
static void token_inputs(Token *k)
{
    Builder *b = k->f->b;
    int q_lanes = k->f->p->q_rank / Q_COLUMNS;
    k->pos = load_i64(b, arg(b, "pos"), k->t);
    k->slot = load_i64(b, arg(b, "slot"), k->t);
    k->has_q = tid_below(b, q_lanes);
    Val q_lane = min_const(b, b->tid, q_lanes - 1);
    k->q_weights =
        emit(b, global_load_dwordx4, emit(b, v_lshlrev_b32, imm(4), q_lane), arg(b, "qn_w"));
    k->kv_weights =
        emit(b, global_load_dword, emit(b, v_lshlrev_b32, imm(2), b->tid), arg(b, "kvn_w"));
    Val pair = emit(b, v_max_i32, imm(0), emit(b, v_subrev_u32, imm(ROPE_FIRST), b->tid));
    Val row = cos_sin_row(b, part(k->pos, 0, 1)), byte = emit(b, v_lshlrev_b32, imm(2), pair);
    k->cos = emit(b, global_load_dword, byte, row);
    k->sin = emit(b, global_load_dword, byte, row, off(ROPE_DIM / 2 * 4));
}

/* A column's sum: both halves' (sum, rest), rounded once. */
static Val halves_sum(Builder *b, Val first, Val second)
{
    Val sum = f64_add_f32(b, f64_add_f32(b, NONE, part(first, 0, 1)), part(second, 0, 1));
    Val rest = emit(b, v_add_f32, part(first, 2, 1), part(second, 2, 1));
    return emit(b, v_cvt_f32_f64, f64_add_f32(b, sum, rest));
}

/* Both halves' partials of this lane's columns, polled; the sums as bf16. */
static void token_partials(Token *k)
{
    Builder *b = k->f->b;
    const struct plan *p = k->f->p;
    PairLoad loads[2 * COLUMNS];
    Val q_lane = min_const(b, b->tid, p->q_rank / Q_COLUMNS - 1);
    Val q_byte = mul_add(b, q_lane, Q_COLUMNS * QKVP_BYTES, imm(0));
    Val kv_byte = mul_add(b, b->tid, KV_COLUMNS * QKVP_BYTES, imm(0));
    int64_t row_bytes = (int64_t)p->qkv_rows * QKVP_BYTES;
    for (int half = 0, n = 0; half < 2; half++) {
        Val row = addr_plus(b, scratch_at(b, "qkvp"), half * p->s * row_bytes);
        row = addr_at(b, row, k->t, row_bytes);
        Val kv_row = addr_plus(b, row, p->q_rank * QKVP_BYTES);
        for (int i = 0; i < Q_COLUMNS; i++)
            loads[n++] = (PairLoad){vreg(b, 4), row, q_byte, i * QKVP_BYTES};
        for (int i = 0; i < KV_COLUMNS; i++)
            loads[n++] = (PairLoad){vreg(b, 4), kv_row, kv_byte, i * QKVP_BYTES};
    }
    poll_pairs(b, &k->f->mb, loads, 2 * COLUMNS);
    Val columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = halves_sum(b, loads[i].got, loads[COLUMNS + i].got);
    for (int i = 0; i < COLUMNS; i += 2) {
        Val word = bf16_pack(b, columns[i], columns[i + 1]);
        if (i < Q_COLUMNS)
            word = emit(b, v_cndmask_b32, imm(0), word, k->has_q);
        Val *out = i < Q_COLUMNS ? &k->q[i] : k->kv;
        out[0] = bf16_lo(b, word);
        out[1] = bf16_hi(b, word);
    }
}

static Val sum_of_squares(Builder *b, const Val *v, int n)
{
    Val sum = NONE;
    for (int i = 0; i < n; i++) {
        Val wide = emit(b, v_cvt_f64_f32, v[i]);
        sum = f64_add_product(b, sum, wide, wide);
    }
    return lanes_sum_f64(b, sum);
}

/* LDS: four waves' sums of q, then of kv, f64. */
static void norm_sums_store(Token *k)
{
    Builder *b = k->f->b;
    Val q = sum_of_squares(b, k->q, Q_COLUMNS), kv = sum_of_squares(b, k->kv, KV_COLUMNS);
    Val at = mov_v(b, s_mul_add(b, b->wave, 8, k->sums));
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->lane), false);
    emit_void(b, ds_write_b64, at, q);
    emit_void(b, ds_write_b64, at, kv, off(QKV_WAVES * 8));
    lanes_end(b, &one);
}

/* 1 / rms. A whole row is multiplied by it: were it off by an ulp, some values would round to other
 * bf16. */
static Val norm_scale(Token *k, int offset, int n)
{
    Builder *b = k->f->b;
    Val sum = NONE, at = mov_v(b, k->sums);
    for (int i = 0; i < QKV_WAVES; i += 2) {
        Val two = emit(b, ds_read_b128, at, off(offset + 8 * i));
        sum = f64_add(b, f64_add(b, sum, part(two, 0, 2)), part(two, 2, 2));
    }
    Val mean = emit(b, v_cvt_f32_f64, emit(b, v_mul_f64, f64_const(b, 1.0 / n), sum));
    Val x = emit(b, v_add_f32, f32(k->f->p->model->eps), mean);
    Val endless = emit(b, v_cmp_eq_f32, bits(0x7f800000), x);
    Val scale = emit(b, v_cvt_f32_f64, f64_inverse_root(b, x));
    return emit(b, v_cndmask_b32, scale, imm(0), endless);
}

/* bf16((v * scale) * weight) of two columns, as a word. */
static void normed(Builder *b, Val word, const Val *v, Val scale, Val weights)
{
    Val even = emit(b, v_mul_f32, emit(b, v_mul_f32, v[0], scale), bf16_lo(b, weights));
    Val odd = emit(b, v_mul_f32, emit(b, v_mul_f32, v[1], scale), bf16_hi(b, weights));
    emit_to(b, word, v_cvt_pk_bf16_f32, even, odd);
}

static void q_latent(Token *k)
{
    Builder *b = k->f->b;
    const struct plan *p = k->f->p;
    Val words = vreg(b, 4);
    for (int i = 0; i < 4; i++)
        normed(b, part(words, i, 1), &k->q[2 * i], k->q_scale, part(k->q_weights, i, 1));
    Quantized q = mx_quantize_bf16(b, words);
    Val fourth = emit(b, v_cmp_eq_u32, imm(0), emit(b, v_and_b32, imm(3), b->lane));
    Lanes mine = lanes_if(b, k->has_q, true);
    Val qr = addr_at(b, arg(b, "qr_out"), k->t, p->q_rank * 2);
    emit_void(b, global_store_dwordx4, emit(b, v_lshlrev_b32, imm(4), b->tid), words, qr);
    Val qx8 = addr_at(b, scratch_at(b, "qx8"), k->t, p->q_rank);
    emit_void(b, global_store_dwordx2, emit(b, v_lshlrev_b32, imm(3), b->tid), q.bytes, qx8, SC1);
    Lanes group = lanes_if(b, fourth, false);
    Val qx8s = addr_at(b, scratch_at(b, "qx8s"), k->t, p->qx8s_row);
    emit_void(b, global_store_byte, emit(b, v_lshrrev_b32, imm(2), b->tid), q.code, qx8s, SC1);
    lanes_end(b, &group);
    lanes_end(b, &mine);
}

static void record_store(Token *k, Val pair, Val bytes, Val code)
{
    Builder *b = k->f->b;
    Val block_rows = arg(b, "swa_block");
    QuoRem at = s_div_by(b, part(k->slot, 0, 1), divisor(b, block_rows));
    Val block = addr_mul64(b, arg(b, "swa"), at.quo, arg(b, "swa_stride"));
    Val data = addr_at(b, block, at.rem, REC_DATA);
    Val scales = addr_mul(b, addr_at(b, block, block_rows, REC_DATA), at.rem, imm(REC_SCALES));
    Lanes nope = lanes_if(b, tid_below(b, ROPE_FIRST), true);
    emit_void(b, global_store_short, emit(b, v_lshlrev_b32, imm(1), b->tid), bytes, data);
    lanes_else(b, &nope);
    emit_void(b, global_store_dword, emit(b, v_lshlrev_b32, imm(2), b->tid), pair, data,
              off(NOPE_DIM - 4 * ROPE_FIRST));
    lanes_end(b, &nope);
    Val in_block = emit(b, v_and_b32, imm(RECORD_BLOCK / 2 - 1), b->tid);
    Val scaled =
        emit(b, v_cndmask_b32, imm(0), code, tid_below(b, ROPE_FIRST)); /* the eighth is 0 */
    Lanes first = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), in_block), false);
    emit_void(b, global_store_byte, emit(b, v_lshrrev_b32, imm(5), b->tid), scaled, scales);
    lanes_end(b, &first);
}

static void kv_row(Token *k)
{
    Builder *b = k->f->b;
    Val pair = vreg(b, 1);
    normed(b, pair, k->kv, k->kv_scale, k->kv_weights);
    Lanes rotated = lanes_if(b, emit(b, v_cmp_le_u32, imm(ROPE_FIRST), b->tid), false);
    Pair r = rope(b, (Pair){bf16_lo(b, pair), bf16_hi(b, pair)}, k->cos, k->sin);
    emit_to(b, pair, v_cvt_pk_bf16_f32, r.even, r.odd);
    lanes_end(b, &rotated);
    Val amax = lanes_max_u32(b, bf16_amax(b, &pair, 1), RECORD_BLOCK / 2);
    Val code = record_code(b, amax);
    Val bytes = fp8_pair_of_bf16(b, pair, mx_scale(b, code));
    note(b, "a pad row has no record");
    emit_void(b, s_cmp_ge_i32, part(k->slot, 1, 1), imm(0));
    Uniform live = uniform_if(b, IF_SCC1);
    record_store(k, pair, bytes, code);
    uniform_end(b, &live);
}

void qkv_stage(Front *f)
{
    Builder *b = f->b;
    Units u = units_begin(b, &f->p->place_qkv, "qkv");
    heading(b, "qkv: one token, waves 0 .. %d; the others keep their barrier", QKV_WAVES - 1);
    Token k = {.f = f, .t = u.unit, .sums = imm(lds_at(b, "norms"))};
    emit_void(b, s_cmp_lt_u32, b->wave, imm(QKV_WAVES));
    Uniform worker = uniform_if(b, IF_SCC1);
    token_inputs(&k);
    token_partials(&k);
    norm_sums_store(&k);
    barrier(b);
    k.q_scale = norm_scale(&k, 0, f->p->q_rank);
    k.kv_scale = norm_scale(&k, QKV_WAVES * 8, KV_DIM);
    q_latent(&k);
    kv_row(&k);
    uniform_else(b, &worker);
    barrier(b);
    uniform_end(b, &worker);
    publish(b, &f->mb, "qrdy", u.unit);
    units_end(b, &u);
}
