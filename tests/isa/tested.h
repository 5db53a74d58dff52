/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the mnemonics that a test program has run with success, for cogen emu --coverage: a file
 * a program in isa-tested of the build. */
#ifndef ISA_TESTED_H
#define ISA_TESTED_H

#include <stdbool.h>
#include <stdio.h>

#include "implemented.h"

/* The list's file, to be closed; NULL outside a test run of the build. */
FILE *tested_open(const char *program);
/* Leaves the list of those mnemonics of the families first .. last that have a case. */
void tested_leave(const char *program, enum emu_family first, enum emu_family last,
                  bool (*has_case)(const char *mnemonic));
/* How many mnemonics of the families have no case; names them. */
int tested_missing(enum emu_family first, enum emu_family last,
                   bool (*has_case)(const char *mnemonic));

#endif
