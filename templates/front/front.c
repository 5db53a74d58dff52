/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K1 whole: the order of everything. A wave's loads complete in issue order, so each workgroup
 * issues what is waited for first ahead of the rest: the epoch, its xq unit or its own rows of x,
 * the wqkv part's weights, the first tile's rows, and wq_b's weights behind the rows of the last
 * tile but one.
 */
#include "templates/front/front.h"

#include "gen/hooks.h"
#include "templates/common/kt.h"
#include "templates/common/tiles.h"
#include "templates/kernels.h"

static void run_hook(Builder *b, const char *name, void (*hook)(Builder *, void *))
{
    if (!hook)
        return;
    stage(b, name);
    hook(b, b->hooks->context);
}

void front_template(Builder *b)
{
    Front f = {.b = b, .p = b->plan};
    stage(b, "begin");
    args_load(b);
    mailbox_load(b, &f.mb);
    stamp(b, "begin");
    if (f.p->xq == XQ_UNITS) {
        stage(b, "xq");
        xq_stage(&f);
    }
    run_hook(b, "before_wqkv", b->hooks ? b->hooks->before_wqkv : NULL);
    stage(b, "loads");
    wqkv_loads(&f);
    run_hook(b, "after_wqkv", b->hooks ? b->hooks->after_wqkv : NULL);
    stage(b, "wqkv");
    mailbox_tag(b, &f.mb);
    stamp(b, "loads");
    wqb_begin(&f);
    wqkv_stage(&f);
    stamp(b, "wqkv");
    stage(b, "qkv");
    qkv_stage(&f);
    stamp(b, "qkv");
    if (f.p->key.keys == COGEN_KEYS_FRONT) {
        stage(b, "kt");
        kt_stage(b, &f.mb, false);
    }
    stage(b, "wqb");
    wqb_stage(&f);
    stamp(b, "wqb");
    kernel_end(b);
}
