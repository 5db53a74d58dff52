/* SPDX-License-Identifier: Apache-2.0 */
/* Keys -> a folder of code objects with their manifest, on several threads. The bytes do not depend
 * on their number. */
#ifndef COGEN_MAKE_H
#define COGEN_MAKE_H

#include "gen/generate.h"
#include "gen/object.h"

#include <stdbool.h>
#include <stddef.h>

#define MAKE_MANIFEST "manifest.json"

struct make_options {
    const char *folder; /* exists */
    int jobs;           /* threads; 1 when less */
    bool assembly;      /* keep NAME.s beside NAME.co */
    bool progress;      /* show it, on a terminal */
    struct cogen_tools tools;
};

/* Generates every key into options->folder. When one fails, the files made so far are removed and
 * the line names the key. */
int make_library(const struct cogen_key *keys, size_t count, const struct make_options *options,
                 char *err, size_t err_size);

/* "arch=gfx950 model=v41-flash ..." : every option of the key. */
void make_key_text(const struct cogen_key *key, char *text, size_t size);

#endif
