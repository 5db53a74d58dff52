/* SPDX-License-Identifier: Apache-2.0 */
/* Wait states: what stands in front of the consumer, straight on, across branches and around loops.
 * Numbers are those of AMD's CDNA4 instruction set guide. */
#include "gen_support.h"

#include "gen/build_state.h"

/* Wait states of the s_nop right before the first line with `name`. */
static int states_before(const char *text, const char *name)
{
    char line[200];
    const char *nop = "s_nop ";
    line_before(text, name, line, sizeof line);
    return strncmp(line, nop, strlen(nop)) == 0 ? (int)strtol(line + strlen(nop), NULL, 10) + 1 : 0;
}

static void expect(Builder *b, const char *consumer, int states)
{
    kernel_end(b);
    char *text = text_of(b);
    int got = states_before(text, consumer);
    if (got != states)
        fail_msg("%s: expected %d wait states, got %d in:\n%s", consumer, states, got, text);
    free(text);
}

static void fill(Builder *b, int n)
{
    for (int i = 0; i < n; i++)
        emit_void(b, v_nop, );
}

static void keep(Builder *b, Val v)
{
    fill(b, 24);
    for (int i = 0; i < v.width; i++)
        emit_void(b, ds_write_b32, b->tid, part(v, i, 1), off(4 * i));
}

static Val matrix(Builder *b, int dwords)
{
    Val v = fill_v(b, dwords, 0);
    fill(b, 4);
    return v;
}

/* ---- scalar registers */

static void valu_sgpr_to_vmem(void **state)
{
    (void)state;
    for (int between = 0; between < 7; between++) {
        Builder *b = begin();
        Val r = emit(b, s_load_dwordx4, b->kernarg, imm(0));
        Val v = emit(b, v_add_u32, b->tid, b->tid);
        emit_void(b, buffer_store_dword, v, b->tid, r, imm(0)); /* waits for r */
        fill(b, 20);
        Val s = uniform(b, v);
        fill(b, between);
        emit_void(b, buffer_store_dword, v, b->tid, r, s, off(4));
        kernel_end(b);
        char *text = text_of(b);
        char *second = strstr(text, "v_readfirstlane");
        assert_int_equal(states_before(second, "buffer_store"), between < 5 ? 5 - between : 0);
        free(text);
    }
}

static void valu_sgpr_to_valu(void **state)
{
    (void)state;
    Builder *b = begin();
    Val s = uniform(b, b->tid);
    Val v = emit(b, v_add_u32, s, b->lane);
    keep(b, v);
    expect(b, "v_add_u32", 2);
    b = begin(); /* a scalar instruction is interlocked */
    s = emit(b, s_add_u32, uniform(b, b->tid), imm(1));
    keep(b, mov_v(b, s));
    expect(b, "s_add_u32", 0);
}

static void masks(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_to(b, VCC, v_cmp_eq_u32, b->tid, b->lane);
    keep(b, emit(b, v_cndmask_b32, b->tid, b->lane, VCC));
    expect(b, "v_cndmask_b32", 2);
    b = begin();
    Val sum = emit(b, v_add_co_u32, VCC, b->tid, b->lane);
    keep(b, emit(b, v_addc_co_u32, VCC, b->tid, b->lane, VCC));
    keep(b, sum);
    expect(b, "v_addc_co_u32", 2);
    b = begin(); /* the branch is interlocked */
    emit_to(b, VCC, v_cmp_eq_u32, b->tid, b->lane);
    Uniform u = uniform_if(b, IF_VCCNZ);
    uniform_end(b, &u);
    expect(b, "s_cbranch_vccz", 0);
    b = begin(); /* written by a scalar instruction it is not */
    emit_to(b, VCC, s_mov_b64, imm(0));
    u = uniform_if(b, IF_VCCNZ);
    uniform_end(b, &u);
    expect(b, "s_cbranch_vccz", 1);
}

