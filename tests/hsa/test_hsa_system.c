/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime, its agents, instruction sets, pools and extensions. */
#include "hsa_test.h"

#include "hsa_ext.h"
#include <dlfcn.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <stdlib.h>
#include <string.h>

static void counts_its_users(void **state)
{
    (void)state;
    uint16_t major = 0;
    assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major),
                     HSA_STATUS_ERROR_NOT_INITIALIZED);
    assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    assert_ok(hsa_init());
    assert_ok(hsa_init());
    assert_ok(hsa_shut_down());
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
    assert_int_equal(major, 1);
    assert_ok(hsa_shut_down());
    assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

/* What a client leaves behind is cleared away; a runtime of its own can start after it. */
static void ends_with_everything_open(void **state)
{
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setup(state), 0);
        const struct fixture *f = *state;
        load_kernels(f);
        alloc_device(f, 1 << 20);
        make_queue(f, 64);
        make_queue(f, 128);
        assert_int_equal(teardown(state), 0);
    }
}

static void system_says(void **state)
{
    (void)state;
    uint64_t t0, t1, hz;
    uint8_t bits[128];
    const char *text;
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t0));
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t1));
    assert_true(t1 >= t0);
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz));
    assert_int_equal(hz, 1000000000);
    assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, bits));
    assert_true(bits[HSA_EXTENSION_AMD_LOADER / 8] >> HSA_EXTENSION_AMD_LOADER % 8 & 1);
    assert_false(bits[HSA_EXTENSION_IMAGES / 8] >> HSA_EXTENSION_IMAGES % 8 & 1);
    assert_int_equal(hsa_system_get_info((hsa_system_info_t)0x7777, bits),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (int s = HSA_STATUS_ERROR; s <= HSA_STATUS_ERROR_INVALID_ISA_NAME; s++) {
        text = NULL;
        assert_ok(hsa_status_string((hsa_status_t)s, &text));
        assert_true(text && *text);
    }
    assert_int_equal(hsa_status_string((hsa_status_t)0x7777, &text),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void gpu_says(void **state)
{
    const struct fixture *f = *state;
    char text[64];
    uint32_t n, cache[4];
    uint16_t dim[3];
    assert_ok(hsa_agent_get_info(f->gpu, HSA_AGENT_INFO_NAME, text));
    assert_string_equal(text, "gfx950");
    const struct {
        int what;
        uint32_t want;
    } facts[] = {
        {HSA_AGENT_INFO_WAVEFRONT_SIZE,         64  },
        {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE,     1024},
        {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 256 },
        {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU,   4   },
        {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU,   32  },
        {HSA_AMD_AGENT_INFO_CACHELINE_SIZE,     128 },
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        assert_ok(hsa_agent_get_info(f->gpu, (hsa_agent_info_t)facts[i].what, &n));
        assert_int_equal(n, facts[i].want);
    }
    assert_ok(hsa_agent_get_info(f->gpu, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, dim));
    assert_int_equal(dim[2], 1024);
    assert_ok(hsa_agent_get_info(f->gpu, HSA_AGENT_INFO_CACHE_SIZE, cache));
    assert_int_equal(cache[0], 32 << 10);
    assert_int_equal(cache[1], 4 << 20);
    assert_int_equal(hsa_agent_get_info((hsa_agent_t){99}, HSA_AGENT_INFO_NAME, text),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(hsa_agent_get_info(f->gpu, (hsa_agent_info_t)0x7777, text),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static hsa_status_t keep_isa(hsa_isa_t isa, void *data)
{
    *(hsa_isa_t *)data = isa;
    return HSA_STATUS_SUCCESS;
}

static void isa_says(void **state)
{
    const struct fixture *f = *state;
    hsa_isa_t isa = {0}, same = {0};
    uint32_t length = 0;
    assert_ok(hsa_agent_iterate_isas(f->gpu, keep_isa, &isa));
    assert_ok(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
    char *name = calloc(1, length + 1);
    assert_ok(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
    assert_string_equal(name, "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-");
    assert_ok(hsa_isa_from_name(name, &same));
    assert_int_equal(same.handle, isa.handle);
    assert_ok(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx950", &same));
    assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx942", &same),
                     HSA_STATUS_ERROR_INVALID_ISA_NAME);
    free(name);
}

static void pools_say(void **state)
{
    const struct fixture *f = *state;
    size_t size = 0;
    bool allowed = true;
    void *p;
    assert_ok(hsa_amd_memory_pool_get_info(f->group, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    assert_int_equal(size, 160 << 10);
    assert_ok(hsa_amd_memory_pool_get_info(f->group, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                           &allowed));
    assert_false(allowed);
    assert_int_equal(hsa_amd_memory_pool_allocate(f->group, 64, 0, &p),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_ok(hsa_amd_memory_pool_get_info(f->device, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    assert_true(size >= (size_t)192 << 30);
    assert_int_equal(hsa_amd_memory_pool_allocate(f->device, size + 1, 0, &p),
                     HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static hsa_status_t count_object(hsa_executable_t e, hsa_loaded_code_object_t o, void *data)
{
    (void)e;
    *(hsa_loaded_code_object_t *)data = o;
    return HSA_STATUS_SUCCESS;
}

static void loader_says(void **state)
{
    const struct fixture *f = *state;
    hsa_ven_amd_loader_1_03_pfn_t loader;
    uint16_t minor = 0;
    bool has = false;
    assert_ok(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &has));
    assert_true(has && minor >= 3);
    assert_ok(
        hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader));
    hsa_ext_images_1_pfn_t images;
    assert_int_not_equal(
        hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof images, &images),
        HSA_STATUS_SUCCESS);
    hsa_executable_t e = load_kernels(f), found;
    struct kernel k = find_kernel(f, e, "vector_add.kd");
    const void *code = (const void *)(uintptr_t)k.object, *host = NULL;
    assert_ok(loader.hsa_ven_amd_loader_query_host_address(code, &host));
    assert_ptr_equal(host, code);
    assert_ok(loader.hsa_ven_amd_loader_query_executable(code, &found));
    assert_int_equal(found.handle, e.handle);
    hsa_loaded_code_object_t o = {0};
    uint64_t base = 0, size = 0;
    assert_ok(
        loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(e, count_object, &o));
    assert_ok(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
        o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &base));
    assert_ok(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
        o, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, &size));
    assert_true(k.object >= base && k.object < base + size);
    size_t count = 0;
    assert_ok(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count));
    assert_int_equal(count, 1);
    assert_ok(hsa_executable_destroy(e));
    assert_int_not_equal(loader.hsa_ven_amd_loader_query_executable(code, &found),
                         HSA_STATUS_SUCCESS);
}

/* The emulator's own calls are found by dlsym, as the runtime finds them. */
static void own_calls(void **state)
{
    (void)state;
    int (*reseed)(uint64_t) = NULL;
    int (*last)(struct emu_hsa_counters *) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "emu_hsa_reseed");
    memcpy((void *)&reseed, (const void *)&symbol, sizeof reseed);
    symbol = dlsym(RTLD_DEFAULT, "emu_hsa_last_dispatch");
    memcpy((void *)&last, (const void *)&symbol, sizeof last);
    assert_true(reseed && last);
    assert_int_equal(reseed(7), 0);
    struct emu_hsa_counters counters = {.dispatches = 9};
    assert_int_equal(last(&counters), 0);
    assert_int_equal(counters.dispatches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_its_users),
        cmocka_unit_test(ends_with_everything_open),
        cmocka_unit_test_setup_teardown(system_says, setup, teardown),
        cmocka_unit_test_setup_teardown(gpu_says, setup, teardown),
        cmocka_unit_test_setup_teardown(isa_says, setup, teardown),
        cmocka_unit_test_setup_teardown(pools_say, setup, teardown),
        cmocka_unit_test_setup_teardown(loader_says, setup, teardown),
        cmocka_unit_test_setup_teardown(own_calls, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
