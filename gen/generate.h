/* SPDX-License-Identifier: Apache-2.0 */
/* Key -> assembly text, with what inspection shows of it. */
#ifndef GEN_GENERATE_H
#define GEN_GENERATE_H

#include "gen/hooks.h"
#include "gen/key.h"
#include "gen/plan.h"
#include "gen/program.h"

struct cogen_code {
    struct plan plan;
    char *text;                 /* the assembly file */
    int vgprs, sgprs;           /* used */
    int peak_vgprs, peak_sgprs; /* most alive at once */
    int lds_bytes;
    int n_stages;
    struct stage_stats *stages; /* in order of first use */
    struct program *program;    /* holds the names of the stages; after all passes */
};

/* The code of a finished key (cogen_key_finish). hooks: NULL, or the caller's additions, used
 * during the call alone. 0, and the caller frees with cogen_code_free; or -1 and one line. No state
 * is shared between calls: threads may call at once. */
int cogen_generate(const struct cogen_key *key, const struct cogen_hooks *hooks,
                   struct cogen_code *out, char *err, size_t err_size);
void cogen_code_free(struct cogen_code *code);

#endif
