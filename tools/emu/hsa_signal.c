/* SPDX-License-Identifier: Apache-2.0 */
/* Signals. Every change wakes every waiter: there are few of either, and one condition is easy to
 * trust. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

enum { WAIT_SLICE = 20 * 1000 * 1000 }; /* ns: device code may change a value without a call */

void hsa_sig_wake(void)
{
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

bool hsa_sig_wait(bool (*test)(void *data), void *data, uint64_t ticks)
{
    uint64_t start = hsa_now();
    pthread_mutex_lock(&lock);
    bool holds;
    while (!(holds = test(data)) && hsa_now() - start < ticks) {
        uint64_t left = ticks - (hsa_now() - start), slice = left < WAIT_SLICE ? left : WAIT_SLICE;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        uint64_t ns = (uint64_t)until.tv_nsec + slice;
        until.tv_sec += (time_t)(ns / HSA_TICKS_PER_SECOND);
        until.tv_nsec = (long)(ns % HSA_TICKS_PER_SECOND);
        pthread_cond_timedwait(&changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return holds;
}

bool hsa_sig_meets(hsa_signal_value_t v, hsa_signal_condition_t condition, hsa_signal_value_t c)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return v == c;
    case HSA_SIGNAL_CONDITION_NE:
        return v != c;
    case HSA_SIGNAL_CONDITION_LT:
        return v < c;
    case HSA_SIGNAL_CONDITION_GTE:
        return v >= c;
    }
    return false;
}

void hsa_sig_complete(hsa_signal_t signal, uint64_t start, uint64_t end)
{
    struct hsa_sig *s = hsa_sig(signal);
    if (!s)
        return;
    s->start = start;
    s->end = end;
    atomic_fetch_sub(&s->value, 1);
    hsa_sig_wake();
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t consumers,
                               const hsa_agent_t *agents, hsa_signal_t *signal)
{
    if (!signal || (consumers && !agents))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!hsa_state())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    struct hsa_sig *s = calloc(1, sizeof *s);
    if (!s)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    atomic_store(&s->value, initial);
    signal->handle = (uint64_t)(uintptr_t)s;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial, uint32_t consumers,
                                   const hsa_agent_t *agents, uint64_t attributes,
                                   hsa_signal_t *signal)
{
    (void)attributes;
    return hsa_signal_create(initial, consumers, agents, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal)
{
    if (!signal.handle)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    free(hsa_sig(signal));
    return HSA_STATUS_SUCCESS;
}

/* ---- the ABI's many orders: each is at least as strong as asked when it is sequentially
 * consistent */

#define LOAD(order)                                                                                \
    hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t s)                                     \
    {                                                                                              \
        return atomic_load(&hsa_sig(s)->value);                                                    \
    }
LOAD(relaxed)
LOAD(acquire)
LOAD(scacquire)

static void store(struct hsa_sig *s, int64_t v)
{
    int64_t old = atomic_load(&s->value);
    while ((!s->doorbell || old < v) && !atomic_compare_exchange_weak(&s->value, &old, v))
        ;
}

#define STORE(name)                                                                                \
    void hsa_signal_##name(hsa_signal_t s, hsa_signal_value_t v)                                   \
    {                                                                                              \
        store(hsa_sig(s), v);                                                                      \
        hsa_sig_wake();                                                                            \
    }
STORE(store_relaxed)
STORE(store_release)
STORE(store_screlease)
STORE(silent_store_relaxed)
STORE(silent_store_screlease)

#define MODIFY(op, order, call)                                                                    \
    void hsa_signal_##op##_##order(hsa_signal_t s, hsa_signal_value_t v)                           \
    {                                                                                              \
        call(&hsa_sig(s)->value, v);                                                               \
        hsa_sig_wake();                                                                            \
    }
#define EXCHANGE(op, order, call)                                                                  \
    hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t s, hsa_signal_value_t v)           \
    {                                                                                              \
        hsa_signal_value_t old = atomic_exchange(&hsa_sig(s)->value, v);                           \
        hsa_sig_wake();                                                                            \
        return old;                                                                                \
    }
#define CAS(op, order, call)                                                                       \
    hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t s, hsa_signal_value_t expected,         \
                                              hsa_signal_value_t v)                                \
    {                                                                                              \
        int64_t old = expected;                                                                    \
        atomic_compare_exchange_strong(&hsa_sig(s)->value, &old, v);                               \
        hsa_sig_wake();                                                                            \
        return old;                                                                                \
    }
#define ORDERS(macro, op, call)                                                                    \
    macro(op, relaxed, call) macro(op, acquire, call) macro(op, release, call)                     \
        macro(op, acq_rel, call) macro(op, scacquire, call) macro(op, screlease, call)             \
            macro(op, scacq_screl, call)
ORDERS(MODIFY, add, atomic_fetch_add)
ORDERS(MODIFY, subtract, atomic_fetch_sub)
ORDERS(MODIFY, and, atomic_fetch_and)
ORDERS(MODIFY, or, atomic_fetch_or)
ORDERS(MODIFY, xor, atomic_fetch_xor)
ORDERS(EXCHANGE, exchange, )
ORDERS(CAS, cas, )

struct wait {
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare, seen;
};

