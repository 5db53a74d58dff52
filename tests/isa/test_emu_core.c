/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulator's core: small kernels do what they should, and each kind of mistake in one is found
 * and named.
 */
#include "asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

/* Pointers into the kernarg segment, in order. */
static void args(struct asm_run *r, unsigned n, ...)
{
    va_list list;
    va_start(list, n);
    for (unsigned i = 0; i < n; i++)
        ((void **)r->kernarg)[i] = va_arg(list, void *);
    va_end(list);
}

#define ID "  v_and_b32_e32 v0, 0x3ff, v0\n"
#define COPY                                                                                       \
    "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n" ID "  v_lshl_add_u32 v0, s2, 8, v0\n"                 \
    "  v_lshlrev_b32_e32 v0, 2, v0\n"                                                              \
    "  s_waitcnt lgkmcnt(0)\n"                                                                     \
    "  global_load_dword v1, v0, s[4:5]\n"                                                         \
    "  s_waitcnt vmcnt(0)\n"                                                                       \
    "  global_store_dword v0, v1, s[6:7]\n"

static void copy_kernel(void **state)
{
    (void)state;
    struct asm_run r;
    struct asm_kernel k = {.body = COPY};
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    enum { GROUPS = 16, N = GROUPS * 256 };
    uint32_t *a = emu_mem_alloc(r.device, N * 4, 4096, false);
    uint32_t *b = emu_mem_alloc(r.device, N * 4, 4096, false);
    for (uint32_t i = 0; i < N; i++)
        a[i] = i * 2654435761u;
    args(&r, 2, a, b);
    if (asm_dispatch(&r, GROUPS, 256) != EMU_OK)
        fail_msg("%s", r.result.reports[0].text);
    assert_memory_equal(a, b, N * 4);
    assert_int_equal(r.result.insts, GROUPS * 4 * 9);
    asm_close(&r);
}

/* ---- what a kernel comes to ---- */

/* Kernargs: 0 a (64 KiB, written), 8 b (64 KiB, zeroed flags), 16 out (64 KiB, nobody wrote it). */
#define ARGS                                                                                       \
    "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_load_dwordx2 s[8:9], s[0:1], 0x10\n  s_waitcnt "    \
    "lgkmcnt(0)\n"
#define LANE4 ID "  v_lshlrev_b32_e32 v1, 2, v0\n  s_nop 1\n" /* v1 = work-item * 4 */
enum { BUFFER = 64 << 10 };

struct outcome {
    struct asm_run run;
    uint32_t *a, *b, *out;
    enum emu_status status;
};

static struct outcome launch(const struct asm_kernel *k, const struct emu_config *config,
                             unsigned groups, unsigned items)
{
    struct outcome o = {.a = NULL};
    assert_int_equal(asm_open(&o.run, k, config), 0);
    o.a = emu_mem_alloc(o.run.device, BUFFER, 4096, false);
    o.b = emu_mem_alloc(o.run.device, BUFFER, 4096, false);
    o.out = emu_mem_alloc(o.run.device, BUFFER, 4096, false);
    for (uint32_t i = 0; i < BUFFER / 4; i++)
        o.a[i] = i;
    emu_mem_fill((struct emu_device *)o.run.device, o.b, 0, BUFFER / 4);
    args(&o.run, 3, o.a, o.b, o.out);
    o.status = asm_dispatch(&o.run, groups, items);
    return o;
}

/* Runs with several seeds until the finding shows; a rule that holds on every path must show at
 * once (seeds 1). */
static void expect_within(const char *body, unsigned groups, unsigned items, const char *what,
                          unsigned seeds)
{
    struct asm_kernel k = {.body = body, .lds = 4096};
    for (unsigned seed = 0; seed < seeds; seed++) {
        struct emu_config c = {.checks = EMU_CHECK_ALL, .seed = seed, .max_insts = 20000000};
        struct outcome o = launch(&k, &c, groups, items);
        bool hit = strcmp(asm_finding(&o.run), what) == 0;
        if (hit) {
            const struct emu_report *rep = &o.run.result.reports[0];
            assert_true(strlen(rep->text) > 40);
            asm_close(&o.run);
            return;
        }
        if (seed + 1 == seeds)
            fail_msg("expected %s, found %s", what,
                     o.status == EMU_OK ? "nothing" : o.run.result.reports[0].text);
        asm_close(&o.run);
    }
}

static void expect(const char *body, unsigned groups, unsigned items, const char *what)
{
    expect_within(body, groups, items, what, 1);
}

static struct outcome run_clean(const char *body, unsigned groups, unsigned items)
{
    struct asm_kernel k = {.body = body, .lds = 4096};
    struct emu_config c = {.checks = EMU_CHECK_ALL, .seed = 7, .max_insts = 20000000};
    struct outcome o = launch(&k, &c, groups, items);
    if (o.status != EMU_OK)
        fail_msg("%s", o.run.result.reports[0].text);
    return o;
}

#define STORE(v) "  global_store_dword v1, " v ", s[8:9]\n"

/* Runs a body on one wave that leaves its result in v2; compares lane by lane. */
static void expect_lanes(const char *body, uint32_t (*want)(uint32_t lane))
{
    char text[2048];
    snprintf(text, sizeof(text), ARGS LANE4 "%s" STORE("v2"), body);
    struct outcome o = run_clean(text, 1, 64);
    for (uint32_t i = 0; i < 64; i++)
        if (o.out[i] != want(i))
            fail_msg("%s: lane %u holds 0x%x, want 0x%x", body, i, o.out[i], want(i));
    asm_close(&o.run);
}

