/* SPDX-License-Identifier: Apache-2.0 */
/* Launches through the runtime: fixed pointers replayed while the memory behind them changes,
 * against the reference, across the wrap of the 32-bit epoch; time limits; a launch that the device
 * stops. */

#include "tests/support/test.h"

#include "tests/ref/back.h"
#include "tests/ref/compare.h"
#include "tests/ref/front.h"
#include "tests/ref/keys.h"
#include "tools/cogen/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOPK = 64, KEYS = TOPK + 128 };

static char err[1024];

static void need(int status)
{
    if (status != 0)
        fail_msg("%s", err);
}

/* A key of the small model at S=1: a replay takes a fraction of a second. */
static struct cogen_key make_key(const char *kernel, const char *x)
{
    const char *const options[][2] = {
        {"kernel", kernel},
        {"model",  "tiny"},
        {"tokens", "1"   },
        {"tp",     "1"   },
        {"ratio",  "4"   },
        {"topk",   "64"  },
        {"x",      x     }
    };
    struct cogen_key key = cogen_key_empty();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        need(cogen_key_set(&key, options[i][0], options[i][1], err, sizeof err));
    need(cogen_key_finish(&key, err, sizeof err));
    return key;
}

static struct ref_case *make_case(uint32_t seed, unsigned parts)
{
    struct ref_params p = {.model_name = "tiny",
                           .tokens = 1,
                           .tp = 1,
                           .ratio = 4,
                           .topk = TOPK,
                           .seed = seed,
                           .max_pos = 512};
    struct ref_case *c = ref_case_new(&p, parts, err, sizeof err);
    if (!c)
        fail_msg("%s", err);
    return c;
}

static struct step *open_step(const struct ref_case *c, const struct cogen_key *front,
                              const struct cogen_key *back, uint64_t timeout_ms)
{
    struct step_request r = {
        .c = c, .front = front, .back = back, .device = "emu", .timeout_ms = timeout_ms};
    struct step *s;
    need(step_open(&r, &s, err, sizeof err));
    return s;
}

/* What a decode step changes, taken from another case of the same shapes: the token's row, position
 * and keys. */
static void next_inputs(struct step *s, struct ref_case *c, struct ref_case *next)
{
    need(ref_case_add(next, REF_X, err, sizeof err));
    const struct {
        const char *name;
        void *to;
        const void *from;
        size_t size;
    } rows[] = {
        {"x",        c->x,        next->x,        (size_t)c->model.hidden * 2},
        {"pos",      c->pos,      next->pos,      sizeof *c->pos             },
        {"slot",     c->slot,     next->slot,     sizeof *c->slot            },
        {"swa_lens", c->swa_lens, next->swa_lens, sizeof *c->swa_lens        },
        {"swa_idx",  c->swa_idx,  next->swa_idx,  128 * sizeof *c->swa_idx   },
        {"topk",     c->topk,     next->topk,     TOPK * sizeof *c->topk     }
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(rows[i].to, rows[i].from, rows[i].size);
        need(step_put(s, rows[i].name, rows[i].from, rows[i].size, err, sizeof err));
    }
}

/* K1's record by its rule and the rest of the cache to the byte; c's cache is then the device's: a
 * record may differ by a rounding, and later steps attend to what is there. */
static void take_cache(struct step *s, struct ref_case *c, const struct ref_front *want,
                       unsigned number)
{
    struct ref_cache got = c->swa;
    uint8_t record[REF_RECORD];
    int64_t slot = c->slot[0];
    got.bytes = malloc(got.size);
    assert_non_null(got.bytes);
    need(step_get(s, "swa", got.bytes, got.size, err, sizeof err));
    memcpy(record, ref_cache_data(&got, slot), REF_DATA);
    memcpy(record + REF_DATA, ref_cache_scales(&got, slot), REF_SCALES);
    struct ref_verdict v = ref_compare_records(record, want->records, 1);
    memcpy(ref_cache_data(&c->swa, slot), record, REF_DATA);
    memcpy(ref_cache_scales(&c->swa, slot), record + REF_DATA, REF_SCALES);
    if (!v.holds || memcmp(got.bytes, c->swa.bytes, got.size) != 0)
        fail_msg("replay %u: record %s; the cache around it %s", number, v.text,
                 memcmp(got.bytes, c->swa.bytes, got.size) ? "differs" : "is the same");
    free(got.bytes);
}

/* What the launch left in memory against the reference of each kernel on c's present inputs; K2's
 * are what K1 left. */
