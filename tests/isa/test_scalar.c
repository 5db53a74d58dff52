/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar instructions, each alone on operands at its edges. A case sets s[22:23] and s[24:25] (A
 * and B), s[20:21] (D, 0x5555aaaa twice unless given), SCC and runs its text; D, SCC and EXEC are
 * compared with values worked out from the instruction set documents. All cases are one kernel.
 */
#include "asm.h"
#include "tested.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define OLD 0x5555aaaa5555aaaaull
#define ONES 0xffffffffffffffffull

struct scalar_case {
    const char *text; /* @ becomes the case's number, in labels */
    uint64_t a, b, want;
    uint8_t scc, want_scc;
    bool exec; /* EXEC is 0xff00ff00ff00ff00 before, and this after: */
    uint64_t want_exec;
    const char *also; /* another mnemonic of the text that the case is about */
};

/* destination of 32 bits: the high dword stays */
#define D32(v) ((OLD & 0xffffffff00000000ull) | (uint32_t)(v))
#define B32(name, a, b, want, scc, want_scc)                                                       \
    {name " s20, s22, s24", a, b, D32(want), scc, want_scc, false, 0, NULL}
#define U32(name, a, want, scc, want_scc)                                                          \
    {name " s20, s22", a, 0, D32(want), scc, want_scc, false, 0, NULL}
#define B64(name, a, b, want, want_scc)                                                            \
    {name " s[20:21], s[22:23], s[24:25]", a, b, want, 0, want_scc, false, 0, NULL}
#define S64(name, a, b, want, want_scc)                                                            \
    {name " s[20:21], s[22:23], s24", a, b, want, 0, want_scc, false, 0, NULL}
#define U64(name, a, want, scc, want_scc)                                                          \
    {name " s[20:21], s[22:23]", a, 0, want, scc, want_scc, false, 0, NULL}
#define R64(name, a, want, want_scc)                                                               \
    {name " s20, s[22:23]", a, 0, D32(want), 0, want_scc, false, 0, NULL}
#define CMP(name, a, b, want_scc)                                                                  \
    {name " s22, s24", a, b, OLD, !(want_scc), want_scc, false, 0, NULL}
#define CMPK(name, a, k, want_scc)                                                                 \
    {name " s22, " k, a, 0, OLD, !(want_scc), want_scc, false, 0, NULL}
#define EXEC0 0xff00ff00ff00ff00ull
#define SAVE(name, a, want_exec)                                                                   \
    {name " s[20:21], s[22:23]", a, 0, EXEC0, 0, (want_exec) != 0, true, want_exec, NULL}
#define WREXEC(name, a, want_exec)                                                                 \
    {name " s[20:21], s[22:23]", a, 0, want_exec, 0, (want_exec) != 0, true, want_exec, NULL}
#define TEXT(text, also, scc, want) {text, 0, 0, want, scc, scc, false, 0, also}

