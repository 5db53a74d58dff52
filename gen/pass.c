/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/pass.h"

#include <stdio.h>
#include <string.h>

struct saved {
    struct instr *instrs;
};

/* The blocks' instructions as the templates gave them, should the scheduled order not fit the
 * registers. */
static struct saved *save_blocks(struct program *p)
{
    struct saved *copy = arena_alloc(p->arena, ((size_t)p->n_blocks + 1) * sizeof *copy);
    for (int b = 0; copy && b < p->n_blocks; b++) {
        size_t bytes = (size_t)p->blocks[b].n * sizeof *copy->instrs;
        copy[b].instrs = arena_alloc(p->arena, bytes + 1);
        if (!copy[b].instrs)
            return NULL;
        if (bytes)
            memcpy(copy[b].instrs, p->blocks[b].instrs, bytes);
    }
    return copy;
}

static int place(struct program *p, char *err, size_t err_size)
{
    struct saved *copy = save_blocks(p);
    if (!copy) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    if (pass_schedule(p, err, err_size))
        return -1;
    if (pass_registers(p, err, err_size) == 0)
        return 0;
    for (int b = 0; b < p->n_blocks; b++)
        p->blocks[b].instrs = copy[b].instrs;
    return pass_registers(p, err, err_size);
}

int program_passes(struct program *p, char *err, size_t err_size)
{
    static int (*const passes[])(struct program *, char *, size_t) = {
        pass_dead,
        place,
        pass_waits,
        pass_hazards,
    };
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        if (passes[i](p, err, err_size))
            return -1;
    return 0;
}
