/* SPDX-License-Identifier: Apache-2.0 */
/* Code object readers, executables and their symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hsa_state.h"

struct reader {
    void *bytes; /* a copy: the client may drop its own */
    size_t size;
};

static hsa_status_t reader_new(void *bytes, size_t size, hsa_code_object_reader_t *reader)
{
    struct reader *r = malloc(sizeof *r);
    if (!r) {
        free(bytes);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *r = (struct reader){bytes, size};
    reader->handle = (uint64_t)(uintptr_t)r;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
                                                       hsa_code_object_reader_t *reader)
{
    if (!bytes || !size || !reader)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    void *copy = malloc(size);
    if (!copy)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memcpy(copy, bytes, size);
    return reader_new(copy, size, reader);
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file,
                                                     hsa_code_object_reader_t *reader)
{
    struct stat st;
    if (!reader)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (fstat(file, &st) != 0 || st.st_size <= 0)
        return HSA_STATUS_ERROR_INVALID_FILE;
    size_t size = (size_t)st.st_size;
    char *bytes = malloc(size);
    if (!bytes)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(file, bytes + done, size - done, (off_t)done);
        if (n <= 0) {
            free(bytes);
            return HSA_STATUS_ERROR_INVALID_FILE;
        }
        done += (size_t)n;
    }
    return reader_new(bytes, size, reader);
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader)
{
    struct reader *r = (struct reader *)(uintptr_t)reader.handle;
    if (!r)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    free(r->bytes);
    free(r);
    return HSA_STATUS_SUCCESS;
}

/* ---- executables */

struct symbol {
    struct symbol *next;
    char *name;
    const struct emu_kernel *kernel; /* or a variable: */
    void *address;
    size_t size;
};

struct loaded {
    struct loaded *next;
    struct emu_object *object;
};

struct executable {
    pthread_mutex_t lock;
    bool frozen;
    struct loaded *loaded;
    struct symbol *symbols;
};