static const struct scalar_case cases[] = {
    B32("s_add_u32", 0xffffffff, 1, 0, 0, 1),
    B32("s_add_u32", 0x7fffffff, 1, 0x80000000, 1, 0),
    B32("s_sub_u32", 0, 1, 0xffffffff, 0, 1),
    B32("s_sub_u32", 5, 5, 0, 1, 0),
    B32("s_add_i32", 0x7fffffff, 1, 0x80000000, 0, 1),
    B32("s_add_i32", 0xffffffff, 1, 0, 1, 0),
    B32("s_sub_i32", 0x80000000, 1, 0x7fffffff, 0, 1),
    B32("s_sub_i32", 0, 1, 0xffffffff, 1, 0),
    B32("s_addc_u32", 0xffffffff, 0, 0, 1, 1),
    B32("s_addc_u32", 0xffffffff, 0xffffffff, 0xffffffff, 1, 1),
    B32("s_addc_u32", 1, 2, 3, 0, 0),
    B32("s_subb_u32", 0, 0xffffffff, 0, 1, 1),
    B32("s_subb_u32", 5, 4, 0, 1, 0),
    B32("s_min_i32", 0x80000000, 1, 0x80000000, 0, 1),
    B32("s_min_i32", 1, 1, 1, 1, 0),
    B32("s_min_u32", 0x80000000, 1, 1, 1, 0),
    B32("s_max_i32", 0x80000000, 1, 1, 1, 0),
    B32("s_max_u32", 0x80000000, 1, 0x80000000, 0, 1),
    B32("s_cselect_b32", 7, 9, 7, 1, 1),
    B32("s_cselect_b32", 7, 9, 9, 0, 0),
    {"s_cselect_b64 s[20:21], s[22:23], s[24:25]", 7ull << 40, 9, 7ull << 40, 1, 1, false, 0, NULL},
    {"s_cselect_b64 s[20:21], s[22:23], s[24:25]", 7, 9ull << 40, 9ull << 40, 0, 0, false, 0, NULL},
    B32("s_and_b32", 0xf0f0f0f0, 0xff00ff00, 0xf000f000, 0, 1),
    B32("s_and_b32", 0xf0, 0x0f, 0, 1, 0),
    B32("s_or_b32", 0xf0f00000, 0x0f, 0xf0f0000f, 0, 1),
    B32("s_xor_b32", 0xff00ff00, 0xff00ff00, 0, 1, 0),
    B32("s_andn2_b32", 0xff, 0x0f, 0xf0, 0, 1),
    B32("s_orn2_b32", 0, 0xffffffff, 0, 1, 0),
    B32("s_nand_b32", 0xffffffff, 0xffffffff, 0, 1, 0),
    B32("s_nor_b32", 0xf0, 0x0f, 0xffffff00, 0, 1),
    B32("s_xnor_b32", 0xff00ff00, 0x00ff00ff, 0, 1, 0),
    B64("s_and_b64", 0xf0000000f0000000, ONES << 32, 0xf000000000000000, 1),
    B64("s_or_b64", 1ull << 63, 1, 0x8000000000000001, 1),
    B64("s_xor_b64", ONES, ONES, 0, 0),
    B64("s_andn2_b64", ONES, 0xffff, 0xffffffffffff0000, 1),
    B64("s_orn2_b64", 0, ONES, 0, 0),
    B64("s_nand_b64", ONES, ONES, 0, 0),
    B64("s_nor_b64", 1ull << 63, 1, 0x7ffffffffffffffe, 1),
    B64("s_xnor_b64", ONES, 0, 0, 0),
    B32("s_lshl_b32", 1, 63, 0x80000000, 0, 1), /* five bits of the count */
    B32("s_lshl_b32", 0x80000000, 1, 0, 1, 0),
    B32("s_lshr_b32", 0x80000000, 31, 1, 0, 1),
    B32("s_ashr_i32", 0x80000000, 31, 0xffffffff, 0, 1),
    S64("s_lshl_b64", 1, 63, 1ull << 63, 1),
    S64("s_lshl_b64", 1, 64, 1, 1), /* six bits */
    S64("s_lshr_b64", 1ull << 63, 63, 1, 1),
    S64("s_ashr_i64", 1ull << 63, 63, ONES, 1),
    B32("s_bfm_b32", 4, 8, 0xf00, 0, 0),
    B32("s_bfm_b32", 31, 1, 0xfffffffe, 0, 0),
    {"s_bfm_b64 s[20:21], s22, s24", 8, 60, 0xf000000000000000, 0, 0, false, 0, NULL},
    B32("s_mul_i32", 0x80000001, 3, 0x80000003, 1, 1),
    B32("s_mul_hi_u32", 0xffffffff, 0xffffffff, 0xfffffffe, 0, 0),
    B32("s_mul_hi_i32", 0xffffffff, 5, 0xffffffff, 0, 0),
    B32("s_bfe_u32", 0x12345678, 8 << 16 | 12, 0x45, 0, 1),
    B32("s_bfe_u32", ONES, 0, 0, 1, 0),
    B32("s_bfe_i32", 0x00000f00, 4 << 16 | 8, 0xffffffff, 0, 1),
    B32("s_bfe_i32", 0x80000000, 32 << 16 | 16, 0xffff8000, 0, 1),
    S64("s_bfe_u64", 0xabcdull << 40, 16 << 16 | 40, 0xabcd, 1),
    S64("s_bfe_i64", 0xabcdull << 40, 16 << 16 | 40, 0xffffffffffffabcd, 1),
    B32("s_absdiff_i32", 3, 10, 7, 0, 1),
    B32("s_absdiff_i32", 0xffffffff, 0xffffffff, 0, 1, 0),
    B32("s_lshl1_add_u32", 0x80000000, 5, 5, 0, 1),
    B32("s_lshl2_add_u32", 3, 5, 17, 1, 0),
    B32("s_lshl3_add_u32", 0x20000000, 0, 0, 0, 1),
    B32("s_lshl4_add_u32", 3, 0xffffffd0, 0, 0, 1),
    B32("s_pack_ll_b32_b16", 0x11112222, 0x33334444, 0x44442222, 0, 0),
    B32("s_pack_lh_b32_b16", 0x11112222, 0x33334444, 0x33332222, 0, 0),
    B32("s_pack_hh_b32_b16", 0x11112222, 0x33334444, 0x33331111, 0, 0),
    U32("s_mov_b32", 0xdeadbeef, 0xdeadbeef, 1, 1),
    U64("s_mov_b64", 0x123456789abcdef0, 0x123456789abcdef0, 1, 1),
    {"s_mov_b64 s[20:21], 0.5", 0, 0, 0x3fe0000000000000, 0, 0, false, 0, NULL},
    {"s_mov_b64 s[20:21], -16", 0, 0, 0xfffffffffffffff0, 0, 0, false, 0, NULL},
    U32("s_cmov_b32", 7, 7, 1, 1),
    U32("s_cmov_b32", 7, 0x5555aaaa, 0, 0),
    U64("s_cmov_b64", 7, 7, 1, 1),
    U64("s_cmov_b64", 7, OLD, 0, 0),
    U32("s_not_b32", 0xffffffff, 0, 1, 0),
    U64("s_not_b64", 0xffffffff, 0xffffffff00000000, 0, 1),
    U32("s_wqm_b32", 0x01000020, 0x0f0000f0, 0, 1),
    U32("s_wqm_b32", 0, 0, 1, 0),
    U64("s_wqm_b64", 0x8000000000000001, 0xf00000000000000f, 0, 1),
    U32("s_brev_b32", 0x00000003, 0xc0000000, 0, 0),
    U64("s_brev_b64", 3, 0xc000000000000000, 0, 0),
    U32("s_bcnt0_i32_b32", 0xffffffff, 0, 1, 0),
    U32("s_bcnt1_i32_b32", 0xf0f0, 8, 0, 1),
    R64("s_bcnt0_i32_b64", 1, 63, 1),
    R64("s_bcnt1_i32_b64", 0, 0, 0),
    U32("s_ff0_i32_b32", 0xffffffff, 0xffffffff, 0, 0),
    U32("s_ff0_i32_b32", 0x0000000f, 4, 0, 0),
    U32("s_ff1_i32_b32", 0x80000000, 31, 0, 0),
    U32("s_ff1_i32_b32", 0, 0xffffffff, 0, 0),
    R64("s_ff0_i32_b64", 0xffffffffff, 40, 0),
    R64("s_ff1_i32_b64", 1ull << 63, 63, 0),
    U32("s_flbit_i32_b32", 1, 31, 0, 0),
    U32("s_flbit_i32_b32", 0, 0xffffffff, 0, 0),
    R64("s_flbit_i32_b64", 1, 63, 0),
    U32("s_flbit_i32", 0xfffffff0, 28, 0, 0), /* first bit unlike the sign */
    U32("s_flbit_i32", 0xffffffff, 0xffffffff, 0, 0),
    R64("s_flbit_i32_i64", 0xfffffffffffffff0, 60, 0),
    U32("s_sext_i32_i8", 0x180, 0xffffff80, 0, 0),
    U32("s_sext_i32_i16", 0x18000, 0xffff8000, 0, 0),
    U32("s_abs_i32", 0x80000000, 0x80000000, 0, 1),
    U32("s_abs_i32", 0xfffffffb, 5, 0, 1),
    U32("s_bitset0_b32", 33, 0x5555aaa8, 0,
        0), /* bit 1 of the old value; five bits of the number */
    U32("s_bitset1_b32", 0, 0x5555aaab, 0, 0),
    {"s_bitset0_b64 s[20:21], s22", 62, 0, 0x1555aaaa5555aaaa, 0, 0, false, 0, NULL},
    {"s_bitset1_b64 s[20:21], s22", 63, 0, 0xd555aaaa5555aaaa, 0, 0, false, 0, NULL},
    {"s_bitreplicate_b64_b32 s[20:21], s22", 0x80000005, 0, 0xc000000000000033, 0, 0, false, 0,
     NULL},
    SAVE("s_and_saveexec_b64", 0xffffffff, 0xff00ff00),
    SAVE("s_or_saveexec_b64", 0xff, 0xff00ff00ff00ffff),
    SAVE("s_xor_saveexec_b64", EXEC0, 0),
    SAVE("s_andn2_saveexec_b64", 0xffff, 0xff),
    SAVE("s_orn2_saveexec_b64", 0, 0x00ff00ff00ff00ff),
    SAVE("s_nand_saveexec_b64", ONES, 0x00ff00ff00ff00ff),
    SAVE("s_nor_saveexec_b64", 0xff, 0x00ff00ff00ff0000),
    SAVE("s_xnor_saveexec_b64", EXEC0, ONES),
    SAVE("s_andn1_saveexec_b64", 0xffffffff, 0xff00ff0000000000),
    SAVE("s_orn1_saveexec_b64", ONES, EXEC0),
    WREXEC("s_andn1_wrexec_b64", 0xffffffff, 0xff00ff0000000000),
    WREXEC("s_andn2_wrexec_b64", 0xffff, 0xff),
    CMP("s_cmp_eq_i32", 5, 5, 1),
    CMP("s_cmp_lg_i32", 5, 5, 0),
    CMP("s_cmp_gt_i32", 0x80000000, 1, 0),
    CMP("s_cmp_ge_i32", 0xffffffff, 0xffffffff, 1),
    CMP("s_cmp_lt_i32", 0x80000000, 1, 1),
    CMP("s_cmp_le_i32", 1, 0xffffffff, 0),
    CMP("s_cmp_eq_u32", 5, 6, 0),
    CMP("s_cmp_lg_u32", 5, 6, 1),
    CMP("s_cmp_gt_u32", 0x80000000, 1, 1),
    CMP("s_cmp_ge_u32", 0, 1, 0),
    CMP("s_cmp_lt_u32", 0x80000000, 1, 0),
    CMP("s_cmp_le_u32", 1, 0xffffffff, 1),
    {"s_cmp_eq_u64 s[22:23], s[24:25]", 1ull << 40, 0, OLD, 1, 0, false, 0, NULL},
    {"s_cmp_lg_u64 s[22:23], s[24:25]", 1ull << 40, 0, OLD, 0, 1, false, 0, NULL},
    CMP("s_bitcmp0_b32", 0x80000000, 63, 0),
    CMP("s_bitcmp1_b32", 0x80000000, 31, 1),
    {"s_bitcmp0_b64 s[22:23], s24", 1ull << 40, 41, OLD, 0, 1, false, 0, NULL},
    {"s_bitcmp1_b64 s[22:23], s24", 1ull << 40, 40, OLD, 0, 1, false, 0, NULL},
    CMPK("s_cmpk_eq_i32", 0xffffffff, "0xffff", 1), /* sign extended */
    CMPK("s_cmpk_lg_i32", 0xffff, "0xffff", 1),
    CMPK("s_cmpk_gt_i32", 0, "0xffff", 1),
    CMPK("s_cmpk_ge_i32", 0xfffffffe, "0xffff", 0),
    CMPK("s_cmpk_lt_i32", 0x80000000, "0x7fff", 1),
    CMPK("s_cmpk_le_i32", 5, "0x5", 1),
    CMPK("s_cmpk_eq_u32", 0xffff, "0xffff", 1), /* zero extended */
    CMPK("s_cmpk_lg_u32", 0xffff, "0xffff", 0),
    CMPK("s_cmpk_gt_u32", 0x10000, "0xffff", 1),
    CMPK("s_cmpk_ge_u32", 0xfffe, "0xffff", 0),
    CMPK("s_cmpk_lt_u32", 0xffffffff, "0xffff", 0),
    CMPK("s_cmpk_le_u32", 0, "0x0", 1),
    {"s_movk_i32 s20, 0x8000", 0, 0, D32(0xffff8000), 0, 0, false, 0, NULL},
    {"s_cmovk_i32 s20, 0x8000", 0, 0, D32(0xffff8000), 1, 1, false, 0, NULL},
    {"s_cmovk_i32 s20, 0x8000", 0, 0, OLD, 0, 0, false, 0, NULL},
    {"s_addk_i32 s20, 0xffff", 0, 0, D32(0x5555aaa9), 1, 0, false, 0, NULL},
    {"s_mulk_i32 s20, 0xffff", 0, 0, D32(0xaaaa5556), 1, 1, false, 0, NULL},
    /* flow: s20 tells whether the branch was taken */
    TEXT("s_mov_b32 s20, 1\n s_branch L@\n s_mov_b32 s20, 2\nL@:", "s_branch", 0, D32(1)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_scc0 L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_scc0", 0,
         D32(1)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_scc0 L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_scc0", 1,
         D32(2)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_scc1 L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_scc1", 1,
         D32(1)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_scc1 L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_scc1", 0,
         D32(2)),
    TEXT("s_mov_b64 vcc, 0\n s_mov_b32 s20, 1\n s_cbranch_vccz L@\n s_mov_b32 s20, 2\nL@:",
         "s_cbranch_vccz", 0, D32(1)),
    TEXT("s_mov_b64 vcc, 0\n s_mov_b32 vcc_hi, 1\n s_mov_b32 s20, 1\n s_cbranch_vccz L@\n"
         " s_mov_b32 s20, 2\nL@:",
         "s_cbranch_vccz", 0, D32(2)),
    TEXT("s_mov_b64 vcc, 0\n s_mov_b32 s20, 1\n s_cbranch_vccnz L@\n s_mov_b32 s20, 2\nL@:",
         "s_cbranch_vccnz", 0, D32(2)),
    TEXT("s_mov_b64 vcc, -1\n s_mov_b32 s20, 1\n s_cbranch_vccnz L@\n s_mov_b32 s20, 2\nL@:",
         "s_cbranch_vccnz", 0, D32(1)),
    TEXT("s_mov_b64 exec, 0\n s_mov_b32 s20, 1\n s_cbranch_execz L@\n s_mov_b32 s20, 2\nL@:",
         "s_cbranch_execz", 0, D32(1)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_execz L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_execz", 0,
         D32(2)),
    TEXT("s_mov_b32 s20, 1\n s_cbranch_execnz L@\n s_mov_b32 s20, 2\nL@:", "s_cbranch_execnz", 0,
         D32(1)),
    TEXT("s_mov_b64 exec, 0\n s_mov_b32 s20, 1\n s_cbranch_execnz L@\n s_mov_b32 s20, 2\nL@:",
         "s_cbranch_execnz", 0, D32(2)),
    /* the address behind s_getpc, twice: one instruction of 4 bytes apart */
    TEXT("s_getpc_b64 s[30:31]\n s_getpc_b64 s[32:33]\n s_sub_u32 s20, s32, s30\n"
         " s_cmp_eq_u32 s2, 1",
         "s_getpc_b64", 0, D32(4)),
    /* past three instructions of 4 bytes: this one's add, the jump and the move */
    TEXT("s_getpc_b64 s[30:31]\n s_add_u32 s30, s30, 16\n s_addc_u32 s31, s31, 0\n"
         " s_setpc_b64 s[30:31]\n s_mov_b32 s20, 2\n s_cmp_eq_u32 s2, 1",
         "s_setpc_b64", 0, OLD),
    TEXT("s_getpc_b64 s[30:31]\n s_add_u32 s32, s30, 16\n s_addc_u32 s33, s31, 0\n"
         " s_swappc_b64 s[34:35], s[32:33]\n s_mov_b32 s20, 2\n s_sub_u32 s20, s34, s30\n"
         " s_cmp_eq_u32 s2, 1",
         "s_swappc_b64", 0, D32(12)),
    TEXT("s_getpc_b64 s[30:31]\n s_call_b64 s[34:35], L@\n s_mov_b32 s20, 2\nL@:\n"
         " s_sub_u32 s20, s34, s30\n s_cmp_eq_u32 s2, 1",
         "s_call_b64", 0, D32(4)),
    TEXT("s_nop 3", NULL, 1, OLD),
    TEXT("s_barrier", NULL, 1, OLD),
    TEXT("s_sleep 1", NULL, 0, OLD),
    TEXT("s_waitcnt vmcnt(0) lgkmcnt(0)", NULL, 1, OLD),
    TEXT("s_setprio 2", NULL, 0, OLD),
    TEXT("s_incperflevel 1", NULL, 0, OLD),
    TEXT("s_decperflevel 1", NULL, 0, OLD),
    TEXT("s_icache_inv", NULL, 0, OLD),
    TEXT("s_wakeup", NULL, 0, OLD),
    TEXT("s_ttracedata", NULL, 0, OLD),
    TEXT("s_mov_b32 m0, 0\n s_nop 0\n s_sendmsg sendmsg(MSG_INTERRUPT)\n s_waitcnt lgkmcnt(0)",
         "s_sendmsg", 0, OLD),
    TEXT("s_mov_b32 m0, 0\n s_nop 0\n s_sendmsghalt sendmsg(MSG_INTERRUPT)\n s_waitcnt lgkmcnt(0)",
         "s_sendmsghalt", 0, OLD),
    /* MODE: the rounding fields written and read back */
    TEXT("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 9\n s_nop 1\n"
         " s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)\n s_nop 1\n"
         " s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
         "s_setreg_imm32_b32", 0, D32(9)),
    TEXT("s_movk_i32 s30, 6\n s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s30\n s_nop 1\n"
         " s_getreg_b32 s20, hwreg(HW_REG_MODE, 1, 3)\n s_nop 1\n"
         " s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
         "s_setreg_b32", 0, D32(3)),
    TEXT("s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)", NULL, 0, D32(0)),
    /* registers moved by an index: v4, v5 hold 4 and 5 */
    TEXT("s_mov_b32 m0, 0\n v_mov_b32_e32 v4, 4\n v_mov_b32_e32 v5, 5\n s_movk_i32 s30, 1\n"
         " s_set_gpr_idx_on s30, gpr_idx(SRC0)\n v_mov_b32_e32 v6, v4\n s_set_gpr_idx_off\n"
         " s_nop 0\n v_readfirstlane_b32 s20, v6",
         "s_set_gpr_idx_on", 0, D32(5)),
    TEXT("s_mov_b32 m0, 0\n v_mov_b32_e32 v4, 4\n v_mov_b32_e32 v5, 5\n s_movk_i32 s30, 1\n"
         " s_set_gpr_idx_on s30, gpr_idx(SRC0)\n s_set_gpr_idx_off\n v_mov_b32_e32 v6, v4\n"
         " s_nop 0\n v_readfirstlane_b32 s20, v6",
         "s_set_gpr_idx_off", 0, D32(4)),
    TEXT("s_mov_b32 m0, 0\n v_mov_b32_e32 v4, 4\n v_mov_b32_e32 v5, 5\n s_movk_i32 s30, 1\n"
         " s_movk_i32 s31, 0\n s_set_gpr_idx_on s31, gpr_idx(SRC0)\n s_set_gpr_idx_idx s30\n"
         " v_mov_b32_e32 v6, v4\n s_set_gpr_idx_off\n s_nop 0\n v_readfirstlane_b32 s20, v6",
         "s_set_gpr_idx_idx", 0, D32(5)),
    TEXT("s_mov_b32 m0, 0\n v_mov_b32_e32 v4, 4\n v_mov_b32_e32 v6, 6\n s_movk_i32 s30, 1\n"
         " s_set_gpr_idx_on s30, gpr_idx(SRC0)\n s_set_gpr_idx_mode gpr_idx(DST)\n"
         " v_mov_b32_e32 v5, v4\n s_set_gpr_idx_off\n s_nop 0\n v_readfirstlane_b32 s20, v6",
         "s_set_gpr_idx_mode", 0, D32(4)),
    TEXT("s_mov_b32 m0, 2\n s_mov_b32 s30, 7\n s_mov_b32 s32, 9\n s_movrels_b32 s20, s30",
         "s_movrels_b32", 0, D32(9)),
    TEXT("s_mov_b32 m0, 2\n s_mov_b64 s[32:33], -9\n s_nop 0\n s_movrels_b64 s[20:21], s[30:31]",
         "s_movrels_b64", 0, (uint64_t)-9),
    TEXT("s_mov_b32 m0, 4\n s_mov_b32 s30, 7\n s_nop 0\n s_movreld_b32 s16, s30", "s_movreld_b32",
         0, D32(7)),
    TEXT("s_mov_b32 m0, 4\n s_mov_b64 s[30:31], -7\n s_nop 0\n s_movreld_b64 s[16:17], s[30:31]",
         "s_movreld_b64", 0, (uint64_t)-7),
/* between lanes and scalar registers; v4 is the lane's number */
#define LANE "v_mbcnt_lo_u32_b32 v4, -1, 0\n v_mbcnt_hi_u32_b32 v4, -1, v4\n s_nop 0\n "
    TEXT("v_nop", NULL, 1, OLD),
    TEXT(LANE "s_mov_b64 exec, 1\n s_movk_i32 s30, 101\n v_readlane_b32 s20, v4, s30",
         "v_readlane_b32", 0, D32(37)), /* whatever EXEC is; the lane modulo 64 */
    TEXT(LANE "s_mov_b64 exec, 0xf0\n v_readfirstlane_b32 s20, v4", "v_readfirstlane_b32", 0,
         D32(4)),
    TEXT(LANE "s_mov_b64 exec, 0\n v_readfirstlane_b32 s20, v4", "v_readfirstlane_b32", 0, D32(0)),
    TEXT(LANE "s_mov_b64 exec, 1\n s_movk_i32 s30, 77\n v_writelane_b32 v4, s30, 5\n s_nop 0\n"
              " v_readlane_b32 s20, v4, 5\n v_readlane_b32 s21, v4, 6",
         "v_writelane_b32", 0, 0x000000060000004d),
    /* scalar memory: the kernarg segment at s[0:1] has 0x1000 + i as its i-th dword from 64 on */
    TEXT("s_load_dword s20, s[0:1], 0x40\n s_waitcnt lgkmcnt(0)", "s_load_dword", 0, D32(0x1000)),
    TEXT("s_movk_i32 s30, 0x44\n s_load_dwordx2 s[20:21], s[0:1], s30 offset:4\n"
         " s_waitcnt lgkmcnt(0)",
         "s_load_dwordx2", 0, 0x0000100300001002),
    TEXT("s_load_dwordx4 s[36:39], s[0:1], 0x43\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s20, s36\n"
         " s_mov_b32 s21, s39",
         "s_load_dwordx4", 0, 0x0000100300001000), /* two low bits ignored */
    TEXT("s_load_dwordx8 s[36:43], s[0:1], 0x40\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s20, s36\n"
         " s_mov_b32 s21, s43",
         "s_load_dwordx8", 0, 0x0000100700001000),
    TEXT("s_load_dwordx16 s[36:51], s[0:1], 0x40\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s20, s37\n"
         " s_mov_b32 s21, s51",
         "s_load_dwordx16", 0, 0x0000100f00001001),
#define V4                                                                                         \
    "s_mov_b32 s12, s0\n s_mov_b32 s13, s1\n s_movk_i32 s14, 0x4c\n s_mov_b32 s15, 0x20000\n "
    /* a buffer that ends behind dword 2: what follows reads 0 */
    TEXT(V4 "s_buffer_load_dword s20, s[12:15], 0x4c\n s_waitcnt lgkmcnt(0)", "s_buffer_load_dword",
         0, D32(0)),
    TEXT(V4 "s_buffer_load_dwordx2 s[20:21], s[12:15], 0x48\n s_waitcnt lgkmcnt(0)",
         "s_buffer_load_dwordx2", 0, 0x1002),
    TEXT(V4 "s_buffer_load_dwordx4 s[36:39], s[12:15], 0x40\n s_waitcnt lgkmcnt(0)\n"
            " s_mov_b32 s20, s38\n s_mov_b32 s21, s39",
         "s_buffer_load_dwordx4", 0, 0x1002),
    TEXT(V4 "s_buffer_load_dwordx8 s[36:43], s[12:15], 0x40\n s_waitcnt lgkmcnt(0)\n"
            " s_mov_b32 s20, s37\n s_mov_b32 s21, s43",
         "s_buffer_load_dwordx8", 0, 0x1001),
    TEXT(V4 "s_buffer_load_dwordx16 s[36:51], s[12:15], 0x40\n s_waitcnt lgkmcnt(0)\n"
            " s_mov_b32 s20, s36\n s_mov_b32 s21, s51",
         "s_buffer_load_dwordx16", 0, 0x1000),
    /* clocks do not go back */
    TEXT("s_memtime s[30:31]\n s_waitcnt lgkmcnt(0)\n s_memtime s[32:33]\n s_waitcnt lgkmcnt(0)\n"
         " s_sub_u32 s30, s32, s30\n s_subb_u32 s31, s33, s31\n s_lshr_b32 s20, s31, 31\n"
         " s_cmp_eq_u32 s2, 1",
         "s_memtime", 0, D32(0)),
    TEXT("s_memrealtime s[30:31]\n s_waitcnt lgkmcnt(0)\n s_memrealtime s[32:33]\n"
         " s_waitcnt lgkmcnt(0)\n s_sub_u32 s30, s32, s30\n s_subb_u32 s31, s33, s31\n"
         " s_lshr_b32 s20, s31, 31\n s_cmp_eq_u32 s2, 1",
         "s_memrealtime", 0, D32(0)),
    TEXT("s_dcache_inv\n s_waitcnt lgkmcnt(0)", "s_dcache_inv", 0, OLD),
    TEXT("s_dcache_wb\n s_waitcnt lgkmcnt(0)", "s_dcache_wb", 0, OLD),
};
enum { CASES = sizeof cases / sizeof cases[0], STRIDE = 32 };

