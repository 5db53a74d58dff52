/* SPDX-License-Identifier: Apache-2.0 */
#include "tested.h"

#include <stdlib.h>
#include <sys/stat.h>

FILE *tested_open(const char *program)
{
    const char *build = getenv("COGEN_BUILD");
    char path[1024];
    if (!build)
        return NULL;
    snprintf(path, sizeof path, "%s/isa-tested", build);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/isa-tested/%s", build, program);
    return fopen(path, "w");
}

void tested_leave(const char *program, enum emu_family first, enum emu_family last,
                  bool (*has_case)(const char *mnemonic))
{
    FILE *f = tested_open(program);
    char name[64];
    for (unsigned family = first; f && family <= (unsigned)last; family++)
        for (size_t i = 0; emu_implemented((enum emu_family)family, i, name, sizeof name); i++)
            if (has_case(name))
                fprintf(f, "%s\n", name);
    if (f)
        fclose(f);
}

int tested_missing(enum emu_family first, enum emu_family last,
                   bool (*has_case)(const char *mnemonic))
{
    char name[64];
    int missing = 0;
    for (unsigned family = first; family <= (unsigned)last; family++)
        for (size_t i = 0; emu_implemented((enum emu_family)family, i, name, sizeof name); i++)
            if (!has_case(name)) {
                fprintf(stderr, "no case for %s\n", name);
                missing++;
            }
    return missing;
}
