/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and regions, allocations, copies. All of the device's memory lies in the process, so every
 * agent reaches it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

struct pool {
    uint64_t handle, agent;
    hsa_amd_segment_t segment;
    uint32_t flags;
    bool defined; /* its first contents count as written */
};

static const struct pool pools[] = {
    {HSA_POOL_FINE,       HSA_CPU, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
     true                                                                                                       },
    {HSA_POOL_KERNARG,    HSA_CPU, HSA_AMD_SEGMENT_GLOBAL,
     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
     true                                                                                                       },
    {HSA_POOL_CPU_COARSE, HSA_CPU, HSA_AMD_SEGMENT_GLOBAL,
     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,                                                       true },
    {HSA_POOL_GPU,        HSA_GPU, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
     false                                                                                                      },
    {HSA_POOL_GPU_FINE,   HSA_GPU, HSA_AMD_SEGMENT_GLOBAL,
     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,                                                         false},
    {HSA_POOL_GROUP,      HSA_GPU, HSA_AMD_SEGMENT_GROUP,  0,                                              false},
};

static const uint64_t pool_bytes = (uint64_t)288 << 30; /* MI355X's HBM */
enum { GRANULE = 4096, LDS_GFX950 = 160 << 10, LDS_GFX942 = 64 << 10 };

static const struct pool *pool_of(uint64_t handle)
{
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        if (pools[i].handle == handle)
            return &pools[i];
    return NULL;
}

static uint64_t size_of(const struct hsa_state *s, const struct pool *p)
{
    if (p->segment == HSA_AMD_SEGMENT_GROUP)
        return strcmp(s->arch, "gfx942") == 0 ? LDS_GFX942 : LDS_GFX950;
    return pool_bytes;
}

