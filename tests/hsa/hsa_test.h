/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the emulated HSA library share. Its calls fail the running test when they
 * cannot do their part. */
#ifndef HSA_TEST_H
#define HSA_TEST_H

#include <stdbool.h>

#include "tests/support/test.h"
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define assert_ok(call) assert_int_equal((call), HSA_STATUS_SUCCESS)

struct fixture {
    hsa_agent_t cpu, gpu;
    hsa_amd_memory_pool_t fine, kernarg, device, group;
};

/* cmocka setup and teardown: hsa_init with the environment's default device, agents and pools
 * found. */
int setup(void **state);
int teardown(void **state);

struct kernel {
    uint64_t object;
    uint32_t kernarg, group, private_size;
};

/* The bytes of the tests' code object for an arch; free() them. */
void *read_kernels(const char *arch, size_t *size);
/* The executable of it for the GPU, and the same frozen, ready to run. */
hsa_executable_t load_unfrozen(const struct fixture *f);
hsa_executable_t load_kernels(const struct fixture *f);
struct kernel find_kernel(const struct fixture *f, hsa_executable_t e, const char *name);
void *alloc_device(const struct fixture *f, size_t size);
/* A kernarg block that holds a copy of `size` bytes. */
void *make_args(const struct fixture *f, const void *bytes, size_t size);
hsa_queue_t *make_queue(const struct fixture *f, uint32_t size);
hsa_signal_t make_signal(hsa_signal_value_t value);

/* Writes a dispatch of groups x 256 work-items at a reserved index; ring() hands it over. */
void put_dispatch(hsa_queue_t *q, uint64_t index, const struct kernel *k, uint32_t groups,
                  void *args, hsa_signal_t done);
void ring(hsa_queue_t *q, uint64_t index);
/* Reserves, puts and rings. */
uint64_t dispatch(hsa_queue_t *q, const struct kernel *k, uint32_t groups, void *args,
                  hsa_signal_t done);
/* Waits until a signal is 0; fails the test after 60 s. */
void wait_done(hsa_signal_t done);

#endif
