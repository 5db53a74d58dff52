/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/key.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/arch.h"
#include "gen/model.h"

enum { TOPK_STEP = 64, MAX_TOPK = 8192, LD_STEP = 16, MAX_LD = 65536 };
enum { UNSET = -1 };

static const char *const kernel_names[] = {"front", "back", NULL};
static const char *const x_names[] = {"bf16", "x8", NULL};
static const char *const keys_names[] = {"front", "back", "given", NULL};
static const char *const flag_names[] = {"0", "1", NULL};

/* How an option's text becomes a field of the key: one of `words`, a number, or a name that the
 * tables know. */
struct field {
    size_t offset;
    enum { FIELD_NAME, FIELD_INT, FIELD_ENUM, FIELD_FLAG } type;
    const char *const *words;
};

const struct cogen_key_option cogen_key_options[] = {
    {"arch",        "gfx950",                                        "target"                                                       },
    {"model",       "v4-flash, v4-pro, v41-flash",                   "model"                                                        },
    {"kernel",      "front, back",                                   "K1 (front) or K2 (back)"                                      },
    {"tokens",      "1 .. 48",                                       "tokens of a step"                                             },
    {"tp",          "a divisor that leaves a multiple of 16 heads",  "tensor-parallel ranks"                                        },
    {"ratio",       "a compress ratio of the model, 0: window only", "compress ratio of the layer"                                  },
    {"topk",        "a multiple of 64, at most 8192",                "width of the top-k table"                                     },
    {"x",           "bf16, x8",                                      "K1's input: bf16 rows, or MXFP8 that another kernel publishes"},
    {"keys",        "front, back, given",                            "who writes the key table"                                     },
    {"global-keys", "0, 1",                                          "1: the top-k table holds cache slots, not request-local rows" },
    {"shuffled",    "0, 1",                                          "1: wqkv's bytes are in (16, 16) shuffle order"                },
    {"timeline",    "0, 1",                                          "1: stages store time stamps"                                  },
    {"wqkv-ld",     "a multiple of 16, at least K",                  "row stride of wqkv, bytes"                                    },
    {"wqb-ld",      "a multiple of 16, at least K",                  "row stride of wq_b, bytes"                                    },
    {"woa-ld",      "a multiple of 16, at least K",                  "row stride of wo_a, bytes"                                    },
    {"wob-ld",      "a multiple of 16, at least K",                  "row stride of wo_b, bytes"                                    },
};

static const struct field fields[] = {
    {offsetof(struct cogen_key, arch),        FIELD_NAME, NULL        },
    {offsetof(struct cogen_key, model),       FIELD_NAME, NULL        },
    {offsetof(struct cogen_key, kernel),      FIELD_ENUM, kernel_names},
    {offsetof(struct cogen_key, tokens),      FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, tp),          FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, ratio),       FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, topk),        FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, x),           FIELD_ENUM, x_names     },
    {offsetof(struct cogen_key, keys),        FIELD_ENUM, keys_names  },
    {offsetof(struct cogen_key, global_keys), FIELD_FLAG, flag_names  },
    {offsetof(struct cogen_key, shuffled),    FIELD_FLAG, flag_names  },
    {offsetof(struct cogen_key, timeline),    FIELD_FLAG, flag_names  },
    {offsetof(struct cogen_key, wqkv_ld),     FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, wqb_ld),      FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, woa_ld),      FIELD_INT,  NULL        },
    {offsetof(struct cogen_key, wob_ld),      FIELD_INT,  NULL        },
};
const size_t cogen_key_option_count = sizeof cogen_key_options / sizeof cogen_key_options[0];
_Static_assert(sizeof fields / sizeof fields[0] ==
                   sizeof cogen_key_options / sizeof cogen_key_options[0],
               "a field an option");

static int refuse(char *err, size_t err_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(char *err, size_t err_size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, err_size, format, args);
    va_end(args);
    return -1;
}

struct cogen_key cogen_key_empty(void)
{
    return (struct cogen_key){
        .kernel = COGEN_FRONT,
        .tokens = UNSET,
        .tp = UNSET,
        .ratio = UNSET,
        .topk = UNSET,
        .x = COGEN_X_BF16,
        .keys_set = false,
        .wqkv_ld = UNSET,
        .wqb_ld = UNSET,
        .woa_ld = UNSET,
        .wob_ld = UNSET,
    };
}

static int option_index(const char *option)
{
    for (size_t i = 0; i < cogen_key_option_count; i++)
        if (strcmp(cogen_key_options[i].name, option) == 0)
            return (int)i;
    return -1;
}

static int word_index(const char *const *words, const char *value)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    return -1;
}

/* Names point at the tables' own strings, so that a key owns nothing. */
static const char *known_name(const char *option, const char *value)
{
    if (strcmp(option, "arch") == 0) {
        const struct arch *arch = arch_find(value);
        return arch ? arch->name : NULL;
    }
    const struct model *model = model_find(value);
    return model ? model->name : NULL;
}

