/* SPDX-License-Identifier: Apache-2.0 */
/* The static reading of the compiler's code objects finds nothing in any of them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "lint.h"
#include "rig.h"

static const char *current;

static void found(void *data, const struct emu_kernel *kernel, const struct emu_lint_finding *f)
{
    (void)data;
    print_error("%s: %s+0x%x: %s: %s\n  %s\n  %s\n", current, kernel->name, f->pc, f->rule, f->text,
                f->inst, f->other ? f->other : "");
}

/* FILE.ARCH.OLEVEL.co */
static bool parts_of(const char *name, char *file, size_t file_size, char *arch, size_t arch_size,
                     int *level)
{
    const char *dot = strchr(name, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
    char *end;
    if (!second || second[1] != 'O')
        return false;
    snprintf(file, file_size, "%.*s", (int)(dot - name), name);
    snprintf(arch, arch_size, "%.*s", (int)(second - dot - 1), dot + 1);
    *level = (int)strtol(second + 2, &end, 10);
    return end != second + 2 && strcmp(end, ".co") == 0;
}

static int lint_file(const char *name)
{
    char file[128], arch[16], err[256];
    int level;
    if (!parts_of(name, file, sizeof file, arch, sizeof arch, &level))
        return -1;
    size_t size;
    void *bytes = rig_object(file, arch, level, &size);
    assert_non_null(bytes);
    struct emu_config config = {.arch = arch, .threads = 1, .checks = EMU_CHECK_ALL};
    struct emu_device *device;
    struct emu_object *object = NULL;
    if (emu_device_open(&config, &device, err, sizeof err) ||
        emu_object_load(device, bytes, size, &object, err, sizeof err))
        fail_msg("%s: %s", name, err);
    assert_true(emu_object_kernel_count(object) > 0);
    current = name;
    int n = emu_lint(object, found, NULL);
    emu_object_free(object);
    emu_device_close(device);
    free(bytes);
    return n;
}

static void quiet_on_compiled_kernels(void **state)
{
    (void)state;
    DIR *dir = opendir(KERNELS_DIR);
    assert_non_null(dir);
    int files = 0, findings = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 3, ".co") != 0)
            continue;
        int k = lint_file(e->d_name);
        if (k < 0)
            fail_msg("%s cannot be read", e->d_name);
        findings += k;
        files++;
    }
    closedir(dir);
    assert_true(files >= 40);
    assert_int_equal(findings, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quiet_on_compiled_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
