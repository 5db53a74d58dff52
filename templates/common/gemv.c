/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/gemv.h"

#include "templates/common/products.h"
#include "templates/common/wave.h"

enum {
    CHUNK = 16,   /* bytes of a row that a work-item loads at a time */
    TOGETHER = 4, /* tiles whose sums are in registers at a time */
};

/* ---- activation rows: pieces of `piece` bytes, dealt to the work-items in order */

typedef struct Pieces {
    int a_row, total, rounds;
} Pieces;

static Pieces pieces(int n, int row_bytes, int piece)
{
    int a_row = row_bytes / piece, total = n * a_row;
    return (Pieces){a_row, total, (total + THREADS - 1) / THREADS};
}

/* This work-item's piece of a round: (token, piece in the row), the last one again past the end. */
static QuoRem piece_of(Builder *b, Pieces p, int round)
{
    Val u = plus(b, b->tid, (int64_t)round * THREADS);
    if ((round + 1) * THREADS > p.total)
        u = min_const(b, u, p.total - 1);
    return div_const(b, u, p.a_row);
}

static Val piece_byte(Builder *b, QuoRem at, int row_bytes, int piece, int base)
{
    return mul_add(b, at.quo, row_bytes, mul_add(b, at.rem, piece, imm(base)));
}

RowsLoads rows_loads(Builder *b, const Rows *rows, struct token_tile tile)
{
    Pieces data = pieces(tile.count, rows->shape->k, CHUNK),
           codes = pieces(tile.count, rows->shape->k / 32, 4);
    RowsLoads l = {.n = tile.count, .n_data = data.rounds, .n_codes = codes.rounds};
    if (data.rounds > ROWS_MAX_LOADS || codes.rounds > ROWS_MAX_LOADS / 4) {
        build_error(b, __FILE__, __LINE__, "%d rows of %d bytes are too many loads", l.n,
                    rows->shape->k);
        return l;
    }
    Val from = addr_plus(b, rows->data, (int64_t)tile.first * rows->data_row);
    for (int i = 0; i < data.rounds; i++) {
        Val byte = piece_byte(b, piece_of(b, data, i), rows->data_row, CHUNK, 0);
        note(b, "rows of tokens %d .. %d", tile.first, tile.first + tile.count - 1);
        l.data[i] = emit(b, global_load_dwordx4, byte, from, SC1);
    }
    from = addr_plus(b, rows->codes, (int64_t)tile.first * rows->codes_row);
    for (int i = 0; i < codes.rounds; i++) {
        Val byte = piece_byte(b, piece_of(b, codes, i), rows->codes_row, 4, 0);
        l.codes[i] = emit(b, global_load_dword, byte, from, SC1);
    }
    return l;
}

/* The work-items of a round that have a piece of their own. */
static Lanes pieces_if(Builder *b, Pieces p, int round)
{
    return lanes_if(b, tid_below(b, p.total - round * THREADS), true);
}

void rows_store(Builder *b, const Rows *rows, const RowsLoads *l)
{
    Pieces data = pieces(l->n, rows->shape->k, CHUNK), codes = pieces(l->n, rows->shape->k / 32, 4);
    for (int i = 0; i < data.rounds; i++) {
        bool partial = (i + 1) * THREADS > data.total;
        Val byte = piece_byte(b, piece_of(b, data, i), rows->shape->row, CHUNK, rows->lds_data);
        Lanes some = {0};
        if (partial)
            some = pieces_if(b, data, i);
        emit_void(b, ds_write_b128, byte, l->data[i]);
        if (partial)
            lanes_end(b, &some);
    }
    for (int i = 0; i < codes.rounds; i++) {
        bool partial = (i + 1) * THREADS > codes.total;
        Val byte = piece_byte(b, piece_of(b, codes, i), rows->shape->codes_row, 4, rows->lds_codes);
        Lanes some = {0};
        if (partial)
            some = pieces_if(b, codes, i);
        emit_void(b, ds_write_b32, byte, l->codes[i]);
        if (partial)
            lanes_end(b, &some);
    }
    barrier(b);
}

