/* SPDX-License-Identifier: Apache-2.0 */
/* cogen emu run: any kernel of any code object on the emulator, its buffers from files and to
 * files. */
#include "runtime/code.h"
#include "runtime/kernel.h"
#include "tools/cogen/cli.h"
#include "tools/emu/emu.h"
#include "tools/emu/implemented.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/object.h"

enum { MAX_ARGS = RT_CODE_MAX_ARGS };

struct emu_args {
    const char *text[MAX_ARGS];
    int n;
};

struct emu_options {
    const char *file, *kernel, *arch;
    uint32_t grid[3], block[3];
    struct emu_args args;
    uint64_t seed, limit;
    uint32_t lds, threads;
    unsigned checks;
    bool precise_mfma, trace;
};

static int take_dims(void *field, const char *text, char *err, size_t err_size)
{
    uint32_t *dims = field;
    char copy[128], *save = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    dims[0] = dims[1] = dims[2] = 1;
    int n = 0;
    for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        int64_t number;
        if (n == 3) {
            snprintf(err, err_size, "at most three numbers");
            return -1;
        }
        if (cli_number(p, 1, UINT32_MAX, &number, err, err_size) != 0)
            return -1;
        dims[n++] = (uint32_t)number;
    }
    return 0;
}

static int take_arg(void *field, const char *text, char *err, size_t err_size)
{
    struct emu_args *args = field;
    if (args->n == MAX_ARGS) {
        snprintf(err, err_size, "at most %d arguments", MAX_ARGS);
        return -1;
    }
    args->text[args->n++] = text;
    return 0;
}

static int take_checks(void *field, const char *text, char *err, size_t err_size)
{
    return emu_checks_parse(text, field, err, err_size);
}

static int take_mfma(void *field, const char *text, char *err, size_t err_size)
{
    return emu_mfma_parse(text, field, err, err_size);
}

#define FIELD(member) CLI_FIELD(struct emu_options, member)
#define FIELD_BY(member, function) CLI_FIELD_BY(struct emu_options, member, function)
static const struct cli_option options[] = {
    {NULL, 0, "FILE.co", NULL, FIELD(file), .needed = "the code object to run"},
    {"kernel", 0, "NAME", "the kernel (default: the only one of the file)", FIELD(kernel)},
    {"grid", 0, "X[,Y[,Z]]", "work-items of the launch", FIELD_BY(grid, take_dims),
     .needed = "the work-items of the launch"},
    {"block", 0, "X[,Y[,Z]]", "work-items of a workgroup", FIELD_BY(block, take_dims),
     .needed = "the work-items of a workgroup"},
    {"arg", 0, "KIND=VALUE", "the next argument (below)", FIELD_BY(args, take_arg)},
    {"arch", 0, "NAME", "device: gfx950 or gfx942 (default: the code object's)", FIELD(arch)},
    {"seed", 0, "N", "seed of the schedule (0)", FIELD(seed), .most = INT64_MAX},
    {"lds", 0, "BYTES", "dynamic LDS, beside the kernel's own (0)", FIELD(lds), .most = 160 * 1024},
    {"threads", 0, "N", "host threads (0: all cores)", FIELD(threads), .most = 256},
    {"checks", 0, "LIST",
     "all, none, or of waits,hazards,undefined,bounds,races,caches; -NAME: all but it (all)", FIELD_BY(checks, take_checks)},
    {"mfma", 0, "model|precise",
     "sums of matrix instructions: as hardware is modelled to round, or in f64 (model)", FIELD_BY(precise_mfma, take_mfma)},
    {"limit", 0, "N", "stop after so many wave instructions (0: never)", FIELD(limit),
     .most = INT64_MAX},
    {"trace", 0, NULL, "print every executed instruction", FIELD(trace)},
};

/* ---- arguments: KIND=VALUE -> the bytes of the kernarg segment, and buffers */

struct emu_buffer {
    void *dev;
    size_t size;
    char *out; /* file it is written to after the run; NULL: none */
};

struct emu_run {
    const struct emu_options *o;
    struct rt_code code;
    void *bytes;
    struct emu_device *device;
    struct emu_object *object;
    struct emu_buffer buffers[MAX_ARGS];
    int n_buffers;
    uint8_t *kernarg;
    char *err;
    size_t err_size;
};

static int bad_arg(struct emu_run *r, const char *text, const char *why)
{
    snprintf(r->err, r->err_size, "--arg %s: %s", text, why);
    return -1;
}

