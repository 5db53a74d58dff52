/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's refusals: damaged manifests and code objects, other targets, wrong arguments; and
 * loads from many threads. */

#include "tests/support/test.h"

#include "command.h"
#include "runtime/cogen_rt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shell.h"

#define KEY "kernel=front model=v41-flash tokens=1 tp=4 ratio=2"

struct fixture {
    char *folder;   /* with a manifest of two kernels, never changed by a test */
    char *damaged;  /* a copy that tests change */
    char co[192];   /* the code object of KEY */
    char name[192]; /* the kernel of KEY */
    struct cogen_rt_device *device;
};

static void copy_folder(const char *from, const char *to)
{
    char line[4096];
    snprintf(line, sizeof line, "rm -rf '%s' && cp -r '%s' '%s'", to, from, to);
    assert_int_equal(shell(line), 0);
}

static void load_env(void)
{
    char path[4096];
    const char *build = getenv("COGEN_BUILD");
    snprintf(path, sizeof path, "%s/lib/libcogen-hsa-emu.so", build ? build : ".");
    setenv("COGEN_EMU_LIB", path, 0);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct cogen_rt_error err;
    assert_non_null(f);
    *state = f;
    load_env();
    f->folder = fresh_folder();
    f->damaged = fresh_folder();
    if (cogen("gen --kernel front --model v41-flash --tokens 1,2 --tp 4 --ratio 2 -o %s", f->folder)
            ->status != 0)
        return -1;
    if (cogen_rt_open("emu", &f->device, &err) != COGEN_RT_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    char path[4096];
    struct cogen_rt_library *lib;
    snprintf(path, sizeof path, "%s/manifest.json", f->folder);
    if (cogen_rt_library_load(path, &lib, &err) != COGEN_RT_OK)
        return -1;
    const struct cogen_rt_entry *e = cogen_rt_library_find(lib, KEY, &err);
    if (!e)
        return -1;
    snprintf(f->co, sizeof f->co, "%s", e->file);
    snprintf(f->name, sizeof f->name, "%s", e->name);
    cogen_rt_library_free(lib);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cogen_rt_close(f->device);
    drop_folder(f->folder);
    drop_folder(f->damaged);
    free(f);
    return 0;
}

/* Loads KEY from a folder's manifest; the line of a refusal is in err. */
static enum cogen_rt_status load(const struct fixture *f, const char *folder,
                                 struct cogen_rt_error *err)
{
    char path[4096];
    struct cogen_rt_library *lib;
    struct cogen_rt_kernel *kernel = NULL;
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    enum cogen_rt_status st = cogen_rt_library_load(path, &lib, err);
    if (st != COGEN_RT_OK)
        return st;
    const struct cogen_rt_entry *e = cogen_rt_library_find(lib, KEY, err);
    st = e ? cogen_rt_kernel_load(f->device, lib, e, &kernel, err) : err->status;
    cogen_rt_library_free(lib);
    if (st == COGEN_RT_OK)
        assert_string_equal(cogen_rt_kernel_entry(kernel)->name,
                            f->name); /* the kernel outlives the library */
    cogen_rt_kernel_free(kernel);
    return st;
}

#define assert_says(err, ...)                                                                      \
    says(err, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
static void says(const struct cogen_rt_error *err, const char *const *words, const char *file,
                 int line)
{
    bool good = err->text[0] && !strchr(err->text, '\n');
    for (; good && *words; words++)
        good = strstr(err->text, *words) != NULL;
    if (good)
        return;
    print_error("said: %s\nmissing: %s\n", err->text, *words ? *words : "(one line)");
    _fail(file, line);
}

/* In the damaged folder's manifest, the first `from` behind KEY's kernel name becomes `to`. */
static void edit_manifest(const struct fixture *f, const char *from, const char *to)
{
    size_t size;
    char *text = file_bytes(f->damaged, "manifest.json", &size), key[256];
    snprintf(key, sizeof key, "\"name\": \"%s\"", f->name);
    char *kernel = strstr(text, key), *at = kernel ? strstr(kernel, from) : NULL;
    assert_non_null(at);
    char *out;
    int length = asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(length > 0);
    put_file(f->damaged, "manifest.json", out, (size_t)length);
    free(out);
    free(text);
}

/* Puts new bytes in place of KEY's code object and makes the manifest agree with them. */
static void replace_object(const struct fixture *f, char *bytes, size_t size)
{
    uint64_t h = 0xcbf29ce484222325ull;
    char text[64], have[64];
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    put_file(f->damaged, f->co, bytes, size);
    size_t n;
    char *manifest = file_bytes(f->damaged, "manifest.json", &n), key[256];
    snprintf(key, sizeof key, "\"name\": \"%s\"", f->name);
    char *at = strstr(strstr(manifest, key), "\"file_digest\": \"");
    snprintf(have, sizeof have, "%.33s", at);
    snprintf(text, sizeof text, "\"file_digest\": \"%016llx\"", (unsigned long long)h);
    edit_manifest(f, have, text);
    at = strstr(strstr(manifest, key), "\"file_size\": ");
    snprintf(have, sizeof have, "%.*s", (int)strcspn(at, ","), at);
    snprintf(text, sizeof text, "\"file_size\": %zu", size);
    edit_manifest(f, have, text);
    free(manifest);
}

static void sound_files_load(void **state)
{
    struct cogen_rt_error err;
    struct fixture *f = *state;
    assert_int_equal(load(f, f->folder, &err), COGEN_RT_OK);
    assert_string_equal(err.text, "");
    const struct cogen_rt_device_info *info = cogen_rt_device_info(f->device);
    assert_string_equal(info->target, "gfx950");
    assert_string_equal(info->backend, "emu");
    assert_true(info->compute_units >= 256);
    assert_int_equal(info->lds_bytes, 160 * 1024);
}

static void files_that_differ_from_the_manifest_are_refused(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    size_t size;
    char *bytes = file_bytes(f->folder, f->co, &size);

    copy_folder(f->folder, f->damaged);
    put_file(f->damaged, f->co, bytes, size / 2);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_MISMATCH);
    assert_says(&err, f->co, "truncated");

    bytes[size / 2] ^= 1;
    put_file(f->damaged, f->co, bytes, size);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_MISMATCH);
    assert_says(&err, f->co, "digest");

    char line[4096];
    snprintf(line, sizeof line, "rm '%s/%s'", f->damaged, f->co);
    assert_int_equal(shell(line), 0);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_BAD_FILE);
    assert_says(&err, f->co, "No such file");
    free(bytes);
}

