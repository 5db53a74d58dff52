/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split: flash-decoding over one chunk of a token's keys, for a block of heads -> the chunk's
 * partial (bf16) and its maximum and sum per head, flag srdy[token][chunk][block]. A chunk past the
 * token's keys is skipped: nobody waits for it.
 *
 * Every key is loaded once. A wave of a head group takes 16 keys: their bytes stay in its registers
 * for q times k, and go raw to LDS for the values, which all waves read.
 */
#include "templates/back/split.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"

/* A lane's key: where its record lies. */
struct record {
    Val data, codes; /* V2: addresses; of the data, the lane's pieces at dims 16 g .. (zeros alike
                        in the zero record) */
    Val present;     /* S2: there is such a key */
};

/* yes in the lanes of mask, no in the others: V1 or V2 of SGPRs or VGPRs alike. */
static Val choose(Builder *b, Val no, Val yes, Val mask)
{
    Val out = vreg(b, no.width);
    for (int i = 0; i < no.width; i++)
        emit_to(b, part(out, i, 1), v_cndmask_b32, part(no, i, 1), part(yes, i, 1), mask);
    return out;
}

/* A lane's cache: the compressed rows' in the lanes of mask. */
static struct cache choose_cache(struct split *s, Val compressed)
{
    Builder *b = s->b;
    const struct cache *no = &s->swa, *yes = &s->comp;
    return (struct cache){
        choose(b, no->base, yes->base, compressed),
        choose(b, no->stride, yes->stride, compressed),
        {choose(b, no->block.d, yes->block.d, compressed),
                                                  choose(b, no->block.magic, yes->block.magic, compressed)}
    };
}

/* Slot -> record of a paged cache: (slot / block) * stride + (slot % block) * 576, codes behind the
 * block's data. */
static struct record cache_record(struct split *s, const struct cache *cache, Val slot)
{
    Builder *b = s->b;
    QuoRem at = div_by(b, slot, cache->block);
    Val piece = emit(b, v_lshlrev_b32, imm(4), s->g);
    Val data = mul_add(b, at.rem, REC_DATA, piece);
    Val behind = emit(b, v_mul_lo_u32, cache->block.d, mov_v(b, imm(REC_DATA)));
    Val codes = mul_add(b, at.rem, REC_SCALES, behind);
    return (struct record){.data = lane_addr(b, cache->base, at.quo, cache->stride, data),
                           .codes = lane_addr(b, cache->base, at.quo, cache->stride, codes)};
}

/* The key table's entry of key `key` (V1) of the token's row, or of the row's last entry that is
 * surely written. */
static Val load_entry(Back *k, struct split *s, Val key, Val last)
{
    Builder *b = s->b;
    Val row = addr_mul(b, arg(b, "kt"), s->token, imm(s->p->keys * 4));
    Val byte = emit(b, v_lshlrev_b32, imm(2), emit(b, v_min_u32, last, key));
    return k->own_keys ? emit(b, global_load_dword, byte, row, SC1)
                       : emit(b, global_load_dword, byte, row);
}

/* The record that a table entry names. An absent key reads the zero record: what a cache holds
 * where no key is, is never looked at. */
static struct record find_record(struct split *s, Val key, Val entry)
{
    Builder *b = s->b;
    Val inside = emit(b, v_cmp_gt_i32, s->kv_len, key);
    Val named = emit(b, v_cmp_ne_u32, imm(-1), entry);
    Val present = emit(b, s_and_b64, inside, named);
    Val low = emit(b, v_and_b32, bits(0x7fffffff), entry);
    Val slot = emit(b, v_cndmask_b32, imm(0), low, present);
    struct cache cache = s->swa;
    if (s->p->key.ratio > 0)
        cache = choose_cache(s, emit(b, v_cmp_gt_i32, imm(0), entry));
    struct record rec = cache_record(s, &cache, slot);
    Val zero = arg(b, "zrec");
    rec.data = choose(b, zero, rec.data, present);
    rec.codes = choose(b, addr_plus(b, zero, REC_DATA), rec.codes, present);
    rec.present = present;
    return rec;
}

/* The block's q, one 16-byte piece a lane: heads wave, wave + 8, ... */
static void load_q(struct split *s, Val pieces[])
{
    Builder *b = s->b;
    const struct plan *p = s->p;
    Val base = addr_mul(b, arg(b, "q"), s->token, imm(p->q_rows * 2));
    if (p->head_blocks > 1)
        base = addr_mul(b, base, s->block, imm(p->unit_heads * HEAD_DIM * 2));
    Val byte = emit(b, v_lshlrev_b32, imm(4), b->tid);
    for (int i = 0; i < p->unit_heads / WAVES; i++) {
        Val at = addr_plus(b, base, (int64_t)i * WAVES * HEAD_DIM * 2);
        pieces[i] = emit(b, global_load_dwordx4, byte, at);
    }
}

