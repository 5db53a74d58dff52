/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static reading of a code object: each rule shows in a sample that breaks it and is quiet in
 * the same sample put right; of each s_waitcnt of a kernel, leaving it out is found; the program's
 * exit status says which it was.
 */
#include "asm.h"
#include "lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/shell.h"
#include "tests/support/test.h"

struct seen {
    int count;
    const char *want;
    bool hit, certain;
    char first[256];
};

static void found(void *data, const struct emu_kernel *kernel, const struct emu_lint_finding *f)
{
    struct seen *s = data;
    assert_string_equal(kernel->name, "k");
    assert_true(f->text[0] && f->inst[0]);
    if (s->count++ == 0)
        snprintf(s->first, sizeof s->first, "%s: %s", f->rule, f->inst);
    if (s->want && strcmp(f->rule, s->want) == 0) {
        s->hit = true;
        s->certain |= f->certain;
    }
}

static struct seen lint(const char *body, const char *arch, const char *want)
{
    struct asm_kernel k = {.body = body, .arch = arch, .lds = 4096};
    struct asm_run r;
    struct seen s = {.want = want};
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    int n = emu_lint(r.object, found, &s);
    assert_int_equal(n, s.count);
    asm_close(&r);
    return s;
}

static void expect(const char *body, const char *arch, const char *rule)
{
    struct seen s = lint(body, arch, rule);
    if (!s.hit)
        fail_msg("%s is not found in\n%s(first finding: %s)", rule, body,
                 s.count ? s.first : "none");
}

static void expect_quiet(const char *body, const char *arch)
{
    struct seen s = lint(body, arch, NULL);
    if (s.count)
        fail_msg("%s is found in\n%s", s.first, body);
}

struct row {
    const char *rule, *producer, *consumer;
    unsigned states; /* that must lie between */
};

#define ACC "  v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[10:11], v[4:7]\n"
static const struct row rows[] = {
    {"hazard-valu-dpp",       "  v_mov_b32_e32 v3, v0\n",
     "  v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf\n",                                                                                               2},
    {"hazard-valu-readlane",  "  v_mov_b32_e32 v3, v0\n",                                        "  v_readlane_b32 s10, v3, 1\n",                                   1},
    {"hazard-sgpr-valu",      "  v_readfirstlane_b32 s10, v0\n",                                 "  v_add_u32_e32 v2, s10, v0\n",                                   2},
    {"hazard-sgpr-vmem",      "  v_readfirstlane_b32 s4, v0\n",
     "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n",                                                                                                  5},
    {"hazard-sgpr-mask",      "  v_cmp_eq_u32_e32 vcc, v0, v1\n",
     "  v_cndmask_b32_e32 v2, v0, v1, vcc\n",                                                                                                                       2},
    {"hazard-sgpr-lane",      "  v_readfirstlane_b32 s10, v0\n",                                 "  v_readlane_b32 s11, v1, s10\n",                                 4},
    {"hazard-trans-valu",     "  v_exp_f32_e32 v2, v0\n",                                        "  v_add_f32_e32 v3, v2, v2\n",                                    1},
    {"hazard-valu-permswap",  "  v_mov_b32_e32 v3, 0\n",                                         "  v_permlane16_swap_b32 v2, v3\n",                                2},
    {"hazard-partial-write",  "  v_cvt_pk_fp8_f32 v2, v0, v0 op_sel:[0,0,1]\n",
     "  v_mov_b32_e32 v3, v2\n",                                                                                                                                    1},
    {"hazard-dot",            "  v_dot2c_f32_f16 v2, v0, v0\n",                                  "  v_mov_b32_e32 v3, v2\n",                                        3},
    {"hazard-m0",             "  s_mov_b32 m0, 0\n",                                             "  ds_write_addtid_b32 v0\n",                                      1},
    {"hazard-setreg",         "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n",
     "  s_getreg_b32 s10, hwreg(HW_REG_MODE)\n",                                                                                                                    2},
    {"hazard-store-data",     "  global_store_dwordx4 v8, v[4:7], s[8:9]\n",                     "  v_mov_b32_e32 v5, 1\n",
     2                                                                                                                                                               },
    {"hazard-exec-lane",      "  v_cmpx_le_u32_e32 vcc, 0, v0\n",                                "  v_readlane_b32 s11, v1, 0\n",                                   4},
    {"hazard-exec-dpp",       "  v_cmpx_le_u32_e32 vcc, 0, v0\n",
     "  v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf\n",                                                                                               5},
    {"hazard-exec-vmem",      "  v_cmpx_le_u32_e32 vcc, 0, v0\n",
     "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n",                                                                                                  5},
    {"hazard-mfma-memory",    ACC,                                                               "  global_store_dword v1, v4, s[8:9]\n",                           8},
    {"hazard-mfma-valu",      ACC,                                                               "  v_mov_b32_e32 v2, v5\n",                                        8},
    {"hazard-mfma-ab",        ACC,                                                               "  v_mfma_f32_16x16x16_bf16 v[12:15], v[8:9], v[4:5], v[12:15]\n", 8},
    {"hazard-mfma-c-overlap", ACC,
     "  v_mfma_f32_16x16x16_bf16 v[12:15], v[8:9], v[10:11], v[6:9]\n",                                                                                             6},
    {"hazard-mfma-c-war",     "  v_mfma_f32_16x16x16_bf16 v[12:15], v[8:9], v[10:11], v[4:7]\n",
     "  v_mov_b32_e32 v5, 0\n",                                                                                                                                     3},
};

