/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a run, as the commands run, verify and timeline share them: a key, a case of inputs, a
 * device. */
#ifndef COGEN_CASE_OPTIONS_H
#define COGEN_CASE_OPTIONS_H

#include "tests/ref/case.h"
#include "tools/cogen/cli.h"
#include "tools/cogen/step.h"

struct case_options {
    struct cli_keys keys;
    struct ref_params params; /* without what the key says */
    const char *device, *manifest, *mfma;
    uint64_t schedule_seed;
    uint64_t timeout_s;
    struct cli_table inputs, run_on; /* and, behind them, the key's */
};

/* Prepares o->inputs, for a command's tables. */
void case_options_init(struct case_options *o);

/* A step that is ready to run: keys, the case with its inputs, and the reference's key table. */
struct case_step {
    struct cogen_key front, back; /* of one layer */
    bool has_front, has_back;
    struct ref_case *c;
    int32_t *kt, *klen;
    struct step *step;
};

/* Fills *s from the options. 0, EXIT_BAD_INPUT or EXIT_FAILED with a line. case_step_close is due
 * in every case. */
int case_step_open(const struct case_options *o, struct case_step *s, char *err, size_t err_size);
void case_step_close(struct case_step *s);

#endif
