/* SPDX-License-Identifier: Apache-2.0 */
/* The streams that a case's tensors are cut from. */
#ifndef REF_CASE_FILL_H
#define REF_CASE_FILL_H

#include "case.h"

/* Tensor ids of the streams. */
enum ref_stream {
    REF_ID_WQKV = 1,
    REF_ID_WQKV_S,
    REF_ID_WQB,
    REF_ID_WQB_S,
    REF_ID_WOA,
    REF_ID_WOA_S,
    REF_ID_WOB,
    REF_ID_WOB_S,
    REF_ID_X,
    REF_ID_QN_W,
    REF_ID_KVN_W,
    REF_ID_COS_SIN,
    REF_ID_POS,
    REF_ID_SWA,
    REF_ID_COMP,
    REF_ID_SWA_IDX,
    REF_ID_TOPK,
    REF_ID_COMP_BT,
    REF_ID_T2R,
    REF_ID_SINK,
    REF_ID_Q,
    REF_ID_SLOT,
    REF_ID_LENS,
};

/* The stream's key; value i is ref_mix(key + i). */
uint64_t ref_stream_key(uint32_t seed, enum ref_stream id);

static inline uint64_t ref_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Integer lo .. hi - 1 of a value. */
static inline int64_t ref_uniform(uint64_t value, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(value >> 33) % (hi - lo);
}

/* f32 in [-1, 1). */
static inline float ref_unit(uint64_t value)
{
    return (float)((double)((int64_t)(value >> 40) - (1 << 23)) / (1 << 23));
}

/* A bf16 pattern: integers -4 .. 4 (exact), or exponent field lo .. hi - 1. */
uint16_t ref_bf16_value(uint64_t value, enum ref_mode mode, int lo, int hi);

/* Bytes and codes of W, whose shape is set. */
void ref_fill_weight(struct ref_weight *w, uint32_t seed, enum ref_stream id, enum ref_mode mode);

/* Records of C, whose shape is set. */
void ref_fill_cache(struct ref_cache *c, uint32_t seed, enum ref_stream id, enum ref_mode mode);

/* order[i] = index of the i-th smallest of the first n values of the stream. Returns 0, or -1:
 * memory is short. */
int ref_argsort(uint32_t seed, enum ref_stream id, size_t n, int32_t *order, size_t keep);

#endif
