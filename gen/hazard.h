/* SPDX-License-Identifier: Apache-2.0 */
/* The wait states that the hardware does not keep by itself: a row per hazard, data only. */
#ifndef GEN_HAZARD_H
#define GEN_HAZARD_H

#include "gen/isa.h"
#include "gen/program.h"

/* What an operand is to its instruction; rows name them on both sides. */
enum role {
    ROLE_VSRC = 1 << 0,      /* VGPR read */
    ROLE_VDST = 1 << 1,      /* VGPR written */
    ROLE_SDST = 1 << 2,      /* SGPR or VCC written */
    ROLE_SCONST = 1 << 3,    /* SGPR, VCC, M0 read as a value */
    ROLE_MASK = 1 << 4,      /* SGPR pair read as a lane mask or carry-in */
    ROLE_SEL = 1 << 5,       /* SGPR read as a lane number */
    ROLE_VCC_READ = 1 << 6,  /* VCC read without being named (branch, v_div_fmas) */
    ROLE_EXEC = 1 << 7,      /* EXEC: written, or read as the lanes to work on */
    ROLE_EXEC_DATA = 1 << 8, /* EXEC read as a value */
    ROLE_DPP = 1 << 9, /* VGPR that a DPP form reads across lanes, its old destination included */
    ROLE_AB = 1 << 10, /* matrix A, B or a scale */
    ROLE_C = 1 << 11,  /* matrix C */
    ROLE_DATA34 = 1 << 12,   /* data of a store, 3 or 4 dwords */
    ROLE_PART = 1 << 13,     /* VGPR written in part, not from its first byte */
    ROLE_PART_ANY = 1 << 14, /* VGPR written in part */
    ROLE_DOT_ACC = 1 << 15,  /* accumulator of a dot product */
    ROLE_HWREG = 1 << 16,    /* a hardware register; which is not looked at */
    ROLE_HWREG_W = 1 << 17,
};

/* How the two registers must lie. */
enum relation {
    REL_OVERLAP,
    REL_SAME,     /* the very same range, and both matrix instructions take equally many passes */
    REL_NOT_SAME, /* overlapping otherwise */
    REL_SAME_OP,  /* overlapping, and both are the same opcode */
    REL_OTHER_OP,
    REL_ALWAYS, /* no register is shared: the roles alone */
};

#define CLASS_BIT(c) (1u << CLASS_##c)

struct hazard {
    const char *summary, *source;
    uint32_t producer, producer_role; /* class bits, role bits */
    uint32_t consumer, consumer_role;
    enum relation relation;
    uint8_t states[4]; /* wait states; of a matrix producer by passes 2, 4, 8, 16 */
    uint8_t archs;     /* HAZARD_942 | HAZARD_950 */
};
enum { HAZARD_942 = 1, HAZARD_950 = 2, HAZARD_ANY = 3, HAZARD_LONGEST = 20 };

extern const struct hazard hazards[];
extern const int hazard_count;

/* ---- instructions against the rows (hazard.c) */

/* An instruction's registers with their roles, worked out once. */
struct hazard_facts {
    const struct instr *in;
    const struct op_info *info;
    int n;
    struct touch touch[MAX_TOUCHES];
    uint32_t role[MAX_TOUCHES];
    uint32_t hwreg; /* roles without a register */
    bool produces;  /* some row has it as a producer */
};

/* `physical`: by allocated registers, else by virtual dwords. */
void hazard_facts_make(const struct program *p, const struct instr *in, bool physical,
                       struct hazard_facts *f);
/* Wait states that b needs behind a. */
int hazard_states(const struct program *p, const struct hazard_facts *a,
                  const struct hazard_facts *b);
/* Wait states before another instruction may write the registers of a touch: what reusing them at
 * once would cost. */
int hazard_reuse_states(const struct program *p, const struct hazard_facts *f, int touch);

#endif
