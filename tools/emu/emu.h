/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated device: memory, code objects, dispatches. Everything in front of it (the HSA
 * library, the command line, tests) is a client of this header. A device pointer is a host pointer:
 * memory of the device lies in the process, so a client may read and write it between dispatches as
 * it would coherent host memory.
 */
#ifndef EMU_EMU_H
#define EMU_EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum emu_check { /* what is judged besides the function; all on by default */
                 EMU_CHECK_NONE = 0,
                 EMU_CHECK_WAITS =
                     1 << 0, /* counters: registers in flight are poison until a wait covers them */
                 EMU_CHECK_HAZARDS =
                     1 << 1, /* required wait states of the ISA, along the executed path */
                 EMU_CHECK_UNDEFINED =
                     1 << 2, /* reads of registers, LDS or memory that nobody wrote */
                 EMU_CHECK_BOUNDS = 1 << 3, /* accesses outside allocations or LDS, misalignment */
                 EMU_CHECK_RACES = 1 << 4,  /* LDS races between barriers; device memory handed over
                                               without scope or flag order */
                 EMU_CHECK_CACHES =
                     1 << 5, /* weak caches: a stale L1 / L2 line stays stale as long as it may */
                 EMU_CHECK_ALL = (1 << 6) - 1,
};

/* The bits of a list of names joined by commas, without "EMU_CHECK_" and in small letters, "all" or
 * "none". From left to right each adds, or with '-' in front takes away; "-caches" is
 * "all,-caches". 0, or -1 and a line. */
int emu_checks_parse(const char *list, unsigned *checks, char *err, size_t err_size);

/* "model" or "precise": how a matrix instruction adds up. 0, or -1 and a line. */
int emu_mfma_parse(const char *name, bool *precise, char *err, size_t err_size);

struct emu_config {
    const char *arch; /* "gfx950" (default when NULL) or "gfx942" */
    unsigned cus;     /* compute units, 0: 256 */
    unsigned threads; /* host threads, 0: as many as there are cores; results do not depend on it */
    uint64_t seed;    /* of the schedule: same seed, same order of waves, same result */
    unsigned checks;  /* EMU_CHECK_* */
    uint64_t
        max_insts; /* wave instructions a dispatch may execute before it is stopped, 0: no limit */
    bool precise_mfma; /* sums of a matrix instruction in f64, rounded once, instead of the
                          hardware's model (mfma.c): two runs bound what the order of sums can
                          change */
    FILE *trace;       /* NULL, or where every executed instruction is printed */
};

struct emu_device;
struct emu_object; /* a loaded code object */

/* 0 and a device, or -1 and a line in err. */
int emu_device_open(const struct emu_config *config, struct emu_device **device, char *err,
                    size_t err_size);
void emu_device_close(struct emu_device *device);
const struct emu_config *
emu_device_config(const struct emu_device *device); /* defaults filled in */
void emu_device_reseed(struct emu_device *device, uint64_t seed);

/* Device memory of `size` bytes, `align` a power of two (at least 4096 is always given). Large
 * allocations are sparse: pages cost nothing until touched. `defined` says whether its first
 * contents count as written (kernarg and host pools) or not (device pools: reads of bytes nobody
 * wrote are then reported; bytes the host changed count as written). */
void *emu_mem_alloc(struct emu_device *device, size_t size, size_t align, bool defined);
int emu_mem_free(struct emu_device *device, void *ptr); /* -1: not an allocation's start */
/* Host memory that the device may reach at its host address until it is unmapped; its contents
 * count as written. Whole pages become reachable. -1: out of memory, or it overlaps an allocation.
 */
int emu_mem_map(struct emu_device *device, void *ptr, size_t size);
int emu_mem_unmap(struct emu_device *device, void *ptr); /* -1: not the start of a mapped range */
void emu_mem_copy(struct emu_device *device, void *dst, const void *src,
                  size_t size); /* marks dst as written */
void emu_mem_fill(struct emu_device *device, void *dst, uint32_t word, size_t words);
/* The allocation that holds ptr: its base and size; false when none does. */
bool emu_mem_info(struct emu_device *device, const void *ptr, void **base, size_t *size);

/* Loads an ELF code object (its bytes are copied). -1 and a line: not ELF, truncated, other target,
 * bad descriptor, ... */
int emu_object_load(struct emu_device *device, const void *bytes, size_t size,
                    struct emu_object **object, char *err, size_t err_size);
void emu_object_free(struct emu_object *object);

struct emu_kernel {
    const char *name; /* without ".kd" */
    uint64_t handle;  /* kernel_object of an AQL packet: the descriptor's device address */
    uint32_t kernarg_size, kernarg_align;
    uint32_t group_size;   /* LDS bytes, static */
    uint32_t private_size; /* scratch bytes a work-item */
    uint32_t vgprs, agprs, sgprs;
};
size_t emu_object_kernel_count(const struct emu_object *object);
const struct emu_kernel *emu_object_kernel(const struct emu_object *object, size_t index);
const struct emu_kernel *emu_object_find(const struct emu_object *object,
                                         const char *name); /* NULL: none */
/* Other defined symbols (device variables): address, or NULL. */
void *emu_object_symbol(const struct emu_object *object, const char *name, size_t *size);

struct emu_dispatch {
    uint64_t kernel;            /* emu_kernel.handle */
    uint32_t grid[3], group[3]; /* work-items */
    uint32_t lds_bytes;         /* group segment of the packet: static + dynamic */
    uint32_t private_bytes;     /* scratch bytes a work-item, from the packet */
    const void *kernarg;        /* device pointer */
    const void *packet; /* device pointer to the AQL packet for kernels that ask for it, or NULL */
    bool (*stopped)(const void *arg); /* NULL, or asked every round: true ends the dispatch */
    const void *stopped_arg;
};

enum emu_status { EMU_OK, EMU_FAULT, EMU_DEADLOCK, EMU_LIMIT, EMU_INVALID };

struct emu_report { /* one finding: full text, several lines, made for a person */
    enum emu_check kind;
    const char *what; /* short name of the rule, e.g. "vmcnt-read", "lds-race", "deadlock" */
    const char *text;
    uint64_t pc; /* byte offset of the instruction in the kernel's code object section */
    uint32_t workgroup, wave, lane;
};

struct emu_result {
    enum emu_status status;
    uint64_t insts;      /* wave instructions executed */
    uint64_t mfma_macs;  /* multiply-adds done by MFMA */
    size_t report_count; /* the first finding stops the dispatch unless more are asked for */
    const struct emu_report *reports; /* owned by the device, until its next dispatch */
};

/* Runs a dispatch to its end (or to its first finding). Grids whose workgroups fit are all resident
 * at once. */
enum emu_status emu_dispatch(struct emu_device *device, const struct emu_dispatch *dispatch,
                             struct emu_result *result);

#ifdef __cplusplus
}
#endif
#endif