static int scalar(const char *kind, const char *text, uint8_t out[8], size_t *size)
{
    char *end;
    errno = 0;
    if (strcmp(kind, "f32") == 0) {
        float f = strtof(text, &end);
        memcpy(out, &f, *size = sizeof f);
    } else if (strcmp(kind, "f64") == 0) {
        double d = strtod(text, &end);
        memcpy(out, &d, *size = sizeof d);
    } else {
        static const struct {
            const char *name;
            size_t size;
        } ints[] = {
            {"i8",  1},
            {"i16", 2},
            {"i32", 4},
            {"i64", 8}
        };
        size_t i = 0;
        while (i < 4 && strcmp(ints[i].name, kind) != 0)
            i++;
        if (i == 4)
            return -1;
        uint64_t v = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
        memcpy(out, &v, *size = ints[i].size);
    }
    return *end || end == text || errno ? 1 : 0;
}

/* in=FILE  inout=FILE,OUT  out=SIZE,OUT  zero=SIZE */
static int buffer_arg(struct emu_run *r, const char *text, const char *kind, char *value,
                      void **dev)
{
    bool in = strncmp(kind, "in", 2) == 0, zero = strcmp(kind, "zero") == 0;
    char *out = strcmp(kind, "in") == 0 || zero ? NULL : strrchr(value, ',');
    void *bytes = NULL;
    size_t size = 0;
    if (!zero && strcmp(kind, "in") != 0) {
        if (!out)
            return bad_arg(r, text, "the file for the result is missing: ...,FILE");
        *out++ = '\0';
    }
    if (in) {
        struct cogen_rt_error e;
        if (rt_read_file(value, &bytes, &size, &e) != COGEN_RT_OK)
            return bad_arg(r, text, e.text);
    } else {
        char *end;
        size = strtoull(value, &end, 0);
        if (*end || end == value || size == 0)
            return bad_arg(r, text, "a size in bytes is missing");
    }
    *dev = emu_mem_alloc(r->device, size ? size : 1, 4096, zero);
    if (!*dev) {
        free(bytes);
        return bad_arg(r, text, "out of memory");
    }
    if (in)
        emu_mem_copy(r->device, *dev, bytes, size);
    free(bytes);
    r->buffers[r->n_buffers++] = (struct emu_buffer){*dev, size, out ? strdup(out) : NULL};
    return 0;
}

static int put_arg(struct emu_run *r, const char *text, const struct rt_code_arg *arg)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", text);
    char *value = strchr(copy, '=');
    if (!value)
        return bad_arg(r, text, "not KIND=VALUE");
    *value++ = '\0';
    uint8_t bytes[8] = {0};
    size_t size = 8;
    if (strcmp(copy, "in") == 0 || strcmp(copy, "inout") == 0 || strcmp(copy, "out") == 0 ||
        strcmp(copy, "zero") == 0) {
        void *dev;
        if (buffer_arg(r, text, copy, value, &dev) != 0)
            return -1;
        memcpy(bytes, (void *)&dev, sizeof dev);
    } else {
        int bad = scalar(copy, value, bytes, &size);
        if (bad)
            return bad_arg(r, text,
                           bad < 0 ? "kinds are in, inout, out, zero, i8, i16, i32, i64, f32, f64"
                                   : "not a number");
    }
    if (size != arg->size) {
        snprintf(r->err, r->err_size, "--arg %s: %zu bytes, argument %s takes %u", text, size,
                 arg->name, arg->size);
        return -1;
    }
    memcpy(r->kernarg + arg->offset, bytes, size);
    return 0;
}

/* What compilers' kernels expect behind their own arguments. */
static void put_hidden(struct emu_run *r, const struct rt_code_arg *a)
{
    const struct emu_options *o = r->o;
    for (int i = 0; i < 3; i++) {
        char axis = (char)('x' + i);
        const struct {
            const char *kind;
            uint32_t value;
        } rows[] = {
            {"hidden_block_count_", o->grid[i] / o->block[i]},
            {"hidden_group_size_",  o->block[i]             },
            {"hidden_remainder_",   o->grid[i] % o->block[i]}
        };
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            size_t n = strlen(rows[j].kind);
            if (strncmp(a->value_kind, rows[j].kind, n) == 0 && a->value_kind[n] == axis)
                memcpy(r->kernarg + a->offset, &rows[j].value, a->size < 4 ? a->size : 4);
        }
    }
    if (strcmp(a->value_kind, "hidden_grid_dims") == 0) {
        uint32_t dims = o->grid[2] > 1 ? 3 : o->grid[1] > 1 ? 2 : 1;
        memcpy(r->kernarg + a->offset, &dims, a->size < 4 ? a->size : 4);
    }
}

