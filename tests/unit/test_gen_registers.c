/* SPDX-License-Identifier: Apache-2.0 */
/* Register allocation, checked by an interpreter-like walk of its own over small programs. */
#include "gen_support.h"

#include "gen/isa.h"

static struct program *allocated(Builder *b)
{
    char err[512] = "";
    struct program *p = build_end(b, err, sizeof err);
    if (!p)
        fail_msg("build: %s", err);
    if (pass_dead(p, err, sizeof err) || pass_registers(p, err, sizeof err))
        fail_msg("registers: %s", err);
    return p;
}

static int phys(const struct program *p, Val v)
{
    return p->vregs[v.id].phys + v.sub;
}

static void out(Builder *b, Val v)
{
    for (int i = 0; i < v.width; i++)
        emit_void(b, ds_write_b32, b->tid, part(v, i, 1), off(4 * i));
}

static void live_values_do_not_share(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v[40];
    for (int i = 0; i < 40; i++)
        v[i] = emit(b, v_add_u32, b->tid, imm(i));
    for (int i = 0; i < 40; i++)
        out(b, v[i]);
    kernel_end(b);
    struct program *p = allocated(b);
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(phys(p, v[i]), phys(p, v[k]));
    assert_in_range(p->vgprs, 41, 43);
    program_free(p);
}

static void dead_values_make_room(void **state)
{
    (void)state;
    Builder *b = begin();
    for (int i = 0; i < 300; i++)
        out(b, emit(b, v_add_u32, b->tid, imm(i % 60)));
    kernel_end(b);
    struct program *p = allocated(b);
    assert_in_range(p->vgprs, 2, 4);
    program_free(p);
}

static void tuples_are_aligned(void **state)
{
    (void)state;
    Builder *b = begin();
    Val one = emit(b, v_add_u32, b->tid, imm(1)), two = fill_v(b, 2, 5), four = fill_v(b, 4, 6);
    Val s1 = emit(b, s_mov_b32, imm(1)), s4 = emit(b, s_load_dwordx4, b->kernarg, imm(0));
    Val s2 = emit(b, s_load_dwordx2, b->kernarg, imm(32));
    out(b, one);
    out(b, two);
    out(b, four);
    for (int i = 0; i < 4; i++)
        out(b, mov_v(b, part(s4, i, 1)));
    out(b, mov_v(b, s2));
    out(b, mov_v(b, s1));
    kernel_end(b);
    struct program *p = allocated(b);
    assert_int_equal(phys(p, two) % 2, 0);
    assert_int_equal(phys(p, four) % 2, 0);
    assert_int_equal(phys(p, s4) % 4, 0);
    assert_int_equal(phys(p, s2) % 2, 0);
    program_free(p);
}

static void entry_registers_are_where_the_hardware_puts_them(void **state)
{
    (void)state;
    Builder *b = begin();
    Val s = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val wg = b->wg, kernarg = b->kernarg;
    out(b, mov_v(b, s));
    out(b, mov_v(b, wg));
    kernel_end(b);
    struct program *p = allocated(b);
    assert_int_equal(phys(p, kernarg), 0);
    assert_int_equal(phys(p, wg), 2);
    assert_true(phys(p, s) == 0 ||
                phys(p, s) >= 4); /* not over the workgroup, which is read later */
    program_free(p);
}

static void values_live_around_loops(void **state)
{
    (void)state;
    Builder *b = begin();
    Val kept = emit(b, v_xor_b32, b->tid, imm(1));
    Val n = emit(b, s_mov_b32, imm(4));
    Label head = loop_begin(b, "round");
    Val inner = emit(b, v_add_u32, b->tid, imm(3)); /* after the loop's only read of kept */
    emit_void(b, ds_write_b32, kept, inner);
    Val late = emit(b, v_add_u32, b->tid, imm(7));
    out(b, late);
    emit_to(b, n, s_sub_u32, n, imm(1));
    emit_void(b, s_cmp_lg_u32, n, imm(0));
    loop_end(b, IF_SCC1, head);
    kernel_end(b);
    struct program *p = allocated(b);
    assert_int_not_equal(phys(p, kept), phys(p, late)); /* kept is read again next round */
    assert_int_not_equal(phys(p, kept), phys(p, inner));
    program_free(p);
}

static void masked_writes_keep_the_other_lanes(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = emit(b, v_add_u32, b->tid, imm(1));
    emit_to(b, VCC, v_cmp_gt_u32, imm(32), b->lane);
    Val other =
        emit(b, v_add_u32, b->tid, imm(2)); /* were v dead here, this could take its place */
    out(b, other);
    Lanes l = lanes_if(b, VCC, false);
    emit_to(b, v, v_mov_b32, imm(9)); /* lanes 32 .. 63 keep tid + 1 */
    lanes_end(b, &l);
    out(b, v);
    kernel_end(b);
    struct program *p = allocated(b);
    assert_int_not_equal(phys(p, v), phys(p, other));
    int adds = 0; /* the first value is not dead */
    for (int i = 0; i < p->blocks[0].n; i++)
        adds += p->blocks[0].instrs[i].op == OP_v_add_u32;
    assert_int_equal(adds, 2);
    program_free(p);
}