static void nops(char *at, unsigned n)
{
    *at = 0;
    while (n--)
        at += sprintf(at, "  s_nop 0\n");
}

/* Found with one wait state too few, straight on and past a branch; quiet with enough. */
static void every_hazard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        char between[512], body[2048];
        nops(between, r->states - 1);
        snprintf(body, sizeof body, "%s%s%s", r->producer, between, r->consumer);
        expect(body, NULL, r->rule);
        if (r->states > 1) {
            nops(between, r->states - 2); /* the branch itself is one */
            snprintf(body, sizeof body,
                     "  s_cmp_eq_u32 s2, 0\n%s  s_cbranch_scc1 there\n  s_nop 15\n  s_nop 15\n"
                     "there:\n%s%s",
                     r->producer, between, r->consumer);
            struct seen s = lint(body, NULL, r->rule);
            if (!s.hit || s.certain)
                fail_msg("%s past a branch: %s", r->rule, s.hit ? "not on every path" : "missed");
        }
        nops(between, r->states);
        snprintf(body, sizeof body, "%s%s%s", r->producer, between, r->consumer);
        expect_quiet(body, NULL);
    }
}

/* gfx942 counts one state less behind a matrix instruction of four passes. */
static void targets_differ(void **state)
{
    (void)state;
    char between[256], body[1024];
    nops(between, 7);
    snprintf(body, sizeof body, ACC "%s  v_mov_b32_e32 v2, v5\n", between);
    expect_quiet(body, "gfx942");
    expect(body, "gfx950", "hazard-mfma-valu");
}

/* A kernel whose waits are all needed. */
static const char *const waits[] = {
    "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n",
    "  v_lshlrev_b32_e32 v1, 2, v0\n",
    "  s_waitcnt lgkmcnt(0)\n",
    "  global_load_dword v2, v1, s[4:5]\n",
    "  global_load_dword v3, v1, s[4:5] offset:64\n",
    "  s_waitcnt vmcnt(1)\n",
    "  ds_write_b32 v1, v2\n",
    "  s_waitcnt vmcnt(0)\n",
    "  v_add_u32_e32 v3, 1, v3\n",
    "  s_waitcnt lgkmcnt(0)\n",
    "  s_barrier\n",
    "  ds_read_b32 v4, v1\n",
    "  ds_read_b32 v5, v1 offset:4\n",
    "  s_waitcnt lgkmcnt(1)\n",
    "  v_add_u32_e32 v3, v3, v4\n",
    "  s_waitcnt lgkmcnt(0)\n",
    "  v_add_u32_e32 v3, v3, v5\n",
    "loop:\n",
    "  s_sub_u32 s2, s2, 1\n",
    "  v_mov_b32_e32 v6, s6\n",
    "  v_mov_b32_e32 v7, s7\n",
    "  flat_load_dword v8, v[6:7]\n",
    "  s_cmp_lg_u32 s2, 0\n",
    "  s_waitcnt vmcnt(0) lgkmcnt(0)\n",
    "  v_add_u32_e32 v3, v3, v8\n",
    "  s_cbranch_scc1 loop\n",
    "  global_store_dword v1, v3, s[6:7]\n",
};
enum { LINES = sizeof waits / sizeof waits[0] };

