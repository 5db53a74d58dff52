/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of a kernel, for the parts of lint. */
#ifndef EMU_LINT_FLOW_H
#define EMU_LINT_FLOW_H

#include "lint.h"
#include "wave.h"

/* An instruction that can be reached from the kernel's entry. */
struct lint_node {
    const struct inst *in;
    uint32_t next[2]; /* numbers of the successors */
    uint8_t nnext;
    bool call; /* leaves for code that is not followed: what was in flight is unknown behind it */
    uint32_t preds;
};

struct lint_flow {
    struct object *obj;
    struct lint_node *nodes; /* in order of address; the entry is nodes[entry] */
    uint32_t n, entry;
};

struct lint_sink {
    const struct object *obj;
    const struct emu_kernel *kernel;
    void (*found)(void *data, const struct emu_kernel *kernel,
                  const struct emu_lint_finding *finding);
    void *data;
    int count;
};

/* 0, or -1 without memory. */
int lint_flow_make(struct object *obj, uint32_t entry, struct lint_flow *flow);
void lint_flow_free(struct lint_flow *flow);

void lint_report(struct lint_sink *sink, enum emu_check kind, const char *rule,
                 const struct inst *in, const struct inst *other, bool certain, const char *format,
                 ...) __attribute__((format(printf, 7, 8)));

int lint_waits(const struct lint_flow *flow, struct lint_sink *sink);
int lint_hazards(const struct lint_flow *flow, struct lint_sink *sink);

#endif
