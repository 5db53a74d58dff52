/* SPDX-License-Identifier: Apache-2.0 */
/* What is judged and how sums are made, by the names that users give. */
#include "emu.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned bits;
} names[] = {
    {"waits",     EMU_CHECK_WAITS    },
    {"hazards",   EMU_CHECK_HAZARDS  },
    {"undefined", EMU_CHECK_UNDEFINED},
    {"bounds",    EMU_CHECK_BOUNDS   },
    {"races",     EMU_CHECK_RACES    },
    {"caches",    EMU_CHECK_CACHES   },
    {"all",       EMU_CHECK_ALL      },
    {"none",      EMU_CHECK_NONE     },
};

int emu_checks_parse(const char *list, unsigned *checks, char *err, size_t err_size)
{
    const size_t count = sizeof names / sizeof names[0];
    unsigned bits = *list == '-' ? EMU_CHECK_ALL : 0;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ","), minus = *at == '-', i = 0;
        while (i < count && (strlen(names[i].name) != n - minus ||
                             memcmp(at + minus, names[i].name, n - minus) != 0))
            i++;
        if (i == count) {
            snprintf(err, err_size,
                     "'%.*s' is none of waits, hazards, undefined, bounds, races, caches, all, "
                     "none",
                     (int)n, at);
            return -1;
        }
        bits = minus ? bits & ~names[i].bits : bits | names[i].bits;
        at += n;
        if (!*at)
            break;
    }
    *checks = bits;
    return 0;
}

int emu_mfma_parse(const char *name, bool *precise, char *err, size_t err_size)
{
    *precise = strcmp(name, "precise") == 0;
    if (*precise || strcmp(name, "model") == 0)
        return 0;
    snprintf(err, err_size, "accepted are model, precise");
    return -1;
}
