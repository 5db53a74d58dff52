/* SPDX-License-Identifier: Apache-2.0 */
/* Code object readers, executables and their symbols. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa_code.h"

enum { EM_AMDGPU_MACHINE = 224, ERR_SIZE = 512 };

/* ---- Readers ---- */
hsa_status_t hsa_reader_add(struct hsa_state *state, struct hsa_reader init,
                            hsa_code_object_reader_t *handle)
{
    struct hsa_reader *r = malloc(sizeof(*r));
    if (!r) {
        free(init.owned);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *r = init;
    pthread_mutex_lock(&state->lists);
    r->next = state->readers;
    state->readers = r;
    pthread_mutex_unlock(&state->lists);
    handle->handle = (uint64_t)(uintptr_t)r;
    return HSA_STATUS_SUCCESS;
}

static struct hsa_reader *reader_of(struct hsa_state *state, hsa_code_object_reader_t handle)
{
    pthread_mutex_lock(&state->lists);
    struct hsa_reader *r = state->readers;
    while (r && (uint64_t)(uintptr_t)r != handle.handle)
        r = r->next;
    pthread_mutex_unlock(&state->lists);
    return r;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *code_object, size_t size,
                                                       hsa_code_object_reader_t *code_object_reader)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(code_object && size && code_object_reader, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    return hsa_reader_add(state,
                          (struct hsa_reader){.bytes = code_object, .size = size, .file = -1},
                          code_object_reader);
}

hsa_status_t hsa_reader_from_file(struct hsa_state *state, int file, size_t offset, size_t size,
                                  hsa_code_object_reader_t *code_object_reader)
{
    RETURN_UNLESS(code_object_reader && size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    uint8_t *bytes = malloc(size);
    RETURN_UNLESS(bytes, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(file, bytes + at, size - at, (off_t)(offset + at));
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR) {
            free(bytes);
            return HSA_STATUS_ERROR_INVALID_FILE;
        }
    }
    return hsa_reader_add(
        state, (struct hsa_reader){.bytes = bytes, .size = size, .owned = bytes, .file = file},
        code_object_reader);
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file,
                                                     hsa_code_object_reader_t *code_object_reader)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(code_object_reader, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct stat st;
    RETURN_UNLESS(fstat(file, &st) == 0 && st.st_size > 0, HSA_STATUS_ERROR_INVALID_FILE);
    return hsa_reader_from_file(state, file, 0, (size_t)st.st_size, code_object_reader);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader)
{
    HSA_NEEDS_STATE(state);
    struct hsa_reader *r = NULL;
    pthread_mutex_lock(&state->lists);
    for (struct hsa_reader **at = &state->readers; *at; at = &(*at)->next)
        if ((uint64_t)(uintptr_t)*at == code_object_reader.handle) {
            r = *at;
            *at = r->next;
            break;
        }
    pthread_mutex_unlock(&state->lists);
    RETURN_UNLESS(r, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    free(r->owned);
    free(r);
    return HSA_STATUS_SUCCESS;
}

/* ---- Executables ---- */
static bool executable_live(const struct hsa_state *state, const struct hsa_exec *e)
{
    const struct hsa_exec *at = state->execs;
    while (at && at != e)
        at = at->next;
    return at != NULL;
}

struct hsa_exec *hsa_exec_of(struct hsa_state *state, hsa_executable_t handle)
{
    struct hsa_exec *e = (struct hsa_exec *)(uintptr_t)handle.handle;
    pthread_mutex_lock(&state->lists);
    bool live = executable_live(state, e);
    pthread_mutex_unlock(&state->lists);
    return live ? e : NULL;
}

static void loaded_free(struct hsa_state *state, struct hsa_loaded *o)
{
    for (size_t i = 0; i < o->symbol_count; i++)
        free(o->symbols[i].name);
    free(o->symbols);
    pthread_mutex_lock(&state->dispatch);
    emu_object_free(o->object);
    pthread_mutex_unlock(&state->dispatch);
    free(o);
}

static void executable_free(struct hsa_state *state, struct hsa_exec *e)
{
    while (e->objects) {
        struct hsa_loaded *o = e->objects;
        e->objects = o->next;
        loaded_free(state, o);
    }
    free(e);
}

void hsa_execs_end(struct hsa_state *state)
{
    while (state->execs) {
        struct hsa_exec *e = state->execs;
        state->execs = e->next;
        executable_free(state, e);
    }
    while (state->readers) {
        struct hsa_reader *r = state->readers;
        state->readers = r->next;
        free(r->owned);
        free(r);
    }
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t rounding,
                                       const char *options, hsa_executable_t *executable)
{
    (void)options;
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(executable && (unsigned)profile <= HSA_PROFILE_FULL &&
                      (unsigned)rounding <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = calloc(1, sizeof(*e));
    RETURN_UNLESS(e, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    e->profile = profile;
    e->rounding = rounding;
    pthread_mutex_lock(&state->lists);
    e->next = state->execs;
    state->execs = e;
    pthread_mutex_unlock(&state->lists);
    executable->handle = (uint64_t)(uintptr_t)e;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t executable_state,
                                   const char *options, hsa_executable_t *executable)
{
    RETURN_UNLESS((unsigned)executable_state <= HSA_EXECUTABLE_STATE_FROZEN,
                  HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_status_t status = hsa_executable_create_alt(
        profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
    if (status == HSA_STATUS_SUCCESS && executable_state == HSA_EXECUTABLE_STATE_FROZEN)
        status = hsa_executable_freeze(*executable, options);
    return status;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable)
{
    HSA_NEEDS_STATE(state);
    struct hsa_exec *e = NULL;
    pthread_mutex_lock(&state->lists);
    for (struct hsa_exec **at = &state->execs; *at; at = &(*at)->next)
        if ((uint64_t)(uintptr_t)*at == executable.handle) {
            e = *at;
            *at = e->next;
            break;
        }
    pthread_mutex_unlock(&state->lists);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    executable_free(state, e);
    return HSA_STATUS_SUCCESS;
}

static void refuse(struct hsa_state *state, const char *cause)
{
    char text[ERR_SIZE + 64];
    snprintf(text, sizeof(text), "code object refused: %s", cause);
    hsa_complain(state, text);
}

/* The target that an ELF header states against the device's: a processor, and XNACK and SRAM-ECC as
 * code needs them. */
static hsa_status_t check_target(struct hsa_state *state, const struct hsa_reader *r)
{
    static const struct {
        uint32_t mach;
        const char *name;
    } known[] = {
        {0x4c, "gfx942" },
        {0x4f, "gfx950" },
        {0x3f, "gfx90a" },
        {0x30, "gfx908" },
        {0x2f, "gfx906" },
        {0x41, "gfx1100"}
    };
    Elf64_Ehdr h;
    if (r->size < sizeof(h) || memcmp(r->bytes, ELFMAG, SELFMAG) != 0)
        return HSA_STATUS_SUCCESS; /* the loader says what is wrong */
    memcpy(&h, r->bytes, sizeof(h));
    uint32_t mach = h.e_flags & 0xff, want = strcmp(state->arch, "gfx950") == 0 ? 0x4f : 0x4c;
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_AMDGPU_MACHINE)
        return HSA_STATUS_SUCCESS;
    char text[ERR_SIZE];
    if (mach != want) {
        const char *name = "another processor";
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (known[i].mach == mach)
                name = known[i].name;
        snprintf(text, sizeof(text), "it is for %s (e_flags 0x%x), the device is a %s", name,
                 h.e_flags, state->arch);
    } else if ((h.e_flags & 0x300) == 0x300) {
        snprintf(text, sizeof(text), "it needs XNACK on, the device has it off");
    } else if ((h.e_flags & 0xc00) == 0x800) {
        snprintf(text, sizeof(text), "it needs SRAM-ECC off, the device has it on");
    } else {
        return HSA_STATUS_SUCCESS;
    }
    refuse(state, text);
    return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
}

/* The symbol's name becomes the object's, or is freed. */
static bool symbol_add(struct hsa_loaded *o, struct exec_symbol s)
{
    struct exec_symbol *all =
        s.name ? realloc(o->symbols, (o->symbol_count + 1) * sizeof(*all)) : NULL;
    if (!all) {
        free(s.name);
        return false;
    }
    o->symbols = all;
    all[o->symbol_count++] = s;
    return true;
}

/* The dynamic symbol table of an object that the loader has accepted; false: it has none that can
 * be read. */
static bool find_dynsym(const struct hsa_reader *r, Elf64_Shdr *symbols, Elf64_Shdr *strings)
{
    Elf64_Ehdr h;
    memcpy(&h, r->bytes, sizeof(h));
    for (unsigned i = 0; i < h.e_shnum; i++) {
        uint64_t at = h.e_shoff + (uint64_t)i * sizeof(Elf64_Shdr);
        if (at > r->size || r->size - at < sizeof(Elf64_Shdr))
            return false;
        memcpy(symbols, r->bytes + at, sizeof(*symbols));
        if (symbols->sh_type != SHT_DYNSYM || symbols->sh_link >= h.e_shnum)
            continue;
        at = h.e_shoff + (uint64_t)symbols->sh_link * sizeof(Elf64_Shdr);
        if (at > r->size || r->size - at < sizeof(Elf64_Shdr))
            return false;
        memcpy(strings, r->bytes + at, sizeof(*strings));
        const Elf64_Shdr *both[2] = {symbols, strings};
        for (int k = 0; k < 2; k++)
            if (both[k]->sh_offset > r->size || both[k]->sh_size > r->size - both[k]->sh_offset)
                return false;
        return strings->sh_size > 0 && r->bytes[strings->sh_offset + strings->sh_size - 1] == '\0';
    }
    return false;
}

static bool add_symbols(struct hsa_loaded *o, const struct hsa_reader *r)
{
    for (size_t i = 0; i < emu_object_kernel_count(o->object); i++) {
        const struct emu_kernel *k = emu_object_kernel(o->object, i);
        char *name = NULL;
        if (asprintf(&name, "%s.kd", k->name) < 0)
            name = NULL;
        if (!symbol_add(o, (struct exec_symbol){.name = name, .kernel = k}))
            return false;
    }
    Elf64_Shdr symbols, strings;
    if (!find_dynsym(r, &symbols, &strings))
        return true;
    for (uint64_t i = 0; i < symbols.sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        memcpy(&s, r->bytes + symbols.sh_offset + i * sizeof(s), sizeof(s));
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF ||
            s.st_name >= strings.sh_size)
            continue;
        const char *name = (const char *)r->bytes + strings.sh_offset + s.st_name;
        size_t n = strlen(name), size = 0;
        if (n > 3 && strcmp(name + n - 3, ".kd") == 0)
            continue;
        void *address = emu_object_symbol(o->object, name, &size);
        if (address && !symbol_add(o, (struct exec_symbol){
                                          .name = strdup(name), .address = address, .size = size}))
            return false;
    }
    return true;
}

static hsa_status_t load(struct hsa_state *state, struct hsa_exec *e, const struct hsa_reader *r,
                         struct hsa_loaded **out)
{
    hsa_status_t status = check_target(state, r);
    RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
    struct hsa_loaded *o = calloc(1, sizeof(*o));
    RETURN_UNLESS(o, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    char err[ERR_SIZE] = "";
    pthread_mutex_lock(&state->dispatch);
    int failed = emu_object_load(state->device, r->bytes, r->size, &o->object, err, sizeof(err));
    pthread_mutex_unlock(&state->dispatch);
    if (failed) {
        free(o);
        refuse(state, err);
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    }
    o->executable = e;
    o->storage = r->bytes;
    o->storage_size = r->size;
    o->file = r->file;
    void *base = NULL;
    const struct emu_kernel *k = emu_object_kernel(o->object, 0);
    if (k && emu_mem_info(state->device, (const void *)(uintptr_t)k->handle, &base, &o->load_size))
        o->load_base = base;
    snprintf(o->uri, sizeof(o->uri), "memory://%ld#offset=0x%llx&size=%zu", (long)getpid(),
             (unsigned long long)(uintptr_t)r->bytes, r->size);
    if (!add_symbols(o, r)) {
        loaded_free(state, o);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *out = o;
    return HSA_STATUS_SUCCESS;
}

static bool same_name(const struct hsa_exec *e, const struct hsa_loaded *fresh)
{
    for (const struct hsa_loaded *o = e->objects; o; o = o->next)
        for (size_t i = 0; i < o->symbol_count; i++)
            for (size_t k = 0; k < fresh->symbol_count; k++)
                if (strcmp(o->symbols[i].name, fresh->symbols[k].name) == 0)
                    return true;
    return false;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t code_object_reader,
                                                   const char *options,
                                                   hsa_loaded_code_object_t *loaded_code_object)
{
    (void)options;
    HSA_NEEDS_STATE(state);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    RETURN_UNLESS(agent.handle == HSA_GPU, HSA_STATUS_ERROR_INVALID_AGENT);
    const struct hsa_reader *r = reader_of(state, code_object_reader);
    RETURN_UNLESS(r, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    struct hsa_loaded *o = NULL;
    hsa_status_t status = load(state, e, r, &o);
    RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
    pthread_mutex_lock(&state->lists);
    if (!executable_live(state, e))
        status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    else if (e->frozen)
        status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    else if (same_name(e, o))
        status = HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
    if (status == HSA_STATUS_SUCCESS) {
        o->next = e->objects;
        e->objects = o;
    }
    pthread_mutex_unlock(&state->lists);
    if (status != HSA_STATUS_SUCCESS)
        loaded_free(state, o);
    else if (loaded_code_object)
        loaded_code_object->handle = (uint64_t)(uintptr_t)o;
    return status;
}

hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable,
                                                     hsa_code_object_reader_t code_object_reader,
                                                     const char *options,
                                                     hsa_loaded_code_object_t *loaded_code_object)
{
    (void)options;
    (void)loaded_code_object;
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(hsa_exec_of(state, executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    RETURN_UNLESS(reader_of(state, code_object_reader),
                  HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT; /* AMDGPU code objects belong to an agent */
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
    (void)options;
    HSA_NEEDS_STATE(state);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    pthread_mutex_lock(&state->lists);
    bool was = e->frozen;
    e->frozen = true;
    pthread_mutex_unlock(&state->lists);
    return was ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute,
                                     void *value)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(value, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
        *(hsa_profile_t *)value = e->profile;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_STATE:
        *(hsa_executable_state_t *)value =
            e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
        *(hsa_default_float_rounding_mode_t *)value = e->rounding;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t *result)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    *result = 0;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char *options,
                                         uint32_t *result)
{
    (void)options;
    return hsa_executable_validate(executable, result);
}

/* Variables that another module defines: the loader links none, so a definition has nobody to
 * serve. */
static hsa_status_t define_variable(hsa_executable_t executable, const char *name, const void *at)
{
    HSA_NEEDS_STATE(state);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    RETURN_UNLESS(name && at, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    RETURN_UNLESS(!e->frozen, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable,
                                                   const char *variable_name, void *address)
{
    return define_variable(executable, variable_name, address);
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
                                                         hsa_agent_t agent,
                                                         const char *variable_name, void *address)
{
    RETURN_UNLESS(agent.handle == HSA_GPU, HSA_STATUS_ERROR_INVALID_AGENT);
    return define_variable(executable, variable_name, address);
}

hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                     const char *variable_name, void *address)
{
    RETURN_UNLESS(agent.handle == HSA_GPU, HSA_STATUS_ERROR_INVALID_AGENT);
    return define_variable(executable, variable_name, address);
}

const struct emu_kernel *hsa_exec_kernel(struct hsa_state *state, uint64_t kernel_object,
                                         const char **reason)
{
    const struct emu_kernel *found = NULL;
    *reason = "kernel_object is no kernel of a loaded executable";
    pthread_mutex_lock(&state->lists);
    for (const struct hsa_exec *e = state->execs; e && !found; e = e->next)
        for (const struct hsa_loaded *o = e->objects; o && !found; o = o->next)
            for (size_t i = 0; i < o->symbol_count; i++) {
                const struct emu_kernel *k = o->symbols[i].kernel;
                if (!k || k->handle != kernel_object)
                    continue;
                if (e->frozen)
                    found = k;
                else
                    *reason = "the executable of kernel_object is not frozen";
                break;
            }
    pthread_mutex_unlock(&state->lists);
    return found;
}

/* ---- Symbols ---- */
static struct exec_symbol *symbol_of(struct hsa_state *state, hsa_executable_symbol_t handle)
{
    struct exec_symbol *found = NULL;
    pthread_mutex_lock(&state->lists);
    for (const struct hsa_exec *e = state->execs; e && !found; e = e->next)
        for (const struct hsa_loaded *o = e->objects; o && !found; o = o->next) {
            uint64_t at = handle.handle - (uint64_t)(uintptr_t)o->symbols;
            if (o->symbol_count && at < o->symbol_count * sizeof(*o->symbols) &&
                at % sizeof(*o->symbols) == 0)
                found = &o->symbols[at / sizeof(*o->symbols)];
        }
    pthread_mutex_unlock(&state->lists);
    return found;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char *symbol_name,
                                               const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *symbol)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(symbol_name && symbol, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    RETURN_UNLESS(!agent || agent->handle == HSA_CPU || agent->handle == HSA_GPU,
                  HSA_STATUS_ERROR_INVALID_AGENT);
    /* Without an agent only program symbols are meant, and AMDGPU code objects have none. */
    RETURN_UNLESS(agent && agent->handle == HSA_GPU, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    symbol->handle = 0;
    pthread_mutex_lock(&state->lists);
    for (struct hsa_loaded *o = e->objects; o; o = o->next)
        for (size_t i = 0; i < o->symbol_count; i++)
            if (strcmp(o->symbols[i].name, symbol_name) == 0)
                symbol->handle = (uint64_t)(uintptr_t)&o->symbols[i];
    pthread_mutex_unlock(&state->lists);
    return symbol->handle ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char *module_name,
                                       const char *symbol_name, hsa_agent_t agent,
                                       int32_t call_convention, hsa_executable_symbol_t *symbol)
{
    (void)call_convention;
    RETURN_UNLESS(!module_name || !*module_name, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    return hsa_executable_get_symbol_by_name(executable, symbol_name, &agent, symbol);
}

static hsa_status_t kernel_info(const struct emu_kernel *k, int attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        *(uint64_t *)value = k->handle;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        *(uint32_t *)value = k->kernarg_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        *(uint32_t *)value = k->kernarg_align > 16 ? k->kernarg_align : 16;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        *(uint32_t *)value = k->group_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        *(uint32_t *)value = k->private_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        *(bool *)value = false;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
        *(uint32_t *)value = 0;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t variable_info(const struct exec_symbol *s, int attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
        *(uint64_t *)value = (uint64_t)(uintptr_t)s->address;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
        *(hsa_variable_allocation_t *)value = HSA_VARIABLE_ALLOCATION_AGENT;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
        *(hsa_variable_segment_t *)value = HSA_VARIABLE_SEGMENT_GLOBAL;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
        *(uint32_t *)value = 4;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
        *(uint32_t *)value = (uint32_t)s->size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
        *(bool *)value = false;
        return HSA_STATUS_SUCCESS;
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t symbol_info(const struct exec_symbol *s, int attribute, void *value)
{
    switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        *(hsa_symbol_kind_t *)value = s->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(s->name);
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, s->name, strlen(s->name)); /* the ABI asks for no terminator */
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
        *(uint32_t *)value = 0;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
        ((hsa_agent_t *)value)->handle = HSA_GPU;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
        *(hsa_symbol_linkage_t *)value = HSA_SYMBOL_LINKAGE_PROGRAM;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
        *(bool *)value = true;
        return HSA_STATUS_SUCCESS;
    }
    return s->kernel ? kernel_info(s->kernel, attribute, value)
                     : variable_info(s, attribute, value);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t executable_symbol,
                                            hsa_executable_symbol_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(value, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct exec_symbol *s = symbol_of(state, executable_symbol);
    RETURN_UNLESS(s, HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
    return symbol_info(s, (int)attribute, value);
}

/* The callbacks may call anything, so no lock is held; the caller keeps the executable alive. */
hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*callback)(hsa_executable_t exec,
                                                                     hsa_executable_symbol_t symbol,
                                                                     void *data),
                                            void *data)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    for (struct hsa_loaded *o = e->objects; o; o = o->next)
        for (size_t i = 0; i < o->symbol_count; i++) {
            hsa_executable_symbol_t symbol = {(uint64_t)(uintptr_t)&o->symbols[i]};
            hsa_status_t status = callback(executable, symbol, data);
            RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
        }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent,
                             hsa_executable_symbol_t symbol, void *data),
    void *data)
{
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    RETURN_UNLESS(agent.handle == HSA_GPU, HSA_STATUS_ERROR_INVALID_AGENT);
    struct hsa_exec *e = hsa_exec_of(state, executable);
    RETURN_UNLESS(e, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    for (struct hsa_loaded *o = agent.handle == HSA_GPU ? e->objects : NULL; o; o = o->next)
        for (size_t i = 0; i < o->symbol_count; i++) {
            hsa_executable_symbol_t symbol = {(uint64_t)(uintptr_t)&o->symbols[i]};
            hsa_status_t status = callback(executable, agent, symbol, data);
            RETURN_UNLESS(status == HSA_STATUS_SUCCESS, status);
        }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
    void *data)
{
    (void)data;
    HSA_NEEDS_STATE(state);
    RETURN_UNLESS(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    RETURN_UNLESS(hsa_exec_of(state, executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    return HSA_STATUS_SUCCESS;
}
