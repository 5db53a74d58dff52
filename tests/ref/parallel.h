/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REF_PARALLEL_H
#define REF_PARALLEL_H

/* Calls fn(arg, i) for every i in 0 .. n - 1, on at most two threads, and returns when all are
   done. The calls are independent: fn writes only what belongs to its i. */
void ref_parallel(int n, void (*fn)(void *arg, int i), void *arg);

#endif
