/* SPDX-License-Identifier: Apache-2.0 */
/* cogen gen, dump, inspect, keys: good input, and each kind of bad input with its line. */

#include "tests/support/test.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "--kernel front --model v41-flash --tp 4 --ratio 2"

/* The names of the code objects in a manifest, one after the other, by what follows `"file": `. */
static int names_in(const char *manifest, char names[][192], int most)
{
    int n = 0;
    for (const char *p = manifest; n < most && (p = strstr(p, "\"file\": \"")); n++) {
        p += strlen("\"file\": \"");
        snprintf(names[n], 192, "%.*s", (int)strcspn(p, "\""), p);
    }
    return n;
}

static void gen_is_the_same_for_any_jobs_and_folder(void **state)
{
    (void)state;
    char *a = fresh_folder(), *b = fresh_folder();
    assert_int_equal(
        cogen("gen " KEY " --tokens 1,2,16..17 --assembly -j 1 -o %s/deep/er", a)->status, 0);
    assert_int_equal(cogen("gen " KEY " --tokens 17,16,2,1 --assembly -j 4 -o %s", b)->status, 0);
    char deep[4096], names[8][192];
    snprintf(deep, sizeof deep, "%s/deep/er", a);
    same_file(deep, b, "manifest.json");
    size_t size;
    char *manifest = file_bytes(b, "manifest.json", &size);
    assert_int_equal(names_in(manifest, names, 8), 4);
    for (int i = 0; i < 4; i++) {
        same_file(deep, b, names[i]);
        char assembly[200];
        snprintf(assembly, sizeof assembly, "%.*s.s", (int)(strlen(names[i]) - strlen(".co")),
                 names[i]);
        same_file(deep, b, assembly);
    }
    assert_int_equal(count_files(b), 9);
    free(manifest);
    drop_folder(a);
    drop_folder(b);
}

static void bad_input_is_named(void **state)
{
    (void)state;
    char *d = fresh_folder();
    assert_refused(cogen("gen --kernel front --model v5 --tokens 1 --tp 4 --ratio 0 -o %s/x", d), 2,
                   "model", "v5", "v41-flash");
    assert_refused(
        cogen("gen --kernel front --model v41-flash --tokens 1 --tp 3 --ratio 0 -o %s/x", d), 2,
        "tp", "3");
    assert_refused(
        cogen("gen --kernel front --model v41-flash --tokens 0 --tp 4 --ratio 0 -o %s/x", d), 2,
        "tokens", "0", "48");
    assert_refused(
        cogen("gen --kernel front --model v41-flash --tokens 49 --tp 4 --ratio 0 -o %s/x", d), 2,
        "tokens", "49", "48");
    assert_refused(
        cogen("gen --kernel front --model v41-flash --tokens 1 --tp 4 --ratio 5 -o %s/x", d), 2,
        "ratio", "5", "0");
    assert_refused(
        cogen("gen --kernel middle --model v41-flash --tokens 1 --tp 4 --ratio 0 -o %s/x", d), 2,
        "kernel", "middle");
    assert_refused(cogen("gen " KEY " --tokens 1 -o %s/x stray", d), 2, "stray");
    assert_refused(cogen("gen " KEY " --tokens 1"), 2, "--out");
    assert_refused(cogen("gen " KEY " --tokens 1 -j 0 -o %s/x", d), 2, "jobs", "0", "256");
    assert_refused(
        cogen("gen --kernel back --model v41-flash --tokens 1 --tp 8 --ratio 0 -o %s/x", d), 2,
        "tp", "8");
    assert_int_equal(count_files(d), 0);
    assert_refused(cogen("nonsense"), 2, "nonsense", "gen", "verify");
    drop_folder(d);
}

static void what_cannot_be_written_or_run_leaves_nothing(void **state)
{
    (void)state;
    char *d = fresh_folder();
    put_file(d, "plain", "x", 1);
    assert_refused(cogen("gen " KEY " --tokens 1 -o %s/plain", d), 1, "plain");
    assert_refused(cogen("gen " KEY " --tokens 1 -o /proc/nothing"), 1, "/proc/nothing");
    assert_refused(cogen("gen " KEY " --tokens 1 --llvm-mc /nowhere/llvm-mc -o %s/y", d), 1,
                   "/nowhere/llvm-mc", "llvm-22");
    assert_refused(cogen("gen " KEY " --tokens 1 --ld-lld /nowhere/ld.lld -o %s/y", d), 1,
                   "/nowhere/ld.lld", "lld-22");
    assert_refused(cogen("gen " KEY " --tokens 1 --llvm-mc /bin/false -o %s/y", d), 1, "llvm-mc");
    assert_false(file_exists(d, "y"));
    assert_refused(cogen("run " KEY " --tokens 1 -o /proc/nothing"), 1, "/proc/nothing");
    drop_folder(d);
}