/* Also where manifest and file agree, the code object itself is judged. */
static void code_objects_that_are_wrong_in_themselves_are_refused(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    size_t size;
    char *bytes = file_bytes(f->folder, f->co, &size);

    copy_folder(f->folder, f->damaged);
    replace_object(f, bytes, size * 3 / 4);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_BAD_FILE);
    assert_says(&err, f->co, "truncated or damaged");

    copy_folder(f->folder, f->damaged);
    bytes[48] = 0x4c; /* e_flags: gfx942 */
    replace_object(f, bytes, size);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_MISMATCH);
    assert_says(&err, f->co, "gfx942", "gfx950");

    copy_folder(f->folder, f->damaged);
    edit_manifest(f, "\"arch\": \"gfx950\"", "\"arch\": \"gfx942\"");
    replace_object(f, bytes, size);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_MISMATCH);
    assert_says(&err, f->co, "gfx942", "the device is gfx950");

    copy_folder(f->folder, f->damaged);
    bytes[18] = 62; /* e_machine: x86-64 */
    replace_object(f, bytes, size);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_MISMATCH);
    assert_says(&err, f->co, "another machine");

    copy_folder(f->folder, f->damaged);
    replace_object(f, "no ELF at all", 13);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_BAD_FILE);
    assert_says(&err, f->co, "not a code object");
    free(bytes);
}

/* Any single byte of the file's headers changed: a refusal or a load, never a crash. */
static void damaged_headers_do_not_crash(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    size_t size;
    char *bytes = file_bytes(f->folder, f->co, &size);
    for (size_t at = 0; at < 64; at++) {
        copy_folder(f->folder, f->damaged);
        char old = bytes[at];
        bytes[at] = (char)(old ^ 0xa5);
        replace_object(f, bytes, size);
        bytes[at] = old;
        if (load(f, f->damaged, &err) != COGEN_RT_OK)
            assert_says(&err, f->co);
    }
    free(bytes);
}

