/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings as text for a person: where, what, the other instruction involved.
 */
#include "wave.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t report_pc(const struct object *obj, uint32_t pc)
{
    return pc >= obj->text_offset ? (uint32_t)(pc - obj->text_offset) : pc;
}

static const char *kind_name(enum emu_check kind)
{
    switch (kind) {
    case EMU_CHECK_WAITS:
        return "wait";
    case EMU_CHECK_HAZARDS:
        return "hazard";
    case EMU_CHECK_UNDEFINED:
        return "undefined value";
    case EMU_CHECK_BOUNDS:
        return "bounds";
    case EMU_CHECK_RACES:
        return "race";
    case EMU_CHECK_CACHES:
        return "cache";
    default:
        return "fault";
    }
}

void fault(struct wave *w, const struct inst *in, enum emu_check kind, const char *what, int lane,
           const struct inst *other, const char *fmt, ...)
{
    struct xcd *x = w->xcd;
    w->state = WAVE_FAULT;
    if (x->stop)
        return;
    x->stop = true;
    char body[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(body, sizeof(body), fmt, args);
    va_end(args);
    const struct object *obj = x->launch->obj;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        fprintf(f, "%s (%s): %s\n", what, kind_name(kind), body);
        fprintf(f, "  at 0x%x: %s\n", report_pc(obj, in->pc), in->text);
        if (other && other != in)
            fprintf(f, "  with 0x%x: %s\n", report_pc(obj, other->pc), other->text);
        fprintf(f, "  kernel %s, workgroup %u (%u, %u, %u), wave %u", x->launch->k->pub.name,
                w->group->index, w->group->id[0], w->group->id[1], w->group->id[2], w->id);
        if (lane >= 0)
            fprintf(f, ", lane %d", lane);
        fprintf(f, ", XCD %u\n", x->index);
        fclose(f);
    }
    x->fault = (struct fault){.kind = kind,
                              .status = EMU_FAULT,
                              .what = what,
                              .text = text,
                              .pc = report_pc(obj, in->pc),
                              .group = w->group->index,
                              .wave = w->id,
                              .lane = lane >= 0 ? (uint32_t)lane : 0};
}

void launch_fault(struct launch *l, enum emu_check kind, enum emu_status status, const char *what,
                  char *text)
{
    if (l->fault.text || l->fault.what) {
        free(text);
        return;
    }
    l->fault = (struct fault){.kind = kind, .status = status, .what = what, .text = text};
    l->done = true;
}
