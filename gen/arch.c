/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/arch.h"

#include <stddef.h>
#include <string.h>

const struct arch archs[] = {
    {.name = "gfx950",
     .lds_bytes = 163840,
     .lds_granule = 1280,
     .vgprs = 256,
     .vgpr_granule = 8,
     .sgprs = 100,
     .workgroups = 256},
};
const int arch_count = sizeof archs / sizeof archs[0];

const struct arch *arch_find(const char *name)
{
    for (int i = 0; i < arch_count; i++)
        if (strcmp(archs[i].name, name) == 0)
            return &archs[i];
    return NULL;
}
