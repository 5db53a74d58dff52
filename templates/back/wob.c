/* SPDX-License-Identifier: Apache-2.0 */
/* wo_b: tasks of 16 rows against X8B -> bf16 -> out, or a caller's hook. Several tasks a workgroup
 * share the rows in LDS. */
#include "gen/hooks.h"
#include "templates/back/output.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"

enum {
    SLOT_PAIRS = ROWS / 2,
    TILE_PAIRS = SLOT_PAIRS * TILE
}; /* bf16 pairs of a token, of a task */

void wob_begin(Back *k, Output *o)
{
    Builder *b = k->b;
    *o = (Output){.k = k};
    o->first = first_unit(b, &k->p->place_wob);
    o->gemv = (Gemv){.shape = &k->p->wob,
                     .weights = arg(b, "wob"),
                     .codes = arg(b, "wob_s"),
                     .codes_row = k->p->o_rows / 32,
                     .sums = lds_at(b, "wob_sums")};
}

/* Tile `tile` of a round is the workgroup's task number round * tiles + tile: this many workgroups
 * of the span have it. */
static int workgroups_with(Output *o, int round, int tile)
{
    const struct place *place = &o->k->p->place_wob;
    int left = place->count - (round * o->k->p->wob.tiles + tile) * place->span;
    return left < 0 ? 0 : left < place->span ? left : place->span;
}

/* Tiles of a round that some workgroup has. */
static int round_tiles(Output *o, int round)
{
    int n = 0;
    while (n < o->k->p->wob.tiles && workgroups_with(o, round, n) > 0)
        n++;
    return n;
}

static Val first_task(Output *o, int round)
{
    const struct plan *p = o->k->p;
    return plus(o->k->b, o->first, (int64_t)round * p->wob.tiles * p->place_wob.span);
}

void wob_weights(Output *o, int round)
{
    Builder *b = o->k->b;
    const struct place *place = &o->k->p->place_wob;
    Val live[GEMV_MAX_TILES];
    int n = round_tiles(o, round);
    for (int i = 0; i < n; i++) {
        int have = workgroups_with(o, round, i);
        live[i] = NONE;
        if (have == WORKGROUPS)
            continue;
        emit_void(b, s_cmp_lt_u32, o->first, imm(have));
        live[i] = emit(b, s_cselect_b32, imm(1), imm(0));
    }
    Val row = emit(b, s_lshl_b32, first_task(o, round), imm(4));
    gemv_loads(b, &o->gemv, &o->w, n, row, place->span * ROWS, live);
}

/* A bf16 pair a lane: two rows of a task for one token. pair (V1): of all tiles' pairs. */
static void wob_pair(Output *o, int round, struct token_tile tile, Val pair)
{
    Builder *b = o->k->b;
    const struct plan *p = o->k->p;
    const struct cogen_hooks *hooks = b->hooks;
    Val row_tile = emit(b, v_lshrrev_b32, imm(7), pair);
    Val slot = emit(b, v_bfe_u32, pair, imm(3), imm(4));
    Val row = emit(b, v_lshlrev_b32, imm(1), emit(b, v_and_b32, imm(SLOT_PAIRS - 1), pair));
    Val task = mul_add(b, row_tile, p->place_wob.span, first_task(o, round));
    Val mask = emit(b, v_cmp_gt_u32, imm(tile.count), slot);
    Val inside = emit(b, v_cmp_gt_u32, imm(p->wob_tasks), task);
    mask = emit(b, s_and_b64, mask, inside);
    int n = round_tiles(o, round);
    if (n * TILE_PAIRS % THREADS)
        mask = emit(b, s_and_b64, mask, emit(b, v_cmp_gt_u32, imm(n), row_tile));
    Lanes mine = lanes_if(b, mask, true);
    Val word = row_sums_bf16(b, &o->gemv, row_tile, row, slot);
    Val token = plus(b, slot, tile.first);
    Val column = mul_add(b, task, ROWS, row);
    if (hooks && hooks->wob_out) {
        hooks->wob_out(b, hooks->context, token, column, word, NONE);
    } else {
        Val element = emit(b, v_mul_lo_u32, token, part(arg(b, "out_stride"), 0, 1));
        Val byte = emit(b, v_add_lshl_u32, element, column, imm(1));
        emit_void(b, global_store_dword, byte, word, arg(b, "out"));
    }
    lanes_end(b, &mine);
}

static void wob_round(Output *o, const Rows *rows, int round, bool resident)
{
    Builder *b = o->k->b;
    const struct plan *p = o->k->p;
    RowsLoads loads;
    if (!resident)
        loads = rows_loads(b, rows, p->wob.token_tiles[0]);
    for (int i = 0; i < p->wob.n_token_tiles; i++) {
        if (!resident)
            rows_store(b, rows, &loads);
        if (i + 1 < p->wob.n_token_tiles)
            loads = rows_loads(b, rows, p->wob.token_tiles[i + 1]);
        gemv_multiply(b, &o->gemv, &o->w, rows, p->wob.token_tiles[i].count);
        int pairs = round_tiles(o, round) * TILE_PAIRS;
        for (int from = 0; from < pairs; from += THREADS)
            wob_pair(o, round, p->wob.token_tiles[i], plus(b, b->tid, from));
    }
}

void wob_stage(Output *o)
{
    Back *k = o->k;
    Builder *b = k->b;
    const struct plan *p = k->p;
    await_flags(b, &k->mb, "ardy", imm(p->woa_tasks), imm(0), 1);
    stamp(b, "wob_wait");
    Rows rows = {.shape = &p->wob,
                 .data = scratch_at(b, "x8b"),
                 .codes = scratch_at(b, "x8bs"),
                 .data_row = p->o_rows,
                 .codes_row = p->o_rows / 32,
                 .lds_data = lds_at(b, "x8bl"),
                 .lds_codes = lds_at(b, "x8bsl")};
    for (int round = 0; round < p->wob.rounds; round++) {
        int have = workgroups_with(o, round, 0);
        if (round)
            wob_weights(o, round);
        Uniform some;
        if (have < WORKGROUPS) {
            emit_void(b, s_cmp_lt_u32, o->first, imm(have));
            some = uniform_if(b, IF_SCC1);
        }
        /* a single token tile stays in LDS; sums of the round before are read out by then */
        bool resident = round > 0 && p->wob.n_token_tiles == 1;
        if (resident)
            barrier(b);
        wob_round(o, &rows, round, resident);
        if (have < WORKGROUPS)
            uniform_end(b, &some);
    }
}
