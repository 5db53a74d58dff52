/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of matrix products that are rounded once, at their end.
 *
 * An MFMA rounds to f32, and a chain of them rounds at every step: a sum is then off by an ulp or
 * two, which moves a bf16 or an e4m3 made of it across a rounding tie now and then. One such code
 * is a sixteenth of its value, and the quantized GEMVs behind it spread it over a token's whole
 * row. So each product is multiplied twice, the second time onto the negated first result, which
 * leaves what the first one's rounding dropped. The first results are added up in f64; the rests,
 * at most 2^-24 of them, in f32.
 *
 * That is all of the error where an MFMA rounds its sum once. Hardware that rounds parts of K on
 * the way keeps those errors of a single MFMA: then it is the chain's that go.
 *
 * A sum past f32's range is infinite, as a chain's; the rest of an infinite one does not count.
 */
#ifndef TEMPLATES_COMMON_PRODUCTS_H
#define TEMPLATES_COMMON_PRODUCTS_H

#include "gen/build.h"

/* A lane's four elements of a 16 x 16 sum. */
typedef struct Products {
    Val sums;   /* V8: four f64 */
    Val rest;   /* V4: f32 */
    bool begun; /* there is a product in it */
} Products;

/* Registers of an empty sum: made ahead of the branches that add to it. */
Products products_begin(Builder *b);
/* Adds a (16 x 32) times x (32 x 16), bf16 V4 both. */
void products_add_bf16(Builder *b, Products *p, Val a, Val x);
/* Adds a (16 x 128) times x (128 x 16), e4m3 V8, a code a lane for each (V1). */
void products_add_mx(Builder *b, Products *p, Val a, Val x, Val a_code, Val x_code);
/* The sums, f64: in p->sums. Nothing is added afterwards. */
void products_end(Builder *b, Products *p);
/* As f32, V4. */
Val products_f32(Builder *b, Products *p);

#endif
