/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cogen_rt: loads generated kernels and launches them.
 *
 *     device --- library (a manifest) --- entry --- kernel --- args --- queue: launch, wait
 *
 * A device is a GPU behind the system's HSA runtime, or the emulator behind the same calls; both
 * are opened at run time, so that a program linked with this library starts on a machine that has
 * neither. Every refusal is a value: a status and one line of text. Nothing here ends the process.
 *
 * Threads: devices, libraries and kernels may be used from any number of threads at once; an
 * argument block or a queue by one at a time. A launch allocates nothing and waits for nothing, and
 * reads only the argument block given, so a block whose pointers stay fixed may be launched again
 * and again.
 */
#ifndef COGEN_RT_H
#define COGEN_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define COGEN_RT_API __attribute__((visibility("default")))
#else
#define COGEN_RT_API
#endif

enum cogen_rt_status {
    COGEN_RT_OK,
    COGEN_RT_BAD_ARGUMENT, /* of the caller */
    COGEN_RT_NO_MEMORY,
    COGEN_RT_NO_DEVICE, /* no HSA library, or no device behind it */
    COGEN_RT_BAD_FILE,  /* a manifest or code object that cannot be read or does not parse */
    COGEN_RT_NOT_FOUND, /* the library has no kernel of the key */
    COGEN_RT_MISMATCH,  /* target, digest or argument layout differ from what the manifest says */
    COGEN_RT_LIMIT,     /* the device has too few compute units, registers or LDS */
    COGEN_RT_DEVICE,    /* an HSA call failed, or the device stopped a launch */
    COGEN_RT_TIMEOUT,
};

/* What went wrong; text is one line. Every function that takes one accepts NULL. */
struct cogen_rt_error {
    enum cogen_rt_status status;
    char text[1024];
};

struct cogen_rt_device;
struct cogen_rt_library;
struct cogen_rt_kernel;
struct cogen_rt_args;
struct cogen_rt_queue;

/* ---- devices */

struct cogen_rt_device_info {
    const char *backend; /* "hsa" or "emu" */
    const char *library; /* path or name of the HSA library in use */
    char target[64];     /* "gfx950" */
    uint32_t compute_units;
    uint32_t lds_bytes; /* most LDS of a workgroup */
};

/* backend: "hsa" (the system's libhsa-runtime64.so.1; the first GPU), "emu" (libcogen-hsa-emu.so,
 * from the environment's COGEN_EMU_LIB or beside this library), or "auto": hsa where it has a GPU,
 * else emu. */
COGEN_RT_API enum cogen_rt_status
cogen_rt_open(const char *backend, struct cogen_rt_device **device, struct cogen_rt_error *err);
/* Everything made from the device is to be freed first. NULL is allowed, here and in every function
 * that frees. */
COGEN_RT_API void cogen_rt_close(struct cogen_rt_device *device);
COGEN_RT_API const struct cogen_rt_device_info *
cogen_rt_device_info(const struct cogen_rt_device *device);
/* A symbol of the HSA library that the device came from, NULL where it has none: for what HSA
 * itself does not offer. */
COGEN_RT_API void *cogen_rt_device_symbol(const struct cogen_rt_device *device, const char *name);

/* ---- memory of the device */

COGEN_RT_API enum cogen_rt_status cogen_rt_alloc(struct cogen_rt_device *device, size_t size,
                                                 void **ptr, struct cogen_rt_error *err);
COGEN_RT_API void cogen_rt_free(struct cogen_rt_device *device, void *ptr);
/* Either side may be host memory. Returns when the bytes are there. */
COGEN_RT_API enum cogen_rt_status cogen_rt_copy(struct cogen_rt_device *device, void *dst,
                                                const void *src, size_t size,
                                                struct cogen_rt_error *err);
/* Fills size bytes, a multiple of 4, with a 32-bit word. */
COGEN_RT_API enum cogen_rt_status cogen_rt_fill(struct cogen_rt_device *device, void *dst,
                                                uint32_t word, size_t size,
                                                struct cogen_rt_error *err);

