/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cogen inspect: what a kernel is made of. Of a key: the kernel is generated and assembled. Of a
 * manifest: its code object is read, and the instruction counts are shown where this build
 * generates the very same bytes from the manifest's key.
 */
#include "gen/generate.h"
#include "gen/isa.h"
#include "gen/manifest.h"
#include "gen/object.h"
#include "runtime/code.h"
#include "runtime/kernel.h"
#include "tools/cogen/cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inspect_options {
    struct cli_keys keys;
    const char *manifest, *file;
    bool json;
};

#define FIELD(member) CLI_FIELD(struct inspect_options, member)
static const struct cli_option options[] = {
    {NULL,       0, "FILE.co", NULL,                                                        FIELD(file)},
    {"json",     0, NULL,      "print JSON instead of text",                                FIELD(json)},
    {"manifest", 0, "FILE",    "inspect a kernel of it: the one that the key options name",
     FIELD(manifest)                                                                                   },
};

/* What is shown. */
struct inspection {
    struct rt_code object;
    size_t file_bytes;
    uint64_t digest;
    bool has_code; /* generated here, the same bytes */
    struct cogen_code code;
    const char *why_no_code;
    const struct cogen_rt_entry *entry; /* of the manifest; NULL: none */
};

static int read_object(const char *path, struct inspection *in, char *err, size_t err_size)
{
    struct cogen_rt_error e;
    void *bytes;
    enum cogen_rt_status st = rt_read_file(path, &bytes, &in->file_bytes, &e);
    if (st == COGEN_RT_OK) {
        in->digest = cogen_digest(bytes, in->file_bytes);
        st = rt_code_read(path, bytes, in->file_bytes, NULL, &in->object, &e);
        free(bytes);
    }
    if (st != COGEN_RT_OK)
        snprintf(err, err_size, "%s", e.text);
    return st == COGEN_RT_OK ? 0 : -1;
}

/* Generates and assembles the key into a folder that goes away again. */
static int build_key(const struct cogen_key *key, struct inspection *in, char *err, size_t err_size)
{
    char folder[4096];
    if (cogen_generate(key, NULL, &in->code, err, err_size) != 0)
        return -1;
    in->has_code = true;
    if (cli_temp_folder(folder, sizeof folder, err, err_size) != 0)
        return -1;
    char *path = cli_join(folder, "kernel.co");
    int bad = -1;
    if (!path)
        snprintf(err, err_size, "out of memory");
    else
        bad = cogen_object_write(in->code.text, key->arch, path, NULL, err, err_size) ||
              read_object(path, in, err, err_size);
    free(path);
    cli_temp_remove(folder);
    return bad ? -1 : 0;
}

static int key_of_entry(const struct cogen_rt_entry *e, struct cogen_key *key, char *err,
                        size_t err_size)
{
    *key = cogen_key_empty();
    for (size_t i = 0; i < e->option_count; i++)
        if (cogen_key_set(key, e->options[i].name, e->options[i].value, err, err_size) != 0)
            return -1;
    return cogen_key_finish(key, err, err_size);
}

static int read_manifest(const struct inspect_options *o, struct cogen_rt_library **lib,
                         struct inspection *in, char *err, size_t err_size)
{
    struct cogen_rt_error e;
    char text[1024] = "", generated[ERR_SIZE];
    if (cogen_rt_library_load(o->manifest, lib, &e) != COGEN_RT_OK) {
        snprintf(err, err_size, "%s", e.text);
        return -1;
    }
    for (size_t i = 0; i < cogen_key_option_count; i++) {
        const char *name = cogen_key_options[i].name, *value = cli_keys_text(&o->keys, name);
        size_t n = strlen(text);
        if (value)
            snprintf(text + n, sizeof text - n, "%s%s=%s", n ? " " : "", name, value);
    }
    in->entry = cogen_rt_library_find(*lib, text, &e);
    if (!in->entry) {
        snprintf(err, err_size, "%s", e.text);
        return -1;
    }
    struct inspection *made = calloc(1, sizeof *made);
    char *folder = strdup(o->manifest), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    char *path = folder ? cli_join(slash ? folder : ".", in->entry->file) : NULL;
    int bad = !made || !path;
    if (bad)
        snprintf(err, err_size, "out of memory");
    else
        bad = read_object(path, in, err, err_size);
    if (!bad && (in->file_bytes != in->entry->file_bytes || in->digest != in->entry->file_digest)) {
        snprintf(err, err_size,
                 "%s: %zu bytes of digest %016" PRIx64 ", the manifest says %" PRIu64
                 " of %016" PRIx64,
                 path, in->file_bytes, in->digest, in->entry->file_bytes, in->entry->file_digest);
        bad = -1;
    }
    struct cogen_key key;
    if (!bad && key_of_entry(in->entry, &key, generated, sizeof generated) == 0 &&
        build_key(&key, made, generated, sizeof generated) == 0 && made->digest == in->digest) {
        in->code = made->code;
        in->has_code = true;
    } else if (!bad) {
        in->why_no_code = "this build generates other bytes for the key: no instruction counts";
        if (made->has_code)
            cogen_code_free(&made->code);
    }
    free(made);
    free(folder);
    free(path);
    return bad ? -1 : 0;
}

