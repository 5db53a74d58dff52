/* SPDX-License-Identifier: Apache-2.0 */
/* Split, second half: probabilities times values, the values dequantized out of the raw rows in
 * LDS. */
#include "templates/back/split.h"

enum { VALUE_WAVES = NOPE_DIM / 64, KEY_STEP = 32, STEP_KEYS = 8 };

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
 * as bf16; their p. */
struct value_step {
    Val bytes[STEP_KEYS], code[STEP_KEYS]; /* V1 each; rope: V2 and none */
    Val prob[SPLIT_MAX_TILES];             /* V4 */
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
    for (int i = 0; i < s->p->unit_tiles; i++)
        out.prob[i] =
            emit(b, ds_read_b128, v->prob, off(i * HEAD_TILE * s->p->p_row + step * KEY_STEP * 2));
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

/* Every key of the chunk in steps of 32. A (16 dims x 32 keys) number d holds dims 4 r + d of each
 * lane's r, so that the lane (g, r) of the result has dims 16 g + 4 n + d of head r: 16 in a row.
 */
static void multiply(struct split *s, const struct value_rows *v, bool rope,
                     Val acc[SPLIT_MAX_TILES][4])
{
    Builder *b = s->b;
    Val pick[2] = {mov_s(b, bits(0x05040100)),
                   mov_s(b, bits(0x07060302))}; /* both low halves, both high */
    int steps = s->p->chunk / KEY_STEP;
    struct value_step now = read_step(s, v, 0, rope), next = now;
    for (int step = 0; step < steps; step++, now = next) {
        if (step + 1 < steps)
            next = read_step(s, v, step + 1, rope);
        Val a[4];
        for (int d = 0; d < 4; d++)
            a[d] = vreg(b, 4);
        for (int j = 0; j < STEP_KEYS; j += 2) {
            Val v0 = value_of(b, &now, j, rope), v1 = value_of(b, &now, j + 1, rope);
            for (int d = 0; d < 4; d++)
                emit_to(b, part(a[d], j / 2, 1), v_perm_b32, part(v1, d / 2, 1), part(v0, d / 2, 1),
                        pick[d % 2]);
        }
        for (int i = 0; i < s->p->unit_tiles; i++)
            for (int d = 0; d < 4; d++)
                emit_to(b, acc[i][d], v_mfma_f32_16x16x32_bf16, a[d], now.prob[i],
                        step ? acc[i][d] : imm(0));
    }
}

/* A head's 16 dims of the lane, 32 bytes, as bf16. */
static void store_partial(struct split *s, Val partial, Val acc[SPLIT_MAX_TILES][4])
{
    Builder *b = s->b;
    Val dims = emit(b, v_lshlrev_b32, imm(5), s->g);
    Val byte = emit(b, v_lshl_add_u32, s->r, imm(10), dims);
    emit_to(b, byte, v_lshl_add_u32, b->wave, imm(7), byte);
    for (int i = 0; i < s->p->unit_tiles; i++) {
        Val at = i ? emit(b, v_add_u32, imm(i * HEAD_TILE * HEAD_DIM * 2), byte) : byte;
        for (int half = 0; half < 2; half++) {
            Val words = vreg(b, 4);
            for (int k = 0; k < 4; k++) {
                int n = 2 * half + k / 2, d = 2 * (k % 2);
                emit_to(b, part(words, k, 1), v_cvt_pk_bf16_f32, part(acc[i][d], n, 1),
                        part(acc[i][d + 1], n, 1));
            }
            emit_void(b, global_store_dwordx4, at, words, partial, off(16 * half), SC1);
        }
    }
}

void split_values(struct split *s, Val partial)
{
    Builder *b = s->b;
    Val acc[SPLIT_MAX_TILES][4] = {{{0}}};
    heading(b, "values: wave w takes dims 64 w .. of every head, the last wave the bf16 rope dims");
    struct value_rows v = value_rows(s);
    for (int i = 0; i < s->p->unit_tiles; i++)
        for (int d = 0; d < 4; d++)
            acc[i][d] = vreg(b, 4);
    emit_void(b, s_cmp_eq_u32, b->wave, imm(VALUE_WAVES));
    Uniform rope = uniform_if(b, IF_SCC1);
    multiply(s, &v, true, acc);
    uniform_else(b, &rope);
    multiply(s, &v, false, acc);
    uniform_end(b, &rope);
    store_partial(s, partial, acc);
}
