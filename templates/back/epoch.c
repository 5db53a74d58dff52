/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch. Every workgroup marks that it has read the word (a word of its own: nothing is
 * contended), and workgroup 0 moves it on when all 256 marks are there. The next launch pair's
 * hand-offs then carry tags that no earlier pair wrote.
 */
#include "gen/hooks.h"
#include "templates/back/back.h"
#include "templates/common/wave.h"

void epoch_begin(Back *k)
{
    Builder *b = k->b;
    stage(b, "epoch");
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    Val byte = emit(b, v_mov_b32, emit(b, s_lshl_b32, b->wg, imm(2)));
    Val mark = emit(b, v_mov_b32, emit(b, s_add_i32, k->mb.e, imm(1)));
    emit_void(b, global_store_dword, byte, mark, arg(b, "epoch"), off(EPOCH_MARKS * 4), SC1);
    lanes_end(b, &one);
}

/* Work-item u polls workgroup u's mark until it is e + 1. */
static void await_marks(Back *k, Val next)
{
    Builder *b = k->b;
    Val byte = emit(b, v_lshlrev_b32, imm(2), b->tid);
    Lanes markers = lanes_if(b, tid_below(b, WORKGROUPS), true);
    Label again = loop_begin(b, "marks");
    Val mark = emit(b, global_load_dword, byte, arg(b, "epoch"), off(EPOCH_MARKS * 4), SC1);
    emit_void(b, s_sleep, imm(1));
    emit_to(b, VCC, v_cmp_ne_u32, next, mark);
    loop_end(b, IF_VCCNZ, again);
    lanes_end(b, &markers);
    barrier(b);
}

void epoch_end(Back *k)
{
    Builder *b = k->b;
    stage(b, "epoch");
    emit_void(b, s_cmp_eq_u32, b->wg, imm(0));
    Uniform first = uniform_if(b, IF_SCC1);
    Val next = emit(b, s_add_i32, k->mb.e, imm(1));
    await_marks(k, next);
    if (b->hooks && b->hooks->epoch_reset)
        b->hooks->epoch_reset(b, b->hooks->context);
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    emit_void(b, global_store_dword, fill_v(b, 1, 0), mov_v(b, next), arg(b, "epoch"), SC1);
    lanes_end(b, &one);
    uniform_end(b, &first);
}
