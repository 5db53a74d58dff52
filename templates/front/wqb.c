/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqb: 16-row tasks of wq_b against every token tile -> bf16 -> RoPE of each head's dims 448 .. in
 * f32 -> bf16 -> q. A workgroup's tasks are 256 apart, whole heads apart: all of its rows are at
 * the same dims of their heads.
 */
#include "templates/common/rope.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"
#include "templates/front/front.h"

enum {
    HEAD_TASKS = HEAD_DIM / ROWS, /* tasks of a head */
    ROPE_TASK = NOPE_DIM / ROWS,  /* a head's first task with rotated dims */
    TASK_PAIRS = ROWS / 2,        /* bf16 pairs of a (task, token) */
    MAX_PASSES = GEMV_MAX_TILES * TASK_PAIRS * TILE / THREADS,
};

/* How the epilogue of a token tile deals its pairs to the work-items, going round when there are
 * more. */
typedef struct Epilogue {
    int tiles, tokens, total, passes;
} Epilogue;

static Epilogue epilogue_of(int tiles, int tokens)
{
    int total = tiles * tokens * TASK_PAIRS;
    return (Epilogue){tiles, tokens, total, (total + THREADS - 1) / THREADS};
}

static int workgroup_tasks(const struct plan *p)
{
    return p->place_wqb.count / p->place_wqb.span;
}

static int round_tiles(const struct plan *p, int round)
{
    int left = workgroup_tasks(p) - round * p->wqb.tiles;
    return left < p->wqb.tiles ? left : p->wqb.tiles;
}

void wqb_begin(Front *f)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    f->wqb_task = first_unit(b, &p->place_wqb);
    f->wqb = (Gemv){.shape = &p->wqb,
                    .weights = arg(b, "wqb"),
                    .codes = arg(b, "wqb_s"),
                    .codes_row = p->q_rank / 32,
                    .sums = lds_at(b, "wqb_sums")};
    f->qx = (Rows){.shape = &p->wqb,
                   .data_row = p->q_rank,
                   .codes_row = p->qx8s_row,
                   .lds_data = lds_at(b, "qxl"),
                   .lds_codes = lds_at(b, "qxsl")};
}

static void round_loads(Front *f, int round)
{
    Builder *b = f->b;
    const struct place *place = &f->p->place_wqb;
    Val first = plus(b, f->wqb_task, (int64_t)round * f->p->wqb.tiles * place->span);
    Val row = emit(b, s_lshl_b32, first, imm(4));
    gemv_loads(b, &f->wqb, &f->wqb_weights, round_tiles(f->p, round), row, ROWS * place->span,
               NULL);
}

void wqb_loads(Front *f)
{
    round_loads(f, 0);
}

/* ---- epilogue */

typedef struct CosSin {
    Val cos, sin;
} CosSin;

/* Leaves SCC = this workgroup's rows are rotated dims. */
static Val rope_test(Front *f)
{
    Builder *b = f->b;
    Val in_head = emit(b, s_and_b32, f->wqb_task, imm(HEAD_TASKS - 1));
    emit_void(b, s_cmp_ge_u32, in_head, imm(ROPE_TASK));
    return in_head;
}

/* This work-item's (tile, pair, token in its token tile) of a pass. */
typedef struct Item {
    Val tile, pair, token; /* V1 */
} Item;

static Item item_of(Builder *b, Epilogue e, int pass)
{
    Val u = plus(b, b->tid, (int64_t)pass * THREADS);
    if ((pass + 1) * THREADS > e.total)
        u = min_const(b, u, e.total - 1);
    QuoRem task = div_const(b, u, e.tokens * TASK_PAIRS);
    return (Item){task.quo, emit(b, v_and_b32, imm(TASK_PAIRS - 1), task.rem),
                  emit(b, v_lshrrev_b32, imm(3), task.rem)};
}

