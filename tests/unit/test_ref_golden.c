/* SPDX-License-Identifier: Apache-2.0 */
/* The C reference against the figures of the specification's numpy program (tests/golden). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#include "ref/back.h"
#include "ref/compare.h"
#include "ref/front.h"
#include "ref/keys.h"

enum { CASES = 18, SAMPLES = 16384 };

static uint32_t crc32_of(const void *data, size_t n)
{
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t v = i;
            for (int b = 0; b < 8; b++)
                v = v & 1 ? v >> 1 ^ 0xEDB88320u : v >> 1;
            table[i] = v;
        }
    const uint8_t *p = data;
    uint32_t v = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++)
        v = v >> 8 ^ table[(v ^ p[i]) & 0xFF];
    return ~v;
}

/* A case of the file and all that the reference makes of it. */
struct golden {
    char title[128], what[16];
    struct ref_case *c;
    struct ref_front front;
    struct ref_back back;
    int32_t *kt, *klen;
    unsigned inputs, outputs;
};

struct tensor {
    const char *name;
    const void *data;
    size_t bytes;
};

/* The next word or number of a line of golden.txt. */
static void take_word(const char **at, char *out, size_t size)
{
    const char *from = *at + strspn(*at, " ");
    size_t n = strcspn(from, " \n");
    assert_true(n > 0 && n < size);
    snprintf(out, size, "%.*s", (int)n, from);
    *at = from + n;
}

static uint64_t take_number(const char **at, int base)
{
    char *end;
    uint64_t n = strtoull(*at, &end, base);
    assert_true(end != *at);
    *at = end;
    return n;
}

static unsigned parts_of(const char *what)
{
    return strcmp(what, "front") == 0  ? REF_FRONT
           : strcmp(what, "back") == 0 ? REF_BACK
           : strcmp(what, "keys") == 0 ? REF_KEYS
                                       : REF_LAYER;
}

static void check_input(struct golden *g, const char *rest)
{
    const struct ref_case *c = g->c;
    assert_non_null(c);
    char name[16];
    take_word(&rest, name, sizeof name);
    uint32_t crc = (uint32_t)take_number(&rest, 16);
    size_t s = (size_t)c->s;
    const struct tensor all[] = {
        {"pos",      c->pos,        s * 8                                     },
        {"slot",     c->slot,       s * 8                                     },
        {"swa_lens", c->swa_lens,   s * 4                                     },
        {"swa_idx",  c->swa_idx,    s * (size_t)c->model.window * 4           },
        {"topk",     c->topk,       s * (size_t)c->topk_cols * 4              },
        {"comp_bt",  c->comp_bt,    (size_t)c->reqs * (size_t)c->bt_stride * 4},
        {"t2r",      c->t2r,        s * 4                                     },
        {"cos_sin",  c->cos_sin,    (size_t)c->params.max_pos * REF_ROPE * 4  },
        {"sink",     c->sink,       (size_t)c->h * 4                          },
        {"qn_w",     c->qn_w,       (size_t)c->model.q_rank * 2               },
        {"kvn_w",    c->kvn_w,      REF_KV_DIM * 2                            },
        {"x",        c->x,          s * (size_t)c->model.hidden * 2           },
        {"q",        c->q,          s * (size_t)c->q_rows * 2                 },
        {"wqkv",     c->wqkv.bytes, c->wqkv.size                              },
        {"wqkv_s",   c->wqkv.codes, c->wqkv.n / 32 * (c->wqkv.k / 32)         },
        {"wqb",      c->wqb.bytes,  c->wqb.size                               },
        {"wqb_s",    c->wqb.codes,  c->wqb.n / 32 * (c->wqb.k / 32)           },
        {"woa",      c->woa.bytes,  c->woa.size                               },
        {"woa_s",    c->woa.codes,  c->woa.n / 32 * (c->woa.k / 32)           },
        {"wob",      c->wob.bytes,  c->wob.size                               },
        {"wob_s",    c->wob.codes,  c->wob.n / 32 * (c->wob.k / 32)           },
        {"swa",      c->swa.bytes,  c->swa.size                               },
        {"comp",     c->comp.bytes, c->comp.size                              },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0) {
            assert_non_null(all[i].data);
            if (crc32_of(all[i].data, all[i].bytes) != crc)
                fail_msg("%s: input %s differs", g->title, name);
            g->inputs++;
            return;
        }
    fail_msg("%s: no input %s", g->title, name);
}

/* Runs what the case asks, once its inputs are checked. */
static void compute(struct golden *g)
{
    struct ref_case *c = g->c;
    bool layer = strcmp(g->what, "layer") == 0;
    if (g->kt)
        return;
    g->kt = malloc((size_t)c->s * (size_t)c->keys * sizeof *g->kt);
    g->klen = malloc(2 * (size_t)c->s * sizeof *g->klen);
    assert_non_null(g->kt);
    assert_non_null(g->klen);
    ref_key_table(c, g->kt, g->klen);
    if (layer || strcmp(g->what, "front") == 0)
        assert_int_equal(ref_front(c, &g->front), 0);
    if (layer)
        ref_front_insert(c, &g->front);
    if (layer || strcmp(g->what, "back") == 0)
        assert_int_equal(ref_back(c, layer ? g->front.q : c->q, g->kt, g->klen, &g->back), 0);
}

