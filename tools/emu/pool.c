/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host threads that share the XCDs of a round. Which thread runs which XCD does not matter to the
 * result.
 */
#include "wave.h"

#include <stdlib.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t *threads;
    unsigned nthreads;
    void (*fn)(void *arg, unsigned index);
    void *arg;
    unsigned next, n, busy;
    uint64_t turn;
    bool quit;
};

static bool take(struct pool *p, unsigned *i)
{
    if (p->next >= p->n)
        return false;
    *i = p->next++;
    return true;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->quit && p->turn == seen)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->quit)
            break;
        seen = p->turn;
        unsigned i;
        while (take(p, &i)) {
            p->busy++;
            pthread_mutex_unlock(&p->lock);
            p->fn(p->arg, i);
            pthread_mutex_lock(&p->lock);
            p->busy--;
        }
        if (!p->busy)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *pool_open(unsigned threads)
{
    struct pool *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    /* The caller is a thread, too. */
    p->threads = calloc(threads, sizeof(*p->threads));
    for (unsigned i = 1; p->threads && i < threads; i++)
        if (pthread_create(&p->threads[p->nthreads], NULL, worker, p) == 0)
            p->nthreads++;
    return p;
}

void pool_close(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->nthreads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p);
}

void pool_run(struct pool *p, void (*fn)(void *arg, unsigned index), void *arg, unsigned n)
{
    if (!p->nthreads || n < 2) {
        for (unsigned i = 0; i < n; i++)
            fn(arg, i);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->arg = arg;
    p->n = n;
    p->next = 0;
    p->turn++;
    pthread_cond_broadcast(&p->work);
    unsigned i;
    while (take(p, &i)) {
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        fn(arg, i);
        pthread_mutex_lock(&p->lock);
        p->busy--;
    }
    while (p->busy)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