static void lane_select(void **state)
{
    (void)state;
    Builder *b = begin();
    Val s = uniform(b, b->tid);
    keep(b, mov_v(b, emit(b, v_readlane_b32, b->lane, s)));
    expect(b, "v_readlane_b32", 4);
    b = begin();
    emit_to(b, VCC, v_cmp_eq_u32, b->tid, b->lane);
    keep(b, emit(b, v_div_fmas_f32, b->tid, b->tid, b->lane));
    expect(b, "v_div_fmas_f32", 4);
}

/* ---- vector registers */

static void across_lanes(void **state)
{
    (void)state;
    Builder *b = begin();
    Val v = emit(b, v_add_u32, b->tid, b->lane);
    keep(b, emit(b, v_max_u32, v, v, row_shr(8)));
    expect(b, "v_max_u32_dpp", 2);
    b = begin();
    v = emit(b, v_add_u32, b->tid, b->lane);
    keep(b, mov_v(b, uniform(b, v)));
    expect(b, "v_readfirstlane_b32", 1);
    b = begin();
    v = emit(b, v_add_u32, b->tid, b->lane);
    Val w = emit(b, v_sub_u32, b->tid, b->lane);
    emit_to(b, v, v_permlane32_swap_b32, w);
    keep(b, v);
    keep(b, w);
    expect(b, "v_permlane32_swap_b32", 2);
    b = begin(); /* the old destination of a DPP move is read too */
    v = emit(b, v_add_u32, b->tid, b->lane);
    emit_to(b, v, v_mov_b32, b->tid, row_shr(1));
    keep(b, v);
    expect(b, "v_mov_b32_dpp", 2);
}

static void transcendental_results(void **state)
{
    (void)state;
    Builder *b = begin();
    Val e = emit(b, v_exp_f32, b->tid);
    keep(b, emit(b, v_add_f32, e, e));
    expect(b, "v_add_f32", 1);
    b = begin(); /* another transcendental is interlocked */
    e = emit(b, v_exp_f32, b->tid);
    keep(b, emit(b, v_rcp_f32, e));
    expect(b, "v_rcp_f32", 0);
    b = begin(); /* memory too */
    e = emit(b, v_exp_f32, b->tid);
    emit_void(b, ds_write_b32, b->tid, e);
    expect(b, "ds_write_b32", 0);
}

static void partial_writes(void **state)
{
    (void)state;
    Builder *b = begin();
    Val w = emit(b, v_cvt_pk_fp8_f32, b->tid, b->lane);
    fill(b, 4);
    emit_to(b, w, v_cvt_pk_fp8_f32, b->lane, b->tid, op_sel(4));
    keep(b, emit(b, v_add_u32, w, b->tid));
    expect(b, "v_add_u32", 1);
    b = begin(); /* the low half alone is no hazard */
    w = emit(b, v_cvt_pk_fp8_f32, b->tid, b->lane);
    keep(b, emit(b, v_add_u32, w, b->tid));
    expect(b, "v_add_u32", 0);
    b = begin(); /* lanes are not parts */
    w = emit(b, v_add_u32, b->tid, b->lane);
    emit_to(b, w, v_writelane_b32, imm(1), imm(2));
    heading(b, "second");
    emit_to(b, w, v_writelane_b32, imm(1), imm(3));
    keep(b, w);
    kernel_end(b);
    char *lanes = text_of(b);
    assert_int_equal(count_of(lanes, "s_nop"), 0);
    free(lanes);
    b = begin(); /* low, then high */
    w = emit(b, v_cvt_pk_fp8_f32, b->tid, b->lane);
    heading(b, "high");
    emit_to(b, w, v_cvt_pk_fp8_f32, b->lane, b->tid, op_sel(4));
    keep(b, w);
    kernel_end(b);
    char *text = text_of(b);
    char *high = strchr(strstr(text, "v_cvt_pk_fp8_f32"), '\n') + 1;
    assert_int_equal(strncmp(high, "  s_nop 0\n", 10), 0);
    free(text);
}

