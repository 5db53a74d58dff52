/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, copies and what pointers are known as. */
#include "hsa_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void allocates_and_frees(void **state)
{
    const struct fixture *f = *state;
    unsigned char *p = alloc_device(f, 10000);
    assert_int_equal((uintptr_t)p % 4096, 0);
    assert_ok(hsa_amd_memory_fill(p, 0x01020304, 2500));
    assert_int_equal(p[9999], 1);
    assert_int_equal(hsa_amd_memory_fill(p, 0, 2501), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_equal(hsa_amd_memory_pool_free(p + 64), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_ok(hsa_amd_memory_pool_free(p));
    assert_int_equal(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_ok(hsa_memory_free(NULL));
    /* Caches are larger than memory: what nobody touches costs nothing. */
    char *big = alloc_device(f, (size_t)40 << 30);
    big[(size_t)40 << 29] = 1;
    assert_ok(hsa_amd_memory_pool_free(big));
}

static void copies(void **state)
{
    const struct fixture *f = *state;
    uint32_t host[1000], back[1000] = {0};
    for (uint32_t i = 0; i < 1000; i++)
        host[i] = i * i;
    uint32_t *a = alloc_device(f, sizeof host), *b = alloc_device(f, sizeof host);
    assert_ok(hsa_memory_copy(a, host, sizeof host));
    assert_ok(hsa_memory_copy(b, a, sizeof host));
    assert_ok(hsa_memory_copy(back, b, sizeof host));
    assert_memory_equal(host, back, sizeof host);
    assert_int_equal(hsa_memory_copy(a + 1, host, sizeof host),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    hsa_memory_free(a);
    hsa_memory_free(b);
}

/* A chain a -> b -> c -> d submitted back to front: each copy waits for the one before it. */
static void async_copies_wait_for_signals(void **state)
{
    const struct fixture *f = *state;
    enum { LINKS = 6, BYTES = 70000 };
    unsigned char *buffer[LINKS + 1];
    hsa_signal_t done[LINKS + 1];
    for (int i = 0; i <= LINKS; i++) {
        buffer[i] = alloc_device(f, BYTES);
        done[i] = make_signal(1);
        assert_ok(hsa_amd_memory_fill(buffer[i], 0, BYTES / 4));
    }
    for (int i = LINKS; i >= 1; i--)
        assert_ok(hsa_amd_memory_async_copy(buffer[i], f->gpu, buffer[i - 1], f->gpu, BYTES, 1,
                                            &done[i - 1], done[i]));
    usleep(20000);
    assert_int_equal(hsa_signal_load_scacquire(done[1]), 1); /* nothing moved yet */
    assert_int_equal(buffer[1][0], 0);
    for (int i = 0; i < BYTES; i++)
        buffer[0][i] = (unsigned char)(i * 7 + 1);
    hsa_signal_store_screlease(done[0], 0);
    wait_done(done[LINKS]);
    assert_memory_equal(buffer[LINKS], buffer[0], BYTES);
    hsa_amd_profiling_async_copy_time_t time;
    assert_ok(hsa_amd_profiling_get_async_copy_time(done[LINKS], &time));
    assert_true(time.end >= time.start && time.start > 0);
    assert_int_equal(hsa_amd_memory_async_copy(buffer[0] + 4, f->gpu, buffer[1], f->gpu, BYTES, 0,
                                               NULL, done[1]),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_not_equal(hsa_amd_memory_async_copy(buffer[0], f->gpu, buffer[1], f->gpu, BYTES, 0,
                                                   NULL, (hsa_signal_t){0}),
                         HSA_STATUS_SUCCESS);
    for (int i = 0; i <= LINKS; i++) {
        hsa_memory_free(buffer[i]);
        hsa_signal_destroy(done[i]);
    }
}

static void copies_of_rectangles(void **state)
{
    const struct fixture *f = *state;
    unsigned char *a = alloc_device(f, 64 * 32), *b = alloc_device(f, 16 * 8 * 2);
    for (int i = 0; i < 64 * 32; i++)
        a[i] = (unsigned char)(i % 251);
    assert_ok(hsa_amd_memory_fill(b, 0, 16 * 8 * 2 / 4));
    hsa_signal_t done = make_signal(1);
    const hsa_pitched_ptr_t src = {a, 64, 64 * 16}, dst = {b, 16, 16 * 8};
    const hsa_dim3_t from = {8, 3, 0}, to = {4, 1, 0}, range = {8, 5, 2};
    assert_ok(hsa_amd_memory_async_copy_rect(&dst, &to, &src, &from, &range, f->gpu,
                                             hsaDeviceToDevice, 0, NULL, done));
    wait_done(done);
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 8; y++)
            for (unsigned x = 0; x < 16; x++) {
                bool in = x >= 4 && x < 12 && y >= 1 && y < 6;
                unsigned char want = in ? a[z * 1024 + (y + 2) * 64 + x + 4] : 0;
                assert_int_equal(b[z * 128 + y * 16 + x], want);
            }
    hsa_signal_destroy(done);
    hsa_memory_free(a);
    hsa_memory_free(b);
}

static int freed;
static void on_free(void *ptr, void *data)
{
    (void)ptr;
    freed += *(int *)data;
}

static void pointers_are_known(void **state)
{
    const struct fixture *f = *state;
    char *p = alloc_device(f, 5000);
    void *host = NULL;
    assert_ok(hsa_amd_memory_pool_allocate(f->kernarg, 100, 0, &host));
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    uint32_t count = 0;
    hsa_agent_t *agents = NULL;
    assert_ok(hsa_amd_pointer_info_set_userdata(p, &freed));
    assert_ok(hsa_amd_pointer_info(p + 4999, &info, malloc, &count, &agents));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
    assert_ptr_equal(info.agentBaseAddress, p);
    assert_int_equal(info.sizeInBytes, 5000);
    assert_ptr_equal(info.userData, &freed);
    assert_int_equal(info.agentOwner.handle, f->gpu.handle);
    assert_int_equal(info.global_flags, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    assert_true(count >= 1 && agents);
    free(agents);
    assert_ok(hsa_amd_pointer_info(host, &info, NULL, NULL, NULL));
    assert_int_equal(info.agentOwner.handle, f->cpu.handle);
    assert_true(info.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    assert_ok(hsa_amd_pointer_info(&info, &info, NULL, NULL, NULL));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    int one = 1;
    freed = 0;
    assert_ok(hsa_amd_register_deallocation_callback(p, on_free, &one));
    assert_ok(hsa_amd_memory_pool_free(p));
    assert_int_equal(freed, 1);
    assert_ok(hsa_amd_memory_pool_free(host));
}

/* Locked host memory is reachable by kernels, and not after it is unlocked. */
static void locked_memory(void **state)
{
    const struct fixture *f = *state;
    enum { N = 512 };
    uint32_t *x = aligned_alloc(4096, 4096), *seen = NULL;
    assert_non_null(x);
    for (uint32_t i = 0; i < N; i++)
        x[i] = i;
    hsa_agent_t gpu = f->gpu;
    assert_ok(hsa_amd_memory_lock(x, N * sizeof *x, &gpu, 1, (void **)&seen));
    hsa_executable_t e = load_kernels(f);
    struct kernel k = find_kernel(f, e, "step.kd");
    struct {
        uint32_t *x;
        uint32_t n;
    } a = {seen, N};
    void *args = make_args(f, &a, sizeof a);
    hsa_queue_t *q = make_queue(f, 64);
    hsa_signal_t done = make_signal(1);
    dispatch(q, &k, 2, args, done);
    wait_done(done);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(x[i], 3 * i + 1);
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    assert_ok(hsa_amd_pointer_info(x, &info, NULL, NULL, NULL));
    assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
    assert_ok(hsa_amd_memory_unlock(x));
    hsa_signal_store_screlease(done, 1);
    dispatch(q, &k, 2, args, done);
    assert_true(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                          HSA_WAIT_STATE_BLOCKED) < 0);
    assert_int_equal(x[1], 4);
    hsa_queue_destroy(q);
    hsa_signal_destroy(done);
    hsa_memory_free(args);
    hsa_executable_destroy(e);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocates_and_frees),
        cmocka_unit_test(copies),
        cmocka_unit_test(async_copies_wait_for_signals),
        cmocka_unit_test(copies_of_rectangles),
        cmocka_unit_test(pointers_are_known),
        cmocka_unit_test(locked_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
