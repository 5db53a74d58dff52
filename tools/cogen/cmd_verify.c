/* SPDX-License-Identifier: Apache-2.0 */
/* cogen verify: a run against the C reference, a line an output; and the same outputs under every
 * schedule asked for. */
#include "tests/ref/back.h"
#include "tests/ref/compare.h"
#include "tests/ref/front.h"
#include "tools/cogen/case_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OUTPUTS = 8 };

struct verify_options {
    struct case_options c;
    int schedules;
};

static const struct cli_option options[] = {
    {"schedules", 0, "N",
     "run under N schedules, seeds --schedule-seed and up: outputs must be identical (1)", CLI_FIELD(struct verify_options, schedules), .least = 1, .most = 1000000},
};

/* What the first schedule gave, by index of step_output_names. */
struct outputs {
    void *bytes[MAX_OUTPUTS];
    size_t size[MAX_OUTPUTS];
};

static int keep_outputs(const struct step *s, struct outputs *o, char *err, size_t err_size)
{
    for (size_t i = 0; i < step_output_count; i++) {
        const void *bytes = step_output(s, step_output_names[i], &o->size[i]);
        if (!bytes)
            continue;
        o->bytes[i] = malloc(o->size[i] + 1);
        if (!o->bytes[i]) {
            snprintf(err, err_size, "out of memory");
            return -1;
        }
        memcpy(o->bytes[i], bytes, o->size[i]);
    }
    return 0;
}

static int same_outputs(const struct step *s, const struct outputs *o, char *err, size_t err_size)
{
    for (size_t i = 0; i < step_output_count; i++) {
        size_t size;
        const uint8_t *bytes = step_output(s, step_output_names[i], &size), *first = o->bytes[i];
        if (!bytes || memcmp(bytes, first, size) == 0)
            continue;
        size_t at = 0, differ = 0;
        for (size_t j = size; j-- > 0;)
            if (bytes[j] != first[j]) {
                at = j;
                differ++;
            }
        snprintf(err, err_size, "%s: %zu bytes differ from the first schedule's, from byte %zu on",
                 step_output_names[i], differ, at);
        return -1;
    }
    return 0;
}

static int run_schedules(const struct verify_options *o, struct case_step *s, struct outputs *first,
                         char *err, size_t err_size)
{
    struct cli_progress progress = cli_progress_begin("schedules", (size_t)o->schedules);
    int bad = 0;
    for (int i = 0; i < o->schedules && !bad; i++) {
        char why[ERR_SIZE - 64];
        uint64_t seed = o->c.schedule_seed + (uint64_t)i;
        bad = step_run(s->step, seed, why, sizeof why);
        if (!bad)
            bad = i ? same_outputs(s->step, first, why, sizeof why)
                    : keep_outputs(s->step, first, why, sizeof why);
        if (bad)
            snprintf(err, err_size, "--schedule-seed %" PRIu64 ": %s", seed, why);
        cli_progress_step(&progress, (size_t)i + 1, "");
    }
    cli_progress_end(&progress);
    return bad;
}

static const void *output(const struct outputs *o, const char *name, size_t *size)
{
    for (size_t i = 0; i < step_output_count; i++)
        if (strcmp(step_output_names[i], name) == 0) {
            *size = o->size[i];
            return o->bytes[i];
        }
    return NULL;
}

static int tell(const char *name, struct ref_verdict v)
{
    printf("%-8s %s %s\n", name, v.holds ? "holds" : "FAILS", v.text);
    return v.holds ? 0 : -1;
}

static int tell_bits(const struct outputs *o, const char *name, const void *want)
{
    size_t size;
    const void *got = output(o, name, &size);
    return got ? tell(name, ref_compare_bits(got, want, size)) : 0;
}

static int tell_bf16(const struct outputs *o, const char *name, const uint16_t *want)
{
    size_t size;
    const void *got = output(o, name, &size);
    return got ? tell(name, ref_compare_bf16(got, want, size / 2)) : 0;
}

/* Pad rows write no record: the reference's is set to zeros, as the run's is. */
static int tell_records(const struct outputs *o, const struct ref_case *c, uint8_t *want)
{
    size_t size;
    const void *got = output(o, "records", &size);
    for (int t = 0; t < c->s; t++)
        if (c->slot[t] < 0)
            memset(want + (size_t)t * REF_RECORD, 0, REF_RECORD);
    return got ? tell("records", ref_compare_records(got, want, (size_t)c->s)) : 0;
}

/* 0: all hold; 1: not all; -1: the reference had no memory. */
static int compare(struct case_step *s, const struct outputs *o)
{
    struct ref_front front = {0};
    struct ref_back back = {0};
    int bad = 0, memory = 0;
    const uint16_t *q = s->c->q;
    if (s->has_front) {
        memory = ref_front(s->c, &front);
        if (!memory) {
            bad |= tell_bf16(o, "qr", front.qr) | tell_bf16(o, "q", front.q);
            if (s->has_back)
                ref_front_insert(s->c, &front);
            bad |= tell_records(o, s->c, front.records);
            q = front.q;
        }
    }
    bad |= tell_bits(o, "kt", s->kt) | tell_bits(o, "klen", s->klen);
    if (s->has_back && !memory) {
        memory = ref_back(s->c, q, s->kt, s->klen, &back);
        if (!memory)
            bad |= tell_bf16(o, "out", back.out);
    }
    ref_front_free(&front);
    ref_back_free(&back);
    return memory ? -1 : bad ? 1 : 0;
}

int cmd_verify(int argc, char **argv)
{
    struct verify_options o = {.schedules = 1};
    case_options_init(&o.c);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.c.inputs};
    cli_parse(argc, argv,
              "Runs a kernel or a layer step on made inputs and compares every output with the C "
              "reference: a line an output; the exit status is 0 when all hold.",
              &own);

    char err[ERR_SIZE];
    struct case_step s;
    struct outputs first = {0};
    int status = case_step_open(&o.c, &s, err, sizeof err);
    if (status == EXIT_GOOD && run_schedules(&o, &s, &first, err, sizeof err) != 0)
        status = EXIT_FAILED;
    int verdict = status == EXIT_GOOD ? compare(&s, &first) : 0;
    if (verdict < 0)
        snprintf(err, sizeof err, "out of memory for the reference");
    if (verdict > 0)
        snprintf(err, sizeof err, "not every output holds against the reference");
    if (verdict)
        status = EXIT_FAILED;
    if (status == EXIT_GOOD && o.schedules > 1)
        printf("%d schedules, identical outputs\n", o.schedules);
    for (size_t i = 0; i < MAX_OUTPUTS; i++)
        free(first.bytes[i]);
    case_step_close(&s);
    return status == EXIT_GOOD ? status : cli_fail(argv[0], status, "%s", err);
}
