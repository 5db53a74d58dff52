/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a kernel: everything that would end in a fault or in garbage on the device is compared
 * here and refused by name. */
#include "runtime/kernel.h"

#include "runtime/code.h"
#include "runtime/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum cogen_rt_status check_file(const struct cogen_rt_entry *e, const char *path,
                                       const void *bytes, size_t size, struct cogen_rt_error *err)
{
    if (size != e->file_bytes)
        return rt_fail(err, COGEN_RT_MISMATCH, "%s: %zu bytes, the manifest says %llu: %s", path,
                       size, (unsigned long long)e->file_bytes,
                       size < e->file_bytes ? "the file is truncated" : "another file");
    uint64_t digest = rt_fnv1a(bytes, size);
    if (digest != e->file_digest)
        return rt_fail(
            err, COGEN_RT_MISMATCH,
            "%s: digest %016llx, the manifest says %016llx: the file or the manifest was changed",
            path, (unsigned long long)digest, (unsigned long long)e->file_digest);
    return COGEN_RT_OK;
}

static enum cogen_rt_status check_layout(const struct cogen_rt_entry *e, const char *path,
                                         const struct rt_code *code, struct cogen_rt_error *err)
{
    if (code->arg_count != e->arg_count || code->kernarg_bytes != e->kernarg_bytes)
        return rt_fail(err, COGEN_RT_MISMATCH,
                       "%s: %u arguments in %u bytes, the manifest says %zu in %u: built from "
                       "another generator",
                       path, code->arg_count, code->kernarg_bytes, e->arg_count, e->kernarg_bytes);
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct rt_code_arg *c = &code->args[i];
        const struct cogen_rt_arg *m = &e->args[i];
        if (strcmp(c->name, m->name) != 0 || c->offset != m->offset || c->size != m->size)
            return rt_fail(
                err, COGEN_RT_MISMATCH,
                "%s: argument %zu is %s at byte %u, size %u; the manifest says %s at %u, size %u",
                path, i, c->name, c->offset, c->size, m->name, m->offset, m->size);
    }
    if (!code->has_digest)
        return rt_fail(err, COGEN_RT_MISMATCH,
                       "%s: its metadata holds no digest of the argument layout", path);
    if (code->args_digest != e->args_digest)
        return rt_fail(err, COGEN_RT_MISMATCH,
                       "%s: argument layout digest %016llx, the manifest says %016llx", path,
                       (unsigned long long)code->args_digest, (unsigned long long)e->args_digest);
    return COGEN_RT_OK;
}

static enum cogen_rt_status check_limits(const struct cogen_rt_device *d,
                                         const struct cogen_rt_entry *e, const char *path,
                                         const struct rt_code *code, struct cogen_rt_error *err)
{
    enum { REGISTER_FILE = 512, SIMDS = 4, WAVE = 64, VGPR_GRANULE = 8 };
    if (code->group_bytes != e->lds_bytes || code->meta_group_bytes != code->group_bytes)
        return rt_fail(err, COGEN_RT_MISMATCH,
                       "%s: %u bytes of LDS (metadata: %u), the manifest says %u", path,
                       code->group_bytes, code->meta_group_bytes, e->lds_bytes);
    if (d->info.lds_bytes && code->group_bytes > d->info.lds_bytes)
        return rt_fail(err, COGEN_RT_LIMIT, "%s: %u bytes of LDS, a workgroup of %s has %u", path,
                       code->group_bytes, d->info.target, d->info.lds_bytes);
    /* Metadata counts what is allocated: whole granules. */
    if (code->meta_vgprs < e->vgprs || code->meta_vgprs >= e->vgprs + 2 * VGPR_GRANULE)
        return rt_fail(err, COGEN_RT_MISMATCH, "%s: %u VGPRs, the manifest says %u", path,
                       code->meta_vgprs, e->vgprs);
    /* A SIMD's file holds 512 VGPRs a lane, shared by the waves of a workgroup that land on it. */
    unsigned waves = (e->threads / WAVE + SIMDS - 1) / SIMDS;
    if (waves * code->meta_vgprs > REGISTER_FILE)
        return rt_fail(err, COGEN_RT_LIMIT,
                       "%s: %u VGPRs, a workgroup of %u work-items has at most %u", path,
                       code->meta_vgprs, e->threads, REGISTER_FILE / waves);
    if (d->info.compute_units < e->workgroups)
        return rt_fail(err, COGEN_RT_LIMIT,
                       "%s: needs %u compute units for workgroups that wait for each other, %s "
                       "offers %u (a partition?)",
                       e->name, e->workgroups, d->info.target, d->info.compute_units);
    return COGEN_RT_OK;
}

