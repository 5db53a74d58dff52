/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the runtime know of each other: loaded kernels, argument blocks, and the
 * library they came from. */
#ifndef RT_KERNEL_H
#define RT_KERNEL_H

#include "runtime/cogen_rt.h"
#include "runtime/device.h"

#include <pthread.h>

struct cogen_rt_kernel {
    struct cogen_rt_device *device;
    struct cogen_rt_library *library; /* holds a reference: entry lives in it */
    const struct cogen_rt_entry *entry;
    struct cogen_rt_kernel *next; /* in the library's list of loaded kernels */
    unsigned refs;                /* under the library's lock */
    void *bytes; /* of the code object; the executable may read them while it lives */
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    bool has_reader, has_executable;
    uint64_t object; /* kernel_object of a packet */
    uint32_t group_bytes, private_bytes, kernarg_bytes;
};

struct cogen_rt_args {
    struct cogen_rt_kernel *kernel;
    unsigned char *block; /* kernarg memory */
    bool *set;            /* a flag an argument */
    size_t unset;         /* flags that are false */
};

struct cogen_rt_library {
    pthread_mutex_t lock; /* of refs and loaded */
    unsigned refs;        /* the caller's, and one a loaded kernel */
    struct cogen_rt_kernel *loaded;
    char *path, *folder; /* of the manifest; folder ends in a slash or is empty */
    struct cogen_rt_entry *entries;
    size_t count;
    void *json; /* the parsed manifest, which holds the entries' strings */
};

void rt_library_ref(struct cogen_rt_library *library);   /* under its lock */
void rt_library_unref(struct cogen_rt_library *library); /* without it */

/* Reads a whole file: a malloc'd block, or a line that names the path and the cause. */
enum cogen_rt_status rt_read_file(const char *path, void **bytes, size_t *size,
                                  struct cogen_rt_error *err);
uint64_t rt_fnv1a(const void *bytes, size_t size);
extern const char *const rt_kind_names[]; /* by enum cogen_rt_kind, as in manifests and digests */
uint64_t rt_args_digest(const struct cogen_rt_arg *args, size_t count);

#endif