enum { BODY = 4096 };

static void without(char body[BODY], int line, const char *instead)
{
    int n = 0;
    for (int i = 0; i < LINES; i++)
        n += snprintf(body + n, (size_t)(BODY - n), "%s", i == line ? instead : waits[i]);
    assert_true(n < BODY);
}

static void every_wait(void **state)
{
    (void)state;
    char body[BODY];
    without(body, -1, "");
    expect_quiet(body, NULL);
    int mutants = 0;
    for (int i = 0; i < LINES; i++) {
        if (!strstr(waits[i], "s_waitcnt"))
            continue;
        without(body, i, "");
        struct seen s = lint(body, NULL, NULL);
        if (!s.count)
            fail_msg("nothing is found without line %d: %s", i, waits[i]);
        mutants++;
    }
    assert_int_equal(mutants, 7);
    /* one counter of two, and counts that are one too many */
    without(body, 23, "  s_waitcnt vmcnt(0)\n");
    assert_true(lint(body, NULL, NULL).count > 0);
    without(body, 23, "  s_waitcnt lgkmcnt(0)\n");
    assert_true(lint(body, NULL, NULL).count > 0);
    without(body, 5, "  s_waitcnt vmcnt(2)\n");
    expect(body, NULL, "vmcnt-read");
    without(body, 13, "  s_waitcnt lgkmcnt(2)\n");
    expect(body, NULL, "lgkmcnt-read");
    without(body, 2, "  s_waitcnt lgkmcnt(1)\n"); /* scalar loads come back in any order */
    expect(body, NULL, "lgkmcnt-read");
    without(body, 9, "");
    expect(body, NULL, "lgkmcnt-barrier");
}

/* ---- the program */

static int run_lint(const char *path)
{
    const char *bin = getenv("COGEN_BIN");
    char command[1024];
    if (!bin)
        skip();
    snprintf(command, sizeof command, "%s/cogen lint %s >/dev/null 2>&1", bin, path);
    return shell(command);
}

static int lint_bytes(const void *bytes, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    char path[256];
    snprintf(path, sizeof path, "%s/cogen-lint-XXXXXX", tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    int status = run_lint(path);
    unlink(path);
    return status;
}

static void exit_status(void **state)
{
    (void)state;
    static const char *const archs[] = {"gfx950", "gfx942"};
    for (int i = 0; i < 2; i++) {
        size_t n;
        char body[BODY];
        without(body, -1, "");
        struct asm_kernel good = {.body = body, .arch = archs[i], .lds = 4096};
        void *bytes = asm_object(&good, &n);
        assert_non_null(bytes);
        assert_int_equal(lint_bytes(bytes, n), 0);
        assert_int_equal(lint_bytes(bytes, n / 2), 2);
        free(bytes);
        without(body, 5, "");
        bytes = asm_object(&good, &n);
        assert_non_null(bytes);
        assert_int_equal(lint_bytes(bytes, n), 1);
        free(bytes);
    }
    assert_int_equal(lint_bytes("this is text", 12), 2);
    assert_int_equal(run_lint("/nonexistent/kernel.co"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hazard),
        cmocka_unit_test(targets_differ),
        cmocka_unit_test(every_wait),
        cmocka_unit_test(exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
