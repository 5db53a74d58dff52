/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which a kernel's output holds against the reference. */
#ifndef REF_COMPARE_H
#define REF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ref_verdict {
    bool holds;
    char text[160]; /* the error figures, one line */
    /* bf16 rule (records: of the RoPE dims) */
    double l2;     /* relative L2 error; at most 2e-3 */
    double off;    /* share of values off by more than one bf16 step; at most 0.5 % */
    double worst;  /* largest error over (|want| + rms); at most 3 % */
    size_t differ; /* bits rule: bytes that differ */
};

/* n bf16 values: no NaN where the reference has none, and the three bounds above. */
struct ref_verdict ref_compare_bf16(const uint16_t *got, const uint16_t *want, size_t n);
/* n KV records of 584 bytes: scale bytes equal in 99.5 % of the blocks and never off by more than
   1; where equal, at most 0.5 % of the e4m3 bytes differ, by one code; RoPE dims by the bf16 rule;
   the pad byte zero. */
struct ref_verdict ref_compare_records(const uint8_t *got, const uint8_t *want, size_t n);
/* Equal to the last bit. */
struct ref_verdict ref_compare_bits(const void *got, const void *want, size_t bytes);

#endif
