/* SPDX-License-Identifier: Apache-2.0 */
/* Stages, comments, control flow, synchronisation, and what the plan names. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gen/build.h"
#include "gen/build_state.h"
#include "gen/plan.h"

/* ---- stages and comments */

void stage(Builder *b, const char *name)
{
    struct program *p = b->program;
    for (int i = 0; i < p->n_stages; i++) {
        if (strcmp(p->stages[i], name) == 0) {
            b->state->stage = i;
            return;
        }
    }
    char *copy = arena_printf(p->arena, "%s", name);
    if (!copy || !PROGRAM_GROW(p, p->stages, p->n_stages, p->cap_stages)) {
        build_error(b, HERE_(b), "out of memory");
        return;
    }
    p->stages[p->n_stages] = copy;
    b->state->stage = p->n_stages++;
}

static const char *format_text(Builder *b, const char *format, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    return arena_printf(b->program->arena, "%s", text);
}

void note(Builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    b->state->note = format_text(b, format, args);
    va_end(args);
}

void heading(Builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = format_text(b, format, args);
    va_end(args);
    const char *before = b->state->heading;
    b->state->heading = before ? arena_printf(b->program->arena, "%s\n%s", before, text) : text;
}

/* ---- labels and branches */

Label label(Builder *b, const char *hint)
{
    struct program *p = b->program;
    if (!PROGRAM_GROW(p, p->labels, p->n_labels, p->cap_labels)) {
        build_error(b, HERE_(b), "out of memory");
        return (Label){0};
    }
    p->labels[p->n_labels] = (struct label){arena_printf(p->arena, "%s", hint), -1};
    return (Label){p->n_labels++};
}

void place(Builder *b, Label l)
{
    if (!build_ok(b))
        return;
    struct program *p = b->program;
    struct build_state *s = b->state;
    if (p->labels[l.id].block >= 0) {
        build_error(b, HERE_(b), "label %s is placed twice", p->labels[l.id].hint);
        return;
    }
    if (s->ended || p->blocks[s->block].n)
        s->block = program_block(p, l.id);
    if (s->block < 0) {
        build_error(b, HERE_(b), "out of memory");
        return;
    }
    s->ended = false;
    if (p->blocks[s->block].label < 0)
        p->blocks[s->block].label = l.id;
    p->labels[l.id].block = s->block;
}

static Val label_val(Label l)
{
    return (Val){.kind = VAL_LABEL, .id = (uint32_t)l.id};
}

void jump(Builder *b, Label l)
{
    emit_void(b, s_branch, label_val(l));
}

static enum op branch_op(enum cond cond)
{
    static const uint16_t ops[] = {
        [IF_SCC1] = OP_s_cbranch_scc1,     [IF_SCC0] = OP_s_cbranch_scc0,
        [IF_VCCNZ] = OP_s_cbranch_vccnz,   [IF_VCCZ] = OP_s_cbranch_vccz,
        [IF_EXECNZ] = OP_s_cbranch_execnz, [IF_EXECZ] = OP_s_cbranch_execz,
    };
    return (enum op)ops[cond];
}

/* Conditions come in pairs, each next to its opposite. */
static enum cond opposite(enum cond cond)
{
    return (enum cond)(cond ^ 1);
}

void jump_if(Builder *b, enum cond cond, Label l)
{
    Val target = label_val(l);
    build_instr(b, branch_op(cond), NONE, false, &target, 1, HERE_(b));
}

/* ---- masked lanes */

static void enter_region(Builder *b, int parent)
{
    struct program *p = b->program;
    if (!PROGRAM_GROW(p, p->region_parent, p->n_regions, p->cap_regions) || p->n_regions > 65000) {
        build_error(b, HERE_(b), "too many lanes_if regions");
        return;
    }
    p->region_parent[p->n_regions] = parent;
    b->state->region = p->n_regions++;
}

Lanes lanes_if(Builder *b, Val mask, bool skip)
{
    Lanes l = {.mask = mask, .skip = skip};
    l.other = label(b, "lanes_other");
    l.end = label(b, "lanes_end");
    b->state->internal = true;
    l.saved = emit(b, s_and_saveexec_b64, mask);
    b->state->internal = false;
    b->state->depth++;
    enter_region(b, b->state->region);
    if (skip)
        jump_if(b, IF_EXECZ, l.other);
    return l;
}

