/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the HSA front share. The ABI has a process-wide runtime behind hsa_init, so
 * there is one state; it exists between the first hsa_init and the last hsa_shut_down.
 */
#ifndef EMU_HSA_STATE_H
#define EMU_HSA_STATE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "emu.h"

#pragma GCC visibility push(hidden) /* the front's own names are not the ABI's */

enum { HSA_CPU = 1, HSA_GPU = 2 }; /* agent handles */
enum {
    HSA_POOL_FINE = 10,
    HSA_POOL_KERNARG,
    HSA_POOL_CPU_COARSE,
    HSA_POOL_GPU,
    HSA_POOL_GPU_FINE,
    HSA_POOL_GROUP,
    HSA_POOL_END
}; /* memory pools, and regions by the same handles */
enum { HSA_ISA = 30, HSA_WAVEFRONT = 31, HSA_CACHE_L1 = 40, HSA_CACHE_L2 = 41 };
enum { HSA_QUEUE_MIN = 16, HSA_QUEUE_MAX = 131072, HSA_TICKS_PER_SECOND = 1000000000 };

struct hsa_state {
    struct emu_device *device;
    const char *arch;
    pthread_mutex_t dispatch;   /* the device runs one dispatch at a time */
    char *finding;              /* text of the last finding or refusal; under lists */
    struct emu_result counters; /* of the last dispatch; under lists */
    uint64_t dispatches;        /* under lists */

    pthread_mutex_t lists;     /* taken inside dispatch, never the other way round */
    struct hsa_alloc **allocs; /* by base */
    size_t alloc_count;
    struct hsa_reader *readers;
    struct hsa_exec *execs;
    struct hsa_aql *queues;
    hsa_amd_system_event_callback_t event_call;
    void *event_data;
};

/* NULL when hsa_init has not been called. */
struct hsa_state *hsa_state(void);
#define HSA_NEEDS_STATE(s)                                                                         \
    struct hsa_state *s = hsa_state();                                                             \
    if (!(s))                                                                                      \
    return HSA_STATUS_ERROR_NOT_INITIALIZED

/* Now, in ticks of HSA_SYSTEM_INFO_TIMESTAMP (ns). */
uint64_t hsa_now(void);

/* ---- signals: the handle is the address of one */
struct hsa_sig {
    _Atomic int64_t value;
    bool doorbell;       /* its value only rises: producers may ring in any order */
    uint64_t start, end; /* of the dispatch or copy that completed it */
};
static inline struct hsa_sig *hsa_sig(hsa_signal_t s)
{
    return (struct hsa_sig *)s.handle;
}
/* Wakes everybody who waits for a signal or a doorbell. */
void hsa_sig_wake(void);
/* Waits until test(data) holds or `ticks` have passed (UINT64_MAX: for ever). True when it holds.
 */
bool hsa_sig_wait(bool (*test)(void *data), void *data, uint64_t ticks);
bool hsa_sig_meets(hsa_signal_value_t value, hsa_signal_condition_t condition,
                   hsa_signal_value_t compare);
/* Takes one off a completion signal (handle 0: none) and notes the times. */
void hsa_sig_complete(hsa_signal_t signal, uint64_t start, uint64_t end);

/* ---- a dispatch's counters and findings: kept, and the findings' text to stderr */
void hsa_report(struct hsa_state *state, const struct emu_result *result);
/* One text that is no dispatch's, such as why a code object was refused. */
void hsa_complain(struct hsa_state *state, const char *text);

/* ---- what the parts know of each other */
/* The kernel of a frozen executable, or NULL and a reason. */
const struct emu_kernel *hsa_exec_kernel(struct hsa_state *state, uint64_t handle,
                                         const char **reason);
/* Ends what clients left behind, when the runtime shuts down. */
void hsa_queues_end(struct hsa_state *state);
void hsa_execs_end(struct hsa_state *state);
void hsa_allocs_end(struct hsa_state *state);
/* Notes an allocation; `pool` 0: locked host memory. False: out of memory. */
bool hsa_alloc_note(struct hsa_state *state, void *base, size_t size, uint64_t pool);
/* Forgets it and runs its deallocation callbacks. False: not the base of one of that kind. */
bool hsa_alloc_forget(struct hsa_state *state, void *base, bool locked);
/* Agent and global flags of a pool; false: no such pool. */
bool hsa_pool_traits(uint64_t pool, uint64_t *agent, uint32_t *flags);

#pragma GCC visibility pop

#endif
