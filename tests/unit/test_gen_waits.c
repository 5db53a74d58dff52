/* SPDX-License-Identifier: Apache-2.0 */
/* The least s_waitcnt on every path. */
#include "gen_support.h"

struct world {
    Builder *b;
    Val base; /* S2, waited for */
    Val addr; /* V1, bytes */
};

/* A program whose pointer is loaded and waited for, so that a test sees its own waits alone. */
static struct world world(void)
{
    struct world w = {.b = begin()};
    Builder *b = w.b;
    stage(b, "head");
    w.base = emit(b, s_load_dwordx2, b->kernarg, imm(0));
    w.addr = emit(b, v_lshlrev_b32, imm(2), b->tid);
    emit_void(b, global_store_dword, w.addr, b->tid, w.base);
    stores_done(b);
    stage(b, "test");
    return w;
}

static Val load(struct world *w, int offset)
{
    return emit(w->b, global_load_dword, w->addr, w->base, off(offset));
}

static void put(struct world *w, Val v, int offset)
{
    emit_void(w->b, ds_write_b32, w->addr, v, off(offset));
}

static void younger_loads_stay_in_flight(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = load(&w, 0), y = load(&w, 4), z = load(&w, 8);
    put(&w, emit(b, v_add_u32, x, b->tid), 0);
    put(&w, emit(b, v_sub_u32, z, b->tid), 4);
    put(&w, emit(b, v_xor_b32, y, b->tid), 8);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_add_u32", "s_waitcnt vmcnt(2)");
    assert_before(text, "v_sub_u32", "s_waitcnt vmcnt(0)");
    assert_int_equal(count_of(text, "s_waitcnt"), 2); /* y is covered by z's wait */
    free(text);
}

static void stores_count_with_loads(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = load(&w, 0);
    emit_void(b, global_store_dword, w.addr, b->tid, w.base, off(64));
    put(&w, x, 0);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "ds_write_b32", "s_waitcnt vmcnt(1)");
    free(text);
}

static void stores_done_waits_for_the_youngest_store_only(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    emit_void(b, global_store_dword, w.addr, b->tid, w.base, off(64), SC1);
    Val x = load(&w, 0), y = load(&w, 4);
    stores_done(b);
    barrier(b);
    put(&w, emit(b, v_add_u32, x, y), 0);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "s_barrier", "s_waitcnt vmcnt(2)");
    assert_before(text, "v_add_u32", "s_waitcnt vmcnt(0)");
    free(text);
}

static void write_back_is_a_store(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    emit_void(b, buffer_wbl2, SC1);
    stores_done(b);
    barrier(b);
    emit_void(b, buffer_inv, SC1);
    Val x = load(&w, 0);
    emit_void(b, buffer_inv, SC1); /* counts nothing */
    put(&w, x, 0);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "s_barrier", "s_waitcnt vmcnt(0)");
    assert_before(text, "ds_write_b32", "s_waitcnt vmcnt(0)");
    free(text);
}

static void barriers_wait_for_lds(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    put(&w, b->tid, 0);
    Val x = load(&w, 0);
    barrier(b);
    put(&w, x, 4);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "s_barrier", "s_waitcnt lgkmcnt(0)"); /* the load flies on */
    assert_non_null(strstr(text, "s_waitcnt vmcnt(0)"));
    free(text);
}

static void lds_returns_in_order(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = emit(b, ds_read_b32, w.addr, off(0));
    Val y = emit(b, ds_read_b32, w.addr, off(4));
    put(&w, emit(b, v_add_u32, x, b->tid), 8);
    put(&w, emit(b, v_sub_u32, y, b->tid), 12);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_add_u32", "s_waitcnt lgkmcnt(1)");
    assert_before(text, "v_sub_u32", "s_waitcnt lgkmcnt(1)"); /* behind the write of 8 */
    free(text);
}

static void smem_returns_in_any_order(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = emit(b, ds_read_b32, w.addr);
    put(&w, b->tid, 4); /* alone it would leave one outstanding */
    Val s = emit(b, s_load_dword, w.base, imm(0));
    Val t = emit(b, s_load_dword, w.base, imm(64));
    put(&w, emit(b, v_add_u32, x, b->tid), 8); /* an LDS result, but SMEM is mixed in */
    put(&w, emit(b, v_add_u32, s, b->tid), 12);
    put(&w, emit(b, v_add_u32, t, b->tid), 16);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_add_u32", "s_waitcnt lgkmcnt(0)");
    assert_int_equal(count_of(text, "s_waitcnt"), 1);
    free(text);
}

