/* SPDX-License-Identifier: Apache-2.0 */
/* K2 whole: key table (where this launch writes it), split, combine, wo_a, wo_b, epoch. */
#include "templates/back/back.h"

#include "templates/back/output.h"
#include "templates/common/kt.h"
#include "templates/common/tiles.h"
#include "templates/common/wave.h"
#include "templates/kernels.h"

void await_keys(Back *k, Val token)
{
    if (k->own_keys)
        await_flags(k->b, &k->mb, "ktrdy", imm(1), token, 1);
}

Val load_kv_len(Back *k, Val token)
{
    Builder *b = k->b;
    if (!k->own_keys)
        return load_i32(b, arg(b, "klen"), token);
    Val byte = mov_v(b, emit(b, s_lshl_b32, token, imm(2)));
    return emit(b, global_load_dword, byte, arg(b, "klen"), SC1);
}

/* wo_a and wo_b. The weights go out before anything is waited for, wo_b's too where the workgroups
 * of wo_a have no attention work: loads complete in order, and wo_a's rows would otherwise queue
 * behind them. */
void output_stages(Back *k)
{
    Builder *b = k->b;
    Output woa, wob;
    stage(b, "woa");
    woa_begin(k, &woa);
    wob_begin(k, &wob);
    woa_weights(&woa, 0);
    if (k->p->early_wob)
        wob_weights(&wob, 0);
    stamp(b, "weights");
    woa_stage(&woa);
    stamp(b, "woa");
    stage(b, "wob");
    if (!k->p->early_wob)
        wob_weights(&wob, 0);
    wob_stage(&wob);
    stamp(b, "wob");
}

void back_template(Builder *b)
{
    Back k = {.b = b, .p = b->plan, .own_keys = b->plan->key.keys == COGEN_KEYS_BACK};
    stage(b, "begin");
    args_load(b);
    mailbox_load(b, &k.mb);
    mailbox_tag(b, &k.mb);
    epoch_begin(&k);
    if (k.own_keys) {
        stage(b, "kt");
        kt_stage(b, &k.mb, true);
    }
    stamp(b, "begin");
    split_stage(&k);
    stamp(b, "split");
    combine_stage(&k);
    stamp(b, "combine");
    output_stages(&k);
    epoch_end(&k);
    kernel_end(b);
}
