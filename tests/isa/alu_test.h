/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table-driven tests of lane arithmetic: a case states one lane's operands and its expected result,
 * worked out from the instruction set documents. Every mnemonic of the emulator's table must have a
 * case; the runner keeps count.
 */
#ifndef ALU_TEST_H
#define ALU_TEST_H

#include "alu.h"

#include <stddef.h>
#include <string.h>

struct alu_coverage {
    bool seen[1024]; /* by row of emu_alu_ops */
};

enum alu_mask { MASK_ANY, MASK_0, MASK_1 };

struct alu_case {
    const char *mnemonic;
    uint64_t src[3]; /* one or two dwords each */
    uint64_t want;
    uint64_t old;                /* contents of the destination before */
    enum alu_mask mask;          /* expected bit of the mask result */
    uint8_t flush32, flush16_64; /* bits of FP_DENORM that are off: 3 flushes in and out */
    uint8_t neg, abs, neg_hi, op_sel;
    uint8_t hi_off, hi_on; /* op_sel_hi is 7 for packed instructions less hi_off, else hi_on */
    uint8_t omod, round32, round16_64, mode;
    bool clamp, fnuz, carry, nan; /* nan: any NaN will do (f32 result) */
    uint32_t imm;
};

#define S(...) .src = {__VA_ARGS__}
#define W(...) .want = __VA_ARGS__

static inline uint64_t F(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t D(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Runs the cases in all lanes; fails the test after having printed every mismatch. */
void alu_run(struct alu_coverage *coverage, const struct alu_case *cases, size_t count);
/* Marks a mnemonic as tested and returns its row; fails when there is none. */
const struct emu_alu_op *alu_row(struct alu_coverage *coverage, const char *mnemonic);

void alu_test_f32(void **state);
void alu_test_f64(void **state);
void alu_test_f16(void **state);
void alu_test_int(void **state);
void alu_test_lanes(void **state);
void alu_test_compare(void **state);
void alu_test_class(void **state);
void alu_test_convert(void **state);
void alu_test_fp8(void **state);
void alu_test_pack6(void **state);
void alu_test_packed(void **state);
void alu_test_dot(void **state);
void alu_test_division(void **state);
void alu_test_mfma_exact(void **state);
void alu_test_mfma_layout(void **state);
void alu_test_mfma_sparse(void **state);
void alu_test_mfma_scale(void **state);
void alu_test_mfma_model(void **state);

#endif
