/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a device. The HSA library is opened by dlopen: this library must load on machines without
 * it, and the emulator is the same interface in another file.
 */
#include "runtime/device.h"

#include "runtime/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EMU_FILE "libcogen-hsa-emu.so"
#define EMU_ENV "COGEN_EMU_LIB"
#define HSA_FILE "libhsa-runtime64.so.1"

const char *rt_hsa_text(const struct cogen_rt_device *device, hsa_status_t status)
{
    const char *text = NULL;
    if (device->hsa.hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || !text)
        return "unknown HSA status";
    return text;
}

static enum cogen_rt_status load_functions(struct cogen_rt_device *d, struct cogen_rt_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } table[] = {
#define RT_HSA_ROW(name) {#name, offsetof(struct rt_hsa, name)},
        RT_HSA_FUNCTIONS(RT_HSA_ROW)
#undef RT_HSA_ROW
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void *symbol = dlsym(d->handle, table[i].name);
        if (!symbol)
            return rt_fail(err, COGEN_RT_NO_DEVICE, "%s: not an HSA runtime, it lacks %s",
                           d->library_name, table[i].name);
        memcpy((char *)&d->hsa + table[i].offset, (void *)&symbol, sizeof symbol);
    }
    return COGEN_RT_OK;
}

/* The path of the emulator's library: the environment's, or the first that exists beside the file
 * this code is in. */
static void emu_path(char *path, size_t size)
{
    const char *env = getenv(EMU_ENV);
    if (env && *env) {
        snprintf(path, size, "%s", env);
        return;
    }
    static const char *const places[] = {"", "../lib/", "lib/"};
    Dl_info self;
    char real[4096];
    if (dladdr((void *)&cogen_rt_open, &self) && self.dli_fname && realpath(self.dli_fname, real)) {
        char *slash = strrchr(real, '/');
        if (slash)
            slash[1] = '\0';
        for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
            int n = snprintf(path, size, "%s%s%s", real, places[i], EMU_FILE);
            if (n > 0 && (size_t)n < size && access(path, R_OK) == 0)
                return;
        }
    }
    snprintf(path, size, "%s", EMU_FILE); /* the loader's own search */
}

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
    struct cogen_rt_device *d = data;
    hsa_device_type_t type;
    if (d->hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
        return HSA_STATUS_SUCCESS;
    if (type == HSA_DEVICE_TYPE_GPU && !d->has_gpu) {
        d->gpu = agent;
        d->has_gpu = true;
    } else if (type == HSA_DEVICE_TYPE_CPU && !d->has_cpu) {
        d->cpu = agent;
        d->has_cpu = true;
    }
    return HSA_STATUS_SUCCESS;
}

static bool pool_of_global(struct cogen_rt_device *d, hsa_amd_memory_pool_t pool, uint32_t *flags)
{
    hsa_amd_segment_t segment;
    bool can = false;
    return d->hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ==
               HSA_STATUS_SUCCESS &&
           segment == HSA_AMD_SEGMENT_GLOBAL &&
           d->hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                               &can) == HSA_STATUS_SUCCESS &&
           can &&
           d->hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                                               flags) == HSA_STATUS_SUCCESS;
}

static hsa_status_t see_gpu_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct cogen_rt_device *d = data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    if (d->hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ==
            HSA_STATUS_SUCCESS &&
        segment == HSA_AMD_SEGMENT_GROUP) {
        size_t size = 0;
        d->hsa.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
        d->info.lds_bytes = (uint32_t)size;
    } else if (!d->has_vram && pool_of_global(d, pool, &flags) &&
               (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)) {
        d->vram = pool;
        d->has_vram = true;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_cpu_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct cogen_rt_device *d = data;
    uint32_t flags = 0;
    if (!d->has_kernarg && pool_of_global(d, pool, &flags) &&
        (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) {
        d->kernarg = pool;
        d->has_kernarg = true;
    }
    return HSA_STATUS_SUCCESS;
}

static enum cogen_rt_status find_agents(struct cogen_rt_device *d, struct cogen_rt_error *err)
{
    d->hsa.hsa_iterate_agents(see_agent, d);
    if (!d->has_gpu)
        return rt_fail(err, COGEN_RT_NO_DEVICE, "no GPU: %s lists no GPU agent", d->library_name);
    d->hsa.hsa_amd_agent_iterate_memory_pools(d->gpu, see_gpu_pool, d);
    if (d->has_cpu)
        d->hsa.hsa_amd_agent_iterate_memory_pools(d->cpu, see_cpu_pool, d);
    if (!d->has_vram || !d->has_kernarg)
        return rt_fail(err, COGEN_RT_NO_DEVICE, "%s: the GPU offers no %s memory pool",
                       d->library_name, d->has_vram ? "kernel argument" : "device");
    hsa_status_t st = d->hsa.hsa_agent_get_info(d->gpu, HSA_AGENT_INFO_NAME, d->info.target);
    if (st == HSA_STATUS_SUCCESS)
        st = d->hsa.hsa_agent_get_info(d->gpu,
                                       (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
                                       &d->info.compute_units);
    if (st != HSA_STATUS_SUCCESS)
        return rt_fail(err, COGEN_RT_DEVICE, "%s: the GPU's name or compute units: %s",
                       d->library_name, rt_hsa_text(d, st));
    return COGEN_RT_OK;
}

static enum cogen_rt_status open_backend(const char *backend, struct cogen_rt_device **device,
                                         struct cogen_rt_error *err)
{
    bool emu = strcmp(backend, "emu") == 0;
    struct cogen_rt_device *d = calloc(1, sizeof *d);
    if (!d)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "out of memory for a device");
    d->info.backend = emu ? "emu" : "hsa";
    d->info.library = d->library_name;
    if (emu)
        emu_path(d->library_name, sizeof d->library_name);
    else
        snprintf(d->library_name, sizeof d->library_name, "%s", HSA_FILE);

    enum cogen_rt_status st = COGEN_RT_OK;
    /* Never unmapped: HSA libraries leave threads and exit handlers behind. The path is the user's
     * own to choose. NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint) */
    d->handle = dlopen(d->library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!d->handle) {
        const char *why = dlerror();
        st = rt_fail(err, COGEN_RT_NO_DEVICE,
                     emu ? "emulator library: %s (set " EMU_ENV " to its path)" : "no GPU: %s",
                     why ? why : d->library_name);
    }
    if (st == COGEN_RT_OK)
        st = load_functions(d, err);
    if (st == COGEN_RT_OK) {
        hsa_status_t hs = d->hsa.hsa_init();
        if (hs == HSA_STATUS_SUCCESS)
            d->initialised = true;
        else if (emu)
            st = rt_fail(err, COGEN_RT_DEVICE, "%s: hsa_init: %s", d->library_name,
                         rt_hsa_text(d, hs));
        else
            st = rt_fail(err, COGEN_RT_NO_DEVICE, "no GPU: %s found no device it can use",
                         d->library_name);
    }
    if (st == COGEN_RT_OK)
        st = find_agents(d, err);
    if (st != COGEN_RT_OK) {
        cogen_rt_close(d);
        return st;
    }
    *device = d;
    return rt_ok(err);
}

enum cogen_rt_status cogen_rt_open(const char *backend, struct cogen_rt_device **device,
                                   struct cogen_rt_error *err)
{
    if (!device)
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "cogen_rt_open: nowhere to put the device");
    *device = NULL;
    if (backend && strcmp(backend, "auto") == 0) {
        enum cogen_rt_status st = open_backend("hsa", device, err);
        return st == COGEN_RT_NO_DEVICE ? open_backend("emu", device, err) : st;
    }
    if (!backend || (strcmp(backend, "hsa") != 0 && strcmp(backend, "emu") != 0))
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "device \"%s\": not one of hsa, emu, auto",
                       backend ? backend : "(null)");
    return open_backend(backend, device, err);
}

