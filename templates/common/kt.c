/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KT[t][k]: the cache slot of token t's key k. First its compressed rows, bit 31 set (-1 where the
 * top-k table has a hole), then its window rows, then -1. KLEN[t] = both counts, KLEN[S + t] = the
 * compressed ones.
 */
#include "templates/common/kt.h"

#include "gen/plan.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"

typedef struct KeyRow {
    const struct plan *p;
    bool device;           /* stores at device scope */
    Val token;             /* S1 */
    Val ntopk, kv_len;     /* S1: compressed keys, all keys */
    Val topk, window, out; /* S2: the token's rows of the top-k table, the window table, KT */
    Val blocks;            /* S2: its request's row of the block table */
    Divisor comp_block;
} KeyRow;

static void store_i32(Builder *b, bool device, Val byte, Val value, Val base, int offset)
{
    if (device)
        emit_void(b, global_store_dword, byte, value, base, off(offset), SC1);
    else
        emit_void(b, global_store_dword, byte, value, base, off(offset));
}

/* 0 where the token is a pad row: its slot is negative. */
static Val when_live(Builder *b, Val slot, Val count)
{
    emit_void(b, s_cmp_ge_i32, part(slot, 1, 1), imm(0));
    return emit(b, s_cselect_b32, count, imm(0));
}

static Val compressed_rows(Builder *b, Val pos, int ratio)
{
    Val rows = emit(b, s_add_u32, part(pos, 0, 1), imm(1));
    int shift = 0;
    while (1 << shift < ratio)
        shift++;
    if (1 << shift == ratio)
        return emit(b, s_lshr_b32, rows, imm(shift));
    return s_div_by(b, rows, divisor(b, mov_s(b, imm(ratio)))).quo;
}

static void top_k_row(Builder *b, KeyRow *r, Val slot)
{
    const struct cogen_key *key = &r->p->key;
    Val width = key->global_keys ? arg(b, "bt_stride") : imm(key->topk);
    Val have = compressed_rows(b, load_i64(b, arg(b, "pos"), r->token), key->ratio);
    note(b, "compressed keys");
    r->ntopk = when_live(b, slot, emit(b, s_min_u32, have, width));
    if (key->global_keys) {
        r->topk = addr_mul(b, arg(b, "topk"), r->token, emit(b, s_lshl_b32, width, imm(2)));
        return;
    }
    r->topk = addr_at(b, arg(b, "topk"), r->token, key->topk * 4);
    Val request = load_i32(b, arg(b, "t2r"), r->token);
    Val row_bytes = emit(b, s_lshl_b32, arg(b, "bt_stride"), imm(2));
    r->blocks = addr_mul(b, arg(b, "comp_bt"), request, row_bytes);
    r->comp_block = divisor(b, arg(b, "comp_block"));
}

static KeyRow key_row(Builder *b, Val token, bool device)
{
    KeyRow r = {.p = b->plan, .device = device, .token = token, .ntopk = imm(0)};
    Val slot = load_i64(b, arg(b, "slot"), token);
    Val nswa = when_live(b, slot, load_i32(b, arg(b, "swa_lens"), token));
    if (r.p->key.ratio)
        top_k_row(b, &r, slot);
    note(b, "keys of the token");
    r.kv_len = r.p->key.ratio ? emit(b, s_add_u32, r.ntopk, nswa) : nswa;
    r.window = addr_at(b, arg(b, "swa_idx"), token, WINDOW * 4);
    r.out = addr_at(b, arg(b, "kt"), token, r.p->keys * 4);
    return r;
}

/* Compressed row `local` of the request -> its cache slot. */
static Val cache_slot(Builder *b, const KeyRow *r, Val local)
{
    if (r->p->key.global_keys)
        return local;
    QuoRem at = div_by(b, emit(b, v_max_i32, imm(0), local), r->comp_block);
    Val block = emit(b, global_load_dword, emit(b, v_lshlrev_b32, imm(2), at.quo), r->blocks);
    return emit(b, v_add_u32, emit(b, v_mul_lo_u32, block, r->comp_block.d), at.rem);
}

static void window_key(Builder *b, const KeyRow *r, Val k, Val value)
{
    Lanes window = lanes_if(b, emit(b, v_cmp_gt_u32, r->kv_len, k), true);
    Val byte = emit(b, v_lshlrev_b32, imm(2), emit(b, v_subrev_u32, r->ntopk, k));
    emit_to(b, value, global_load_dword, byte, r->window);
    lanes_end(b, &window);
}

/* Key k (V1) of the token, k >= least. */
static Val key_value(Builder *b, const KeyRow *r, Val k, int least)
{
    Val value = mov_v(b, imm(-1));
    if (least >= r->p->key.topk) { /* past the table's width; with ratio 0 it has none */
        window_key(b, r, k, value);
        return value;
    }
    Lanes top = lanes_if(b, emit(b, v_cmp_gt_u32, r->ntopk, k), true);
    Val local = emit(b, global_load_dword, emit(b, v_lshlrev_b32, imm(2), k), r->topk);
    Val slot = emit(b, v_or_b32, bits(0x80000000), cache_slot(b, r, local));
    Val there = emit(b, v_cmp_le_i32, imm(0), local);
    emit_to(b, value, v_cndmask_b32, imm(-1), slot, there);
    lanes_else(b, &top);
    window_key(b, r, k, value);
    lanes_end(b, &top);
    return value;
}

static void key_round(Builder *b, const KeyRow *r, Val k, int least, bool partial)
{
    Val value = key_value(b, r, k, least);
    Lanes some = {0};
    if (partial)
        some = lanes_if(b, emit(b, v_cmp_gt_u32, imm(r->p->keys), k), true);
    store_i32(b, r->device, emit(b, v_lshlrev_b32, imm(2), k), value, r->out, 0);
    if (partial)
        lanes_end(b, &some);
}

/* A wide table (global_keys): the rounds run over the token's keys only. */
static void key_rounds(Builder *b, const KeyRow *r)
{
    if (!r->p->key.global_keys) {
        for (int k0 = 0; k0 < r->p->keys; k0 += THREADS)
            key_round(b, r, plus(b, b->tid, k0), k0, k0 + THREADS > r->p->keys);
        return;
    }
    Val k0 = mov_s(b, imm(0));
    Label head = loop_begin(b, "keys");
    key_round(b, r, emit(b, v_add_u32, k0, b->tid), 0, true);
    emit_to(b, k0, s_add_u32, k0, imm(THREADS));
    emit_void(b, s_cmp_lt_u32, k0, r->kv_len);
    loop_end(b, IF_SCC1, head);
}

static void key_counts(Builder *b, const KeyRow *r)
{
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    Val base = addr_at(b, arg(b, "klen"), r->token, 4), zero = mov_v(b, imm(0));
    store_i32(b, r->device, zero, mov_v(b, r->kv_len), base, 0);
    store_i32(b, r->device, zero, mov_v(b, r->ntopk), base, r->p->s * 4);
    lanes_end(b, &one);
}

void kt_stage(Builder *b, const Mailbox *mb, bool publish_rows)
{
    Units u = units_begin(b, &b->plan->place_kt, "kt");
    heading(b, "kt: one token's keys");
    KeyRow r = key_row(b, u.unit, publish_rows);
    key_rounds(b, &r);
    key_counts(b, &r);
    if (publish_rows)
        publish(b, mb, "ktrdy", u.unit);
    units_end(b, &u);
}