static bool wait_holds(void *data)
{
    struct wait *w = data;
    w->seen = atomic_load(&hsa_sig(w->signal)->value);
    return hsa_sig_meets(w->seen, w->condition, w->compare);
}

#define WAIT(order)                                                                                \
    hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t s, hsa_signal_condition_t condition,   \
                                               hsa_signal_value_t compare, uint64_t ticks,         \
                                               hsa_wait_state_t hint)                              \
    {                                                                                              \
        (void)hint;                                                                                \
        struct wait w = {.signal = s, .condition = condition, .compare = compare};                 \
        hsa_sig_wait(wait_holds, &w, ticks);                                                       \
        return w.seen;                                                                             \
    }
WAIT(relaxed)
WAIT(acquire)
WAIT(scacquire)

/* ---- several at once */

struct any {
    uint32_t count, found;
    const hsa_signal_t *signals;
    const hsa_signal_condition_t *conditions;
    const hsa_signal_value_t *compares;
    hsa_signal_value_t seen;
};

static bool any_holds(void *data)
{
    struct any *a = data;
    for (uint32_t i = 0; i < a->count; i++) {
        a->seen = atomic_load(&hsa_sig(a->signals[i])->value);
        a->found = i;
        if (hsa_sig_meets(a->seen, a->conditions[i], a->compares[i]))
            return true;
    }
    a->found = UINT32_MAX;
    return false;
}

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals,
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *values,
                                 uint64_t ticks, hsa_wait_state_t hint, hsa_signal_value_t *seen)
{
    (void)hint;
    struct any a = {
        .count = count, .signals = signals, .conditions = conditions, .compares = values};
    hsa_sig_wait(any_holds, &a, ticks);
    if (seen)
        *seen = a.seen;
    return a.found;
}

struct group {
    uint32_t count;
    hsa_signal_t signals[];
};

hsa_status_t hsa_signal_group_create(uint32_t count, const hsa_signal_t *signals,
                                     uint32_t consumers, const hsa_agent_t *agents,
                                     hsa_signal_group_t *group)
{
    if (!count || !signals || !group || (consumers && !agents))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct group *g = malloc(sizeof *g + count * sizeof *signals);
    if (!g)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    g->count = count;
    for (uint32_t i = 0; i < count; i++)
        g->signals[i] = signals[i];
    group->handle = (uint64_t)(uintptr_t)g;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group)
{
    if (!group.handle)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    free((struct group *)(uintptr_t)group.handle);
    return HSA_STATUS_SUCCESS;
}

#define GROUP_WAIT(order)                                                                          \
    hsa_status_t hsa_signal_group_wait_any_##order(                                                \
        hsa_signal_group_t group, const hsa_signal_condition_t *conditions,                        \
        const hsa_signal_value_t *compares, hsa_wait_state_t hint, hsa_signal_t *signal,           \
        hsa_signal_value_t *value)                                                                 \
    {                                                                                              \
        (void)hint;                                                                                \
        struct group *g = (struct group *)(uintptr_t)group.handle;                                 \
        if (!g || !conditions || !compares || !signal || !value)                                   \
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;                                              \
        struct any a = {.count = g->count,                                                         \
                        .signals = g->signals,                                                     \
                        .conditions = conditions,                                                  \
                        .compares = compares};                                                     \
        hsa_sig_wait(any_holds, &a, UINT64_MAX);                                                   \
        *signal = g->signals[a.found];                                                             \
        *value = a.seen;                                                                           \
        return HSA_STATUS_SUCCESS;                                                                 \
    }
GROUP_WAIT(relaxed)
GROUP_WAIT(scacquire)

/* ---- AMD's additions */

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t **at)
{
    if (!signal.handle || !at)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *at = (volatile hsa_signal_value_t *)&hsa_sig(signal)->value;
    return HSA_STATUS_SUCCESS;
}

struct handler {
    struct wait wait;
    hsa_amd_signal_handler call;
    void *data;
};

/* Calls the handler whenever the condition holds, until it returns false. */
static void *run_handler(void *data)
{
    struct handler *h = data;
    do
        hsa_sig_wait(wait_holds, &h->wait, UINT64_MAX);
    while (h->call(h->wait.seen, h->data));
    free(h);
    return NULL;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t compare, hsa_amd_signal_handler call,
                                          void *data)
{
    if (!signal.handle || !call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct handler *h = calloc(1, sizeof *h);
    pthread_t thread;
    if (!h)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *h = (struct handler){
        .wait = {.signal = signal, .condition = condition, .compare = compare},
        .call = call,
        .data = data
    };
    if (pthread_create(&thread, NULL, run_handler, h) != 0) {
        free(h);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    pthread_detach(thread);
    return HSA_STATUS_SUCCESS;
}

struct call {
    void (*fn)(void *);
    void *data;
};

static void *run_call(void *data)
{
    struct call c = *(struct call *)data;
    free(data);
    c.fn(c.data);
    return NULL;
}

hsa_status_t hsa_amd_async_function(void (*fn)(void *arg), void *arg)
{
    struct call *c = fn ? malloc(sizeof *c) : NULL;
    pthread_t thread;
    if (!fn)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!c)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *c = (struct call){fn, arg};
    if (pthread_create(&thread, NULL, run_call, c) != 0) {
        free(c);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    pthread_detach(thread);
    return HSA_STATUS_SUCCESS;
}
