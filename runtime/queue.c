/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: AQL packets on a queue of the device. Every packet waits for the ones before it (the
 * barrier bit) and acquires and releases at system scope, so the back kernel sees the front's
 * stores and the host sees both. One signal a queue counts the launches that are not done: a launch
 * adds one before its packet is handed over, the device takes one off.
 */
#include "runtime/error.h"
#include "runtime/kernel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUEUE_PACKETS = 256,
    SLICE_TICKS =
        50 * 1000 *
        1000, /* how often a wait looks whether the device stopped or the time is up: a hint */
};

struct cogen_rt_queue {
    struct cogen_rt_device *device;
    hsa_queue_t *queue;
    hsa_signal_t pending; /* launches that are not done */
    uint64_t launched;
    const char *names[QUEUE_PACKETS]; /* of the launches, by number modulo the queue's length */
    _Atomic int fault;                /* hsa_status_t by which the device stopped the queue */
};

static void on_fault(hsa_status_t status, hsa_queue_t *source, void *data)
{
    (void)source;
    struct cogen_rt_queue *q = data;
    atomic_store(&q->fault, (int)status);
}

enum cogen_rt_status cogen_rt_queue_new(struct cogen_rt_device *d, struct cogen_rt_queue **out,
                                        struct cogen_rt_error *err)
{
    *out = NULL;
    struct cogen_rt_queue *q = calloc(1, sizeof *q);
    if (!q)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "out of memory for a queue");
    q->device = d;
    hsa_status_t st = d->hsa.hsa_signal_create(0, 0, NULL, &q->pending);
    if (st == HSA_STATUS_SUCCESS) {
        st = d->hsa.hsa_queue_create(d->gpu, QUEUE_PACKETS, HSA_QUEUE_TYPE_SINGLE, on_fault, q,
                                     UINT32_MAX, UINT32_MAX, &q->queue);
        if (st != HSA_STATUS_SUCCESS)
            d->hsa.hsa_signal_destroy(q->pending);
    }
    if (st != HSA_STATUS_SUCCESS) {
        free(q);
        return rt_fail(err, COGEN_RT_DEVICE, "a queue of %d packets: %s", QUEUE_PACKETS,
                       rt_hsa_text(d, st));
    }
    *out = q;
    return rt_ok(err);
}

void cogen_rt_queue_free(struct cogen_rt_queue *q)
{
    if (!q)
        return;
    q->device->hsa.hsa_queue_destroy(q->queue);
    q->device->hsa.hsa_signal_destroy(q->pending);
    free(q);
}

static const char *launch_name(const struct cogen_rt_queue *q, uint64_t number)
{
    return q->names[number % QUEUE_PACKETS];
}

static enum cogen_rt_status fault_of(struct cogen_rt_queue *q, struct cogen_rt_error *err)
{
    int fault = atomic_load(&q->fault);
    if (!fault)
        return COGEN_RT_OK;
    struct cogen_rt_device *d = q->device;
    int64_t pending = d->hsa.hsa_signal_load_scacquire(q->pending);
    uint64_t number = pending > 0 && (uint64_t)pending <= q->launched
                          ? q->launched - (uint64_t)pending
                          : q->launched - 1;
    return rt_fail(err, COGEN_RT_DEVICE, "%s: the device stopped launch %llu: %s",
                   launch_name(q, number), (unsigned long long)number,
                   rt_hsa_text(d, (hsa_status_t)fault));
}

/* Checks that cost a few compares: a launch does no more than this and writing one packet. */
static enum cogen_rt_status may_launch(struct cogen_rt_queue *q, const struct cogen_rt_args *a,
                                       unsigned packets, struct cogen_rt_error *err)
{
    if (a->unset)
        return cogen_rt_args_check(a, err);
    if (a->kernel->device != q->device)
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: loaded on another device than the queue's",
                       a->kernel->entry->name);
    if (atomic_load(&q->fault))
        return fault_of(q, err);
    const struct rt_hsa *hsa = &q->device->hsa;
    uint64_t room = QUEUE_PACKETS - (hsa->hsa_queue_load_write_index_relaxed(q->queue) -
                                     hsa->hsa_queue_load_read_index_scacquire(q->queue));
    if (room < packets)
        return rt_fail(err, COGEN_RT_LIMIT,
                       "%s: %d launches are on the queue, which is its limit: wait first",
                       a->kernel->entry->name, QUEUE_PACKETS);
    return COGEN_RT_OK;
}

