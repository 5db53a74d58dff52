/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions to a line of assembly. */
#ifndef MUTATION_TEXT_MATCH_H
#define MUTATION_TEXT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 2, NO_LIMIT = 1000 };
static const char *const counter_names[COUNTERS] = {"vmcnt", "lgkmcnt"};
static const int counter_max[COUNTERS] = {63, 15};

static inline bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* text is `op` alone, or followed by operands. */
static inline bool is_op(const char *text, const char *op)
{
    size_t n = strlen(op);
    return strncmp(text, op, n) == 0 && (text[n] == '\0' || text[n] == ' ');
}

/* Counts of an s_waitcnt, -1 where a counter is not in it. */
static inline void wait_counts(const char *text, int counts[COUNTERS])
{
    for (int c = 0; c < COUNTERS; c++) {
        char find[16];
        snprintf(find, sizeof find, " %s(", counter_names[c]);
        const char *at = strstr(text, find);
        counts[c] = at ? (int)strtol(at + strlen(find), NULL, 10) : -1;
    }
}

/* "op a, b, c" into its parts; the number of operands, at most 4. */
static inline int split_operands(const char *text, char *op, size_t size, char operand[4][40])
{
    size_t n = strcspn(text, " ");
    snprintf(op, size, "%.*s", (int)n, text);
    text += n;
    int count = 0;
    while (*text && count < 4) {
        while (*text == ' ' || *text == ',')
            text++;
        size_t part = strcspn(text, ",");
        snprintf(operand[count++], 40, "%.*s", (int)part, text);
        text += part;
    }
    return count;
}

#endif
