/* SPDX-License-Identifier: Apache-2.0 */
/* Split, second half: probabilities times values, the values dequantized out of the raw rows in
 * LDS. */
#include "templates/back/split.h"
#include "templates/common/products.h"

enum { VALUE_WAVES = NOPE_DIM / 64, KEY_STEP = 32, STEP_KEYS = 8, MAX_STEPS = 128 / KEY_STEP };

/* A lane's LDS addresses (V1), bytes. */
struct value_rows {
    Val nope; /* dims 64 wave + 4 r .. of key 8 g */
    Val code; /* the code of dims 64 wave .. of key 8 g */
    Val rope; /* dims 448 + 4 r .. of key 8 g */
    Val prob; /* p of head r, key 8 g */
};

static struct value_rows value_rows(struct split *s)
{
    Builder *b = s->b;
    struct value_rows v;
    Val key = emit(b, v_lshlrev_b32, imm(3), s->g);
    Val row = emit(b, v_mad_u32_u24, key, imm(s->p->raw_row), imm(s->raw));
    Val dims = emit(b, v_lshl_add_u32, s->r, imm(2), row);
    v.nope = emit(b, v_lshl_add_u32, b->wave, imm(6), dims);
    v.code = emit(b, v_add_u32, b->wave, row);
    v.rope = emit(b, v_lshl_add_u32, s->r, imm(3), row);
    Val probs = emit(b, v_mad_u32_u24, s->r, imm(s->p->p_row), imm(s->prob));
    v.prob = emit(b, v_lshl_add_u32, s->g, imm(4), probs);
    return v;
}

/* What a lane reads for a step of 32 keys: of its eight keys, four dims as e4m3 and their code, or
 * as bf16. */
struct value_step {
    Val bytes[STEP_KEYS], code[STEP_KEYS]; /* V1 each; rope: V2 and none */
};

static struct value_step read_step(struct split *s, const struct value_rows *v, int step, bool rope)
{
    Builder *b = s->b;
    struct value_step out;
    for (int j = 0; j < STEP_KEYS; j++) {
        int row = (step * KEY_STEP + j) * s->p->raw_row;
        if (rope) {
            out.bytes[j] = emit(b, ds_read_b64, v->rope, off(row + NOPE_DIM));
        } else {
            out.bytes[j] = emit(b, ds_read_b32, v->nope, off(row));
            out.code[j] = emit(b, ds_read_u8, v->code, off(row + REC_DATA));
        }
    }
    return out;
}

/* The lane's four dims of key j as bf16 in two words. */
static Val value_of(Builder *b, const struct value_step *step, int j, bool rope)
{
    if (rope)
        return step->bytes[j];
    Val scale = emit(b, v_lshlrev_b32, imm(23), step->code[j]), out = vreg(b, 2);
    for (int i = 0; i < 2; i++)
        emit_to(b, part(out, i, 1), v_cvt_scalef32_pk_bf16_fp8, step->bytes[j], scale, op_sel(i));
    return out;
}

/* The values of every key of the chunk, in steps of 32: values[step][d] (16 dims x 32 keys) holds
 * dims 4 r + d of each lane's r. */
static void read_values(struct split *s, const struct value_rows *v, bool rope, Val values[][4])
{
    Builder *b = s->b;
    Val pick[2] = {mov_s(b, bits(0x05040100)),
                   mov_s(b, bits(0x07060302))}; /* both low halves, both high */
    int steps = s->p->chunk / KEY_STEP;
    struct value_step now = read_step(s, v, 0, rope), next = now;
    for (int step = 0; step < steps; step++, now = next) {
        if (step + 1 < steps)
            next = read_step(s, v, step + 1, rope);
        for (int j = 0; j < STEP_KEYS; j += 2) {
            Val v0 = value_of(b, &now, j, rope), v1 = value_of(b, &now, j + 1, rope);
            for (int d = 0; d < 4; d++)
                emit_to(b, part(values[step][d], j / 2, 1), v_perm_b32, part(v1, d / 2, 1),
                        part(v0, d / 2, 1), pick[d % 2]);
        }
    }
}

/* sums[d] = the values times the p of head tile `tile`. The lane (g, r) of the results has dims
 * 16 g + 4 n + d of head r: 16 in a row. */
static void multiply(struct split *s, const struct value_rows *v, Val values[][4], int tile,
                     Val sums[4])
{
    Builder *b = s->b;
    Products of_dim[4];
    for (int d = 0; d < 4; d++)
        of_dim[d] = products_begin(b);
    for (int step = 0; step < s->p->chunk / KEY_STEP; step++) {
        int at = tile * HEAD_TILE * s->p->p_row + step * KEY_STEP * 2;
        Val prob = emit(b, ds_read_b128, v->prob, off(at));
        for (int d = 0; d < 4; d++)
            products_add_bf16(b, &of_dim[d], values[step][d], prob);
    }
    for (int d = 0; d < 4; d++)
        sums[d] = products_f32(b, &of_dim[d]);
}

/* V1: the byte of the lane's dims of head r of the unit's first tile, in its partial. */
static Val partial_lane(struct split *s)
{
    Builder *b = s->b;
    Val dims = emit(b, v_lshlrev_b32, imm(5), s->g);
    Val byte = emit(b, v_lshl_add_u32, s->r, imm(10), dims);
    return emit(b, v_lshl_add_u32, b->wave, imm(7), byte);
}

/* A head's 16 dims of the lane, 32 bytes, as bf16. */
static void store_partial(struct split *s, Val partial, Val lane, int tile, const Val sums[4])
{
    Builder *b = s->b;
    Val at = plus(b, lane, (int64_t)tile * HEAD_TILE * HEAD_DIM * 2);
    for (int half = 0; half < 2; half++) {
        Val words = vreg(b, 4);
        for (int k = 0; k < 4; k++) {
            int n = 2 * half + k / 2, d = 2 * (k % 2);
            emit_to(b, part(words, k, 1), v_cvt_pk_bf16_f32, part(sums[d], n, 1),
                    part(sums[d + 1], n, 1));
        }
        emit_void(b, global_store_dwordx4, at, words, partial, off(16 * half), SC1);
    }
}

void split_values(struct split *s, Val partial)
{
    Builder *b = s->b;
    Val values[MAX_STEPS][4] = {{{0}}};
    heading(b, "values: wave w takes dims 64 w .. of every head, the last wave the bf16 rope dims");
    struct value_rows v = value_rows(s);
    for (int step = 0; step < s->p->chunk / KEY_STEP; step++)
        for (int d = 0; d < 4; d++)
            values[step][d] = vreg(b, 4);
    emit_void(b, s_cmp_eq_u32, b->wave, imm(VALUE_WAVES));
    Uniform rope = uniform_if(b, IF_SCC1);
    read_values(s, &v, true, values);
    uniform_else(b, &rope);
    read_values(s, &v, false, values);
    uniform_end(b, &rope);
    Val lane = partial_lane(s);
    for (int tile = 0; tile < s->p->unit_tiles; tile++) {
        Val sums[4];
        multiply(s, &v, values, tile, sums);
        store_partial(s, partial, lane, tile, sums);
    }
}
