/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/pass.h"

int program_passes(struct program *p, char *err, size_t err_size)
{
    static int (*const passes[])(struct program *, char *, size_t) = {
        pass_dead,
        pass_registers,
        pass_waits,
        pass_hazards,
    };
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        if (passes[i](p, err, err_size))
            return -1;
    return 0;
}