int cogen_key_set(struct cogen_key *key, const char *option, const char *value, char *err,
                  size_t err_size)
{
    int index = option_index(option);
    if (index < 0)
        return refuse(err, err_size, "unknown key option '%s'", option);
    const struct field *field = &fields[index];
    char *at = (char *)key + field->offset;
    const char *accepted = cogen_key_options[index].values;
    int word;
    switch (field->type) {
    case FIELD_NAME: {
        const char *name = known_name(option, value);
        if (!name)
            return refuse(err, err_size, "unknown %s '%s': one of %s", option, value, accepted);
        *(const char **)at = name;
        return 0;
    }
    case FIELD_INT: {
        char *end;
        errno = 0;
        long number = strtol(value, &end, 10);
        if (end == value || *end || errno || number < 0 || number > INT_MAX)
            return refuse(err, err_size, "%s '%s' is not a number: %s", option, value, accepted);
        int n = (int)number;
        memcpy(at, &n, sizeof n);
        return 0;
    }
    case FIELD_ENUM:
    case FIELD_FLAG:
        break;
    }
    word = word_index(field->words, value);
    if (word < 0)
        return refuse(err, err_size, "%s '%s': one of %s", option, value, accepted);
    if (field->type == FIELD_FLAG)
        *(bool *)at = word != 0;
    else
        memcpy(at, &word, sizeof word);
    key->keys_set |= strcmp(option, "keys") == 0;
    key->global_keys_set |= strcmp(option, "global-keys") == 0;
    return 0;
}

const char *cogen_key_get(const struct cogen_key *key, const char *option, char *buf,
                          size_t buf_size)
{
    int index = option_index(option);
    buf[0] = '\0';
    if (index < 0)
        return buf;
    const struct field *field = &fields[index];
    const char *at = (const char *)key + field->offset;
    int n;
    const char *name;
    switch (field->type) {
    case FIELD_NAME:
        name = *(const char *const *)at;
        snprintf(buf, buf_size, "%s", name ? name : "");
        break;
    case FIELD_INT:
        memcpy(&n, at, sizeof n);
        snprintf(buf, buf_size, "%d", n);
        break;
    case FIELD_ENUM:
        memcpy(&n, at, sizeof n);
        snprintf(buf, buf_size, "%s", field->words[n]);
        break;
    case FIELD_FLAG:
        snprintf(buf, buf_size, "%d", *(const bool *)at);
        break;
    }
    return buf;
}

/* ---- defaults and checks */

static bool tp_serves(const struct model *m, int tp)
{
    return tp > 0 && m->heads % tp == 0 && m->heads / tp % 16 == 0 && m->o_groups % tp == 0;
}

static int check_tp(const struct cogen_key *key, const struct model *m, char *err, size_t err_size)
{
    if (tp_serves(m, key->tp))
        return 0;
    char good[64] = "";
    for (int tp = 1, n = 0; tp <= m->heads; tp++)
        if (tp_serves(m, tp) && n < (int)sizeof good - 8)
            n += snprintf(good + n, sizeof good - (size_t)n, "%s%d", n ? ", " : "", tp);
    if (key->tp <= 0 || m->heads % key->tp || m->o_groups % key->tp)
        return refuse(err, err_size, "tp %d does not divide %s's %d heads and %d groups: one of %s",
                      key->tp, m->name, m->heads, m->o_groups, good);
    return refuse(
        err, err_size,
        "tp %d leaves %d heads of %s's %d a rank, and a rank needs a multiple of 16: tp %s",
        key->tp, m->heads / key->tp, m->name, m->heads, good);
}

static int check_ratio(const struct cogen_key *key, const struct model *m, char *err,
                       size_t err_size)
{
    char good[64] = "";
    for (int i = 0, n = 0; i < m->n_ratios; i++) {
        if (m->ratios[i] == key->ratio)
            return 0;
        n += snprintf(good + n, sizeof good - (size_t)n, "%s%d", i ? ", " : "", m->ratios[i]);
    }
    return refuse(err, err_size, "ratio %d: %s's compress ratios are %s", key->ratio, m->name,
                  good);
}

/* A row stride: K by default; 16-byte loads need it a multiple of 16. */
static int check_ld(const char *name, int *ld, int k, char *err, size_t err_size)
{
    if (*ld == UNSET)
        *ld = k;
    if (*ld >= k && *ld % LD_STEP == 0 && *ld <= MAX_LD)
        return 0;
    return refuse(err, err_size, "%s %d: a multiple of %d from K = %d to %d", name, *ld, LD_STEP, k,
                  MAX_LD);
}

