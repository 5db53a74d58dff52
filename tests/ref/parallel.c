/* SPDX-License-Identifier: Apache-2.0 */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

struct job {
    void (*fn)(void *arg, int i);
    void *arg;
    int n;
    atomic_int next;
};

static void *run(void *p)
{
    struct job *job = p;
    for (;;) {
        int i = atomic_fetch_add(&job->next, 1);
        if (i >= job->n)
            return 0;
        job->fn(job->arg, i);
    }
}

void ref_parallel(int n, void (*fn)(void *arg, int i), void *arg)
{
    struct job job = {.fn = fn, .arg = arg, .n = n};
    pthread_t other;
    int started = n > 1 && pthread_create(&other, 0, run, &job) == 0;
    run(&job);
    if (started)
        pthread_join(other, 0);
}