static void wide_store_data(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        Builder *b = begin();
        Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
        Val v = matrix(b, 4);
        if (wide)
            emit_void(b, global_store_dwordx4, b->tid, v, base);
        else
            emit_void(b, global_store_dwordx2, b->tid, part(v, 0, 2), base);
        emit_to(b, part(v, 0, 1), v_not_b32, b->tid);
        keep(b, v);
        expect(b, "v_not_b32", wide ? 2 : 0);
    }
}

/* ---- matrix instructions: 4 passes (bf16 16x16x32), 8 (scaled fp8 16x16x128) */

static void valu_to_matrix(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4);
    emit_to(b, part(a, 3, 1), v_not_b32, b->tid);
    keep(b, emit(b, v_mfma_f32_16x16x32_bf16, a, a, c));
    expect(b, "v_mfma_f32", 2);
}

static void matrix_to_its_accumulator(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    keep(b, c);
    kernel_end(b);
    char *text = text_of(b);
    assert_int_equal(count_of(strstr(text, "v_mfma"), "s_nop"), 0);
    free(text);
}

static void matrix_of_other_length_to_the_accumulator(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 8), c = matrix(b, 4);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, part(a, 0, 4), part(a, 4, 4), c);
    emit_to(b, c, v_mfma_scale_f32_16x16x128_f8f6f4, a, a, c, b->tid, b->lane);
    keep(b, c);
    expect(b, "v_mfma_scale", 6);
}

static void matrix_to_the_rest(void **state)
{
    (void)state;
    static const struct {
        bool scaled;
        int states;
    } cases[] = {
        {false, 8 },
        {true,  12}
    };
    for (int i = 0; i < 2; i++) {
        for (int consumer = 0; consumer < 4; consumer++) {
            Builder *b = begin();
            Val a = matrix(b, 8), c = matrix(b, 4), d = vreg(b, 4);
            if (cases[i].scaled)
                emit_to(b, d, v_mfma_scale_f32_16x16x128_f8f6f4, a, a, c, b->tid, b->lane);
            else
                emit_to(b, d, v_mfma_f32_16x16x32_bf16, part(a, 0, 4), part(a, 4, 4), c);
            static const char *const names[] = {"v_add_f32", "ds_write_b32", "v_mfma_f32_16x16x16",
                                                "v_not_b32"};
            if (consumer == 0)
                keep(b, emit(b, v_add_f32, part(d, 1, 1), b->tid));
            else if (consumer == 1)
                emit_void(b, ds_write_b32, b->tid, part(d, 3, 1));
            else if (consumer == 2)
                keep(b, emit(b, v_mfma_f32_16x16x16_bf16, part(d, 0, 2), part(a, 0, 2), c));
            else
                emit_to(b, part(d, 2, 1), v_not_b32, b->tid);
            keep(b, d);
            expect(b, names[consumer], cases[i].states);
        }
    }
}

static void accumulator_input_overwritten(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4);
    Val d = emit(b, v_mfma_f32_16x16x32_bf16, a, a, c);
    emit_to(b, part(c, 0, 1), v_not_b32, b->tid);
    keep(b, c);
    keep(b, d);
    expect(b, "v_not_b32", 3);
}