static uint32_t w_row_shr1(uint32_t i)
{
    return i % 16 ? i - 1 : 1000 + i;
}
static uint32_t w_row_shr1_bc(uint32_t i)
{
    return i % 16 ? i - 1 : 0;
}
static uint32_t w_quad(uint32_t i)
{
    static const uint8_t q[4] = {1, 0, 3, 2};
    return (i & ~3u) | q[i & 3];
}
static uint32_t w_mirror(uint32_t i)
{
    return (i & ~15u) + 15 - i % 16;
}
static uint32_t w_half_mirror(uint32_t i)
{
    return (i & ~7u) + 7 - i % 8;
}
static uint32_t w_ror(uint32_t i)
{
    return (i & ~15u) + (i + 16 - 3) % 16;
}
static uint32_t w_bcast15(uint32_t i)
{
    return (i / 16) & 1 ? (i & ~15u) - 1 : 1000 + i;
}
static uint32_t w_bcast31(uint32_t i)
{
    return i >= 32 ? 31 : 1000 + i;
}
static uint32_t w_newbcast(uint32_t i)
{
    return (i & ~15u) + 3;
}
static uint32_t w_byte1(uint32_t i)
{
    return (i * 0x01010101u & 0xffff00ff) | (i + 5) << 8;
}
static uint32_t w_sext(uint32_t i)
{
    return (uint32_t)(int32_t)(int8_t)(i * 4) + 1;
}

static void dpp_and_sdwa(void **state)
{
    (void)state;
    expect_lanes("  v_add_u32_e32 v2, 0x3e8, v0\n  s_nop 1\n"
                 "  v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf\n",
                 w_row_shr1);
    expect_lanes("  s_nop 1\n  v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf "
                 "bound_ctrl:0\n",
                 w_row_shr1_bc);
    expect_lanes("  v_mov_b32_dpp v2, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n", w_quad);
    expect_lanes("  v_mov_b32_dpp v2, v0 row_mirror row_mask:0xf bank_mask:0xf\n", w_mirror);
    expect_lanes("  v_mov_b32_dpp v2, v0 row_half_mirror row_mask:0xf bank_mask:0xf\n",
                 w_half_mirror);
    expect_lanes("  v_mov_b32_dpp v2, v0 row_ror:3 row_mask:0xf bank_mask:0xf\n", w_ror);
    expect_lanes("  v_add_u32_e32 v2, 0x3e8, v0\n  s_nop 1\n"
                 "  v_mov_b32_dpp v2, v0 row_bcast:15 row_mask:0xa bank_mask:0xf\n",
                 w_bcast15);
    expect_lanes("  v_add_u32_e32 v2, 0x3e8, v0\n  s_nop 1\n"
                 "  v_mov_b32_dpp v2, v0 row_bcast:31 row_mask:0xc bank_mask:0xf\n",
                 w_bcast31);
    expect_lanes("  v_mov_b32_dpp v2, v0 row_newbcast:3 row_mask:0xf bank_mask:0xf\n", w_newbcast);
    expect_lanes(
        "  s_mov_b32 s10, 0x1010101\n  v_mul_lo_u32 v2, v0, s10\n  v_add_u32_e32 v3, 5, v0\n"
        "  v_mov_b32_sdwa v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
        "src0_sel:BYTE_0\n",
        w_byte1);
    expect_lanes("  v_lshlrev_b32_e32 v3, 10, v0\n  v_mov_b32_e32 v4, 1\n"
                 "  v_add_u32_sdwa v2, sext(v3), v4 dst_sel:DWORD dst_unused:UNUSED_PAD "
                 "src0_sel:BYTE_1 src1_sel:DWORD\n",
                 w_sext);
}

static uint32_t w_bperm(uint32_t i)
{
    return (i + 1) % 64;
}
static uint32_t w_swap16(uint32_t i)
{
    return i ^ 16;
}
static uint32_t w_rev5(uint32_t i)
{
    return i ^ 5;
}
static uint32_t w_tr16(uint32_t i)
{
    /* rows of sixteen 16-bit elements: element 16 r + c of a 16-lane group's 64; lane i's low
     * dword: rows 0 and 1 */
    uint32_t group = i / 16 * 64, col = i % 16;
    return (group + col) | (group + 16 + col) << 16;
}
static uint32_t w_readlane(uint32_t i)
{
    return i + 63 + 5;
}

static void lane_moves(void **state)
{
    (void)state;
    expect_lanes(
        "  v_add_u32_e32 v3, 4, v1\n  ds_bpermute_b32 v2, v3, v0\n  s_waitcnt lgkmcnt(0)\n",
        w_bperm);
    expect_lanes("  ds_swizzle_b32 v2, v0 offset:swizzle(SWAP,16)\n  s_waitcnt lgkmcnt(0)\n",
                 w_swap16);
    expect_lanes("  ds_swizzle_b32 v2, v0 offset:swizzle(BITMASK_PERM,\"ppipi\")\n"
                 "  s_waitcnt lgkmcnt(0)\n",
                 w_rev5);
    expect_lanes("  v_readlane_b32 s10, v0, 63\n  v_mov_b32_e32 v3, 5\n  v_mov_b32_e32 v4, 7\n"
                 "  s_nop 4\n  v_writelane_b32 v4, s10, 5\n  v_mov_b32_e32 v2, v3\n"
                 "  v_readlane_b32 s11, v4, 5\n  s_nop 1\n  v_add3_u32 v2, v0, v2, s11\n",
                 w_readlane);
    /* 16-bit elements numbered in memory order, read transposed */
    expect_lanes(
        "  v_lshlrev_b32_e32 v3, 2, v0\n  v_add_u32_e32 v4, 1, v3\n"
        "  v_lshl_or_b32 v4, v4, 16, v3\n  v_add_u32_e32 v5, 0x20002, v4\n"
        "  v_lshlrev_b32_e32 v6, 3, v0\n  ds_write_b64 v6, v[4:5]\n  s_waitcnt lgkmcnt(0)\n"
        "  ds_read_b64_tr_b16 v[2:3], v6\n  s_waitcnt lgkmcnt(0)\n",
        w_tr16);
}

