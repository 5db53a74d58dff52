/* SPDX-License-Identifier: Apache-2.0 */
/* MXFP8: one E8M0 code per 32 values and e4m3 bytes, without a division. */
#ifndef TEMPLATES_COMMON_MX_H
#define TEMPLATES_COMMON_MX_H

#include "gen/build.h"

/* E8M0 code of a group whose largest magnitude is amax (f32 >= 0, finite): 1 .. 247. */
Val mx_code(Builder *b, Val amax);
/* Code of a KV record's 64 values: the same of max(amax, 1e-4). */
Val record_code(Builder *b, Val amax);
/* The f32 whose exponent is the code: the scale operand that the conversions divide by. */
Val mx_scale(Builder *b, Val code);

/* Largest magnitude of the bf16 values in n words (V1 each), as f32 bits. */
Val bf16_amax(Builder *b, const Val *words, int n);

/* Four values over the scale -> a word of e4m3. */
Val fp8_of_bf16(Builder *b, Val pair0, Val pair1, Val scale); /* words of two bf16 */
Val fp8_of_f32(Builder *b, Val v0, Val v1, Val v2, Val v3, Val scale);
/* Two values -> the low half of a word, the high half undefined. */
Val fp8_pair_of_bf16(Builder *b, Val pair, Val scale);

/* 8 bf16 values a lane, a group of 32 in four neighbouring lanes -> two words of e4m3 (V2) and the
 * group's code. */
typedef struct Quantized {
    Val bytes, code;
} Quantized;
Quantized mx_quantize_bf16(Builder *b, Val words); /* words V4; EXEC all ones */

#endif
