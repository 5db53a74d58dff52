/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REF_KEYS_H
#define REF_KEYS_H

#include "case.h"

/* The key table of C: kt [s, keys] int32 (compressed rows with bit 31 set, then window slots, then
   -1) and klen [2 s] (kv_len of every token, then ntopk). Both are the caller's. */
void ref_key_table(const struct ref_case *c, int32_t *kt, int32_t *klen);

/* Row t of such a table anew: comp random rows of the compressed cache, then window random ones of
   the window's, then -1. comp + window is at most the case's keys. */
void ref_random_keys(const struct ref_case *c, int t, int comp, int window, int32_t *kt,
                     int32_t *klen);

#endif
