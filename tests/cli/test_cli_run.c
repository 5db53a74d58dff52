/* SPDX-License-Identifier: Apache-2.0 */
/* cogen run, verify, timeline and emu run, as a user types them. */

#include "tests/support/test.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "--kernel front --model v41-flash --tokens 2 --tp 4 --ratio 2"

static size_t size_of(const char *folder, const char *file)
{
    size_t size;
    free(file_bytes(folder, file, &size));
    return size;
}

static void front_writes_its_outputs(void **state)
{
    (void)state;
    char *a = fresh_folder(), *b = fresh_folder();
    const struct said *s = cogen("run " KEY " --seed 7 --mode random --pad --out %s", a);
    if (s->status != 0)
        fail_msg("%s", s->err);
    assert_int_equal(size_of(a, "qr.bin"), 2 * 1280 * 2);
    assert_int_equal(size_of(a, "q.bin"), 2 * 8192 * 2);
    assert_int_equal(size_of(a, "records.bin"), 2 * 584);
    assert_int_equal(size_of(a, "kt.bin"), 2 * 640 * 4);
    assert_int_equal(size_of(a, "klen.bin"), 4 * 4);
    assert_int_equal(count_files(a), 5);
    size_t size;
    char *records = file_bytes(a, "records.bin", &size), zero[584] = {0};
    assert_memory_equal(records + 584, zero, 584); /* the pad row's */
    assert_true(memcmp(records, zero, 584) != 0);
    free(records);

    /* Another schedule, and kernels from a manifest: the same bytes. */
    assert_int_equal(cogen("gen " KEY " -o %s/lib", b)->status, 0);
    s = cogen("run " KEY " --seed 7 --mode random --pad --schedule-seed 99 --manifest "
              "%s/lib/manifest.json --out %s/out",
              b, b);
    if (s->status != 0)
        fail_msg("%s", s->err);
    char out[4096];
    snprintf(out, sizeof out, "%s/out", b);
    static const char *const files[] = {"qr.bin", "q.bin", "records.bin", "kt.bin", "klen.bin"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        same_file(a, out, files[i]);
    drop_folder(a);
    drop_folder(b);
}

static void layer_and_back_write_out(void **state)
{
    (void)state;
    char *a = fresh_folder();
    const struct said *s = cogen(
        "run --kernel layer --model v41-flash --tokens 1 --tp 4 --ratio 1 --topk 64 -o %s/layer",
        a);
    if (s->status != 0)
        fail_msg("%s", s->err);
    s = cogen("run --kernel back --model v4-flash --tokens 1 --tp 4 --ratio 4 --topk 64 -o %s/back",
              a);
    if (s->status != 0)
        fail_msg("%s", s->err);
    assert_int_equal(size_of(a, "layer/out.bin"), 5120 * 2);
    assert_int_equal(size_of(a, "layer/q.bin"), 8192 * 2);
    assert_int_equal(size_of(a, "back/out.bin"), 4096 * 2);
    assert_int_equal(size_of(a, "back/kt.bin"),
                     (64 + 128) * 4); /* keys=back is this model's default */
    assert_false(file_exists(a, "back/q.bin"));
    drop_folder(a);
}

static void verify_tells_by_line_and_status(void **state)
{
    (void)state;
    const struct said *s = cogen("verify " KEY " --seed 3 --schedules 2");
    if (s->status != 0)
        fail_msg("%s%s", s->out, s->err);
    static const char *const outputs[] = {"qr", "q", "records", "kt", "klen"};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        assert_non_null(strstr(s->out, outputs[i]));
    assert_null(strstr(s->out, "FAILS"));
    s = cogen("verify " KEY " --seed 3 --mode exact");
    assert_int_equal(s->status, 0);
}

/* A case where a value lies on a rounding tie, which the hardware's model rounds the other way. */
static void matrix_sums_are_made_as_asked(void **state)
{
    (void)state;
    static const char *const how[] = {"", "--mfma precise", "--mfma model"};
    char *d = fresh_folder(), folders[3][4096], *out[3];
    size_t size;
    for (int i = 0; i < 3; i++) {
        snprintf(folders[i], sizeof folders[i], "%s/%d", d, i);
        const struct said *s =
            cogen("run --kernel back --model v41-flash --tokens 5 --tp 2 --ratio 2 %s -o %s",
                  how[i], folders[i]);
        if (s->status != 0)
            fail_msg("%s", s->err);
        out[i] = file_bytes(folders[i], "out.bin", &size);
        assert_int_equal(size, 5 * 5120 * 2);
    }
    assert_memory_equal(out[0], out[1], size);
    assert_int_not_equal(memcmp(out[1], out[2], size), 0);
    for (int i = 0; i < 3; i++)
        free(out[i]);
    drop_folder(d);
}

static void bad_input_is_named(void **state)
{
    (void)state;
    char *d = fresh_folder();
    assert_refused(cogen("run " KEY), 2, "--out");
    assert_refused(cogen("run " KEY " --mode loud -o %s/x", d), 2, "mode", "loud", "random, exact");
    assert_refused(cogen("run " KEY " --mfma fast -o %s/x", d), 2, "mfma", "fast",
                   "model, precise");
    assert_refused(cogen("run " KEY " --block 0 -o %s/x", d), 2, "block", "0");
    assert_refused(cogen("run " KEY " --device tpu -o %s/x/", d), 1, "tpu", "hsa, emu, auto");
    assert_refused(cogen("run " KEY " --manifest %s/none.json -o %s/x", d, d), 1, "none.json",
                   "No such file");
    assert_refused(
        cogen("run --kernel sideways --model v41-flash --tokens 2 --tp 4 --ratio 2 -o %s/x", d), 2,
        "sideways");
    assert_int_equal(cogen("gen " KEY " -o %s/lib", d)->status, 0);
    assert_refused(cogen("run --kernel front --model v41-flash --tokens 3 --tp 4 --ratio 2 "
                         "--manifest %s/lib/manifest.json -o %s/x",
                         d, d),
                   1, "tokens=3", "nearest", "tokens=2");
    assert_false(file_exists(d, "x")); /* not even an empty folder */
    drop_folder(d);
}

/* It ends soon, although the launch would go on for several times that long. */
static void a_launch_that_takes_too_long_is_given_up(void **state)
{
    (void)state;
    const struct said *s =
        cogen("verify --kernel front --model v4-pro --tokens 48 --tp 1 --ratio 0 --timeout 1");
    assert_int_equal(s->status, 1);
    assert_non_null(strstr(s->err, "was not done within 1000 ms"));
    assert_non_null(strstr(s->err, "stopped: kernel cogen_front"));
}

/* Where no GPU is, the line says so; where one is, the run is the emulator's. */
static void hsa_without_a_gpu_says_so(void **state)
{
    (void)state;
    char *d = fresh_folder();
    const struct said *s = cogen("run " KEY " --device hsa -o %s", d);
    if (s->status != 0)
        assert_refused(s, 1, "no GPU");
    drop_folder(d);
}

static void timeline_draws_a_row_a_workgroup(void **state)
{
    (void)state;
    char *d = fresh_folder();
    const struct said *s =
        cogen("timeline --kernel layer --model v41-flash --tokens 1 --tp 4 --ratio 0 -o %s", d);
    if (s->status != 0)
        fail_msg("%s", s->err);
    size_t size;
    char *json = file_bytes(d, "trace.json", &size);
    assert_non_null(strstr(json, "\"traceEvents\""));
    assert_non_null(strstr(json, "\"workgroup 255\""));
    assert_non_null(strstr(json, "wqb"));
    assert_non_null(strstr(json, "\"ph\":\"X\""));
    free(json);
    char *svg = file_bytes(d, "timeline.svg", &size);
    assert_memory_equal(svg, "<svg", 4);
    assert_non_null(strstr(svg, "workgroup 255 "));
    free(svg);
    drop_folder(d);
}

static void emu_run_refuses_what_does_not_fit(void **state)
{
    (void)state;
    char *d = fresh_folder();
    assert_refused(cogen("emu run --grid 64 --block 64 %s/none.co", d), 1, "none.co");
    assert_refused(cogen("emu run --grid 64 %s/none.co", d), 2, "--block");
    assert_refused(cogen("emu run --grid 64 --block sixty %s/none.co", d), 2, "block", "sixty");
    assert_int_equal(cogen("gen " KEY " -o %s", d)->status, 0);
    assert_refused(cogen("emu run --grid 131072 --block 512 --arg i32=1 %s/*.co", d), 1,
                   "arguments, given are 1");
    drop_folder(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_writes_its_outputs),
        cmocka_unit_test(layer_and_back_write_out),
        cmocka_unit_test(verify_tells_by_line_and_status),
        cmocka_unit_test(matrix_sums_are_made_as_asked),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(a_launch_that_takes_too_long_is_given_up),
        cmocka_unit_test(hsa_without_a_gpu_says_so),
        cmocka_unit_test(timeline_draws_a_row_a_workgroup),
        cmocka_unit_test(emu_run_refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