static enum cogen_rt_status check(const struct cogen_rt_device *d, const struct cogen_rt_entry *e,
                                  const char *path, const void *bytes, size_t size,
                                  struct cogen_rt_error *err)
{
    struct rt_code *code = malloc(sizeof *code);
    if (!code)
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory", path);
    enum cogen_rt_status st = check_file(e, path, bytes, size, err);
    if (st == COGEN_RT_OK)
        st = rt_code_read(path, bytes, size, e->name, code, err);
    if (st == COGEN_RT_OK && strcmp(code->target, e->arch) != 0)
        st = rt_fail(err, COGEN_RT_MISMATCH, "%s: a code object for %s, the manifest says %s", path,
                     code->target, e->arch);
    if (st == COGEN_RT_OK && strcmp(code->target, d->info.target) != 0)
        st = rt_fail(err, COGEN_RT_MISMATCH, "%s: a code object for %s, the device is %s", path,
                     code->target, d->info.target);
    if (st == COGEN_RT_OK)
        st = check_layout(e, path, code, err);
    if (st == COGEN_RT_OK)
        st = check_limits(d, e, path, code, err);
    free(code);
    return st;
}

static enum cogen_rt_status load_executable(struct cogen_rt_kernel *k, size_t size,
                                            const char *path, struct cogen_rt_error *err)
{
    struct cogen_rt_device *d = k->device;
    const struct rt_hsa *hsa = &d->hsa;
    const char *step = "code object reader";
    hsa_status_t st = hsa->hsa_code_object_reader_create_from_memory(k->bytes, size, &k->reader);
    k->has_reader = st == HSA_STATUS_SUCCESS;
    if (st == HSA_STATUS_SUCCESS) {
        step = "executable";
        st = hsa->hsa_executable_create_alt(
            HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &k->executable);
        k->has_executable = st == HSA_STATUS_SUCCESS;
    }
    if (st == HSA_STATUS_SUCCESS) {
        step = "load";
        st = hsa->hsa_executable_load_agent_code_object(k->executable, d->gpu, k->reader, NULL,
                                                        NULL);
    }
    if (st == HSA_STATUS_SUCCESS) {
        step = "freeze";
        st = hsa->hsa_executable_freeze(k->executable, NULL);
    }
    hsa_executable_symbol_t symbol;
    if (st == HSA_STATUS_SUCCESS) {
        char name[256];
        step = "symbol";
        snprintf(name, sizeof name, "%s.kd", k->entry->name);
        st = hsa->hsa_executable_get_symbol_by_name(k->executable, name, &d->gpu, &symbol);
    }
    const struct {
        hsa_executable_symbol_info_t info;
        void *value;
    } wanted[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,               &k->object       },
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,   &k->group_bytes  },
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k->private_bytes},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k->kernarg_bytes}
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && st == HSA_STATUS_SUCCESS; i++)
        st = hsa->hsa_executable_symbol_get_info(symbol, wanted[i].info, wanted[i].value);
    if (st != HSA_STATUS_SUCCESS)
        return rt_fail(err, COGEN_RT_DEVICE, "%s: %s: %s", path, step, rt_hsa_text(d, st));
    return COGEN_RT_OK;
}

static void kernel_destroy(struct cogen_rt_kernel *k)
{
    if (k->has_executable)
        k->device->hsa.hsa_executable_destroy(k->executable);
    if (k->has_reader)
        k->device->hsa.hsa_code_object_reader_destroy(k->reader);
    free(k->bytes);
    free(k);
}