static void put_case(FILE *f, unsigned n, const struct scalar_case *c)
{
    const struct {
        unsigned reg;
        uint64_t v;
    } regs[] = {
        {22, c->a}, {24, c->b}, {20, OLD}};
    for (unsigned i = 0; i < 3; i++)
        fprintf(f, "  s_mov_b32 s%u, 0x%x\n  s_mov_b32 s%u, 0x%x\n", regs[i].reg,
                (uint32_t)regs[i].v, regs[i].reg + 1, (uint32_t)(regs[i].v >> 32));
    if (c->exec)
        fprintf(f, "  s_mov_b32 exec_lo, 0xff00ff00\n  s_mov_b32 exec_hi, 0xff00ff00\n");
    fprintf(f, "  s_cmp_eq_u32 s2, %d\n  ", c->scc ? 0 : 1); /* s2 is workgroup 0 */
    for (const char *p = c->text; *p; p++)
        if (*p == '@')
            fprintf(f, "%u", n);
        else
            fputc(*p, f);
    fprintf(f,
            "\n  s_cselect_b32 s26, 1, 0\n  s_mov_b64 s[28:29], exec\n  s_mov_b64 exec, -1\n"
            "  v_mov_b32_e32 v8, s20\n  v_mov_b32_e32 v9, s21\n  v_mov_b32_e32 v10, s28\n"
            "  v_mov_b32_e32 v11, s29\n  v_mov_b32_e32 v12, s26\n  v_mov_b32_e32 v7, 0x%x\n"
            "  global_store_dwordx4 v7, v[8:11], s[8:9]\n"
            "  global_store_dword v7, v12, s[8:9] offset:16\n  s_waitcnt vmcnt(0)\n  s_nop 1\n",
            n * STRIDE);
}