/* ---- which steps of K a wave has: step i of wave w is w + i * waves */

typedef struct Steps {
    int full, rest, active; /* steps of every active wave; waves with one more; waves with any */
} Steps;

static Steps steps_of(const struct gemv_shape *shape)
{
    Steps s = {shape->steps / shape->waves, shape->steps % shape->waves, shape->waves};
    if (s.full == 0)
        s.active = s.rest;
    return s;
}

/* Runs body for the waves below `waves`: a branch only where some wave is left out. */
typedef struct SomeWaves {
    bool branches;
    Uniform u;
} SomeWaves;

static SomeWaves waves_below(Builder *b, int waves)
{
    SomeWaves s = {.branches = waves < WAVES};
    if (s.branches) {
        emit_void(b, s_cmp_lt_u32, b->wave, imm(waves));
        s.u = uniform_if(b, IF_SCC1);
    }
    return s;
}

static void waves_end(Builder *b, SomeWaves *s)
{
    if (s->branches)
        uniform_end(b, &s->u);
}

/* ---- weights */

typedef struct WeightLanes {
    Val byte, code; /* V1: this lane's first byte of step `wave`, its code */
    int step, half; /* bytes from a step to the wave's next, from the lane's first 16 bytes to its
                       others */
    int codes;      /* bytes from a step's codes to the next's */
} WeightLanes;

static WeightLanes weight_lanes(Builder *b, const Gemv *g)
{
    Val row = emit(b, v_and_b32, imm(15), b->lane), block = emit(b, v_lshrrev_b32, imm(4), b->lane);
    WeightLanes at;
    int step = g->shuffled ? STEP * ROWS
                           : STEP; /* shuffled: a step of 16 rows is contiguous, in lane order */
    if (g->shuffled)
        at.byte = emit(b, v_lshlrev_b32, imm(4), b->lane);
    else
        at.byte = mul_add(b, row, g->shape->ld, emit(b, v_lshlrev_b32, imm(4), block));
    at.byte = emit(b, v_add_u32, s_mul_add(b, b->wave, step, imm(0)), at.byte);
    at.code = emit(b, v_lshl_add_u32, b->wave, imm(2), block);
    at.step = step * g->shape->waves;
    at.half = step / 2;
    at.codes = STEP / 32 * g->shape->waves;
    return at;
}

/* Address and offset of a byte that may lie past an instruction's offset field. */
static Val reach(Builder *b, Val byte, int *offset)
{
    int beyond = *offset & ~2047;
    *offset -= beyond;
    return plus(b, byte, beyond);
}

static void step_loads(Builder *b, const WeightLanes *at, int step, Val base, Val codes, Val rows,
                       Val code)
{
    int offset = step * at->step;
    Val byte = reach(b, at->byte, &offset);
    emit_to(b, part(rows, 0, 4), global_load_dwordx4, byte, base, off(offset));
    emit_to(b, part(rows, 4, 4), global_load_dwordx4, byte, base, off(offset + at->half));
    emit_to(b, code, global_load_ubyte, at->code, codes, off(step * at->codes));
}

/* Lanes of the waves below `waves` where live: loads are masked rather than branched around, so
 * that every wave has the same number of loads in flight and a wait for an older one does not drain
 * newer ones. */
static Lanes waves_masked(Builder *b, int waves, Val live)
{
    Val limit = imm(waves);
    if (live.kind != VAL_NONE) {
        emit_void(b, s_cmp_lg_u32, live, imm(0));
        limit = emit(b, s_cselect_b32, limit, imm(0));
    }
    emit_void(b, s_cmp_lt_u32, b->wave, limit);
    return lanes_if(b, emit(b, s_cselect_b64, imm(-1), imm(0)), false);
}

