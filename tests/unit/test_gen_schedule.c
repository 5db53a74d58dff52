/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling: waiting is filled with work that is there, and nothing else moves. */
#include "gen_support.h"

#include "gen/isa.h"

static char *scheduled(Builder *b)
{
    static int (*const passes[])(struct program *, char *, size_t) = {
        pass_dead, pass_schedule, pass_registers, pass_waits, pass_hazards, NULL};
    return text_after(b, passes);
}

static void out(Builder *b, Val v, int at)
{
    emit_void(b, ds_write_b32, b->tid, v, off(at));
}

static void matrix_results_are_covered_by_work(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = fill_v(b, 4, 1), c = fill_v(b, 4, 0), other[10];
    barrier(b);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    Val sum = emit(b, v_add_f32, part(c, 0, 1), b->tid);
    for (int i = 0; i < 10; i++)
        other[i] = emit(b, v_lshlrev_b32, imm(i), b->lane);
    out(b, sum, 0);
    for (int i = 0; i < 10; i++)
        out(b, other[i], 4 + 4 * i);
    kernel_end(b);
    char *text = scheduled(b);
    char *from = strstr(text, "v_mfma");
    assert_int_equal(count_of(from, "s_nop"), 0);
    assert_in_order(from, (const char *const[]){"v_lshlrev", "v_lshlrev", "v_add_f32", NULL});
    free(text);
}

static void work_moves_in_front_of_a_loads_use(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    barrier(b);
    Val x = emit(b, global_load_dword, b->tid, base);
    Val y = emit(b, v_add_u32, x, b->tid);
    Val z = emit(b, v_sub_u32, b->lane, b->tid);
    out(b, y, 0);
    out(b, z, 4);
    kernel_end(b);
    char *text = scheduled(b);
    assert_in_order(text, (const char *const[]){"global_load_dword", "v_sub_u32",
                                                "s_waitcnt vmcnt(0)", "v_add_u32", NULL});
    free(text);
}

static void memory_keeps_its_order(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val x = emit(b, global_load_dword, b->tid, base, off(0));
    emit_void(b, global_store_dword, b->tid, emit(b, v_add_u32, x, b->tid), base,
              off(4)); /* waits for x */
    Val y = emit(b, global_load_dword, b->tid, base, off(8));
    out(b, b->lane, 100);
    emit_void(b, buffer_inv, SC1);
    Val z = emit(b, global_load_dword, b->tid, base, off(12));
    out(b, emit(b, v_xor_b32, y, z), 0);
    barrier(b);
    out(b, b->tid, 200);
    kernel_end(b);
    char *text = scheduled(b);
    assert_in_order(text, (const char *const[]){"s_load_dwordx2", "global_load_dword ",
                                                "global_store_dword", "offset:8", "offset:100",
                                                "buffer_inv", "offset:12", "ds_write_b32",
                                                "s_barrier", "offset:200", NULL});
    free(text);
}

static void masked_code_stays_masked(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = fill_v(b, 4, 1), c = fill_v(b, 4, 0);
    emit_to(b, VCC, v_cmp_gt_u32, imm(32), b->lane);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    Val sum = emit(b, v_add_f32, part(c, 0, 1), b->tid); /* would wait: what could go first? */
    Lanes l = lanes_if(b, VCC, false);
    Val masked = emit(b, v_lshlrev_b32, imm(3), b->lane);
    out(b, masked, 0);
    lanes_end(b, &l);
    out(b, emit(b, v_lshrrev_b32, imm(3), b->lane), 4);
    out(b, sum, 8);
    kernel_end(b);
    char *text = scheduled(b);
    assert_in_order(text, (const char *const[]){"v_add_f32", "s_and_saveexec_b64", "v_lshlrev_b32",
                                                "s_mov_b64 exec", "v_lshrrev_b32", NULL});
    free(text);
}

static void carries_are_not_torn_apart(void **state)
{
    (void)state;
    Builder *b = begin();
    Val n = emit(b, s_mov_b32, imm(3));
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val lo = emit(b, s_add_u32, part(base, 0, 1), n); /* waits for SMEM */
    Val hi = emit(b, s_addc_u32, part(base, 1, 1), imm(0));
    Val other = emit(b, s_add_u32, n, imm(1)); /* ready at once, but writes SCC */
    Val last = emit(b, s_addc_u32, n, imm(0));
    for (int i = 0; i < 4; i++)
        out(b, mov_v(b, (Val[]){lo, hi, other, last}[i]), 4 * i);
    kernel_end(b);
    char *text = scheduled(b);
    assert_in_order(
        text, (const char *const[]){"s_add_u32", "s_addc_u32", "s_add_u32", "s_addc_u32", NULL});
    /* and each pair stays a pair */
    char *first = strstr(text, "s_add_u32");
    assert_int_equal(strncmp(strchr(first, '\n') + 1, "  s_addc_u32", 12), 0);
    free(text);
}

static void pressure_holds_work_back(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val held[200];
    for (int i = 0; i < 200; i++)
        held[i] = emit(b, v_add_u32, b->tid, imm(i % 60));
    barrier(b);
    Val x = emit(b, global_load_dword, b->tid, base);
    out(b, x, 0);
    for (int i = 0; i < 90; i++) { /* each could go before x is there; all of them would not fit */
        Val t = emit(b, v_lshlrev_b32, imm(i % 32), b->lane);
        out(b, t, 4);
    }
    for (int i = 0; i < 200; i++)
        out(b, held[i], 8);
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_non_null(p);
    assert_int_equal(pass_schedule(p, err, sizeof err), 0);
    assert_int_equal(pass_registers(p, err, sizeof err), 0);
    assert_in_range(p->vgprs, 200, 215);
    program_free(p);
}

static void a_schedule_that_does_not_fit_is_taken_back(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val held[180], wide[15], late[30];
    for (int i = 0; i < 180; i++)
        held[i] = emit(b, v_add_u32, b->tid, imm(i % 60));
    barrier(b);
    Val a = fill_v(b, 4, 0);
    emit_to(b, a, global_load_dwordx4, b->tid, base);
    for (int i = 0; i < 15; i++) /* 60 dwords, all waiting for the load */
        wide[i] = emit(b, v_mfma_f32_16x16x32_bf16, a, a, f32(0));
    for (int i = 14; i >= 0; i--) /* the last one first: all are alive at once */
        emit_void(b, ds_write_b128, b->tid, wide[i], off(16 * i));
    for (int i = 0; i < 30; i++) /* ready meanwhile, but there is no room for them beside */
        late[i] = emit(b, v_lshlrev_b32, imm(i), b->lane);
    for (int i = 0; i < 30; i++)
        out(b, late[i], 4 * i);
    for (int i = 0; i < 180; i++)
        out(b, held[i], 8);
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_non_null(p);
    if (program_passes(p, err, sizeof err))
        fail_msg("%s", err);
    assert_in_range(p->vgprs, 240, 256);
    program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_results_are_covered_by_work),
        cmocka_unit_test(work_moves_in_front_of_a_loads_use),
        cmocka_unit_test(memory_keeps_its_order),
        cmocka_unit_test(masked_code_stays_masked),
        cmocka_unit_test(carries_are_not_torn_apart),
        cmocka_unit_test(pressure_holds_work_back),
        cmocka_unit_test(a_schedule_that_does_not_fit_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
