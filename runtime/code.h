/* SPDX-License-Identifier: Apache-2.0 */
/* What a code object says of itself: target, kernel descriptor, metadata. Every read is checked
 * against the file's size. */
#ifndef RT_CODE_H
#define RT_CODE_H

#include "runtime/cogen_rt.h"

enum { RT_CODE_MAX_ARGS = 64, RT_CODE_NAME = 192 };

struct rt_code_arg {
    char name[32];
    char value_kind[32];
    uint32_t offset, size;
};

/* One kernel of a code object. */
struct rt_code {
    char target[32];           /* "gfx950", or "machine 0x.." for one without a row in the table */
    char kernel[RT_CODE_NAME]; /* its symbol, without ".kd" */
    uint64_t code_offset, code_bytes; /* of its machine code in the file */
    uint32_t group_bytes, private_bytes,
        kernarg_bytes; /* of the descriptor, which the hardware goes by */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint32_t meta_vgprs, meta_agprs, meta_sgprs, meta_group_bytes, meta_kernarg_bytes, wavefront;
    struct rt_code_arg args[RT_CODE_MAX_ARGS];
    uint32_t arg_count;
    bool has_digest;
    uint64_t args_digest; /* FNV-1a-64 of the argument layout that the kernel was generated for */
};

/* Reads the kernel called `kernel` (NULL: the only one) of the code object in bytes; file stands in
 * messages. */
enum cogen_rt_status rt_code_read(const char *file, const void *bytes, size_t size,
                                  const char *kernel, struct rt_code *code,
                                  struct cogen_rt_error *err);

#endif
