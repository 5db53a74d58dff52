/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar instructions that steer the wave: branches and the program counter, barriers, waits
 * and messages, mode and hardware registers. Arithmetic is in exec_salu.c, which decodes both.
 */
#include "exec_salu.h"

void set_mode(struct wave *w, uint32_t mode)
{
    w->mode = mode;
    w->alu_mode.round32 = mode & 3;
    w->alu_mode.round16_64 = mode >> 2 & 3;
    w->alu_mode.denorm32 = mode >> 4 & 3;
    w->alu_mode.denorm16_64 = mode >> 6 & 3;
    w->alu_mode.mode =
        (uint8_t)((mode >> 8 & 1 ? EMU_MODE_DX10_CLAMP : 0) | (mode >> 9 & 1 ? EMU_MODE_IEEE : 0) |
                  (mode >> 23 & 1 ? EMU_MODE_OVFL : 0));
}

/* ---- program flow ---- */

static void jump(struct wave *w, const struct inst *in, unsigned op)
{
    w->pc = in->pc + in->bytes + simm16(in, op) * 4;
}
FN(s_branch)
{
    jump(w, in, 0);
}
#define CBRANCH(name, cond)                                                                        \
    FN(name)                                                                                       \
    {                                                                                              \
        if (cond)                                                                                  \
            jump(w, in, 0);                                                                        \
    }
CBRANCH(s_cbranch_scc0, !w->scc)
CBRANCH(s_cbranch_scc1, w->scc)
CBRANCH(s_cbranch_vccz, !(w->s[S_VCC] | w->s[S_VCC + 1]))
CBRANCH(s_cbranch_vccnz, w->s[S_VCC] | w->s[S_VCC + 1])
CBRANCH(s_cbranch_execz, !w->exec)
CBRANCH(s_cbranch_execnz, w->exec)

static uint64_t image_base(const struct wave *w)
{
    return (uint64_t)(uintptr_t)w->xcd->launch->obj->image;
}
static void jump_to(struct wave *w, const struct inst *in, uint64_t to)
{
    uint64_t at = to - image_base(w);
    if (at >= w->xcd->launch->obj->image_size || at & 3) {
        fault(w, in, EMU_CHECK_BOUNDS, "bad-jump", -1, NULL,
              "target 0x%llx lies outside the code object", (unsigned long long)to);
        return;
    }
    w->pc = (uint32_t)at;
}
FN(s_getpc_b64)
{
    D64(image_base(w) + in->pc + in->bytes);
}
FN(s_setpc_b64)
{
    jump_to(w, in, A64(0));
}
FN(s_swappc_b64)
{
    uint64_t to = A64(1);
    D64(image_base(w) + in->pc + in->bytes);
    jump_to(w, in, to);
}
FN(s_call_b64)
{
    D64(image_base(w) + in->pc + in->bytes);
    jump(w, in, 1);
}
FN(s_nop)
{
    (void)w, (void)in;
}
FN(s_endpgm)
{
    (void)in;
    wave_end(w);
}
FN(s_barrier)
{
    w->state = WAVE_BARRIER;
    w->block = in;
}
FN(s_sleep)
{
    w->state = WAVE_SLEEP;
    w->block = in;
    w->wake = w->xcd->launch->round + 1;
}
FN(s_trap)
{
    fault(w, in, EMU_CHECK_BOUNDS, "trap", -1, NULL, "the kernel executed s_trap %u",
          in->op[0].imm);
}
FN(s_waitcnt)
{
    if (!wait_counters(w, in->vmcnt, in->lgkmcnt)) {
        w->pc = in->pc; /* again, when stores have been committed */
        w->state = WAVE_WAIT;
        w->block = in;
    }
}
FN(s_sendmsg)
{
    struct flight f = {.in = in, .cls = OPC_OTHER, .count = 1};
    counter_issue(w, &w->lgkm, f);
}

/* ---- hardware registers ---- */

