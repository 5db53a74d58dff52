/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GEN_PLAN_LAYOUT_H
#define GEN_PLAN_LAYOUT_H

#include "gen/plan.h"

/* Row strides, kernarg, LDS and scratch of a plan whose counts are made. 0, or -1 and one line: LDS
 * that does not fit. */
int plan_layout(struct plan *plan, char *err, size_t err_size);

#endif