static void leave_region(Builder *b, const char *what)
{
    struct build_state *s = b->state;
    if (build_ok(b) && s->region == 0)
        build_error(b, HERE_(b), "%s without lanes_if", what);
    if (build_ok(b))
        s->region = b->program->region_parent[s->region];
}

void lanes_else(Builder *b, Lanes *l)
{
    leave_region(b, "lanes_else");
    if (l->has_else)
        build_error(b, HERE_(b), "a second lanes_else");
    l->has_else = true;
    if (l->skip)
        place(b, l->other);
    b->state->internal = true;
    emit_to(b, EXEC, s_andn2_b64, l->saved, EXEC);
    b->state->internal = false;
    enter_region(b, b->state->region);
    if (l->skip)
        jump_if(b, IF_EXECZ, l->end);
}

void lanes_end(Builder *b, Lanes *l)
{
    leave_region(b, "lanes_end");
    b->state->depth--;
    if (l->skip)
        place(b, l->has_else ? l->end : l->other);
    b->state->internal = true;
    emit_to(b, EXEC, s_mov_b64, l->saved);
    b->state->internal = false;
}

/* ---- uniform branches and loops */

Uniform uniform_if(Builder *b, enum cond cond)
{
    Uniform u = {.other = label(b, "else"), .end = label(b, "endif")};
    b->state->depth++;
    jump_if(b, opposite(cond), u.other);
    return u;
}

void uniform_else(Builder *b, Uniform *u)
{
    if (u->has_else)
        build_error(b, HERE_(b), "a second uniform_else");
    u->has_else = true;
    jump(b, u->end);
    place(b, u->other);
}

void uniform_end(Builder *b, Uniform *u)
{
    b->state->depth--;
    place(b, u->has_else ? u->end : u->other);
}

Label loop_begin(Builder *b, const char *hint)
{
    Label head = label(b, hint);
    place(b, head);
    return head;
}

void loop_end(Builder *b, enum cond cond, Label head)
{
    jump_if(b, cond, head);
}

/* ---- synchronisation */

void barrier(Builder *b)
{
    if (b->state->region)
        build_error(b, HERE_(b), "a barrier inside lanes_if: some waves may skip it");
    emit_void(b, s_barrier, );
}

void stores_done(Builder *b)
{
    b->state->internal = true;
    emit_void(b, stores_done, );
    b->state->internal = false;
}

void kernel_end(Builder *b)
{
    emit_void(b, s_endpgm, );
}

/* ---- the plan's names */

int lds_at(Builder *b, const char *region)
{
    const struct plan_region *r = b->plan ? plan_lds(b->plan, region) : NULL;
    if (!r) {
        build_error(b, HERE_(b), "the plan has no LDS region '%s'", region);
        return 0;
    }
    return (int)r->offset;
}

void args_load(Builder *b)
{
    static const struct {
        int dwords;
        uint16_t op;
    } loads[] = {
        {16, OP_s_load_dwordx16},
        {8,  OP_s_load_dwordx8 },
        {4,  OP_s_load_dwordx4 },
        {2,  OP_s_load_dwordx2 },
        {1,  OP_s_load_dword   }
    };
    int n = b->plan ? (b->plan->kernarg_size + 3) / 4 : 0;
    if (n > BUILD_MAX_KERNARG) {
        build_error(b, HERE_(b), "%d dwords of arguments, at most %d", n, BUILD_MAX_KERNARG);
        return;
    }
    for (int at = 0, k = 0; at < n && build_ok(b); k += n - at < loads[k].dwords) {
        if (n - at < loads[k].dwords)
            continue;
        Val operands[] = {b->kernarg, imm(at * 4)};
        Val tuple = build_instr(b, (enum op)loads[k].op, NONE, true, operands, 2, HERE_(b));
        for (int i = 0; i < loads[k].dwords; i++)
            b->state->kernarg[at + i] = part(tuple, i, 1);
        at += loads[k].dwords;
    }
}

Val arg(Builder *b, const char *name)
{
    const struct plan_arg *a = b->plan ? plan_find_arg(b->plan, name) : NULL;
    if (!a) {
        build_error(b, HERE_(b), "the plan has no argument '%s'", name);
        return (Val){.kind = VAL_S, .width = 2};
    }
    Val v = b->state->kernarg[a->offset / 4];
    if (v.kind == VAL_NONE) {
        build_error(b, HERE_(b), "argument '%s' is used before args_load", name);
        v.kind = VAL_S;
    }
    v.width = (uint8_t)(a->size / 4);
    return v;
}
