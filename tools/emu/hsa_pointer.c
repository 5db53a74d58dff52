/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime knows of each allocation: its pool, a client's data and callbacks; locked host
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

#define RETURN_UNLESS(condition, status)                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (status);                                                                       \
    } while (0)

struct callback {
    struct callback *next;
    hsa_amd_deallocation_callback_t call;
    void *data;
};

struct hsa_alloc {
    uint8_t *base;
    size_t size;
    uint64_t pool;  /* 0: locked host memory */
    unsigned locks; /* of locked host memory */
    void *user_data;
    struct callback *callbacks;
};

/* ---- the list, by base; callers hold state->lists */
static size_t list_index(const struct hsa_state *state, const void *ptr)
{
    size_t lo = 0, hi = state->alloc_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (state->allocs[mid]->base <= (const uint8_t *)ptr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo; /* first that begins beyond ptr */
}

static struct hsa_alloc *list_find(const struct hsa_state *state, const void *ptr)
{
    size_t i = list_index(state, ptr);
    struct hsa_alloc *a = i ? state->allocs[i - 1] : NULL;
    return a && (size_t)((const uint8_t *)ptr - a->base) < a->size ? a : NULL;
}

static bool list_add(struct hsa_state *state, struct hsa_alloc *a)
{
    size_t n = state->alloc_count;
    struct hsa_alloc **list =
        (struct hsa_alloc **)realloc((void *)state->allocs, (n + 1) * sizeof(struct hsa_alloc *));
    if (!list)
        return false;
    state->allocs = list;
    size_t i = list_index(state, a->base);
    for (; n > i; n--)
        list[n] = list[n - 1];
    list[i] = a;
    state->alloc_count++;
    return true;
}

static void list_remove(struct hsa_state *state, const struct hsa_alloc *a)
{
    for (size_t i = list_index(state, a->base); i < state->alloc_count; i++)
        state->allocs[i - 1] = state->allocs[i];
    state->alloc_count--;
}

static void callbacks_run(struct hsa_alloc *a)
{
    while (a->callbacks) {
        struct callback *c = a->callbacks;
        a->callbacks = c->next;
        c->call(a->base, c->data);
        free(c);
    }
}

void hsa_allocs_end(struct hsa_state *state)
{
    for (size_t i = 0; i < state->alloc_count; i++) {
        callbacks_run(state->allocs[i]);
        free(state->allocs[i]);
    }
    free((void *)state->allocs);
}

bool hsa_alloc_note(struct hsa_state *state, void *base, size_t size, uint64_t pool)
{
    struct hsa_alloc *a = calloc(1, sizeof *a);
    if (!a)
        return false;
    *a = (struct hsa_alloc){.base = base, .size = size, .pool = pool};
    pthread_mutex_lock(&state->lists);
    bool added = list_add(state, a);
    pthread_mutex_unlock(&state->lists);
    if (!added)
        free(a);
    return added;
}

bool hsa_alloc_forget(struct hsa_state *state, void *base, bool locked)
{
    pthread_mutex_lock(&state->lists);
    struct hsa_alloc *a = list_find(state, base);
    if (a && (a->base != base || (a->pool == 0) != locked || (locked && --a->locks > 0)))
        a = NULL;
    if (a)
        list_remove(state, a);
    pthread_mutex_unlock(&state->lists);
    if (!a)
        return false;
    callbacks_run(a);
    free(a);
    return true;
}

/* ---- locked host memory */

/* Maps a host range for the device, or counts one lock more of a range that is locked already. */
static hsa_status_t lock_range(struct hsa_state *state, uint8_t *host, size_t size)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    pthread_mutex_lock(&state->lists);
    struct hsa_alloc *a = list_find(state, host);
    bool inside = a && size <= a->size - (size_t)(host - a->base);
    if (inside && a->pool == 0 && a->base == host) {
        a->locks++;
    } else if (!inside) {
        a = calloc(1, sizeof(*a));
        if (a)
            *a = (struct hsa_alloc){.base = host, .size = size, .locks = 1};
        if (!a || emu_mem_map(state->device, host, size)) {
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        } else if (!list_add(state, a)) {
            emu_mem_unmap(state->device, host);
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
        if (status != HSA_STATUS_SUCCESS)
            free(a);
    }
    pthread_mutex_unlock(&state->lists);
    return status;
}

hsa_status_t hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent,
                                 void **agent_ptr)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(host_ptr && size && agent_ptr, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    RETURN_UNLESS((agents == NULL) == (num_agent == 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < num_agent; i++)
        RETURN_UNLESS(agents[i].handle == HSA_CPU || agents[i].handle == HSA_GPU,
                      HSA_STATUS_ERROR_INVALID_AGENT);
    *agent_ptr = NULL;
    hsa_status_t status = lock_range(state, host_ptr, size);
    if (status == HSA_STATUS_SUCCESS)
        *agent_ptr = host_ptr;
    return status;
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size, hsa_agent_t *agents,
                                         int num_agent, hsa_amd_memory_pool_t pool, uint32_t flags,
                                         void **agent_ptr)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(flags == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    uint64_t agent;
    uint32_t pool_flags;
    RETURN_UNLESS(hsa_pool_traits(pool.handle, &agent, &pool_flags) && agent == HSA_CPU,
                  (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    return hsa_amd_memory_lock(host_ptr, size, agents, num_agent, agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void *host_ptr)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(host_ptr, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    if (!hsa_alloc_forget(state, host_ptr, true))
        return HSA_STATUS_SUCCESS;        /* still locked by somebody else, or never: no error */
    pthread_mutex_lock(&state->dispatch); /* one that runs may use it */
    emu_mem_unmap(state->device, host_ptr);
    pthread_mutex_unlock(&state->dispatch);
    return HSA_STATUS_SUCCESS;
}

/* ---- queries about pointers: every agent reaches every allocation */

static hsa_status_t list_agents(void *(*alloc)(size_t), uint32_t *count, hsa_agent_t **accessible)
{
    *count = 2;
    *accessible = alloc(2 * sizeof(hsa_agent_t));
    RETURN_UNLESS(*accessible, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    (*accessible)[0] = (hsa_agent_t){HSA_CPU};
    (*accessible)[1] = (hsa_agent_t){HSA_GPU};
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(const void *ptr, hsa_amd_pointer_info_t *info,
                                  void *(*alloc)(size_t), uint32_t *num_agents_accessible,
                                  hsa_agent_t **accessible)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(ptr && info && info->size >= sizeof(info->size),
                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_amd_pointer_info_t out = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
    pthread_mutex_lock(&state->lists);
    const struct hsa_alloc *a = list_find(state, ptr);
    if (a) {
        out.type = a->pool ? HSA_EXT_POINTER_TYPE_HSA : HSA_EXT_POINTER_TYPE_LOCKED;
        out.agentBaseAddress = out.hostBaseAddress = a->base;
        out.sizeInBytes = a->size;
        out.userData = a->user_data;
        if (!hsa_pool_traits(a->pool, &out.agentOwner.handle, &out.global_flags)) {
            out.agentOwner.handle = HSA_CPU;
            out.global_flags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
        }
    }
    pthread_mutex_unlock(&state->lists);
    out.size = info->size < sizeof(out) ? info->size : (uint32_t)sizeof(out);
    memcpy(info, &out, out.size);
    if (alloc && num_agents_accessible && accessible) {
        *num_agents_accessible = 0;
        *accessible = NULL;
        if (out.type != HSA_EXT_POINTER_TYPE_UNKNOWN)
            return list_agents(alloc, num_agents_accessible, accessible);
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(ptr, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    pthread_mutex_lock(&state->lists);
    struct hsa_alloc *a = list_find(state, ptr);
    if (a)
        a->user_data = userdata;
    pthread_mutex_unlock(&state->lists);
    return a ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_register_deallocation_callback(void *ptr,
                                                    hsa_amd_deallocation_callback_t callback,
                                                    void *user_data)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(ptr && callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct callback *c = malloc(sizeof(*c));
    RETURN_UNLESS(c, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    pthread_mutex_lock(&state->lists);
    struct hsa_alloc *a = list_find(state, ptr);
    if (a) {
        *c = (struct callback){a->callbacks, callback, user_data};
        a->callbacks = c;
    }
    pthread_mutex_unlock(&state->lists);
    if (!a)
        free(c);
    return a ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void *ptr,
                                                      hsa_amd_deallocation_callback_t callback)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(ptr && callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct callback *found = NULL;
    pthread_mutex_lock(&state->lists);
    struct hsa_alloc *a = list_find(state, ptr);
    for (struct callback **at = a ? &a->callbacks : NULL; at && *at; at = &(*at)->next)
        if ((*at)->call == callback) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&state->lists);
    free(found);
    return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
