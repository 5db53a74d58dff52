/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the emulator is: wave instructions a second on a VALU loop, MFMA multiply-adds a second
 * on scaled fp8 16x16x128, with all checks and with none, on one thread and on two. Rows of one run
 * are measured one after another, best of REPEATS, so that their ratios hold on a noisy machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/isa/asm.h"

enum { GROUPS = 64, ITEMS = 256, REPEATS = 3 };

/* 64 instructions of VALU work a turn: what the kernels do between their matrix instructions. */
#define VALU4                                                                                      \
    "  v_fma_f32 v4, v4, v5, v6\n  v_add_f32_e32 v7, v4, v5\n"                                     \
    "  v_lshl_add_u32 v8, v8, 1, v9\n  v_max_f32_e32 v10, v7, v6\n"
#define VALU16 VALU4 VALU4 VALU4 VALU4
static const char valu_loop[] =
    "  v_mov_b32_e32 v4, 1.0\n  v_mov_b32_e32 v5, 0.5\n"
    "  v_mov_b32_e32 v6, 2.0\n  v_mov_b32_e32 v8, 3\n"
    "  v_mov_b32_e32 v9, 5\n  s_movk_i32 s4, 400\n"
    "1:\n" VALU16 VALU16 VALU16 VALU16 "  s_sub_u32 s4, s4, 1\n  s_cmp_lg_u32 s4, 0\n"
    "  s_cbranch_scc1 1b\n";

/* Four independent accumulators, so that no wait states are needed inside the loop. */
#define MFMA(d)                                                                                    \
    "  v_mfma_scale_f32_16x16x128_f8f6f4 v[" d "], v[8:15], v[16:23], v[" d "], v24, v24\n"
#define MFMA4 MFMA("28:31") MFMA("32:35") MFMA("36:39") MFMA("40:43")
static const char mfma_init[] = "  s_movk_i32 s4, 100\n";
static const char mfma_loop[] = "1:\n" MFMA4 MFMA4 "  s_sub_u32 s4, s4, 1\n  s_cmp_lg_u32 s4, 0\n"
                                "  s_cbranch_scc1 1b\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Best rate of REPEATS dispatches, in millions a second; negative when one fails. */
static double measure(const char *body, bool mfma, unsigned checks, unsigned threads)
{
    struct emu_config config = {.checks = checks, .threads = threads};
    struct asm_kernel kernel = {.body = body};
    struct asm_run r;
    double best = -1;
    if (asm_open(&r, &kernel, &config) != 0)
        return -1;
    for (int i = 0; i < REPEATS; i++) {
        double start = now();
        if (asm_dispatch(&r, GROUPS, ITEMS) != EMU_OK) {
            fprintf(stderr, "%s\n", r.result.report_count ? r.result.reports[0].text : "failed");
            best = -1;
            break;
        }
        double seconds = now() - start;
        double count = (double)(mfma ? r.result.mfma_macs : r.result.insts);
        double rate = count / seconds / 1e6;
        best = rate > best ? rate : best;
    }
    asm_close(&r);
    return best;
}

/* Registers 8 to 43 get finite fp8 values and scales of 1. */
static const char *mfma_body(void)
{
    static char body[8192];
    size_t n = 0;
    for (int v = 8; v < 24; v++)
        n += (size_t)snprintf(body + n, sizeof body - n, "  v_mov_b32_e32 v%d, 0x38343038\n", v);
    n += (size_t)snprintf(body + n, sizeof body - n, "  v_mov_b32_e32 v24, 0x7f7f7f7f\n");
    for (int v = 28; v < 44; v++)
        n += (size_t)snprintf(body + n, sizeof body - n, "  v_mov_b32_e32 v%d, 0\n", v);
    snprintf(body + n, sizeof body - n, "%s  s_nop 1\n%s", mfma_init, mfma_loop);
    return body;
}

int main(void)
{
    static const struct {
        const char *what;
        bool mfma;
        double floor; /* one thread, no checks: M a second */
    } rows[] = {
        {"VALU loop, M wave instructions/s",        false, 20  },
        {"scaled fp8 16x16x128, M multiply-adds/s", true,  2000}
    };
    bool good = true;
    printf("%-42s %10s %10s %8s\n", "", "no checks", "checks", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *body = rows[i].mfma ? mfma_body() : valu_loop;
        for (unsigned threads = 1; threads <= 2; threads++) {
            double plain = measure(body, rows[i].mfma, 0, threads);
            double checked = measure(body, rows[i].mfma, EMU_CHECK_ALL, threads);
            bool fast = plain > 0 && checked > 0 && plain / checked <= 3 &&
                        (threads > 1 || plain >= rows[i].floor);
            printf("%-34s %u thread%s %9.1f %10.1f %7.2fx%s\n", rows[i].what, threads,
                   threads > 1 ? "s" : " ", plain, checked, plain / checked,
                   fast ? "" : "  below the target");
            good &= fast;
        }
    }
    printf("targets: %g and %g on one thread without checks; checks cost at most 3x\n",
           rows[0].floor, rows[1].floor);
    return good ? 0 : 1;
}