static uint32_t w_read2(uint32_t i)
{
    return i + (i ^ 1);
}
static uint32_t w_d16(uint32_t i)
{
    return (i & 0xff) | (i + 1) << 16;
}
static uint32_t w_atomic(uint32_t i)
{
    (void)i;
    return 64 * 63 / 2;
}

static void lds_access(void **state)
{
    (void)state;
    expect_lanes("  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  v_xor_b32_e32 v3, 4, v1\n"
                 "  ds_read_b32 v4, v1\n  ds_read_b32 v5, v3\n  s_waitcnt lgkmcnt(0)\n"
                 "  v_add_u32_e32 v2, v4, v5\n",
                 w_read2);
    expect_lanes("  ds_write2_b32 v1, v0, v0 offset1:64\n  s_waitcnt lgkmcnt(0)\n"
                 "  ds_read2st64_b32 v[4:5], v1 offset1:1\n  s_waitcnt lgkmcnt(0)\n"
                 "  v_xor_b32_e32 v5, 1, v5\n  v_add_u32_e32 v2, v4, v5\n",
                 w_read2);
    expect_lanes("  ds_write_b8 v1, v0\n  v_add_u32_e32 v3, 1, v0\n  ds_write_b16 v1, v3 offset:2\n"
                 "  v_mov_b32_e32 v2, 0\n  s_waitcnt lgkmcnt(0)\n  ds_read_u8_d16 v2, v1\n"
                 "  s_waitcnt lgkmcnt(0)\n  ds_read_u16_d16_hi v2, v1 offset:2\n"
                 "  s_waitcnt lgkmcnt(0)\n",
                 w_d16);
    expect_lanes("  v_mov_b32_e32 v3, 0\n  v_mov_b32_e32 v4, 0\n  ds_write_b32 v3, v4\n"
                 "  s_waitcnt lgkmcnt(0)\n  ds_add_u32 v3, v0\n  s_waitcnt lgkmcnt(0)\n"
                 "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n",
                 w_atomic);
}

