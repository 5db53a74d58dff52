/* SPDX-License-Identifier: Apache-2.0 */
#include "implemented.h"

#include <stdio.h>
#include <string.h>

#include "wave.h"

const char *emu_family_name(enum emu_family family)
{
    static const char *const names[] = {"SALU", "SMEM", "VALU", "VMEM", "DS"};
    return (size_t)family < EMU_FAMILIES ? names[family] : "";
}

/* Moves between lanes and register files, which are no lane arithmetic and have no row of it. */
static const char *valu_name(size_t i)
{
    unsigned n;
    const struct emu_alu_op *ops = emu_alu_ops(&n);
    if (i < n)
        return ops[i].mnemonic;
    for (size_t k = 0, left = i - n;; k++) {
        const char *name = valu_move_name(k);
        if (!name || (!emu_alu_find(name) && left-- == 0))
            return name;
    }
}

bool emu_implemented(enum emu_family family, size_t i, char *name, size_t size)
{
    const char *row = NULL;
    switch (family) {
    case EMU_SALU:
        row = salu_name(i);
        break;
    case EMU_SMEM:
        row = smem_name(i);
        break;
    case EMU_VALU:
        row = valu_name(i);
        break;
    case EMU_VMEM:
        return vmem_name(i, name, size);
    case EMU_DS:
        row = ds_name(i);
        break;
    default:
        break;
    }
    if (row)
        snprintf(name, size, "%s", row);
    return row != NULL;
}
