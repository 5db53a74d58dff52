/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every wave of the kernel's own runs did, in order: from it follows whether a change could
 * have mattered to any of them. It is counted along the executed paths and so knows what the text
 * alone does not: which lanes were on, and which paths there are.
 */
#ifndef MUTATION_EVIDENCE_H
#define MUTATION_EVIDENCE_H

#include "listing.h"
#include "runs.h"

struct evidence;

/* Runs text, with every case, and keeps what is of interest. NULL and a line when that fails. */
struct evidence *evidence_of(struct runs *r, const struct listing *l, char *err, size_t err_size);
void evidence_free(struct evidence *e);

enum { MAX_CROSSING = 64 };

/* What a wait's mutant lets pass a hand-over, by the lines that issued it. */
struct crossing {
    int line[MAX_CROSSING], n;
    bool more; /* than are listed */
};

/* Each gives the reason why no wave of the runs could tell the mutant from the kernel, or NULL. A
 * wait for which there is none may still be shown by what is in *out. */
const char *evidence_wait(const struct evidence *e, const struct mutant *m, struct crossing *out);
const char *evidence_exec(const struct evidence *e, const struct mutant *m);
const char *evidence_poll(const struct evidence *e, const struct mutant *m);
const char *evidence_barrier(const struct evidence *e, const struct mutant *m);
/* Every wave stores the same lanes in the same order, and meets the same barriers, in both. */
bool evidence_same_stores(const struct evidence *e, const struct evidence *other);
/* Executions of a line, of all waves of all cases. */
uint64_t evidence_passes(const struct evidence *e, int line);

#endif
