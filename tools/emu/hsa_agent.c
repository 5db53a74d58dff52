/* SPDX-License-Identifier: Apache-2.0 */
/* The agents: a CPU and the emulated GPU; their instruction sets and caches. */
#include <stdio.h>
#include <string.h>

#include "hsa_state.h"

hsa_status_t hsa_iterate_agents(hsa_status_t (*call)(hsa_agent_t agent, void *data), void *data)
{
    HSA_NEEDS_STATE(s);
    (void)s;
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint64_t handle = HSA_CPU; handle <= HSA_GPU; handle++) {
        hsa_status_t status = call((hsa_agent_t){handle}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

/* What is a number of an agent, by attribute: its size in bytes, the CPU's and the GPU's value. */
struct number {
    int attribute;
    int bytes;
    uint64_t cpu, gpu;
};

static const struct number numbers[] = {
    {HSA_AGENT_INFO_FEATURE,                                   4,  0,                                    HSA_AGENT_FEATURE_KERNEL_DISPATCH   },
    {HSA_AGENT_INFO_MACHINE_MODEL,                             4,  HSA_MACHINE_MODEL_LARGE,              HSA_MACHINE_MODEL_LARGE             },
    {HSA_AGENT_INFO_PROFILE,                                   4,  HSA_PROFILE_FULL,                     HSA_PROFILE_BASE                    },
    {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE,               4,  HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
     HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR                                                                                                    },
    {HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, 4,
     HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,                                                               HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR},
    {HSA_AGENT_INFO_FAST_F16_OPERATION,                        1,  0,                                    1                                   },
    {HSA_AGENT_INFO_WAVEFRONT_SIZE,                            4,  0,                                    64                                  },
    {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE,                        4,  0,                                    1024                                },
    {HSA_AGENT_INFO_GRID_MAX_SIZE,                             4,  0,                                    UINT32_MAX                          },
    {HSA_AGENT_INFO_FBARRIER_MAX_SIZE,                         4,  0,                                    32                                  },
    {HSA_AGENT_INFO_QUEUES_MAX,                                4,  0,                                    128                                 },
    {HSA_AGENT_INFO_QUEUE_MIN_SIZE,                            4,  0,                                    HSA_QUEUE_MIN                       },
    {HSA_AGENT_INFO_QUEUE_MAX_SIZE,                            4,  0,                                    HSA_QUEUE_MAX                       },
    {HSA_AGENT_INFO_QUEUE_TYPE,                                4,  HSA_QUEUE_TYPE_MULTI,                 HSA_QUEUE_TYPE_MULTI                },
    {HSA_AGENT_INFO_NODE,                                      4,  0,                                    1                                   },
    {HSA_AGENT_INFO_DEVICE,                                    4,  HSA_DEVICE_TYPE_CPU,                  HSA_DEVICE_TYPE_GPU                 },
    {HSA_AGENT_INFO_ISA,                                       8,  0,                                    HSA_ISA                             },
    {HSA_AGENT_INFO_VERSION_MAJOR,                             2,  1,                                    1                                   },
    {HSA_AGENT_INFO_VERSION_MINOR,                             2,  1,                                    1                                   },
    {HSA_AMD_AGENT_INFO_CHIP_ID,                               4,  0,                                    0x75a3                              },
    {HSA_AMD_AGENT_INFO_CACHELINE_SIZE,                        4,  64,                                   128                                 },
    {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY,                   4,  0,                                    2400                                },
    {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,                        4,  0,                                    1                                   },
    {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS,              4,  0,                                    4                                   },
    {HSA_AMD_AGENT_INFO_BDFID,                                 4,  0,                                    0                                   },
    {HSA_AMD_AGENT_INFO_MEMORY_WIDTH,                          4,  0,                                    8192                                },
    {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY,                  4,  0,                                    2000                                },
    {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU,                      4,  0,                                    32                                  },
    {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU,                      4,  0,                                    4                                   },
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,                    4,  0,                                    32                                  },
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE,              4,  0,                                    1                                   },
    {HSA_AMD_AGENT_INFO_HDP_FLUSH,                             16, 0,                                    0                                   },
    {HSA_AMD_AGENT_INFO_DOMAIN,                                4,  0,                                    0                                   },
    {HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES,                    1,  0,                                    1                                   },
    {HSA_AMD_AGENT_INFO_ASIC_REVISION,                         4,  0,                                    0                                   },
    {HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS,                1,  1,                                    1                                   },
    {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT,        4,  0,                                    0 /* as many as there are */        },
    {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,                    4,  1,                                    0 /* as many as there are */        },
};

