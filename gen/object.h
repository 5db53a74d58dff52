/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly text -> code object, through llvm-mc and ld.lld as child processes. */
#ifndef GEN_OBJECT_H
#define GEN_OBJECT_H

#include <stddef.h>

/* The tools' paths; NULL: the environment's COGEN_LLVM_MC and COGEN_LD_LLD, else what the build
 * found. */
struct cogen_tools {
    const char *llvm_mc, *ld_lld;
};

/* Assembles and links text for arch ("gfx950") into the file at path. The file appears whole or not
 * at all (written beside it, then renamed); the same text gives the same bytes in any folder. 0, or
 * -1 and one line: a tool that is missing, or its first message. */
int cogen_object_write(const char *text, const char *arch, const char *path,
                       const struct cogen_tools *tools, char *err, size_t err_size);

/* Writes a file whole or not at all, as above. */
int cogen_file_write(const char *path, const void *data, size_t size, char *err, size_t err_size);

#endif
