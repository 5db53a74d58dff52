/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/case_options.h"

#include "tests/ref/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_SEED = 1,
    OPT_MODE,
    OPT_BLOCK,
    OPT_COMP_BLOCK,
    OPT_MAX_POS,
    OPT_PAD,
    OPT_X_PAD,
    OPT_TOPK_COLS,
    OPT_SWA_GAP,
    OPT_COMP_GAP,
    OPT_DEVICE,
    OPT_MANIFEST,
    OPT_SCHEDULE_SEED,
    OPT_TIMEOUT,
};

static const struct argp_option options[] = {
    {"seed", OPT_SEED, "N", 0, "seed of the inputs (1)", 1},
    {"mode", OPT_MODE, "random|exact", 0,
     "values of the inputs: random, or small integers whose sums are exact", 1},
    {"block", OPT_BLOCK, "N", 0, "rows of a sliding-window cache block (64)", 1},
    {"comp-block", OPT_COMP_BLOCK, "N", 0, "rows of a compressed cache block (16)", 1},
    {"max-pos", OPT_MAX_POS, "N", 0, "positions are below it (4096)", 1},
    {"pad", OPT_PAD, 0, 0, "the last token is a pad row: slot -1", 1},
    {"x-pad", OPT_X_PAD, "N", 0, "elements between the rows of x (0)", 1},
    {"topk-cols", OPT_TOPK_COLS, "N", 0,
     "with global keys: row length of the top-k table at run time (its width)", 1},
    {"swa-gap", OPT_SWA_GAP, "BYTES", 0, "bytes between blocks of the sliding-window cache (0)", 1},
    {"comp-gap", OPT_COMP_GAP, "BYTES", 0, "bytes between blocks of the compressed cache (0)", 1},
    {"device", OPT_DEVICE, "emu|hsa|auto", 0, "where the kernels run (emu)", 2},
    {"manifest", OPT_MANIFEST, "FILE", 0, "take the kernels from there (default: generate them)",
     2},
    {"schedule-seed", OPT_SCHEDULE_SEED, "N", 0, "seed of the emulator's schedule (0)", 2},
    {"timeout", OPT_TIMEOUT, "SECONDS", 0, "give a launch up after that long (600)", 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct case_options *o = state->input;
    const int64_t far = (int64_t)1 << 40;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->keys;
        return 0;
    case OPT_SEED:
        o->params.seed = (uint32_t)cli_number("seed", arg, 0, UINT32_MAX, state);
        return 0;
    case OPT_MODE:
        if (strcmp(arg, "random") != 0 && strcmp(arg, "exact") != 0)
            argp_failure(state, EXIT_BAD_INPUT, 0, "--mode %s: accepted are random, exact", arg);
        o->params.mode = strcmp(arg, "exact") == 0 ? REF_EXACT : REF_RANDOM;
        return 0;
    case OPT_BLOCK:
        o->params.block = (int)cli_number("block", arg, 1, 65536, state);
        return 0;
    case OPT_COMP_BLOCK:
        o->params.comp_block = (int)cli_number("comp-block", arg, 1, 65536, state);
        return 0;
    case OPT_MAX_POS:
        o->params.max_pos = (int)cli_number("max-pos", arg, 1, 1 << 24, state);
        return 0;
    case OPT_PAD:
        o->params.pad = true;
        return 0;
    case OPT_X_PAD:
        o->params.x_pad = (int)cli_number("x-pad", arg, 0, 1 << 20, state);
        return 0;
    case OPT_TOPK_COLS:
        o->params.topk_cols = (int)cli_number("topk-cols", arg, 1, 8192, state);
        return 0;
    case OPT_SWA_GAP:
        o->params.swa_gap = (size_t)cli_number("swa-gap", arg, 0, far, state);
        return 0;
    case OPT_COMP_GAP:
        o->params.comp_gap = (size_t)cli_number("comp-gap", arg, 0, far, state);
        return 0;
    case OPT_DEVICE:
        o->device = arg;
        return 0;
    case OPT_MANIFEST:
        o->manifest = arg;
        return 0;
    case OPT_SCHEDULE_SEED:
        o->schedule_seed = (uint64_t)cli_number("schedule-seed", arg, 0, INT64_MAX, state);
        return 0;
    case OPT_TIMEOUT:
        o->timeout_s = (uint64_t)cli_number("timeout", arg, 1, 1000000, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void case_options_init(struct case_options *o)
{
    memset(o, 0, sizeof *o);
    cli_keys_init(&o->keys, "The key:", true);
    o->params.seed = 1;
    o->device = "emu";
    o->timeout_s = 600;
    o->argp = (struct argp){.options = options, .parser = parse, .children = o->keys.child};
    o->child[0] = (struct argp_child){&o->argp, 0, "The inputs and the device:", 2};
    o->child[1] = (struct argp_child){0};
}

/* Keys of K1 and K2: the options are one layer's, `--kernel` says which of the two run. */
static int make_keys(const struct case_options *o, struct case_step *s, char *err, size_t err_size)
{
    struct cli_keys keys = o->keys;
    const char *kernel = cli_keys_text(&keys, "kernel");
    s->has_front = keys.layer || !kernel || strcmp(kernel, "back") != 0;
    s->has_back = keys.layer || (kernel && strcmp(kernel, "front") != 0);
    if (s->has_front && s->has_back && !keys.layer) {
        snprintf(err, err_size, "kernel %s: accepted are front, back, layer", kernel);
        return -1;
    }
    cli_keys_set(&keys, "kernel", "front");
    if (cli_keys_one(&keys, &s->front, err, err_size) != 0)
        return -1;
    cli_keys_set(&keys, "kernel", "back");
    return cli_keys_one(&keys, &s->back, err, err_size);
}

int case_step_open(const struct case_options *o, struct case_step *s, char *err, size_t err_size)
{
    memset(s, 0, sizeof *s);
    if (make_keys(o, s, err, err_size) != 0)
        return EXIT_BAD_INPUT;
    const struct cogen_key *key = &s->front;
    struct ref_params p = o->params;
    p.model_name = key->model;
    p.tokens = key->tokens;
    p.tp = key->tp;
    p.ratio = key->ratio;
    p.topk = key->topk;
    p.global_keys = key->global_keys;
    p.shuffled = key->shuffled;
    unsigned parts = s->has_front ? (s->has_back ? REF_LAYER : REF_FRONT) : REF_BACK;
    s->c = ref_case_new(&p, parts, err, err_size);
    if (!s->c)
        return EXIT_BAD_INPUT;
    s->kt = malloc((size_t)s->c->s * (size_t)s->c->keys * sizeof *s->kt);
    s->klen = malloc((size_t)s->c->s * 2 * sizeof *s->klen);
    if (!s->kt || !s->klen) {
        snprintf(err, err_size, "out of memory");
        return EXIT_FAILED;
    }
    ref_key_table(s->c, s->kt, s->klen);
    struct step_request r = {.c = s->c,
                             .front = s->has_front ? &s->front : NULL,
                             .back = s->has_back ? &s->back : NULL,
                             .device = o->device,
                             .manifest = o->manifest,
                             .kt = s->kt,
                             .klen = s->klen,
                             .timeout_ms = o->timeout_s * 1000};
    return step_open(&r, &s->step, err, err_size) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

void case_step_close(struct case_step *s)
{
    step_close(s->step);
    ref_case_free(s->c);
    free(s->kt);
    free(s->klen);
}