static void load_key(struct split *s, const struct record *rec)
{
    Builder *b = s->b;
    s->codes = emit(b, global_load_dwordx2, rec->codes, OFF);
    for (int c = 0; c < NOPE_BLOCKS; c++)
        s->nope[c] = emit(b, global_load_dwordx4, rec->data, OFF, off(64 * c));
    for (int c = 0; c < ROPE_BLOCKS; c++)
        s->rope[c] = emit(b, global_load_dwordx4, rec->data, OFF, off(NOPE_DIM + 64 * c));
}

static void store_q(struct split *s, const Val pieces[], int n)
{
    Builder *b = s->b;
    Val lane = mul_add(b, b->lane, 16, imm(s->q));
    Val row = emit(b, s_mul_i32, b->wave, imm(s->p->ql_row));
    Val at = emit(b, v_add_u32, row, lane);
    for (int i = 0; i < n; i++)
        emit_void(b, ds_write_b128, at, pieces[i], off(i * WAVES * s->p->ql_row));
}

/* 16 bytes to LDS, where a row may be aligned to 8 alone. */
static void write_piece(struct split *s, Val at, Val piece, int offset)
{
    Builder *b = s->b;
    if (s->p->raw_row % 16 == 0) {
        emit_void(b, ds_write_b128, at, piece, off(offset));
        return;
    }
    emit_void(b, ds_write_b64, at, part(piece, 0, 2), off(offset));
    emit_void(b, ds_write_b64, at, part(piece, 2, 2), off(offset + 8));
}

/* The raw record, by the first head group's waves. */
static void store_raw(struct split *s)
{
    Builder *b = s->b;
    Uniform mine;
    if (s->p->head_groups > 1) {
        emit_void(b, s_cmp_eq_u32, s->group, imm(0));
        mine = uniform_if(b, IF_SCC1);
    }
    Val key = emit(b, v_lshl_add_u32, s->tile, imm(4), s->r);
    Val row = mul_add(b, key, s->p->raw_row, imm(s->raw));
    Val at = emit(b, v_lshl_add_u32, s->g, imm(4), row);
    for (int c = 0; c < NOPE_BLOCKS; c++)
        write_piece(s, at, s->nope[c], 64 * c);
    for (int c = 0; c < ROPE_BLOCKS; c++)
        write_piece(s, at, s->rope[c], NOPE_DIM + 64 * c);
    Lanes once = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), s->g), false);
    emit_void(b, ds_write_b64, row, s->codes, off(REC_DATA));
    lanes_end(b, &once);
    if (s->p->head_groups > 1)
        uniform_end(b, &mine);
}

/* (max, sum) of each head over the key tiles, work-item = head. */
static void store_stats(struct split *s, Val part_row)
{
    Builder *b = s->b;
    const struct plan *p = s->p;
    Lanes heads = lanes_if(b, tid_below(b, p->unit_heads), true);
    Val maxima = mul_add(b, b->tid, p->key_tiles * 4, imm(s->max));
    Val sums = mul_add(b, b->tid, p->key_tiles * 8, imm(s->sum));
    Val stat = vreg(b, 2), max = part(stat, 0, 1), sum = NONE;
    for (int i = 0; i < p->key_tiles; i += 2) {
        Val m = emit(b, ds_read_b64, maxima, off(4 * i));
        Val l = emit(b, ds_read_b128, sums, off(8 * i));
        if (i == 0)
            emit_to(b, max, v_max_f32, part(m, 0, 1), part(m, 1, 1));
        else
            emit_to(b, max, v_max3_f32, max, part(m, 0, 1), part(m, 1, 1));
        for (int n = 0; n < 2; n++)
            sum = i + n ? emit(b, v_add_f64, sum, part(l, 2 * n, 2)) : part(l, 0, 2);
    }
    emit_to(b, part(stat, 1, 1), v_cvt_f32_f64, sum);
    Val stats = addr_mul(b, scratch_at(b, "pstat"), part_row, imm(8));
    emit_void(b, global_store_dwordx2, emit(b, v_lshlrev_b32, imm(3), b->tid), stat, stats, SC1);
    lanes_end(b, &heads);
}

/* What a unit loads before it knows whether it has a key. */
struct unit_loads {
    Val key, entry; /* V1: the lane's key and its table entry */
    Val kv_len;     /* as load_kv_len */
    Val q[SPLIT_MAX_TILES * HEAD_TILE / WAVES];
};