static char *all_cases(void)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "  s_load_dwordx2 s[8:9], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n");
    for (unsigned i = 0; i < CASES; i++)
        put_case(f, i, &cases[i]);
    fclose(f);
    return text;
}

static void every_case(void **state)
{
    (void)state;
    char *text = all_cases();
    assert_non_null(text);
    struct asm_kernel k = {.body = text};
    struct asm_run r;
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    uint32_t *out = emu_mem_alloc(r.device, CASES * STRIDE, 4096, false);
    ((void **)r.kernarg)[0] = out;
    for (uint32_t i = 0; i < 32; i++)
        ((uint32_t *)r.kernarg)[16 + i] = 0x1000 + i;
    if (asm_dispatch(&r, 1, 64) != EMU_OK)
        fail_msg("%s", r.result.report_count ? r.result.reports[0].text : "no finding");
    int wrong = 0;
    for (unsigned i = 0; i < CASES; i++) {
        const struct scalar_case *c = &cases[i];
        const uint32_t *o = out + i * STRIDE / 4;
        uint64_t d = o[0] | (uint64_t)o[1] << 32, e = o[2] | (uint64_t)o[3] << 32;
        if (d == c->want && o[4] == c->want_scc && (!c->exec || e == c->want_exec))
            continue;
        wrong++;
        print_error("%s\n  a 0x%llx b 0x%llx: 0x%llx scc %u exec 0x%llx, want 0x%llx scc %u\n",
                    c->text, (unsigned long long)c->a, (unsigned long long)c->b,
                    (unsigned long long)d, o[4], (unsigned long long)e, (unsigned long long)c->want,
                    c->want_scc);
    }
    asm_close(&r);
    free(text);
    assert_int_equal(wrong, 0);
}