static void compare_step(struct step *s, struct ref_case *c, unsigned number)
{
    static uint16_t q[16 * 512], out[512];
    int32_t kt[KEYS], klen[2], kt_got[KEYS];
    struct ref_front front;
    struct ref_back back;
    need(ref_front(c, &front));
    take_cache(s, c, &front, number);
    ref_key_table(c, kt, klen);
    need(step_get(s, "q", q, sizeof q, err, sizeof err));
    need(ref_back(c, q, kt, klen, &back));
    need(step_get(s, "out", out, sizeof out, err, sizeof err));
    need(step_get(s, "kt", kt_got, sizeof kt_got, err, sizeof err));
    struct ref_verdict v = ref_compare_bf16(q, front.q, sizeof q / 2),
                       w = ref_compare_bf16(out, back.out, sizeof out / 2);
    bool same_keys = memcmp(kt, kt_got, sizeof kt) == 0;
    if (!v.holds || !w.holds || !same_keys)
        fail_msg("replay %u: q %s; kt %s; out %s", number, v.text,
                 same_keys ? "the same" : "differs", w.text);
    ref_front_free(&front);
    ref_back_free(&back);
}

/* The epoch buffer holds one number in its first word and in every workgroup's mark when nothing
 * runs. */
static void replays_equal_the_reference_across_the_epochs_wrap(void **state)
{
    (void)state;
    const char *wanted = getenv("COGEN_REPLAYS");
    unsigned replays = wanted ? (unsigned)strtoul(wanted, NULL, 0) : 20;
    struct ref_case *c = make_case(1, REF_LAYER);
    struct cogen_key front = make_key("front", "bf16"), back = make_key("back", "bf16");
    struct step *s = open_step(c, &front, &back, 600000);
    need(step_prepare(s, 1, err, sizeof err));
    uint32_t epoch[4 + 256];
    for (size_t i = 0; i < sizeof epoch / sizeof epoch[0]; i++)
        epoch[i] = i < 4 && i > 0
                       ? 0
                       : UINT32_MAX / 2 - replays / 2; /* the tag, 2 e + 2, wraps half way */
    need(step_put(s, "epoch", epoch, sizeof epoch, err, sizeof err));
    for (unsigned i = 0; i < replays; i++) {
        struct ref_case *next = make_case(100 + i, REF_KEYS);
        next_inputs(s, c, next);
        need(step_launch(s, 1, err, sizeof err));
        compare_step(s, c, i);
        ref_case_free(next);
    }
    uint32_t after[4 + 256];
    need(step_get(s, "epoch", after, sizeof after, err, sizeof err));
    assert_int_not_equal(after[0], epoch[0]);
    step_close(s);
    ref_case_free(c);
    printf("%u replays\n", replays);
}

/* Launches in a row, no wait between them: each starts when the one before it is done. */
static void launches_in_a_row_keep_their_order(void **state)
{
    (void)state;
    struct ref_case *c = make_case(5, REF_LAYER);
    struct cogen_key front = make_key("front", "bf16"), back = make_key("back", "bf16");
    struct step *s = open_step(c, &front, &back, 600000);
    need(step_prepare(s, 3, err, sizeof err));
    need(step_launch(s, 3, err, sizeof err));
    compare_step(s, c, 3);
    uint32_t epoch;
    need(step_get(s, "epoch", &epoch, sizeof epoch, err, sizeof err));
    assert_int_equal(epoch, 3);
    step_close(s);
    ref_case_free(c);
}

/* K1 whose input nobody publishes: the device finds that nobody can go on, and the launch is named.
 */
static void a_launch_that_cannot_end_is_named(void **state)
{
    (void)state;
    struct ref_case *c = make_case(2, REF_FRONT);
    struct cogen_key front = make_key("front", "x8");
    struct step *s = open_step(c, &front, NULL, 600000);
    need(step_prepare(s, 1, err, sizeof err));
    uint32_t later = 7; /* the flags in scratch are epoch 0's */
    need(step_put(s, "epoch", &later, sizeof later, err, sizeof err));
    assert_int_equal(step_launch(s, 1, err, sizeof err), -1);
    assert_non_null(strstr(err, "cogen_front_gfx950"));
    assert_null(strchr(err, '\n'));
    /* The queue is of no more use, and says so again. */
    assert_int_equal(step_launch(s, 1, err, sizeof err), -1);
    assert_non_null(strstr(err, "cogen_front_gfx950"));
    step_close(s);

    /* With its input published it runs. */
    s = open_step(c, &front, NULL, 600000);
    need(step_run(s, 1, err, sizeof err));
    step_close(s);
    ref_case_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_equal_the_reference_across_the_epochs_wrap),
        cmocka_unit_test(launches_in_a_row_keep_their_order),
        cmocka_unit_test(a_launch_that_cannot_end_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