static void memory_forms(void **state)
{
    (void)state;
    /* buffer loads: in range, and past num_records */
    struct outcome o = run_clean(
        ARGS LANE4 "  s_mov_b32 s12, s4\n  s_mov_b32 s13, s5\n  s_mov_b32 s14, 0x80\n"
                   "  s_mov_b32 s15, 0x20000\n  buffer_load_dword v2, v1, s[12:15], 0 offen\n"
                   "  s_waitcnt vmcnt(0)\n" STORE("v2"),
        1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(o.out[i], i < 32 ? i : 0);
    asm_close(&o.run);
    /* flat and global with 64-bit addresses, sub-dword, wide */
    o = run_clean(ARGS LANE4
                  "  v_lshlrev_b32_e32 v3, 4, v0\n  v_mov_b32_e32 v4, s4\n"
                  "  v_mov_b32_e32 v5, s5\n  v_add_co_u32_e32 v4, vcc, v4, v3\n"
                  "  s_nop 1\n  v_addc_co_u32_e32 v5, vcc, 0, v5, vcc\n"
                  "  flat_load_dwordx4 v[8:11], v[4:5]\n"
                  "  global_load_ushort v12, v[4:5], off offset:4\n"
                  "  s_waitcnt vmcnt(0) lgkmcnt(0)\n  v_add3_u32 v2, v8, v11, v12\n" STORE("v2"),
                  1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(o.out[i], 12 * i + 4);
    asm_close(&o.run);
    /* loads into LDS */
    o = run_clean(ARGS LANE4
                  "  s_movk_i32 m0, 0x100\n  s_nop 0\n"
                  "  global_load_lds_dword v1, s[4:5]\n  s_waitcnt vmcnt(0)\n"
                  "  ds_read_b32 v2, v1 offset:256\n  s_waitcnt lgkmcnt(0)\n" STORE("v2"),
                  1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(o.out[i], i);
    asm_close(&o.run);
    /* atomics: each of 16 * 256 work-items adds one, and gets a number of its own */
    o = run_clean(ARGS ID "  v_mov_b32_e32 v3, 0\n  v_mov_b32_e32 v4, 1\n"
                          "  global_atomic_add v5, v3, v4, s[6:7] sc0\n  s_waitcnt vmcnt(0)\n"
                          "  v_lshlrev_b32_e32 v6, 2, v5\n  global_store_dword v6, v5, s[8:9]\n",
                  16, 256);
    assert_int_equal(o.b[0], 4096);
    for (uint32_t i = 0; i < 4096; i++)
        assert_int_equal(o.out[i], i);
    asm_close(&o.run);
}

static void atomic_values(void **state)
{
    (void)state;
    struct outcome o = run_clean(
        ARGS LANE4 "  v_mov_b32_e32 v3, 0\n  v_mov_b32_e32 v4, 1.0\n"
                   "  global_atomic_add_f32 v3, v4, s[6:7]\n  v_mov_b32_e32 v5, 0x3f803f80\n"
                   "  global_atomic_pk_add_bf16 v3, v5, s[6:7] offset:4\n"
                   "  v_mov_b32_e32 v5, 0x3c003c00\n"
                   "  global_atomic_pk_add_f16 v3, v5, s[6:7] offset:8\n"
                   "  global_atomic_umax v3, v0, s[6:7] offset:12\n"
                   "  v_add_u32_e32 v6, 1, v0\n  v_mov_b32_e32 v7, v0\n"
                   "  global_atomic_cmpswap v2, v3, v[6:7], s[6:7] offset:16 sc0\n"
                   "  s_waitcnt vmcnt(0)\n" STORE("v2"),
        1, 64);
    assert_int_equal(o.b[0], 0x42800000); /* 64.0 */
    assert_int_equal(o.b[1], 0x42804280); /* 64.0, twice */
    assert_int_equal(o.b[2], 0x54005400); /* 64.0 in halves */
    assert_int_equal(o.b[3], 63);
    assert_int_equal(o.b[4], 64); /* each lane in turn finds its own number */
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(o.out[i], i);
    asm_close(&o.run);
}

static void scratch(void **state)
{
    (void)state;
    struct asm_kernel k = {.body = ARGS LANE4
                           "  scratch_store_dword off, v0, off offset:8\n  v_mov_b32_e32 v3, 8\n"
                           "  s_waitcnt vmcnt(0)\n  scratch_load_dword v2, v3, off\n"
                           "  s_waitcnt vmcnt(0) lgkmcnt(0)\n" STORE("v2"),
                           .directives = "  .amdhsa_private_segment_fixed_size 16"};
    struct outcome o = launch(&k, NULL, 1, 64);
    if (o.status != EMU_OK)
        fail_msg("%s", o.run.result.reports[0].text);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(o.out[i], i);
    asm_close(&o.run);
    k.body = LANE4 "  scratch_load_dword v2, off, off offset:4\n  s_waitcnt vmcnt(0)\n"
                   "  v_add_u32_e32 v3, 1, v2\n";
    o = launch(&k, NULL, 1, 64);
    assert_string_equal(asm_finding(&o.run), "undefined-vgpr");
    asm_close(&o.run);
    k.body = LANE4 "  scratch_store_dword off, v0, off offset:16\n";
    o = launch(&k, NULL, 1, 64);
    assert_string_equal(asm_finding(&o.run), "scratch-outside");
    asm_close(&o.run);
}

/* Workgroups 1.. hand a token to workgroup 0 by a flag each; it sums what they wrote. */
#define PRODUCE(data_scope, wait, flag_scope)                                                      \
    "  v_mov_b32_e32 v2, s2\n  s_lshl_b32 s10, s2, 10\n  v_add_u32_e32 v3, s10, v1\n"              \
    "  global_store_dword v3, v2, s[8:9] " data_scope "\n" wait                                    \
    "  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 1\n  s_lshl_b32 s10, s2, 7\n"                      \
    "  v_mov_b32_e32 v4, s10\n  global_store_dword v4, v5, s[6:7] " flag_scope "\n"
#define CONSUME(poll_scope, acquire, load_scope)                                                   \
    "poll:\n  global_load_dword v4, v6, s[6:7] " poll_scope "\n  s_waitcnt vmcnt(0)\n"             \
    "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 poll\n" acquire        \
    "  s_lshl_b32 s10, s11, 10\n  v_add_u32_e32 v3, s10, v1\n"                                     \
    "  global_load_dword v5, v3, s[8:9] " load_scope "\n  s_waitcnt vmcnt(0)\n"                    \
    "  v_add_u32_e32 v7, v7, v5\n"
#define HANDOFF(data_scope, wait, flag_scope, poll_scope, acquire, load_scope, early)              \
    ARGS LANE4 "  s_cmp_eq_u32 s2, 0\n  s_cbranch_scc1 consumer\n" PRODUCE(                        \
        data_scope, wait,                                                                          \
        flag_scope) "  s_endpgm\nconsumer:\n  v_mov_b32_e32 v7, 0\n  s_mov_b32 s11, 1\n" early     \
                    "next:\n  s_lshl_b32 s10, s11, 7\n  v_mov_b32_e32 v6, s10\n" CONSUME(          \
                        poll_scope, acquire,                                                       \
                        load_scope) "  s_add_u32 s11, s11, 1\n  s_cmp_lt_u32 s11, 16\n  "          \
                                    "s_cbranch_scc1 next\n"                                        \
                                    "  global_store_dword v1, v7, s[8:9]\n"
#define WAIT "  s_waitcnt vmcnt(0)\n"
#define INV "  buffer_inv sc1\n"

static void handoff_between_workgroups(void **state)
{
    (void)state;
    static const char *const good[] = {
        HANDOFF("sc1", WAIT, "sc1", "sc1", INV, "", ""),
        HANDOFF("sc1", WAIT, "sc1", "sc1", "", "sc1", ""),
        HANDOFF("", "  buffer_wbl2 sc1\n" WAIT, "sc1", "sc1", INV, "", ""),
        HANDOFF("sc0 sc1", WAIT, "sc0 sc1", "sc0 sc1", "  buffer_inv sc0 sc1\n", "", ""),
    };
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct outcome o = run_clean(good[i], 16, 64);
        for (uint32_t l = 0; l < 64; l++)
            assert_int_equal(o.out[l], 15 * 16 / 2);
        asm_close(&o.run);
    }
}

static void handoff_mistakes(void **state)
{
    (void)state;
    /* data stored without scope: stays in the other XCD's L2 */
    expect(HANDOFF("", WAIT, "sc1", "sc1", INV, "", ""), 16, 64, "missing-release");
    /* flag stored without scope */
    expect(HANDOFF("sc1", WAIT, "", "sc1", INV, "", ""), 16, 64, "missing-release");
    /* nobody waits between data and flag */
    expect_within(HANDOFF("sc1", "", "sc1", "sc1", INV, "sc1", ""), 16, 64, "flag-before-data", 3);
    /* plain loads behind the flag, nothing invalidated */
    expect(HANDOFF("sc1", WAIT, "sc1", "sc1", "", "", ""), 16, 64, "missing-acquire");
    /* the flag is polled in a line that the L1 keeps */
    expect(HANDOFF("sc1", WAIT, "sc1", "", INV, "", ""), 16, 64, "stale-read");
}

/* Two waves store, a barrier joins them, the first one stores the flag: each must have waited
 * before the barrier. */
#define TWO_WAVES(wait)                                                                            \
    ARGS LANE4 "  v_mov_b32_e32 v8, 0\n  v_mov_b32_e32 v10, 1\n"                                   \
               "  v_readfirstlane_b32 s10, v0\n  s_cmp_eq_u32 s2, 0\n"                             \
               "  s_cbranch_scc1 consumer\n  global_store_dword v1, v0, s[4:5] sc1\n" wait         \
               "  s_barrier\n  s_cmp_lg_u32 s10, 0\n  s_cbranch_scc1 out\n"                        \
               "  s_waitcnt vmcnt(0)\n  global_store_dword v8, v10, s[6:7] sc1\n"                  \
               "  s_waitcnt vmcnt(0)\nout:\n  s_endpgm\nconsumer:\npoll:\n"                        \
               "  global_load_dword v4, v8, s[6:7] sc1\n  s_waitcnt vmcnt(0)\n"                    \
               "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n"                            \
               "  s_cbranch_scc1 poll\n  global_load_dword v5, v1, s[4:5] sc1\n"                   \
               "  s_waitcnt vmcnt(0)\n" STORE("v5")
static void flag_of_another_wave(void **state)
{
    (void)state;
    expect_within(TWO_WAVES(""), 2, 128, "flag-before-data", 12);
    for (unsigned seed = 0; seed < 3; seed++) {
        struct asm_kernel k = {.body = TWO_WAVES("  s_waitcnt vmcnt(0)\n"), .lds = 4096};
        struct emu_config c = {.checks = EMU_CHECK_ALL, .seed = seed};
        struct outcome o = launch(&k, &c, 2, 128);
        if (o.status != EMU_OK)
            fail_msg("%s", o.run.result.reports[0].text);
        asm_close(&o.run);
    }
}

/* A plain load brings a line in before its other half is published. */
static void stale_line(void **state)
{
    (void)state;
    static const char body[] =
        ARGS LANE4 "  v_mov_b32_e32 v8, 0\n  v_mov_b32_e32 v10, 1\n"
                   "  s_cmp_eq_u32 s2, 0\n  s_cbranch_scc1 consumer\n"
                   "  v_mov_b32_e32 v2, 5\n  global_store_dword v8, v2, s[4:5] offset:64 sc1\n" WAIT
                   "  global_store_dword v8, v10, s[6:7] sc1\n  s_endpgm\nconsumer:\n"
                   "  global_load_dword v9, v8, s[4:5]\n" WAIT
                   "poll:\n  global_load_dword v4, v8, s[6:7] sc1\n" WAIT
                   "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 poll\n"
                   "  global_load_dword v5, v8, s[4:5] offset:64\n" WAIT STORE("v5");
    expect(body, 2, 64, "stale-read");
}

static void missing_waits(void **state)
{
    (void)state;
    expect(ARGS LANE4 "  global_load_dword v2, v1, s[4:5]\n" STORE("v2"), 1, 64, "vmcnt-read");
    expect(ARGS LANE4 "  global_load_dword v2, v1, s[4:5]\n  v_mov_b32_e32 v2, 0\n", 1, 64,
           "vmcnt-write");
    expect(ARGS LANE4 "  global_load_dword v2, v1, s[4:5]\n  global_load_dword v3, v1, s[4:5]\n"
                      "  s_waitcnt vmcnt(1)\n" STORE("v3"),
           1, 64, "vmcnt-read");
    expect("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_mov_b32 s6, s4\n", 1, 64, "lgkmcnt-read");
    expect("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_load_dword s8, s[0:1], 0x8\n"
           "  s_waitcnt lgkmcnt(1)\n  s_mov_b32 s6, s4\n",
           1, 64, "lgkmcnt-read");
    expect(LANE4 "  ds_write_b32 v1, v0\n  ds_read_b32 v2, v1\n  v_add_u32_e32 v3, v2, v2\n", 1, 64,
           "lgkmcnt-read");
    expect(ARGS LANE4
           "  v_mov_b32_e32 v4, s4\n  v_mov_b32_e32 v5, s5\n  flat_load_dword v2, v[4:5]\n"
           "  s_waitcnt vmcnt(0)\n" STORE("v2"),
           1, 64, "vmcnt-read");
    struct outcome o = run_clean(
        ARGS LANE4 "  global_load_dword v2, v1, s[4:5]\n  global_load_dword v3, v1, s[4:5]\n"
                   "  s_waitcnt vmcnt(1)\n" STORE("v2"),
        1, 64);
    assert_int_equal(o.out[9], 9);
    asm_close(&o.run);
}

static void undefined_values(void **state)
{
    (void)state;
    expect(ARGS LANE4 STORE("v9"), 1, 64, "undefined-vgpr");
    expect("  s_add_u32 s20, s21, 1\n", 1, 64, "undefined-sgpr");
    expect("  s_cbranch_scc1 there\nthere:\n", 1, 64, "undefined-sgpr");
    expect(ARGS LANE4 "  global_load_dword v2, v1, s[8:9]\n", 1, 64, "undefined-memory");
    expect(LANE4 "  ds_read_b32 v2, v1\n", 1, 64, "undefined-lds");
    /* written in half of the lanes only */
    expect("  s_mov_b64 exec, 0xffff\n  v_mov_b32_e32 v2, 1\n  s_mov_b64 exec, -1\n"
           "  v_mov_b32_e32 v3, v2\n",
           1, 64, "undefined-vgpr");
    expect("  v_mov_b32_e32 v200, 1\n", 1, 64, "vgpr-outside");
}

static void bounds(void **state)
{
    (void)state;
    expect(ARGS LANE4 "  v_add_u32_e32 v1, 0xff04, v1\n  global_load_dword v2, v1, s[4:5]\n", 1, 64,
           "memory-outside");
    expect(ARGS LANE4 "  v_add_u32_e32 v1, 2, v1\n  global_load_dword v2, v1, s[4:5]\n", 1, 64,
           "memory-misaligned");
    expect(LANE4 "  v_add_u32_e32 v1, 0xf04, v1\n  ds_write_b32 v1, v0\n", 1, 64, "lds-outside");
    expect(ARGS LANE4 "  v_add_u32_e32 v1, 1, v1\n  ds_write_b32 v1, v0\n", 1, 64,
           "lds-misaligned");
}

#define NEXT_WAVE "  v_xor_b32_e32 v3, 0x100, v1\n" /* the other wave's slot */
static void lds_races(void **state)
{
    (void)state;
    expect(LANE4 NEXT_WAVE "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                           "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n  ds_write_b32 v1, v2\n",
           1, 128, "lds-race");
    expect(LANE4 NEXT_WAVE "  ds_write_b32 v1, v0\n  s_barrier\n  ds_read_b32 v2, v3\n", 1, 128,
           "lds-race");
    struct outcome o = run_clean(ARGS LANE4 NEXT_WAVE
                                 "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                                 "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
                                 "  ds_write_b32 v1, v2\n  s_waitcnt lgkmcnt(0)\n" STORE("v2"),
                                 1, 128);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(o.out[i], i ^ 64);
    asm_close(&o.run);
    /* a load into LDS that another wave reads past the barrier, unwaited */
    expect(ARGS LANE4 NEXT_WAVE "  v_readfirstlane_b32 s10, v1\n  s_mov_b32 m0, s10\n  s_nop 0\n"
                                "  global_load_lds_dword v1, s[4:5]\n  s_barrier\n"
                                "  ds_read_b32 v2, v3\n",
           1, 128, "lds-dma-race");
}

static void barriers_and_deadlock(void **state)
{
    (void)state;
    expect(ID
           "  s_nop 1\n  v_readfirstlane_b32 s10, v0\n  s_cmp_eq_u32 s10, 0\n  s_cbranch_scc1 out\n"
           "  s_barrier\nout:\n",
           1, 128, "barrier-divergence");
    expect(ARGS "  v_mov_b32_e32 v6, 0\npoll:\n  global_load_dword v4, v6, s[6:7] sc1\n" WAIT
                "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 poll\n",
           4, 64, "deadlock");
    expect(
        ARGS
        "  v_mov_b32_e32 v6, 0\npoll:\n  s_sleep 2\n  global_load_dword v4, v6, s[6:7] sc1\n" WAIT
        "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 poll\n",
        4, 128, "deadlock");
    /* gives up by the clock: no deadlock */
    struct outcome o = run_clean(
        ARGS LANE4 "  s_memrealtime s[14:15]\n  v_mov_b32_e32 v6, 0\npoll:\n"
                   "  global_load_dword v4, v6, s[6:7] sc1\n  s_memrealtime s[16:17]\n"
                   "  s_waitcnt vmcnt(0) lgkmcnt(0)\n  s_sub_u32 s16, s16, s14\n"
                   "  s_subb_u32 s17, s17, s15\n  s_cmp_lg_u32 s17, 0\n  s_cbranch_scc1 out\n"
                   "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 poll\n"
                   "out:\n" STORE("v1"),
        2, 64);
    asm_close(&o.run);
}

struct hazard_case {
    const char *body, *what;
};
static const struct hazard_case hazard_cases[] = {
    {"  v_mov_b32_e32 v3, v0\n%s  v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf\n",
     "hazard-valu-dpp"                                                                                                     },
    {"  v_mov_b32_e32 v3, v0\n%s  v_readlane_b32 s10, v3, 1\n",                                      "hazard-valu-readlane"},
    {"  v_readfirstlane_b32 s10, v0\n%s  v_add_u32_e32 v2, s10, v0\n",                               "hazard-sgpr-valu"    },
    {"  v_mov_b32_e32 v3, s4\n  s_nop 1\n  v_readfirstlane_b32 s4, v3\n%s  global_load_dword v2, "
     "v1, s[4:5]\n",                                                                            "hazard-sgpr-vmem"    },
    {"  v_cmp_eq_u32_e32 vcc, v0, v1\n%s  v_cndmask_b32_e32 v2, v0, v1, vcc\n",                      "hazard-sgpr-mask"    },
    {"  v_readfirstlane_b32 s10, v0\n%s  v_readlane_b32 s11, v1, s10\n",                             "hazard-sgpr-lane"    },
    {"  v_exp_f32_e32 v2, v0\n%s  v_add_f32_e32 v3, v2, v2\n",                                       "hazard-trans-valu"   },
    {"  v_mov_b32_e32 v2, 0\n  v_mov_b32_e32 v3, 0\n%s  v_permlane16_swap_b32 v2, v3\n",
     "hazard-valu-permswap"                                                                                                },
    {"  v_mov_b32_e32 v2, 0\n  v_cvt_pk_fp8_f32 v2, v0, v0 op_sel:[0,0,1]\n%s  v_mov_b32_e32 v3, "
     "v2\n",                                                                                    "hazard-partial-write"},
    {"  v_mov_b32_e32 v3, 0\n  v_mov_b32_e32 v2, 0\n  s_nop 1\n  v_dot2c_f32_f16 v2, v0, v0\n%s  "
     "v_mov_b32_e32 v3, v2\n",                                                                  "hazard-dot"          },
    {"  s_mov_b32 m0, 0\n%s  ds_write_addtid_b32 v0\n",                                              "hazard-m0"           },
    {"  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n%s  s_getreg_b32 s10, hwreg(HW_REG_MODE)\n",
     "hazard-setreg"                                                                                                       },
    {"  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 0\n  v_mov_b32_e32 v6, 0\n  v_mov_b32_e32 v7, 0\n"
     "  v_lshlrev_b32_e32 v8, 4, v0\n  global_store_dwordx4 v8, v[4:7], s[8:9]\n%s  v_mov_b32_e32 "
     "v5, 1\n",                                                                                 "hazard-store-data"   },
    {"  v_cmpx_le_u32_e32 vcc, 0, v0\n%s  v_readlane_b32 s11, v1, 0\n",                              "hazard-exec-lane"    },
};

/* Each hazard shows with nothing between, and is gone with enough. */
static void hazards(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(hazard_cases) / sizeof(hazard_cases[0]); i++) {
        char body[1024], text[2048];
        snprintf(body, sizeof(body), hazard_cases[i].body, "");
        snprintf(text, sizeof(text), ARGS LANE4 "  s_nop 4\n%s", body);
        expect(text, 1, 64, hazard_cases[i].what);
        snprintf(body, sizeof(body), hazard_cases[i].body, "  s_nop 4\n");
        snprintf(text, sizeof(text), ARGS LANE4 "  s_nop 4\n%s", body);
        struct outcome o = run_clean(text, 1, 64);
        asm_close(&o.run);
    }
}

/* The exact number of wait states behind an MFMA: one less is found, the number itself is not. */
static void mfma_exact(const char *arch, const char *mfma, const char *use, unsigned states,
                       const char *what)
{
    for (unsigned n = states - 1; n <= states; n++) {
        char text[4096], *at = text;
        at += sprintf(at, ARGS LANE4);
        for (unsigned v = 2; v < 40; v++)
            at += sprintf(at, "  v_mov_b32_e32 v%u, 0\n", v);
        at += sprintf(at, "  s_nop 4\n%s", mfma);
        for (unsigned k = 0; k < n; k++)
            at += sprintf(at, "  s_nop 0\n");
        sprintf(at, "%s", use);
        struct asm_kernel k = {.body = text, .arch = arch, .lds = 4096};
        struct emu_config c = {.checks = EMU_CHECK_ALL};
        struct outcome o = launch(&k, &c, 1, 64);
        const char *want = n < states ? what : "";
        if (strcmp(asm_finding(&o.run), want) != 0)
            fail_msg("%s %u states %s: %s", mfma, n, use,
                     o.status == EMU_OK ? "nothing found" : o.run.result.reports[0].text);
        asm_close(&o.run);
    }
}

#define MFMA4 "  v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[10:11], v[4:7]\n"
#define MFMA8 "  v_mfma_f32_16x16x128_f8f6f4 v[4:7], v[8:15], v[16:23], v[4:7]\n"
static void mfma_hazards(void **state)
{
    (void)state;
    mfma_exact("gfx950", MFMA4, STORE("v4"), 8, "hazard-mfma-memory");
    mfma_exact("gfx942", MFMA4, STORE("v4"), 7, "hazard-mfma-memory");
    mfma_exact("gfx950", MFMA8, "  v_mov_b32_e32 v2, v5\n", 12, "hazard-mfma-valu");
    mfma_exact("gfx950", MFMA8, "  v_mov_b32_e32 v5, 0\n", 12, "hazard-mfma-valu");
    mfma_exact("gfx950", MFMA4, "  v_mfma_f32_16x16x16_bf16 v[24:27], v[8:9], v[4:5], v[24:27]\n",
               8, "hazard-mfma-ab");
    mfma_exact("gfx950", MFMA4, "  v_mfma_f32_16x16x16_bf16 v[24:27], v[8:9], v[10:11], v[6:9]\n",
               6, "hazard-mfma-c-overlap");
    mfma_exact("gfx950", MFMA4, MFMA8, 6, "hazard-mfma-c-overlap");
    mfma_exact("gfx950", "  v_mfma_f32_16x16x16_bf16 v[24:27], v[8:9], v[10:11], v[4:7]\n",
               "  v_mov_b32_e32 v5, 0\n", 3, "hazard-mfma-c-war");
    /* the same accumulator, the same passes: back to back */
    struct outcome o = run_clean("  v_mov_b32_e32 v4, 0\n  v_mov_b32_e32 v5, 0\n"
                                 "  v_mov_b32_e32 v6, 0\n  v_mov_b32_e32 v7, 0\n"
                                 "  v_mov_b32_e32 v8, 0\n  v_mov_b32_e32 v9, 0\n"
                                 "  v_mov_b32_e32 v10, 0\n  v_mov_b32_e32 v11, 0\n"
                                 "  s_nop 1\n" MFMA4 MFMA4,
                                 1, 64);
    asm_close(&o.run);
}

static void same_on_any_number_of_threads(void **state)
{
    (void)state;
    static const char body[] = HANDOFF("sc1", WAIT, "sc1", "sc1", INV, "", "");
    uint64_t insts[2];
    for (unsigned t = 1; t <= 2; t++) {
        struct asm_kernel k = {.body = body, .lds = 4096};
        struct emu_config c = {.checks = EMU_CHECK_ALL, .seed = 11, .threads = t};
        struct outcome o = launch(&k, &c, 16, 64);
        assert_int_equal(o.status, EMU_OK);
        insts[t - 1] = o.run.result.insts;
        asm_close(&o.run);
    }
    assert_int_equal(insts[0], insts[1]);
}

static void bad_objects(void **state)
{
    (void)state;
    struct emu_device *dev;
    struct emu_object *obj;
    char err[256];
    assert_int_equal(emu_device_open(NULL, &dev, err, sizeof(err)), 0);
    struct asm_kernel k = {.body = COPY}, other = {.body = COPY, .arch = "gfx942"};
    size_t n, n2;
    uint8_t *bytes = asm_object(&k, &n), *bytes2 = asm_object(&other, &n2);
    assert_non_null(bytes);
    assert_non_null(bytes2);
    assert_int_equal(emu_object_load(dev, "hello, this is text", 19, &obj, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "not an ELF"));
    assert_int_equal(emu_object_load(dev, bytes2, n2, &obj, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "another target"));
    for (size_t cut = 0; cut < n; cut += 97) {
        err[0] = 0;
        assert_int_equal(emu_object_load(dev, bytes, cut, &obj, err, sizeof(err)), -1);
        assert_true(err[0] && !strchr(err, '\n'));
    }
    assert_int_equal(emu_object_load(dev, bytes, n, &obj, err, sizeof(err)), 0);
    assert_int_equal(emu_object_kernel_count(obj), 1);
    const struct emu_kernel *kernel = emu_object_find(obj, "k");
    assert_int_equal(kernel->kernarg_size, 256);
    assert_int_equal(kernel->vgprs, 64);
    free(bytes);
    free(bytes2);
    emu_device_close(dev);
}

/* The same with the barrier ahead of the flag, or the one behind the poll, left out: the second
 * wave's stores, or the second wave's loads, are in no order with the flag, however the waves
 * happen to run. */
#define FLAGGED(ahead, behind)                                                                     \
    ARGS LANE4 "  v_mov_b32_e32 v8, 0\n  v_mov_b32_e32 v10, 1\n"                                   \
               "  v_readfirstlane_b32 s10, v0\n  s_cmp_eq_u32 s2, 0\n"                             \
               "  s_cbranch_scc1 consumer\n  global_store_dword v1, v0, s[4:5] sc1\n"              \
               "  s_waitcnt vmcnt(0)\n" ahead "  s_cmp_lg_u32 s10, 0\n  s_cbranch_scc1 out\n"      \
               "  global_store_dword v8, v10, s[6:7] sc1\nout:\n  s_endpgm\nconsumer:\n"           \
               "  s_cmp_lg_u32 s10, 0\n  s_cbranch_scc1 seen\npoll:\n"                             \
               "  global_load_dword v4, v8, s[6:7] sc1\n  s_waitcnt vmcnt(0)\n"                    \
               "  v_readfirstlane_b32 s12, v4\n  s_cmp_eq_u32 s12, 0\n"                            \
               "  s_cbranch_scc1 poll\nseen:\n" behind                                             \
               "  global_load_dword v5, v1, s[4:5] sc1\n  s_waitcnt vmcnt(0)\n" STORE("v5")
static void order_through_barriers(void **state)
{
    (void)state;
    struct outcome o = run_clean(FLAGGED("  s_barrier\n", "  s_barrier\n"), 2, 128);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(o.out[i], i);
    asm_close(&o.run);
    expect_within(FLAGGED("", "  s_barrier\n"), 2, 128, "unordered-load", 8);
    /* time enough is no order */
    expect_within(FLAGGED("  s_barrier\n", "  s_sleep 127\n  s_sleep 127\n  s_sleep 127\n"), 2, 128,
                  "unordered-load", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_kernel),
        cmocka_unit_test(dpp_and_sdwa),
        cmocka_unit_test(lane_moves),
        cmocka_unit_test(lds_access),
        cmocka_unit_test(memory_forms),
        cmocka_unit_test(atomic_values),
        cmocka_unit_test(scratch),
        cmocka_unit_test(handoff_between_workgroups),
        cmocka_unit_test(handoff_mistakes),
        cmocka_unit_test(flag_of_another_wave),
        cmocka_unit_test(order_through_barriers),
        cmocka_unit_test(stale_line),
        cmocka_unit_test(missing_waits),
        cmocka_unit_test(undefined_values),
        cmocka_unit_test(bounds),
        cmocka_unit_test(lds_races),
        cmocka_unit_test(barriers_and_deadlock),
        cmocka_unit_test(hazards),
        cmocka_unit_test(mfma_hazards),
        cmocka_unit_test(same_on_any_number_of_threads),
        cmocka_unit_test(bad_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
