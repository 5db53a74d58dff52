/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes, in the order they run. Each changes the program in place: 0, or -1 and one line in
 * err, after which the program is good for program_free alone.
 */
#ifndef GEN_PASS_H
#define GEN_PASS_H

#include "gen/program.h"

/* Removes instructions whose results nobody reads. A memory or LDS load of that kind is an error:
 * it is a mistake. */
int pass_dead(struct program *p, char *err, size_t err_size);
/* Orders each block's instructions so that fewer of them wait. Memory, LDS, barriers and branches
 * keep their order. */
int pass_schedule(struct program *p, char *err, size_t err_size);
/* Gives every virtual register its place; an error names the stage where most are alive. */
int pass_registers(struct program *p, char *err, size_t err_size);
/* Puts in the s_waitcnt; works on allocated registers. */
int pass_waits(struct program *p, char *err, size_t err_size);
/* Puts in the s_nop. */
int pass_hazards(struct program *p, char *err, size_t err_size);
/* All of them. */
int program_passes(struct program *p, char *err, size_t err_size);

/* ---- liveness, shared by the first three */

/* Dwords that are followed beyond the virtual ones: numbered from p->n_comps. */
enum { LIVE_SCC, LIVE_VCC_LO, LIVE_VCC_HI, LIVE_M0, LIVE_SPECIALS };

struct liveness {
    uint32_t n_comps; /* virtual dwords and specials */
    size_t words;     /* of a set */
    /* a set a block: alive at its top, at its bottom; may have been written before its top */
    uint64_t *live_in, *live_out, *reach_in;
};

/* Of p in its present state, in p's arena. False when out of memory. */
bool liveness_make(struct program *p, struct liveness *l);
/* The dwords a touch covers, as set members first .. first + count - 1; count 0: not followed
 * (EXEC). */
uint32_t live_dwords(const struct program *p, const struct touch *t, int *count);

/* Backwards over one instruction: writes end lives, reads begin them. */
void live_step_back(const struct program *p, const struct instr *in, uint64_t *live);

static inline uint64_t *live_set(uint64_t *sets, const struct liveness *l, int block)
{
    return sets + (size_t)block * l->words;
}

static inline bool live_has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void live_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void live_drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

#endif