/* The entry leads: the keys' addresses hang on it. A table made in this launch is waited for with q
 * on its way. Rows of global keys are written as far as kv_len goes and no further: their entries
 * wait for it. */
static struct unit_loads unit_loads(Back *k, struct split *s)
{
    Builder *b = s->b;
    struct unit_loads l = {.entry = NONE};
    Val key = emit(b, v_lshl_add_u32, s->tile, imm(4), s->r);
    l.key = emit(b, v_add_u32, s_mul_add(b, s->chunk, s->p->chunk, imm(0)), key);
    if (k->own_keys) {
        load_q(s, l.q);
        await_keys(k, s->token);
    }
    l.kv_len = load_kv_len(k, s->token);
    if (!s->p->key.global_keys)
        l.entry = load_entry(k, s, l.key, imm(s->p->keys - 1));
    if (!k->own_keys)
        load_q(s, l.q);
    return l;
}

static void split_chunk(Back *k, struct split *s, const struct unit_loads *l, Val flag)
{
    Builder *b = s->b;
    const struct plan *p = s->p;
    Val entry = l->entry;
    if (p->key.global_keys)
        entry = load_entry(k, s, l->key, emit(b, s_sub_u32, s->kv_len, imm(1)));
    struct record rec = find_record(s, l->key, entry);
    load_key(s, &rec);
    s->present = rec.present;
    store_q(s, l->q, s->p->unit_heads / WAVES);
    store_raw(s);
    barrier(b);
    stamp(b, "split_keys");
    Val scores[SPLIT_MAX_TILES];
    split_scores(s, scores);
    split_softmax(s, scores);
    /* row of the chunk's first head in PART and PSTAT: (token * n_chunks + chunk) * h + block *
     * unit_heads */
    Val chunk = emit(b, s_add_i32, s_mul_add(b, s->token, p->n_chunks, imm(0)), s->chunk);
    Val row = s_mul_add(b, chunk, p->h, imm(0));
    if (p->head_blocks > 1)
        row = emit(b, s_add_i32, row, s_mul_add(b, s->block, p->unit_heads, imm(0)));
    store_stats(s, row);
    split_values(s, addr_mul(b, scratch_at(b, "part"), row, imm(HEAD_DIM * 2)));
    stamp(b, "split_values");
    publish(b, &k->mb, "srdy", flag);
}

static struct split split_wave(Builder *b, const struct plan *p)
{
    struct split s = {.b = b,
                      .p = p,
                      .tiles = p->unit_tiles / p->head_groups,
                      .q = lds_at(b, "q"),
                      .raw = lds_at(b, "raw"),
                      .prob = lds_at(b, "p"),
                      .max = lds_at(b, "st"),
                      .sum = lds_at(b, "q")};
    s.r = emit(b, v_and_b32, imm(15), b->lane);
    s.g = emit(b, v_lshrrev_b32, imm(4), b->lane);
    s.tile = p->head_groups > 1 ? emit(b, s_and_b32, b->wave, imm(p->key_tiles - 1)) : b->wave;
    s.group = p->head_groups > 1 ? emit(b, s_lshr_b32, b->wave, imm(2)) : mov_s(b, imm(0));
    return s;
}

static struct cache cache_args(Builder *b, const char *base, const char *stride, const char *block)
{
    return (struct cache){arg(b, base), arg(b, stride), divisor(b, arg(b, block))};
}

void split_stage(Back *k)
{
    Builder *b = k->b;
    const struct plan *p = k->p;
    stage(b, "split");
    struct split s = split_wave(b, p);
    s.swa = cache_args(b, "swa", "swa_stride", "swa_block");
    if (p->key.ratio > 0)
        s.comp = cache_args(b, "comp", "comp_stride", "comp_block");
    Units u = units_begin(b, &p->place_split, "split");
    QuoRem blocks = {u.unit, NONE};
    if (p->head_blocks > 1)
        blocks = div_const(b, u.unit, p->head_blocks);
    s.block = blocks.rem;
    QuoRem chunks = div_const(b, blocks.quo, p->n_chunks);
    s.token = chunks.quo;
    s.chunk = chunks.rem;
    struct unit_loads l = unit_loads(k, &s);
    s.kv_len = is_sgpr(l.kv_len) ? l.kv_len : uniform(b, l.kv_len);
    Val first = s_mul_add(b, s.chunk, p->chunk, imm(0));
    emit_void(b, s_cmp_lt_i32, first, s.kv_len);
    Uniform live = uniform_if(b, IF_SCC1);
    split_chunk(k, &s, &l, u.unit);
    uniform_end(b, &live);
    units_end(b, &u);
}