static hsa_status_t number_info(const struct hsa_state *s, bool gpu, int attribute, void *value)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct number *n = &numbers[i];
        if (n->attribute != attribute)
            continue;
        uint64_t v[2] = {gpu ? n->gpu : n->cpu, 0};
        if (gpu && (attribute == HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT ||
                    attribute == HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT))
            v[0] = emu_device_config(s->device)->cus;
        memcpy(value, v, (size_t)n->bytes);
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static void text_info(void *value, size_t size, const char *text)
{
    memset(value, 0, size);
    memcpy(value, text, strlen(text) < size ? strlen(text) : size - 1);
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(s);
    if (agent.handle != HSA_CPU && agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool gpu = agent.handle == HSA_GPU;
    switch ((int)attribute) {
    case HSA_AGENT_INFO_NAME:
        text_info(value, 64, gpu ? s->arch : "host");
        return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_VENDOR_NAME:
        text_info(value, 64, gpu ? "cogen" : "CPU");
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME: {
        char name[64];
        snprintf(name, sizeof name, "cogen emulator of %s", s->arch);
        text_info(value, 64, gpu ? name : "host");
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AMD_AGENT_INFO_UUID:
        text_info(value, 24, gpu ? "GPU-XX" : "CPU-XX");
        return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
        uint16_t dim = gpu ? 1024 : 0;
        memcpy(value, (uint16_t[3]){dim, dim, dim}, 6);
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_GRID_MAX_DIM: {
        uint32_t dim = gpu ? UINT32_MAX : 0;
        *(hsa_dim3_t *)value = (hsa_dim3_t){dim, dim, dim};
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_CACHE_SIZE: {
        uint32_t gpu_sizes[4] = {32 << 10, 4 << 20, 256 << 20, 0}, none[4] = {0};
        memcpy(value, gpu ? gpu_sizes : none, sizeof none);
        return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_EXTENSIONS:
        memset(value, 0, 128);
        if (gpu)
            ((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |= 1 << HSA_EXTENSION_AMD_LOADER % 8;
        return HSA_STATUS_SUCCESS;
    default:
        return number_info(s, gpu, (int)attribute, value);
    }
}

hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile,
                                              uint16_t *mask)
{
    (void)agent;
    (void)profile;
    if (!mask)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *mask = 0;
    return HSA_STATUS_SUCCESS;
}

/* ---- caches */

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*call)(hsa_cache_t, void *),
                                      void *data)
{
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint64_t c = HSA_CACHE_L1; agent.handle == HSA_GPU && c <= HSA_CACHE_L2; c++) {
        hsa_status_t status = call((hsa_cache_t){c}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value)
{
    bool l2 = cache.handle == HSA_CACHE_L2;
    if (!l2 && cache.handle != HSA_CACHE_L1)
        return HSA_STATUS_ERROR_INVALID_CACHE;
    const char *name = l2 ? "L2" : "L1";
    switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(name);
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_NAME:
        memcpy(value, name, strlen(name) + 1);
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL:
        *(uint8_t *)value = l2 ? 2 : 1;
        return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_SIZE:
        *(uint32_t *)value = l2 ? 4 << 20 : 32 << 10;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- instruction sets */

/* The name in LLVM's form, of the emulated settings. */
static void isa_name(const struct hsa_state *s, char *name, size_t size)
{
    snprintf(name, size, "amdgcn-amd-amdhsa--%s:sramecc+:xnack-", s->arch);
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*call)(hsa_isa_t, void *),
                                    void *data)
{
    HSA_NEEDS_STATE(s);
    (void)s;
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return agent.handle == HSA_GPU ? call((hsa_isa_t){HSA_ISA}, data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
    HSA_NEEDS_STATE(s);
    char own[96];
    if (!name || !isa)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    isa_name(s, own, sizeof own);
    size_t plain = strcspn(own, ":");
    if (strcmp(name, own) != 0 && (strlen(name) != plain || strncmp(name, own, plain) != 0))
        return HSA_STATUS_ERROR_INVALID_ISA_NAME;
    isa->handle = HSA_ISA;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(s);
    char name[96];
    if (isa.handle != HSA_ISA)
        return HSA_STATUS_ERROR_INVALID_ISA;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    isa_name(s, name, sizeof name);
    switch ((int)attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(name) + 1;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_NAME:
        memcpy(value, name, strlen(name) + 1);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_MACHINE_MODELS:
        memcpy(value, (bool[2]){false, true}, 2);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_PROFILES:
        memcpy(value, (bool[2]){true, false}, 2);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
        memcpy(value, (bool[3]){false, false, true}, 3);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_FAST_F16_OPERATION:
        *(bool *)value = true;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
        memcpy(value, (uint16_t[3]){1024, 1024, 1024}, 6);
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
        *(uint32_t *)value = 1024;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_GRID_MAX_DIM:
        *(hsa_dim3_t *)value = (hsa_dim3_t){UINT32_MAX, UINT32_MAX, UINT32_MAX};
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_GRID_MAX_SIZE:
        *(uint64_t *)value = UINT64_MAX;
        return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
        *(uint32_t *)value = 32;
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void *value)
{
    return index ? HSA_STATUS_ERROR_INVALID_INDEX : hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t *mask)
{
    (void)profile;
    if (isa.handle != HSA_ISA)
        return HSA_STATUS_ERROR_INVALID_ISA;
    *mask = 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t type, hsa_flush_mode_t flush,
                                      hsa_round_method_t *method)
{
    (void)type;
    (void)flush;
    if (isa.handle != HSA_ISA)
        return HSA_STATUS_ERROR_INVALID_ISA;
    *method = HSA_ROUND_METHOD_SINGLE;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code, hsa_isa_t agent, bool *result)
{
    if (code.handle != HSA_ISA || agent.handle != HSA_ISA)
        return HSA_STATUS_ERROR_INVALID_ISA;
    *result = true;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa,
                                        hsa_status_t (*call)(hsa_wavefront_t, void *), void *data)
{
    if (isa.handle != HSA_ISA)
        return HSA_STATUS_ERROR_INVALID_ISA;
    return call ? call((hsa_wavefront_t){HSA_WAVEFRONT}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute,
                                    void *value)
{
    if (wavefront.handle != HSA_WAVEFRONT)
        return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
    if (attribute != HSA_WAVEFRONT_INFO_SIZE || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint32_t *)value = 64;
    return HSA_STATUS_SUCCESS;
}

/* ---- coherency of an agent: what every discrete GPU has, and nothing else */

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!type)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return type == HSA_AMD_COHERENCY_TYPE_COHERENT ? HSA_STATUS_SUCCESS
                                                   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