static struct executable *executable(hsa_executable_t e)
{
    return (struct executable *)(uintptr_t)e.handle;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
                                       hsa_default_float_rounding_mode_t rounding,
                                       const char *options, hsa_executable_t *out)
{
    (void)profile;
    (void)rounding;
    (void)options;
    if (!out)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!hsa_state())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    struct executable *e = calloc(1, sizeof *e);
    if (!e)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_init(&e->lock, NULL);
    out->handle = (uint64_t)(uintptr_t)e;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state,
                                   const char *options, hsa_executable_t *out)
{
    hsa_status_t status =
        hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, out);
    if (status == HSA_STATUS_SUCCESS)
        executable(*out)->frozen = state == HSA_EXECUTABLE_STATE_FROZEN;
    return status;
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle)
{
    struct executable *e = executable(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    while (e->symbols) {
        struct symbol *s = e->symbols;
        e->symbols = s->next;
        free(s->name);
        free(s);
    }
    while (e->loaded) {
        struct loaded *l = e->loaded;
        e->loaded = l->next;
        emu_object_free(l->object);
        free(l);
    }
    pthread_mutex_destroy(&e->lock);
    free(e);
    return HSA_STATUS_SUCCESS;
}

static struct symbol *symbol_add(struct executable *e, const char *name, const char *suffix)
{
    struct symbol *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    if (asprintf(&s->name, "%s%s", name, suffix) < 0) {
        free(s);
        return NULL;
    }
    s->next = e->symbols;
    e->symbols = s;
    return s;
}

static hsa_status_t add_object(struct executable *e, struct emu_object *object)
{
    struct loaded *l = malloc(sizeof *l);
    if (!l) {
        emu_object_free(object);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *l = (struct loaded){e->loaded, object};
    e->loaded = l;
    for (size_t i = 0; i < emu_object_kernel_count(object); i++) {
        const struct emu_kernel *k = emu_object_kernel(object, i);
        struct symbol *s = symbol_add(e, k->name, ".kd");
        if (!s)
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        s->kernel = k;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader,
                                                   const char *options,
                                                   hsa_loaded_code_object_t *loaded)
{
    (void)options;
    HSA_NEEDS_STATE(s);
    struct executable *e = executable(handle);
    const struct reader *r = (const struct reader *)(uintptr_t)reader.handle;
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!r)
        return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    if (agent.handle != HSA_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    pthread_mutex_lock(&e->lock);
    hsa_status_t status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
    struct emu_object *object = NULL;
    char err[512];
    if (!e->frozen &&
        emu_object_load(s->device, r->bytes, r->size, &object, err, sizeof err) != 0) {
        fprintf(stderr, "code object: %s\n", err);
        status = HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    } else if (!e->frozen) {
        status = add_object(e, object);
    }
    if (status == HSA_STATUS_SUCCESS && loaded)
        loaded->handle = (uint64_t)(uintptr_t)object;
    pthread_mutex_unlock(&e->lock);
    return status;
}

hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t e,
                                                     hsa_code_object_reader_t reader,
                                                     const char *options,
                                                     hsa_loaded_code_object_t *loaded)
{
    return hsa_executable_load_agent_code_object(e, (hsa_agent_t){HSA_GPU}, reader, options,
                                                 loaded);
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
    (void)options;
    struct executable *e = executable(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    pthread_mutex_lock(&e->lock);
    bool frozen = e->frozen;
    e->frozen = true;
    pthread_mutex_unlock(&e->lock);
    return frozen ? HSA_STATUS_ERROR_FROZEN_EXECUTABLE : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute,
                                     void *value)
{
    struct executable *e = executable(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    switch ((int)attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
        *(hsa_profile_t *)value = HSA_PROFILE_BASE;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_STATE:
        *(hsa_executable_state_t *)value =
            e->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
        *(hsa_default_float_rounding_mode_t *)value = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
    if (!executable(handle))
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!result)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *result = 0; /* a code object that is not valid was refused when it was loaded */
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t handle, const char *options,
                                         uint32_t *result)
{
    (void)options;
    return hsa_executable_validate(handle, result);
}

/* ---- symbols */

static struct symbol *find_symbol(struct executable *e, const char *name)
{
    for (struct symbol *s = e->symbols; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s;
    for (const struct loaded *l = e->loaded; l; l = l->next) {
        size_t size;
        void *address = emu_object_symbol(l->object, name, &size);
        struct symbol *s = address ? symbol_add(e, name, "") : NULL;
        if (!s)
            continue;
        s->address = address;
        s->size = size;
        return s;
    }
    return NULL;
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char *name,
                                               const hsa_agent_t *agent,
                                               hsa_executable_symbol_t *symbol)
{
    (void)agent;
    struct executable *e = executable(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!name || !symbol)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&e->lock);
    struct symbol *s = find_symbol(e, name);
    pthread_mutex_unlock(&e->lock);
    symbol->handle = (uint64_t)(uintptr_t)s;
    return s ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t e, const char *module, const char *name,
                                       hsa_agent_t agent, int32_t convention,
                                       hsa_executable_symbol_t *symbol)
{
    (void)module;
    (void)convention;
    return hsa_executable_get_symbol_by_name(e, name, &agent, symbol);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
                                            hsa_executable_symbol_info_t attribute, void *value)
{
    const struct symbol *s = (const struct symbol *)(uintptr_t)handle.handle;
    if (!s)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch ((int)attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
        *(hsa_symbol_kind_t *)value = s->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
        *(uint32_t *)value = (uint32_t)strlen(s->name);
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
        memcpy(value, s->name, strlen(s->name)); /* the ABI's name has no terminator */
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
        *(uint32_t *)value = 0;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
        *(hsa_agent_t *)value = (hsa_agent_t){HSA_GPU};
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
        *(hsa_symbol_linkage_t *)value = HSA_SYMBOL_LINKAGE_PROGRAM;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
        *(bool *)value = true;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
        *(uint64_t *)value = (uint64_t)(uintptr_t)s->address;
        return s->kernel ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
        *(uint32_t *)value = (uint32_t)s->size;
        return s->kernel ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
    }
    if (!s->kernel)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch ((int)attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
        *(uint64_t *)value = s->kernel->handle;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
        *(uint32_t *)value = s->kernel->kernarg_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
        *(uint32_t *)value = s->kernel->kernarg_align;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
        *(uint32_t *)value = s->kernel->group_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
        *(uint32_t *)value = s->kernel->private_size;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
        *(bool *)value = false;
        return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
        *(uint32_t *)value = 0;
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t handle, hsa_agent_t agent,
    hsa_status_t (*call)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *),
    void *data)
{
    struct executable *e = executable(handle);
    if (!e)
        return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (struct symbol *s = e->symbols; s; s = s->next) {
        hsa_status_t status =
            call(handle, agent, (hsa_executable_symbol_t){(uint64_t)(uintptr_t)s}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t handle,
    hsa_status_t (*call)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    (void)data; /* every symbol belongs to the agent */
    return executable(handle) && call ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle,
                                            hsa_status_t (*call)(hsa_executable_t,
                                                                 hsa_executable_symbol_t, void *),
                                            void *data)
{
    struct executable *e = executable(handle);
    if (!e || !call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (struct symbol *s = e->symbols; s; s = s->next) {
        hsa_status_t status = call(handle, (hsa_executable_symbol_t){(uint64_t)(uintptr_t)s}, data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}
