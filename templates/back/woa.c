/* SPDX-License-Identifier: Apache-2.0 */
/* wo_a: 32 rows of a group against the group's XO rows -> bf16 -> MXFP8 of the 32 -> X8B, X8BS,
 * flag ardy[task]. */
#include "templates/back/output.h"
#include "templates/common/mx.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"

enum { TASK_ROWS = 32, GROUP_TASKS = O_RANK / TASK_ROWS };

void woa_begin(Back *k, Output *o)
{
    Builder *b = k->b;
    *o = (Output){.k = k};
    o->first = first_unit(b, &k->p->place_woa);
    o->gemv = (Gemv){.shape = &k->p->woa,
                     .weights = arg(b, "woa"),
                     .codes = arg(b, "woa_s"),
                     .codes_row = k->p->group_k / 32,
                     .sums = lds_at(b, "woa_sums")};
}

static Val task_of(Output *o, int round)
{
    return plus(o->k->b, o->first, (int64_t)round * o->k->p->place_woa.span);
}

/* Leaves SCC: the workgroup has a task in this round. */
static void has_task(Output *o, int round)
{
    const struct place *place = &o->k->p->place_woa;
    int span = place->span, left = place->count - round * span;
    Builder *b = o->k->b;
    emit_void(b, s_cmp_lt_u32, o->first, imm(left < span ? left : span));
}

void woa_weights(Output *o, int round)
{
    Builder *b = o->k->b;
    Val task = task_of(o, round);
    has_task(o, round);
    Val has = emit(b, s_cselect_b32, imm(1), imm(0)), live[] = {has, has};
    gemv_loads(b, &o->gemv, &o->w, TASK_ROWS / ROWS, emit(b, s_lshl_b32, task, imm(5)), ROWS, live);
}

/* 32 rows x the tile's tokens: a lane two rows, sixteen lanes a token. */
static void woa_epilogue(Output *o, Val task, struct token_tile tile)
{
    Builder *b = o->k->b;
    const struct plan *p = o->k->p;
    Val pair = emit(b, v_and_b32, imm(15), b->tid);
    Val slot = emit(b, v_lshrrev_b32, imm(4), b->tid);
    Val token = min_const(b, slot, tile.count - 1);
    Val row_tile = emit(b, v_lshrrev_b32, imm(3), pair);
    Val in_tile = emit(b, v_lshlrev_b32, imm(1), emit(b, v_and_b32, imm(7), pair));
    Val word = row_sums_bf16(b, &o->gemv, row_tile, in_tile, token);
    Val code = mx_code(b, lanes_max_u32(b, bf16_amax(b, &word, 1), 16));
    Val bytes = fp8_pair_of_bf16(b, word, mx_scale(b, code));
    Val x8b = addr_mul(b, scratch_at(b, "x8b"), task, imm(TASK_ROWS));
    Val x8bs = addr_mul(b, scratch_at(b, "x8bs"), task, imm(1));
    Val at = plus(b, slot, tile.first);
    Lanes mine = lanes_if(b, tid_below(b, tile.count * 16), true);
    emit_void(b, global_store_short, mul_add(b, at, p->o_rows, mul_add(b, pair, 2, imm(0))), bytes,
              x8b, SC1);
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), pair), false);
    emit_void(b, global_store_byte, mul_add(b, at, p->o_rows / 32, imm(0)), code, x8bs, SC1);
    lanes_end(b, &one);
    lanes_end(b, &mine);
}

static void woa_round(Output *o, int round)
{
    Back *k = o->k;
    Builder *b = k->b;
    const struct plan *p = k->p;
    Val task = task_of(o, round);
    Val group = emit(b, s_lshr_b32, task, imm(5));
    await_flags(b, &k->mb, "crdy", imm(p->s), group, p->h / COMB_HEADS);
    if (round == 0)
        stamp(b, "woa_wait");
    Rows rows = {.shape = &p->woa,
                 .data = addr_mul(b, scratch_at(b, "xo"), group, imm(p->group_k)),
                 .codes = addr_mul(b, scratch_at(b, "xos"), group, imm(p->group_k / 32)),
                 .data_row = p->q_rows,
                 .codes_row = p->q_rows / 32,
                 .lds_data = lds_at(b, "xol"),
                 .lds_codes = lds_at(b, "xosl")};
    const struct token_tile *tokens = p->woa.token_tiles;
    RowsLoads loads = rows_loads(b, &rows, tokens[0]);
    for (int i = 0; i < p->woa.n_token_tiles; i++) {
        rows_store(b, &rows, &loads);
        if (i + 1 < p->woa.n_token_tiles)
            loads = rows_loads(b, &rows, tokens[i + 1]);
        gemv_multiply(b, &o->gemv, &o->w, &rows, tokens[i].count);
        woa_epilogue(o, task, tokens[i]);
    }
    publish(b, &k->mb, "ardy", task);
}

void woa_stage(Output *o)
{
    Builder *b = o->k->b;
    for (int round = 0; round < o->k->p->woa.rounds; round++) {
        if (round)
            woa_weights(o, round);
        has_task(o, round);
        Uniform some = uniform_if(b, IF_SCC1);
        woa_round(o, round);
        uniform_end(b, &some);
    }
}