static uint32_t hwreg_value(const struct wave *w, unsigned id)
{
    switch (id) {
    case 1:
        return w->mode;
    case 2:
        return (uint32_t)w->scc | (uint32_t)!w->exec << 9;
    case 4: /* HW_ID: wave slot, SIMD, CU, SE: enough to tell places apart */
        return (w->id & 15) | (w->id & 3) << 4 | (w->group->cu & 15) << 8 |
               (w->group->cu >> 4 & 3) << 13;
    case 5:
        return w->nv / 8;
    case 6:
        return w->group->lds_bytes / 512 << 12;
    case 15:
        return APERTURE_SHARED >> 16 << 16 | APERTURE_PRIVATE >> 16;
    case 20:
        return w->xcd->index;
    default:
        return 0;
    }
}
static uint32_t field_mask(const struct inst *in)
{
    return (in->hw_width >= 32 ? 0xffffffffu : (1u << in->hw_width) - 1) << in->hw_offset;
}
FN(s_getreg_b32)
{
    D32((hwreg_value(w, in->hwreg) & field_mask(in)) >> in->hw_offset);
}
static void setreg(struct wave *w, const struct inst *in, uint32_t v)
{
    if (in->hwreg != 1)
        return;
    uint32_t mask = field_mask(in);
    set_mode(w, (w->mode & ~mask) | (v << in->hw_offset & mask));
}
FN(s_setreg_b32)
{
    setreg(w, in, A32(0));
}
FN(s_setreg_imm32_b32)
{
    setreg(w, in, in->op[0].imm);
}
/* Index mode: MODE bit 27 turns it on, M0 has the index in its low byte and which operands it moves
 * in bits 15:12. */
#define GPR_IDX_EN (1u << 27)
static void set_m0(struct wave *w, uint32_t mask, uint32_t v)
{
    w->s[S_M0] = (w->s[S_M0] & ~mask) | (v & mask);
}
FN(s_set_gpr_idx_on)
{
    set_m0(w, 0xf0ff, (A32(0) & 0xff) | in->index);
    w->mode |= GPR_IDX_EN;
}
FN(s_set_gpr_idx_off)
{
    (void)in;
    w->mode &= ~GPR_IDX_EN;
}
FN(s_set_gpr_idx_idx)
{
    set_m0(w, 0xff, A32(0));
}
FN(s_set_gpr_idx_mode)
{
    set_m0(w, 0xf000, in->index);
}

/* s_setvskip, s_round_mode and others do not exist on these targets. */
static const struct salu_row rows[] = {
    R(s_branch, L_BRANCH),
    R(s_cbranch_scc0, L_BRANCH | L_SCC_IN),
    R(s_cbranch_scc1, L_BRANCH | L_SCC_IN),
    R(s_cbranch_vccz, L_BRANCH | L_VCC),
    R(s_cbranch_vccnz, L_BRANCH | L_VCC),
    R(s_cbranch_execz, L_BRANCH),
    R(s_cbranch_execnz, L_BRANCH),
    R(s_getpc_b64, L_D_SRC),
    R(s_setpc_b64, L_BRANCH),
    R(s_swappc_b64, L_D_SRC | L_BRANCH),
    R(s_call_b64, L_D_SRC | L_BRANCH),

    R(s_nop, L_NOP),
    R(s_endpgm, 0),
    R(s_barrier, 0),
    R(s_sleep, 0),
    R(s_trap, 0),
    R(s_waitcnt, L_WAIT),
    R(s_sendmsg, L_MESSAGE),
    {"s_sendmsghalt",  s_sendmsg, L_MESSAGE},
    {"s_setprio",      s_nop,     0        },
    {"s_sethalt",      s_trap,    0        },
    {"s_setkill",      s_trap,    0        },
    {"s_incperflevel", s_nop,     0        },
    {"s_decperflevel", s_nop,     0        },
    {"s_icache_inv",   s_nop,     0        },
    {"s_wakeup",       s_nop,     0        },
    {"s_endpgm_saved", s_endpgm,  0        },
    {"s_ttracedata",   s_nop,     0        },
    R(s_getreg_b32, L_D_SRC),
    R(s_set_gpr_idx_on, L_M0),
    R(s_set_gpr_idx_off, 0),
    R(s_set_gpr_idx_idx, L_M0),
    R(s_set_gpr_idx_mode, L_M0),
    R(s_setreg_b32, 0),
    R(s_setreg_imm32_b32, 0),
};

const struct salu_row *control_row(size_t i)
{
    return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
