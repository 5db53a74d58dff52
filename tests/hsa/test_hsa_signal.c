/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: their operations, waits, groups and handlers. */
#include "hsa_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

static void operations(void **state)
{
    (void)state;
    hsa_signal_t s = make_signal(5);
    assert_int_equal(hsa_signal_load_scacquire(s), 5);
    hsa_signal_store_screlease(s, 12);
    assert_int_equal(hsa_signal_exchange_scacq_screl(s, 9), 12);
    assert_int_equal(hsa_signal_cas_scacq_screl(s, 8, 1), 9); /* no match: unchanged */
    assert_int_equal(hsa_signal_cas_relaxed(s, 9, 6), 9);
    hsa_signal_add_screlease(s, 10);
    hsa_signal_subtract_scacquire(s, 3);
    assert_int_equal(hsa_signal_load_relaxed(s), 13);
    hsa_signal_and_acq_rel(s, 9);
    assert_int_equal(hsa_signal_load_acquire(s), 9);
    hsa_signal_or_release(s, 6);
    hsa_signal_xor_acquire(s, 5);
    assert_int_equal(hsa_signal_load_relaxed(s), 10);
    hsa_signal_silent_store_relaxed(s, -3);
    assert_int_equal(hsa_signal_load_relaxed(s), -3);
    volatile hsa_signal_value_t *value;
    assert_ok(hsa_amd_signal_value_pointer(s, &value));
    *value = 77;
    assert_int_equal(hsa_signal_load_relaxed(s), 77);
    assert_ok(hsa_signal_destroy(s));
    assert_int_not_equal(hsa_signal_destroy((hsa_signal_t){0}), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_signal_create(0, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void a_wait_times_out(void **state)
{
    (void)state;
    hsa_signal_t s = make_signal(4);
    uint64_t t0, t1;
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t0));
    assert_int_equal(
        hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, 20 * MS, HSA_WAIT_STATE_BLOCKED),
        4);
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t1));
    assert_true(t1 - t0 >= 20 * MS);
    /* A condition that holds is no wait. */
    assert_int_equal(
        hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_GTE, 4, 0, HSA_WAIT_STATE_ACTIVE), 4);
    assert_int_equal(
        hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_NE, 5, 0, HSA_WAIT_STATE_ACTIVE), 4);
    hsa_signal_destroy(s);
}

struct pair {
    hsa_signal_t ping, pong;
};

enum { ROUNDS = 500 };

static void *answer(void *data)
{
    const struct pair *p = data;
    for (int i = 1; i <= ROUNDS; i++) {
        hsa_signal_wait_scacquire(p->ping, HSA_SIGNAL_CONDITION_EQ, i, UINT64_MAX,
                                  HSA_WAIT_STATE_BLOCKED);
        hsa_signal_store_screlease(p->pong, i);
    }
    return NULL;
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    struct pair p = {make_signal(0), make_signal(0)};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, answer, &p), 0);
    for (int i = 1; i <= ROUNDS; i++) {
        hsa_signal_store_screlease(p.ping, i);
        assert_int_equal(hsa_signal_wait_scacquire(p.pong, HSA_SIGNAL_CONDITION_EQ, i, 60000 * MS,
                                                   HSA_WAIT_STATE_BLOCKED),
                         i);
    }
    pthread_join(t, NULL);
    hsa_signal_destroy(p.ping);
    hsa_signal_destroy(p.pong);
}

static void *count_up(void *data)
{
    for (int i = 0; i < 10000; i++)
        hsa_signal_add_relaxed(*(hsa_signal_t *)data, 1);
    return NULL;
}

static void no_addition_is_lost(void **state)
{
    (void)state;
    hsa_signal_t s = make_signal(0);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, count_up, &s), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(hsa_signal_load_relaxed(s), 40000);
    hsa_signal_destroy(s);
}

static void *store_later(void *data)
{
    usleep(20000);
    hsa_signal_store_screlease(*(hsa_signal_t *)data, 3);
    return NULL;
}

static void any_of_several(void **state)
{
    (void)state;
    hsa_signal_t s[3] = {make_signal(1), make_signal(1), make_signal(1)};
    hsa_signal_condition_t c[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ,
                                   HSA_SIGNAL_CONDITION_GTE};
    hsa_signal_value_t v[3] = {0, 0, 2}, seen = 0;
    assert_int_equal(hsa_amd_signal_wait_any(3, s, c, v, 5 * MS, HSA_WAIT_STATE_BLOCKED, &seen),
                     UINT32_MAX);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, store_later, &s[2]), 0);
    assert_int_equal(hsa_amd_signal_wait_any(3, s, c, v, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &seen),
                     2);
    assert_int_equal(seen, 3);
    pthread_join(t, NULL);
    hsa_signal_group_t g;
    hsa_signal_t which;
    assert_ok(hsa_signal_group_create(3, s, 0, NULL, &g));
    assert_ok(hsa_signal_group_wait_any_scacquire(g, c, v, HSA_WAIT_STATE_BLOCKED, &which, &seen));
    assert_int_equal(which.handle, s[2].handle);
    assert_ok(hsa_signal_group_destroy(g));
    for (int i = 0; i < 3; i++)
        hsa_signal_destroy(s[i]);
}

static atomic_int calls;

static bool on_value(hsa_signal_value_t value, void *data)
{
    hsa_signal_t *s = data;
    int n = atomic_fetch_add(&calls, 1) + 1;
    hsa_signal_store_screlease(s[0], 0);
    hsa_signal_store_screlease(s[1], value);
    return n < 2; /* twice, then no more */
}

static void a_handler_is_called_while_it_wants(void **state)
{
    (void)state;
    static hsa_signal_t s[2];
    s[0] = make_signal(0);
    s[1] = make_signal(0);
    atomic_store(&calls, 0);
    assert_ok(hsa_amd_signal_async_handler(s[0], HSA_SIGNAL_CONDITION_GTE, 1, on_value, s));
    for (int i = 1; i <= 2; i++) {
        hsa_signal_store_screlease(s[0], i * 11);
        assert_int_equal(hsa_signal_wait_scacquire(s[1], HSA_SIGNAL_CONDITION_EQ, i * 11,
                                                   60000 * MS, HSA_WAIT_STATE_BLOCKED),
                         i * 11);
    }
    hsa_signal_store_screlease(s[0], 99);
    usleep(50000);
    assert_int_equal(atomic_load(&calls), 2);
    hsa_signal_destroy(s[0]);
    hsa_signal_destroy(s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(a_wait_times_out),
        cmocka_unit_test(two_threads_take_turns),
        cmocka_unit_test(no_addition_is_lost),
        cmocka_unit_test(any_of_several),
        cmocka_unit_test(a_handler_is_called_while_it_wants),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
