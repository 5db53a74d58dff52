/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/generate.h"

#include <stdio.h>
#include <stdlib.h>

#include "gen/pass.h"
#include "gen/print.h"
#include "templates/kernels.h"

static int fail(const char *what, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s", what);
    return -1;
}

static struct program *build(const struct plan *plan, const struct cogen_hooks *hooks, char *err,
                             size_t err_size)
{
    static void (*const templates[])(Builder *) = {[COGEN_FRONT] = front_template,
                                                   [COGEN_BACK] = back_template};
    Builder *b = build_begin(plan);
    if (!b) {
        fail("out of memory", err, err_size);
        return NULL;
    }
    b->hooks = hooks;
    templates[plan->key.kernel](b);
    return build_end(b, err, err_size);
}

static int finish(struct cogen_code *out, char *err, size_t err_size)
{
    struct program *p = out->program;
    out->stages = calloc((size_t)p->n_stages + 1, sizeof *out->stages);
    if (!out->stages)
        return fail("out of memory", err, err_size);
    program_stats(p, out->stages);
    out->n_stages = p->n_stages;
    out->vgprs = p->vgprs;
    out->sgprs = p->sgprs;
    out->peak_vgprs = p->peak_vgprs;
    out->peak_sgprs = p->peak_sgprs;
    out->lds_bytes = out->plan.lds_bytes;
    out->text = program_print(p, err, err_size);
    return out->text ? 0 : -1;
}

int cogen_generate(const struct cogen_key *key, const struct cogen_hooks *hooks,
                   struct cogen_code *out, char *err, size_t err_size)
{
    *out = (struct cogen_code){0};
    if (plan_make(key, &out->plan, err, err_size))
        return -1;
    out->program = build(&out->plan, hooks, err, err_size);
    if (out->program && program_passes(out->program, err, err_size) == 0 &&
        finish(out, err, err_size) == 0)
        return 0;
    cogen_code_free(out);
    return -1;
}

void cogen_code_free(struct cogen_code *code)
{
    program_free(code->program);
    free(code->stages);
    free(code->text);
    *code = (struct cogen_code){0};
}
