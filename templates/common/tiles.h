/* SPDX-License-Identifier: Apache-2.0 */
/* Which units of a stage this workgroup runs, and the timeline's stamps between stages. */
#ifndef TEMPLATES_COMMON_TILES_H
#define TEMPLATES_COMMON_TILES_H

#include "gen/build.h"
#include "gen/plan.h"

/*
 *     Units u = units_begin(b, &plan->place_qkv, "qkv");
 *     ...                                   u.unit: S1, uniform over the workgroup: barriers are
 * allowed units_end(b, &u);
 *
 * The body is guarded where the place has workgroups without a unit, and loops where some have more
 * than one.
 */
typedef struct Units {
    Val unit; /* S1 */
    int span, count;
    bool guarded, loops;
    Uniform guard;
    Label head;
} Units;
Units units_begin(Builder *b, const struct place *place, const char *hint);
void units_end(Builder *b, Units *u);

/* S1: this workgroup's first unit of a place (base taken off, mod 256); it has one when that is
 * below min(span, count). */
Val first_unit(Builder *b, const struct place *place);
/* Leaves SCC = this workgroup has a unit; false (nothing emitted) when every workgroup has one. */
bool units_test(Builder *b, const struct place *place, Val first);

/* In timeline builds: work-item 0 stores the clock as the stamp of this name (plan_stamps). */
void stamp(Builder *b, const char *name);

#endif
