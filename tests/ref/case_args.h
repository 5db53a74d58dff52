/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' arguments as a case has them, by the specification's names. What is no part of a
 * case (scratch, epoch, time stamps) is the caller's. */
#ifndef REF_CASE_ARGS_H
#define REF_CASE_ARGS_H

#include "case.h"

struct ref_arg {
    const void *bytes; /* NULL: an output, or a part that the case has not made */
    size_t size;
    const struct ref_cache *cache; /* the bytes' shape, when they are a paged cache */
};

/* An argument that points to memory; false when the case has none of the name. The key table is an
 * output here: who reads one gives it. */
bool ref_case_pointer(const struct ref_case *c, const char *name, struct ref_arg *arg);
/* One that is a number, as the argument block holds it: an integer's value, an f32's bits. */
bool ref_case_number(const struct ref_case *c, const char *name, uint64_t *bits);

#endif
