/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-offs between the workgroups of a launch: (value, tag) pairs of 8 bytes in scratch.
 *
 * A pair is written by one store and polled until its tag is this launch's, so nothing is cleared
 * between launches. Larger data is stored at device scope (SC1) and announced by one flag pair.
 * Everything read that another workgroup of this launch wrote is read with SC1: the XCDs' L2 caches
 * are not coherent, and a line may hold a neighbour's older bytes.
 */
#ifndef TEMPLATES_COMMON_MAILBOX_H
#define TEMPLATES_COMMON_MAILBOX_H

#include "gen/build.h"

/* The epoch word is a kernel's first load; the tag is taken from it when first needed. */
typedef struct Mailbox {
    Val epoch; /* V1: the word as loaded */
    Val e;     /* S1: the epoch, from mailbox_tag on */
    Val tag;   /* S1: 2 e + 1 in the front, 2 e + 2 in the back; never 0 */
} Mailbox;
void mailbox_load(Builder *b, Mailbox *mb); /* issues the load */
void mailbox_tag(Builder *b, Mailbox *mb);  /* waits for it */

/* Stores (value, tag) at base (S2) + byte (V1) for the active lanes. */
void pair_put(Builder *b, const Mailbox *mb, Val base, Val byte, Val value);
/* Two pairs side by side, in one store. */
void pair_put_two(Builder *b, const Mailbox *mb, Val base, Val byte, Val first, Val second);

/* Polls until every active lane's pairs carry the tag. A load is 1 or 2 pairs: got is V2 or V4
 * (value, tag, value, tag). */
typedef struct PairLoad {
    Val got, base, byte; /* base S2, byte V1 */
    int offset;          /* bytes, below 4096 */
} PairLoad;
void poll_pairs(Builder *b, const Mailbox *mb, const PairLoad *loads, int count);

/* Waits until flags first + step * u of a region carry the tag, for all u < n; then a barrier. n
 * and first: S1 or imm; an S1 n may be 0. Called by every wave; the last one polls (it holds no
 * weights where a plan's GEMV has seven waves: a wave that polls drains every load that it has in
 * flight). */
void await_flags(Builder *b, const Mailbox *mb, const char *region, Val n, Val first, int step);

/* This workgroup's stores have reached their scope, then the flag pair (region, index): index S1 or
 * imm. A barrier inside. */
void publish(Builder *b, const Mailbox *mb, const char *region, Val index);

Val scratch_at(Builder *b, const char *region); /* S2: address of a scratch region */

#endif
