/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/isa.h"

/* ---- arena: chunks in a list, freed together */

struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t data[];
};

struct arena {
    struct chunk *head;
};

enum { CHUNK_BYTES = 1 << 18 };

void *arena_alloc(struct arena *arena, size_t size)
{
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct chunk *c = arena->head;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        c = malloc(sizeof *c + room);
        if (!c)
            return NULL;
        *c = (struct chunk){.next = arena->head, .size = room};
        arena->head = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += size;
    return memset(p, 0, size);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

/* ---- program */

struct program *program_new(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    struct program *p = arena ? arena_alloc(arena, sizeof *p) : NULL;
    if (!p) {
        free(arena);
        return NULL;
    }
    p->arena = arena;
    p->arch_950 = true;
    p->max_vgprs = 256;
    p->max_sgprs = 100;
    return p;
}

void program_free(struct program *p)
{
    if (!p)
        return;
    struct arena *arena = p->arena;
    for (struct chunk *c = arena->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(arena);
}

bool program_grow(struct program *p, void **array, int n, int *cap, size_t size)
{
    if (n < *cap)
        return true;
    int bigger = *cap ? *cap * 2 : 16;
    void *copy = arena_alloc(p->arena, (size_t)bigger * size);
    if (!copy)
        return false;
    if (n)
        memcpy(copy, *array, (size_t)n * size);
    *array = copy;
    *cap = bigger;
    return true;
}

int program_block(struct program *p, int label)
{
    if (!PROGRAM_GROW(p, p->blocks, p->n_blocks, p->cap_blocks))
        return -1;
    p->blocks[p->n_blocks] = (struct block){.label = label};
    return p->n_blocks++;
}

bool program_append(struct program *p, struct block *b, const struct instr *in)
{
    if (!PROGRAM_GROW(p, b->instrs, b->n, b->cap))
        return false;
    b->instrs[b->n++] = *in;
    return true;
}

struct instr instr_beside(const struct instr *in, uint16_t op, int64_t number)
{
    return (struct instr){.op = op,
                          .stage = in->stage,
                          .region = in->region,
                          .n = 1,
                          .operands = {{.kind = VAL_IMM, .width = 1, .imm = number}},
                          .file = in->file,
                          .line = in->line};
}

void block_rewrite(struct block *b, const struct block *with)
{
    b->instrs = with->instrs;
    b->n = with->n;
    b->cap = with->cap;
}

bool program_insert(struct program *p, struct block *b, int at, const struct instr *in)
{
    if (!PROGRAM_GROW(p, b->instrs, b->n, b->cap))
        return false;
    memmove(&b->instrs[at + 1], &b->instrs[at], (size_t)(b->n - at) * sizeof *b->instrs);
    b->instrs[at] = *in;
    b->n++;
    return true;
}

bool region_within(const struct program *p, int inner, int outer)
{
    while (inner != outer && inner != 0)
        inner = p->region_parent[inner];
    return inner == outer;
}

static int branch_target(const struct program *p, const struct instr *in)
{
    return p->labels[in->operands[0].id].block;
}

int program_link(struct program *p, char *err, size_t err_size)
{
    for (int i = 0; i < p->n_blocks; i++) {
        struct block *b = &p->blocks[i];
        const struct instr *last = b->n ? &b->instrs[b->n - 1] : NULL;
        uint32_t flags = last ? op_info(last->op)->flags : 0;
        b->n_succ = 0;
        if (flags & (FLAG_JUMP | FLAG_CJUMP)) {
            int target = branch_target(p, last);
            if (target < 0) {
                snprintf(err, err_size, "%s:%d: label %s is never placed", last->file, last->line,
                         p->labels[last->operands[0].id].hint);
                return -1;
            }
            b->succ[b->n_succ++] = target;
        }
        if (flags & (FLAG_JUMP | FLAG_END))
            continue;
        if (i + 1 == p->n_blocks) {
            snprintf(err, err_size,
                     "the program runs past its last instruction: kernel_end is missing");
            return -1;
        }
        if (b->n_succ == 0 || b->succ[0] != i + 1)
            b->succ[b->n_succ++] = i + 1;
    }
    return 0;
}

/* ---- touches */

const Val *instr_mod(const struct instr *in, enum mod mod)
{
    for (int i = 0; i < in->n_mods; i++)
        if (in->mods[i].id == (uint32_t)mod)
            return &in->mods[i];
    return NULL;
}

bool instr_is_dpp(const struct instr *in)
{
    return instr_mod(in, MOD_DPP) != NULL;
}

bool instr_is_sdwa(const struct instr *in)
{
    return instr_mod(in, MOD_SDWA_SRC0) || instr_mod(in, MOD_SDWA_DST);
}

static bool is_vector(unsigned enc)
{
    return (enc >= ENC_VOP1 && enc <= ENC_BUFFER);
}

/* The operand's register, or false for constants and labels. */
static bool touch_register(const struct program *p, const Val *v, bool physical, struct touch *t)
{
    switch (v->kind) {
    case VAL_V:
    case VAL_S: {
        const struct vreg *r = &p->vregs[v->id];
        t->space = v->kind == VAL_V ? UNIT_V : UNIT_S;
        t->unit = (physical ? r->phys : (int32_t)r->comp) + v->sub;
        t->width = v->width;
        return true;
    }
    case VAL_VCC:
        *t = (struct touch){.space = UNIT_S, .unit = SGPR_VCC, .width = 2, .special = true};
        return true;
    case VAL_EXEC:
        *t = (struct touch){.space = UNIT_S, .unit = SGPR_EXEC, .width = 2, .special = true};
        return true;
    case VAL_M0:
        *t = (struct touch){.space = UNIT_S, .unit = SGPR_M0, .width = 1, .special = true};
        return true;
    default:
        return false;
    }
}

/* A write that leaves part of the register as it was: bytes (op_sel, SDWA) or lanes (DPP, and the
 * region rule). */
static void keep_rest(const struct program *p, const struct instr *in, int operand, bool physical,
                      struct touch *t)
{
    const Val *v = &in->operands[operand];
    const Val *dst_sel = instr_mod(in, MOD_SDWA_DST);
    bool part = (t->access & ACC_PART) || instr_is_dpp(in) ||
                (dst_sel && dst_sel->imm != SDWA_DWORD && operand == 0);
    if (part && !(in->fresh && operand == 0)) {
        t->access |= ACC_R;
        t->keeps = true;
    } else if (!physical && v->kind == VAL_V &&
               !region_within(p, p->vregs[v->id].region, in->region)) {
        t->access |= ACC_R;
        t->keeps = true;
    }
}

static int touch_implicit(const struct op_info *info, struct touch *out)
{
    int n = 0;
    bool exec_r = (info->flags & FLAG_EXEC_R) || is_vector(info->enc);
    bool exec_w = info->flags & FLAG_EXEC_W;
    if (info->flags & (FLAG_SCC_R | FLAG_SCC_W))
        out[n++] = (struct touch){.space = UNIT_SCC,
                                  .width = 1,
                                  .operand = 255,
                                  .special = true,
                                  .access = (info->flags & FLAG_SCC_R ? ACC_R : 0) |
                                            (info->flags & FLAG_SCC_W ? ACC_W : 0)};
    if (info->flags & FLAG_VCC_R)
        out[n++] = (struct touch){.space = UNIT_S,
                                  .unit = SGPR_VCC,
                                  .width = 2,
                                  .operand = 255,
                                  .special = true,
                                  .access = ACC_R,
                                  .tag = TAG_MASK};
    if (exec_r || exec_w)
        out[n++] = (struct touch){.space = UNIT_S,
                                  .unit = SGPR_EXEC,
                                  .width = 2,
                                  .operand = 255,
                                  .special = true,
                                  .access = (exec_r ? ACC_R : 0) | (exec_w ? ACC_W : 0)};
    return n;
}

int instr_touches(const struct program *p, const struct instr *in, bool physical, struct touch *out)
{
    const struct op_info *info = op_info(in->op);
    int n = 0;
    for (int i = 0; i < in->n; i++) {
        struct touch t = {0};
        if (!touch_register(p, &in->operands[i], physical, &t))
            continue;
        t.operand = (uint8_t)i;
        t.access = info->operands[i].access;
        t.tag = info->operands[i].tag;
        if ((t.access & ACC_W) && !(t.access & ACC_R))
            keep_rest(p, in, i, physical, &t);
        out[n++] = t;
    }
    return n + touch_implicit(info, out + n);
}

void program_stats(const struct program *p, struct stage_stats *stats)
{
    for (int i = 0; i < p->n_stages; i++)
        stats[i] = (struct stage_stats){.name = p->stages[i]};
    for (int i = 0; i < p->n_blocks; i++) {
        const struct block *b = &p->blocks[i];
        for (int k = 0; k < b->n; k++) {
            struct stage_stats *s = &stats[b->instrs[k].stage];
            s->by_class[op_info(b->instrs[k].op)->cls]++;
            s->waits += b->instrs[k].op == OP_s_waitcnt;
            s->nops += b->instrs[k].op == OP_s_nop;
        }
    }
}
