/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions: the loader's, of AMD, which tells a profiler or debugger what is loaded where. */
#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

#include "hsa_code.h"

enum { LOADER_MINOR = 3 };

/* ---- extensions */

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
    static const struct {
        uint16_t id;
        const char *name;
    } names[] = {
        {HSA_EXTENSION_FINALIZER,            "HSA_EXTENSION_FINALIZER"           },
        {HSA_EXTENSION_IMAGES,               "HSA_EXTENSION_IMAGES"              },
        {HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS"},
        {HSA_EXTENSION_PROFILING_EVENTS,     "HSA_EXTENSION_PROFILING_EVENTS"    },
        {HSA_EXTENSION_AMD_PROFILER,         "HSA_EXTENSION_AMD_PROFILER"        },
        {HSA_EXTENSION_AMD_LOADER,           "HSA_EXTENSION_AMD_LOADER"          },
        {HSA_EXTENSION_AMD_AQLPROFILE,       "HSA_EXTENSION_AMD_AQLPROFILE"      },
    };
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (names[i].id == extension) {
            *name = names[i].name;
            return HSA_STATUS_SUCCESS;
        }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                  uint16_t *minor, bool *result)
{
    if (!minor || !result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
    *minor = *result ? LOADER_MINOR : 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor,
                                            bool *result)
{
    uint16_t have;
    hsa_status_t status = hsa_system_major_extension_supported(extension, major, &have, result);
    if (status == HSA_STATUS_SUCCESS)
        *result = *result && minor <= have;
    return status;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                           uint16_t minor, bool *result)
{
    (void)agent;
    return hsa_system_extension_supported(extension, major, minor, result);
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent,
                                                 uint16_t major, uint16_t *minor, bool *result)
{
    (void)agent;
    return hsa_system_major_extension_supported(extension, major, minor, result);
}

/* ---- the loader */

static struct hsa_loaded *loaded_at(struct hsa_state *state, const void *address)
{
    struct hsa_loaded *found = NULL;
    pthread_mutex_lock(&state->lists);
    for (struct hsa_exec *e = state->execs; e && !found; e = e->next)
        for (struct hsa_loaded *o = e->objects; o && !found; o = o->next)
            if (o->load_base && (size_t)((const uint8_t *)address - o->load_base) < o->load_size)
                found = o;
    pthread_mutex_unlock(&state->lists);
    return found;
}

static hsa_status_t query_host_address(const void *device_address, const void **host_address)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(device_address && host_address, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    *host_address = NULL;
    RETURN_UNLESS(loaded_at(state, device_address), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    *host_address = device_address;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t
query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
                          size_t *num_segment_descriptors)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(num_segment_descriptors, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    size_t count = 0, room = segment_descriptors ? *num_segment_descriptors : 0;
    RETURN_UNLESS((segment_descriptors == NULL) == (*num_segment_descriptors == 0),
                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
    pthread_mutex_lock(&state->lists);
    for (struct hsa_exec *e = state->execs; e; e = e->next)
        for (struct hsa_loaded *o = e->objects; o; o = o->next, count++)
            if (count < room)
                segment_descriptors[count] = (hsa_ven_amd_loader_segment_descriptor_t){
                    .agent = {HSA_GPU},
                    .executable = {(uint64_t)(uintptr_t)e},
                    .code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
                    .code_object_storage_base = o->storage,
                    .code_object_storage_size = o->storage_size,
                    .segment_base = o->load_base,
                    .segment_size = o->load_size,
                };
    pthread_mutex_unlock(&state->lists);
    if (segment_descriptors && count != room)
        return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    *num_segment_descriptors = count;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_executable(const void *device_address, hsa_executable_t *executable)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(device_address && executable, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const struct hsa_loaded *o = loaded_at(state, device_address);
    executable->handle = o ? (uint64_t)(uintptr_t)o->executable : 0;
    return o ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t executable_iterate_loaded_code_objects(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t executable,
                             hsa_loaded_code_object_t loaded_code_object, void *data),
    void *data)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    for (struct hsa_loaded *o = e->objects; o; o = o->next) {
        hsa_status_t status =
            callback(executable, (hsa_loaded_code_object_t){(uint64_t)(uintptr_t)o}, data);
        RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t
iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (struct hsa_exec *e = state->execs; e; e = e->next) {
        hsa_status_t status = callback((hsa_executable_t){(uint64_t)(uintptr_t)e}, data);
        RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
    }
    return HSA_STATUS_SUCCESS;
}

static struct hsa_loaded *loaded_of(struct hsa_state *state, hsa_loaded_code_object_t handle)
{
    struct hsa_loaded *found = NULL;
    pthread_mutex_lock(&state->lists);
    for (struct hsa_exec *e = state->execs; e && !found; e = e->next)
        for (struct hsa_loaded *o = e->objects; o && !found; o = o->next)
            if ((uint64_t)(uintptr_t)o == handle.handle)
                found = o;
    pthread_mutex_unlock(&state->lists);
    return found;
}

static hsa_status_t
loaded_code_object_get_info(hsa_loaded_code_object_t loaded_code_object,
                            hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(value, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const struct hsa_loaded *o = loaded_of(state, loaded_code_object);
    RETURN_UNLESS(o, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    const uint64_t executable = (uint64_t)(uintptr_t)o->executable, agent = HSA_GPU;
    const uint64_t storage = (uint64_t)(uintptr_t)o->storage, bytes = o->storage_size;
    const uint64_t base = (uint64_t)(uintptr_t)o->load_base, load_size = o->load_size;
    const uint32_t kind = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT;
    const uint32_t type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
    const uint32_t uri_length = (uint32_t)strlen(o->uri);
    const struct {
        int id;
        const void *from;
        size_t size;
    } table[] = {
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE,                      &executable, 8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND,                            &kind,       4         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT,                           &agent,      8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE,        &type,       4         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE, &storage,    8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE, &bytes,      8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA,                      &base,       8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE,                       &base,       8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE,                       &load_size,  8         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH,                      &uri_length, 4         },
        {HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI,                             o->uri,      uri_length},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].id == (int)attribute) {
            memcpy(value, table[i].from, table[i].size);
            return HSA_STATUS_SUCCESS;
        }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t reader_of_part(hsa_file_t file, size_t offset, size_t size,
                                   hsa_code_object_reader_t *reader)
{
    HSA_NEEDS_STATE(state);
    return hsa_reader_from_file(state, file, offset, size, reader);
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size,
                                                  void *table)
{
    HSA_NEEDS_STATE(state);
    (void)state;
    RETURN_UNLESS(table && size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    RETURN_UNLESS(extension == HSA_EXTENSION_AMD_LOADER && major == 1, HSA_STATUS_ERROR);
    const hsa_ven_amd_loader_1_03_pfn_t loader = {
        query_host_address,
        query_segment_descriptors,
        query_executable,
        executable_iterate_loaded_code_objects,
        loaded_code_object_get_info,
        reader_of_part,
        iterate_executables,
    };
    memcpy(table, &loader, size < sizeof loader ? size : sizeof loader);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                            void *table)
{
    static const size_t sizes[LOADER_MINOR + 1] = {
        sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
        sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
    RETURN_UNLESS(minor <= LOADER_MINOR, HSA_STATUS_ERROR);
    return hsa_system_get_major_extension_table(extension, major, sizes[minor], table);
}
