/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cogen sweep: generates and assembles every key of a space (by default: of the three models'
 * default options) and prints registers, LDS and code size. Keys whose assembly differs in its name
 * alone are assembled once.
 */
#include "gen/generate.h"
#include "gen/object.h"
#include "runtime/code.h"
#include "runtime/kernel.h"
#include "tools/cogen/cli.h"
#include "tools/cogen/make.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sweep_options {
    struct cli_keys keys;
    int jobs;
    bool all;
};

#define FIELD(member) CLI_FIELD(struct sweep_options, member)
static const struct cli_option options[] = {
    {"jobs", 'j', "N", "threads (2)", FIELD(jobs), .least = 1, .most = 256},
    {"all", 0, NULL, "a line a key, not only the summary", FIELD(all)},
};

struct result {
    int vgprs, sgprs, lds_bytes;
    uint64_t digest;     /* of the assembly without its name */
    uint64_t code_bytes; /* 0: of the key `same_as` */
    size_t same_as;
    bool failed;
    char why[ERR_SIZE];
};

struct sweep {
    const struct cogen_key *keys;
    size_t count;
    struct result *results;
    char folder[4096];
    pthread_mutex_t lock; /* of next, done, progress and the digests seen */
    size_t next, done;
    struct cli_progress progress;
    size_t assembled;
};

/* The digest of a kernel's text where the kernel's name and the comment that tells its key stand
 * for nothing. */
static uint64_t text_digest(const char *text, const char *name)
{
    uint64_t h = 0xcbf29ce484222325ull;
    size_t n = strlen(name);
    for (const char *p = text; *p;) {
        if (strncmp(p, "; key:", 6) == 0) {
            p += strcspn(p, "\n");
        } else if (strncmp(p, name, n) == 0) {
            p += n;
        } else {
            h = (h ^ (unsigned char)*p++) * 0x100000001b3ull;
        }
    }
    return h;
}

static int code_size(const char *path, uint64_t *bytes_out, char *err, size_t err_size)
{
    struct cogen_rt_error e;
    struct rt_code *code = malloc(sizeof *code);
    void *bytes = NULL;
    size_t size;
    int bad = !code || rt_read_file(path, &bytes, &size, &e) != COGEN_RT_OK ||
              rt_code_read(path, bytes, size, NULL, code, &e) != COGEN_RT_OK;
    if (bad)
        snprintf(err, err_size, "%s", code ? e.text : "out of memory");
    else
        *bytes_out = code->code_bytes;
    free(bytes);
    free(code);
    return bad ? -1 : 0;
}

static void one_key(struct sweep *s, size_t i)
{
    struct result *r = &s->results[i];
    struct cogen_code code;
    if (cogen_generate(&s->keys[i], NULL, &code, r->why, sizeof r->why) != 0) {
        r->failed = true;
        return;
    }
    r->vgprs = code.vgprs;
    r->sgprs = code.sgprs;
    r->lds_bytes = code.lds_bytes;
    uint64_t digest = text_digest(code.text, code.plan.name);
    r->same_as = i;
    pthread_mutex_lock(&s->lock);
    for (size_t j = 0; j < s->count && r->same_as == i; j++)
        if (s->results[j].digest == digest)
            r->same_as = j;
    r->digest = digest;
    s->assembled += r->same_as == i;
    pthread_mutex_unlock(&s->lock);
    if (r->same_as == i) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%zu.co", s->folder, i);
        r->failed = cogen_object_write(code.text, s->keys[i].arch, path, NULL, r->why,
                                       sizeof r->why) != 0 ||
                    code_size(path, &r->code_bytes, r->why, sizeof r->why) != 0;
        unlink(path);
    }
    cogen_code_free(&code);
}

static void *worker(void *data)
{
    struct sweep *s = data;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        size_t i = s->next < s->count ? s->next++ : s->count;
        pthread_mutex_unlock(&s->lock);
        if (i == s->count)
            return NULL;
        one_key(s, i);
        pthread_mutex_lock(&s->lock);
        cli_progress_step(&s->progress, ++s->done, s->keys[i].model);
        pthread_mutex_unlock(&s->lock);
    }
}