static void masked_temporaries_do_not_live_from_the_start(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = vreg(b, 1); /* made outside, first written inside: undefined before */
    Val before = emit(b, v_add_u32, b->tid, imm(2));
    out(b, before);
    emit_to(b, VCC, v_cmp_gt_u32, imm(32), b->lane);
    Lanes l = lanes_if(b, VCC, false);
    emit_to(b, v, v_mov_b32, imm(9));
    out(b, v);
    lanes_end(b, &l);
    kernel_end(b);
    struct program *p = allocated(b);
    assert_true(p->vgprs <= 3);
    program_free(p);
}

static void matrix_results_avoid_their_sources(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = fill_v(b, 4, 1), c = fill_v(b, 4, 2);
    Val d = emit(b, v_mfma_f32_16x16x32_bf16, a, a, c); /* a and c die here */
    out(b, d);
    kernel_end(b);
    struct program *p = allocated(b);
    assert_true(abs(phys(p, d) - phys(p, a)) >= 4);
    assert_true(abs(phys(p, d) - phys(p, c)) >= 4);
    program_free(p);
}

static void idle_dwords_of_a_load_stay_reserved_until_it_returns(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val v = emit(b, global_load_dwordx4, b->tid, base);
    Val t = emit(b, v_add_u32, b->tid, imm(5));
    out(b, t);
    out(b, part(v, 3, 1)); /* dwords 0 .. 2 are never read */
    kernel_end(b);
    struct program *p = allocated(b);
    assert_true(phys(p, t) < phys(p, v) || phys(p, t) >= phys(p, v) + 4);
    program_free(p);
}

static void parts_die_alone(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = fill_v(b, 16, 3);
    for (int i = 0; i < 16; i++)
        out(b, part(v, i, 1));
    Val w = vreg(b, 16);
    for (int i = 0; i < 16; i++) {
        emit_to(b, part(w, i, 1), v_add_u32, part(v, i, 1), b->tid);
        out(b, part(w, i, 1));
    }
    kernel_end(b);
    struct program *p = allocated(b);
    assert_true(p->vgprs <= 20); /* w moves in as v moves out */
    program_free(p);
}

static void too_many_name_the_stage(void **state)
{
    (void)state;
    Builder *b = begin();
    stage(b, "greedy");
    Val v[300];
    for (int i = 0; i < 300; i++)
        v[i] = emit(b, v_add_u32, b->tid, imm(i % 60));
    for (int i = 0; i < 300; i++)
        out(b, v[i]);
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_int_equal(pass_registers(p, err, sizeof err), -1);
    assert_non_null(strstr(err, "stage greedy: out of VGPRs: 301 dwords are alive"));
    assert_non_null(strstr(err, "256 registers"));
    program_free(p);
}

static void reads_of_nothing_are_errors(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = vreg(b, 2);
    emit_to(b, part(v, 0, 1), v_mov_b32, imm(1));
    emit_void(b, ds_write_b64, b->tid, v);
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_int_equal(pass_registers(p, err, sizeof err), -1);
    assert_non_null(strstr(err, "ds_write_b64: operand 2, dword 1 is read but never written"));
    program_free(p);
}

static void the_same_program_gets_the_same_registers(void **state)
{
    (void)state;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        Builder *b = begin();
        Val v[20];
        for (int k = 0; k < 20; k++)
            v[k] = fill_v(b, 1 + k % 4, (uint32_t)k);
        for (int k = 0; k < 20; k++)
            out(b, v[(k * 7) % 20]);
        kernel_end(b);
        text[i] = text_of(b);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_values_do_not_share),
        cmocka_unit_test(dead_values_make_room),
        cmocka_unit_test(tuples_are_aligned),
        cmocka_unit_test(entry_registers_are_where_the_hardware_puts_them),
        cmocka_unit_test(values_live_around_loops),
        cmocka_unit_test(masked_writes_keep_the_other_lanes),
        cmocka_unit_test(masked_temporaries_do_not_live_from_the_start),
        cmocka_unit_test(matrix_results_avoid_their_sources),
        cmocka_unit_test(idle_dwords_of_a_load_stay_reserved_until_it_returns),
        cmocka_unit_test(parts_die_alone),
        cmocka_unit_test(too_many_name_the_stage),
        cmocka_unit_test(reads_of_nothing_are_errors),
        cmocka_unit_test(the_same_program_gets_the_same_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
