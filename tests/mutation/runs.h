/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's runs on the emulator: made inputs (cases) under several schedules, every check on, and
 * what each run left in memory.
 */
#ifndef MUTATION_RUNS_H
#define MUTATION_RUNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gen/key.h"
#include "gen/plan.h"
#include "tests/ref/case.h"
#include "tools/emu/emu.h"

enum { MAX_CASES = 3, MAX_OUTPUTS = 8, RULE_MAX = 40, TEXT_MAX = 2048 };

/* Memory that an argument points at. */
struct memory {
    const char *name;
    const void *source; /* what it holds before a run; NULL: nothing defined */
    size_t size;
    void *dev;
    void *want; /* what it held after the kernel's own run; NULL: source, unchanged */
};

struct case_memory {
    struct ref_case *c;
    int32_t *kt, *klen;              /* the reference's key table */
    struct memory at[PLAN_MAX_ARGS]; /* by index of plan.args; dev NULL for numbers */
    uint64_t values[PLAN_MAX_ARGS];
    uint64_t insts; /* of the kernel's own run */
};

struct runs {
    struct cogen_key key;
    struct plan plan;
    struct emu_device *device;
    int cases, schedules;
    struct case_memory *c;
    struct emu_object *traced; /* between runs_trace_begin and runs_trace_end */
};

enum run_end { RUN_SAME, RUN_FINDING, RUN_OUTPUT, RUN_HANG };

struct run_result {
    enum run_end end;
    int run;             /* which: case run % cases, schedule seed 1 + run */
    char rule[RULE_MAX]; /* of a finding; the argument whose memory differs */
    char text[TEXT_MAX];
};

/* Cases for a key: inputs by seed; every second one has a pad row. 0, or -1 and a line. runs_close
 * is due in every case. */
int runs_open(struct runs *r, const struct cogen_key *key, int cases, int schedules, char *err,
              size_t err_size);
/* Puts a device of its own under the runs and the inputs into its memory: once in each process that
 * runs. */
int runs_device(struct runs *r, char *err, size_t err_size);
/* Runs the kernel itself and keeps what it leaves, after a comparison with the reference; then all
 * runs, which must agree. */
int runs_baseline(struct runs *r, const char *text, char *err, size_t err_size);
/* Runs text until a run is not as the kernel's own. 0 and a result, or -1 and a line: it did not
 * assemble or load. */
int runs_of(struct runs *r, const char *text, struct run_result *result, char *err,
            size_t err_size);
/* The number of findings of the static lint in text's object; -1 and a line. */
int runs_lint(struct runs *r, const char *text, char *err, size_t err_size);
/* One run of text with each executed instruction printed to trace: the device is opened anew for
 * it, and is gone at the end. */
int runs_trace_begin(struct runs *r, const char *text, FILE *trace, char *err, size_t err_size);
int runs_trace_case(struct runs *r, int i, char *err, size_t err_size);
void runs_trace_end(struct runs *r);
/* The arguments whose memory is not as the kernel leaves it after each case's run of text; their
 * number. 1 and a name: one only, and all runs ended well. -1: some run did not, or it did not
 * assemble. */
int runs_changes(struct runs *r, const char *text, char *name, size_t name_size);
void runs_close(struct runs *r);

#endif