/* Cosine and sine of each pass's pair, of one token tile. */
static void cos_sin_loads(Front *f, Val in_head, struct token_tile tokens, CosSin *out)
{
    Builder *b = f->b;
    Epilogue e = epilogue_of(round_tiles(f->p, 0), tokens.count);
    Val positions = addr_plus(b, arg(b, "pos"), (int64_t)tokens.first * 8);
    Val first = emit(b, s_sub_u32, in_head, imm(ROPE_TASK));
    Val row = addr_at(b, arg(b, "cos_sin"), first, TASK_PAIRS * 4);
    for (int i = 0; i < e.passes; i++) {
        Item item = item_of(b, e, i);
        Val pos = emit(b, global_load_dword, emit(b, v_lshlrev_b32, imm(3), item.token), positions);
        Val at = emit(b, v_lshlrev_b32, imm(8), pos); /* 64 f32 a position */
        at = emit(b, v_lshl_add_u32, item.pair, imm(2), at);
        out[i].cos = emit(b, global_load_dword, at, row);
        out[i].sin = emit(b, global_load_dword, at, row, off(ROPE_DIM / 2 * 4));
    }
}

static void rotate(Front *f, Val word, CosSin cs)
{
    Builder *b = f->b;
    rope_test(f);
    Uniform rotated = uniform_if(b, IF_SCC1);
    Pair r = rope(b, (Pair){bf16_lo(b, word), bf16_hi(b, word)}, cs.cos, cs.sin);
    emit_to(b, word, v_cvt_pk_bf16_f32, r.even, r.odd);
    uniform_end(b, &rotated);
}

static void q_store(Front *f, int round, struct token_tile tokens, const CosSin *cs)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    Epilogue e = epilogue_of(round_tiles(p, round), tokens.count);
    Val base = addr_plus(b, arg(b, "q"),
                         (int64_t)tokens.first * p->q_rows * 2 +
                             (int64_t)round * p->wqb.tiles * p->place_wqb.span * ROWS * 2);
    base = addr_at(b, base, f->wqb_task, ROWS * 2);
    for (int i = 0; i < e.passes; i++) {
        bool partial = (i + 1) * THREADS > e.total;
        Item item = item_of(b, e, i);
        Lanes some = {0};
        if (partial)
            some = lanes_if(b, tid_below(b, e.total - i * THREADS), true);
        Val row = emit(b, v_lshlrev_b32, imm(1), item.pair);
        Val tile = e.tiles == 1 ? imm(0) : item.tile;
        Val word = row_sums_bf16(b, &f->wqb, tile, row, item.token);
        rotate(f, word, cs[i]);
        Val byte = mul_add(b, item.token, p->q_rows * 2, emit(b, v_lshlrev_b32, imm(2), item.pair));
        if (e.tiles > 1)
            byte = mul_add(b, item.tile, p->place_wqb.span * ROWS * 2, byte);
        emit_void(b, global_store_dword, byte, word, base);
        if (partial)
            lanes_end(b, &some);
    }
}

/* ---- every round of tasks, every token tile: the next one's rows in flight */

void wqb_stage(Front *f)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    CosSin cs[PLAN_MAX_TILES][MAX_PASSES] = {0};
    Val in_head = rope_test(f);
    Uniform rotated = uniform_if(b, IF_SCC1);
    for (int i = 0; i < p->wqb.n_token_tiles; i++)
        cos_sin_loads(f, in_head, p->wqb.token_tiles[i], cs[i]);
    uniform_end(b, &rotated);

    f->qx.data = scratch_at(b, "qx8");
    f->qx.codes = scratch_at(b, "qx8s");
    await_flags(b, &f->mb, "qrdy", imm(p->s), imm(0), 1);
    RowsLoads rows = rows_loads(b, &f->qx, p->wqb.token_tiles[0]);
    int n = p->wqb.n_token_tiles, passes = p->wqb.rounds * n;
    for (int i = 0; i < passes; i++) {
        struct token_tile tokens = p->wqb.token_tiles[i % n];
        heading(b, "wqb: round %d, tokens %d .. %d", i / n, tokens.first,
                tokens.first + tokens.count - 1);
        if (i == 0 || n > 1)
            rows_store(b, &f->qx, &rows);
        else
            barrier(b); /* the rows are there; the sums of the round before have been read */
        if (n > 1 && i + 1 < passes)
            rows = rows_loads(b, &f->qx, p->wqb.token_tiles[(i + 1) % n]);
        gemv_multiply(b, &f->wqb, &f->wqb_weights, &f->qx, tokens.count);
        if (i % n == n - 1 && i + 1 < passes)
            round_loads(f, i / n + 1);
        q_store(f, i / n, tokens, cs[i % n]);
    }
}
