/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/make.h"

#include "gen/manifest.h"
#include "tools/cogen/cli.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 256 };

struct make {
    const struct cogen_key *keys;
    const struct make_options *options;
    struct cogen_manifest_kernel *made;
    size_t count;
    pthread_mutex_t lock; /* of what follows */
    size_t next, done;
    size_t failed; /* the first key that failed, or count */
    char why[ERR_SIZE];
    struct cli_progress progress;
};

void make_key_text(const struct cogen_key *key, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < cogen_key_option_count && n < size; i++) {
        char value[128];
        const char *name = cogen_key_options[i].name;
        n += (size_t)snprintf(text + n, size - n, "%s%s=%s", i ? " " : "", name,
                              cogen_key_get(key, name, value, sizeof value));
    }
}

/* NAME.co -> NAME.s, in place. */
static void to_assembly(char *path)
{
    memcpy(path + strlen(path) - strlen(".co"), ".s", sizeof ".s");
}

static int make_one(const struct make *m, size_t i, char *err, size_t err_size)
{
    const struct make_options *o = m->options;
    struct cogen_code code;
    if (cogen_generate(&m->keys[i], NULL, &code, err, err_size) != 0)
        return -1;
    char file[COGEN_NAME_MAX + 8];
    snprintf(file, sizeof file, "%s.co", code.plan.name);
    char *path = cli_join(o->folder, file);
    int bad = !path;
    if (bad)
        snprintf(err, err_size, "out of memory");
    else
        bad = cogen_object_write(code.text, m->keys[i].arch, path, &o->tools, err, err_size) ||
              cogen_manifest_kernel(&m->made[i], &code, o->folder, file, err, err_size);
    if (!bad && o->assembly) {
        to_assembly(path);
        bad = cogen_file_write(path, code.text, strlen(code.text), err, err_size);
    }
    free(path);
    cogen_code_free(&code);
    return bad ? -1 : 0;
}

static void *worker(void *data)
{
    struct make *m = data;
    for (;;) {
        pthread_mutex_lock(&m->lock);
        size_t i = m->failed == m->count && m->next < m->count ? m->next++ : m->count;
        pthread_mutex_unlock(&m->lock);
        if (i == m->count)
            return NULL;
        char err[ERR_SIZE];
        int bad = make_one(m, i, err, sizeof err);
        pthread_mutex_lock(&m->lock);
        if (bad && i < m->failed) {
            m->failed = i;
            snprintf(m->why, sizeof m->why, "%s", err);
        }
        cli_progress_step(&m->progress, ++m->done, m->keys[i].model);
        pthread_mutex_unlock(&m->lock);
    }
}

/* The files of a run that did not end well. */
static void remove_made(const struct make *m)
{
    for (size_t i = 0; i < m->count; i++) {
        if (!m->made[i].file[0])
            continue;
        char *path = cli_join(m->options->folder, m->made[i].file);
        if (!path)
            continue;
        unlink(path);
        if (m->options->assembly) {
            to_assembly(path);
            unlink(path);
        }
        free(path);
    }
}

int make_library(const struct cogen_key *keys, size_t count, const struct make_options *options,
                 char *err, size_t err_size)
{
    struct make m = {.keys = keys,
                     .options = options,
                     .count = count,
                     .failed = count,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    m.made = calloc(count + 1, sizeof *m.made);
    if (!m.made) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    m.progress = cli_progress_begin("gen", count);
    m.progress.shown = m.progress.shown && options->progress;
    pthread_t threads[MAX_JOBS];
    int started = 0;
    while (started < options->jobs - 1 && started < MAX_JOBS && (size_t)started + 1 < count &&
           pthread_create(&threads[started], NULL, worker, &m) == 0)
        started++;
    worker(&m);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    cli_progress_end(&m.progress);

    int bad = m.failed < count;
    if (bad) {
        char name[COGEN_NAME_MAX];
        snprintf(err, err_size, "%s: %s", cogen_key_name(&keys[m.failed], name), m.why);
    } else {
        char *path = cli_join(options->folder, MAKE_MANIFEST);
        bad = !path || cogen_manifest_write(path, m.made, count, err, err_size) != 0;
        if (!path)
            snprintf(err, err_size, "out of memory");
        free(path);
    }
    if (bad)
        remove_made(&m);
    free(m.made);
    return bad ? -1 : 0;
}