static void reloading_a_register_is_a_use(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = vreg(b, 1);
    emit_to(b, x, global_load_dword, w.addr, w.base);
    put(&w, b->tid, 0);
    emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
    Uniform u = uniform_if(b, IF_SCC1);
    put(&w, x, 4);
    uniform_end(b, &u);
    emit_to(b, x, v_mov_b32, imm(5)); /* on the path around, the load is still out */
    put(&w, x, 8);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_mov_b32", "s_waitcnt vmcnt(0)");
    free(text);
}

static void loops_see_the_previous_round(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val n = emit(b, s_mov_b32, imm(8));
    Val x = vreg(b, 1), y = vreg(b, 1);
    emit_to(b, x, global_load_dword, w.addr, w.base, off(0));
    emit_to(b, y, global_load_dword, w.addr, w.base, off(4));
    Label head = loop_begin(b, "round");
    put(&w, emit(b, v_add_u32, x, b->tid), 0);
    emit_to(b, x, global_load_dword, w.addr, w.base, off(8));
    put(&w, emit(b, v_sub_u32, y, b->tid), 4);
    emit_to(b, y, global_load_dword, w.addr, w.base, off(12));
    emit_to(b, n, s_sub_u32, n, imm(1));
    emit_void(b, s_cmp_lg_u32, n, imm(0));
    loop_end(b, IF_SCC1, head);
    put(&w, emit(b, v_xor_b32, x, y), 8);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_add_u32",
                  "s_waitcnt vmcnt(1)"); /* y's load stays out across the back edge */
    assert_before(text, "v_sub_u32", "s_waitcnt vmcnt(1)");
    assert_before(text, "v_xor_b32", "s_waitcnt vmcnt(0)");
    free(text);
}

static void a_load_at_a_loops_end_is_waited_for_at_its_head(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val n = emit(b, s_mov_b32, imm(8)), x = emit(b, v_lshlrev_b32, imm(1), b->tid);
    Label head = loop_begin(b, "round");
    emit_void(b, s_cmp_eq_u32, n, imm(3)); /* the head itself does not touch x */
    Uniform u = uniform_if(b, IF_SCC1);
    put(&w, emit(b, v_add_u32, x, b->tid), 0); /* in the first round nothing is out */
    uniform_end(b, &u);
    emit_to(b, n, s_sub_u32, n, imm(1));
    emit_void(b, s_cmp_lg_u32, n, imm(0));
    emit_to(b, x, global_load_dword, w.addr, w.base, off(8));
    loop_end(b, IF_SCC1, head);
    put(&w, emit(b, v_xor_b32, x, b->tid), 4);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "v_add_u32", "s_waitcnt vmcnt(0)");
    assert_before(text, "v_xor_b32", "s_waitcnt vmcnt(0)");
    free(text);
}

static void joins_take_the_stricter_path(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = load(&w, 0);
    emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
    Uniform u = uniform_if(b, IF_SCC1);
    emit_void(b, global_store_dword, w.addr, b->tid, w.base, off(64));
    emit_void(b, global_store_dword, w.addr, b->tid, w.base, off(68));
    uniform_end(b, &u);
    put(&w, x, 0);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "ds_write_b32",
                  "s_waitcnt vmcnt(0)"); /* around: nothing is behind the load */
    free(text);
}

static void counters_stop_short_of_their_end(void **state)
{
    (void)state;
    struct world w = world();
    Builder *b = w.b;
    Val x = load(&w, 0);
    for (int i = 0; i < 70; i++)
        emit_void(b, global_store_dword, w.addr, b->tid, w.base, off(4 * i));
    put(&w, x, 0);
    for (int i = 0; i < 20; i++)
        put(&w, b->tid, 4 * i);
    Val y = emit(b, ds_read_b32, w.addr);
    for (int i = 0; i < 20; i++)
        put(&w, b->tid, 4 * i);
    put(&w, emit(b, v_add_u32, y, b->tid), 0);
    kernel_end(b);
    char *text = text_of(b);
    assert_before(text, "ds_write_b32", "s_waitcnt vmcnt(62)");
    assert_before(text, "v_add_u32", "s_waitcnt lgkmcnt(14)");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(younger_loads_stay_in_flight),
        cmocka_unit_test(stores_count_with_loads),
        cmocka_unit_test(stores_done_waits_for_the_youngest_store_only),
        cmocka_unit_test(write_back_is_a_store),
        cmocka_unit_test(barriers_wait_for_lds),
        cmocka_unit_test(lds_returns_in_order),
        cmocka_unit_test(smem_returns_in_any_order),
        cmocka_unit_test(reloading_a_register_is_a_use),
        cmocka_unit_test(loops_see_the_previous_round),
        cmocka_unit_test(a_load_at_a_loops_end_is_waited_for_at_its_head),
        cmocka_unit_test(joins_take_the_stricter_path),
        cmocka_unit_test(counters_stop_short_of_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
