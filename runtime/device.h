/* SPDX-License-Identifier: Apache-2.0 */
/* An open device: the HSA library behind it as a table of functions, its agents and its memory
 * pools. */
#ifndef RT_DEVICE_H
#define RT_DEVICE_H

#include "runtime/cogen_rt.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/* Every HSA function that the runtime calls. */
#define RT_HSA_FUNCTIONS(X)                                                                        \
    X(hsa_init)                                                                                    \
    X(hsa_shut_down)                                                                               \
    X(hsa_status_string)                                                                           \
    X(hsa_iterate_agents)                                                                          \
    X(hsa_agent_get_info)                                                                          \
    X(hsa_amd_agent_iterate_memory_pools)                                                          \
    X(hsa_amd_memory_pool_get_info)                                                                \
    X(hsa_amd_memory_pool_allocate)                                                                \
    X(hsa_amd_memory_pool_free)                                                                    \
    X(hsa_amd_agents_allow_access)                                                                 \
    X(hsa_amd_memory_fill)                                                                         \
    X(hsa_memory_copy)                                                                             \
    X(hsa_code_object_reader_create_from_memory)                                                   \
    X(hsa_code_object_reader_destroy)                                                              \
    X(hsa_executable_create_alt)                                                                   \
    X(hsa_executable_load_agent_code_object)                                                       \
    X(hsa_executable_freeze)                                                                       \
    X(hsa_executable_get_symbol_by_name)                                                           \
    X(hsa_executable_symbol_get_info)                                                              \
    X(hsa_executable_destroy)                                                                      \
    X(hsa_signal_create)                                                                           \
    X(hsa_signal_destroy)                                                                          \
    X(hsa_signal_add_screlease)                                                                    \
    X(hsa_signal_store_screlease)                                                                  \
    X(hsa_signal_load_scacquire)                                                                   \
    X(hsa_signal_wait_scacquire)                                                                   \
    X(hsa_queue_create)                                                                            \
    X(hsa_queue_destroy)                                                                           \
    X(hsa_queue_load_read_index_scacquire)                                                         \
    X(hsa_queue_load_write_index_relaxed)                                                          \
    X(hsa_queue_store_write_index_screlease)

struct rt_hsa {
#define RT_HSA_FIELD(name) __typeof__(&name) name;
    RT_HSA_FUNCTIONS(RT_HSA_FIELD)
#undef RT_HSA_FIELD
};

struct cogen_rt_device {
    struct cogen_rt_device_info info;
    char library_name[4096];
    void *handle; /* of dlopen */
    struct rt_hsa hsa;
    bool initialised;
    hsa_agent_t gpu, cpu;
    hsa_amd_memory_pool_t vram, kernarg;
    bool has_gpu, has_cpu, has_vram, has_kernarg;
};

/* An HSA status as text, for the end of a message. */
const char *rt_hsa_text(const struct cogen_rt_device *device, hsa_status_t status);
/* Host memory that the device reads at launch (the kernarg pool). */
enum cogen_rt_status rt_kernarg_alloc(struct cogen_rt_device *device, size_t size, void **ptr,
                                      struct cogen_rt_error *err);

#endif
