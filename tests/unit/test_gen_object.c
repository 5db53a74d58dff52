/* SPDX-License-Identifier: Apache-2.0 */
/* Text to code object: the same bytes anywhere, whole files or none, errors with the tool's own
 * words. */
#include "gen_support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/object.h"

static char *small_text(void)
{
    Builder *b = begin();
    emit_void(b, ds_write_b32, b->tid, b->lane);
    kernel_end(b);
    char err[512];
    struct program *p = build_end(b, err, sizeof err);
    assert_non_null(p);
    assert_int_equal(program_passes(p, err, sizeof err), 0);
    char *text = program_print(p, err, sizeof err);
    assert_non_null(text);
    program_free(p);
    return text;
}

static size_t slurp(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, size, f);
    fclose(f);
    return n;
}

static int files_in(const char *folder)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

struct folders {
    char a[64], b[64];
};

static void make_folders(struct folders *f)
{
    strcpy(f->a, "test_gen_object_XXXXXX");
    strcpy(f->b, "test_gen_object_other_XXXXXX");
    assert_non_null(mkdtemp(f->a));
    assert_non_null(mkdtemp(f->b));
}

static void bytes_do_not_depend_on_the_folder(void **state)
{
    (void)state;
    struct folders f;
    make_folders(&f);
    char *text = small_text(), err[512] = "", path[2][128], bytes[2][16384];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s.co", i ? f.b : f.a, i ? "longer_name" : "k");
        if (cogen_object_write(text, "gfx950", path[i], NULL, err, sizeof err))
            fail_msg("%s", err);
        n[i] = slurp(path[i], bytes[i], sizeof bytes[i]);
        assert_int_equal(files_in(i ? f.b : f.a), 1); /* nothing temporary is left */
        unlink(path[i]);
    }
    assert_true(n[0] > 1000);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    assert_memory_equal(bytes[0], "\177ELF", 4);
    rmdir(f.a);
    rmdir(f.b);
    free(text);
}

static void errors_carry_the_assemblers_words(void **state)
{
    (void)state;
    struct folders f;
    make_folders(&f);
    char err[512] = "", path[128];
    snprintf(path, sizeof path, "%s/k.co", f.a);
    assert_int_equal(
        cogen_object_write(".text\n  v_nonsense v0\n", "gfx950", path, NULL, err, sizeof err), -1);
    assert_non_null(strstr(err, "llvm-mc: line 2:"));
    assert_non_null(strstr(err, "error: invalid instruction"));
    assert_null(strchr(err, '\n'));
    assert_int_equal(files_in(f.a), 0);
    rmdir(f.a);
    rmdir(f.b);
}

static void a_missing_tool_names_its_package(void **state)
{
    (void)state;
    char err[512] = "";
    struct cogen_tools tools = {.llvm_mc = "/nonexistent/llvm-mc"};
    assert_int_equal(cogen_object_write("", "gfx950", "x.co", &tools, err, sizeof err), -1);
    assert_non_null(strstr(err, "llvm-mc at /nonexistent/llvm-mc: not found"));
    assert_non_null(strstr(err, "llvm-22"));
    tools = (struct cogen_tools){.ld_lld = "/nonexistent/ld"};
    assert_int_equal(cogen_object_write("", "gfx950", "x.co", &tools, err, sizeof err), -1);
    assert_non_null(strstr(err, "lld-22"));
    assert_int_equal(setenv("COGEN_LLVM_MC", "/nonexistent/of_environment", 1), 0);
    assert_int_equal(cogen_object_write("", "gfx950", "x.co", NULL, err, sizeof err), -1);
    assert_non_null(strstr(err, "/nonexistent/of_environment"));
    unsetenv("COGEN_LLVM_MC");
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    struct folders f;
    make_folders(&f);
    char err[512] = "", path[128], bytes[64];
    snprintf(path, sizeof path, "%s/k.co", f.a);
    assert_int_equal(cogen_file_write(path, "old", 3, err, sizeof err), 0);
    assert_int_equal(cogen_object_write("nonsense\n", "gfx950", path, NULL, err, sizeof err), -1);
    assert_int_equal(slurp(path, bytes, sizeof bytes), 3);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    unlink(path);
    snprintf(path, sizeof path, "%s/no/such/folder.co", f.a);
    assert_int_equal(cogen_file_write(path, "x", 1, err, sizeof err), -1);
    assert_non_null(strstr(err, "No such file"));
    rmdir(f.a);
    rmdir(f.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_depend_on_the_folder),
        cmocka_unit_test(errors_carry_the_assemblers_words),
        cmocka_unit_test(a_missing_tool_names_its_package),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