static int check_lds(struct cogen_key *key, const struct model *m, char *err, size_t err_size)
{
    if (check_ld("wqkv-ld", &key->wqkv_ld, m->hidden, err, err_size) ||
        check_ld("wqb-ld", &key->wqb_ld, m->q_rank, err, err_size) ||
        check_ld("woa-ld", &key->woa_ld, m->heads / m->o_groups * HEAD_DIM, err, err_size) ||
        check_ld("wob-ld", &key->wob_ld, m->o_groups / key->tp * O_RANK, err, err_size))
        return -1;
    if (key->shuffled && key->wqkv_ld != m->hidden)
        return refuse(err, err_size, "wqkv-ld %d: shuffled weights have no row stride, only %d",
                      key->wqkv_ld, m->hidden);
    return 0;
}

int cogen_key_finish(struct cogen_key *key, char *err, size_t err_size)
{
    if (!key->arch)
        key->arch = archs[0].name;
    if (!key->model)
        return refuse(err, err_size, "no model given: one of %s",
                      cogen_key_options[option_index("model")].values);
    const struct model *m = model_find(key->model);
    if (!m || !arch_find(key->arch))
        return refuse(err, err_size, "unknown %s '%s'", m ? "arch" : "model",
                      m ? key->arch : key->model);
    if (key->tokens == UNSET)
        return refuse(err, err_size, "no tokens given: 1 .. %d", COGEN_MAX_TOKENS);
    if (key->tokens < 1 || key->tokens > COGEN_MAX_TOKENS)
        return refuse(err, err_size, "tokens %d: 1 .. %d", key->tokens, COGEN_MAX_TOKENS);
    if (key->tp == UNSET)
        return refuse(err, err_size, "no tp given: %s",
                      cogen_key_options[option_index("tp")].values);
    if (check_tp(key, m, err, err_size))
        return -1;
    if (key->ratio == UNSET)
        key->ratio = 0;
    if (check_ratio(key, m, err, err_size))
        return -1;
    if (key->topk == UNSET)
        key->topk = m->topk;
    if (key->topk < TOPK_STEP || key->topk > MAX_TOPK || key->topk % TOPK_STEP) {
        if (key->ratio || key->topk) /* 0 is what a layer without a table has */
            return refuse(err, err_size, "topk %d: a multiple of %d from %d to %d", key->topk,
                          TOPK_STEP, TOPK_STEP, MAX_TOPK);
    }
    if (key->ratio == 0)
        key->topk = 0;
    if (!key->keys_set)
        key->keys = m->keys;
    if (!key->global_keys_set)
        key->global_keys = key->ratio == 128;
    if (key->global_keys && key->ratio == 0)
        return refuse(err, err_size, "global-keys 1: a layer of ratio 0 has no top-k table");
    key->keys_set = key->global_keys_set = true;
    return check_lds(key, m, err, err_size);
}

/* ---- names */

static int add(char *buf, int at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int add(char *buf, int at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(buf + at, (size_t)(COGEN_NAME_MAX - at), format, args);
    va_end(args);
    return at + n < COGEN_NAME_MAX ? at + n : COGEN_NAME_MAX - 1;
}

const char *cogen_key_name(const struct cogen_key *key, char *buf)
{
    const struct model *m = model_find(key->model);
    int at = add(buf, 0, "cogen_%s_%s_", kernel_names[key->kernel], key->arch);
    for (const char *c = key->model; *c; c++)
        at = add(buf, at, "%c", *c == '-' ? '_' : *c);
    at = add(buf, at, "_s%d_tp%d_r%d_k%d", key->tokens, key->tp, key->ratio, key->topk);
    if (key->x != COGEN_X_BF16)
        at = add(buf, at, "_%s", x_names[key->x]);
    if (key->keys != m->keys)
        at = add(buf, at, "_keys%s", keys_names[key->keys]);
    if (key->global_keys != (key->ratio == 128))
        at = add(buf, at, "_global%d", key->global_keys);
    if (key->shuffled)
        at = add(buf, at, "_shuffled");
    if (key->timeline)
        at = add(buf, at, "_timeline");
    const struct {
        const char *name;
        int ld, k;
    } strides[] = {
        {"wqkv", key->wqkv_ld, m->hidden                        },
        {"wqb",  key->wqb_ld,  m->q_rank                        },
        {"woa",  key->woa_ld,  m->heads / m->o_groups * HEAD_DIM},
        {"wob",  key->wob_ld,  m->o_groups / key->tp * O_RANK   },
    };
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++)
        if (strides[i].ld != strides[i].k)
            at = add(buf, at, "_%s%d", strides[i].name, strides[i].ld);
    return buf;
}

bool cogen_key_equal(const struct cogen_key *a, const struct cogen_key *b)
{
    char ta[64], tb[64];
    for (size_t i = 0; i < cogen_key_option_count; i++) {
        const char *name = cogen_key_options[i].name;
        if (strcmp(cogen_key_get(a, name, ta, sizeof ta), cogen_key_get(b, name, tb, sizeof tb)) !=
            0)
            return false;
    }
    return true;
}