static int put_args(struct emu_run *r)
{
    const struct rt_code *c = &r->code;
    int used = 0, explicit = 0;
    for (uint32_t i = 0; i < c->arg_count; i++)
        explicit += strncmp(c->args[i].value_kind, "hidden_", 7) != 0;
    if (explicit != r->o->args.n) {
        snprintf(r->err, r->err_size, "%s takes %d arguments, given are %d", c->kernel, explicit,
                 r->o->args.n);
        return -1;
    }
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct rt_code_arg *a = &c->args[i];
        if (a->offset > c->kernarg_bytes || a->size > c->kernarg_bytes - a->offset) {
            snprintf(r->err, r->err_size, "%s: argument %s lies outside the argument block",
                     c->kernel, a->name);
            return -1;
        }
        if (strncmp(a->value_kind, "hidden_", 7) == 0)
            put_hidden(r, a);
        else if (put_arg(r, r->o->args.text[used++], a) != 0)
            return -1;
    }
    return 0;
}

/* The AQL packet of the launch, for kernels that ask for it. */
static void *make_packet(struct emu_run *r, const struct emu_dispatch *d)
{
    struct aql {
        uint16_t header, setup, group[3], zero;
        uint32_t grid[3], private_bytes, lds_bytes;
        uint64_t kernel;
        const void *kernarg;
        uint64_t rest[2];
    } *p = emu_mem_alloc(r->device, sizeof *p, 64, true);
    if (!p)
        return NULL;
    *p = (struct aql){.header = 2, /* kernel dispatch */
                      .setup = 3,  /* dimensions */
                      .private_bytes = d->private_bytes,
                      .lds_bytes = d->lds_bytes,
                      .kernel = d->kernel,
                      .kernarg = d->kernarg};
    for (int i = 0; i < 3; i++) {
        p->group[i] = (uint16_t)d->group[i];
        p->grid[i] = d->grid[i];
    }
    return p;
}

static int run(struct emu_run *r)
{
    const struct emu_options *o = r->o;
    struct cogen_rt_error e;
    size_t size;
    if (rt_read_file(o->file, &r->bytes, &size, &e) != COGEN_RT_OK ||
        rt_code_read(o->file, r->bytes, size, o->kernel, &r->code, &e) != COGEN_RT_OK) {
        snprintf(r->err, r->err_size, "%s", e.text);
        return -1;
    }
    struct emu_config config = {.arch = o->arch ? o->arch : r->code.target,
                                .threads = o->threads,
                                .seed = o->seed,
                                .max_insts = o->limit,
                                .checks = o->checks,
                                .precise_mfma = o->precise_mfma,
                                .trace = o->trace ? stdout : NULL};
    if (emu_device_open(&config, &r->device, r->err, r->err_size) != 0 ||
        emu_object_load(r->device, r->bytes, size, &r->object, r->err, r->err_size) != 0)
        return -1;
    const struct emu_kernel *k = emu_object_find(r->object, r->code.kernel);
    if (!k) {
        snprintf(r->err, r->err_size, "%s: the emulator finds no kernel %s in it", o->file,
                 r->code.kernel);
        return -1;
    }
    r->kernarg =
        emu_mem_alloc(r->device, r->code.kernarg_bytes ? r->code.kernarg_bytes : 8, 4096, true);
    if (!r->kernarg) {
        snprintf(r->err, r->err_size, "out of memory");
        return -1;
    }
    if (put_args(r) != 0)
        return -1;
    struct emu_dispatch d = {.kernel = k->handle,
                             .lds_bytes = k->group_size + o->lds,
                             .private_bytes = k->private_size,
                             .kernarg = r->kernarg};
    memcpy(d.grid, o->grid, sizeof d.grid);
    memcpy(d.group, o->block, sizeof d.group);
    d.packet = make_packet(r, &d);
    struct emu_result result;
    enum emu_status status = emu_dispatch(r->device, &d, &result);
    for (size_t i = 0; i < result.report_count; i++)
        fprintf(stderr, "%s\n", result.reports[i].text);
    if (status != EMU_OK) {
        static const char *const names[] = {"ok", "fault", "deadlock", "instruction limit",
                                            "refused dispatch"};
        snprintf(r->err, r->err_size, "%s: %s after %" PRIu64 " wave instructions", r->code.kernel,
                 names[status], result.insts);
        return -1;
    }
    for (int i = 0; i < r->n_buffers; i++)
        if (r->buffers[i].out && cogen_file_write(r->buffers[i].out, r->buffers[i].dev,
                                                  r->buffers[i].size, r->err, r->err_size) != 0)
            return -1;
    printf("%s: %" PRIu64 " wave instructions, %" PRIu64 " MFMA multiply-adds\n", r->code.kernel,
           result.insts, result.mfma_macs);
    return 0;
}

