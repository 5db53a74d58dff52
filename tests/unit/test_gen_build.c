/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: what it refuses, what it makes legal, how control flow comes out. */
#include "gen_support.h"

static Val ptr(Builder *b)
{
    return emit(b, s_load_dwordx2, b->kernarg, imm(0));
}

/* Stores v so that it is used, and ends. */
static void use(Builder *b, Val v)
{
    for (int i = 0; i < v.width; i++)
        emit_void(b, ds_write_b32, b->tid, part(v, i, 1), off(4 * i));
}

/* ---- refusals */

static void a_wrong_width_names_the_operand(void **state)
{
    (void)state;
    Builder *b = begin();
    emit(b, v_add_f32, vreg(b, 2), b->tid);
    assert_build_error(b, "v_add_f32: operand 2 is V2; accepted: V1 or S1 or float constant");
}

static void the_error_names_file_and_line(void **state)
{
    (void)state;
    Builder *b = begin();
    char place_of_error[64];
    emit(b, v_add_u32, b->tid, OFF),
        snprintf(place_of_error, sizeof place_of_error,
                 "test_gen_build.c:%d: v_add_u32: operand 3 is OFF", __LINE__ - 2);
    assert_build_error(b, place_of_error);
}

static void the_builders_own_errors_name_the_last_line(void **state)
{
    (void)state;
    Builder *b = begin();
    char expected[64];
    emit(b, v_add_u32, b->tid, b->lane),
        snprintf(expected, sizeof expected, "test_gen_build.c:%d: the plan has no argument 'nope'",
                 __LINE__ - 2);
    arg(b, "nope");
    assert_build_error(b, expected);
}

static void the_first_error_stands(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = emit(b, v_add_f32, imm(3), b->tid);
    emit(b, v_add_u32, part(v, 0, 1), OFF);
    assert_false(build_ok(b));
    assert_build_error(b, "v_add_f32: operand 2 is integer 3: an integer is a bit pattern here");
}

static void ranges_are_checked(void **state)
{
    (void)state;
    Builder *b = begin();
    emit(b, buffer_load_dword, b->tid, emit(b, s_load_dwordx4, b->kernarg, imm(0)), imm(0),
         off(4096));
    assert_build_error(b, "off is 4096; accepted: 0 .. 4095");
    b = begin();
    emit(b, global_load_dword, b->tid, ptr(b), off(-4097));
    assert_build_error(b, "accepted: -4096 .. 4095");
    b = begin();
    emit(b, v_add_f32, b->tid, b->tid, row_shr(16));
    assert_build_error(b, "a row shift is 1 .. 15");
    b = begin();
    emit(b, v_add_f32, b->tid, b->tid, off(4));
    assert_build_error(b, "off does not go with this instruction");
}

static void tuples_start_even(void **state)
{
    (void)state;
    Builder *b = begin();
    Val four = fill_v(b, 4, 0);
    emit_void(b, ds_write_b64, b->tid, part(four, 1, 2));
    assert_build_error(b, "a VGPR tuple starts at an even dword");
    b = begin();
    emit(b, s_load_dword, part(emit(b, s_load_dwordx4, b->kernarg, imm(0)), 1, 2), imm(0));
    assert_build_error(b, "an SGPR pair starts at an even dword");
    b = begin();
    use(b, part(fill_v(b, 2, 0), 1, 2));
    assert_build_error(b, "reaches past its register");
}

static void waits_and_exec_are_not_for_templates(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_void(b, s_waitcnt, imm(0));
    assert_build_error(b, "s_waitcnt is written by the passes");
    b = begin();
    emit_to(b, EXEC, s_mov_b64, imm(0));
    assert_build_error(b, "EXEC is written by lanes_if");
    b = begin();
    Lanes l = lanes_if(b, VCC, false);
    barrier(b);
    lanes_end(b, &l);
    assert_build_error(b, "a barrier inside lanes_if");
}

static void open_ends_are_errors(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_to(b, VCC, v_cmp_eq_u32, imm(0), b->tid);
    lanes_if(b, VCC, true);
    kernel_end(b);
    assert_build_error(b, "still open");
    b = begin();
    emit_void(b, s_sleep, imm(1));
    assert_build_error(b, "kernel_end is missing");
    b = begin();
    jump(b, label(b, "nowhere"));
    kernel_end(b);
    assert_build_error(b, "label nowhere is never placed");
}

