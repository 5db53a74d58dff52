/* SPDX-License-Identifier: Apache-2.0 */
#include "back_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front_checks.h"
#include "tests/ref/keys.h"
#include "tests/ref/num.h"

enum { POISON = 0xff }; /* a NaN as e4m3, bf16 and f32 */

static void poison(struct back_stage *k, void *at, size_t size)
{
    emu_mem_fill(k->r.device, at, 0xffffffff, size / 4);
}

void back_open(struct back_stage *k, const struct ref_params *params, unsigned parts,
               const char *keys)
{
    *k = (struct back_stage){0};
    rig_open(&k->r, params, parts, (const char *const[]){"kernel", "back", "keys", keys, NULL});
    struct ref_case *c = k->r.c;
    k->kt = ref_case_alloc(c, (size_t)c->s * (size_t)c->keys * 4);
    k->klen = ref_case_alloc(c, (size_t)c->s * 8);
    assert_true(k->kt && k->klen);
    ref_key_table(c, k->kt, k->klen);
    poison(k, rig_arg(&k->r, "out"), rig_arg_size(&k->r, "out"));
}

void back_rows(struct back_stage *k, const struct keys *rows, int n)
{
    for (int t = 0; t < k->r.plan.s; t++) {
        assert_true(rows[t % n].comp + rows[t % n].window <= k->r.c->keys);
        ref_random_keys(k->r.c, t, rows[t % n].comp, rows[t % n].window, k->kt, k->klen);
    }
}

void back_attention(struct back_stage *k)
{
    assert_int_equal(ref_attention(k->r.c, k->r.c->q, k->kt, k->klen, &k->want), 0);
    assert_int_equal(k->want.chunk, k->r.plan.chunk);
    assert_int_equal(k->want.chunks, k->r.plan.n_chunks);
}

void back_begin(Back *back, Builder *b)
{
    *back = (Back){.b = b, .p = b->plan, .own_keys = b->plan->key.keys == COGEN_KEYS_BACK};
    stage(b, "test");
    args_load(b);
    mailbox_load(b, &back->mb);
    mailbox_tag(b, &back->mb);
}

void back_run(struct back_stage *k, void (*template)(Builder *b))
{
    rig_build(&k->r, template);
    rig_run(&k->r, WORKGROUPS);
}

void back_close(struct back_stage *k)
{
    ref_back_free(&k->want);
    rig_close(&k->r);
}

/* ---- regions and flags */

static void put(struct back_stage *k, const char *region, size_t at, const void *bytes, size_t size)
{
    emu_mem_copy(k->r.device, (uint8_t *)rig_scratch(&k->r, region) + at, bytes, size);
}

static void poison_region(struct back_stage *k, const char *region)
{
    poison(k, rig_scratch(&k->r, region), (size_t)plan_scratch(&k->r.plan, region)->size);
}

static void check_flag(struct back_stage *k, const char *region, size_t index)
{
    uint32_t value = 0;
    if (!rig_pair(&k->r, region, index, &value) || value != 1)
        fail_msg("flag %zu of %s is not set", index, region);
}

void back_hangs(struct back_stage *k, const char *region, void (*inputs)(struct back_stage *k),
                void (*template)(Builder *b))
{
    const uint32_t stale[2] = {1, rig_tag(&k->r) - 2};
    size_t flags = (size_t)plan_scratch(&k->r.plan, region)->size / sizeof stale;
    rig_build(&k->r, template);
    for (int last = 0; last < 2; last++) {
        size_t index = last ? flags - 1 : 0;
        inputs(k);
        check_flag(k, region, index);
        put(k, region, index * sizeof stale, stale, sizeof stale);
        rig_hangs(&k->r, WORKGROUPS);
    }
}

static int live_chunks(const struct back_stage *k, int t)
{
    return (k->klen[t] + k->r.plan.chunk - 1) / k->r.plan.chunk;
}

/* A chunk's place among all chunks: PART and PSTAT hold h rows a chunk, srdy a flag a head block.
 */
static size_t chunk_at(const struct back_stage *k, int t, int chunk)
{
    return (size_t)t * (size_t)k->r.plan.n_chunks + (size_t)chunk;
}

/* ---- inputs */

/* Of a table of global slots what lies past kv_len is never written. */
void put_keys(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t keys = (size_t)p->keys;
    for (int t = 0; t < p->s; t++) {
        size_t n = p->key.global_keys ? (size_t)k->klen[t] : keys, at = (size_t)t * keys;
        emu_mem_copy(k->r.device, (int32_t *)rig_arg(&k->r, "kt") + at, k->kt + at, n * 4);
        if (p->key.keys == COGEN_KEYS_BACK)
            rig_put_pair(&k->r, "ktrdy", (size_t)t, 1);
    }
    emu_mem_copy(k->r.device, rig_arg(&k->r, "klen"), k->klen, (size_t)p->s * 8);
    poison_region(k, "part");
    poison_region(k, "pstat");
}

void put_partials(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t part = (size_t)p->h * HEAD_DIM * 2, stat = (size_t)p->h * 8;
    size_t blocks = (size_t)p->head_blocks;
    put_keys(k);
    for (int t = 0; t < p->s; t++) {
        for (int j = 0; j < live_chunks(k, t); j++) {
            size_t at = chunk_at(k, t, j);
            put(k, "part", at * part, (uint8_t *)k->want.part + at * part, part);
            put(k, "pstat", at * stat, (uint8_t *)k->want.stat + at * stat, stat);
            for (size_t block = 0; block < blocks; block++)
                rig_put_pair(&k->r, "srdy", at * blocks + block, 1);
        }
    }
}

