/* SPDX-License-Identifier: Apache-2.0 */
/* Readers, executables and loaded code objects, as hsa_code.c keeps them and hsa_loader.c shows
 * them. Lists and their members change under hsa_state.lists. */
#ifndef EMU_HSA_CODE_H
#define EMU_HSA_CODE_H

#include "hsa_state.h"

#pragma GCC visibility push(hidden)

struct hsa_reader {
    struct hsa_reader *next;
    const uint8_t *bytes;
    size_t size;
    uint8_t *owned; /* read from a file */
    int file;
};

struct exec_symbol {
    char *name;                      /* a kernel's with ".kd" */
    const struct emu_kernel *kernel; /* NULL: a variable */
    void *address;
    size_t size;
};

struct hsa_loaded {
    struct hsa_loaded *next;
    struct hsa_exec *executable;
    struct emu_object *object;
    struct exec_symbol *symbols;
    size_t symbol_count;
    const uint8_t *storage; /* the reader's bytes */
    size_t storage_size;
    int file;
    uint8_t *load_base;
    size_t load_size;
    char uri[96];
};

struct hsa_exec {
    struct hsa_exec *next;
    bool frozen;
    hsa_profile_t profile;
    hsa_default_float_rounding_mode_t rounding;
    struct hsa_loaded *objects;
};

/* The live one that a handle names, or NULL. */
struct hsa_exec *hsa_exec_of(struct hsa_state *state, hsa_executable_t handle);
hsa_status_t hsa_reader_add(struct hsa_state *state, struct hsa_reader init,
                            hsa_code_object_reader_t *handle);
hsa_status_t hsa_reader_from_file(struct hsa_state *state, int file, size_t offset, size_t size,
                                  hsa_code_object_reader_t *handle);

#define RETURN_UNLESS(condition, status)                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (status);                                                                       \
    } while (0)

#pragma GCC visibility pop

#endif