static void manifests_that_are_wrong_are_refused(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    static const struct {
        const char *from, *to, *word;
        enum cogen_rt_status status;
    } edits[] = {
        {"\"lds\": ",             "\"lds\": 1",            "LDS",           COGEN_RT_MISMATCH},
        {"\"vgprs\": ",           "\"vgprs\": 8, \"_\": ", "VGPRs",         COGEN_RT_MISMATCH},
        {"\"kind\": \"pointer\"", "\"kind\": \"quad\"",    "unknown kind",  COGEN_RT_BAD_FILE},
        {"\"kind\": \"pointer\"", "\"kind\": \"i64\"",     "digest",        COGEN_RT_MISMATCH},
        {"\"name\": \"x\"",       "\"name\": \"y\"",       "digest",        COGEN_RT_MISMATCH},
        {"\"args_digest\": \"",   "\"args_digest\": \"z",  "args_digest",   COGEN_RT_BAD_FILE},
        {"\"file_size\": ",       "\"file_size\": -",      "file_size",     COGEN_RT_BAD_FILE},
        {"\"file\": \"",          "\"file\": \"../",       "a path",        COGEN_RT_BAD_FILE},
        {"\"workgroups\": 256",   "\"workgroups\": 304",   "compute units", COGEN_RT_LIMIT   },
        {"\"kernarg_size\": ",    "\"kernarg_size\": \"",  "not JSON",      COGEN_RT_BAD_FILE},
        {"\"scratch\": {",        "\"scratsch\": {",       "size",          COGEN_RT_BAD_FILE},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        copy_folder(f->folder, f->damaged);
        edit_manifest(f, edits[i].from, edits[i].to);
        enum cogen_rt_status st = load(f, f->damaged, &err);
        if (st != edits[i].status)
            fail_msg("edit %s: status %d, %s", edits[i].to, st, err.text);
        assert_says(&err, edits[i].word);
    }
    put_file(f->damaged, "manifest.json", "{\"cogen\": \"1\"}", 14);
    assert_int_equal(load(f, f->damaged, &err), COGEN_RT_BAD_FILE);
    assert_says(&err, "manifest.json", "kernels");
}

