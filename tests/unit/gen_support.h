/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs for the generator's tests: built without a plan, run through the passes, compared
 * as text. */
#ifndef TESTS_UNIT_GEN_SUPPORT_H
#define TESTS_UNIT_GEN_SUPPORT_H

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/build.h"
#include "gen/pass.h"
#include "gen/print.h"

static inline Builder *begin(void)
{
    Builder *b = build_begin(NULL);
    assert_non_null(b);
    stage(b, "test");
    return b;
}

/* Ends the program, runs the passes up to and with `last`, and gives the stage's instructions, one
 * a line. */
static inline char *text_after(Builder *b, int (*const *passes)(struct program *, char *, size_t))
{
    char err[512] = "";
    struct program *p = build_end(b, err, sizeof err);
    if (!p)
        fail_msg("build: %s", err);
    for (int i = 0; passes[i]; i++)
        if (passes[i](p, err, sizeof err))
            fail_msg("pass %d: %s", i, err);
    char *text = program_print(p, err, sizeof err);
    assert_non_null(text);
    program_free(p);
    char *from = strstr(text, "; ---- test\n");
    assert_non_null(from);
    from += strlen("; ---- test\n");
    char *to = strstr(from, ".size ");
    assert_non_null(to);
    *to = '\0';
    memmove(text, from, strlen(from) + 1);
    return text;
}

static inline char *text_of(Builder *b)
{
    static int (*const passes[])(struct program *, char *, size_t) = {
        pass_dead, pass_registers, pass_waits, pass_hazards, NULL};
    return text_after(b, passes);
}

/* The instruction's line that comes right before the first one starting with `name`, without blanks
 * around. */
static inline void line_before(const char *text, const char *name, char *out, size_t size)
{
    const char *previous = "", *line = text;
    while (*line) {
        const char *start = line + strspn(line, " ");
        if (strncmp(start, name, strlen(name)) == 0)
            break;
        previous = start;
        line = strchr(line, '\n');
        if (!line)
            fail_msg("no %s in:\n%s", name, text);
        line++;
    }
    if (!*line)
        fail_msg("no %s in:\n%s", name, text);
    snprintf(out, size, "%.*s", (int)strcspn(previous, "\n"), previous);
}

static inline void assert_before(const char *text, const char *name, const char *expected)
{
    char got[200];
    line_before(text, name, got, sizeof got);
    if (strcmp(got, expected) != 0)
        fail_msg("before %s: expected '%s', got '%s' in:\n%s", name, expected, got, text);
}

/* The parts (NULL ends them) stand in the text one after the other. */
static inline void assert_in_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts; parts++) {
        at = strstr(at, *parts);
        if (!at)
            fail_msg("%s is missing in:\n%s", *parts, text);
        at++;
    }
}

static inline int count_of(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* The builder's error for a program that must not build. */
static inline void assert_build_error(Builder *b, const char *part_of_message)
{
    char err[512] = "";
    struct program *p = build_end(b, err, sizeof err);
    if (p)
        fail_msg("built; expected an error with '%s'", part_of_message);
    if (!strstr(err, part_of_message))
        fail_msg("error '%s' lacks '%s'", err, part_of_message);
}

#endif
