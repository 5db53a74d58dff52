/* SPDX-License-Identifier: Apache-2.0 */
/* The stamps of timeline builds as pictures: a row a workgroup, a bar a stage. */
#ifndef COGEN_TRACE_H
#define COGEN_TRACE_H

#include "gen/plan.h"

#include <stddef.h>

/* One launch: stamps[workgroup * STAMPS + i] are ticks of the 100 MHz clock, 0: not passed. names
 * as of plan_stamps. */
struct trace_launch {
    const char *kernel;
    const char *const *names;
    const uint64_t *stamps;
};

/* At most two launches. The texts are malloc'd; NULL when out of memory or when no stamp was
 * passed. Chrome's and Perfetto's trace format: */
char *trace_json(const struct trace_launch *launches, size_t count);
char *trace_svg(const struct trace_launch *launches, size_t count);

#endif
