/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulator's core: small kernels do what they should, and each kind of mistake in one is found
 * and named.
 */
#include "asm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Pointers into the kernarg segment, in order. */
static void args(struct asm_run *r, unsigned n, ...)
{
    va_list list;
    va_start(list, n);
    for (unsigned i = 0; i < n; i++)
        ((void **)r->kernarg)[i] = va_arg(list, void *);
    va_end(list);
}

#define ID "  v_and_b32_e32 v0, 0x3ff, v0\n"
#define COPY                                                                                       \
    "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n" ID "  v_lshl_add_u32 v0, s2, 8, v0\n"                 \
    "  v_lshlrev_b32_e32 v0, 2, v0\n"                                                              \
    "  s_waitcnt lgkmcnt(0)\n"                                                                     \
    "  global_load_dword v1, v0, s[4:5]\n"                                                         \
    "  s_waitcnt vmcnt(0)\n"                                                                       \
    "  global_store_dword v0, v1, s[6:7]\n"

static void copy_kernel(void **state)
{
    (void)state;
    struct asm_run r;
    struct asm_kernel k = {.body = COPY};
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    enum { GROUPS = 16, N = GROUPS * 256 };
    uint32_t *a = emu_mem_alloc(r.device, N * 4, 4096, false);
    uint32_t *b = emu_mem_alloc(r.device, N * 4, 4096, false);
    for (uint32_t i = 0; i < N; i++)
        a[i] = i * 2654435761u;
    args(&r, 2, a, b);
    if (asm_dispatch(&r, GROUPS, 256) != EMU_OK)
        fail_msg("%s", r.result.reports[0].text);
    assert_memory_equal(a, b, N * 4);
    assert_int_equal(r.result.insts, GROUPS * 4 * 9);
    asm_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
