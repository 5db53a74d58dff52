/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User-mode queues: a ring of AQL packets and a thread that takes them in order. As every packet
 * ends before the next starts, and a dispatch begins and ends with the device's caches written back
 * and dropped, the barrier bit and the fence scopes hold at their strongest.
 */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

struct queue {
    hsa_queue_t public; /* first: clients hold its address */
    struct hsa_state *state;
    _Atomic uint64_t write, read;
    _Atomic bool stop, inactive;
    pthread_t thread;
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
    void *data;
};

static struct queue *own(const hsa_queue_t *q)
{
    return (struct queue *)(uintptr_t)q;
}

enum { PACKET = 64 };

static uint16_t *header_of(struct queue *q, uint64_t index)
{
    return (uint16_t *)((char *)q->public.base_address + index % q->public.size * PACKET);
}

static int type_of(uint16_t header)
{
    return header >> HSA_PACKET_HEADER_TYPE & ((1 << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static bool has_packet(void *data)
{
    struct queue *q = data;
    uint64_t read = atomic_load(&q->read);
    if (atomic_load(&q->stop))
        return true;
    return !atomic_load(&q->inactive) && read < atomic_load(&q->write) &&
           type_of(__atomic_load_n(header_of(q, read), __ATOMIC_ACQUIRE)) !=
               HSA_PACKET_TYPE_INVALID;
}

static void fail(struct queue *q, hsa_status_t status, hsa_signal_t completion)
{
    atomic_store(&q->inactive, true);
    if (q->callback) {
        q->callback(status, &q->public, q->data);
    } else if (completion.handle) { /* nobody is told otherwise: a negative value says it failed */
        atomic_store(&hsa_sig(completion)->value, -1);
    }
    hsa_sig_wake();
}

static void run_dispatch(struct queue *q, const hsa_kernel_dispatch_packet_t *p)
{
    struct emu_dispatch d = {
        .kernel = p->kernel_object,
        .grid = {p->grid_size_x,      p->grid_size_y,      p->grid_size_z     },
        .group = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z},
        .lds_bytes = p->group_segment_size,
        .private_bytes = p->private_segment_size,
        .kernarg = p->kernarg_address,
        .packet = p,
    };
    struct emu_result result = {0};
    pthread_mutex_lock(&q->state->dispatch);
    uint64_t start = hsa_now();
    enum emu_status status = emu_dispatch(q->state->device, &d, &result);
    uint64_t end = hsa_now();
    hsa_report(q->state, &result);
    pthread_mutex_unlock(&q->state->dispatch);
    if (status == EMU_OK)
        hsa_sig_complete(p->completion_signal, start, end);
    else
        fail(q,
             status == EMU_INVALID ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT
                                   : HSA_STATUS_ERROR_EXCEPTION,
             p->completion_signal);
}

struct barrier {
    const hsa_signal_t *signals;
    bool any;
    struct queue *queue;
};

static bool barrier_holds(void *data)
{
    const struct barrier *b = data;
    bool all = true, one = false, none = true;
    for (int i = 0; i < 5; i++) {
        if (!b->signals[i].handle)
            continue;
        bool zero = atomic_load(&hsa_sig(b->signals[i])->value) == 0;
        all &= zero;
        one |= zero;
        none = false;
    }
    return (b->any ? one || none : all) || atomic_load(&b->queue->stop);
}

static void run_packet(struct queue *q, void *packet)
{
    uint64_t start = hsa_now();
    switch (type_of(*(uint16_t *)packet)) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        run_dispatch(q, packet);
        break;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR: {
        hsa_barrier_and_packet_t *p = packet; /* both kinds have one layout */
        struct barrier b = {.signals = p->dep_signal,
                            .any = type_of(p->header) == HSA_PACKET_TYPE_BARRIER_OR,
                            .queue = q};
        hsa_sig_wait(barrier_holds, &b, UINT64_MAX);
        hsa_sig_complete(p->completion_signal, start, hsa_now());
        break;
    }
    default:
        fail(q, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, (hsa_signal_t){0});
    }
}

static void *process(void *data)
{
    struct queue *q = data;
    for (;;) {
        hsa_sig_wait(has_packet, q, UINT64_MAX);
        if (atomic_load(&q->stop))
            return NULL;
        uint64_t read = atomic_load(&q->read);
        uint16_t *header = header_of(q, read);
        run_packet(q, header);
        __atomic_store_n(header, (uint16_t)HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        atomic_store(&q->read, read + 1);
        hsa_sig_wake();
    }
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                              uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
    (void)private_bytes;
    (void)group_bytes;
    HSA_NEEDS_STATE(s);
    if (agent.handle != HSA_GPU)
        return agent.handle == HSA_CPU ? HSA_STATUS_ERROR_INVALID_QUEUE_CREATION
                                       : HSA_STATUS_ERROR_INVALID_AGENT;
    if (!queue || size < HSA_QUEUE_MIN || size > HSA_QUEUE_MAX || (size & (size - 1)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct queue *q = calloc(1, sizeof *q);
    if (!q)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    q->state = s;
    q->callback = callback;
    q->data = data;
    q->public =
        (hsa_queue_t){.type = type,
                      .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                      .base_address = emu_mem_alloc(s->device, (size_t)size * PACKET, PACKET, true),
                      .size = size,
                      .id = (uint64_t)(uintptr_t)q};
    if (!q->public.base_address ||
        hsa_signal_create(0, 0, NULL, &q->public.doorbell_signal) != HSA_STATUS_SUCCESS)
        goto fail;
    for (uint64_t i = 0; i < size; i++)
        *header_of(q, i) = HSA_PACKET_TYPE_INVALID;
    if (pthread_create(&q->thread, NULL, process, q) != 0)
        goto fail;
    *queue = &q->public;
    return HSA_STATUS_SUCCESS;
fail:
    if (q->public.doorbell_signal.handle)
        hsa_signal_destroy(q->public.doorbell_signal);
    if (q->public.base_address)
        emu_mem_free(s->device, q->public.base_address);
    free(q);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue)
{
    HSA_NEEDS_STATE(s);
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    struct queue *q = own(queue);
    atomic_store(&q->stop, true);
    hsa_sig_wake();
    pthread_join(q->thread, NULL);
    hsa_signal_destroy(queue->doorbell_signal);
    emu_mem_free(s->device, queue->base_address);
    free(q);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue)
{
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    atomic_store(&own(queue)->inactive, true);
    return HSA_STATUS_SUCCESS;
}

/* ---- indices, in the ABI's orders */

#define LOAD(order)                                                                                \
    uint64_t hsa_queue_load_read_index_##order(const hsa_queue_t *q)                               \
    {                                                                                              \
        return atomic_load(&own(q)->read);                                                         \
    }                                                                                              \
    uint64_t hsa_queue_load_write_index_##order(const hsa_queue_t *q)                              \
    {                                                                                              \
        return atomic_load(&own(q)->write);                                                        \
    }
LOAD(relaxed)
LOAD(acquire)
LOAD(scacquire)

#define STORE(order)                                                                               \
    void hsa_queue_store_write_index_##order(const hsa_queue_t *q, uint64_t v)                     \
    {                                                                                              \
        atomic_store(&own(q)->write, v);                                                           \
    }                                                                                              \
    void hsa_queue_store_read_index_##order(const hsa_queue_t *q, uint64_t v)                      \
    {                                                                                              \
        atomic_store(&own(q)->read, v);                                                            \
    }
STORE(relaxed)
STORE(release)
STORE(screlease)

#define MODIFY(order)                                                                              \
    uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *q, uint64_t v)                   \
    {                                                                                              \
        return atomic_fetch_add(&own(q)->write, v);                                                \
    }                                                                                              \
    uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *q, uint64_t expected,            \
                                               uint64_t v)                                         \
    {                                                                                              \
        atomic_compare_exchange_strong(&own(q)->write, &expected, v);                              \
        return expected;                                                                           \
    }
MODIFY(relaxed)
MODIFY(acquire)
MODIFY(release)
MODIFY(acq_rel)
MODIFY(scacquire)
MODIFY(screlease)
MODIFY(scacq_screl)

/* ---- AMD's additions */

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    (void)priority; /* one dispatch runs at a time */
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    (void)enable; /* times are always kept */
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time)
{
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!signal.handle || !time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    time->start = hsa_sig(signal)->start;
    time->end = hsa_sig(signal)->end;
    return HSA_STATUS_SUCCESS;
}