static void two_pass_results(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 2), c = matrix(b, 4), out = vreg(b, 4);
    emit_to(b, out, v_mfma_f32_4x4x4_16b_bf16, a, a, c);
    emit_to(b, out, v_mfma_f32_4x4x4_16b_bf16, a, a,
            out); /* the very same registers, equal passes */
    keep(b, out);
    kernel_end(b);
    char *text = text_of(b);
    assert_int_equal(states_before(strchr(strstr(text, "v_mfma"), '\n') + 1, "v_mfma"), 2);
    free(text);
    b = begin(); /* f32 inputs: the same */
    a = matrix(b, 2), c = matrix(b, 4), out = vreg(b, 4);
    emit_to(b, out, v_mfma_f32_4x4x1_16b_f32, part(a, 0, 1), part(a, 1, 1), c);
    emit_to(b, out, v_mfma_f32_4x4x1_16b_f32, part(a, 0, 1), part(a, 1, 1), out);
    keep(b, out);
    kernel_end(b);
    text = text_of(b);
    assert_int_equal(states_before(strchr(strstr(text, "v_mfma"), '\n') + 1, "v_mfma"), 2);
    free(text);
}

static void results_that_overlap_c(void **state)
{
    (void)state;
    static const int expected[2] = {6, 5}; /* gfx950, gfx942 */
    for (int old = 0; old < 2; old++) {
        Builder *b = begin();
        b->program->arch_950 = !old;
        Val a = matrix(b, 2), wide = matrix(b, 16), d = vreg(b, 16);
        emit_to(b, part(wide, 4, 4), v_mfma_f32_16x16x16_bf16, a, a, part(wide, 4, 4));
        emit_to(b, d, v_mfma_f32_32x32x8_bf16, a, a, wide);
        keep(b, d);
        expect(b, "v_mfma_f32_32x32x8", expected[old]);
    }
}

static void the_older_targets_numbers(void **state)
{
    (void)state;
    Builder *b = begin();
    b->program->arch_950 = false;
    Val a = matrix(b, 2), c = matrix(b, 4), d = vreg(b, 4);
    emit_to(b, d, v_mfma_f32_16x16x16_bf16, a, a, c);
    keep(b, emit(b, v_mfma_f32_16x16x32_fp8_fp8, part(d, 0, 2), a, c));
    keep(b, d);
    expect(b, "v_mfma_f32_16x16x32_fp8", 7);
    b = begin();
    b->program->arch_950 = false;
    a = matrix(b, 2), c = matrix(b, 4), d = vreg(b, 4);
    emit_to(b, d, v_mfma_f32_16x16x16_bf16, a, a, c);
    keep(b, emit(b, v_add_f32, part(d, 0, 1), b->tid));
    keep(b, d);
    expect(b, "v_add_f32", 7);
}

static void f32_matrix_results(void **state)
{
    (void)state;
    static const char *const names[] = {"v_mfma_f32_32x32x2", "v_mfma_f32_16x16x16", "v_add_f32"};
    static const int expected[] = {8, 10, 10}; /* of 8 passes */
    for (int consumer = 0; consumer < 3; consumer++) {
        Builder *b = begin();
        Val a = matrix(b, 2), c = matrix(b, 16), d = vreg(b, 16);
        Val four = part(c, 4, 4);
        emit_to(b, four, v_mfma_f32_16x16x4_f32, part(a, 0, 1), part(a, 1, 1), four);
        if (consumer == 0)
            emit_to(b, d, v_mfma_f32_32x32x2_f32, part(a, 0, 1), part(a, 1, 1), c);
        else if (consumer == 1)
            emit_to(b, part(d, 0, 4), v_mfma_f32_16x16x16_bf16, part(c, 4, 2), a, part(c, 8, 4));
        else
            emit_to(b, part(d, 0, 1), v_add_f32, part(c, 5, 1), b->tid);
        keep(b, part(d, 0, 1));
        expect(b, names[consumer], expected[consumer]);
    }
}

/* ---- dot products, hardware registers, EXEC */