static void dump_is_text_that_assembles_to_the_same_code(void **state)
{
    (void)state;
    char *d = fresh_folder();
    const struct said *s = cogen("dump " KEY " --tokens 2");
    assert_int_equal(s->status, 0);
    assert_non_null(strstr(s->out, "tokens=2"));
    assert_non_null(strstr(s->out, ".amdgpu_metadata"));
    char *text = strdup(s->out);
    assert_non_null(text);
    assert_int_equal(cogen("dump " KEY " --tokens 2 -o %s/a.s", d)->status, 0);
    size_t size;
    char *file = file_bytes(d, "a.s", &size);
    /* Standard output may hold more than the test keeps of it. */
    assert_true(size >= strlen(text));
    assert_memory_equal(file, text, strlen(text));
    free(file);
    free(text);
    assert_refused(cogen("dump " KEY " --tokens 2 -o /proc/x.s"), 1, "/proc/x.s");
    drop_folder(d);
}

static void inspect_tells_the_same_of_key_and_manifest(void **state)
{
    (void)state;
    char *d = fresh_folder();
    assert_int_equal(cogen("gen " KEY " --tokens 1,2 -o %s", d)->status, 0);
    const struct said *s = cogen("inspect --json " KEY " --tokens 2");
    assert_int_equal(s->status, 0);
    assert_non_null(strstr(s->out, "\"vgprs\""));
    assert_non_null(strstr(s->out, "\"args_digest\""));
    assert_non_null(strstr(s->out, "\"stages\""));
    char *of_key = strdup(s->out);
    s = cogen("inspect --json --manifest %s/manifest.json --tokens 2", d);
    assert_int_equal(s->status, 0);
    assert_string_equal(s->out, of_key);
    free(of_key);
    s = cogen("inspect " KEY " --tokens 2");
    assert_int_equal(s->status, 0);
    assert_non_null(strstr(s->out, "VGPRs"));
    assert_non_null(strstr(s->out, "instructions by stage and class"));
    assert_non_null(strstr(s->out, "wqkv"));
    /* Two kernels fit; the line says what tells them apart. */
    assert_refused(cogen("inspect --manifest %s/manifest.json", d), 1, "more than one", "tokens");
    assert_refused(cogen("inspect --manifest %s/manifest.json --tokens 3", d), 1, "tokens=3",
                   "nearest", "tokens=2");
    assert_refused(cogen("inspect %s/nothing.co", d), 1, "nothing.co");
    put_file(d, "text.co", "not a code object", 17);
    assert_refused(cogen("inspect %s/text.co", d), 1, "text.co", "not a code object");
    drop_folder(d);
}

static void keys_lists_what_builds(void **state)
{
    (void)state;
    const struct said *s = cogen("keys --model v41-flash");
    assert_int_equal(s->status, 0);
    assert_non_null(strstr(s->out, "v41-flash"));
    assert_null(strstr(s->out, "v4-pro"));
    /* 2 kernels x tp 1, 2, 4 x ratio 0, 1, 2 x 48 token counts. */
    assert_non_null(strstr(s->out, "\n864 keys\n"));
    s = cogen("keys --json --model v4-pro --kernel back --tp 8 --ratio 4");
    assert_int_equal(s->status, 0);
    assert_non_null(strstr(s->out, "\"tokens_first\": 1"));
    assert_non_null(strstr(s->out, "\"tokens_last\": 48"));
    s = cogen("keys --model v41-flash --tp 8 --refused");
    assert_int_equal(s->status, 1);
    assert_non_null(strstr(s->out, "refused"));
}

static void every_command_has_help(void **state)
{
    (void)state;
    static const char *const commands[] = {"gen",  "dump",  "inspect",  "run", "verify",
                                           "keys", "sweep", "timeline", "emu"};
    const struct said *s = cogen("--help");
    assert_int_equal(s->status, 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        assert_non_null(strstr(s->out, commands[i]));
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        s = cogen("%s --help", commands[i]);
        assert_int_equal(s->status, 0);
        assert_non_null(strstr(s->out, commands[i]));
        assert_string_equal(s->err, "");
    }
    assert_int_equal(cogen("--version")->status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gen_is_the_same_for_any_jobs_and_folder),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(what_cannot_be_written_or_run_leaves_nothing),
        cmocka_unit_test(dump_is_text_that_assembles_to_the_same_code),
        cmocka_unit_test(inspect_tells_the_same_of_key_and_manifest),
        cmocka_unit_test(keys_lists_what_builds),
        cmocka_unit_test(every_command_has_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
