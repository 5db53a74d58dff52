/* SPDX-License-Identifier: Apache-2.0 */
/* K1, written from the specification: every rounding point that the interface defines, everything
 * between in f64. */
#ifndef REF_FRONT_H
#define REF_FRONT_H

#include "case.h"

/* All that K1 computes. Rows are dense; bf16 as 16-bit patterns. */
struct ref_front {
    uint8_t *x8, *x8s;   /* [s, hidden] e4m3, [s, hidden / 32] codes */
    float *y;            /* [s, qkv_rows]: bf16 values of wqkv's product */
    uint16_t *qr;        /* bf16 [s, q_rank] */
    uint8_t *qx8, *qx8s; /* [s, q_rank], [s, q_rank / 32] */
    uint16_t *q;         /* bf16 [s, q_rows], rotated */
    uint8_t *records;    /* [s, 584]: 576 data bytes, 7 codes, a zero; a pad row's too, though it is
                            not written */
};

/* Needs REF_X, REF_WQKV, REF_WQB of the case. 0, or -1 when memory is short. The caller frees with
 * ref_front_free. */
int ref_front(const struct ref_case *c, struct ref_front *out);
void ref_front_free(struct ref_front *f);

/* The records of live tokens into the window cache of C, as K1 leaves it. */
void ref_front_insert(struct ref_case *c, const struct ref_front *f);

#endif