static int emu_run(int argc, char **argv)
{
    struct emu_options o = {.checks = EMU_CHECK_ALL};
    const struct cli_table own = {CLI_ROWS(options), .into = &o};
    cli_parse(
        argc, argv,
        "Runs a kernel of a code object on the emulator, with every check on.\v"
        "Arguments, in the kernel's order: in=FILE (a buffer of the file's bytes), "
        "inout=FILE,RESULT (written to RESULT after the run), out=BYTES,RESULT (a buffer nobody "
        "has written), zero=BYTES, and i8=, i16=, i32=, i64=, f32=, f64= for values. Arguments "
        "that compilers add behind the kernel's own are filled in.",
        &own);
    char err[ERR_SIZE];
    struct emu_run r = {.o = &o, .err = err, .err_size = sizeof err};
    int bad = run(&r);
    if (r.object)
        emu_object_free(r.object);
    if (r.device)
        emu_device_close(r.device);
    for (int i = 0; i < r.n_buffers; i++)
        free(r.buffers[i].out);
    free(r.bytes);
    return bad ? cli_fail(argv[0], EXIT_FAILED, "%s", err) : EXIT_GOOD;
}

/* ---- coverage: what is implemented, and which of it a test has run */

/* Names in the file, one a line, appended to a text in which each stands between line ends. */
static int read_tested(const char *dir, char **text, size_t *size, char *err, size_t err_size)
{
    DIR *d = opendir(dir);
    if (!d) {
        snprintf(err, err_size, "%s: %s", dir, strerror(errno));
        return -1;
    }
    FILE *out = open_memstream(text, size);
    int status = out ? 0 : -1;
    for (struct dirent *e; out && (e = readdir(d));) {
        char path[4096];
        struct cogen_rt_error rt;
        void *bytes = NULL;
        size_t n;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (rt_read_file(path, &bytes, &n, &rt) != COGEN_RT_OK) {
            snprintf(err, err_size, "%s", rt.text);
            status = -1;
            break;
        }
        fprintf(out, "\n%.*s\n", (int)n, (const char *)bytes);
        free(bytes);
    }
    if (out && fclose(out) != 0)
        status = -1;
    closedir(d);
    return status;
}

static bool is_tested(const char *text, const char *name)
{
    char line[96];
    snprintf(line, sizeof line, "\n%s\n", name);
    return strstr(text, line) != NULL;
}

static int emu_coverage(const char *program, const char *dir)
{
    char err[ERR_SIZE] = "", name[64];
    char *text = NULL;
    size_t size = 0, untested = 0, total = 0;
    if (dir && read_tested(dir, &text, &size, err, sizeof err) != 0) {
        free(text);
        return cli_fail(program, EXIT_BAD_INPUT, "%s", err[0] ? err : "out of memory");
    }
    for (int f = 0; f < EMU_FAMILIES; f++)
        for (size_t i = 0; emu_implemented((enum emu_family)f, i, name, sizeof name); i++) {
            bool tested = text && is_tested(text, name);
            total++;
            untested += !tested;
            printf("%s %s%s\n", emu_family_name((enum emu_family)f), name,
                   !dir     ? ""
                   : tested ? " tested"
                            : " UNTESTED");
        }
    if (dir)
        printf("%zu instructions, %zu of them untested\n", total, untested);
    else
        printf("%zu instructions\n", total);
    free(text);
    return dir && untested ? EXIT_FAILED : EXIT_GOOD;
}

int cmd_emu(int argc, char **argv)
{
    static const char usage[] = "Usage: cogen emu run FILE.co --grid X --block X [OPTION...]\n"
                                "       cogen emu --coverage [DIR]\n"
                                "`cogen emu run --help` tells the options. --coverage lists the "
                                "instructions that are executed, and with the folder of lists that "
                                "the tests leave (isa-tested in a build) which of them are tested; "
                                "its exit status is 1 when some are not.\n";
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "run") == 0) {
        char name[] = "cogen emu run";
        argv[1] = name;
        return emu_run(argc - 1, argv + 1);
    }
    if (strcmp(what, "--coverage") == 0 && argc <= 3)
        return emu_coverage("cogen emu", argc > 2 ? argv[2] : NULL);
    bool help = strcmp(what, "--help") == 0;
    fputs(usage, help ? stdout : stderr);
    return help ? EXIT_GOOD : EXIT_BAD_INPUT;
}