void put_attention(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t s = (size_t)p->s, n = s * (size_t)p->q_rows;
    put(k, "xo", 0, k->want.xo, n);
    put(k, "xos", 0, k->want.xos, n / 32);
    for (size_t i = 0; i < s * (size_t)(p->h / COMB_HEADS); i++)
        rig_put_pair(&k->r, "crdy", i, 1);
}

void put_product(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t n = (size_t)p->s * (size_t)p->o_rows;
    put(k, "x8b", 0, k->want.x8b, n);
    put(k, "x8bs", 0, k->want.x8bs, n / 32);
    for (size_t i = 0; i < (size_t)p->woa_tasks; i++)
        rig_put_pair(&k->r, "ardy", i, 1);
}

/* ---- split */

/* The reference's partials, maxima and sums to the bit: every sum is rounded once, as there. With
 * scores or values summed up by the MFMAs in f32 some would differ. */
static void check_live_chunk(struct back_stage *k, int t, int chunk)
{
    const struct plan *p = &k->r.plan;
    size_t h = (size_t)p->h, part = h * HEAD_DIM * 2, stat = h * 8, at = chunk_at(k, t, chunk);
    char what[64];
    snprintf(what, sizeof what, "token %d, chunk %d: PART", t, chunk);
    same_bytes((const uint8_t *)rig_scratch(&k->r, "part") + at * part,
               (const uint8_t *)k->want.part + at * part, part, what);
    snprintf(what, sizeof what, "token %d, chunk %d: PSTAT", t, chunk);
    same_bytes((const uint8_t *)rig_scratch(&k->r, "pstat") + at * stat,
               (const uint8_t *)k->want.stat + at * stat, stat, what);
    for (size_t block = 0; block < (size_t)p->head_blocks; block++)
        check_flag(k, "srdy", at * (size_t)p->head_blocks + block);
}

static void untouched(const void *bytes, size_t n, const char *what)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < n; i++)
        if (b[i] != POISON)
            fail_msg("%s: byte %zu of what is nobody's was written", what, i);
}

/* Past a token's keys nothing is computed or announced. */
static void check_dead_chunk(struct back_stage *k, int t, int chunk)
{
    const struct plan *p = &k->r.plan;
    size_t part = (size_t)p->h * HEAD_DIM * 2, stat = (size_t)p->h * 8, at = chunk_at(k, t, chunk);
    untouched((const uint8_t *)rig_scratch(&k->r, "part") + at * part, part, "PART");
    untouched((const uint8_t *)rig_scratch(&k->r, "pstat") + at * stat, stat, "PSTAT");
    for (size_t block = 0; block < (size_t)p->head_blocks; block++)
        assert_false(rig_pair(&k->r, "srdy", at * (size_t)p->head_blocks + block, NULL));
}

void check_partials(struct back_stage *k)
{
    for (int t = 0; t < k->r.plan.s; t++) {
        for (int j = 0; j < k->r.plan.n_chunks; j++) {
            if (j < live_chunks(k, t))
                check_live_chunk(k, t, j);
            else
                check_dead_chunk(k, t, j);
        }
    }
}

/* ---- MXFP8 rows */

/* Both zeros are one. */
static int ordinal(uint8_t e4m3)
{
    return e4m3 & 0x80 ? -(e4m3 & 0x7f) : e4m3 & 0x7f;
}

/* n e4m3 values and their scales. */
static void check_mx(struct back_stage *k, const char *region, const char *scales,
                     const uint8_t *want, const uint8_t *want_scales, size_t n)
{
    const uint8_t *got = rig_scratch(&k->r, region);
    same_bytes(rig_scratch(&k->r, scales), want_scales, n / 32, scales);
    for (size_t i = 0; i < n; i++)
        if (ordinal(got[i]) != ordinal(want[i]))
            fail_msg("%s: byte %zu of %zu is %#x, not %#x", region, i, n, got[i], want[i]);
}

/* A token without keys is zero. */
static void check_zero_row(struct back_stage *k, int t)
{
    size_t n = (size_t)k->r.plan.q_rows;
    const uint8_t *row = (const uint8_t *)rig_scratch(&k->r, "xo") + (size_t)t * n;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(row[i] & 0x7f, 0);
}

void check_attention(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t s = (size_t)p->s, n = s * (size_t)p->q_rows;
    check_mx(k, "xo", "xos", k->want.xo, k->want.xos, n);
    for (int t = 0; t < p->s; t++)
        if (k->klen[t] == 0)
            check_zero_row(k, t);
    for (size_t i = 0; i < s * (size_t)(p->h / COMB_HEADS); i++)
        check_flag(k, "crdy", i);
}

void check_product(struct back_stage *k)
{
    const struct plan *p = &k->r.plan;
    size_t n = (size_t)p->s * (size_t)p->o_rows;
    check_mx(k, "x8b", "x8bs", k->want.x8b, k->want.x8bs, n);
    for (size_t i = 0; i < (size_t)p->woa_tasks; i++)
        check_flag(k, "ardy", i);
}

/* ---- out */

/* By the rule of outputs, row by row; and few values of all differ at all. */
void check_out(struct back_stage *k)
{
    size_t s = (size_t)k->r.plan.s, hidden = (size_t)k->r.plan.hidden, off = 0;
    const uint16_t *out = rig_arg(&k->r, "out");
    for (size_t t = 0; t < s; t++) {
        const uint16_t *row = out + t * (hidden + RIG_OUT_PAD), *want = k->want.out + t * hidden;
        holds(ref_compare_bf16(row, want, hidden));
        untouched(row + hidden, RIG_OUT_PAD * 2, "out");
        for (size_t i = 0; i < hidden; i++)
            off += row[i] != want[i];
    }
    if (off > s * hidden / 1000)
        fail_msg("out: %zu of %zu values differ", off, s * hidden);
}