/* ---- text */

static int stage_total(const struct stage_stats *s)
{
    int n = 0;
    for (int c = 0; c < CLASS_COUNT; c++)
        n += s->by_class[c];
    return n;
}

static void print_counts(const struct cogen_code *code)
{
    printf("\ninstructions by stage and class\n%-12s %6s", "stage", "all");
    for (int c = 0; c < CLASS_COUNT; c++)
        printf(" %6s", op_class_names[c]);
    printf(" %6s %6s\n", "waits", "nops");
    struct stage_stats sum = {.name = "all"};
    for (int i = 0; i <= code->n_stages; i++) {
        const struct stage_stats *s = i < code->n_stages ? &code->stages[i] : &sum;
        printf("%-12s %6d", s->name, stage_total(s));
        for (int c = 0; c < CLASS_COUNT; c++) {
            printf(" %6d", s->by_class[c]);
            sum.by_class[c] += i < code->n_stages ? s->by_class[c] : 0;
        }
        printf(" %6d %6d\n", s->waits, s->nops);
        sum.waits += s->waits;
        sum.nops += s->nops;
    }
}

static void print_plan(const struct plan *p)
{
    printf("\nLDS map\n");
    for (int i = 0; i < p->n_lds; i++)
        printf("  %8" PRId64 " + %8" PRId64 "  %s\n", p->lds[i].offset, p->lds[i].size,
               p->lds[i].name);
    printf("\nscratch map, %" PRId64 " bytes\n", p->scratch_bytes);
    for (int i = 0; i < p->n_scratch; i++)
        printf("  %8" PRId64 " + %8" PRId64 "  %s\n", p->scratch[i].offset, p->scratch[i].size,
               p->scratch[i].name);
}

static void print_text(const struct inspection *in)
{
    const struct rt_code *c = &in->object;
    printf("%s\n", c->kernel);
    printf("target        %s\n", c->target);
    printf("code          %" PRIu64 " bytes, file %zu bytes, digest %016" PRIx64 "\n",
           c->code_bytes, in->file_bytes, in->digest);
    printf("registers     %u VGPRs (%u of them AGPRs), %u SGPRs as allocated", c->meta_vgprs,
           c->meta_agprs, c->meta_sgprs);
    if (in->has_code)
        printf("; used %d, %d; most alive %d, %d", in->code.vgprs, in->code.sgprs,
               in->code.peak_vgprs, in->code.peak_sgprs);
    printf("\nLDS           %u bytes\nprivate       %u bytes a work-item\nwavefront     %u\n",
           c->group_bytes, c->private_bytes, c->wavefront);
    printf("arguments     %u in %u bytes", c->arg_count, c->kernarg_bytes);
    if (c->has_digest)
        printf(", layout digest %016" PRIx64, c->args_digest);
    printf("\n");
    for (uint32_t i = 0; i < c->arg_count; i++)
        printf("  %4u + %u  %-14s %s\n", c->args[i].offset, c->args[i].size, c->args[i].name,
               c->args[i].value_kind);
    if (in->why_no_code)
        printf("\n%s\n", in->why_no_code);
    if (in->has_code) {
        print_plan(&in->code.plan);
        print_counts(&in->code);
    }
}

/* ---- JSON */

static json_t *regions_json(const struct plan_region *r, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:I}", "name", r[i].name, "offset",
                                        (json_int_t)r[i].offset, "size", (json_int_t)r[i].size));
    return list;
}

