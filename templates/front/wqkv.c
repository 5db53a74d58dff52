/* SPDX-License-Identifier: Apache-2.0 */
/* wqkv: 16 rows over one K half, against every token tile -> partials QKVP[half][token][row], two
 * tagged pairs each: the sum as fp32, and what rounding took from it. */
#include "templates/common/tiles.h"
#include "templates/common/wave.h"
#include "templates/front/front.h"

/* Unit u: row tile u mod tasks of K half u / tasks. */
static void part_of(Front *f, Val unit)
{
    Builder *b = f->b;
    emit_void(b, s_cmp_ge_u32, unit, imm(f->p->wqkv_tasks));
    f->half = emit(b, s_cselect_b32, imm(1), imm(0));
    f->task = emit(b, s_sub_u32, unit, emit(b, s_mul_i32, f->half, imm(f->p->wqkv_tasks)));
}

static void describe(Front *f)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    int half_bytes =
        p->key.shuffled ? p->k_half * ROWS : p->k_half; /* of a 16-row group, of a row */
    f->wqkv = (Gemv){.shape = &p->wqkv,
                     .weights = addr_at(b, arg(b, "wqkv"), f->half, half_bytes),
                     .codes = addr_at(b, arg(b, "wqkv_s"), f->half, p->k_half / 32),
                     .codes_row = p->hidden / 32,
                     .shuffled = p->key.shuffled,
                     .sums = lds_at(b, "wqkv_sums")};
    f->x = (Rows){.shape = &p->wqkv,
                  .data_row = p->hidden,
                  .codes_row = 2 * p->x8s_half,
                  .lds_data = lds_at(b, "xl"),
                  .lds_codes = lds_at(b, "xsl")};
}

void wqkv_loads(Front *f)
{
    Builder *b = f->b;
    if (f->p->place_wqkv.count > f->p->place_wqkv.span) {
        build_error(b, __FILE__, __LINE__, "%d wqkv parts are more than workgroups",
                    f->p->place_wqkv.count);
        return;
    }
    Val unit = first_unit(b, &f->p->place_wqkv);
    part_of(f, unit);
    describe(f);
    Val has = NONE;
    if (units_test(b, &f->p->place_wqkv, unit))
        has = emit(b, s_cselect_b32, imm(1), imm(0));
    if (f->p->xq == XQ_LOCAL)
        xq_local_loads(f, has);
    gemv_loads(b, &f->wqkv, &f->wqkv_weights, 1, s_mul_add(b, f->task, ROWS, imm(0)), 0, &has);
}

/* Work-item (token, row) sums the waves' partials of one row. */
static void partials_put(Front *f, struct token_tile tile)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    Lanes mine = lanes_if(b, tid_below(b, ROWS * tile.count), true);
    Val row = emit(b, v_and_b32, imm(ROWS - 1), b->tid),
        token = emit(b, v_lshrrev_b32, imm(4), b->tid);
    Val sum;
    row_sums(b, &f->wqkv, imm(0), row, token, 1, &sum);
    Val high = emit(b, v_cvt_f32_f64, sum);
    Val rest = emit(b, v_add_f64, sum, neg(emit(b, v_cvt_f64_f32, high)));
    Val first = s_mul_add(b, f->half, p->s, imm(tile.first));
    Val base = addr_at(b, scratch_at(b, "qkvp"), first, p->qkv_rows * QKVP_BYTES);
    base = addr_at(b, base, f->task, ROWS * QKVP_BYTES);
    Val in_task = mul_add(b, row, QKVP_BYTES, imm(0));
    Val byte = mul_add(b, token, p->qkv_rows * QKVP_BYTES, in_task);
    note(b, "partials of 16 rows");
    pair_put_two(b, &f->mb, base, byte, high, emit(b, v_cvt_f32_f64, rest));
    lanes_end(b, &mine);
}

static void rows_in_memory(Front *f)
{
    Builder *b = f->b;
    f->x.data = addr_at(b, scratch_at(b, "x8"), f->half, f->p->k_half);
    f->x.codes = addr_at(b, scratch_at(b, "x8s"), f->half, f->p->x8s_half);
    await_flags(b, &f->mb, "xrdy", imm(f->p->s), f->half, 2);
}

/* Every token tile, the next one's rows in flight. */
static void tiles_multiply(Front *f)
{
    Builder *b = f->b;
    const struct plan *p = f->p;
    const struct token_tile *tokens = p->wqkv.token_tiles;
    bool local = p->xq == XQ_LOCAL;
    RowsLoads loads = {0};
    if (!local) {
        rows_in_memory(f);
        loads = rows_loads(b, &f->x, tokens[0]);
    }
    if (p->wqkv.n_token_tiles == 1)
        wqb_loads(f);
    for (int i = 0; i < p->wqkv.n_token_tiles; i++) {
        heading(b, "wqkv: tokens %d .. %d", tokens[i].first, tokens[i].first + tokens[i].count - 1);
        if (local)
            xq_local_store(f);
        else
            rows_store(b, &f->x, &loads);
        if (i + 1 < p->wqkv.n_token_tiles)
            loads = rows_loads(b, &f->x, tokens[i + 1]);
        if (i + 2 == p->wqkv.n_token_tiles)
            wqb_loads(f);
        gemv_multiply(b, &f->wqkv, &f->wqkv_weights, &f->x, tokens[i].count);
        partials_put(f, tokens[i]);
    }
}

void wqkv_stage(Front *f)
{
    Builder *b = f->b;
    bool guarded = units_test(b, &f->p->place_wqkv, first_unit(b, &f->p->place_wqkv));
    if (!guarded) {
        tiles_multiply(f);
        return;
    }
    Uniform has = uniform_if(b, IF_SCC1);
    tiles_multiply(f);
    uniform_else(b, &has);
    wqb_loads(f);
    uniform_end(b, &has);
}