static void run_workers(struct sweep *s, int jobs)
{
    pthread_t threads[256];
    int started = 0;
    while (started < jobs - 1 && pthread_create(&threads[started], NULL, worker, s) == 0)
        started++;
    worker(s);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the table: a row a (model, kernel, tp, ratio), least and most over its token counts */

struct range {
    uint64_t least, most;
};

static void widen(struct range *r, uint64_t v)
{
    r->least = r->most == 0 || v < r->least ? v : r->least;
    r->most = v > r->most ? v : r->most;
}

static bool one_row(const struct cogen_key *a, const struct cogen_key *b)
{
    return a->model == b->model && a->kernel == b->kernel && a->tp == b->tp && a->ratio == b->ratio;
}

static void print_table(const struct sweep *s, bool all)
{
    static const char *const kernels[] = {"front", "back"};
    printf("%-10s %-6s %3s %6s %9s %12s %12s %16s %18s\n", "model", "kernel", "tp", "ratio",
           "tokens", "VGPRs", "SGPRs", "LDS", "code bytes");
    for (size_t i = 0; i < s->count;) {
        struct range tokens = {0}, v = {0}, sg = {0}, lds = {0}, code = {0};
        const struct cogen_key *key = &s->keys[i];
        size_t first = i;
        for (; i < s->count && (all ? i == first : one_row(key, &s->keys[i])); i++) {
            const struct result *r = &s->results[i];
            if (r->failed)
                continue;
            widen(&tokens, (uint64_t)s->keys[i].tokens);
            widen(&v, (uint64_t)r->vgprs);
            widen(&sg, (uint64_t)r->sgprs);
            widen(&lds, (uint64_t)r->lds_bytes);
            widen(&code, s->results[r->same_as].code_bytes);
        }
        printf("%-10s %-6s %3d %6d %3llu .. %2llu %4llu .. %3llu %5llu .. %3llu %6llu .. %6llu "
               "%7llu .. %7llu\n",
               key->model, kernels[key->kernel], key->tp, key->ratio,
               (unsigned long long)tokens.least, (unsigned long long)tokens.most,
               (unsigned long long)v.least, (unsigned long long)v.most,
               (unsigned long long)sg.least, (unsigned long long)sg.most,
               (unsigned long long)lds.least, (unsigned long long)lds.most,
               (unsigned long long)code.least, (unsigned long long)code.most);
    }
}

/* Options that were not given take every value. kernel and tokens last: a row of the table is a run
 * of keys. */
static int list_keys(struct sweep_options *o, struct cogen_key **keys, size_t *count, char *err,
                     size_t err_size)
{
    static const char *const whole[] = {"model", "kernel", "tp", "ratio", "tokens"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (!cli_keys_text(&o->keys, whole[i]))
            cli_keys_set(&o->keys, whole[i], "all");
    return cli_keys_list(&o->keys, keys, count, err, err_size);
}

static int by_row(const void *a, const void *b)
{
    const struct cogen_key *x = a, *y = b;
    int d = strcmp(x->model, y->model);
    d = d ? d : (int)x->kernel - (int)y->kernel;
    d = d ? d : x->tp - y->tp;
    d = d ? d : x->ratio - y->ratio;
    return d ? d : x->tokens - y->tokens;
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep_options o = {.jobs = 2};
    cli_keys_init(&o.keys, "Only keys with (lists \"1,2,8..16\" and \"all\"):", false);
    const struct cli_table own = {CLI_ROWS(options), .into = &o, .next = &o.keys.table};
    cli_parse(argc, argv,
              "Generates and assembles every key of the models' default options and prints what "
              "each needs.",
              &own);

    char err[ERR_SIZE];
    struct cogen_key *keys;
    struct sweep s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct timespec start, end;
    if (list_keys(&o, &keys, &s.count, err, sizeof err) != 0)
        return cli_fail(argv[0], EXIT_BAD_INPUT, "%s", err);
    qsort(keys, s.count, sizeof *keys, by_row);
    s.keys = keys;
    s.results = calloc(s.count, sizeof *s.results);
    if (!s.results || cli_temp_folder(s.folder, sizeof s.folder, err, sizeof err) != 0) {
        free(keys);
        free(s.results);
        return cli_fail(argv[0], EXIT_FAILED, "%s", s.results ? err : "out of memory");
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    s.progress = cli_progress_begin("sweep", s.count);
    run_workers(&s, o.jobs);
    cli_progress_end(&s.progress);
    clock_gettime(CLOCK_MONOTONIC, &end);
    cli_temp_remove(s.folder);

    print_table(&s, o.all);
    size_t failed = 0;
    for (size_t i = 0; i < s.count; i++) {
        if (!s.results[i].failed)
            continue;
        char text[512];
        make_key_text(&keys[i], text, sizeof text);
        if (failed++ < 20)
            cli_fail(argv[0], EXIT_FAILED, "%s: %s", text, s.results[i].why);
    }
    printf("%zu keys, %zu different kernels assembled, %zu failed, %.1f s\n", s.count, s.assembled,
           failed,
           (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
    free(keys);
    free(s.results);
    return failed ? EXIT_FAILED : EXIT_GOOD;
}
