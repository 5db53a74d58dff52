/* SPDX-License-Identifier: Apache-2.0 */
#include "lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lint_flow.h"

/* ---- control flow */

static bool ends(const struct inst *in)
{
    return strcmp(in->mnemonic, "s_endpgm") == 0 || strcmp(in->mnemonic, "s_setpc_b64") == 0 ||
           strcmp(in->mnemonic, "s_trap") == 0;
}

static bool calls(const struct inst *in)
{
    return strcmp(in->mnemonic, "s_swappc_b64") == 0 || strcmp(in->mnemonic, "s_call_b64") == 0;
}

static uint32_t branch_target(const struct inst *in)
{
    return in->pc + in->bytes + (uint32_t)((int32_t)(int16_t)in->op[0].imm * 4);
}

/* Where an instruction may go next, as offsets in the image. */
static int successors(const struct inst *in, uint32_t to[2])
{
    if (ends(in))
        return 0;
    uint32_t next = in->pc + in->bytes;
    if (strcmp(in->mnemonic, "s_branch") == 0) {
        to[0] = branch_target(in);
        return 1;
    }
    to[0] = next;
    if (strncmp(in->mnemonic, "s_cbranch", 9) != 0)
        return 1;
    to[1] = branch_target(in);
    return to[1] == next ? 1 : 2;
}

/* Marks what can be reached: numbers[dword of the image] becomes 1. */
static int reach(struct object *obj, uint32_t entry, uint32_t *numbers)
{
    size_t cap = 64, n = 0;
    uint32_t *todo = malloc(cap * sizeof *todo);
    if (!todo)
        return -1;
    todo[n++] = entry;
    while (n) {
        uint32_t pc = todo[--n];
        const struct inst *in = object_fetch(obj, pc);
        if (!in || numbers[pc / 4])
            continue;
        numbers[pc / 4] = 1;
        uint32_t to[2];
        int k = successors(in, to);
        if (n + 2 > cap) {
            uint32_t *more = realloc(todo, 2 * cap * sizeof *todo);
            if (!more) {
                free(todo);
                return -1;
            }
            todo = more;
            cap *= 2;
        }
        while (k)
            todo[n++] = to[--k];
    }
    free(todo);
    return 0;
}

int lint_flow_make(struct object *obj, uint32_t entry, struct lint_flow *flow)
{
    size_t dwords = obj->image_size / 4;
    uint32_t *numbers = calloc(dwords, sizeof *numbers);
    *flow = (struct lint_flow){.obj = obj};
    if (!numbers || reach(obj, entry, numbers)) {
        free(numbers);
        return -1;
    }
    for (size_t i = 0; i < dwords; i++)
        if (numbers[i])
            numbers[i] = ++flow->n; /* number + 1 */
    flow->nodes = calloc(flow->n ? flow->n : 1, sizeof *flow->nodes);
    if (!flow->nodes) {
        free(numbers);
        return -1;
    }
    for (size_t i = 0; i < dwords; i++) {
        if (!numbers[i])
            continue;
        struct lint_node *node = &flow->nodes[numbers[i] - 1];
        uint32_t to[2];
        node->in = object_fetch(obj, (uint32_t)(i * 4));
        node->call = calls(node->in);
        int k = successors(node->in, to);
        for (int j = 0; j < k; j++)
            if (to[j] / 4 < dwords && numbers[to[j] / 4])
                node->next[node->nnext++] = numbers[to[j] / 4] - 1;
    }
    for (uint32_t i = 0; i < flow->n; i++)
        for (int j = 0; j < flow->nodes[i].nnext; j++)
            flow->nodes[flow->nodes[i].next[j]].preds++;
    flow->entry = entry / 4 < dwords && numbers[entry / 4] ? numbers[entry / 4] - 1 : 0;
    free(numbers);
    return 0;
}

void lint_flow_free(struct lint_flow *flow)
{
    free(flow->nodes);
    flow->nodes = NULL;
}

/* ---- findings */

void lint_report(struct lint_sink *sink, enum emu_check kind, const char *rule,
                 const struct inst *in, const struct inst *other, bool certain, const char *format,
                 ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct emu_lint_finding f = {
        .kind = kind,
        .rule = rule,
        .text = text,
        .certain = certain,
        .pc = report_pc(sink->obj, in->pc),
        .other_pc = other ? report_pc(sink->obj, other->pc) : 0,
        .inst = in->text,
        .other = other ? other->text : NULL,
    };
    sink->count++;
    sink->found(sink->data, sink->kernel, &f);
}

int emu_lint(struct emu_object *object,
             void (*found)(void *data, const struct emu_kernel *kernel,
                           const struct emu_lint_finding *finding),
             void *data)
{
    struct object *obj = (struct object *)object;
    struct lint_sink sink = {.obj = obj, .found = found, .data = data};
    for (size_t i = 0; i < obj->nkernels; i++) {
        struct lint_flow flow;
        sink.kernel = &obj->kernels[i].pub;
        if (lint_flow_make(obj, (uint32_t)obj->kernels[i].entry, &flow))
            return -1;
        int failed = lint_waits(&flow, &sink) || lint_hazards(&flow, &sink);
        lint_flow_free(&flow);
        if (failed)
            return -1;
    }
    return sink.count;
}
