/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: dispatches, barriers, doorbells, faults, several queues and threads at once. */
#include "hsa_test.h"

#include "hsa_ext.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 2048, GROUPS = N / 256 };

struct step_args {
    uint32_t *x;
    uint32_t n;
};

/* A queue with the kernel step over N words that hold 0, 1, 2, ... */
struct job {
    const struct fixture *f;
    hsa_executable_t executable;
    struct kernel step;
    hsa_queue_t *queue;
    uint32_t *x;
    void *args;
    hsa_signal_t done;
};

static struct job job_new(const struct fixture *f, uint32_t packets)
{
    struct job j = {.f = f, .executable = load_kernels(f)};
    j.step = find_kernel(f, j.executable, "step.kd");
    j.queue = packets ? make_queue(f, packets) : NULL;
    j.x = alloc_device(f, N * sizeof *j.x);
    for (uint32_t i = 0; i < N; i++)
        j.x[i] = i;
    struct step_args a = {j.x, N};
    j.args = make_args(f, &a, sizeof a);
    j.done = make_signal(0);
    return j;
}

static void job_free(struct job *j)
{
    if (j->queue)
        assert_ok(hsa_queue_destroy(j->queue));
    assert_ok(hsa_signal_destroy(j->done));
    assert_ok(hsa_memory_free(j->x));
    assert_ok(hsa_memory_free(j->args));
    assert_ok(hsa_executable_destroy(j->executable));
}

static bool stepped(const struct job *j, int times)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t want = i;
        for (int k = 0; k < times; k++)
            want = want * 3 + 1;
        if (j->x[i] != want)
            return false;
    }
    return true;
}

/* Many more packets than the ring has slots, each after the one before it. */
static void packets_in_order(void **state)
{
    struct job j = job_new(*state, 64);
    enum { TIMES = 200 };
    hsa_signal_store_screlease(j.done, TIMES);
    for (int i = 0; i < TIMES; i++)
        dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
    wait_done(j.done);
    assert_true(stepped(&j, TIMES));
    assert_int_equal(hsa_queue_load_write_index_relaxed(j.queue), TIMES);
    struct emu_hsa_counters c;
    assert_int_equal(emu_hsa_last_dispatch(&c), 0);
    assert_true(c.dispatches >= TIMES && c.insts > GROUPS * 4 * 5);
    job_free(&j);
}

static void lds_and_barriers(void **state)
{
    const struct fixture *f = *state;
    struct job j = job_new(f, 64);
    struct kernel k = find_kernel(f, j.executable, "group_sum.kd");
    assert_int_equal(k.group, 1024);
    uint32_t *sums = alloc_device(f, GROUPS * sizeof *sums);
    const void *both[2] = {j.x, sums};
    void *args = make_args(f, (const void *)both, sizeof both);
    hsa_signal_store_screlease(j.done, 1);
    dispatch(j.queue, &k, GROUPS, args, j.done);
    wait_done(j.done);
    for (uint32_t g = 0; g < GROUPS; g++)
        assert_int_equal(sums[g], 256 * (256 * g) + 255 * 128);
    hsa_memory_free(sums);
    hsa_memory_free(args);
    job_free(&j);
}

static void put_barrier(hsa_queue_t *q, int type, const hsa_signal_t *deps, int count,
                        hsa_signal_t done)
{
    uint64_t index = hsa_queue_add_write_index_scacq_screl(q, 1);
    hsa_barrier_and_packet_t *p = (hsa_barrier_and_packet_t *)q->base_address + index % q->size;
    memset((char *)p + 2, 0, sizeof *p - 2);
    for (int i = 0; i < count; i++)
        p->dep_signal[i] = deps[i];
    p->completion_signal = done;
    __atomic_store_n(&p->header, (uint16_t)(type | 1 << HSA_PACKET_HEADER_BARRIER),
                     __ATOMIC_RELEASE);
    ring(q, index);
}

static bool quiet(hsa_signal_t s, hsa_signal_value_t value)
{
    usleep(30000);
    return hsa_signal_load_scacquire(s) == value;
}

static void barrier_and(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_t dep[3] = {make_signal(1), make_signal(2), make_signal(0)};
    hsa_signal_store_screlease(j.done, 2);
    put_barrier(j.queue, HSA_PACKET_TYPE_BARRIER_AND, dep, 3, j.done);
    dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
    assert_true(quiet(j.done, 2));
    hsa_signal_store_screlease(dep[0], 0);
    assert_true(quiet(j.done, 2)); /* one of them still is not 0 */
    assert_true(stepped(&j, 0));
    hsa_signal_subtract_screlease(dep[1], 2);
    wait_done(j.done);
    assert_true(stepped(&j, 1));
    for (int i = 0; i < 3; i++)
        hsa_signal_destroy(dep[i]);
    job_free(&j);
}

