/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K2 whole, on the emulator. Anything that goes wrong fails the running test.
 *
 *     struct back_rig r;
 *     back_open(&r, &params, "given");       the case's inputs, its key table in r.kt and r.klen
 *     ... the test changes r.c, r.kt, r.klen
 *     back_launch(&r);                       generate, assemble, run with every check on
 *     back_holds(&r);                        out and the epoch against the reference
 *     back_close(&r);
 */
#ifndef TESTS_KERNEL_BACK_RIG_H
#define TESTS_KERNEL_BACK_RIG_H

#include "tests/support/test.h"

#include "gen/hooks.h"
#include "gen/key.h"
#include "gen/plan.h"
#include "tests/ref/back.h"
#include "tests/ref/case.h"
#include "tools/emu/emu.h"

enum { BACK_EPOCH = 41 }; /* what the epoch word holds before the first launch */

struct back_rig {
    struct plan plan;
    struct ref_case *c;
    int32_t *kt,
        *klen; /* [s, keys], [2 s]: the reference's; given to the kernel unless it makes its own */
    size_t out_stride;               /* elements; hidden and a bit, so that a wrong stride shows */
    const struct cogen_hooks *hooks; /* NULL, or set between open and launch */
    struct emu_device *device;
    struct emu_object *object;
    uint64_t values[PLAN_MAX_ARGS]; /* of the arguments: device addresses or numbers */
    int launches;
};

/* keys: the key's option, "front", "back" or "given". */
void back_open(struct back_rig *r, const struct ref_params *params, const char *keys);
/* Row t of the key table: comp random rows of the compressed cache, then window random rows of the
 * window's. */
void back_keys(struct back_rig *r, int t, int comp, int window);
/* Puts the inputs into device memory and the kernel through all passes at the first call; every
 * call launches. */
void back_launch(struct back_rig *r);
/* bf16 [s][hidden] as left in `out`: the caller frees it. */
uint16_t *back_out(struct back_rig *r);
void back_holds(struct back_rig *r);
void back_close(struct back_rig *r);

/* The device address or number of an argument. */
uint64_t back_arg(struct back_rig *r, const char *name);
/* open, launch, holds, close. */
void back_check(const struct ref_params *params, const char *keys);

#endif
