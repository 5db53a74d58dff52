/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/tiles.h"

#include <string.h>

#include "templates/common/wave.h"

Val first_unit(Builder *b, const struct place *place)
{
    if (place->base % WORKGROUPS == 0)
        return b->wg;
    Val from_base = emit(b, s_sub_u32, b->wg, imm(place->base % WORKGROUPS));
    return emit(b, s_and_b32, from_base, imm(WORKGROUPS - 1));
}

bool units_test(Builder *b, const struct place *place, Val first)
{
    int most = place->span < place->count ? place->span : place->count;
    if (most >= WORKGROUPS)
        return false;
    emit_void(b, s_cmp_lt_u32, first, imm(most));
    return true;
}

Units units_begin(Builder *b, const struct place *place, const char *hint)
{
    Units u = {.span = place->span, .count = place->count};
    Val first = first_unit(b, place);
    u.loops = place->count > place->span;
    u.unit = u.loops ? mov_s(b, first) : first;
    u.guarded = units_test(b, place, first);
    if (u.guarded)
        u.guard = uniform_if(b, IF_SCC1);
    if (u.loops)
        u.head = loop_begin(b, hint);
    return u;
}

void units_end(Builder *b, Units *u)
{
    if (u->loops) {
        emit_to(b, u->unit, s_add_u32, u->unit, imm(u->span));
        emit_void(b, s_cmp_lt_u32, u->unit, imm(u->count));
        loop_end(b, IF_SCC1, u->head);
    }
    if (u->guarded)
        uniform_end(b, &u->guard);
}

static int stamp_index(Builder *b, const char *name)
{
    const char *const *names = plan_stamps(b->plan->key.kernel);
    for (int i = 0; i < STAMPS; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    build_error(b, __FILE__, __LINE__, "the plan has no stamp '%s'", name);
    return 0;
}

void stamp(Builder *b, const char *name)
{
    if (!b->plan->key.timeline)
        return;
    int index = stamp_index(b, name);
    Lanes one = lanes_if(b, emit(b, v_cmp_eq_u32, imm(0), b->tid), true);
    note(b, "stamp %d: %s", index, name);
    Val now = emit(b, s_memrealtime, );
    Val row = addr_at(b, arg(b, "tl"), b->wg, STAMPS * 8);
    emit_void(b, global_store_dwordx2, mov_v(b, imm(0)), mov_v(b, now), row, off(index * 8));
    lanes_end(b, &one);
}
