/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User-mode queues: a ring of AQL packets and a thread that takes them in order. As every packet
 * ends before the next starts, and a dispatch begins and ends with the device's caches written back
 * and dropped, the barrier bit and the fence scopes hold at their strongest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

struct hsa_aql {
    hsa_queue_t public; /* first: clients hold its address */
    struct hsa_state *state;
    struct hsa_aql *next; /* of the runtime's; under its lists */
    _Atomic uint64_t write, read;
    _Atomic bool stop, inactive, profiled, destroyed;
    pthread_t thread;
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
    void *data;
    void *packet; /* a copy of the one that runs */
};

static struct hsa_aql *own(const hsa_queue_t *q)
{
    return (struct hsa_aql *)(uintptr_t)q;
}

enum { PACKET = 64 };

static uint16_t *header_of(struct hsa_aql *q, uint64_t index)
{
    return (uint16_t *)((char *)q->public.base_address + index % q->public.size * PACKET);
}

static int type_of(uint16_t header)
{
    return header >> HSA_PACKET_HEADER_TYPE & ((1 << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static bool has_packet(void *data)
{
    struct hsa_aql *q = data;
    uint64_t read = atomic_load(&q->read);
    if (atomic_load(&q->stop))
        return true;
    /* Nothing is taken before its doorbell rang: a client that forgets to ring hangs, as on a
     * device. */
    return !atomic_load(&q->inactive) && read < atomic_load(&q->write) &&
           (int64_t)read <= atomic_load(&hsa_sig(q->public.doorbell_signal)->value) &&
           type_of(__atomic_load_n(header_of(q, read), __ATOMIC_ACQUIRE)) !=
               HSA_PACKET_TYPE_INVALID;
}

static void fail(struct hsa_aql *q, hsa_status_t status, hsa_signal_t completion)
{
    atomic_store(&q->inactive, true);
    if (completion.handle && !q->callback) /* nobody is told otherwise: negative says it failed */
        atomic_store(&hsa_sig(completion)->value, -1);
    hsa_sig_wake();
    if (q->callback)
        q->callback(status, &q->public, q->data);
}

/* A dispatch does not outlive its queue: one that never ends must not hold up its destruction. */
static bool being_destroyed(const void *queue)
{
    return atomic_load(&((const struct hsa_aql *)queue)->stop);
}

/* Sizes of a packet, with those of dimensions beyond its setup's taken as 1. NULL, or what is
 * wrong. */
static const char *sizes_of(const hsa_kernel_dispatch_packet_t *p, struct emu_dispatch *d)
{
    const uint32_t grid[3] = {p->grid_size_x, p->grid_size_y, p->grid_size_z};
    const uint32_t group[3] = {p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z};
    int dims = p->setup >> HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS &
               ((1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS) - 1);
    if (dims == 0)
        return "the setup field gives no number of dimensions";
    for (int i = 0; i < 3; i++) {
        d->grid[i] = i < dims ? grid[i] : 1;
        d->group[i] = i < dims ? group[i] : 1;
        if (!d->grid[i] || !d->group[i])
            return "a grid or workgroup size is 0";
    }
    return NULL;
}

static void refuse_packet(struct hsa_aql *q, uint64_t index, hsa_status_t status, const char *why,
                          hsa_signal_t completion)
{
    char text[160];
    snprintf(text, sizeof text, "AQL packet %llu: %s", (unsigned long long)index, why);
    hsa_complain(q->state, text);
    fail(q, status, completion);
}

static void run_dispatch(struct hsa_aql *q, uint64_t index, const hsa_kernel_dispatch_packet_t *p)
{
    struct emu_dispatch d = {
        .kernel = p->kernel_object,
        .lds_bytes = p->group_segment_size,
        .private_bytes = p->private_segment_size,
        .kernarg = p->kernarg_address,
        .packet = p,
        .stopped = being_destroyed,
        .stopped_arg = q,
    };
    const char *why = sizes_of(p, &d);
    if (why) {
        refuse_packet(q, index, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, why, p->completion_signal);
        return;
    }
    struct emu_result result = {0};
    pthread_mutex_lock(&q->state->dispatch);
    bool known = hsa_exec_kernel(q->state, d.kernel, &why) != NULL;
    uint64_t start = hsa_now();
    enum emu_status status = EMU_INVALID;
    if (known) {
        status = emu_dispatch(q->state->device, &d, &result);
        hsa_report(q->state, &result);
    }
    uint64_t end = hsa_now();
    pthread_mutex_unlock(&q->state->dispatch);
    if (!known)
        refuse_packet(q, index, HSA_STATUS_ERROR_INVALID_CODE_OBJECT, why, p->completion_signal);
    else if (status != EMU_OK)
        fail(q,
             status == EMU_INVALID ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT
                                   : HSA_STATUS_ERROR_EXCEPTION,
             p->completion_signal);
    else if (q->profiled)
        hsa_sig_complete(p->completion_signal, start, end);
    else
        hsa_sig_complete(p->completion_signal, 0, 0);
}

struct barrier {
    const hsa_signal_t *signals;
    bool any;
    struct hsa_aql *queue;
    const hsa_amd_barrier_value_packet_t *value;
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

/* AMD's packet that waits for a comparison of a masked value. */
static bool value_holds(void *data)
{
    const struct barrier *b = data;
    const hsa_amd_barrier_value_packet_t *p = b->value;
    return hsa_sig_meets(atomic_load(&hsa_sig(p->signal)->value) & p->mask,
                         (hsa_signal_condition_t)p->cond, p->value) ||
           atomic_load(&b->queue->stop);
}

static void run_vendor(struct hsa_aql *q, uint64_t index, const void *packet)
{
    const hsa_amd_barrier_value_packet_t *p = packet;
    uint64_t start = hsa_now();
    if (p->header.AmdFormat != HSA_AMD_PACKET_TYPE_BARRIER_VALUE || !p->signal.handle) {
        refuse_packet(q, index, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                      "a vendor packet of a kind that is not known", (hsa_signal_t){0});
        return;
    }
    struct barrier b = {.queue = q, .value = p};
    hsa_sig_wait(value_holds, &b, UINT64_MAX);
    if (!atomic_load(&q->stop))
        hsa_sig_complete(p->completion_signal, start, hsa_now());
}

static void run_packet(struct hsa_aql *q, uint64_t index, void *packet)
{
    uint64_t start = hsa_now();
    switch (type_of(*(uint16_t *)packet)) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        run_dispatch(q, index, packet);
        break;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR: {
        hsa_barrier_and_packet_t *p = packet; /* both kinds have one layout */
        struct barrier b = {.signals = p->dep_signal,
                            .any = type_of(p->header) == HSA_PACKET_TYPE_BARRIER_OR,
                            .queue = q};
        hsa_sig_wait(barrier_holds, &b, UINT64_MAX);
        if (!atomic_load(&q->stop))
            hsa_sig_complete(p->completion_signal, start, hsa_now());
        break;
    }
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        run_vendor(q, index, packet);
        break;
    default:
        refuse_packet(q, index, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
                      "its type is none that this queue takes", (hsa_signal_t){0});
    }
}

static void queue_free(struct hsa_aql *q)
{
    if (q->public.doorbell_signal.handle)
        hsa_signal_destroy(q->public.doorbell_signal);
    if (q->public.base_address)
        emu_mem_free(q->state->device, q->public.base_address);
    if (q->packet)
        emu_mem_free(q->state->device, q->packet);
    free(q);
}

static void *process(void *data)
{
    struct hsa_aql *q = data;
    for (;;) {
        hsa_sig_wait(has_packet, q, UINT64_MAX);
        if (atomic_load(&q->stop))
            break;
        /* What runs is a copy, in device memory since a kernel may ask for its packet's address: a
         * client may fill the slot anew as soon as the completion signal tells it of the end. */
        uint64_t read = atomic_load(&q->read);
        uint16_t *header = header_of(q, read);
        memcpy(q->packet, header, PACKET);
        __atomic_store_n(header, (uint16_t)HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        run_packet(q, read, q->packet);
        atomic_store(&q->read, read + 1);
        hsa_sig_wake();
    }
    if (atomic_load(&q->destroyed)) /* from a callback on this thread */
        queue_free(q);
    return NULL;
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
    struct hsa_aql *q = calloc(1, sizeof *q);
    if (!q)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    q->state = s;
    q->callback = callback;
    q->data = data;
    q->packet = emu_mem_alloc(s->device, PACKET, PACKET, true);
    q->public =
        (hsa_queue_t){.type = type,
                      .features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                      .base_address = emu_mem_alloc(s->device, (size_t)size * PACKET, PACKET, true),
                      .size = size,
                      .id = (uint64_t)(uintptr_t)q};
    if (!q->packet || !q->public.base_address ||
        hsa_signal_create(-1, 0, NULL, &q->public.doorbell_signal) != HSA_STATUS_SUCCESS) {
        queue_free(q);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    hsa_sig(q->public.doorbell_signal)->doorbell = true;
    for (uint64_t i = 0; i < size; i++)
        *header_of(q, i) = HSA_PACKET_TYPE_INVALID;
    pthread_mutex_lock(&s->lists);
    bool started = pthread_create(&q->thread, NULL, process, q) == 0;
    if (started) {
        q->next = s->queues;
        s->queues = q;
    }
    pthread_mutex_unlock(&s->lists);
    if (!started) {
        queue_free(q);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *queue = &q->public;
    return HSA_STATUS_SUCCESS;
}

/* Takes a queue off the runtime's list, so that only one caller ends it. */
static bool unlist(struct hsa_state *s, const struct hsa_aql *q)
{
    bool found = false;
    pthread_mutex_lock(&s->lists);
    for (struct hsa_aql **at = &s->queues; *at && !found; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            found = true;
            break;
        }
    pthread_mutex_unlock(&s->lists);
    return found;
}

static void queue_end(struct hsa_aql *q)
{
    bool self = pthread_equal(pthread_self(), q->thread);
    if (self) {
        pthread_detach(q->thread);
        atomic_store(&q->destroyed, true);
    }
    pthread_t thread = q->thread;
    atomic_store(&q->stop, true);
    hsa_sig_wake();
    if (self)
        return;
    pthread_join(thread, NULL);
    queue_free(q);
}

void hsa_queues_end(struct hsa_state *s)
{
    for (;;) {
        pthread_mutex_lock(&s->lists);
        struct hsa_aql *q = s->queues;
        if (q)
            s->queues = q->next;
        pthread_mutex_unlock(&s->lists);
        if (!q)
            return;
        queue_end(q);
    }
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue)
{
    HSA_NEEDS_STATE(s);
    if (!queue || !unlist(s, own(queue)))
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    queue_end(own(queue));
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

/* A mask is kept off: every dispatch uses every CU, and a client that asks is told so. */
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t bits,
                                       const uint32_t *mask)
{
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (bits % 32 || (bits && !mask))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    bool all = true;
    for (uint32_t i = 0; i < bits / 32; i++)
        all = all && mask[i] == UINT32_MAX;
    return all ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t *queue, uint32_t bits, uint32_t *mask)
{
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (!bits || bits % 32 || !mask)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    unsigned cus = emu_device_config(own(queue)->state->device)->cus;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t bit = 1u << i % 32;
        mask[i / 32] = i % 32 ? mask[i / 32] : 0;
        mask[i / 32] |= i < cus ? bit : 0;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    (void)priority; /* one dispatch runs at a time */
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    if (!queue)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    atomic_store(&own(queue)->profiled, enable != 0);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time)
{
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!signal.handle || !time)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    /* None are kept unless the queue was told to. */
    time->start = hsa_sig(signal)->start;
    time->end = hsa_sig(signal)->end;
    return time->end ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}