/* ---- legalisation */

static void literals_in_vop3_go_through_a_move(void **state)
{
    (void)state;
    Builder *b = begin();
    use(b, emit(b, v_fma_f32, b->tid, b->lane, f32(3.0f)));
    use(b, emit(b, v_fma_f32, b->tid, f32(3.0f), b->wg));
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, "s_mov_b32 s"));
    assert_non_null(strstr(text, "v_mov_b32_e32 v")); /* beside an SGPR: a VGPR holds it */
    assert_int_equal(count_of(text, "0x40400000"), 2);
    assert_null(strstr(text, "v_fma_f32 v0, 0x"));
    free(text);
}

static void commutable_sources_swap(void **state)
{
    (void)state;
    Builder *b = begin();
    use(b, emit(b, v_sub_u32, b->tid, imm(1000)));
    use(b, emit(b, v_add_u32, b->tid, b->wg));
    emit_to(b, VCC, v_cmp_lt_u32, b->tid, imm(1000));
    use(b, emit(b, v_cndmask_b32, b->tid, b->lane, VCC));
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, "v_subrev_u32_e32 v"));
    assert_non_null(strstr(text, ", 0x3e8, v"));
    assert_non_null(strstr(text, "v_add_u32_e32 v"));
    assert_non_null(strstr(text, "v_cmp_gt_u32_e32 vcc, 0x3e8, v"));
    assert_non_null(strstr(text, "v_cndmask_b32_e32 v"));
    free(text);
}

static void one_scalar_register_a_vector_instruction(void **state)
{
    (void)state;
    Builder *b = begin();
    Val s = emit(b, s_add_u32, b->wg, imm(1));
    use(b, emit(b, v_add_u32, b->wg, s));
    use(b, emit(b, v_mad_u32_u24, b->wg, b->wg, b->tid));
    kernel_end(b);
    char *text = text_of(b);
    assert_int_equal(count_of(text, "v_mov_b32_e32"), 1); /* the same register twice is one read */
    assert_non_null(strstr(text, "v_mad_u32_u24 v"));
    free(text);
}

static void two_scalar_literals_need_a_move(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_void(b, s_cmp_eq_u32, bits(0x11111111), bits(0x22222222));
    Label l = label(b, "out");
    jump_if(b, IF_SCC1, l);
    place(b, l);
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, "s_mov_b32 s"));
    assert_non_null(strstr(text, "s_cmp_eq_u32 0x11111111, s"));
    free(text);
}

static void packed_constants_take_the_low_half(void **state)
{
    (void)state;
    Builder *b = begin();
    Val pair = fill_v(b, 2, 1);
    use(b, emit(b, v_pk_mul_f32, pair, f32(2.0f)));
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, ", 2.0 op_sel_hi:[1,0]"));
    free(text);
}

static void modifiers_print_as_the_assembler_reads_them(void **state)
{
    (void)state;
    Builder *b = begin();
    use(b, emit(b, v_max_f32, absv(b->tid), neg(b->lane)));
    use(b, emit(b, v_mov_b32, b->tid, quad_perm(1, 0, 3, 2), BOUND_CTRL));
    use(b, emit(b, v_cvt_f32_fp8, b->tid, sdwa_src0(SDWA_BYTE_3)));
    use(b, emit(b, v_cvt_scalef32_pk_fp8_f32, b->tid, b->lane, f32(1.0f), op_sel(8)));
    use(b, emit(b, v_med3_f32, neg(absv(b->tid)), b->lane, f32(0.5f)));
    emit_void(b, buffer_wbl2, SC1);
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, "v_max_f32_e64 v"));
    assert_non_null(strstr(text, "|v"));
    assert_non_null(strstr(text, "quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0"));
    assert_non_null(strstr(text, "v_cvt_f32_fp8_sdwa"));
    assert_non_null(strstr(text, "src0_sel:BYTE_3"));
    assert_non_null(strstr(text, "op_sel:[0,0,0,1]"));
    assert_non_null(strstr(text, "-|v"));
    assert_non_null(strstr(text, "buffer_wbl2 sc1"));
    free(text);
}

