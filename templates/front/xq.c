/* SPDX-License-Identifier: Apache-2.0 */
/* xq: a K half of a token's bf16 row x -> MXFP8. A lane takes 8 values, four lanes a group of 32.
 */
#include "templates/common/mx.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"
#include "templates/front/front.h"

enum { LANE_VALUES = 8, WAVE_VALUES = 64 * LANE_VALUES };

/* S2: x[token], of the half. token and half S1. */
static Val x_row(Front *f, Val token, Val half)
{
    Builder *b = f->b;
    Val stride = emit(b, s_lshl_b32, arg(b, "x_stride"), imm(1));
    return addr_at(b, addr_mul(b, arg(b, "x"), token, stride), half, 2 * f->p->k_half);
}

static Lanes each_fourth(Builder *b)
{
    return lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), emit(b, v_and_b32, imm(3), b->lane)), false);
}

static void unit_store(Front *f, Val unit, Val token, Val half, Quantized q)
{
    Builder *b = f->b;
    Val x8 = addr_at(b, scratch_at(b, "x8"), token, f->p->hidden);
    Val x8s = addr_at(b, scratch_at(b, "x8s"), unit, f->p->x8s_half);
    x8 = addr_at(b, x8, half, f->p->k_half);
    Lanes mine = lanes_if(b, tid_below(b, f->p->k_half / LANE_VALUES), true);
    emit_void(b, global_store_dwordx2, emit(b, v_lshlrev_b32, imm(3), b->tid), q.bytes, x8, SC1);
    Lanes fourth = each_fourth(b);
    emit_void(b, global_store_byte, emit(b, v_lshrrev_b32, imm(2), b->tid), q.code, x8s, SC1);
    lanes_end(b, &fourth);
    lanes_end(b, &mine);
}

void xq_stage(Front *f)
{
    Builder *b = f->b;
    int lanes = f->p->k_half / LANE_VALUES;
    if (lanes > THREADS) {
        build_error(b, __FILE__, __LINE__, "a K half of %d values is more than a unit takes",
                    f->p->k_half);
        return;
    }
    Units u = units_begin(b, &f->p->place_xq, "xq");
    heading(b, "xq: one (token, K half)");
    Val token = emit(b, s_lshr_b32, u.unit, imm(1)), half = emit(b, s_and_b32, u.unit, imm(1));
    Val piece = lanes < THREADS ? min_const(b, b->tid, lanes - 1) : b->tid;
    Val byte = emit(b, v_lshlrev_b32, imm(4), piece);
    Val words = emit(b, global_load_dwordx4, byte, x_row(f, token, half));
    unit_store(f, u.unit, token, half, mx_quantize_bf16(b, words));
    Mailbox mb = f->mb; /* the tag here is this path's own: others have no reason to wait for the
                           epoch yet */
    mailbox_tag(b, &mb);
    publish(b, &mb, "xrdy", u.unit);
    units_end(b, &u);
}

/* ---- in each wqkv workgroup: a wave takes 512 values of a token at a time */

typedef struct Blocks {
    int a_row, total, rounds;
} Blocks;

static Blocks blocks_of(const struct plan *p)
{
    int a_row = (p->k_half + WAVE_VALUES - 1) / WAVE_VALUES, total = p->s * a_row;
    return (Blocks){a_row, total, (total + WAVES - 1) / WAVES};
}

/* This wave's (token, block of the row) of a round, S1; the last one again past the end. */
static QuoRem block_of(Front *f, Blocks blocks, int round)
{
    Val u = plus(f->b, f->b->wave, (int64_t)round * WAVES);
    if ((round + 1) * WAVES > blocks.total)
        u = min_const(f->b, u, blocks.total - 1);
    return div_const(f->b, u, blocks.a_row);
}

/* V1: this lane's first value of the block, in units of `bytes` for each of its 8 values; inside
 * the row. */
static Val lane_byte(Front *f, Val block, int bytes)
{
    Builder *b = f->b;
    Val first = s_mul_add(b, block, WAVE_VALUES * bytes, imm(0));
    if (f->p->k_half % WAVE_VALUES == 0)
        return mul_add(b, b->lane, LANE_VALUES * bytes, first);
    /* past the row's end the last group again, whole: its four lanes find its amax as ever */
    Val fourth = emit(b, v_lshrrev_b32, imm(2), b->lane);
    Val group = min_const(b, mul_add(b, fourth, 32 * bytes, first), (f->p->k_half - 32) * bytes);
    return mul_add(b, emit(b, v_and_b32, imm(3), b->lane), LANE_VALUES * bytes, group);
}

void xq_local_loads(Front *f, Val has)
{
    Builder *b = f->b;
    Blocks blocks = blocks_of(f->p);
    if (blocks.rounds > XQ_MAX_LOADS || f->p->wqkv.n_token_tiles > 1) {
        build_error(b, __FILE__, __LINE__, "%d tokens are too many to quantize in each workgroup",
                    f->p->s);
        return;
    }
    Val stride = emit(b, s_lshl_b32, arg(b, "x_stride"), imm(1));
    Val x = addr_at(b, arg(b, "x"), f->half, 2 * f->p->k_half);
    Lanes some = {0};
    if (has.kind != VAL_NONE) {
        emit_void(b, s_cmp_lg_u32, has, imm(0));
        some = lanes_if(b, emit(b, s_cselect_b64, imm(-1), imm(0)), false);
    }
    for (int i = 0; i < blocks.rounds; i++) {
        QuoRem at = block_of(f, blocks, i);
        Val row = addr_mul(b, x, at.quo, stride);
        note(b, "x, 8 values a lane");
        f->x_words[i] = emit(b, global_load_dwordx4, lane_byte(f, at.rem, 2), row);
    }
    if (has.kind != VAL_NONE)
        lanes_end(b, &some);
}

static void block_store(Front *f, QuoRem at, Quantized q)
{
    Builder *b = f->b;
    Val column = lane_byte(f, at.rem, 1);
    Val row = s_mul_add(b, at.quo, f->x.shape->row, imm(f->x.lds_data));
    emit_void(b, ds_write_b64, emit(b, v_add_u32, row, column), q.bytes);
    Val codes = s_mul_add(b, at.quo, f->x.shape->codes_row, imm(f->x.lds_codes));
    Val code_at = emit(b, v_add_u32, codes, emit(b, v_lshrrev_b32, imm(5), column));
    Lanes fourth = each_fourth(b);
    emit_void(b, ds_write_b8, code_at, q.code);
    lanes_end(b, &fourth);
}

void xq_local_store(Front *f)
{
    Builder *b = f->b;
    Blocks blocks = blocks_of(f->p);
    for (int i = 0; i < blocks.rounds; i++) {
        bool partial = (i + 1) * WAVES > blocks.total;
        Uniform some = {0};
        if (partial) {
            emit_void(b, s_cmp_lt_u32, b->wave, imm(blocks.total - i * WAVES));
            some = uniform_if(b, IF_SCC1);
        }
        QuoRem at = block_of(f, blocks, i);
        block_store(f, at, mx_quantize_bf16(b, f->x_words[i]));
        if (partial)
            uniform_end(b, &some);
    }
    barrier(b);
}
