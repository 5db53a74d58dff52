/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the mnemonics that a test program has run with success, for cogen emu --coverage: a file
 * a program in isa-tested of the build. */
#ifndef ISA_TESTED_H
#define ISA_TESTED_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The list's file, to be closed; NULL outside a test run of the build. */
static inline FILE *tested_open(const char *program)
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

#endif
