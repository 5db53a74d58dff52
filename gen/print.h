/* SPDX-License-Identifier: Apache-2.0 */
/* Program -> assembly text. */
#ifndef GEN_PRINT_H
#define GEN_PRINT_H

#include <stddef.h>

#include "gen/program.h"

/* The program, its registers allocated, as a whole assembly file: instructions, kernel descriptor,
 * metadata. The caller frees it; NULL and a line in err when out of memory. */
char *program_print(const struct program *p, char *err, size_t err_size);

#endif
