/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects, good, damaged and of other targets; executables and symbols. */
#include "hsa_test.h"

#include "hsa_ext.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads bytes into an executable of their own; what that says. */
static hsa_status_t try_load(const struct fixture *f, const void *bytes, size_t size)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t e;
    assert_ok(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
    assert_ok(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                        NULL, &e));
    hsa_status_t status = hsa_executable_load_agent_code_object(e, f->gpu, reader, NULL, NULL);
    assert_ok(hsa_executable_destroy(e));
    assert_ok(hsa_code_object_reader_destroy(reader));
    return status;
}

static void assert_refused(const char *cause)
{
    char text[1024] = "";
    emu_hsa_last_finding(text, sizeof text);
    if (!strstr(text, cause))
        fail_msg("the refusal does not say \"%s\": %s", cause, text);
}

static void other_targets(void **state)
{
    const struct fixture *f = *state;
    size_t size;
    unsigned char *bytes = read_kernels("gfx942", &size);
    assert_int_equal(try_load(f, bytes, size), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    assert_refused("it is for gfx942");
    free(bytes);
    bytes = read_kernels("gfx950", &size);
    assert_ok(try_load(f, bytes, size));
    Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
    uint32_t flags = h->e_flags;
    h->e_flags = (flags & ~0x300u) | 0x300;
    assert_int_equal(try_load(f, bytes, size), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    assert_refused("XNACK");
    h->e_flags = (flags & ~0xc00u) | 0x800;
    assert_int_equal(try_load(f, bytes, size), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    assert_refused("SRAM-ECC");
    h->e_flags = flags;
    h->e_machine = EM_X86_64;
    assert_int_equal(try_load(f, bytes, size), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    free(bytes);
}

/* Cut anywhere, a code object is refused with a cause, or (past its segments) is whole enough:
 * never a crash. */
static void cut_short(void **state)
{
    const struct fixture *f = *state;
    size_t size;
    unsigned char *bytes = read_kernels("gfx950", &size);
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
    uint64_t needed = 0;
    for (int i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, bytes + h->e_phoff + (size_t)i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_offset + p.p_filesz > needed)
            needed = p.p_offset + p.p_filesz;
    }
    assert_true(needed > 1000);
    for (size_t n = 1; n < size; n += n < 128 ? 1 : 97) {
        unsigned char *part = malloc(n); /* exactly as long, so that a read beyond it is seen */
        assert_non_null(part);
        memcpy(part, bytes, n);
        hsa_status_t status = try_load(f, part, n);
        if (n < needed)
            assert_int_equal(status, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
        free(part);
    }
    assert_int_equal(try_load(f, "hello, this is text", 19), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    assert_refused("code object refused: ");
    free(bytes);
}

/* One byte of the headers or tables changed: refused or loaded, never a crash. */
static void damaged(void **state)
{
    const struct fixture *f = *state;
    size_t size;
    unsigned char *bytes = read_kernels("gfx950", &size);
    unsigned refused = 0;
    uint32_t r = 12345;
    for (size_t i = 0; i < 1500; i++) {
        r = r * 1664525 + 1013904223;
        size_t at = i < 512 ? i : r % size;
        unsigned char was = bytes[at];
        bytes[at] ^= (unsigned char)(1u << (r >> 28 & 7));
        refused += try_load(f, bytes, size) != HSA_STATUS_SUCCESS;
        bytes[at] = was;
    }
    assert_true(refused > 50);
    assert_ok(try_load(f, bytes, size));
    free(bytes);
}

static void from_a_file(void **state)
{
    const struct fixture *f = *state;
    char path[512];
    snprintf(path, sizeof path, KERNELS, "gfx950");
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_not_equal(lseek(file, 100, SEEK_SET), -1); /* its position does not matter */
    hsa_code_object_reader_t reader;
    hsa_executable_t e;
    assert_ok(hsa_code_object_reader_create_from_file(file, &reader));
    close(file);
    assert_ok(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                        NULL, &e));
    assert_ok(hsa_executable_load_agent_code_object(e, f->gpu, reader, NULL, NULL));
    assert_int_equal(hsa_executable_load_agent_code_object(e, f->cpu, reader, NULL, NULL),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_ok(hsa_code_object_reader_destroy(reader));
    assert_int_equal(hsa_code_object_reader_destroy(reader),
                     HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    assert_int_equal(hsa_executable_load_agent_code_object(e, f->gpu, reader, NULL, NULL),
                     HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    assert_ok(hsa_executable_destroy(e));
    assert_int_equal(hsa_code_object_reader_create_from_file(-1, &reader),
                     HSA_STATUS_ERROR_INVALID_FILE);
}

static void states_of_an_executable(void **state)
{
    const struct fixture *f = *state;
    hsa_executable_t e = load_kernels(f);
    size_t size;
    void *bytes = read_kernels("gfx950", &size);
    hsa_code_object_reader_t reader;
    assert_ok(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
    assert_int_equal(hsa_executable_load_agent_code_object(e, f->gpu, reader, NULL, NULL),
                     HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    assert_int_equal(hsa_executable_freeze(e, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    hsa_executable_state_t frozen;
    assert_ok(hsa_executable_get_info(e, HSA_EXECUTABLE_INFO_STATE, &frozen));
    assert_int_equal(frozen, HSA_EXECUTABLE_STATE_FROZEN);
    uint32_t result = 1;
    assert_ok(hsa_executable_validate(e, &result));
    assert_int_equal(result, 0);
    assert_ok(hsa_executable_destroy(e));
    assert_int_equal(hsa_executable_destroy(e), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    assert_ok(hsa_code_object_reader_destroy(reader));
    free(bytes);
}

/* Code is uploaded when an executable is frozen: a dispatch before that is a mistake. */
static void a_dispatch_needs_a_frozen_executable(void **state)
{
    const struct fixture *f = *state;
    hsa_executable_t e = load_unfrozen(f);
    struct kernel k = find_kernel(f, e, "step.kd");
    hsa_queue_t *q = make_queue(f, 64);
    hsa_signal_t done = make_signal(1);
    char args[64] = "";
    void *block = make_args(f, args, sizeof args);
    dispatch(q, &k, 1, block, done);
    assert_true(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                          HSA_WAIT_STATE_BLOCKED) < 0);
    assert_refused("not frozen");
    hsa_queue_destroy(q);
    hsa_signal_destroy(done);
    hsa_memory_free(block);
    hsa_executable_destroy(e);
}

static hsa_status_t count_symbol(hsa_executable_t e, hsa_agent_t agent, hsa_executable_symbol_t s,
                                 void *data)
{
    (void)e;
    (void)agent;
    hsa_symbol_kind_t kind;
    assert_ok(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
    *(int *)data += kind == HSA_SYMBOL_KIND_KERNEL;
    return HSA_STATUS_SUCCESS;
}

static void symbols(void **state)
{
    const struct fixture *f = *state;
    hsa_executable_t e = load_kernels(f);
    int kernels = 0;
    assert_ok(hsa_executable_iterate_agent_symbols(e, f->gpu, count_symbol, &kernels));
    assert_int_equal(kernels, 4);
    hsa_executable_symbol_t s;
    uint32_t length = 0;
    char name[32] = "";
    assert_ok(hsa_executable_get_symbol_by_name(e, "vector_add.kd", &f->gpu, &s));
    assert_ok(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length));
    assert_int_equal(length, strlen("vector_add.kd"));
    assert_ok(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    assert_string_equal(name, "vector_add.kd");
    struct kernel k = find_kernel(f, e, "vector_add.kd");
    assert_int_equal(k.object % 64, 0);
    assert_true(k.kernarg >= 28);
    assert_int_equal(k.group, 0);
    /* A kernel's symbol is its descriptor; its function is no symbol of an executable. */
    assert_int_equal(hsa_executable_get_symbol_by_name(e, "vector_sub.kd", &f->gpu, &s),
                     HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    assert_int_equal(hsa_executable_get_symbol_by_name(e, "vector_add", &f->gpu, &s),
                     HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    assert_ok(hsa_executable_destroy(e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_targets),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(damaged),
        cmocka_unit_test(from_a_file),
        cmocka_unit_test(states_of_an_executable),
        cmocka_unit_test(a_dispatch_needs_a_frozen_executable),
        cmocka_unit_test(symbols),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