/* Every STEP-th element of the tensor against the file's, by the rule of its kind. */
static void check_samples(struct golden *g, const struct tensor *t, const uint16_t *want,
                          size_t step, size_t kept)
{
    struct ref_verdict v;
    if (strcmp(t->name, "records") == 0) {
        uint8_t bytes[SAMPLES];
        for (size_t i = 0; i < kept; i++)
            bytes[i] = (uint8_t)want[i];
        v = ref_compare_records(t->data, bytes, kept / REF_RECORD);
    } else {
        uint16_t got[SAMPLES];
        size_t differ = 0;
        for (size_t i = 0; i < kept; i++) {
            got[i] = ((const uint16_t *)t->data)[i * step];
            differ += got[i] != want[i];
        }
        v = ref_compare_bf16(got, want, kept);
        if (differ * 500 > kept)
            fail_msg("%s: %zu of %zu samples of %s differ", g->title, differ, kept, t->name);
    }
    if (!v.holds)
        fail_msg("%s: %s: %s", g->title, t->name, v.text);
}

/* Samples: values of some digits each, without blanks between, in lines of any length. */
static uint16_t take_sample(FILE *f, int digits)
{
    char text[5] = "";
    for (int i = 0; i < digits; i++) {
        int c = fgetc(f);
        while (c == '\n' || c == ' ')
            c = fgetc(f);
        assert_true(c != EOF);
        text[i] = (char)c;
    }
    const char *at = text;
    uint64_t n = take_number(&at, 16);
    assert_int_equal(*at, '\0');
    return (uint16_t)n;
}

static void check_output(struct golden *g, FILE *f, const char *rest)
{
    const struct ref_case *c = g->c;
    assert_non_null(c);
    char name[16];
    take_word(&rest, name, sizeof name);
    size_t s = (size_t)c->s, count = take_number(&rest, 10), item = take_number(&rest, 10);
    uint32_t crc = (uint32_t)take_number(&rest, 16);
    size_t step = take_number(&rest, 10), kept = take_number(&rest, 10);
    assert_true(kept <= SAMPLES);
    compute(g);
    const struct tensor all[] = {
        {"kt",      g->kt,            s * (size_t)c->keys * 4        },
        {"klen",    g->klen,          s * 8                          },
        {"qr",      g->front.qr,      s * (size_t)c->model.q_rank * 2},
        {"q",       g->front.q,       s * (size_t)c->q_rows * 2      },
        {"records", g->front.records, s * REF_RECORD                 },
        {"attn",    g->back.attn,     s * (size_t)c->q_rows * 2      },
        {"out",     g->back.out,      s * (size_t)c->model.hidden * 2},
    };
    uint16_t want[SAMPLES] = {0};
    for (size_t i = 0; i < kept; i++)
        want[i] = take_sample(f, item == 2 ? 4 : 2);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, name) != 0)
            continue;
        assert_non_null(all[i].data);
        assert_int_equal(all[i].bytes, count * item);
        bool exact =
            item == 4 || (c->params.mode == REF_EXACT && i < 5); /* i < 5: the key table and K1 */
        if (exact && crc32_of(all[i].data, all[i].bytes) != crc)
            fail_msg("%s: %s is not equal to the last bit", g->title, name);
        if (kept)
            check_samples(g, &all[i], want, step, kept);
        g->outputs++;
        return;
    }
    fail_msg("%s: no output %s", g->title, name);
}

static void begin(struct golden *g, const char *line)
{
    char model[32], mode[16], err[256];
    struct ref_params p = {0};
    memset(g, 0, sizeof *g);
    snprintf(g->title, sizeof g->title, "%.*s", (int)strcspn(line, "\n"), line);
    take_word(&line, g->what, sizeof g->what);
    take_word(&line, model, sizeof model);
    int *const first[] = {&p.tokens, &p.tp, &p.ratio, &p.topk};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        *first[i] = (int)take_number(&line, 10);
    p.seed = (uint32_t)take_number(&line, 10);
    take_word(&line, mode, sizeof mode);
    int *const last[] = {&p.block, &p.comp_block, &p.max_pos};
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        *last[i] = (int)take_number(&line, 10);
    p.pad = take_number(&line, 10);
    p.global_keys = take_number(&line, 10);
    p.model_name = model;
    p.mode = strcmp(mode, "exact") == 0 ? REF_EXACT : REF_RANDOM;
    g->c = ref_case_new(&p, parts_of(g->what), err, sizeof err);
    if (!g->c)
        fail_msg("%s: %s", g->title, err);
}

static void end(struct golden *g)
{
    bool keys = strcmp(g->what, "keys") == 0, layer = strcmp(g->what, "layer") == 0;
    assert_true(g->inputs >= 11); /* the small tensors at least */
    assert_int_equal(g->outputs, keys ? 2 : layer ? 7 : strcmp(g->what, "back") == 0 ? 4 : 3);
    ref_front_free(&g->front);
    ref_back_free(&g->back);
    ref_case_free(g->c);
    free(g->kt);
    free(g->klen);
    memset(g, 0, sizeof *g);
}

static void test_golden(void **state)
{
    (void)state;
    FILE *f = fopen(GOLDEN_DIR "/golden.txt", "r");
    assert_non_null(f);
    struct golden g = {0};
    char line[256];
    int cases = 0;
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "case ", 5) == 0) {
            begin(&g, line + 5);
            cases++;
        } else if (strncmp(line, "input ", 6) == 0) {
            check_input(&g, line + 6);
        } else if (strncmp(line, "output ", 7) == 0) {
            check_output(&g, f, line + 7);
        } else if (strcmp(line, "end\n") == 0) {
            end(&g);
        } else if (strcmp(line, "\n") != 0) { /* what is left of the last line of samples */
            fail_msg("golden.txt: unknown line %s", line);
        }
    }
    fclose(f);
    assert_int_equal(cases, CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
