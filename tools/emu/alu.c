/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lane arithmetic: one row for each mnemonic, found by binary search. */
#include "alu_lanes.h"

#include <stddef.h>
#include <string.h>

#define SRC(...) {__VA_ARGS__}

static const struct emu_alu_op ops[] = {
#define X(name, dst, src, flags) {#name, emu_##name, dst, src, flags},
#include "alu_table.h"
#undef X
};

enum { OP_COUNT = sizeof ops / sizeof ops[0] };

const struct emu_alu_op *emu_alu_ops(unsigned *count)
{
    *count = OP_COUNT;
    return ops;
}

const struct emu_alu_op *emu_alu_find(const char *mnemonic)
{
    size_t low = 0, high = OP_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(ops[middle].mnemonic, mnemonic);
        if (order == 0) {
            return &ops[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