static void barrier_or(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_t dep[2] = {make_signal(1), make_signal(1)};
    hsa_signal_store_screlease(j.done, 2);
    put_barrier(j.queue, HSA_PACKET_TYPE_BARRIER_OR, dep, 2, j.done);
    dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
    assert_true(quiet(j.done, 2));
    hsa_signal_store_screlease(dep[1], 0);
    wait_done(j.done);
    assert_true(stepped(&j, 1));
    for (int i = 0; i < 2; i++)
        hsa_signal_destroy(dep[i]);
    job_free(&j);
}

/* AMD's packet: waits until (value & mask) compares. */
static void barrier_value(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_t s = make_signal(0x10);
    hsa_signal_store_screlease(j.done, 1);
    uint64_t index = hsa_queue_add_write_index_scacq_screl(j.queue, 1);
    hsa_amd_barrier_value_packet_t *p =
        (hsa_amd_barrier_value_packet_t *)j.queue->base_address + index % j.queue->size;
    memset((char *)p + 2, 0, sizeof *p - 2);
    p->header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    p->signal = s;
    p->value = 3;
    p->mask = 0xf;
    p->cond = HSA_SIGNAL_CONDITION_EQ;
    p->completion_signal = j.done;
    __atomic_store_n(&p->header.header, (uint16_t)HSA_PACKET_TYPE_VENDOR_SPECIFIC,
                     __ATOMIC_RELEASE);
    ring(j.queue, index);
    assert_true(quiet(j.done, 1));
    hsa_signal_store_screlease(s, 0x23);
    wait_done(j.done);
    hsa_signal_destroy(s);
    job_free(&j);
}

/* A packet that waits on one queue for a kernel of another. */
static void queues_wait_for_each_other(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_queue_t *second = make_queue(*state, 64);
    hsa_signal_t first = make_signal(1);
    hsa_signal_store_screlease(j.done, 2);
    put_barrier(second, HSA_PACKET_TYPE_BARRIER_AND, &first, 1, j.done);
    dispatch(second, &j.step, GROUPS, j.args, j.done);
    assert_true(quiet(j.done, 2));
    dispatch(j.queue, &j.step, GROUPS, j.args, first);
    wait_done(j.done);
    assert_true(stepped(&j, 2));
    hsa_queue_destroy(second);
    hsa_signal_destroy(first);
    job_free(&j);
}

static void a_doorbell_is_needed(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_store_screlease(j.done, 1);
    uint64_t index = hsa_queue_add_write_index_scacq_screl(j.queue, 1);
    put_dispatch(j.queue, index, &j.step, GROUPS, j.args, j.done);
    assert_true(quiet(j.done, 1));
    ring(j.queue, index);
    wait_done(j.done);
    job_free(&j);
}

/* Producers reserve in one order and hand over in another. */
static void doorbells_out_of_order(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_store_screlease(j.done, 3);
    uint64_t at = hsa_queue_add_write_index_scacq_screl(j.queue, 3);
    put_dispatch(j.queue, at + 2, &j.step, GROUPS, j.args, j.done);
    ring(j.queue, at + 2);
    assert_true(quiet(j.done, 3));
    put_dispatch(j.queue, at + 1, &j.step, GROUPS, j.args, j.done);
    ring(j.queue, at + 1);
    assert_true(quiet(j.done, 3));
    put_dispatch(j.queue, at, &j.step, GROUPS, j.args, j.done);
    ring(j.queue, at);
    wait_done(j.done);
    assert_true(stepped(&j, 3));
    job_free(&j);
}

static void times_are_kept_when_asked_for(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_amd_profiling_dispatch_time_t t;
    hsa_signal_store_screlease(j.done, 1);
    dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
    wait_done(j.done);
    assert_int_not_equal(hsa_amd_profiling_get_dispatch_time(j.f->gpu, j.done, &t),
                         HSA_STATUS_SUCCESS);
    assert_ok(hsa_amd_profiling_set_profiler_enabled(j.queue, 1));
    hsa_signal_store_screlease(j.done, 1);
    dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
    wait_done(j.done);
    assert_ok(hsa_amd_profiling_get_dispatch_time(j.f->gpu, j.done, &t));
    assert_true(t.end > t.start);
    job_free(&j);
}