typedef struct TileBase {
    Val weights, codes; /* S2 */
} TileBase;

/* Steps from .. to - 1 of tiles first .. end - 1, for some of the waves. */
static void steps_loads(Builder *b, GemvWeights *w, const WeightLanes *at, const TileBase *base,
                        int first, int end, int from, int to)
{
    for (int i = first; i < end; i++)
        for (int step = from; step < to; step++)
            /* NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): steps count from 0 */
            step_loads(b, at, step, base[i].weights, base[i].codes, w->rows[i][step],
                       w->codes[i][step]);
}

static void tiles_loads(Builder *b, const Gemv *g, GemvWeights *w, const WeightLanes *at,
                        const TileBase *base, int first, int end, Val live)
{
    Steps steps = steps_of(g->shape);
    bool all = live.kind == VAL_NONE;
    if (steps.full) {
        Lanes some = {0};
        if (!all || steps.active < WAVES)
            some = waves_masked(b, steps.active, live);
        steps_loads(b, w, at, base, first, end, 0, steps.full);
        if (!all || steps.active < WAVES)
            lanes_end(b, &some);
    }
    if (steps.rest) {
        Lanes fewer = waves_masked(b, steps.rest, live);
        steps_loads(b, w, at, base, first, end, steps.full, steps.full + 1);
        lanes_end(b, &fewer);
    }
}

static void weight_registers(Builder *b, const Gemv *g, GemvWeights *w, int tiles)
{
    for (int i = 0; i < tiles; i++) {
        for (int k = 0; k < g->shape->per_wave; k++) {
            if (w->rows[i][k].kind != VAL_NONE)
                continue;
            w->rows[i][k] = vreg(b, 8);
            w->codes[i][k] = vreg(b, 1);
        }
    }
}

/* A missing tile is multiplied with the others. */
static void zeros_unless(Builder *b, const Gemv *g, GemvWeights *w, int tile, Val live)
{
    emit_void(b, s_cmp_eq_u32, live, imm(0));
    Uniform missing = uniform_if(b, IF_SCC1);
    for (int i = 0; i < g->shape->per_wave; i++) {
        for (int k = 0; k < 8; k += 2)
            emit_to(b, part(w->rows[tile][i], k, 2), v_mov_b64, imm(0));
        emit_to(b, w->codes[tile][i], v_mov_b32, imm(0));
    }
    uniform_end(b, &missing);
}

static void bases_of(Builder *b, const Gemv *g, int tiles, Val row, int row_step, TileBase *out)
{
    int row_bytes = g->shuffled ? g->codes_row * 32 : g->shape->ld;
    Val weights = addr_mul(b, g->weights, row, imm(row_bytes));
    Val codes = addr_mul(b, g->codes, emit(b, s_lshr_b32, row, imm(5)), imm(g->codes_row));
    for (int i = 0; i < tiles; i++)
        out[i] = (TileBase){addr_plus(b, weights, (int64_t)i * row_step * row_bytes),
                            addr_plus(b, codes, (int64_t)(i * row_step / 32) * g->codes_row)};
}

void gemv_loads(Builder *b, const Gemv *g, GemvWeights *w, int tiles, Val row, int row_step,
                const Val *live)
{
    w->tiles = tiles;
    if (tiles > GEMV_MAX_TILES || g->shape->per_wave > GEMV_MAX_STEPS) {
        build_error(b, __FILE__, __LINE__, "%d row tiles of %d steps", tiles, g->shape->per_wave);
        return;
    }
    weight_registers(b, g, w, tiles);
    TileBase base[GEMV_MAX_TILES];
    WeightLanes at = weight_lanes(b, g);
    bases_of(b, g, tiles, row, row_step, base);
    for (int first = 0, end; first < tiles; first = end) {
        Val has = live ? live[first] : NONE;
        for (end = first + 1; end < tiles && (!live || same(live[end], has)); end++)
            ;
        for (int i = first; first > 0 && has.kind != VAL_NONE && i < end; i++)
            zeros_unless(b, g, w, i, has);
        tiles_loads(b, g, w, &at, base, first, end, has);
    }
}

