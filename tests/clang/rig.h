/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that a compiler made, on the emulator with every check on: each case runs for each
 * target, each optimisation level and several seeds of the schedule, and compares what it got with
 * plain loops of its own.
 */
#ifndef CLANG_RIG_H
#define CLANG_RIG_H

#include <string.h>

#include "tests/support/test.h"

#include "emu.h"

enum { RIG_950 = 1, RIG_942 = 2, RIG_BOTH = 3 };

struct rig {
    struct emu_device *device;
    struct emu_object *object;
    const char *file, *arch;
    int level; /* -O */
    uint64_t seed;
    uint8_t kernarg[512];
    size_t at;
    uint64_t random;
};

struct rig_case {
    const char *file; /* of kernels/, without .cl */
    int archs;
    void (*run)(struct rig *rig);
};

/* The object of file for an architecture and level; NULL when it cannot be read. */
void *rig_object(const char *file, const char *arch, int level, size_t *size);
void rig_run(const struct rig_case *c);

/* Device memory: written by the caller through the pointer; out: bytes nobody wrote. */
void *rig_in(struct rig *r, size_t size);
void *rig_out(struct rig *r, size_t size);
uint32_t rig_random(struct rig *r);
/* Arguments, in order; a pointer is one of 8 bytes. */
void rig_arg(struct rig *r, const void *bytes, size_t size, size_t align);
void rig_ptr(struct rig *r, const void *pointer);
void rig_u32(struct rig *r, uint32_t value);
/* Launches; fails the test with the finding's text. Arguments are empty again afterwards. */
void rig_launch(struct rig *r, const char *kernel, unsigned groups, unsigned items);
void rig_launch3(struct rig *r, const char *kernel, const uint32_t grid[3],
                 const uint32_t group[3]);
/* Fails with the place of the first difference. */
void rig_same(struct rig *r, const char *what, const void *got, const void *want, size_t count,
              size_t size);

#endif