/* ---- libraries: a manifest and the code objects beside it */

struct cogen_rt_option {
    const char *name, *value; /* as `cogen gen --name value` */
};

enum cogen_rt_kind { COGEN_RT_POINTER, COGEN_RT_I32, COGEN_RT_I64, COGEN_RT_F32 };

struct cogen_rt_arg {
    const char *name;
    enum cogen_rt_kind kind;
    bool written;          /* the kernel writes through it */
    uint32_t offset, size; /* in the argument block, bytes */
};

struct cogen_rt_region {
    const char *name;
    uint64_t offset, size; /* in the scratch allocation, bytes */
};

/* A kernel as the manifest describes it; owned by its library. */
struct cogen_rt_entry {
    const char *name; /* the kernel's symbol */
    const char *file; /* code object, relative to the manifest's folder */
    const char *arch;
    uint64_t file_bytes, file_digest;      /* FNV-1a-64 of the file's bytes */
    const struct cogen_rt_option *options; /* the key */
    size_t option_count;
    const struct cogen_rt_arg *args;
    size_t arg_count;
    uint64_t args_digest; /* FNV-1a-64 over "name:offset:size:kind\n" of each argument */
    uint32_t kernarg_bytes;
    const struct cogen_rt_region *regions;
    size_t region_count;
    uint64_t scratch_bytes; /* of a step of this width, shared by the two kernels of a layer */
    uint64_t epoch_bytes;
    uint32_t workgroups, threads; /* of a launch */
    uint32_t lds_bytes, vgprs, sgprs;
};

/* Reads and checks the manifest at path; code objects are read when a kernel is loaded. */
COGEN_RT_API enum cogen_rt_status cogen_rt_library_load(const char *path,
                                                        struct cogen_rt_library **library,
                                                        struct cogen_rt_error *err);
/* Kernels loaded from it keep what they need and may be freed later. */
COGEN_RT_API void cogen_rt_library_free(struct cogen_rt_library *library);
COGEN_RT_API size_t cogen_rt_library_count(const struct cogen_rt_library *library);
COGEN_RT_API const struct cogen_rt_entry *
cogen_rt_library_entry(const struct cogen_rt_library *library, size_t index);
/* The one kernel whose key has all the options of `key`, e.g. "kernel=front model=v41-flash
 * tokens=4 tp=4 ratio=2". None: the error lists the nearest keys that exist; more than one: which
 * options would tell them apart. */
COGEN_RT_API const struct cogen_rt_entry *
cogen_rt_library_find(const struct cogen_rt_library *library, const char *key,
                      struct cogen_rt_error *err);
/* The value of an option of the entry's key, NULL where it has none of that name. */
COGEN_RT_API const char *cogen_rt_entry_option(const struct cogen_rt_entry *entry,
                                               const char *name);
COGEN_RT_API const struct cogen_rt_region *cogen_rt_entry_region(const struct cogen_rt_entry *entry,
                                                                 const char *name);

/* ---- kernels */

/* Reads the code object and checks, in this order: size and digest against the manifest, that it is
 * a code object for the device's target, the argument layout that it holds against the manifest's,
 * registers and LDS against the manifest and the device, and that the device can hold all
 * workgroups of a launch at once. Loading an entry again gives the same kernel. */
COGEN_RT_API enum cogen_rt_status cogen_rt_kernel_load(struct cogen_rt_device *device,
                                                       struct cogen_rt_library *library,
                                                       const struct cogen_rt_entry *entry,
                                                       struct cogen_rt_kernel **kernel,
                                                       struct cogen_rt_error *err);
COGEN_RT_API void cogen_rt_kernel_free(struct cogen_rt_kernel *kernel);
COGEN_RT_API const struct cogen_rt_entry *
cogen_rt_kernel_entry(const struct cogen_rt_kernel *kernel);

/* Scratch for the step width of a kernel, zeroed; both kernels of a layer share it. Freed with
 * cogen_rt_free. */