bool hsa_pool_traits(uint64_t pool, uint64_t *agent, uint32_t *flags)
{
    const struct pool *p = pool_of(pool);
    if (!p)
        return false;
    *agent = p->agent;
    *flags = p->flags;
    return true;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_status_t (*call)(hsa_amd_memory_pool_t, void *),
                                                void *data)
{
    HSA_NEEDS_STATE(s);
    (void)s;
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        if (pools[i].agent != agent.handle)
            continue;
        hsa_status_t status = call((hsa_amd_memory_pool_t){pools[i].handle}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool,
                                          hsa_amd_memory_pool_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(s);
    const struct pool *p = pool_of(pool.handle);
    if (!p || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
    switch ((int)attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
        *(hsa_amd_segment_t *)value = p->segment;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
        *(uint32_t *)value = p->flags;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
        *(size_t *)value = size_of(s, p);
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
        *(bool *)value = global;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
        *(size_t *)value = global ? GRANULE : 0;
        break;
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
        *(bool *)value = global;
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                hsa_amd_agent_memory_pool_info_t attribute,
                                                void *value)
{
    const struct pool *p = pool_of(pool.handle);
    if (!p || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool reachable = p->segment == HSA_AMD_SEGMENT_GLOBAL || p->agent == agent.handle;
    switch ((int)attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
        *(hsa_amd_memory_pool_access_t *)value = reachable
                                                     ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                     : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
        *(uint32_t *)value = p->agent != agent.handle;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
        memset(value, 0, (p->agent != agent.handle) * sizeof(hsa_amd_memory_pool_link_info_t));
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                          void **ptr)
{
    (void)flags;
    HSA_NEEDS_STATE(s);
    const struct pool *p = pool_of(pool.handle);
    if (!p || !ptr || !size)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (p->segment != HSA_AMD_SEGMENT_GLOBAL || size > size_of(s, p))
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    *ptr = emu_mem_alloc(s->device, size, GRANULE, p->defined);
    if (*ptr && !hsa_alloc_note(s, *ptr, size, p->handle)) {
        emu_mem_free(s->device, *ptr);
        *ptr = NULL;
    }
    return *ptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr)
{
    HSA_NEEDS_STATE(s);
    if (!ptr)
        return HSA_STATUS_SUCCESS;
    if (!hsa_alloc_forget(s, ptr, false))
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    pthread_mutex_lock(&s->dispatch); /* one that runs may use it */
    emu_mem_free(s->device, ptr);
    pthread_mutex_unlock(&s->dispatch);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents,
                                         const uint32_t *flags, const void *ptr)
{
    (void)flags;
    HSA_NEEDS_STATE(s);
    void *base;
    size_t size;
    if (!count || !agents || !ptr || !emu_mem_info(s->device, ptr, &base, &size))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return HSA_STATUS_SUCCESS;
}

/* ---- regions: the same places by the older calls */

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent,
                                       hsa_status_t (*call)(hsa_region_t, void *), void *data)
{
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        if (pools[i].agent != agent.handle)
            continue;
        hsa_status_t status = call((hsa_region_t){pools[i].handle}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(s);
    const struct pool *p = pool_of(region.handle);
    if (!p)
        return HSA_STATUS_ERROR_INVALID_REGION;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool global = p->segment == HSA_AMD_SEGMENT_GLOBAL;
    switch ((int)attribute) {
    case HSA_REGION_INFO_SEGMENT:
        *(hsa_region_segment_t *)value =
            global ? HSA_REGION_SEGMENT_GLOBAL : HSA_REGION_SEGMENT_GROUP;
        break;
    case HSA_REGION_INFO_GLOBAL_FLAGS:
        *(uint32_t *)value = p->flags; /* the two enumerations agree */
        break;
    case HSA_REGION_INFO_SIZE:
    case HSA_REGION_INFO_ALLOC_MAX_SIZE:
        *(size_t *)value = size_of(s, p);
        break;
    case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
        *(uint32_t *)value = 0;
        break;
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
        *(bool *)value = global;
        break;
    case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
        *(size_t *)value = global ? GRANULE : 0;
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
    return hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){region.handle}, size, 0, ptr);
}

hsa_status_t hsa_memory_free(void *ptr)
{
    return hsa_amd_memory_pool_free(ptr);
}

hsa_status_t hsa_memory_assign_agent(void *ptr, hsa_agent_t agent, hsa_access_permission_t access)
{
    (void)access;
    (void)agent;
    return ptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* A hint for agents of the full profile, and there are none: hsa_amd_memory_lock is what makes host
 * memory reachable. */
hsa_status_t hsa_memory_register(void *ptr, size_t size)
{
    return ptr && size ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_deregister(void *ptr, size_t size)
{
    (void)ptr;
    (void)size;
    return HSA_STATUS_SUCCESS;
}

/* ---- copies */

static bool on_device(const struct hsa_state *s, const void *ptr)
{
    void *base;
    size_t size;
    return emu_mem_info(s->device, ptr, &base, &size);
}

/* Whether a range that begins in an allocation also ends in it; other memory is the host's own. */
static bool inside(const struct hsa_state *s, const void *ptr, size_t size)
{
    void *base;
    size_t whole;
    if (!emu_mem_info(s->device, ptr, &base, &whole))
        return true;
    return size <= whole - (size_t)((const char *)ptr - (char *)base);
}

static void copy(const struct hsa_state *s, void *dst, const void *src, size_t size)
{
    if (on_device(s, dst))
        emu_mem_copy(s->device, dst, src, size);
    else
        memcpy(dst, src, size);
}

/* A copy over the end of an allocation would fault on a device: it is refused, with a line. */
static hsa_status_t check_copy(struct hsa_state *s, const void *dst, size_t dst_size,
                               const void *src, size_t src_size)
{
    if (inside(s, dst, dst_size) && inside(s, src, src_size))
        return HSA_STATUS_SUCCESS;
    char text[160];
    snprintf(text, sizeof text,
             "a copy from %p (%zu bytes) to %p (%zu bytes) ends beyond its allocation", src,
             src_size, dst, dst_size);
    hsa_complain(s, text);
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size)
{
    HSA_NEEDS_STATE(s);
    if (size && (!dst || !src))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = size ? check_copy(s, dst, size, src, size) : HSA_STATUS_SUCCESS;
    if (size && status == HSA_STATUS_SUCCESS)
        copy(s, dst, src, size);
    return status;
}

hsa_status_t hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
    HSA_NEEDS_STATE(s);
    if (!ptr || (uintptr_t)ptr % 4 || !on_device(s, ptr))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (count > SIZE_MAX / 4 || !inside(s, ptr, count * 4))
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    emu_mem_fill(s->device, ptr, value, count);
    return HSA_STATUS_SUCCESS;
}

/* A copy of `rows` rows of `width` bytes in each of `planes` planes; a plain one has one of each.
 */
struct async {
    struct hsa_state *state;
    char *dst;
    const char *src;
    size_t width, rows, planes;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    hsa_signal_t done;
    uint32_t count;
    hsa_signal_t after[];
};

static bool all_zero(void *data)
{
    const struct async *a = data;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->after[i].handle && atomic_load(&hsa_sig(a->after[i])->value) != 0)
            return false;
    return true;
}

static void *run_copy(void *data)
{
    struct async *a = data;
    hsa_sig_wait(all_zero, a, UINT64_MAX);
    uint64_t start = hsa_now();
    for (size_t z = 0; z < a->planes; z++)
        for (size_t y = 0; y < a->rows; y++)
            copy(a->state, a->dst + z * a->dst_slice + y * a->dst_pitch,
                 a->src + z * a->src_slice + y * a->src_pitch, a->width);
    hsa_sig_complete(a->done, start, hsa_now());
    free(a);
    return NULL;
}

/* Starts a copy that waits for signals on a thread of its own, so that none waits for another's. */
static hsa_status_t start_copy(struct async what, uint32_t count, const hsa_signal_t *after)
{
    if (!what.dst || !what.src || (count && !after))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!what.done.handle)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    if (what.width && what.rows && what.planes) {
        size_t rows = what.rows - 1, planes = what.planes - 1;
        hsa_status_t status = check_copy(
            what.state, what.dst, planes * what.dst_slice + rows * what.dst_pitch + what.width,
            what.src, planes * what.src_slice + rows * what.src_pitch + what.width);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    struct async *a = malloc(sizeof *a + count * sizeof *after);
    pthread_t thread;
    if (!a)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *a = what;
    a->count = count;
    for (uint32_t i = 0; i < count; i++)
        a->after[i] = after[i];
    if (pthread_create(&thread, NULL, run_copy, a) != 0) {
        free(a);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    pthread_detach(thread);
    return HSA_STATUS_SUCCESS;
}

static bool is_agent(hsa_agent_t agent)
{
    return agent.handle == HSA_CPU || agent.handle == HSA_GPU;
}

hsa_status_t hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
                                       hsa_agent_t src_agent, size_t size, uint32_t count,
                                       const hsa_signal_t *after, hsa_signal_t done)
{
    HSA_NEEDS_STATE(s);
    if (!is_agent(dst_agent) || !is_agent(src_agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    return start_copy((struct async){.state = s,
                                     .dst = dst,
                                     .src = src,
                                     .width = size,
                                     .rows = 1,
                                     .planes = 1,
                                     .done = done},
                      count, after);
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_at,
                                            const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_at,
                                            const hsa_dim3_t *range, hsa_agent_t agent,
                                            hsa_amd_copy_direction_t direction, uint32_t count,
                                            const hsa_signal_t *after, hsa_signal_t done)
{
    (void)direction;
    HSA_NEEDS_STATE(s);
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!dst || !dst_at || !src || !src_at || !range || !dst->base || !src->base)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return start_copy(
        (struct async){
            .state = s,
            .dst = (char *)dst->base + dst_at->x + dst_at->y * dst->pitch + dst_at->z * dst->slice,
            .src = (char *)src->base + src_at->x + src_at->y * src->pitch + src_at->z * src->slice,
            .width = range->x,
            .rows = range->y,
            .planes = range->z,
            .dst_pitch = dst->pitch,
            .dst_slice = dst->slice,
            .src_pitch = src->pitch,
            .src_slice = src->slice,
            .done = done},
        count, after);
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    (void)enable; /* times are always kept */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t *time)
{
    if (!signal.handle || !time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    time->start = hsa_sig(signal)->start;
    time->end = hsa_sig(signal)->end;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                             uint64_t *system)
{
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!system)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *system = tick; /* one clock */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to,
                                             bool *result)
{
    if (!pool_of(from.handle) || !pool_of(to.handle))
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (!result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = false;
    return HSA_STATUS_SUCCESS;
}
