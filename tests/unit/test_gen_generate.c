/* SPDX-License-Identifier: Apache-2.0 */
/* Keys to text and manifest: deterministic, complete, and true to the plan. */
#include "gen_support.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <unistd.h>

#include "gen/generate.h"
#include "gen/manifest.h"
#include "gen/object.h"

static struct cogen_key key_of(const char *kernel, const char *model, const char *tokens)
{
    struct cogen_key key = cogen_key_empty();
    char err[512] = "";
    const char *options[][2] = {
        {"kernel", kernel},
        {"model",  model },
        {"tokens", tokens},
        {"tp",     "4"   }
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (cogen_key_set(&key, options[i][0], options[i][1], err, sizeof err))
            fail_msg("%s", err);
    if (cogen_key_finish(&key, err, sizeof err))
        fail_msg("%s", err);
    return key;
}

static struct cogen_code code_of(const struct cogen_key *key, const struct cogen_hooks *hooks)
{
    struct cogen_code code;
    char err[512] = "";
    if (cogen_generate(key, hooks, &code, err, sizeof err))
        fail_msg("%s", err);
    return code;
}

struct job {
    struct cogen_key key;
    char *text;
};

static void *generate_in_a_thread(void *data)
{
    struct job *job = data;
    struct cogen_code code;
    char err[512];
    if (cogen_generate(&job->key, NULL, &code, err, sizeof err) == 0) {
        job->text = strdup(code.text);
        cogen_code_free(&code);
    }
    return NULL;
}

static void threads_give_the_same_text(void **state)
{
    (void)state;
    struct job jobs[4] = {
        {key_of("front", "v41-flash", "4"), NULL},
        {key_of("back",  "v41-flash", "4"), NULL},
        {key_of("front", "v41-flash", "4"), NULL},
        {key_of("back",  "v41-flash", "4"), NULL}
    };
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, generate_in_a_thread, &jobs[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        struct cogen_code code = code_of(&jobs[i].key, NULL);
        assert_non_null(jobs[i].text);
        assert_string_equal(jobs[i].text, jobs[i + 2].text);
        assert_string_equal(jobs[i].text, code.text);
        cogen_code_free(&code);
    }
    for (int i = 0; i < 4; i++)
        free(jobs[i].text);
}

static void the_text_says_what_the_plan_says(void **state)
{
    (void)state;
    struct cogen_key key = key_of("front", "v41-flash", "4");
    struct cogen_code code = code_of(&key, NULL);
    char want[256];
    for (int i = 0; i < code.plan.n_args; i++) {
        const struct plan_arg *a = &code.plan.args[i];
        snprintf(want, sizeof want, "{.name: %s, .offset: %d, .size: %d, .value_kind: %s", a->name,
                 a->offset, a->size, a->kind == ARG_POINTER ? "global_buffer" : "by_value");
        if (!strstr(code.text, want))
            fail_msg("the metadata lacks '%s'", want);
    }
    snprintf(want, sizeof want, ".cogen_args_digest: \"%016" PRIx64 "\"",
             plan_args_digest(&code.plan));
    assert_non_null(strstr(code.text, want));
    snprintf(want, sizeof want, ".amdhsa_group_segment_fixed_size %d\n", code.plan.lds_bytes);
    assert_non_null(strstr(code.text, want));
    snprintf(want, sizeof want, ".amdhsa_kernarg_size %d\n", code.plan.kernarg_size);
    assert_non_null(strstr(code.text, want));
    snprintf(want, sizeof want, "; %s\n", code.plan.name);
    assert_int_equal(strncmp(code.text, want, strlen(want)), 0);
    assert_non_null(strstr(code.text, " model=v41-flash "));
    cogen_code_free(&code);
}

static void stages_count_every_instruction(void **state)
{
    (void)state;
    struct cogen_key key = key_of("back", "v41-flash", "4");
    struct cogen_code code = code_of(&key, NULL);
    int counted = 0, nops = 0, waits = 0, lines = 0;
    for (int i = 0; i < code.n_stages; i++) {
        for (int c = 0; c < 16; c++)
            counted += code.stages[i].by_class[c];
        nops += code.stages[i].nops;
        waits += code.stages[i].waits;
        assert_non_null(code.stages[i].name);
    }
    const char *from = strstr(code.text, "; ---- entry"), *to = strstr(code.text, "\n.size ");
    for (const char *at = from; at < to; at = strchr(at, '\n') + 1)
        lines += strncmp(at, "  ", 2) == 0 && strncmp(at, "  ;", 3) != 0;
    assert_int_equal(counted, lines);
    assert_int_equal(nops, count_of(from, "  s_nop "));
    assert_int_equal(waits, count_of(from, "  s_waitcnt "));
    assert_true(waits > 0);
    cogen_code_free(&code);
}

/* ---- hooks */

struct calls {
    int before_wqkv, after_wqkv, wob_out, epoch_reset;
};

static void mark(Builder *b, int *count, const char *name)
{
    ++*count;
    heading(b, "hook %s", name);
    emit_void(b, s_sleep, imm(1));
}

static void before_wqkv(Builder *b, void *context)
{
    mark(b, &((struct calls *)context)->before_wqkv, "before_wqkv");
}

static void after_wqkv(Builder *b, void *context)
{
    mark(b, &((struct calls *)context)->after_wqkv, "after_wqkv");
}

static void epoch_reset(Builder *b, void *context)
{
    mark(b, &((struct calls *)context)->epoch_reset, "epoch_reset");
}

static void hooks_stand_around_the_weights_loads(void **state)
{
    (void)state;
    struct calls calls = {0};
    struct cogen_hooks hooks = {.context = &calls,
                                .before_wqkv = before_wqkv,
                                .after_wqkv = after_wqkv,
                                .epoch_reset = epoch_reset};
    struct cogen_key key = key_of("front", "v41-flash", "4");
    struct cogen_code code = code_of(&key, &hooks);
    assert_int_equal(calls.before_wqkv, 1);
    assert_int_equal(calls.after_wqkv, 1);
    const char *before = strstr(code.text, "; hook before_wqkv"),
               *after = strstr(code.text, "; hook after_wqkv");
    assert_non_null(before);
    assert_non_null(after);
    assert_true(before < after);
    const char *weights = strstr(before, "global_load_dwordx4");
    assert_true(weights && weights < after);
    cogen_code_free(&code);
    key = key_of("back", "v41-flash", "4");
    code = code_of(&key, &hooks);
    assert_int_equal(calls.epoch_reset, 1);
    assert_non_null(strstr(code.text, "; hook epoch_reset"));
    cogen_code_free(&code);
}

/* ---- manifest */

static const char *text_at(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));
    if (!s)
        fail_msg("no text '%s'", name);
    return s;
}

