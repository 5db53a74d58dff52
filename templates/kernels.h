/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' templates: each emits the whole kernel of b->plan through the builder. Errors stick
 * in the builder. */
#ifndef TEMPLATES_KERNELS_H
#define TEMPLATES_KERNELS_H

#include "gen/build.h"

void front_template(Builder *b);
void back_template(Builder *b);

#endif