/* ---- multiply */

typedef struct TokenLanes {
    Val byte, code; /* V1: LDS address of this lane's token at step `wave` */
} TokenLanes;

/* Lanes past the last token repeat it: their columns are not used, and nothing unwritten is read.
 */
static TokenLanes token_lanes(Builder *b, const Rows *rows, int n)
{
    Val token = emit(b, v_and_b32, imm(15), b->lane),
        block = emit(b, v_lshrrev_b32, imm(4), b->lane);
    if (n < TILE)
        token = min_const(b, token, n - 1);
    Val byte = mul_add(b, token, rows->shape->row, emit(b, v_lshlrev_b32, imm(4), block));
    Val code = mul_add(b, token, rows->shape->codes_row, block);
    TokenLanes at;
    at.byte = emit(b, v_add_u32, s_mul_add(b, b->wave, STEP, imm(rows->lds_data)), byte);
    at.code = emit(b, v_add_u32, s_mul_add(b, b->wave, STEP / 32, imm(rows->lds_codes)), code);
    return at;
}

typedef struct TokenStep {
    Val rows, code; /* V8, V1 */
} TokenStep;

/* Tiles that are multiplied together. */
typedef struct Tiles {
    const GemvWeights *w;
    TokenLanes at;
    int first, n;
} Tiles;

static TokenStep step_read(Builder *b, const Gemv *g, const TokenLanes *at, int step)
{
    int k = step * g->shape->waves * STEP;
    TokenStep s = {vreg(b, 8), NONE};
    emit_to(b, part(s.rows, 0, 4), ds_read_b128, at->byte, off(k));
    emit_to(b, part(s.rows, 4, 4), ds_read_b128, at->byte, off(k + STEP / 2));
    s.code = emit(b, ds_read_u8, at->code, off(k / 32));
    return s;
}

/* A tile's sums so far. */
typedef struct Sums {
    Products exact; /* where they are rounded once */
    Val chain;      /* V4: where the MFMAs add up */
} Sums;

static void step_multiply(Builder *b, const Gemv *g, const Tiles *t, TokenStep s, int step,
                          Sums sums[TOGETHER])
{
    for (int i = 0; i < t->n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): steps count from 0 */
        Val rows = t->w->rows[t->first + i][step], codes = t->w->codes[t->first + i][step];
        if (g->shape->exact)
            products_add_mx(b, &sums[i].exact, rows, s.rows, codes, s.code);
        else
            emit_to(b, sums[i].chain, v_mfma_scale_f32_16x16x128_f8f6f4, rows, s.rows,
                    step ? sums[i].chain : imm(0), codes, s.code);
    }
}

/* The next step's rows are on their way from LDS while one is multiplied. */
static void steps_multiply(Builder *b, const Gemv *g, const Tiles *t, int from, int to,
                           Sums sums[TOGETHER])
{
    TokenStep next = {0};
    for (int i = from; i <= to; i++) {
        TokenStep now = next;
        if (i < to)
            next = step_read(b, g, &t->at, i);
        if (i > from)
            step_multiply(b, g, t, now, i - 1, sums);
    }
}

/* LDS address of this lane's sums in the wave's first tile: token r, rows 4 g .. */
static Val sums_lane(Builder *b, const Gemv *g)
{
    int row = g->shape->sums_wave / TILE;
    Val token = emit(b, v_and_b32, imm(15), b->lane),
        block = emit(b, v_lshrrev_b32, imm(4), b->lane);
    Val byte = mul_add(b, token, row, mul_add(b, block, row / 4, imm(0)));
    return emit(b, v_add_u32, s_mul_add(b, b->wave, g->shape->sums_wave, imm(g->sums)), byte);
}