/* ---- control flow and comments */

static void lanes_save_turn_and_restore(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_to(b, VCC, v_cmp_eq_u32, imm(0), b->tid);
    Lanes l = lanes_if(b, VCC, true);
    emit_void(b, ds_write_b32, b->tid, b->tid);
    lanes_else(b, &l);
    emit_void(b, ds_write_b32, b->tid, b->lane);
    lanes_end(b, &l);
    kernel_end(b);
    char *text = text_of(b);
    const char *order[] = {"s_and_saveexec_b64 s[", "s_cbranch_execz .Llanes_other_0",
                           "ds_write_b32",          ".Llanes_other_0:",
                           "s_andn2_b64 exec, s[",  "s_cbranch_execz .Llanes_end_1",
                           "ds_write_b32",          ".Llanes_end_1:",
                           "s_mov_b64 exec, s[",    NULL};
    assert_in_order(text, order);
    free(text);
}

static void uniform_branches_go_around(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
    Uniform u = uniform_if(b, IF_SCC1);
    emit_void(b, s_sleep, imm(1));
    uniform_else(b, &u);
    emit_void(b, s_sleep, imm(2));
    uniform_end(b, &u);
    kernel_end(b);
    char *text = text_of(b);
    const char *order[] = {"s_cbranch_scc0 .Lelse_0",
                           "s_sleep 1",
                           "s_branch .Lendif_1",
                           ".Lelse_0:",
                           "s_sleep 2",
                           ".Lendif_1:",
                           "s_endpgm",
                           NULL};
    assert_in_order(text, order);
    free(text);
}

static void notes_stay_with_their_instruction(void **state)
{
    (void)state;
    Builder *b = begin();
    heading(b, "above %d", 1);
    note(b, "beside");
    use(b, emit(b, v_fma_f32, b->tid, b->lane, f32(3.0f)));
    kernel_end(b);
    char *text = text_of(b);
    const char *fma = strstr(text, "v_fma_f32");
    assert_non_null(fma);
    const char *beside = strstr(text, "; beside");
    assert_true(beside > fma && beside < strchr(fma, '\n'));
    assert_true(strstr(text, "; above 1") < fma);
    free(text);
}

static void dead_code_goes_and_dead_loads_are_errors(void **state)
{
    (void)state;
    Builder *b = begin();
    emit(b, v_add_u32, emit(b, v_mul_lo_u32, b->tid, b->lane), b->tid);
    kernel_end(b);
    char *text = text_of(b);
    assert_null(strstr(text, "v_add_u32"));
    assert_null(strstr(text, "v_mul_lo_u32"));
    free(text);
    b = begin();
    emit(b, global_load_dword, b->tid, ptr(b));
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_non_null(p);
    assert_int_equal(pass_dead(p, err, sizeof err), -1);
    assert_non_null(strstr(err, "global_load_dword: the loaded value is never used"));
    program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_width_names_the_operand),
        cmocka_unit_test(the_error_names_file_and_line),
        cmocka_unit_test(the_builders_own_errors_name_the_last_line),
        cmocka_unit_test(the_first_error_stands),
        cmocka_unit_test(ranges_are_checked),
        cmocka_unit_test(tuples_start_even),
        cmocka_unit_test(waits_and_exec_are_not_for_templates),
        cmocka_unit_test(open_ends_are_errors),
        cmocka_unit_test(literals_in_vop3_go_through_a_move),
        cmocka_unit_test(commutable_sources_swap),
        cmocka_unit_test(one_scalar_register_a_vector_instruction),
        cmocka_unit_test(two_scalar_literals_need_a_move),
        cmocka_unit_test(packed_constants_take_the_low_half),
        cmocka_unit_test(modifiers_print_as_the_assembler_reads_them),
        cmocka_unit_test(lanes_save_turn_and_restore),
        cmocka_unit_test(uniform_branches_go_around),
        cmocka_unit_test(notes_stay_with_their_instruction),
        cmocka_unit_test(dead_code_goes_and_dead_loads_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