/* Those that end a wave or the run. */
static const char *const endings[] = {"s_trap 2", "s_sethalt 1", "s_setkill 1"};
static const char *const ends[] = {"s_endpgm", "s_endpgm_saved"};

static void traps_and_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char body[64];
        snprintf(body, sizeof body, "  %s\n", endings[i]);
        struct asm_kernel k = {.body = body};
        struct asm_run r;
        assert_int_equal(asm_open(&r, &k, NULL), 0);
        assert_int_equal(asm_dispatch(&r, 1, 64), EMU_FAULT);
        assert_string_equal(asm_finding(&r), "trap");
        asm_close(&r);
    }
    for (int i = 0; i < 2; i++) {
        char body[64];
        snprintf(body, sizeof body, "  %s\n  s_trap 2\n", ends[i]);
        struct asm_kernel k = {.body = body};
        struct asm_run r;
        assert_int_equal(asm_open(&r, &k, NULL), 0);
        assert_int_equal(asm_dispatch(&r, 1, 64), EMU_OK);
        assert_int_equal(r.result.insts, 1);
        asm_close(&r);
    }
}

/* A case is about the first mnemonic of its text, or the one it names, which must be in it. */
static bool about(const struct scalar_case *c, const char *name)
{
    size_t n = strlen(name);
    const char *at = c->also ? strstr(c->text, name) : c->text;
    if (c->also && strcmp(c->also, name) != 0)
        return false;
    return at && strncmp(at, name, n) == 0 && (at[n] == ' ' || at[n] == '\n' || at[n] == 0);
}

static bool has_case(const char *name)
{
    for (unsigned i = 0; i < CASES; i++)
        if (about(&cases[i], name))
            return true;
    for (int i = 0; i < 5; i++) {
        const char *text = i < 3 ? endings[i] : ends[i - 3];
        if (strncmp(text, name, strcspn(text, " ")) == 0 && !name[strcspn(text, " ")])
            return true;
    }
    return false;
}

static void every_instruction_has_a_case(void **state)
{
    (void)state;
    assert_int_equal(tested_missing(EMU_SALU, EMU_SMEM, has_case), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case),
        cmocka_unit_test(traps_and_ends),
        cmocka_unit_test(every_instruction_has_a_case),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        tested_leave("test_scalar", EMU_SALU, EMU_VALU, has_case);
    return failed;
}
