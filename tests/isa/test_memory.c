/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every vector memory and LDS instruction alone. One lane is active. Before a case its sixteen
 * bytes of memory hold P (or the case's own first eight), the data registers v[2:5] A and B,
 * v[8:11] OLD; afterwards v[8:11] and the sixteen bytes are compared with values worked out from
 * the instruction set documents. A row runs in each address space that has the instruction; all
 * rows are one kernel.
 */
#include "asm.h"
#include "tested.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define OLD 0x5555aaaau
static const uint32_t P[4] = {0x8090a0b0, 0x8191a1b1, 0x8292a2b2, 0x8393a3b3};

enum space { GLOBAL, FLAT, BUFFER, SCRATCH, LDS, SPACES };
static const char *const prefixes[] = {"global_", "flat_", "buffer_", "scratch_", "ds_"};
#define MEMORY 15 /* bits of the first four */
#define NO_SCRATCH 7

enum kind { LOAD, STORE, ATOMIC, RETURN, TEXT };

struct row {
    const char *name; /* behind the prefix */
    uint8_t kind, spaces, regs;
    uint64_t init; /* atomics: what memory holds */
    uint64_t a, b;
    uint32_t reg[4];  /* want in v[8:11]; 0: OLD */
    uint64_t mem;     /* atomics, stores: want in the first eight bytes */
    const char *text; /* TEXT: the whole */
};

#define LD(name, regs, ...) {name, LOAD, MEMORY, regs, 0, 0, 0, {__VA_ARGS__}, 0, NULL}
#define ST(name, regs, a, mem) {name, STORE, MEMORY, regs, 0, a, 0, {0}, mem, NULL}
#define AT(name, regs, init, a, b, mem)                                                            \
    {name, ATOMIC, NO_SCRATCH, regs, init, a, b, {0}, mem, NULL},                                  \
    {                                                                                              \
        name, RETURN, NO_SCRATCH, regs, init, a, b,                                                \
            {(uint32_t)(init), (regs) > 1 ? (uint32_t)((uint64_t)(init) >> 32) : 0}, mem, NULL     \
    }
#define DS_AT(name, type, regs, init, a, b, mem)                                                   \
    {name "_" type, ATOMIC, 1 << LDS, regs, init, a, b, {0}, mem, NULL},                           \
    {                                                                                              \
        name "_rtn_" type, RETURN, 1 << LDS, regs, init, a, b,                                     \
            {(uint32_t)(init), (regs) > 1 ? (uint32_t)((uint64_t)(init) >> 32) : 0}, mem, NULL     \
    }
#define DS_LD(name, regs, ...) {name, LOAD, 1 << LDS, regs, 0, 0, 0, {__VA_ARGS__}, 0, NULL}
#define DS_ST(name, regs, a, mem) {name, STORE, 1 << LDS, regs, 0, a, 0, {0}, mem, NULL}
#define DS_TEXT(name, text, a, b, mem, ...)                                                        \
    {name, TEXT, 1 << LDS, 0, 0, a, b, {__VA_ARGS__}, mem, text}
#define P64 0x8191a1b18090a0b0ull
#define M64 0x8000000000000000ull
static const struct row rows[] = {
    LD("load_ubyte", 1, 0xb0),
    LD("load_sbyte", 1, 0xffffffb0),
    LD("load_ushort", 1, 0xa0b0),
    LD("load_sshort", 1, 0xffffa0b0),
    LD("load_dword", 1, 0x8090a0b0),
    LD("load_dwordx2", 2, 0x8090a0b0, 0x8191a1b1),
    LD("load_dwordx3", 3, 0x8090a0b0, 0x8191a1b1, 0x8292a2b2),
    LD("load_dwordx4", 4, 0x8090a0b0, 0x8191a1b1, 0x8292a2b2, 0x8393a3b3),
    LD("load_ubyte_d16", 1, 0x555500b0),
    LD("load_ubyte_d16_hi", 1, 0x00b0aaaa),
    LD("load_sbyte_d16", 1, 0x5555ffb0),
    LD("load_sbyte_d16_hi", 1, 0xffb0aaaa),
    LD("load_short_d16", 1, 0x5555a0b0),
    LD("load_short_d16_hi", 1, 0xa0b0aaaa),
    ST("store_byte", 1, 0x11223344, 0x8191a1b18090a044),
    ST("store_byte_d16_hi", 1, 0x11223344, 0x8191a1b18090a022),
    ST("store_short", 1, 0x11223344, 0x8191a1b180903344),
    ST("store_short_d16_hi", 1, 0x11223344, 0x8191a1b180901122),
    ST("store_dword", 1, 0x11223344, 0x8191a1b111223344),
    ST("store_dwordx2", 2, 0x1122334455667788, 0x1122334455667788),
    ST("store_dwordx3", 3, 0x1122334455667788, 0x1122334455667788),
    ST("store_dwordx4", 4, 0x1122334455667788, 0x1122334455667788),
    AT("atomic_swap", 1, P64, 7, 0, 0x8191a1b100000007),
    AT("atomic_add", 1, 0xffffffff, 2, 0, 1),
    AT("atomic_sub", 1, 1, 2, 0, 0xffffffff),
    AT("atomic_smin", 1, 1, 0x80000000, 0, 0x80000000),
    AT("atomic_umin", 1, 1, 0x80000000, 0, 1),
    AT("atomic_smax", 1, 1, 0x80000000, 0, 1),
    AT("atomic_umax", 1, 1, 0x80000000, 0, 0x80000000),
    AT("atomic_and", 1, 0xff00ff00, 0xf0f0f0f0, 0, 0xf000f000),
    AT("atomic_or", 1, 0xff00ff00, 0x0f, 0, 0xff00ff0f),
    AT("atomic_xor", 1, 0xff00ff00, 0xffffffff, 0, 0x00ff00ff),
    AT("atomic_inc", 1, 5, 5, 0, 0), /* wraps at the operand */
    AT("atomic_inc", 1, 4, 5, 0, 5),
    AT("atomic_dec", 1, 0, 5, 0, 5),
    AT("atomic_dec", 1, 6, 5, 0, 5), /* above the operand: the operand */
    AT("atomic_dec", 1, 3, 5, 0, 2),
    AT("atomic_add_f32", 1, 0x3fc00000, 0x40100000, 0, 0x40700000),
    AT("atomic_pk_add_f16", 1, 0x3c004000, 0x3c003c00, 0, 0x40004200), /* 1, 2 + 1, 1 */
    AT("atomic_pk_add_bf16", 1, 0x3f804000, 0x3f803f80, 0, 0x40004040),
    AT("atomic_add_f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0xc004000000000000),
    AT("atomic_min_f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0xc010000000000000),
    AT("atomic_max_f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0x3ff8000000000000),
    AT("atomic_swap_x2", 2, P64, M64 + 7, 0, M64 + 7),
    AT("atomic_add_x2", 2, 0xffffffff, 1, 0, 0x100000000),
    AT("atomic_sub_x2", 2, 0, 1, 0, ~0ull),
    AT("atomic_smin_x2", 2, 1, M64, 0, M64),
    AT("atomic_umin_x2", 2, 1, M64, 0, 1),
    AT("atomic_smax_x2", 2, 1, M64, 0, 1),
    AT("atomic_umax_x2", 2, 1, M64, 0, M64),
    AT("atomic_and_x2", 2, P64, 0xffffffff00000000, 0, 0x8191a1b100000000),
    AT("atomic_or_x2", 2, 1, M64, 0, M64 + 1),
    AT("atomic_xor_x2", 2, P64, P64, 0, 0),
    AT("atomic_inc_x2", 2, 0xffffffff, M64, 0, 0x100000000),
    AT("atomic_dec_x2", 2, 0x100000000, M64, 0, 0xffffffff),
    /* new value first, then what is compared */
    AT("atomic_cmpswap", 1, 9, 9ull << 32 | 7, 0, 7),
    AT("atomic_cmpswap", 1, 8, 9ull << 32 | 7, 0, 8),
    AT("atomic_cmpswap_x2", 2, M64, 7, M64, 7),
    AT("atomic_cmpswap_x2", 2, M64 + 1, 7, M64, M64 + 1),
    DS_LD("read_b32", 1, 0x8090a0b0),
    DS_LD("read_b64", 2, 0x8090a0b0, 0x8191a1b1),
    DS_LD("read_b96", 3, 0x8090a0b0, 0x8191a1b1, 0x8292a2b2),
    DS_LD("read_b128", 4, 0x8090a0b0, 0x8191a1b1, 0x8292a2b2, 0x8393a3b3),
    DS_LD("read_u8", 1, 0xb0),
    DS_LD("read_i8", 1, 0xffffffb0),
    DS_LD("read_u16", 1, 0xa0b0),
    DS_LD("read_i16", 1, 0xffffa0b0),
    DS_LD("read_u8_d16", 1, 0x555500b0),
    DS_LD("read_u8_d16_hi", 1, 0x00b0aaaa),
    DS_LD("read_i8_d16", 1, 0x5555ffb0),
    DS_LD("read_i8_d16_hi", 1, 0xffb0aaaa),
    DS_LD("read_u16_d16", 1, 0x5555a0b0),
    DS_LD("read_u16_d16_hi", 1, 0xa0b0aaaa),
    DS_ST("write_b8", 1, 0x11223344, 0x8191a1b18090a044),
    DS_ST("write_b8_d16_hi", 1, 0x11223344, 0x8191a1b18090a022),
    DS_ST("write_b16", 1, 0x11223344, 0x8191a1b180903344),
    DS_ST("write_b16_d16_hi", 1, 0x11223344, 0x8191a1b180901122),
    DS_ST("write_b32", 1, 0x11223344, 0x8191a1b111223344),
    DS_ST("write_b64", 2, 0x1122334455667788, 0x1122334455667788),
    DS_ST("write_b96", 3, 0x1122334455667788, 0x1122334455667788),
    DS_ST("write_b128", 4, 0x1122334455667788, 0x1122334455667788),
    DS_TEXT("read2_b32", "ds_read2_b32 v[8:9], v1 offset0:3 offset1:1", 0, 0, P64, 0x8393a3b3,
            0x8191a1b1),
    DS_TEXT("read2_b64", "ds_read2_b64 v[8:11], v1 offset0:1 offset1:0", 0, 0, P64, 0x8292a2b2,
            0x8393a3b3, 0x8090a0b0, 0x8191a1b1),
    /* 64 elements on: the addresses are 256 or 512 bytes apart, so the first is at minus that */
    DS_TEXT("read2st64_b32",
            "v_mov_b32_e32 v6, 4\n ds_write_b32 v1, v6 offset:256\n s_waitcnt lgkmcnt(0)\n"
            " ds_read2st64_b32 v[8:9], v1 offset0:1 offset1:0",
            0, 0, P64, 4, 0x8090a0b0),
    DS_TEXT("read2st64_b64",
            "v_mov_b32_e32 v6, 4\n v_mov_b32_e32 v7, 5\n ds_write_b64 v1, v[6:7] offset:512\n"
            " s_waitcnt lgkmcnt(0)\n ds_read2st64_b64 v[8:11], v1 offset0:0 offset1:1",
            0, 0, P64, 0x8090a0b0, 0x8191a1b1, 4, 5),
    DS_TEXT("write2_b32", "ds_write2_b32 v1, v2, v4 offset0:1 offset1:0", 1, 2, 0x100000002, 0),
    DS_TEXT("write2_b64", "ds_write2_b64 v1, v[2:3], v[4:5] offset0:1 offset1:0", 1, 2, 2, 0),
    DS_TEXT("write2st64_b32",
            "ds_write2st64_b32 v1, v2, v4 offset0:1 offset1:0\n s_waitcnt lgkmcnt(0)\n"
            " ds_read_b32 v8, v1 offset:256",
            1, 2, 0x8191a1b100000002, 1),
    DS_TEXT("write2st64_b64",
            "ds_write2st64_b64 v1, v[2:3], v[4:5] offset0:1 offset1:0\n s_waitcnt lgkmcnt(0)\n"
            " ds_read_b64 v[8:9], v1 offset:512",
            M64 + 1, 2, 2, 1, 0x80000000),
    DS_AT("add", "u32", 1, 0xffffffff, 2, 0, 1),
    DS_AT("sub", "u32", 1, 1, 2, 0, 0xffffffff),
    DS_AT("rsub", "u32", 1, 1, 3, 0, 2),
    DS_AT("inc", "u32", 1, 5, 5, 0, 0),
    DS_AT("dec", "u32", 1, 0, 5, 0, 5),
    DS_AT("min", "i32", 1, 1, 0x80000000, 0, 0x80000000),
    DS_AT("max", "i32", 1, 1, 0x80000000, 0, 1),
    DS_AT("min", "u32", 1, 1, 0x80000000, 0, 1),
    DS_AT("max", "u32", 1, 1, 0x80000000, 0, 0x80000000),
    DS_AT("and", "b32", 1, 0xff00ff00, 0xf0f0f0f0, 0, 0xf000f000),
    DS_AT("or", "b32", 1, 0xff00ff00, 0x0f, 0, 0xff00ff0f),
    DS_AT("xor", "b32", 1, 0xff00ff00, 0xffffffff, 0, 0x00ff00ff),
    DS_AT("mskor", "b32", 1, 0xff00ff00, 0xf000, 0x0f, 0xff000f0f), /* old & ~A | B */
    {"wrxchg_rtn_b32", RETURN, 1 << LDS, 1, 3, 7, 0, {3}, 7, NULL},
    DS_AT("cmpst", "b32", 1, 9, 9, 7, 7), /* what is compared comes first */
    DS_AT("add", "f32", 1, 0x3fc00000, 0x40100000, 0, 0x40700000),
    DS_AT("min", "f32", 1, 0x3fc00000, 0xc0000000, 0, 0xc0000000),
    DS_AT("max", "f32", 1, 0x3fc00000, 0xc0000000, 0, 0x3fc00000),
    DS_AT("pk_add", "f16", 1, 0x3c004000, 0x3c003c00, 0, 0x40004200),
    DS_AT("pk_add", "bf16", 1, 0x3f804000, 0x3f803f80, 0, 0x40004040),
    DS_AT("add", "u64", 2, 0xffffffff, 1, 0, 0x100000000),
    DS_AT("sub", "u64", 2, 0, 1, 0, ~0ull),
    DS_AT("rsub", "u64", 2, 1, 0, 0, ~0ull),
    DS_AT("inc", "u64", 2, 0xffffffff, M64, 0, 0x100000000),
    DS_AT("dec", "u64", 2, 0x100000000, M64, 0, 0xffffffff),
    DS_AT("min", "i64", 2, 1, M64, 0, M64),
    DS_AT("max", "i64", 2, 1, M64, 0, 1),
    DS_AT("min", "u64", 2, 1, M64, 0, 1),
    DS_AT("max", "u64", 2, 1, M64, 0, M64),
    DS_AT("and", "b64", 2, P64, 0xffffffff00000000, 0, 0x8191a1b100000000),
    DS_AT("or", "b64", 2, 1, M64, 0, M64 + 1),
    DS_AT("xor", "b64", 2, P64, P64, 0, 0),
    DS_AT("mskor", "b64", 2, ~0ull, M64, 1, ~M64),
    {"wrxchg_rtn_b64", RETURN, 1 << LDS, 2, 3, M64, 0, {3, 0}, M64, NULL},
    DS_AT("cmpst", "b64", 2, M64, M64, 7, 7),
    DS_AT("add", "f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0xc004000000000000),
    DS_AT("min", "f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0xc010000000000000),
    DS_AT("max", "f64", 2, 0x3ff8000000000000, 0xc010000000000000, 0, 0x3ff8000000000000),
/* between lanes: the whole wave is on, v6 is the lane's number, lane 0 is looked at */
#define WAVE "s_mov_b64 exec, -1\n v_lshlrev_b32_e32 v7, 2, v6\n "
#define LANE0 "\n s_waitcnt lgkmcnt(0)\n s_mov_b64 exec, 1"
    DS_TEXT("bpermute_b32",
            WAVE "v_xor_b32_e32 v7, 20, v7\n ds_bpermute_b32 v8, v7, v6 offset:8" LANE0, 0, 0, P64,
            7), /* (0 ^ 5) + 2 */
    DS_TEXT("permute_b32", WAVE "v_xor_b32_e32 v7, 20, v7\n ds_permute_b32 v8, v7, v6" LANE0, 0, 0,
            P64, 5),
    DS_TEXT("swizzle_b32",
            WAVE "ds_swizzle_b32 v8, v6 offset:swizzle(BITMASK_PERM,\"pi1p0\")" LANE0, 0, 0, P64,
            12), /* of lane 0: bit 3 inverted, bit 2 set */
    DS_TEXT("nop", "ds_nop", 0, 0, P64, 0),
    DS_TEXT("read_addtid_b32", "s_mov_b32 m0, 4\n s_nop 0\n ds_read_addtid_b32 v8 offset:8", 0, 0,
            P64, 0x8393a3b3),
    DS_TEXT("write_addtid_b32", "s_mov_b32 m0, 4\n s_nop 0\n ds_write_addtid_b32 v2", 9, 0,
            0x000000098090a0b0, 0),
    /* transposing reads: lane i of sixteen points at byte 8 i (12 i) of its group's block, which
     * holds a counter an element; lane 0 gets column 0, that is elements 0, 16, 32 and so on */

    DS_TEXT("read_b64_tr_b16",
            WAVE
            "v_lshlrev_b32_e32 v7, 3, v6\n v_lshlrev_b32_e32 v12, 2, v6\n"
            " v_lshl_add_u32 v13, v12, 16, v12\n v_add_u32_e32 v14, 0x10000, v13\n"
            " v_add_u32_e32 v15, 0x30002, v13\n ds_write_b64 v7, v[14:15]\n s_waitcnt lgkmcnt(0)\n"
            " ds_read_b64_tr_b16 v[8:9], v7" LANE0,
            0, 0, 0x0003000200010000, 16u << 16, 48u << 16 | 32),
    DS_TEXT(
        "read_b64_tr_b8",
        WAVE
        "v_lshlrev_b32_e32 v7, 3, v6\n v_and_b32_e32 v12, 15, v6\n"
        " v_lshlrev_b32_e32 v12, 3, v12\n v_mul_u32_u24_e32 v13, 0x1010101, v12\n"
        " v_add_u32_e32 v14, 0x3020100, v13\n v_add_u32_e32 v15, 0x7060504, v13\n"
        " ds_write_b64 v7, v[14:15]\n s_waitcnt lgkmcnt(0)\n ds_read_b64_tr_b8 v[8:9], v7" LANE0,
        0, 0, 0x0706050403020100, 0x30201000, 0x70605040),
    /* nibbles: a lane's sixteen are one row, all equal to the lane's number in the group */
    DS_TEXT(
        "read_b64_tr_b4",
        WAVE
        "v_lshlrev_b32_e32 v7, 3, v6\n v_and_b32_e32 v12, 15, v6\n"
        " s_mov_b32 s30, 0x11111111\n v_mul_lo_u32 v14, v12, s30\n v_mov_b32_e32 v15, v14\n"
        " ds_write_b64 v7, v[14:15]\n s_waitcnt lgkmcnt(0)\n ds_read_b64_tr_b4 v[8:9], v7" LANE0,
        0, 0, 0, 0x76543210, 0xfedcba98),
    /* six bits: a lane's sixteen are one row, bit 0 of each the lane's lowest */
    DS_TEXT(
        "read_b96_tr_b6",
        WAVE
        "v_mul_u32_u24_e32 v7, 12, v6\n v_and_b32_e32 v12, 1, v6\n"
        " s_mov_b32 s30, 0x41041041\n s_mov_b32 s31, 0x10410410\n s_mov_b32 s32, 0x4104104\n"
        " v_mul_lo_u32 v14, v12, s30\n v_mul_lo_u32 v15, v12, s31\n v_mul_lo_u32 v16, v12, s32\n"
        " ds_write_b96 v7, v[14:16]\n s_waitcnt lgkmcnt(0)\n ds_read_b96_tr_b6 v[8:10], v7" LANE0,
        0, 0, 0, 0x40040040 & 0xffffffff, 0x00400400, 0x04004004),
/* memory into LDS: M0 is 0, the lane's dword is read back */
#define TO_LDS(name, bytes, want)                                                                  \
    {name,                                                                                         \
     TEXT,                                                                                         \
     1 << GLOBAL,                                                                                  \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     {want},                                                                                       \
     P64,                                                                                          \
     "s_mov_b32 m0, 0\n s_nop 0\n global_" name " v[30:31], off\n s_waitcnt vmcnt(0)\n"            \
     " ds_read_b32 v8, v1 offset:" bytes}
    TO_LDS("load_lds_ubyte", "0", 0xb0),
    TO_LDS("load_lds_sbyte", "0", 0xffffffb0),
    TO_LDS("load_lds_ushort", "0", 0xa0b0),
    TO_LDS("load_lds_sshort", "0", 0xffffa0b0),
    TO_LDS("load_lds_dword", "0", 0x8090a0b0),
    TO_LDS("load_lds_dwordx3", "8", 0x8292a2b2),
    TO_LDS("load_lds_dwordx4", "12", 0x8393a3b3),
    {"inv", TEXT, 1 << BUFFER, 0, 0, 0, 0, {0}, P64, "buffer_inv sc1"},
    {"wbl2", TEXT, 1 << BUFFER, 0, 0, 0, 0, {0}, P64, "buffer_wbl2 sc1"},
};
enum { ROWS = sizeof rows / sizeof rows[0], SLOT = 64 };

static void tuple(char *out, unsigned reg, unsigned n)
{
    if (n == 1)
        sprintf(out, "v%u", reg);
    else
        sprintf(out, "v[%u:%u]", reg, reg + n - 1);
}

/* The instruction of a row in an address space. */
static void instruction(char *out, size_t size, const struct row *r, enum space s)
{
    char dst[16], data[16], second[24] = "", name[64];
    bool cmp = strstr(r->name, "cmpswap") != NULL, ret = r->kind == RETURN;
    bool two = s == LDS && (strstr(r->name, "cmpst") || strstr(r->name, "mskor"));
    snprintf(name, sizeof name, "%s%s", prefixes[s], r->name);
    tuple(dst, 8, r->regs);
    tuple(data, 2, cmp ? 2u * r->regs : r->regs);
    if (two) {
        char b[16];
        tuple(b, 4, r->regs);
        snprintf(second, sizeof second, ", %s", b);
    }
    if (r->kind == TEXT)
        snprintf(out, size, "%s", r->text);
    else if (s == LDS && r->kind == LOAD)
        snprintf(out, size, "%s %s, v1", name, dst);
    else if (s == LDS)
        snprintf(out, size, "%s %s%sv1, %s%s", name, ret ? dst : "", ret ? ", " : "", data, second);
    else if (s == BUFFER && r->kind == RETURN) /* data and result are one tuple */
        snprintf(out, size,
                 "%s %s, v33, s[12:15], 0 offen sc0\n s_waitcnt vmcnt(0)\n"
                 " v_mov_b32_e32 v8, v2\n%s",
                 name, data, r->regs > 1 ? " v_mov_b32_e32 v9, v3" : "");
    else if (s == BUFFER)
        snprintf(out, size, "%s %s, v33, s[12:15], 0 offen", name, r->kind == LOAD ? dst : data);
    else if (s == SCRATCH && r->kind == LOAD)
        snprintf(out, size, "%s %s, off, off", name, dst);
    else if (s == SCRATCH)
        snprintf(out, size, "%s off, %s, off", name, data);
    else
        snprintf(out, size, "%s %s%sv[30:31]%s%s%s%s", name, ret || r->kind == LOAD ? dst : "",
                 ret || r->kind == LOAD ? ", " : "", r->kind == LOAD ? "" : ", ",
                 r->kind == LOAD ? "" : data, s == GLOBAL ? ", off" : "", ret ? " sc0" : "");
}

static uint64_t initial(const struct row *r)
{
    return r->kind == ATOMIC || r->kind == RETURN ? r->init : P64;
}

static void put_case(FILE *f, const struct row *r, enum space s, unsigned slot)
{
    char text[1024];
    uint64_t init = initial(r);
    const uint32_t regs[] = {(uint32_t)r->a,
                             (uint32_t)(r->a >> 32),
                             (uint32_t)r->b,
                             (uint32_t)(r->b >> 32),
                             0,
                             0,
                             OLD,
                             OLD,
                             OLD,
                             OLD,
                             (uint32_t)init,
                             (uint32_t)(init >> 32),
                             P[2],
                             P[3]};
    fprintf(f, "  s_mov_b64 exec, -1\n  v_mbcnt_lo_u32_b32 v6, -1, 0\n"
               "  v_mbcnt_hi_u32_b32 v6, -1, v6\n  s_mov_b64 exec, 1\n");
    for (unsigned i = 0; i < 14; i++)
        if (i != 4 && i != 5)
            fprintf(f, "  v_mov_b32_e32 v%u, 0x%x\n", i + 2, regs[i]);
    fprintf(f,
            "  v_mov_b32_e32 v1, 0\n  v_mov_b32_e32 v33, 0x%x\n  s_add_u32 s30, s4, 0x%x\n"
            "  s_addc_u32 s31, s5, 0\n  v_mov_b32_e32 v30, s30\n  v_mov_b32_e32 v31, s31\n",
            slot * SLOT, slot * SLOT);
    fprintf(f,
            "  ds_write_b128 v1, v[12:15]\n  s_mov_b64 exec, -1\n  v_mov_b32_e32 v8, 0x%x\n"
            "  v_mov_b32_e32 v9, 0x%x\n  v_mov_b32_e32 v10, 0x%x\n  s_mov_b64 exec, 1\n",
            OLD, OLD, OLD);
    if (s == SCRATCH)
        fprintf(f, "  scratch_store_dwordx4 off, v[12:15], off\n  s_waitcnt vmcnt(0)\n");
    instruction(text, sizeof text, r, s);
    fprintf(f, "  s_waitcnt lgkmcnt(0)\n  %s\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n", text);
    fprintf(f, s == SCRATCH ? "  scratch_load_dwordx4 v[12:15], off, off\n"
                            : "  ds_read_b128 v[12:15], v1\n");
    fprintf(f,
            "  v_mov_b32_e32 v1, 0x%x\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
            "  global_store_dwordx4 v1, v[8:11], s[8:9]\n"
            "  global_store_dwordx4 v1, v[12:15], s[8:9] offset:16\n  s_waitcnt vmcnt(0)\n"
            "  s_nop 1\n",
            slot * SLOT);
}

/* Where r->kind is TEXT, mem is wanted as it stands; a load leaves P, an atomic its own. */
static bool good(const struct row *r, enum space s, const uint32_t *regs, const uint32_t *memory)
{
    uint64_t mem = memory[0] | (uint64_t)memory[1] << 32;
    uint64_t want = r->kind == LOAD ? P64 : r->mem;
    unsigned n = r->kind == ATOMIC || r->kind == STORE ? 0 : 4;
    for (unsigned i = 0; i < n; i++) {
        bool set =
            r->kind == TEXT ? r->reg[i] != 0 || (i == 0 && strstr(r->name, "_tr_")) : i < r->regs;
        if (regs[i] != (set ? r->reg[i] : OLD))
            return false;
    }
    (void)s;
    if (strstr(r->name, "dwordx3") && r->kind == STORE && memory[2] != (uint32_t)r->b)
        return false;
    return mem == want;
}

static char *all_cases(unsigned *count)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_load_dwordx2 s[8:9], s[0:1], 0x8\n"
               "  s_waitcnt lgkmcnt(0)\n  s_mov_b32 s12, s4\n  s_mov_b32 s13, s5\n"
               "  s_mov_b32 s14, 0x100000\n  s_mov_b32 s15, 0x20000\n");
    *count = 0;
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned s = 0; s < SPACES; s++)
            if (rows[i].spaces >> s & 1)
                put_case(f, &rows[i], (enum space)s, (*count)++);
    fclose(f);
    return text;
}

static int check_all(const uint8_t *memory, const uint8_t *out)
{
    int wrong = 0;
    unsigned slot = 0;
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned s = 0; s < SPACES; s++) {
            const struct row *r = &rows[i];
            if (!(r->spaces >> s & 1))
                continue;
            const uint32_t *regs = (const void *)(out + slot * SLOT);
            const uint32_t *mem = regs + 4;
            if (s < SCRATCH)
                mem = (const void *)(memory + slot * SLOT);
            slot++;
            if (good(r, (enum space)s, regs, mem))
                continue;
            wrong++;
            char text[1024];
            instruction(text, sizeof text, r, (enum space)s);
            print_error("%s (%s): registers %x %x %x %x, memory %x %x %x %x\n", r->name, text,
                        regs[0], regs[1], regs[2], regs[3], mem[0], mem[1], mem[2], mem[3]);
        }
    return wrong;
}

static void every_case(void **state)
{
    (void)state;
    unsigned count = 0;
    char *text = all_cases(&count);
    assert_non_null(text);
    struct asm_kernel k = {
        .body = text, .lds = 4096, .directives = "  .amdhsa_private_segment_fixed_size 64"};
    struct asm_run r;
    assert_int_equal(asm_open(&r, &k, NULL), 0);
    uint8_t *memory = emu_mem_alloc(r.device, count * SLOT, 4096, true);
    uint8_t *out = emu_mem_alloc(r.device, count * SLOT, 4096, false);
    unsigned slot = 0;
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned s = 0; s < SPACES; s++)
            if (rows[i].spaces >> s & 1) {
                uint64_t init = initial(&rows[i]);
                memcpy(memory + slot * SLOT, P, sizeof P);
                memcpy(memory + slot++ * SLOT, &init, 8);
            }
    ((void **)r.kernarg)[0] = memory;
    ((void **)r.kernarg)[1] = out;
    if (asm_dispatch(&r, 1, 64) != EMU_OK)
        fail_msg("%s", r.result.report_count ? r.result.reports[0].text : "no finding");
    int wrong = check_all(memory, out);
    asm_close(&r);
    free(text);
    assert_int_equal(wrong, 0);
}

static bool has_case(const char *name)
{
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned s = 0; s < SPACES; s++) {
            size_t n = strlen(prefixes[s]);
            if (!(rows[i].spaces >> s & 1) || strncmp(name, prefixes[s], n) != 0 ||
                strcmp(name + n, rows[i].name) != 0)
                continue;
            if (rows[i].kind != TEXT || strstr(rows[i].text, name))
                return true;
        }
    return false;
}

static void every_instruction_has_a_case(void **state)
{
    (void)state;
    assert_int_equal(tested_missing(EMU_VMEM, EMU_DS, has_case), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case),
        cmocka_unit_test(every_instruction_has_a_case),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        tested_leave("test_memory", EMU_VMEM, EMU_DS, has_case);
    return failed;
}
