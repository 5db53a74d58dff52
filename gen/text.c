/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || t->failed) {
        t->failed = true;
        return;
    }
    if (t->n + (size_t)n + 1 > t->cap) {
        size_t cap = (t->n + (size_t)n + 1) * 2;
        char *data = realloc(t->data, cap);
        if (!data) {
            t->failed = true;
            return;
        }
        t->data = data;
        t->cap = cap;
    }
    va_start(args, format);
    vsnprintf(t->data + t->n, t->cap - t->n, format, args);
    va_end(args);
    t->n += (size_t)n;
}

void text_column(struct text *t, size_t column)
{
    size_t start = t->n;
    while (start > 0 && t->data[start - 1] != '\n')
        start--;
    size_t at = t->n - start;
    text_add(t, "%*s", at < column ? (int)(column - at) : 1, "");
}
