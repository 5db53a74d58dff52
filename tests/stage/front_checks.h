/* SPDX-License-Identifier: Apache-2.0 */
/* What K1 leaves, against the reference; each fails the running test. */
#ifndef TESTS_STAGE_FRONT_CHECKS_H
#define TESTS_STAGE_FRONT_CHECKS_H

#include "rig.h"
#include "tests/ref/compare.h"
#include "tests/ref/front.h"

void holds(struct ref_verdict v);
void same_bytes(const void *got, const void *want, size_t n, const char *what);
/* Live tokens' records by the rule, and nothing else in the cache has changed (the gaps between
 * blocks included). */
void check_cache(struct rig *r, const struct ref_front *want);
/* KT, KLEN, and their flags where the kernel publishes them. */
void check_keys(struct rig *r);

#endif
