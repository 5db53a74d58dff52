/* SPDX-License-Identifier: Apache-2.0 */
#include "asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/read_file.h"
#include "tests/support/shell.h"

static char *kernel_source(const struct asm_kernel *k)
{
    const char *arch = k->arch ? k->arch : "gfx950";
    unsigned vgprs = k->vgprs ? k->vgprs : 64, sgprs = k->sgprs ? k->sgprs : 96;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f,
            ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n.globl k\n.p2align 8\n"
            ".type k,@function\nk:\n%s\n  s_endpgm\n.fill 64, 4, 0xbf800000\n.rodata\n.p2align 6\n"
            ".amdhsa_kernel k\n  .amdhsa_kernarg_size 256\n"
            "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_next_free_vgpr %u\n"
            "  .amdhsa_next_free_sgpr %u\n  .amdhsa_accum_offset %u\n"
            "  .amdhsa_group_segment_fixed_size %u\n  .amdhsa_float_denorm_mode_32 3\n%s\n"
            ".end_amdhsa_kernel\n",
            arch, k->body, vgprs + k->agprs, sgprs, vgprs, k->lds,
            k->directives ? k->directives : "");
    fclose(f);
    return text;
}

static bool write_whole(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    bool ok = fputs(text, f) >= 0;
    return fclose(f) == 0 && ok;
}

void *asm_object(const struct asm_kernel *k, size_t *size)
{
    const char *tmp = getenv("TMPDIR");
    char dir[256], source[300], object[300], linked[300], command[2048];
    snprintf(dir, sizeof(dir), "%s/cogen-isa-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return NULL;
    snprintf(source, sizeof(source), "%s/k.s", dir);
    snprintf(object, sizeof(object), "%s/k.o", dir);
    snprintf(linked, sizeof(linked), "%s/k.co", dir);
    char *text = kernel_source(k);
    void *bytes = NULL;
    if (text && write_whole(source, text)) {
        snprintf(
            command, sizeof(command),
            "%s -triple=amdgcn-amd-amdhsa -mcpu=%s -filetype=obj -o %s %s && %s -shared -o %s %s",
            LLVM_MC, k->arch ? k->arch : "gfx950", object, source, LD_LLD, linked, object);
        if (shell(command) == 0)
            bytes = read_file(linked, size);
    }
    free(text);
    unlink(source);
    unlink(object);
    unlink(linked);
    rmdir(dir);
    return bytes;
}

int asm_open(struct asm_run *run, const struct asm_kernel *kernel, const struct emu_config *config)
{
    memset(run, 0, sizeof(*run));
    struct emu_config c = {.checks = EMU_CHECK_ALL};
    if (config)
        c = *config;
    if (kernel->arch)
        c.arch = kernel->arch;
    size_t size = 0;
    void *bytes = asm_object(kernel, &size);
    char err[256] = "cannot assemble";
    if (bytes && emu_device_open(&c, &run->device, err, sizeof(err)) == 0 &&
        emu_object_load(run->device, bytes, size, &run->object, err, sizeof(err)) == 0) {
        free(bytes);
        run->kernel = emu_object_find(run->object, "k");
        run->kernarg = emu_mem_alloc(run->device, 256, 64, true);
        return run->kernel && run->kernarg ? 0 : -1;
    }
    free(bytes);
    fprintf(stderr, "%s\n", err);
    asm_close(run);
    return -1;
}

enum emu_status asm_dispatch(struct asm_run *run, unsigned groups, unsigned items)
{
    struct emu_dispatch d = {
        .kernel = run->kernel->handle,
        .grid = {groups * items, 1, 1},
        .group = {items,          1, 1},
        .lds_bytes = run->kernel->group_size,
        .private_bytes = run->kernel->private_size,
        .kernarg = run->kernarg
    };
    return emu_dispatch(run->device, &d, &run->result);
}

void asm_close(struct asm_run *run)
{
    emu_device_close(run->device);
    run->device = NULL;
}

const char *asm_finding(const struct asm_run *run)
{
    return run->result.report_count ? run->result.reports[0].what : "";
}