static void dot_products(void **state)
{
    (void)state;
    Builder *b = begin();
    Val d = emit(b, v_dot2_f32_bf16, b->tid, b->lane, f32(0));
    keep(b, emit(b, v_add_f32, d, b->tid));
    expect(b, "v_add_f32", 3);
    b = begin(); /* the accumulator is forwarded to the same opcode */
    d = emit(b, v_dot2_f32_bf16, b->tid, b->lane, f32(0));
    heading(b, "second");
    d = emit(b, v_dot2_f32_bf16, b->tid, b->lane, d);
    keep(b, d);
    kernel_end(b);
    char *text = text_of(b);
    assert_non_null(strstr(text, "; second\n  v_dot2_f32_bf16"));
    assert_int_equal(states_before(strstr(text, "; second"), "v_nop"), 0);
    free(text);
    b = begin(); /* a factor is not */
    d = emit(b, v_dot2_f32_bf16, b->tid, b->lane, f32(0));
    Val e = emit(b, v_dot2_f32_bf16, d, b->lane, f32(0));
    keep(b, e);
    kernel_end(b);
    text = text_of(b);
    assert_int_equal(states_before(strchr(strstr(text, "v_dot2"), '\n') + 1, "v_dot2"), 3);
    free(text);
}

static void hardware_registers(void **state)
{
    (void)state;
    Builder *b = begin();
    emit_void(b, s_setreg_imm32_b32, imm(1), imm(0));
    Val mode = emit(b, s_getreg_b32, imm(1));
    keep(b, mov_v(b, mode));
    expect(b, "s_getreg_b32", 2);
}

static void wide_store_data_reloaded(void **state)
{
    (void)state;
    Builder *b = begin();
    Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    Val v = matrix(b, 4);
    emit_void(b, global_store_dwordx4, b->tid, v, base);
    emit_to(b, part(v, 0, 1), ds_read_b32, b->tid);
    keep(b, v);
    expect(b, "ds_read_b32", 1);
}

static void exec_written_by_a_compare(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int states;
    } cases[] = {
        {"v_mov_b32_dpp",       5},
        {"v_readfirstlane_b32", 4},
        {"v_mfma_f32_16x16x16", 4},
        {"global_store_dword",  5},
        {"v_mov_b64",           2},
        {"v_add_u32",           0}
    };
    for (int i = 0; i < 6; i++) {
        Builder *b = begin();
        Val base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
        Val v = fill_v(b, 4, 0);
        emit_void(b, global_store_dwordx2, b->tid, part(v, 0, 2), base); /* waits for base */
        fill(b, 8);
        b->state->internal = true; /* templates have no such instruction */
        emit_to(b, EXEC, v_cmp_eq_u32, b->tid, b->lane);
        b->state->internal = false;
        Val r = part(v, 0, 1);
        if (i == 0)
            r = emit(b, v_mov_b32, b->tid, row_shr(1));
        else if (i == 1)
            r = mov_v(b, uniform(b, b->tid));
        else if (i == 2)
            r = part(emit(b, v_mfma_f32_16x16x16_bf16, part(v, 0, 2), part(v, 0, 2), v), 0, 1);
        else if (i == 3)
            emit_void(b, global_store_dword, b->tid, b->tid, base);
        else if (i == 4)
            r = emit(b, v_mov_b64, EXEC);
        else
            r = emit(b, v_add_u32, b->tid, b->tid);
        keep(b, r);
        kernel_end(b);
        char *text = text_of(b);
        int got = states_before(strstr(text, "v_cmp_eq_u32"), cases[i].name);
        if (got != cases[i].states)
            fail_msg("%s: expected %d, got %d in:\n%s", cases[i].name, cases[i].states, got, text);
        free(text);
    }
}

/* ---- paths */

static void useful_work_counts(void **state)
{
    (void)state;
    for (int between = 0; between < 10; between++) {
        Builder *b = begin();
        Val a = matrix(b, 4), c = matrix(b, 4);
        emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
        fill(b, between);
        keep(b, emit(b, v_add_f32, part(c, 0, 1), b->tid));
        expect(b, "v_add_f32", between < 8 ? 8 - between : 0);
    }
}

