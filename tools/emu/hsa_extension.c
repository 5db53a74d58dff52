/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions: the loader's, of AMD. */
#include <hsa/hsa_ven_amd_loader.h>
#include <string.h>

#include "hsa_state.h"

/* ---- extensions */

hsa_status_t hsa_extension_get_name(uint16_t extension, const char **name)
{
    if (!name || extension != HSA_EXTENSION_AMD_LOADER)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *name = "HSA_EXTENSION_AMD_LOADER";
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major,
                                                  uint16_t *minor, bool *result)
{
    if (!minor || !result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
    *minor = 0;
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

/* Device memory is host memory: an address of one is an address of the other. */
static hsa_status_t host_address(const void *device, const void **host)
{
    if (!device || !host)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *host = device;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size,
                                                  void *table)
{
    if (extension != HSA_EXTENSION_AMD_LOADER || major != 1 || !table)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_ven_amd_loader_1_00_pfn_t loader = {.hsa_ven_amd_loader_query_host_address = host_address};
    memset(table, 0, size);
    memcpy(table, &loader, size < sizeof loader ? size : sizeof loader);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor,
                                            void *table)
{
    (void)minor;
    return hsa_system_get_major_extension_table(extension, major,
                                                sizeof(hsa_ven_amd_loader_1_00_pfn_t), table);
}