void cogen_rt_close(struct cogen_rt_device *d)
{
    if (!d)
        return;
    if (d->initialised)
        d->hsa.hsa_shut_down();
    if (d->handle)
        dlclose(d->handle);
    free(d);
}

const struct cogen_rt_device_info *cogen_rt_device_info(const struct cogen_rt_device *device)
{
    return &device->info;
}

void *cogen_rt_device_symbol(const struct cogen_rt_device *device, const char *name)
{
    return dlsym(device->handle, name);
}

/* ---- memory */

static enum cogen_rt_status pool_alloc(struct cogen_rt_device *d, hsa_amd_memory_pool_t pool,
                                       size_t size, const char *what, void **ptr,
                                       struct cogen_rt_error *err)
{
    *ptr = NULL;
    hsa_status_t st = d->hsa.hsa_amd_memory_pool_allocate(pool, size ? size : 4, 0, ptr);
    if (st != HSA_STATUS_SUCCESS || !*ptr)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%zu bytes of %s memory: %s", size, what,
                       rt_hsa_text(d, st));
    return rt_ok(err);
}

enum cogen_rt_status cogen_rt_alloc(struct cogen_rt_device *d, size_t size, void **ptr,
                                    struct cogen_rt_error *err)
{
    return pool_alloc(d, d->vram, size, "device", ptr, err);
}

enum cogen_rt_status rt_kernarg_alloc(struct cogen_rt_device *d, size_t size, void **ptr,
                                      struct cogen_rt_error *err)
{
    enum cogen_rt_status st = pool_alloc(d, d->kernarg, size, "kernel argument", ptr, err);
    if (st != COGEN_RT_OK)
        return st;
    hsa_status_t hs = d->hsa.hsa_amd_agents_allow_access(1, &d->gpu, NULL, *ptr);
    if (hs == HSA_STATUS_SUCCESS)
        return st;
    cogen_rt_free(d, *ptr);
    *ptr = NULL;
    return rt_fail(err, COGEN_RT_DEVICE, "kernel argument memory is not open to the GPU: %s",
                   rt_hsa_text(d, hs));
}

void cogen_rt_free(struct cogen_rt_device *d, void *ptr)
{
    if (ptr)
        d->hsa.hsa_amd_memory_pool_free(ptr);
}

enum cogen_rt_status cogen_rt_copy(struct cogen_rt_device *d, void *dst, const void *src,
                                   size_t size, struct cogen_rt_error *err)
{
    hsa_status_t st = size ? d->hsa.hsa_memory_copy(dst, src, size) : HSA_STATUS_SUCCESS;
    if (st != HSA_STATUS_SUCCESS)
        return rt_fail(err, COGEN_RT_DEVICE, "copy of %zu bytes: %s", size, rt_hsa_text(d, st));
    return rt_ok(err);
}

enum cogen_rt_status cogen_rt_fill(struct cogen_rt_device *d, void *dst, uint32_t word, size_t size,
                                   struct cogen_rt_error *err)
{
    if (size % 4)
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "fill of %zu bytes: not a multiple of 4", size);
    hsa_status_t st = size ? d->hsa.hsa_amd_memory_fill(dst, word, size / 4) : HSA_STATUS_SUCCESS;
    if (st != HSA_STATUS_SUCCESS)
        return rt_fail(err, COGEN_RT_DEVICE, "fill of %zu bytes: %s", size, rt_hsa_text(d, st));
    return rt_ok(err);
}
