/* SPDX-License-Identifier: Apache-2.0 */
/* How functions of the runtime refuse: return rt_fail(err, STATUS, "one line", ...). */
#ifndef RT_ERROR_H
#define RT_ERROR_H

#include "runtime/cogen_rt.h"

enum cogen_rt_status rt_fail(struct cogen_rt_error *err, enum cogen_rt_status status,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Clears err; returns COGEN_RT_OK. */
enum cogen_rt_status rt_ok(struct cogen_rt_error *err);

#endif