static json_t *stages_json(const struct cogen_code *code)
{
    json_t *list = json_array();
    for (int i = 0; i < code->n_stages; i++) {
        const struct stage_stats *s = &code->stages[i];
        json_t *classes = json_object();
        for (int c = 0; c < CLASS_COUNT; c++)
            json_object_set_new(classes, op_class_names[c], json_integer(s->by_class[c]));
        json_array_append_new(list, json_pack("{s:s, s:i, s:o, s:i, s:i}", "stage", s->name,
                                              "instructions", stage_total(s), "classes", classes,
                                              "waits", s->waits, "nops", s->nops));
    }
    return list;
}

static void print_json(const struct inspection *in)
{
    const struct rt_code *c = &in->object;
    char digest[17], layout[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, in->digest);
    snprintf(layout, sizeof layout, "%016" PRIx64, c->args_digest);
    json_t *args = json_array();
    for (uint32_t i = 0; i < c->arg_count; i++)
        json_array_append_new(args, json_pack("{s:s, s:i, s:i, s:s}", "name", c->args[i].name,
                                              "offset", (int)c->args[i].offset, "size",
                                              (int)c->args[i].size, "kind", c->args[i].value_kind));
    json_t *o = json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:o}", "name", c->kernel,
        "target", c->target, "code_bytes", (json_int_t)c->code_bytes, "file_bytes",
        (json_int_t)in->file_bytes, "file_digest", digest, "vgprs", (int)c->meta_vgprs, "agprs",
        (int)c->meta_agprs, "sgprs", (int)c->meta_sgprs, "lds_bytes", (int)c->group_bytes,
        "private_bytes", (int)c->private_bytes, "wavefront", (int)c->wavefront, "kernarg_bytes",
        (int)c->kernarg_bytes, "args_digest", layout, "args", args);
    if (in->has_code) {
        const struct cogen_code *g = &in->code;
        json_object_set_new(o, "vgprs_used", json_integer(g->vgprs));
        json_object_set_new(o, "sgprs_used", json_integer(g->sgprs));
        json_object_set_new(o, "vgprs_peak", json_integer(g->peak_vgprs));
        json_object_set_new(o, "sgprs_peak", json_integer(g->peak_sgprs));
        json_object_set_new(o, "lds", regions_json(g->plan.lds, g->plan.n_lds));
        json_object_set_new(o, "scratch", regions_json(g->plan.scratch, g->plan.n_scratch));
        json_object_set_new(o, "stages", stages_json(g));
    }
    json_dumpf(o, stdout, JSON_INDENT(1));
    printf("\n");
    json_decref(o);
}

int cmd_inspect(int argc, char **argv)
{
    struct inspect_options o = {0};
    cli_keys_init(&o.keys, "The key:", false);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.keys.table};
    cli_parse(argc, argv,
              "Shows what a kernel is made of: of a key, of a manifest's kernel, or of a code "
              "object alone (then without instruction counts).",
              &own);

    char err[ERR_SIZE];
    struct cogen_rt_library *lib = NULL;
    struct inspection *in = calloc(1, sizeof *in);
    struct cogen_key key;
    int status = EXIT_FAILED;
    if (!in)
        snprintf(err, sizeof err, "out of memory");
    else if (o.file && o.manifest)
        snprintf(err, sizeof err,
                 "%s: either a code object or --manifest, whose kernel the key options name",
                 o.file);
    else if (o.file)
        status = read_object(o.file, in, err, sizeof err) ? EXIT_FAILED : EXIT_GOOD;
    else if (o.manifest)
        status = read_manifest(&o, &lib, in, err, sizeof err) ? EXIT_FAILED : EXIT_GOOD;
    else if (cli_keys_one(&o.keys, &key, err, sizeof err) != 0)
        status = EXIT_BAD_INPUT;
    else
        status = build_key(&key, in, err, sizeof err) ? EXIT_FAILED : EXIT_GOOD;

    if (status == EXIT_GOOD)
        (o.json ? print_json : print_text)(in);
    if (in && in->has_code)
        cogen_code_free(&in->code);
    free(in);
    cogen_rt_library_free(lib);
    return status == EXIT_GOOD ? status : cli_fail(argv[0], status, "%s", err);
}
