/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the reference's outputs of a case as raw little-endian files: DIR/NAME.bin. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "back.h"
#include "front.h"
#include "keys.h"

enum {
    OPT_TP = 256,
    OPT_RATIO,
    OPT_TOPK,
    OPT_SEED,
    OPT_MODE,
    OPT_BLOCK,
    OPT_COMP_BLOCK,
    OPT_MAX_POS,
    OPT_GLOBAL,
    OPT_PAD,
    OPT_TOKENS,
    OPT_MODEL
};

struct dump {
    struct ref_params p;
    const char *what, *dir;
};

static int number(const char *text, struct argp_state *state)
{
    char *end;
    long n = strtol(text, &end, 0);
    if (end == text || *end || n < 0 || n > INT_MAX)
        argp_error(state, "%s is not a number", text);
    return (int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct dump *d = state->input;
    switch (key) {
    case OPT_MODEL:
        d->p.model_name = arg;
        return 0;
    case OPT_TOKENS:
        d->p.tokens = number(arg, state);
        return 0;
    case OPT_TP:
        d->p.tp = number(arg, state);
        return 0;
    case OPT_RATIO:
        d->p.ratio = number(arg, state);
        return 0;
    case OPT_TOPK:
        d->p.topk = number(arg, state);
        return 0;
    case OPT_SEED:
        d->p.seed = (uint32_t)number(arg, state);
        return 0;
    case OPT_MODE:
        d->p.mode = strcmp(arg, "exact") == 0 ? REF_EXACT : REF_RANDOM;
        return 0;
    case OPT_BLOCK:
        d->p.block = number(arg, state);
        return 0;
    case OPT_COMP_BLOCK:
        d->p.comp_block = number(arg, state);
        return 0;
    case OPT_MAX_POS:
        d->p.max_pos = number(arg, state);
        return 0;
    case OPT_GLOBAL:
        d->p.global_keys = true;
        return 0;
    case OPT_PAD:
        d->p.pad = true;
        return 0;
    case 'o':
        d->dir = arg;
        return 0;
    case ARGP_KEY_ARG:
        d->what = arg;
        return 0;
    case ARGP_KEY_END:
        if (!d->what || !d->dir)
            argp_error(state, "front, keys, back or layer, and -o DIR, are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int write_file(const struct dump *d, const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.bin", d->dir, name);
    FILE *f = fopen(path, "wb");
    size_t written = f ? fwrite(data, 1, bytes, f) : 0;
    if (f && fclose(f) == 0 && written == bytes)
        return 0;
    fprintf(stderr, "ref_dump: cannot write %s: %s\n", path, strerror(errno));
    return -1;
}

static int dump_front(const struct dump *d, struct ref_case *c, struct ref_front *f)
{
    size_t s = (size_t)c->s;
    if (ref_front(c, f))
        return -1;
    return write_file(d, "qr", f->qr, s * (size_t)c->model.q_rank * 2) ||
           write_file(d, "q", f->q, s * (size_t)c->q_rows * 2) ||
           write_file(d, "records", f->records, s * REF_RECORD);
}

static int dump(const struct dump *d, struct ref_case *c)
{
    bool front = strcmp(d->what, "front") == 0, layer = strcmp(d->what, "layer") == 0;
    size_t s = (size_t)c->s, kt_size = s * (size_t)c->keys * sizeof(int32_t);
    int32_t *kt = malloc(kt_size), klen[2 * REF_MAX_TOKENS];
    struct ref_front f = {0};
    struct ref_back b = {0};
    int failed = !kt || ((front || layer) && dump_front(d, c, &f));
    if (!failed && !front) {
        ref_key_table(c, kt, klen);
        failed =
            write_file(d, "kt", kt, kt_size) || write_file(d, "klen", klen, 2 * s * sizeof klen[0]);
    }
    if (layer)
        ref_front_insert(c, &f);
    if (!failed && (layer || strcmp(d->what, "back") == 0))
        failed = ref_back(c, layer ? f.q : c->q, kt, klen, &b) ||
                 write_file(d, "attn", b.attn, s * (size_t)c->q_rows * 2) ||
                 write_file(d, "out", b.out, s * (size_t)c->model.hidden * 2);
    free(kt);
    ref_front_free(&f);
    ref_back_free(&b);
    return failed;
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"model", OPT_MODEL, "M", 0, "model", 0},
        {"tokens", OPT_TOKENS, "S", 0, "tokens", 0},
        {"tp", OPT_TP, "N", 0, "ranks", 0},
        {"ratio", OPT_RATIO, "N", 0, "compress ratio", 0},
        {"topk", OPT_TOPK, "N", 0, "top-k width", 0},
        {"seed", OPT_SEED, "N", 0, "seed", 0},
        {"mode", OPT_MODE, "random|exact", 0, "inputs", 0},
        {"block", OPT_BLOCK, "N", 0, "window cache block", 0},
        {"comp-block", OPT_COMP_BLOCK, "N", 0, "compressed cache block", 0},
        {"max-pos", OPT_MAX_POS, "N", 0, "positions are below it", 0},
        {"global-keys", OPT_GLOBAL, 0, 0, "the top-k table holds cache slots", 0},
        {"pad", OPT_PAD, 0, 0, "the last token is a pad row", 0},
        {"out", 'o', "DIR", 0, "where the files go", 0},
        {0},
    };
    static const struct argp argp = {options, parse, "front|keys|back|layer", NULL, 0, 0, 0};
    struct dump d = {
        .p = {.model_name = "v41-flash", .tokens = 1, .tp = 4, .seed = 1}
    };
    argp_parse(&argp, argc, argv, 0, NULL, &d);
    unsigned parts = strcmp(d.what, "front") == 0  ? REF_FRONT
                     : strcmp(d.what, "back") == 0 ? REF_BACK
                     : strcmp(d.what, "keys") == 0 ? REF_KEYS
                                                   : REF_LAYER;
    char err[256];
    struct ref_case *c = ref_case_new(&d.p, parts, err, sizeof err);
    if (!c) {
        fprintf(stderr, "ref_dump: %s\n", err);
        return 1;
    }
    mkdir(d.dir, 0777);
    int failed = dump(&d, c);
    ref_case_free(c);
    return failed ? 1 : 0;
}