/* ---- mistakes */

struct fault {
    _Atomic int status;
    hsa_signal_t told;
    hsa_queue_t *_Atomic queue;
};

static void on_fault(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    struct fault *f = data;
    atomic_store(&f->status, (int)status);
    atomic_store(&f->queue, queue);
    hsa_signal_store_screlease(f->told, 0);
}

static hsa_queue_t *watched_queue(const struct fixture *f, struct fault *fault)
{
    hsa_queue_t *q;
    fault->told = make_signal(1);
    assert_ok(hsa_queue_create(f->gpu, 64, HSA_QUEUE_TYPE_MULTI, on_fault, fault, UINT32_MAX,
                               UINT32_MAX, &q));
    return q;
}

static void a_fault_is_told(void **state)
{
    const struct fixture *f = *state;
    struct job j = job_new(f, 0);
    struct kernel k = find_kernel(f, j.executable, "overrun.kd");
    struct fault fault = {0};
    hsa_queue_t *q = watched_queue(f, &fault);
    struct {
        uint32_t *x;
        uint64_t beyond;
    } a = {j.x, N};
    void *args = make_args(f, &a, sizeof a);
    hsa_signal_store_screlease(j.done, 1);
    dispatch(q, &k, 1, args, j.done);
    wait_done(fault.told);
    assert_int_equal(atomic_load(&fault.status), HSA_STATUS_ERROR_EXCEPTION);
    assert_ptr_equal(atomic_load(&fault.queue), q);
    char text[4096];
    assert_true(emu_hsa_last_finding(text, sizeof text) > 0);
    assert_non_null(strstr(text, "kernel overrun"));
    assert_non_null(strstr(text, "memory-outside"));
    assert_non_null(strstr(text, "global_store_dword"));
    /* The queue is stopped; others go on. */
    dispatch(q, &j.step, GROUPS, j.args, j.done);
    assert_true(quiet(j.done, 1));
    assert_true(stepped(&j, 0));
    hsa_queue_t *other = make_queue(f, 64);
    dispatch(other, &j.step, GROUPS, j.args, j.done);
    wait_done(j.done);
    assert_true(stepped(&j, 1));
    assert_ok(hsa_queue_destroy(q));
    assert_ok(hsa_queue_destroy(other));
    hsa_signal_destroy(fault.told);
    hsa_memory_free(args);
    job_free(&j);
}

/* Without a callback the completion signal turns negative, so that a client does not wait for ever.
 */
static void a_fault_without_callback(void **state)
{
    const struct fixture *f = *state;
    struct job j = job_new(f, 64);
    struct kernel k = find_kernel(f, j.executable, "overrun.kd");
    struct {
        uint32_t *x;
        uint64_t beyond;
    } a = {j.x, N - 10};
    void *args = make_args(f, &a, sizeof a);
    hsa_signal_store_screlease(j.done, 1);
    dispatch(j.queue, &k, 1, args, j.done);
    assert_true(hsa_signal_wait_scacquire(j.done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                          HSA_WAIT_STATE_BLOCKED) < 0);
    hsa_memory_free(args);
    job_free(&j);
}

