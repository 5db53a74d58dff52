/* SPDX-License-Identifier: Apache-2.0 */
/* wo_a and wo_b: their weights' loads apart from their multiplications, since the order of loads is
 * the kernel's. */
#ifndef TEMPLATES_BACK_OUTPUT_H
#define TEMPLATES_BACK_OUTPUT_H

#include "templates/back/back.h"
#include "templates/common/gemv.h"

typedef struct Output {
    Back *k;
    Val first; /* S1: the workgroup's first task */
    Gemv gemv;
    GemvWeights w; /* of the round at hand */
} Output;

/* Finds the workgroup's tasks; issues nothing. */
void woa_begin(Back *k, Output *o);
void wob_begin(Back *k, Output *o);
/* Issues the loads of a round's weights; a task that the workgroup does not have is left out. */
void woa_weights(Output *o, int round);
void wob_weights(Output *o, int round);
/* Waits for the rows, multiplies round after round; round 0's weights are on their way. */
void woa_stage(Output *o);
void wob_stage(Output *o);

#endif
