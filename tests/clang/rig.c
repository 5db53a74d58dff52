/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/read_file.h"

enum { SEEDS = 3 };

void *rig_object(const char *file, const char *arch, int level, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s.O%d.co", KERNELS_DIR, file, arch, level);
    return read_file(path, size);
}

static void run_one(const struct rig_case *c, const char *arch, int level)
{
    size_t size;
    char err[256];
    void *bytes = rig_object(c->file, arch, level, &size);
    if (!bytes)
        fail_msg("no object of %s for %s at -O%d", c->file, arch, level);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct emu_config config = {.arch = arch,
                                    .threads = 1,
                                    .checks = EMU_CHECK_ALL,
                                    .seed = seed,
                                    .max_insts = 50000000};
        struct rig r = {.file = c->file, .arch = arch, .level = level, .seed = seed, .random = 1};
        if (emu_device_open(&config, &r.device, err, sizeof err) ||
            emu_object_load(r.device, bytes, size, &r.object, err, sizeof err))
            fail_msg("%s %s -O%d: %s", c->file, arch, level, err);
        c->run(&r);
        emu_object_free(r.object);
        emu_device_close(r.device);
    }
    free(bytes);
}

void rig_run(const struct rig_case *c)
{
    static const int levels[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        if (c->archs & RIG_950)
            run_one(c, "gfx950", levels[i]);
        if (c->archs & RIG_942)
            run_one(c, "gfx942", levels[i]);
    }
}

static void *alloc(struct rig *r, size_t size, bool defined)
{
    void *p = emu_mem_alloc(r->device, size, 4096, defined);
    if (!p)
        fail_msg("out of memory");
    return p;
}

void *rig_in(struct rig *r, size_t size)
{
    return alloc(r, size, true);
}

void *rig_out(struct rig *r, size_t size)
{
    return alloc(r, size, false);
}

uint32_t rig_random(struct rig *r)
{
    r->random = r->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->random >> 32);
}

void rig_arg(struct rig *r, const void *bytes, size_t size, size_t align)
{
    r->at = (r->at + align - 1) / align * align;
    assert_true(r->at + size <= sizeof r->kernarg);
    memcpy(r->kernarg + r->at, bytes, size);
    r->at += size;
}

void rig_ptr(struct rig *r, const void *pointer)
{
    rig_arg(r, (const void *)&pointer, sizeof pointer, sizeof pointer);
}

void rig_u32(struct rig *r, uint32_t value)
{
    rig_arg(r, &value, sizeof value, sizeof value);
}

void rig_launch3(struct rig *r, const char *kernel, const uint32_t grid[3], const uint32_t group[3])
{
    const struct emu_kernel *k = emu_object_find(r->object, kernel);
    if (!k)
        fail_msg("%s has no kernel %s", r->file, kernel);
    assert_true(r->at <= k->kernarg_size);
    void *kernarg = alloc(r, k->kernarg_size ? k->kernarg_size : 8, true);
    memset(kernarg, 0, k->kernarg_size);
    memcpy(kernarg, r->kernarg, r->at);
    r->at = 0;
    struct aql { /* the packet as the queue's format has it: some kernels read their sizes in it */
        uint16_t header, setup, group[3], zero;
        uint32_t grid[3], private_bytes, lds_bytes;
        uint64_t kernel;
        void *kernarg;
        uint64_t rest[2];
    } *packet = alloc(r, sizeof *packet, true);
    *packet = (struct aql){.header = 2,
                           .setup = 3,
                           .private_bytes = k->private_size,
                           .lds_bytes = k->group_size,
                           .kernel = k->handle,
                           .kernarg = kernarg};
    for (int i = 0; i < 3; i++) {
        packet->group[i] = (uint16_t)group[i];
        packet->grid[i] = grid[i];
    }
    struct emu_dispatch d = {.packet = packet,
                             .kernel = k->handle,
                             .lds_bytes = k->group_size,
                             .private_bytes = k->private_size,
                             .kernarg = kernarg};
    memcpy(d.grid, grid, sizeof d.grid);
    memcpy(d.group, group, sizeof d.group);
    struct emu_result result;
    if (emu_dispatch(r->device, &d, &result) != EMU_OK)
        fail_msg("%s of %s.cl, %s -O%d, seed %u: %s", kernel, r->file, r->arch, r->level,
                 (unsigned)r->seed,
                 result.report_count ? result.reports[0].text : "stopped without a finding");
}

void rig_launch(struct rig *r, const char *kernel, unsigned groups, unsigned items)
{
    rig_launch3(r, kernel, (uint32_t[3]){groups * items, 1, 1}, (uint32_t[3]){items, 1, 1});
}

static unsigned long long element(const void *p, size_t i, size_t size)
{
    unsigned long long v = 0;
    memcpy(&v, (const uint8_t *)p + i * size, size < sizeof v ? size : sizeof v);
    return v;
}

void rig_same(struct rig *r, const char *what, const void *got, const void *want, size_t count,
              size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp((const uint8_t *)got + i * size, (const uint8_t *)want + i * size, size) != 0)
            fail_msg("%s of %s.cl, %s -O%d, seed %u: element %zu is 0x%llx, want 0x%llx", what,
                     r->file, r->arch, r->level, (unsigned)r->seed, i, element(got, i, size),
                     element(want, i, size));
}
