/* SPDX-License-Identifier: Apache-2.0 */
/* Argument blocks: set by name, checked against the kernel's layout, in memory that the device
 * reads at launch. */
#include "runtime/error.h"
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cogen_rt_status cogen_rt_args_new(struct cogen_rt_kernel *kernel, struct cogen_rt_args **out,
                                       struct cogen_rt_error *err)
{
    *out = NULL;
    struct cogen_rt_args *a = calloc(1, sizeof *a);
    bool *set = calloc(kernel->entry->arg_count + 1, sizeof *set);
    void *block = NULL;
    enum cogen_rt_status st = COGEN_RT_OK;
    if (!a || !set)
        st = rt_fail(err, COGEN_RT_NO_MEMORY, "%s: out of memory for its arguments",
                     kernel->entry->name);
    else
        st = rt_kernarg_alloc(kernel->device, kernel->kernarg_bytes, &block, err);
    if (st != COGEN_RT_OK || !block) {
        free(a);
        free(set);
        return st;
    }
    memset(block, 0, kernel->kernarg_bytes);
    pthread_mutex_lock(&kernel->library->lock);
    kernel->refs++;
    pthread_mutex_unlock(&kernel->library->lock);
    *a = (struct cogen_rt_args){kernel, block, set, kernel->entry->arg_count};
    *out = a;
    return rt_ok(err);
}

void cogen_rt_args_free(struct cogen_rt_args *a)
{
    if (!a)
        return;
    cogen_rt_free(a->kernel->device, a->block);
    cogen_rt_kernel_free(a->kernel);
    free(a->set);
    free(a);
}

/* " x wqkv ..." : the arguments, all or those that are not set, as far as they fit. */
static void list_names(const struct cogen_rt_args *a, bool unset_only, char *out, size_t size)
{
    const struct cogen_rt_entry *e = a->kernel->entry;
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < e->arg_count && n < size; i++)
        if (!unset_only || !a->set[i])
            n += (size_t)snprintf(out + n, size - n, " %s", e->args[i].name);
}

static enum cogen_rt_status set(struct cogen_rt_args *a, const char *name, enum cogen_rt_kind kind,
                                const void *value, size_t size, struct cogen_rt_error *err)
{
    const struct cogen_rt_entry *e = a->kernel->entry;
    for (size_t i = 0; i < e->arg_count; i++) {
        const struct cogen_rt_arg *arg = &e->args[i];
        if (strcmp(arg->name, name) != 0)
            continue;
        if (arg->kind != kind)
            return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: argument %s is of kind %s, given %s",
                           e->name, name, rt_kind_names[arg->kind], rt_kind_names[kind]);
        memcpy(a->block + arg->offset, value, size);
        a->unset -= !a->set[i];
        a->set[i] = true;
        return rt_ok(err);
    }
    char known[640];
    list_names(a, false, known, sizeof known);
    return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: no argument %s; it takes:%s", e->name, name,
                   known);
}

enum cogen_rt_status cogen_rt_set_pointer(struct cogen_rt_args *a, const char *name,
                                          const void *value, struct cogen_rt_error *err)
{
    return set(a, name, COGEN_RT_POINTER, (const void *)&value, sizeof value, err);
}

enum cogen_rt_status cogen_rt_set_i32(struct cogen_rt_args *a, const char *name, int32_t value,
                                      struct cogen_rt_error *err)
{
    return set(a, name, COGEN_RT_I32, &value, sizeof value, err);
}

enum cogen_rt_status cogen_rt_set_i64(struct cogen_rt_args *a, const char *name, int64_t value,
                                      struct cogen_rt_error *err)
{
    return set(a, name, COGEN_RT_I64, &value, sizeof value, err);
}

enum cogen_rt_status cogen_rt_set_f32(struct cogen_rt_args *a, const char *name, float value,
                                      struct cogen_rt_error *err)
{
    return set(a, name, COGEN_RT_F32, &value, sizeof value, err);
}

static enum cogen_rt_status set_value(struct cogen_rt_args *a, const struct cogen_rt_arg *arg,
                                      const struct cogen_rt_value *v, struct cogen_rt_error *err)
{
    switch (arg->kind) {
    case COGEN_RT_POINTER:
        return cogen_rt_set_pointer(a, arg->name, v->pointer, err);
    case COGEN_RT_F32:
        return cogen_rt_set_f32(a, arg->name, v->real, err);
    case COGEN_RT_I64:
        return cogen_rt_set_i64(a, arg->name, v->integer, err);
    case COGEN_RT_I32:
        break;
    }
    if (v->integer < INT32_MIN || v->integer > INT32_MAX)
        return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: argument %s is of kind %s, given %lld",
                       a->kernel->entry->name, arg->name, rt_kind_names[arg->kind],
                       (long long)v->integer);
    return cogen_rt_set_i32(a, arg->name, (int32_t)v->integer, err);
}

enum cogen_rt_status cogen_rt_set_values(struct cogen_rt_args *a,
                                         const struct cogen_rt_value *values, size_t count,
                                         struct cogen_rt_error *err)
{
    const struct cogen_rt_entry *e = a->kernel->entry;
    for (size_t i = 0; i < e->arg_count; i++)
        for (size_t v = 0; v < count; v++)
            if (strcmp(values[v].name, e->args[i].name) == 0) {
                enum cogen_rt_status status = set_value(a, &e->args[i], &values[v], err);
                if (status != COGEN_RT_OK)
                    return status;
            }
    return rt_ok(err);
}

enum cogen_rt_status cogen_rt_args_check(const struct cogen_rt_args *a, struct cogen_rt_error *err)
{
    if (a->unset == 0)
        return rt_ok(err);
    const struct cogen_rt_entry *e = a->kernel->entry;
    char names[640];
    list_names(a, true, names, sizeof names);
    return rt_fail(err, COGEN_RT_BAD_ARGUMENT, "%s: %zu of %zu arguments not set:%s", e->name,
                   a->unset, e->arg_count, names);
}