static void the_shortest_path_decides(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4);
    emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    Uniform u = uniform_if(b, IF_SCC1);
    fill(b, 20);
    uniform_end(b, &u);
    keep(b, emit(b, v_add_f32, part(c, 0, 1), b->tid));
    expect(b, "v_add_f32", 7); /* the branch is one */
}

static void the_later_path_may_be_the_shorter(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        Builder *b = begin();
        Val a = matrix(b, 4), c = matrix(b, 4);
        emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
        emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
        Uniform u = uniform_if(b, IF_SCC1);
        fill(b, swapped ? 1 : 4);
        uniform_else(b, &u);
        fill(b, swapped ? 5 : 2);
        uniform_end(b, &u);
        keep(b, emit(b, v_add_f32, part(c, 0, 1), b->tid));
        /* branch, 1 and a jump around; or branch and 2 */
        expect(b, "v_add_f32", 8 - 3);
    }
}

static void states_once_waited_for_are_gone(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4);
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    Val x = emit(b, v_add_f32, part(c, 0, 1), b->tid),
        y = emit(b, v_sub_f32, part(c, 1, 1), b->tid);
    keep(b, x);
    keep(b, y);
    expect(b, "v_sub_f32", 0);
}

static void loops_carry_hazards_around(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 4), c = matrix(b, 4), n = emit(b, s_mov_b32, imm(4)), sum = matrix(b, 1);
    Label head = loop_begin(b, "round");
    emit_to(b, sum, v_add_f32, sum, part(c, 0, 1));
    emit_to(b, n, s_sub_u32, n, imm(1));
    emit_void(b, s_cmp_lg_u32, n, imm(0));
    emit_to(b, c, v_mfma_f32_16x16x32_bf16, a, a, c);
    loop_end(b, IF_SCC1, head);
    keep(b, sum);
    keep(b, c);
    expect(b, "v_add_f32", 7);
}

static void sixteen_passes_need_two_nops(void **state)
{
    (void)state;
    Builder *b = begin();
    Val a = matrix(b, 8), c = matrix(b, 16);
    emit_to(b, c, v_mfma_scale_f32_32x32x64_f8f6f4, a, a, c, b->tid, b->lane);
    keep(b, emit(b, v_add_f32, part(c, 5, 1), b->tid));
    kernel_end(b);
    char *text = text_of(b);
    char *from = strstr(text, "v_mfma_scale");
    assert_int_equal(strncmp(strchr(from, '\n') + 1, "  s_nop 15\n  s_nop 3\n", 21), 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valu_sgpr_to_vmem),
        cmocka_unit_test(valu_sgpr_to_valu),
        cmocka_unit_test(masks),
        cmocka_unit_test(lane_select),
        cmocka_unit_test(across_lanes),
        cmocka_unit_test(transcendental_results),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(wide_store_data),
        cmocka_unit_test(valu_to_matrix),
        cmocka_unit_test(matrix_to_its_accumulator),
        cmocka_unit_test(matrix_of_other_length_to_the_accumulator),
        cmocka_unit_test(matrix_to_the_rest),
        cmocka_unit_test(accumulator_input_overwritten),
        cmocka_unit_test(two_pass_results),
        cmocka_unit_test(results_that_overlap_c),
        cmocka_unit_test(the_older_targets_numbers),
        cmocka_unit_test(f32_matrix_results),
        cmocka_unit_test(dot_products),
        cmocka_unit_test(hardware_registers),
        cmocka_unit_test(wide_store_data_reloaded),
        cmocka_unit_test(exec_written_by_a_compare),
        cmocka_unit_test(useful_work_counts),
        cmocka_unit_test(the_shortest_path_decides),
        cmocka_unit_test(the_later_path_may_be_the_shorter),
        cmocka_unit_test(states_once_waited_for_are_gone),
        cmocka_unit_test(loops_carry_hazards_around),
        cmocka_unit_test(sixteen_passes_need_two_nops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
