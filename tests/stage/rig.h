/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel of a stage or two on the emulator: a case's inputs in device memory, a template of the
 * test's own, and what it wrote. Anything that goes wrong fails the running test.
 *
 *     rig_open(&r, &params, REF_FRONT, options);     options: name, value, ..., NULL
 *     rig_build(&r, template);                       through all passes, llvm-mc and ld.lld
 *     rig_run(&r, WORKGROUPS);                       every check on; the seed is new each time
 *     ... rig_arg(&r, "q"), rig_scratch(&r, "x8")    device memory, which the host may read and
 * write rig_close(&r);
 */
#ifndef TESTS_STAGE_RIG_H
#define TESTS_STAGE_RIG_H

#include "tests/support/test.h"

#include "gen/build.h"
#include "gen/plan.h"
#include "tests/ref/case.h"
#include "tools/emu/emu.h"

enum {
    RIG_EPOCH = 11,   /* what the epoch word holds at first */
    RIG_OUT_PAD = 24, /* elements between the rows of K2's out */
};

struct rig {
    struct plan plan;
    struct ref_case *c;
    struct emu_device *device;
    struct emu_object *object;
    uint64_t values[PLAN_MAX_ARGS]; /* of the arguments: device addresses or numbers */
    size_t sizes[PLAN_MAX_ARGS];    /* bytes behind a pointer */
    uint64_t seed;
    uint32_t epoch;
};

/* params: the case, its parts made; the key is the case's with the options set (a "kernel" among
 * them; front without). */
void rig_open(struct rig *r, const struct ref_params *params, unsigned parts,
              const char *const *options);
void rig_build(struct rig *r, void (*template)(Builder *b));
void rig_run(struct rig *r, int workgroups);
/* Runs a launch that must never end: somebody polls for what is not there. */
void rig_hangs(struct rig *r, int workgroups);
void rig_close(struct rig *r);

void *rig_arg(struct rig *r, const char *name);
size_t rig_arg_size(struct rig *r, const char *name);
void rig_set(struct rig *r, const char *name,
             uint64_t value); /* a scalar argument, or another address */
void *rig_scratch(struct rig *r, const char *region);
void rig_next_epoch(struct rig *r);    /* as K2 does at its end */
uint32_t rig_tag(const struct rig *r); /* the launch's */

/* A (value, tag) pair of a region, and whether it carries the launch's tag. */
void rig_put_pair(struct rig *r, const char *region, size_t index, uint32_t value);
bool rig_pair(struct rig *r, const char *region, size_t index, uint32_t *value);

#endif