static void bad_packets(void **state)
{
    const struct fixture *f = *state;
    struct job j = job_new(f, 0);
    enum { CASES = 5 };
    for (int i = 0; i < CASES; i++) {
        struct fault fault = {0};
        hsa_queue_t *q = watched_queue(f, &fault);
        uint64_t index = hsa_queue_add_write_index_scacq_screl(q, 1);
        struct kernel k = j.step;
        if (i == 0)
            k.object += 4; /* inside a descriptor */
        if (i == 1)
            k.group = 161 << 10;
        put_dispatch(q, index, &k, GROUPS, j.args, (hsa_signal_t){0});
        hsa_kernel_dispatch_packet_t *p = q->base_address;
        if (i == 2)
            p->header = HSA_PACKET_TYPE_AGENT_DISPATCH;
        if (i == 3)
            p->workgroup_size_x = 0;
        if (i == 4)
            p->setup = 0;
        ring(q, index);
        wait_done(fault.told);
        assert_int_not_equal(atomic_load(&fault.status), HSA_STATUS_SUCCESS);
        if (i == 0)
            assert_int_equal(atomic_load(&fault.status), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
        if (i == 2)
            assert_int_equal(atomic_load(&fault.status), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
        hsa_queue_destroy(q);
        hsa_signal_destroy(fault.told);
    }
    assert_true(stepped(&j, 0));
    job_free(&j);
}

static void destroy_from_callback(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)status;
    hsa_queue_destroy(queue);
    hsa_signal_store_screlease(*(hsa_signal_t *)data, 0);
}

static void a_callback_may_destroy_its_queue(void **state)
{
    const struct fixture *f = *state;
    struct job j = job_new(f, 0);
    hsa_signal_t told = make_signal(1);
    hsa_queue_t *q;
    assert_ok(hsa_queue_create(f->gpu, 64, HSA_QUEUE_TYPE_MULTI, destroy_from_callback, &told,
                               UINT32_MAX, UINT32_MAX, &q));
    struct kernel k = j.step;
    k.object = 4096;
    dispatch(q, &k, 1, j.args, (hsa_signal_t){0});
    wait_done(told);
    assert_int_equal(hsa_queue_destroy(q), HSA_STATUS_ERROR_INVALID_QUEUE);
    hsa_signal_destroy(told);
    job_free(&j);
}

static void bad_queues(void **state)
{
    const struct fixture *f = *state;
    hsa_queue_t *q;
    assert_int_equal(hsa_queue_create(f->gpu, 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_queue_create(f->cpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
                     HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    assert_int_equal(
        hsa_queue_create((hsa_agent_t){77}, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &q),
        HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_queue_destroy(NULL), HSA_STATUS_ERROR_INVALID_QUEUE);
}

/* A queue that still waits in a barrier can be destroyed. */
static void destroyed_while_it_waits(void **state)
{
    struct job j = job_new(*state, 64);
    hsa_signal_t never = make_signal(1);
    hsa_signal_store_screlease(j.done, 1);
    put_barrier(j.queue, HSA_PACKET_TYPE_BARRIER_AND, &never, 1, j.done);
    assert_true(quiet(j.done, 1));
    assert_ok(hsa_queue_destroy(j.queue));
    j.queue = NULL;
    assert_int_equal(hsa_signal_load_scacquire(j.done), 1);
    hsa_signal_destroy(never);
    job_free(&j);
}

/* ---- several at once */

enum { THREADS = 4, ROUNDS = 25 };

/* Everything of one's own: a code object loaded, a queue, memory, until all is freed. cmocka's
 * asserts belong to the main thread, so a thread only counts. */
static void *whole_client(void *data)
{
    const struct fixture *f = data;
    intptr_t good = 0;
    for (int i = 0; i < 5; i++) {
        struct job j = job_new(f, 64);
        hsa_signal_store_screlease(j.done, ROUNDS);
        for (int k = 0; k < ROUNDS; k++)
            dispatch(j.queue, &j.step, GROUPS, j.args, j.done);
        hsa_signal_wait_scacquire(j.done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
                                  HSA_WAIT_STATE_BLOCKED);
        good += stepped(&j, ROUNDS);
        job_free(&j);
    }
    return (void *)good;
}

static void threads_with_queues_of_their_own(void **state)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, whole_client, *state), 0);
    for (int i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(t[i], &good);
        assert_int_equal((intptr_t)good, 5);
    }
}

static void *produce(void *data)
{
    struct job *j = data;
    for (int i = 0; i < ROUNDS; i++)
        dispatch(j->queue, &j->step, GROUPS, j->args, j->done);
    return NULL;
}

static void threads_share_a_queue(void **state)
{
    struct job j = job_new(*state, 16);
    pthread_t t[THREADS];
    hsa_signal_store_screlease(j.done, THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, produce, &j), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    wait_done(j.done);
    assert_true(stepped(&j, THREADS * ROUNDS));
    job_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_in_order),
        cmocka_unit_test(lds_and_barriers),
        cmocka_unit_test(barrier_and),
        cmocka_unit_test(barrier_or),
        cmocka_unit_test(barrier_value),
        cmocka_unit_test(queues_wait_for_each_other),
        cmocka_unit_test(a_doorbell_is_needed),
        cmocka_unit_test(doorbells_out_of_order),
        cmocka_unit_test(times_are_kept_when_asked_for),
        cmocka_unit_test(a_fault_is_told),
        cmocka_unit_test(a_fault_without_callback),
        cmocka_unit_test(bad_packets),
        cmocka_unit_test(a_callback_may_destroy_its_queue),
        cmocka_unit_test(bad_queues),
        cmocka_unit_test(destroyed_while_it_waits),
        cmocka_unit_test(threads_with_queues_of_their_own),
        cmocka_unit_test(threads_share_a_queue),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
