/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's schedule: a launch whose waves poll goes on, a dead one is found to be dead, and
 * one that never ends can be stopped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "tests/support/test.h"

enum { GROUPS = 40, BODY = 8192 };

/* Workgroup g stores flag g, then polls the flags of all in one loop: a load of its own for each,
 * with other instructions among them, so that the loop's loads lie at any distance. The workgroup
 * that the emulator starts last is among those waited for. `silent`: a workgroup that stores
 * nothing, or -1. */
static void all_see_all(char *body, int silent)
{
    int n = snprintf(body, BODY,
                     "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
                     "  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v2, 1\n  s_lshl_b32 s6, s2, 7\n"
                     "  v_mov_b32_e32 v3, s6\n  s_cmp_eq_u32 s2, %d\n  s_cbranch_scc1 poll\n"
                     "  global_store_dword v3, v2, s[4:5] sc1\npoll:\n  s_mov_b32 s7, 1\n",
                     silent);
    for (int g = 0; g < GROUPS; g++) {
        if (g % 20 == 0) /* the offset of a load ends at 4095 */
            n += snprintf(body + n, BODY - (size_t)n, "  v_mov_b32_e32 v1, 0x%x\n", g * 128);
        n += snprintf(body + n, BODY - (size_t)n,
                      "  global_load_dword v4, v1, s[4:5] offset:%d sc1\n  s_waitcnt vmcnt(0)\n"
                      "  v_readfirstlane_b32 s8, v4\n  s_and_b32 s7, s7, s8\n%s",
                      g % 20 * 128, g ? g % 3 ? "" : "  s_nop 0\n" : "  s_sleep 1\n");
    }
    snprintf(body + n, BODY - (size_t)n, "  s_cmp_eq_u32 s7, 0\n  s_cbranch_scc1 poll\n");
}

static enum emu_status launch(struct asm_run *r, const char *body, uint64_t seed)
{
    struct asm_kernel k = {.body = body};
    struct emu_config config = {.checks = EMU_CHECK_ALL, .seed = seed, .max_insts = 10000000};
    assert_int_equal(asm_open(r, &k, &config), 0);
    uint32_t *flags = emu_mem_alloc(r->device, GROUPS * 128, 4096, false);
    emu_mem_fill(r->device, flags, 0, GROUPS * 32);
    memcpy(r->kernarg, &flags, sizeof flags);
    return asm_dispatch(r, GROUPS, 64);
}

static void a_loop_of_many_loads_polls(void **state)
{
    (void)state;
    char body[BODY];
    all_see_all(body, -1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct asm_run r;
        if (launch(&r, body, seed) != EMU_OK)
            fail_msg("%s", r.result.reports[0].text);
        assert_true(r.result.insts < 500000); /* some rounds of polling, not thousands */
        asm_close(&r);
    }
}

static void a_flag_that_nobody_sets_is_a_deadlock(void **state)
{
    (void)state;
    char body[BODY];
    all_see_all(body, 7);
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct asm_run r;
        assert_int_equal(launch(&r, body, seed), EMU_DEADLOCK);
        assert_string_equal(asm_finding(&r), "deadlock");
        asm_close(&r);
    }
}

static bool third_time(const void *arg)
{
    return ++**(int *const *)arg == 3;
}

static void a_dispatch_is_stopped_when_asked(void **state)
{
    (void)state;
    int asked = 0, *counter = &asked;
    struct asm_run r;
    struct asm_kernel k = {.body = "  s_mov_b32 s3, 0\nagain:\n  s_add_u32 s3, s3, 1\n"
                                   "  s_branch again\n"};
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    struct emu_dispatch d = {
        .kernel = r.kernel->handle,
        .grid = {64, 1, 1},
        .group = {64, 1, 1},
        .kernarg = r.kernarg,
        .stopped = third_time,
        .stopped_arg = &counter
    };
    assert_int_equal(emu_dispatch(r.device, &d, &r.result), EMU_LIMIT);
    assert_string_equal(asm_finding(&r), "stopped");
    assert_int_equal(asked, 3);
    asm_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_of_many_loads_polls),
        cmocka_unit_test(a_flag_that_nobody_sets_is_a_deadlock),
        cmocka_unit_test(a_dispatch_is_stopped_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