static enum cogen_rt_status load_new(struct cogen_rt_device *d, struct cogen_rt_library *lib,
                                     const struct cogen_rt_entry *e, struct cogen_rt_kernel **out,
                                     struct cogen_rt_error *err)
{
    struct cogen_rt_kernel *k = calloc(1, sizeof *k);
    size_t room = strlen(lib->folder) + strlen(e->file) + 1, size = 0;
    char *path = malloc(room);
    enum cogen_rt_status st = COGEN_RT_OK;
    if (!k || !path) {
        free(k);
        free(path);
        return rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory", e->name);
    }
    snprintf(path, room, "%s%s", lib->folder, e->file);
    *k = (struct cogen_rt_kernel){.device = d, .library = lib, .entry = e, .refs = 1};
    st = rt_read_file(path, &k->bytes, &size, err);
    if (st == COGEN_RT_OK)
        st = check(d, e, path, k->bytes, size, err);
    if (st == COGEN_RT_OK)
        st = load_executable(k, size, path, err);
    free(path);
    if (st != COGEN_RT_OK) {
        kernel_destroy(k);
        return st;
    }
    *out = k;
    return COGEN_RT_OK;
}

enum cogen_rt_status cogen_rt_kernel_load(struct cogen_rt_device *d, struct cogen_rt_library *lib,
                                          const struct cogen_rt_entry *entry,
                                          struct cogen_rt_kernel **out, struct cogen_rt_error *err)
{
    *out = NULL;
    if (entry < lib->entries || entry >= lib->entries + lib->count)
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: the entry is not one of this library's",
                       lib->path);
    /* The lock spans the load: two threads that ask for one kernel get one kernel. */
    pthread_mutex_lock(&lib->lock);
    enum cogen_rt_status st = COGEN_RT_OK;
    struct cogen_rt_kernel *k = lib->loaded;
    while (k && (k->entry != entry || k->device != d))
        k = k->next;
    if (k) {
        k->refs++;
    } else {
        st = load_new(d, lib, entry, &k, err);
        if (st == COGEN_RT_OK && k) {
            k->next = lib->loaded;
            lib->loaded = k;
            rt_library_ref(lib);
        }
    }
    pthread_mutex_unlock(&lib->lock);
    if (st != COGEN_RT_OK)
        return st;
    *out = k;
    return rt_ok(err);
}

void cogen_rt_kernel_free(struct cogen_rt_kernel *k)
{
    if (!k)
        return;
    struct cogen_rt_library *lib = k->library;
    pthread_mutex_lock(&lib->lock);
    bool last = --k->refs == 0;
    if (last) {
        struct cogen_rt_kernel **at = &lib->loaded;
        while (*at && *at != k)
            at = &(*at)->next;
        if (*at)
            *at = k->next;
    }
    pthread_mutex_unlock(&lib->lock);
    if (last) {
        kernel_destroy(k);
        rt_library_unref(lib);
    }
}

const struct cogen_rt_entry *cogen_rt_kernel_entry(const struct cogen_rt_kernel *kernel)
{
    return kernel->entry;
}

static enum cogen_rt_status zeroed(struct cogen_rt_device *d, uint64_t size, void **ptr,
                                   struct cogen_rt_error *err)
{
    size_t words = (size_t)((size + 3) & ~3ull);
    enum cogen_rt_status st = cogen_rt_alloc(d, words, ptr, err);
    if (st == COGEN_RT_OK)
        st = cogen_rt_fill(d, *ptr, 0, words, err);
    if (st != COGEN_RT_OK && *ptr) {
        cogen_rt_free(d, *ptr);
        *ptr = NULL;
    }
    return st;
}

enum cogen_rt_status cogen_rt_scratch_alloc(struct cogen_rt_device *d,
                                            const struct cogen_rt_entry *entry, void **ptr,
                                            struct cogen_rt_error *err)
{
    return zeroed(d, entry->scratch_bytes, ptr, err);
}

enum cogen_rt_status cogen_rt_epoch_alloc(struct cogen_rt_device *d,
                                          const struct cogen_rt_entry *entry, void **ptr,
                                          struct cogen_rt_error *err)
{
    return zeroed(d, entry->epoch_bytes, ptr, err);
}
