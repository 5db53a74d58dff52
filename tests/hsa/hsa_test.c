/* SPDX-License-Identifier: Apache-2.0 */
#include "hsa_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/read_file.h"

#define SECOND ((uint64_t)1000000000)

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
    struct fixture *f = data;
    hsa_device_type_t type;
    assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &f->gpu : &f->cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct fixture *f = data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (segment == HSA_AMD_SEGMENT_GROUP)
        f->group = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        f->kernarg = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        f->device = pool;
    else if (!f->fine.handle)
        f->fine = pool;
    return HSA_STATUS_SUCCESS;
}

int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f || hsa_init() != HSA_STATUS_SUCCESS) {
        free(f);
        return -1;
    }
    assert_ok(hsa_iterate_agents(on_agent, f));
    assert_ok(hsa_amd_agent_iterate_memory_pools(f->cpu, on_pool, f));
    assert_ok(hsa_amd_agent_iterate_memory_pools(f->gpu, on_pool, f));
    *state = f;
    return 0;
}

int teardown(void **state)
{
    free(*state);
    return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : -1;
}

void *read_kernels(const char *arch, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, KERNELS, arch);
    void *bytes = read_file(path, size);
    assert_non_null(bytes);
    return bytes;
}

hsa_executable_t load_unfrozen(const struct fixture *f)
{
    size_t size;
    void *bytes = read_kernels("gfx950", &size);
    hsa_code_object_reader_t reader;
    hsa_executable_t e;
    assert_ok(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
    assert_ok(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                        NULL, &e));
    assert_ok(hsa_executable_load_agent_code_object(e, f->gpu, reader, NULL, NULL));
    assert_ok(hsa_code_object_reader_destroy(reader));
    free(bytes);
    return e;
}

hsa_executable_t load_kernels(const struct fixture *f)
{
    hsa_executable_t e = load_unfrozen(f);
    assert_ok(hsa_executable_freeze(e, NULL));
    return e;
}

struct kernel find_kernel(const struct fixture *f, hsa_executable_t e, const char *name)
{
    struct kernel k = {0};
    hsa_executable_symbol_t s;
    assert_ok(hsa_executable_get_symbol_by_name(e, name, &f->gpu, &s));
    assert_ok(
        hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object));
    assert_ok(hsa_executable_symbol_get_info(
        s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k.kernarg));
    assert_ok(hsa_executable_symbol_get_info(
        s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.group));
    assert_ok(hsa_executable_symbol_get_info(
        s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k.private_size));
    return k;
}

void *alloc_device(const struct fixture *f, size_t size)
{
    void *p = NULL;
    assert_ok(hsa_amd_memory_pool_allocate(f->device, size, 0, &p));
    assert_ok(hsa_amd_agents_allow_access(1, &f->gpu, NULL, p));
    return p;
}

void *make_args(const struct fixture *f, const void *bytes, size_t size)
{
    void *p = NULL;
    assert_ok(hsa_amd_memory_pool_allocate(f->kernarg, 512, 0, &p));
    memcpy(p, bytes, size);
    return p;
}

hsa_queue_t *make_queue(const struct fixture *f, uint32_t size)
{
    hsa_queue_t *q = NULL;
    assert_ok(hsa_queue_create(f->gpu, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                               UINT32_MAX, &q));
    return q;
}

hsa_signal_t make_signal(hsa_signal_value_t value)
{
    hsa_signal_t s;
    assert_ok(hsa_signal_create(value, 0, NULL, &s));
    return s;
}

void put_dispatch(hsa_queue_t *q, uint64_t index, const struct kernel *k, uint32_t groups,
                  void *args, hsa_signal_t done)
{
    while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
        ; /* full: the slot is still another's */
    hsa_kernel_dispatch_packet_t *p =
        (hsa_kernel_dispatch_packet_t *)q->base_address + index % q->size;
    memset((char *)p + 4, 0, sizeof *p - 4);
    p->workgroup_size_x = 256;
    p->workgroup_size_y = p->workgroup_size_z = 1;
    p->grid_size_x = groups * 256;
    p->grid_size_y = p->grid_size_z = 1;
    p->group_segment_size = k->group;
    p->private_segment_size = k->private_size;
    p->kernel_object = k->object;
    p->kernarg_address = args;
    p->completion_signal = done;
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                      1 << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n((uint32_t *)p, header | 1u << 16, __ATOMIC_RELEASE);
}

void ring(hsa_queue_t *q, uint64_t index)
{
    hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)index);
}

uint64_t dispatch(hsa_queue_t *q, const struct kernel *k, uint32_t groups, void *args,
                  hsa_signal_t done)
{
    uint64_t index = hsa_queue_add_write_index_scacq_screl(q, 1);
    put_dispatch(q, index, k, groups, args, done);
    ring(q, index);
    return index;
}

void wait_done(hsa_signal_t done)
{
    assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 60 * SECOND,
                                               HSA_WAIT_STATE_BLOCKED),
                     0);
}
