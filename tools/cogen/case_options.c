/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/case_options.h"

#include "tests/ref/keys.h"
#include "tools/emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_mode(void *field, const char *text, char *err, size_t err_size)
{
    enum ref_mode *mode = field;
    if (strcmp(text, "random") != 0 && strcmp(text, "exact") != 0) {
        snprintf(err, err_size, "accepted are random, exact");
        return -1;
    }
    *mode = strcmp(text, "exact") == 0 ? REF_EXACT : REF_RANDOM;
    return 0;
}

static int take_mfma(void *field, const char *text, char *err, size_t err_size)
{
    bool precise;
    *(const char **)field = text;
    return emu_mfma_parse(text, &precise, err, err_size);
}

#define FIELD(member) CLI_FIELD(struct case_options, member)
#define FAR ((int64_t)1 << 40)

static const struct cli_option inputs[] = {
    {"seed", 0, "N", "seed of the inputs (1)", FIELD(params.seed), .most = UINT32_MAX},
    {"mode", 0, "random|exact",
     "values of the inputs: random, or small integers whose sums are exact", CLI_FIELD_BY(struct case_options, params.mode, take_mode)},
    {"block", 0, "N", "rows of a sliding-window cache block (64)", FIELD(params.block), .least = 1,
     .most = 65536},
    {"comp-block", 0, "N", "rows of a compressed cache block (16)", FIELD(params.comp_block),
     .least = 1, .most = 65536},
    {"max-pos", 0, "N", "positions are below it (4096)", FIELD(params.max_pos), .least = 1,
     .most = 1 << 24},
    {"pad", 0, NULL, "the last token is a pad row: slot -1", FIELD(params.pad)},
    {"x-pad", 0, "N", "elements between the rows of x (0)", FIELD(params.x_pad), .most = 1 << 20},
    {"topk-cols", 0, "N", "with global keys: row length of the top-k table at run time (its width)",
     FIELD(params.topk_cols), .least = 1, .most = 8192},
    {"swa-gap", 0, "BYTES", "bytes between blocks of the sliding-window cache (0)",
     FIELD(params.swa_gap), .most = FAR},
    {"comp-gap", 0, "BYTES", "bytes between blocks of the compressed cache (0)",
     FIELD(params.comp_gap), .most = FAR},
};

static const struct cli_option run_on[] = {
    {"device", 0, "emu|hsa|auto", "where the kernels run (emu)", FIELD(device)},
    {"manifest", 0, "FILE", "take the kernels from there (default: generate them)",
     FIELD(manifest)},
    {"schedule-seed", 0, "N", "seed of the emulator's schedule (0)", FIELD(schedule_seed),
     .most = INT64_MAX},
    {"mfma", 0, "model|precise",
     "how the emulator adds up in matrix instructions: as hardware is modelled to round, or in f64 "
     "(COGEN_EMU_MFMA, else precise)", CLI_FIELD_BY(struct case_options, mfma, take_mfma)},
    {"timeout", 0, "SECONDS", "give a launch up after that long (600)", FIELD(timeout_s),
     .least = 1, .most = 1000000},
};

void case_options_init(struct case_options *o)
{
    memset(o, 0, sizeof *o);
    cli_keys_init(&o->keys, "The key:", true);
    o->params.seed = 1;
    o->device = "emu";
    o->timeout_s = 600;
    o->run_on = (struct cli_table){CLI_ROWS(run_on), "The device:", o, &o->keys.table};
    o->inputs = (struct cli_table){CLI_ROWS(inputs), "The inputs:", o, &o->run_on};
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
                             .mfma = o->mfma,
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
