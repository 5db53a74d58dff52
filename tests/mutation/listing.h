/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generated kernel's assembly text as instructions, what can be taken out of it one at a time,
 * and what the text alone shows of such a change. It knows nothing of the generator's own data.
 */
#ifndef MUTATION_LISTING_H
#define MUTATION_LISTING_H

#include <stdbool.h>
#include <stddef.h>

enum { LABEL_MAX = 64, LINE_MAX_TEXT = 160, MAX_NEXT = 2 };

struct line {
    const char *start;        /* in the text */
    size_t size;              /* without the line's end */
    int number;               /* in the file, from 1 */
    char text[LINE_MAX_TEXT]; /* of an instruction: without indent and comment */
    char label[LABEL_MAX];    /* of a label line */
    bool inst;
    int next[MAX_NEXT]; /* where control may go, indices of lines; -1: nowhere */
};

struct listing {
    const char *text;
    struct line *lines;
    int n;
};

/* Reads a kernel's text, which outlives the listing. 0, or -1: out of memory, or a branch to a
 * label that is not there. */
int listing_read(const char *text, struct listing *out);
void listing_free(struct listing *l);

enum mutant_kind {
    MUTANT_WAIT,         /* a whole s_waitcnt */
    MUTANT_WAIT_COUNTER, /* one of its counters */
    MUTANT_WAIT_WEAKER,  /* a counter one higher */
    MUTANT_NOP,          /* an s_nop */
    MUTANT_NOP_SHORTER,  /* one state less */
    MUTANT_BARRIER,
    MUTANT_SCOPE_LOAD,  /* a load's sc1 */
    MUTANT_SCOPE_STORE, /* a store's sc1 */
    MUTANT_STORE,       /* a store that other workgroups wait for */
    MUTANT_POLL,        /* the branch back of a loop that polls */
    MUTANT_CLAMP,       /* a bound of an index */
    MUTANT_EXEC,        /* a write of EXEC that brings lanes back, or changes over to the others */
    MUTANT_KINDS,
};
extern const char *const mutant_kind_names[MUTANT_KINDS];

struct mutant {
    enum mutant_kind kind;
    int line;                        /* index in the listing */
    char replacement[LINE_MAX_TEXT]; /* empty: the line goes */
    int counter;                     /* of a wait: 0 vmcnt, 1 lgkmcnt, -1 all */
};

/* All mutants of a listing in order of line; the caller frees *out. Their number, or -1. */
int mutants_list(const struct listing *l, struct mutant **out);
/* The whole text with the change made; the caller frees it. NULL: out of memory. */
char *mutant_text(const struct listing *l, const struct mutant *m);

/* The text with the wait and the barrier at lines `wait` and the next instruction moved ahead of
 * line `to`, which control reaches them from without a branch. The caller frees it; NULL: they are
 * not so, or out of memory. */
char *moved_barrier_text(const struct listing *l, int wait, int to);

/* What the text shows. Each gives a reason why no execution differs, or NULL when it shows none. */

/* A wait that never waits, or that a later one stands in for before anything that other waves or
 * workgroups could see. Registers in flight are not looked at: that is the lint's part. */
const char *shown_wait(const struct listing *l, const struct mutant *m);
/* EXEC is written anew before any instruction that depends on it. */
const char *shown_exec(const struct listing *l, const struct mutant *m);
/* Between this barrier and the ones around it there is nothing on one side that it orders. */
const char *shown_barrier(const struct listing *l, const struct mutant *m);

#endif
