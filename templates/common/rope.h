/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding, GPT-J pairs (2 i, 2 i + 1), in f32: products and their sum or difference each
 * rounded. */
#ifndef TEMPLATES_COMMON_ROPE_H
#define TEMPLATES_COMMON_ROPE_H

#include "gen/build.h"

typedef struct Pair {
    Val even, odd;
} Pair;

Pair rope(Builder *b, Pair v, Val cos, Val sin);         /* (e cos - o sin, e sin + o cos) */
Pair rope_inverse(Builder *b, Pair v, Val cos, Val sin); /* (e cos + o sin, o cos - e sin) */
Val cos_sin_row(Builder *b, Val pos); /* S2: &cos_sin[pos], 32 cosines then 32 sines; pos S1 */

#endif