static void a_key_that_is_not_there_lists_the_nearest(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    struct cogen_rt_library *lib;
    char path[4096];
    snprintf(path, sizeof path, "%s/manifest.json", f->folder);
    assert_int_equal(cogen_rt_library_load(path, &lib, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_library_count(lib), 2);
    assert_null(cogen_rt_library_entry(lib, 2));
    assert_null(cogen_rt_library_find(lib, "kernel=front model=v41-flash tokens=7 tp=4", &err));
    assert_int_equal(err.status, COGEN_RT_NOT_FOUND);
    assert_says(&err, "tokens=7", "nearest", "tokens=2");
    assert_true(strstr(err.text, "tokens=2 tp=4") < strstr(err.text, "tokens=1 tp=4"));
    assert_null(cogen_rt_library_find(lib, "kernel=front", &err));
    assert_says(&err, "more than one", "tokens");
    assert_null(cogen_rt_library_find(lib, "front", &err));
    assert_int_equal(err.status, COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "name=value");
    cogen_rt_library_free(lib);
}

/* One value of every kind for every argument, and one for none. */
static void values_are_set_by_kind(struct cogen_rt_args *args, const struct cogen_rt_entry *e)
{
    struct cogen_rt_value values[64] = {
        {.name = "nonsense", .integer = 1}
    };
    struct cogen_rt_error err;
    assert_true(e->arg_count < 64);
    for (size_t i = 0; i < e->arg_count; i++)
        values[1 + i] = (struct cogen_rt_value){e->args[i].name, &err, INT64_C(1) << 40, 0.5f};
    assert_int_equal(cogen_rt_set_values(args, values, e->arg_count + 1, &err),
                     COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "of kind i32", "1099511627776");
    for (size_t i = 0; i < e->arg_count; i++)
        values[1 + i].integer = -5;
    assert_int_equal(cogen_rt_set_values(args, values, e->arg_count, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_args_check(args, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "1 of ", e->args[e->arg_count - 1].name);
    assert_int_equal(cogen_rt_set_values(args, values, e->arg_count + 1, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_args_check(args, &err), COGEN_RT_OK);
}

static void arguments_are_checked(void **state)
{
    struct fixture *f = *state;
    struct cogen_rt_error err;
    struct cogen_rt_library *lib;
    struct cogen_rt_kernel *kernel;
    struct cogen_rt_args *args;
    struct cogen_rt_queue *queue;
    char path[4096];
    snprintf(path, sizeof path, "%s/manifest.json", f->folder);
    assert_int_equal(cogen_rt_library_load(path, &lib, &err), COGEN_RT_OK);
    const struct cogen_rt_entry *e = cogen_rt_library_find(lib, KEY, &err);
    assert_int_equal(cogen_rt_kernel_load(f->device, lib, e, &kernel, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_args_new(kernel, &args, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_queue_new(f->device, &queue, &err), COGEN_RT_OK);

    assert_int_equal(cogen_rt_set_pointer(args, "nonsense", NULL, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "nonsense", "wqkv");
    assert_int_equal(cogen_rt_set_f32(args, "x", 1.0f, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "x is of kind pointer", "f32");
    assert_int_equal(cogen_rt_args_check(args, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, " wqkv ", " epoch");
    assert_int_equal(cogen_rt_launch(queue, args, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "not set");
    assert_int_equal(cogen_rt_set_pointer(args, "wqkv", &err, &err), COGEN_RT_OK);
    assert_int_equal(cogen_rt_args_check(args, &err), COGEN_RT_BAD_ARGUMENT);
    assert_null(strstr(err.text, " wqkv "));
    assert_int_equal(cogen_rt_wait(queue, 1000, &err), COGEN_RT_OK); /* nothing was launched */
    values_are_set_by_kind(args, e);

    cogen_rt_queue_free(queue);
    cogen_rt_args_free(args);
    cogen_rt_kernel_free(kernel);
    cogen_rt_library_free(lib);
}

static void devices_are_named(void **state)
{
    (void)state;
    struct cogen_rt_error err;
    struct cogen_rt_device *d;
    assert_int_equal(cogen_rt_open("tpu", &d, &err), COGEN_RT_BAD_ARGUMENT);
    assert_says(&err, "tpu", "hsa, emu, auto");
    assert_null(d);
    if (cogen_rt_open("hsa", &d, &err) == COGEN_RT_OK) {
        assert_string_equal(cogen_rt_device_info(d)->backend, "hsa");
        cogen_rt_close(d);
    } else {
        assert_says(&err, "no GPU");
    }
    assert_int_equal(cogen_rt_open("auto", &d, &err), COGEN_RT_OK);
    cogen_rt_close(d);
    const char *lib = getenv("COGEN_EMU_LIB");
    assert_non_null(lib);
    char *old = strdup(lib);
    setenv("COGEN_EMU_LIB", "/nowhere/emu.so", 1);
    assert_int_equal(cogen_rt_open("emu", &d, &err), COGEN_RT_NO_DEVICE);
    assert_says(&err, "/nowhere/emu.so", "COGEN_EMU_LIB");
    setenv("COGEN_EMU_LIB", old, 1);
    free(old);
}

/* ---- threads */

struct thread {
    const struct fixture *f;
    struct cogen_rt_library *lib;
    int failures;
};

static void *load_many(void *data)
{
    struct thread *t = data;
    for (int i = 0; i < 50; i++) {
        struct cogen_rt_kernel *a, *b;
        struct cogen_rt_error err;
        const struct cogen_rt_entry *e = cogen_rt_library_entry(t->lib, (size_t)i % 2);
        if (cogen_rt_kernel_load(t->f->device, t->lib, e, &a, &err) != COGEN_RT_OK) {
            t->failures++;
            continue;
        }
        t->failures += cogen_rt_kernel_entry(a) != e;
        if (cogen_rt_kernel_load(t->f->device, t->lib, e, &b, &err) == COGEN_RT_OK) {
            t->failures += a != b;
            cogen_rt_kernel_free(b);
        }
        cogen_rt_kernel_free(a);
    }
    return NULL;
}

static void threads_load_at_once(void **state)
{
    enum { THREADS = 8 };
    struct fixture *f = *state;
    struct cogen_rt_error err;
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    struct cogen_rt_library *lib;
    char path[4096];
    snprintf(path, sizeof path, "%s/manifest.json", f->folder);
    assert_int_equal(cogen_rt_library_load(path, &lib, &err), COGEN_RT_OK);
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){f, lib, 0};
        assert_int_equal(pthread_create(&ids[i], NULL, load_many, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        assert_int_equal(threads[i].failures, 0);
    }
    cogen_rt_library_free(lib);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files_load),
        cmocka_unit_test(files_that_differ_from_the_manifest_are_refused),
        cmocka_unit_test(code_objects_that_are_wrong_in_themselves_are_refused),
        cmocka_unit_test(damaged_headers_do_not_crash),
        cmocka_unit_test(manifests_that_are_wrong_are_refused),
        cmocka_unit_test(a_key_that_is_not_there_lists_the_nearest),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(devices_are_named),
        cmocka_unit_test(threads_load_at_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