static void manifests_are_sorted_and_true(void **state)
{
    (void)state;
    char folder[] = "test_gen_manifest_XXXXXX", err[512] = "", path[128], file[192], digest[20];
    assert_non_null(mkdtemp(folder));
    static const char *const kernels[] = {"front", "back"};
    static struct cogen_manifest_kernel k[3];
    for (int i = 0; i < 2; i++) {
        struct cogen_key key = key_of(kernels[i], "v41-flash", "4");
        struct cogen_code code = code_of(&key, NULL);
        snprintf(file, sizeof file, "%s.co", code.plan.name);
        char full[256];
        snprintf(full, sizeof full, "%s/%s", folder, file);
        assert_int_equal(cogen_file_write(full, "abc", 3, err, sizeof err), 0);
        assert_int_equal(cogen_manifest_kernel(&k[i], &code, folder, file, err, sizeof err), 0);
        cogen_code_free(&code);
    }
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    assert_int_equal(cogen_manifest_write(path, k, 2, err, sizeof err), 0);

    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    json_t *list = json_object_get(root, "kernels");
    assert_int_equal(json_array_size(list), 2);
    const json_t *front = json_array_get(list, 1); /* "..._back..." sorts first */
    assert_string_equal(text_at(front, "name"), k[0].plan.name);
    assert_string_equal(text_at(json_array_get(list, 0), "name"), k[1].plan.name);
    assert_string_equal(text_at(front, "file_digest"), "e71fa2190541574b"); /* FNV-1a-64 of "abc" */
    assert_int_equal(json_integer_value(json_object_get(front, "file_size")), 3);
    assert_string_equal(text_at(json_object_get(front, "key"), "model"), "v41-flash");
    assert_string_equal(text_at(json_object_get(front, "key"), "tokens"), "4");
    snprintf(digest, sizeof digest, "%016" PRIx64, plan_args_digest(&k[0].plan));
    assert_string_equal(text_at(front, "args_digest"), digest);
    json_t *args = json_object_get(front, "args");
    assert_int_equal(json_array_size(args), k[0].plan.n_args);
    assert_string_equal(text_at(json_array_get(args, 0), "name"), k[0].plan.args[0].name);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(front, "scratch"), "size")),
                     k[0].plan.scratch_bytes);
    assert_int_equal(json_integer_value(json_object_get(front, "workitems")), 512);
    json_decref(root);

    k[2] = k[0];
    assert_int_equal(cogen_manifest_write(path, k, 3, err, sizeof err), -1);
    assert_non_null(strstr(err, "is there twice"));
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, k[i].file);
        unlink(file);
    }
    unlink(path);
    rmdir(folder);
}

static void a_missing_object_is_an_error(void **state)
{
    (void)state;
    static struct cogen_manifest_kernel k;
    struct cogen_key key = key_of("front", "v41-flash", "4");
    struct cogen_code code = code_of(&key, NULL);
    char err[512] = "";
    assert_int_equal(cogen_manifest_kernel(&k, &code, ".", "not_there.co", err, sizeof err), -1);
    assert_non_null(strstr(err, "./not_there.co: No such file"));
    cogen_code_free(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_text),
        cmocka_unit_test(the_text_says_what_the_plan_says),
        cmocka_unit_test(stages_count_every_instruction),
        cmocka_unit_test(hooks_stand_around_the_weights_loads),
        cmocka_unit_test(manifests_are_sorted_and_true),
        cmocka_unit_test(a_missing_object_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
