/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/mailbox.h"

#include "gen/plan.h"
#include "templates/common/wave.h"

enum { POLL_SLEEP = 1 }; /* of 64 clocks, between two looks at the flags */

void mailbox_load(Builder *b, Mailbox *mb)
{
    Val zero = mov_v(b, imm(0));
    note(b, "the epoch");
    mb->epoch = emit(b, global_load_dword, zero, arg(b, "epoch"), SC1);
}

void mailbox_tag(Builder *b, Mailbox *mb)
{
    mb->e = uniform(b, mb->epoch);
    int last = b->plan->key.kernel == COGEN_FRONT ? 1 : 2;
    note(b, "tag of this launch: 2 e + %d", last);
    mb->tag = emit(b, s_lshl1_add_u32, mb->e, imm(last));
}

Val scratch_at(Builder *b, const char *region)
{
    const struct plan_region *r = plan_scratch(b->plan, region);
    if (!r) {
        build_error(b, __FILE__, __LINE__, "the plan has no scratch region '%s'", region);
        return sreg(b, 2);
    }
    return addr_plus(b, arg(b, "scratch"), r->offset);
}

static void tagged(Builder *b, const Mailbox *mb, Val pair, Val value)
{
    emit_to(b, part(pair, 0, 1), v_mov_b32, value);
    emit_to(b, part(pair, 1, 1), v_mov_b32, mb->tag);
}

void pair_put(Builder *b, const Mailbox *mb, Val base, Val byte, Val value)
{
    Val pair = vreg(b, 2);
    tagged(b, mb, pair, value);
    emit_void(b, global_store_dwordx2, byte, pair, base, SC1);
}

void pair_put_two(Builder *b, const Mailbox *mb, Val base, Val byte, Val first, Val second)
{
    Val pairs = vreg(b, 4);
    tagged(b, mb, part(pairs, 0, 2), first);
    tagged(b, mb, part(pairs, 2, 2), second);
    emit_void(b, global_store_dwordx4, byte, pairs, base, SC1);
}

/* The loads of one look, and VCC = lanes that miss a tag. */
static void look(Builder *b, const Mailbox *mb, const PairLoad *loads, int count)
{
    for (int i = 0; i < count; i++) {
        const PairLoad *l = &loads[i];
        if (l->got.width == 2)
            emit_to(b, l->got, global_load_dwordx2, l->byte, l->base, off(l->offset), SC1);
        else
            emit_to(b, l->got, global_load_dwordx4, l->byte, l->base, off(l->offset), SC1);
    }
    Val missing = NONE;
    for (int i = 0; i < count; i++) {
        for (int k = 1; k < loads[i].got.width; k += 2) {
            Val differs = emit(b, v_xor_b32, mb->tag, part(loads[i].got, k, 1));
            missing = missing.kind == VAL_NONE ? differs : emit(b, v_or_b32, missing, differs);
        }
    }
    emit_to(b, VCC, v_cmp_ne_u32, imm(0), missing);
}

void poll_pairs(Builder *b, const Mailbox *mb, const PairLoad *loads, int count)
{
    Label done = label(b, "tagged");
    Label again = loop_begin(b, "poll");
    look(b, mb, loads, count);
    jump_if(b, IF_VCCZ, done);
    emit_void(b, s_sleep, imm(POLL_SLEEP));
    jump(b, again);
    place(b, done);
}

/* Lane l polls flag u0 + l, clamped to the last one. */
static void await_round(Builder *b, const Mailbox *mb, Val base, Val u, Val n, int step)
{
    Val clamped = is_sgpr(n) ? emit(b, v_min_u32, emit(b, s_sub_u32, n, imm(1)), u)
                             : min_const(b, u, n.imm - 1);
    PairLoad flag = {vreg(b, 2), base, mul_add(b, clamped, 8 * step, imm(0)), 0};
    poll_pairs(b, mb, &flag, 1);
}

static void await_constant(Builder *b, const Mailbox *mb, Val base, Val n, int step)
{
    for (int64_t u0 = 0; u0 < n.imm; u0 += 64)
        await_round(b, mb, base, plus(b, b->lane, u0), n, step);
}

static void await_runtime(Builder *b, const Mailbox *mb, Val base, Val n, int step)
{
    emit_void(b, s_cmp_gt_i32, n, imm(0));
    Uniform any = uniform_if(b, IF_SCC1);
    Val u0 = mov_s(b, imm(0));
    Label head = loop_begin(b, "flags");
    await_round(b, mb, base, emit(b, v_add_u32, u0, b->lane), n, step);
    emit_to(b, u0, s_add_u32, u0, imm(64));
    emit_void(b, s_cmp_lt_u32, u0, n);
    loop_end(b, IF_SCC1, head);
    uniform_end(b, &any);
}

void await_flags(Builder *b, const Mailbox *mb, const char *region, Val n, Val first, int step)
{
    note(b, "wave %d polls %s", WAVES - 1, region);
    emit_void(b, s_cmp_eq_u32, b->wave, imm(WAVES - 1));
    Uniform poller = uniform_if(b, IF_SCC1);
    Val base = addr_at(b, scratch_at(b, region), first, 8);
    if (is_sgpr(n))
        await_runtime(b, mb, base, n, step);
    else
        await_constant(b, mb, base, n, step);
    uniform_end(b, &poller);
    barrier(b);
}

void publish(Builder *b, const Mailbox *mb, const char *region, Val index)
{
    stores_done(b);
    barrier(b);
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    note(b, "flag of %s", region);
    Val base = addr_at(b, scratch_at(b, region), index, 8);
    pair_put(b, mb, base, mov_v(b, imm(0)), imm(1));
    lanes_end(b, &one);
}
