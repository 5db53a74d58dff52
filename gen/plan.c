/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and placements of a key. Layouts (kernarg, LDS, scratch) are plan_layout.c's. */
#include "gen/plan.h"

#include <stdio.h>
#include <string.h>

#include "gen/plan_layout.h"

enum {
    STEP_VGPRS = 9,     /* a step of a row tile in flight: 8 dwords of weights and a code */
    WEIGHT_VGPRS = 160, /* of the 256, what weights may hold while a stage works */
    XQ_LOCAL_TOKENS = 16,
    MAX_TILES = 8,       /* whose sums fit LDS beside the rows */
    MAX_UNIT_HEADS = 64, /* heads whose q a split unit keeps in LDS */
};

static int cdiv(int a, int b)
{
    return (a + b - 1) / b;
}
static int least(int a, int b)
{
    return a < b ? a : b;
}

/* per_workgroup: 16-row tiles a workgroup does, held at once as far as the registers go. */
static struct gemv_shape make_gemv(int k, int ld, int per_workgroup, bool exact)
{
    struct gemv_shape g = {.k = k, .ld = ld, .steps = k / STEP, .exact = exact};
    g.per_wave = cdiv(g.steps, WAVES);
    g.waves = least(cdiv(g.steps, WAVES - 1) == g.per_wave ? WAVES - 1 : WAVES, g.steps);
    int fit = least(WEIGHT_VGPRS / (g.per_wave * STEP_VGPRS), MAX_TILES);
    g.tiles = least(per_workgroup, fit < 1 ? 1 : fit);
    g.rounds = cdiv(per_workgroup, g.tiles);
    return g;
}

static void make_sizes(struct plan *p)
{
    const struct model *m = p->model;
    const struct cogen_key *key = &p->key;
    p->s = key->tokens;
    p->h = m->heads / key->tp;
    p->g = m->o_groups / key->tp;
    p->hidden = m->hidden;
    p->q_rank = m->q_rank;
    p->qkv_rows = m->q_rank + KV_DIM;
    p->q_rows = p->h * HEAD_DIM;
    p->o_rows = p->g * O_RANK;
    p->group_k = m->heads / m->o_groups * HEAD_DIM;
    p->keys = key->topk + WINDOW;
}

/* Workgroups without a wqkv part take the stages that need none; where every workgroup has one, all
 * do. */
static struct place place_free(const struct plan *p, int count)
{
    int used = p->wqkv_parts % WORKGROUPS;
    if (p->wqkv_parts >= WORKGROUPS || used == 0)
        return (struct place){0, WORKGROUPS, count};
    return (struct place){used, WORKGROUPS - used, count};
}

static void make_front(struct plan *p)
{
    const struct cogen_key *key = &p->key;
    p->k_half = p->hidden / 2;
    p->wqkv_tasks = p->qkv_rows / ROWS;
    p->wqkv_parts = p->wqkv_tasks * 2;
    p->xq = key->x == COGEN_X_X8 ? XQ_GIVEN : p->s <= XQ_LOCAL_TOKENS ? XQ_LOCAL : XQ_UNITS;
    p->place_xq = place_free(p, 2 * p->s);
    p->place_wqkv = (struct place){0, WORKGROUPS, p->wqkv_parts};
    p->place_qkv = (struct place){0, WORKGROUPS, p->s};
    p->wqb_tasks = p->q_rows / ROWS;
    p->place_wqb = (struct place){0, WORKGROUPS, p->wqb_tasks};
    p->wqkv = make_gemv(p->k_half, key->wqkv_ld, 1, true);
    p->wqb = make_gemv(p->q_rank, key->wqb_ld, cdiv(p->wqb_tasks, WORKGROUPS), true);
}

static void make_split(struct plan *p)
{
    bool two = p->h / HEAD_TILE == 2 && p->s * cdiv(p->keys, 64) <= WORKGROUPS;
    p->chunk = two ? 64 : 128;
    p->head_groups = two ? 2 : 1;
    p->key_tiles = WAVES / p->head_groups;
    p->n_chunks = cdiv(p->keys, p->chunk);
    p->head_blocks = cdiv(p->h, MAX_UNIT_HEADS);
    p->unit_heads = p->h / p->head_blocks;
    p->unit_tiles = p->unit_heads / HEAD_TILE;
}

static void make_back(struct plan *p)
{
    const struct cogen_key *key = &p->key;
    make_split(p);
    int n_split = p->s * p->n_chunks * p->head_blocks, n_comb = p->s * (p->h / COMB_HEADS);
    p->woa_tasks = p->o_rows / 32;
    p->wob_tasks = p->hidden / ROWS;
    /* the GEMVs behind the attention units, so that workgroups without attention work have their
     * weights in flight from the start */
    int woa0 = (n_split + n_comb) % WORKGROUPS;
    p->place_split = (struct place){0, WORKGROUPS, n_split};
    p->place_comb = (struct place){n_split % WORKGROUPS, WORKGROUPS, n_comb};
    p->place_woa = (struct place){woa0, WORKGROUPS, p->woa_tasks};
    p->place_wob = (struct place){(woa0 + p->woa_tasks) % WORKGROUPS, WORKGROUPS, p->wob_tasks};
    p->woa = make_gemv(p->group_k, key->woa_ld, 2, true);
    p->woa.rounds = cdiv(p->woa_tasks, WORKGROUPS); /* a task, two row tiles, at a time */
    /* its sums are the output: nothing makes more of an ulp */
    p->wob = make_gemv(p->o_rows, key->wob_ld, cdiv(p->wob_tasks, WORKGROUPS), false);
    /* wo_b's weights ahead of the wo_a stage only while wo_a's workgroups have no attention work
     * (loads complete in issue order: else they would hold up wo_a's activation rows), and while
     * both fit the registers */
    int woa_vgprs = p->woa.tiles * p->woa.per_wave * STEP_VGPRS;
    int wob_vgprs = p->wob.tiles * p->wob.per_wave * STEP_VGPRS;
    p->early_wob = n_split + n_comb + p->woa_tasks <= WORKGROUPS && p->woa.rounds == 1 &&
                   p->wob.rounds == 1 && woa_vgprs + wob_vgprs <= WEIGHT_VGPRS;
}

int plan_make(const struct cogen_key *key, struct plan *plan, char *err, size_t err_size)
{
    *plan =
        (struct plan){.key = *key, .model = model_find(key->model), .arch = arch_find(key->arch)};
    if (!plan->model || !plan->arch) {
        snprintf(err, err_size, "the key is not finished: unknown %s '%s'",
                 plan->model ? "arch" : "model", plan->model ? key->arch : key->model);
        return -1;
    }
    cogen_key_name(key, plan->name);
    make_sizes(plan);
    make_front(plan);
    make_back(plan);
    plan->place_kt = key->keys == COGEN_KEYS_BACK ? (struct place){0, WORKGROUPS, plan->s}
                                                  : place_free(plan, plan->s);
    return plan_layout(plan, err, err_size);
}

const char *const *plan_stamps(enum cogen_kernel kernel)
{
    static const char *const names[2][STAMPS] = {
        [COGEN_FRONT] = {"begin", "loads", "wqkv", "qkv", "wqb"},
        [COGEN_BACK] = {"begin", "split_keys", "split_values", "split", "combine_wait", "combine",
                         "weights", "woa_wait", "woa", "wob_wait", "wob"},
    };
    return names[kernel];
}
