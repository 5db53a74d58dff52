/* SPDX-License-Identifier: Apache-2.0 */
/* K2, written from the specification. */
#ifndef REF_BACK_H
#define REF_BACK_H

#include "case.h"

/* All that K2 computes. Rows are dense; bf16 as 16-bit patterns. */
struct ref_back {
    int chunk, chunks; /* keys of a chunk: 64 or 128, a rounding point; chunks of a token */
    uint16_t *part; /* bf16 [s, chunks, h, 512]: sums of p times value of a chunk that has keys */
    float *stat;    /* [s, chunks, h, 2]: its largest score in base 2, and the sum of its p */
    uint16_t *attn; /* bf16 [s, q_rows]: merged attention, before the inverse rotation */
    uint8_t *xo, *xos;   /* [s, q_rows] e4m3, [s, q_rows / 32] codes */
    uint16_t *a;         /* bf16 [s, o_rows]: wo_a's product */
    uint8_t *x8b, *x8bs; /* [s, o_rows], [s, o_rows / 32] */
    uint16_t *out;       /* bf16 [s, hidden] */
};

/* Keys of a chunk of S tokens and h heads over key-table rows of `keys`. */
int ref_chunk_keys(int h, int s, int keys);

/* From q (bf16 [s, q_rows]) and the key table (ref_key_table's layout). Needs REF_SWA, REF_COMP,
   REF_WOA, REF_WOB. 0, or -1 when memory is short. The caller frees with ref_back_free. */
int ref_back(const struct ref_case *c, const uint16_t *q, const int32_t *kt, const int32_t *klen,
             struct ref_back *out);
/* Its steps, each from what the one before left in OUT, for tests of a stage alone. ref_attention
   makes the memory, frees it when it fails, and fills part to xos (REF_SWA, REF_COMP); ref_woa
   fills a, x8b, x8bs (REF_WOA), ref_wob out (REF_WOB). 0, or -1 when memory is short. */
int ref_attention(const struct ref_case *c, const uint16_t *q, const int32_t *kt,
                  const int32_t *klen, struct ref_back *out);
int ref_woa(const struct ref_case *c, struct ref_back *out);
int ref_wob(const struct ref_case *c, struct ref_back *out);
void ref_back_free(struct ref_back *b);

#endif