static void sums_store(Builder *b, const Gemv *g, const Tiles *t, Val lane, Sums sums[TOGETHER])
{
    const struct gemv_shape *shape = g->shape;
    Val byte = plus(b, lane, (int64_t)t->first * shape->sums_tile);
    for (int i = 0; i < t->n; i++) {
        if (!shape->exact) {
            emit_void(b, ds_write_b128, byte, sums[i].chain, off(i * shape->sums_tile));
            continue;
        }
        products_end(b, &sums[i].exact);
        for (int half = 0; half < 2; half++)
            emit_void(b, ds_write_b128, byte, part(sums[i].exact.sums, 4 * half, 4),
                      off(i * shape->sums_tile + 16 * half));
    }
}

/* At most TOGETHER tiles: each such group reads the activation rows from LDS again. */
static void tiles_multiply(Builder *b, const Gemv *g, const Tiles *t, Val lane)
{
    Steps steps = steps_of(g->shape);
    Sums sums[TOGETHER];
    for (int i = 0; i < t->n; i++) {
        if (g->shape->exact)
            sums[i].exact = products_begin(b);
        else
            sums[i].chain = vreg(b, 4);
    }
    steps_multiply(b, g, t, 0, steps.full, sums);
    if (steps.rest) {
        SomeWaves fewer = waves_below(b, steps.full ? steps.rest : WAVES);
        steps_multiply(b, g, t, steps.full, steps.full + 1, sums);
        waves_end(b, &fewer);
    }
    sums_store(b, g, t, lane, sums);
}

void gemv_multiply(Builder *b, const Gemv *g, const GemvWeights *w, const Rows *rows, int n)
{
    SomeWaves some = waves_below(b, steps_of(g->shape).active);
    Tiles t = {.w = w, .at = token_lanes(b, rows, n)};
    Val lane = sums_lane(b, g);
    for (t.first = 0; t.first < w->tiles; t.first += TOGETHER) {
        t.n = w->tiles - t.first < TOGETHER ? w->tiles - t.first : TOGETHER;
        tiles_multiply(b, g, &t, lane);
    }
    waves_end(b, &some);
    barrier(b);
}

/* ---- sums */

static Val wave_sum_read(Builder *b, const Gemv *g, Val at, int wave, int count)
{
    Val offset = off(wave * g->shape->sums_wave);
    if (g->shape->exact)
        return count == 2 ? emit(b, ds_read_b128, at, offset) : emit(b, ds_read_b64, at, offset);
    return count == 2 ? emit(b, ds_read_b64, at, offset) : emit(b, ds_read_b32, at, offset);
}

void row_sums(Builder *b, const Gemv *g, Val tile, Val row, Val token, int count, Val out[])
{
    int active = steps_of(g->shape).active, bytes = g->shape->exact ? 8 : 4, base = g->sums;
    Val at = mul_add(b, token, ROWS * bytes, mul_add(b, row, bytes, imm(0)));
    if (tile.kind == VAL_IMM)
        base += (int)tile.imm * g->shape->sums_tile;
    else
        at = mul_add(b, tile, g->shape->sums_tile, at);
    at = plus(b, at, base);
    Val waves[WAVES] = {0};
    for (int i = 0; i < active; i++)
        waves[i] = wave_sum_read(b, g, at, i, count);
    for (int k = 0; k < count; k++) {
        out[k] = NONE;
        for (int i = 0; i < active; i++)
            out[k] = g->shape->exact ? f64_add(b, out[k], part(waves[i], 2 * k, 2))
                                     : f64_add_f32(b, out[k], part(waves[i], k, 1));
    }
}

Val row_sums_bf16(Builder *b, const Gemv *g, Val tile, Val row, Val token)
{
    Val sums[2];
    row_sums(b, g, tile, row, token, 2, sums);
    return bf16_pack(b, emit(b, v_cvt_f32_f64, sums[0]), emit(b, v_cvt_f32_f64, sums[1]));
}
