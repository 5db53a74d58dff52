/* SPDX-License-Identifier: Apache-2.0 */
/* cogen lint: missing waits and wait states in any code object, found without running it. */
#include "tools/cogen/cli.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kernel.h"
#include "tools/emu/lint.h"

struct lint {
    const char *file, *arch;
    int certain, possible;
};

static const struct cli_option options[] = {
    {NULL, 0, "FILE.co", NULL, CLI_FIELD(struct lint, file), .needed = "the code object to read"},
    {"arch", 'a', "gfx950|gfx942", "target of the code object (its own)",
     CLI_FIELD(struct lint, arch)},
};

static void found(void *data, const struct emu_kernel *kernel, const struct emu_lint_finding *f)
{
    struct lint *l = data;
    (*(f->certain ? &l->certain : &l->possible))++;
    printf("%s+0x%x: %s (%s): %s\n    %s\n", kernel->name, f->pc, f->rule,
           f->certain ? "on every path" : "on some path", f->text, f->inst);
    if (f->other)
        printf("    0x%x: %s\n", f->other_pc, f->other);
}

/* The emulated target of an ELF header's flags; another one is left to the loader to refuse. */
static const char *target_of(const void *bytes, size_t size)
{
    enum { MACH_MASK = 0xff, MACH_GFX942 = 0x4c };
    Elf64_Ehdr header = {0};
    memcpy(&header, bytes, size < sizeof header ? size : sizeof header);
    return (header.e_flags & MACH_MASK) == MACH_GFX942 ? "gfx942" : "gfx950";
}

static int lint(struct lint *l)
{
    void *bytes = NULL;
    size_t size;
    struct cogen_rt_error e;
    char err[512];
    if (rt_read_file(l->file, &bytes, &size, &e) != COGEN_RT_OK)
        return cli_fail("cogen lint", EXIT_BAD_INPUT, "%s", e.text);
    struct emu_device *device = NULL;
    struct emu_object *object = NULL;
    int status = EXIT_BAD_INPUT;
    if (!l->arch)
        l->arch = target_of(bytes, size);
    struct emu_config config = {.arch = l->arch, .threads = 1, .checks = EMU_CHECK_ALL};
    if (emu_device_open(&config, &device, err, sizeof err) != 0 ||
        emu_object_load(device, bytes, size, &object, err, sizeof err) != 0) {
        cli_fail("cogen lint", status, "%s: %s", l->file, err);
    } else if (emu_lint(object, found, l) < 0) {
        cli_fail("cogen lint", status, "%s: out of memory", l->file);
    } else {
        status = l->certain + l->possible ? EXIT_FAILED : EXIT_GOOD;
        if (status == EXIT_FAILED)
            printf("%s: %d on every path, %d on some path\n", l->file, l->certain, l->possible);
    }
    if (object)
        emu_object_free(object);
    if (device)
        emu_device_close(device);
    free(bytes);
    return status;
}

int cmd_lint(int argc, char **argv)
{
    struct lint l = {0};
    const struct cli_table own = {CLI_ROWS(options), .into = &l};
    cli_parse(argc, argv,
              "Walks a code object's control flow and reports missing s_waitcnt and wait states.\v"
              "Exit status: 0 quiet, 1 something reported, 2 the file could not be read.",
              &own);
    return lint(&l);
}