COGEN_RT_API enum cogen_rt_status cogen_rt_scratch_alloc(struct cogen_rt_device *device,
                                                         const struct cogen_rt_entry *entry,
                                                         void **ptr, struct cogen_rt_error *err);
/* The epoch buffer, zeroed: one for all steps that run on a queue. Freed with cogen_rt_free. */
COGEN_RT_API enum cogen_rt_status cogen_rt_epoch_alloc(struct cogen_rt_device *device,
                                                       const struct cogen_rt_entry *entry,
                                                       void **ptr, struct cogen_rt_error *err);

/* ---- argument blocks, in memory the device reads at launch */

COGEN_RT_API enum cogen_rt_status cogen_rt_args_new(struct cogen_rt_kernel *kernel,
                                                    struct cogen_rt_args **args,
                                                    struct cogen_rt_error *err);
COGEN_RT_API void cogen_rt_args_free(struct cogen_rt_args *args);
/* Sets an argument by name; another kind than the kernel's, or an unknown name, is refused. */
COGEN_RT_API enum cogen_rt_status cogen_rt_set_pointer(struct cogen_rt_args *args, const char *name,
                                                       const void *value,
                                                       struct cogen_rt_error *err);
COGEN_RT_API enum cogen_rt_status cogen_rt_set_i32(struct cogen_rt_args *args, const char *name,
                                                   int32_t value, struct cogen_rt_error *err);
COGEN_RT_API enum cogen_rt_status cogen_rt_set_i64(struct cogen_rt_args *args, const char *name,
                                                   int64_t value, struct cogen_rt_error *err);
COGEN_RT_API enum cogen_rt_status cogen_rt_set_f32(struct cogen_rt_args *args, const char *name,
                                                   float value, struct cogen_rt_error *err);
/* The value of an argument, whatever its kind: the member of that kind counts. */
struct cogen_rt_value {
    const char *name;
    const void *pointer;
    int64_t integer; /* of an i64; of an i32, which it must fit */
    float real;
};
/* Sets every argument of the block that is among the values by name. Values that the kernel has no
 * argument for are left out, so that one list serves both kernels of a layer; an argument that has
 * no value stays as it is. Of two values of a name the later counts. After a refusal some of the
 * arguments are set. */
COGEN_RT_API enum cogen_rt_status cogen_rt_set_values(struct cogen_rt_args *args,
                                                      const struct cogen_rt_value *values,
                                                      size_t count, struct cogen_rt_error *err);
/* Refuses a block with unset arguments and names each. */
COGEN_RT_API enum cogen_rt_status cogen_rt_args_check(const struct cogen_rt_args *args,
                                                      struct cogen_rt_error *err);

/* ---- queues */

COGEN_RT_API enum cogen_rt_status cogen_rt_queue_new(struct cogen_rt_device *device,
                                                     struct cogen_rt_queue **queue,
                                                     struct cogen_rt_error *err);
COGEN_RT_API void cogen_rt_queue_free(struct cogen_rt_queue *queue);
/* Puts a launch on the queue: it starts when the ones before it are done. The block must stay as it
 * is until then. */
COGEN_RT_API enum cogen_rt_status cogen_rt_launch(struct cogen_rt_queue *queue,
                                                  const struct cogen_rt_args *args,
                                                  struct cogen_rt_error *err);
/* A layer: the front, then the back, which starts when the front's stores are visible to the whole
 * device. */
COGEN_RT_API enum cogen_rt_status cogen_rt_launch_pair(struct cogen_rt_queue *queue,
                                                       const struct cogen_rt_args *front,
                                                       const struct cogen_rt_args *back,
                                                       struct cogen_rt_error *err);
/* Waits until every launch on the queue is done. timeout_ms 0: without limit. A launch that the
 * device stopped, or one that is not done in time, is named. */
COGEN_RT_API enum cogen_rt_status cogen_rt_wait(struct cogen_rt_queue *queue, uint64_t timeout_ms,
                                                struct cogen_rt_error *err);

#ifdef __cplusplus
}
#endif
#endif