static void put_packet(struct cogen_rt_queue *q, const struct cogen_rt_args *a)
{
    const struct rt_hsa *hsa = &q->device->hsa;
    const struct cogen_rt_kernel *k = a->kernel;
    uint64_t index = hsa->hsa_queue_load_write_index_relaxed(q->queue);
    hsa_kernel_dispatch_packet_t *p =
        (hsa_kernel_dispatch_packet_t *)q->queue->base_address + index % q->queue->size;

    p->workgroup_size_x = (uint16_t)k->entry->threads;
    p->workgroup_size_y = p->workgroup_size_z = 1;
    p->reserved0 = 0;
    p->grid_size_x = k->entry->workgroups * k->entry->threads;
    p->grid_size_y = p->grid_size_z = 1;
    p->private_segment_size = k->private_bytes;
    p->group_segment_size = k->group_bytes;
    p->kernel_object = k->object;
    p->kernarg_address = a->block;
    p->reserved2 = 0;
    p->completion_signal = q->pending;
    hsa->hsa_signal_add_screlease(q->pending, 1);
    q->names[q->launched++ % QUEUE_PACKETS] = k->entry->name;
    hsa->hsa_queue_store_write_index_screlease(q->queue, index + 1);

    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                      1 << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    uint32_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    /* The header makes the packet valid, so it goes last, and with the setup in one store. */
    __atomic_store_n((uint32_t *)p, header | setup << 16, __ATOMIC_RELEASE);
    hsa->hsa_signal_store_screlease(q->queue->doorbell_signal, (hsa_signal_value_t)index);
}

enum cogen_rt_status cogen_rt_launch(struct cogen_rt_queue *q, const struct cogen_rt_args *args,
                                     struct cogen_rt_error *err)
{
    enum cogen_rt_status st = may_launch(q, args, 1, err);
    if (st != COGEN_RT_OK)
        return st;
    put_packet(q, args);
    return rt_ok(err);
}

enum cogen_rt_status cogen_rt_launch_pair(struct cogen_rt_queue *q,
                                          const struct cogen_rt_args *front,
                                          const struct cogen_rt_args *back,
                                          struct cogen_rt_error *err)
{
    enum cogen_rt_status st = may_launch(q, front, 2, err);
    if (st == COGEN_RT_OK)
        st = may_launch(q, back, 2, err);
    if (st != COGEN_RT_OK)
        return st;
    put_packet(q, front);
    put_packet(q, back);
    return rt_ok(err);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum cogen_rt_status cogen_rt_wait(struct cogen_rt_queue *q, uint64_t timeout_ms,
                                   struct cogen_rt_error *err)
{
    struct cogen_rt_device *d = q->device;
    uint64_t start = now_ms();
    for (;;) {
        int64_t left = d->hsa.hsa_signal_wait_scacquire(q->pending, HSA_SIGNAL_CONDITION_LT, 1,
                                                        SLICE_TICKS, HSA_WAIT_STATE_BLOCKED);
        if (atomic_load(&q->fault))
            return fault_of(q, err);
        if (left < 1)
            return rt_ok(err);
        if (timeout_ms && now_ms() - start >= timeout_ms) {
            uint64_t number = q->launched - (uint64_t)left;
            return rt_fail(err, COGEN_RT_TIMEOUT, "%s: launch %llu was not done within %llu ms%s",
                           launch_name(q, number), (unsigned long long)number,
                           (unsigned long long)timeout_ms,
                           left > 1 ? "; later launches wait behind it" : "");
        }
    }
}
