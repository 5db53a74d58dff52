/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with the headers that it wants in front of it. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A failure does not return, which cmocka's header leaves unsaid. */
void _fail(const char *file, int line) __attribute__((noreturn));

#ifdef __clang_analyzer__ /* nor does a failed assertion, whose function it cannot look into */
#define ANALYZED(condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail();                                                                                \
    } while (0)
static inline int analyzed_equal(intmax_t a, intmax_t b)
{
    return a == b;
}
#undef assert_true
#undef assert_non_null
#undef assert_int_equal
#define assert_true(c) ANALYZED(c)
#define assert_non_null(p) ANALYZED(p)
#define assert_int_equal(a, b) ANALYZED(analyzed_equal((a), (b)))
#endif

#endif
