/* SPDX-License-Identifier: Apache-2.0 */
/* A string that grows. */
#ifndef GEN_TEXT_H
#define GEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* terminated; NULL when empty */
    size_t n, cap;
    bool failed; /* out of memory: later adds do nothing */
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Pads the current line with blanks to a column. */
void text_column(struct text *t, size_t column);

#endif
