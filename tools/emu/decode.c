/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to text, by LLVM's disassembler; text to struct inst, by the families.
 */
#include "wave.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decoder {
    LLVMDisasmContextRef ctx;
};

static void init_llvm(void)
{
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
}

int decoder_open(const char *arch, struct decoder **decoder, char *err, size_t err_size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_llvm);
    struct decoder *d = calloc(1, sizeof(*d));
    if (d)
        d->ctx = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", arch, NULL, 0, NULL, NULL);
    if (!d || !d->ctx) {
        snprintf(err, err_size, "the disassembler of LLVM does not know the target %s", arch);
        free(d);
        return -1;
    }
    *decoder = d;
    return 0;
}

void decoder_close(struct decoder *decoder)
{
    if (decoder) {
        LLVMDisasmDispose(decoder->ctx);
        free(decoder);
    }
}

static void add_use(struct use *list, uint8_t *count, unsigned max, struct use u)
{
    if (*count < max && u.n)
        list[(*count)++] = u;
}

void inst_reads_reg(struct inst *in, unsigned reg, unsigned n, enum use_kind kind,
                    enum use_lanes lanes)
{
    struct use u = {(uint16_t)reg, (uint8_t)n, (uint8_t)kind, (uint8_t)lanes};
    add_use(in->rd, &in->nrd, sizeof(in->rd) / sizeof(in->rd[0]), u);
}

void inst_writes_reg(struct inst *in, unsigned reg, unsigned n, enum use_kind kind,
                     enum use_lanes lanes)
{
    struct use u = {(uint16_t)reg, (uint8_t)n, (uint8_t)kind, (uint8_t)lanes};
    add_use(in->wr, &in->nwr, sizeof(in->wr) / sizeof(in->wr[0]), u);
}

void inst_reads(struct inst *in, int op, enum use_kind kind, enum use_lanes lanes)
{
    if (op < 0)
        return;
    const struct opnd *o = &in->op[op];
    if (o->kind == OPND_V)
        inst_reads_reg(in, vnum(o), o->n, kind, lanes);
    else if (o->kind == OPND_S)
        inst_reads_reg(in, REG_S + o->reg, o->n, kind, lanes);
    else if (o->kind == OPND_SPECIAL && o->reg == SPECIAL_SCC)
        inst_reads_reg(in, REG_S + S_SCC, 1, kind, lanes);
    else if (o->kind == OPND_SPECIAL && o->reg == SPECIAL_VCCZ)
        inst_reads_reg(in, REG_S + S_VCC, 2, kind, lanes);
}

void inst_writes(struct inst *in, int op, enum use_kind kind, enum use_lanes lanes)
{
    if (op < 0)
        return;
    const struct opnd *o = &in->op[op];
    if (o->kind == OPND_V)
        inst_writes_reg(in, vnum(o), o->n, kind, lanes);
    else if (o->kind == OPND_S) {
        inst_writes_reg(in, REG_S + o->reg, o->n, kind, lanes);
        if (o->reg >= S_EXEC)
            in->flags |= IF_WRITES_EXEC;
    }
}

void exec_unknown(struct wave *w, const struct inst *in)
{
    fault(w, in, EMU_CHECK_BOUNDS, "unknown-instruction", -1, NULL,
          "this emulator does not execute the instruction");
}

/* The 16 offset bits of ds_swizzle are printed in several spellings; the encoding has them plain.
 */
static void fix_swizzle(struct inst *in, const uint8_t *bytes)
{
    if (strcmp(in->mnemonic, "ds_swizzle_b32") == 0)
        in->swizzle = (uint16_t)(bytes[0] | bytes[1] << 8);
}

struct inst *decode(struct decoder *decoder, const uint8_t *bytes, size_t size, uint32_t pc)
{
    struct inst *in = calloc(1, sizeof(*in));
    if (!in)
        return NULL;
    char text[512];
    size_t n = LLVMDisasmInstruction(decoder->ctx, (uint8_t *)bytes, size, pc, text, sizeof(text));
    in->pc = pc;
    in->exec = exec_unknown;
    in->dst = in->mask_dst = in->mask_src = -1;
    in->vdata = in->vaddr = in->saddr = in->soffset = in->vdst = in->vdata2 = -1;
    if (n == 0) {
        uint32_t word = 0;
        memcpy(&word, bytes, size < 4 ? size : 4);
        snprintf(text, sizeof(text), "not an instruction: 0x%08x", word);
        in->bytes = 4;
        in->text = strdup(text);
        in->mnemonic = strdup("");
        return in;
    }
    in->bytes = (uint8_t)n;
    in->wait_states = 1;
    in->text = strdup(text + strspn(text, " \t"));
    for (char *p = (char *)in->text; p && *p; p++)
        if (*p == '\t')
            *p = ' ';
    if (!in->text || !inst_parse(in, in->text)) {
        in->exec = exec_unknown;
        if (!in->mnemonic)
            in->mnemonic = strdup("");
        return in;
    }
    fix_swizzle(in, bytes);
    in->exec = NULL;
    decode_salu(in);
    if (!in->exec)
        decode_valu(in);
    if (!in->exec)
        decode_vmem(in);
    if (!in->exec)
        decode_ds(in);
    if (!in->exec)
        decode_smem(in);
    if (!in->exec)
        in->exec = exec_unknown;
    return in;
}

static struct inst *make_indexed(const struct inst *in, uint32_t m0)
{
    struct inst *to = malloc(sizeof(*to));
    if (!to)
        return NULL;
    *to = *in;
    to->text = strdup(in->text);
    to->mnemonic = strdup(in->mnemonic);
    to->indexed = NULL;
    to->index = (uint16_t)(m0 & 0xf0ff);
    to->nrd = to->nwr = 0;
    to->nsrc = 0;
    to->dst = to->mask_dst = to->mask_src = -1;
    memset(&to->proto, 0, sizeof(to->proto));
    bool moved[INST_OPS] = {false};
    for (unsigned k = 0; k < 4; k++) {
        bool move = in->alu ? k == 3 || k < in->nsrc : k == 0 || k == 3;
        int op = k == 3 ? 0 : in->alu ? in->src[k] : 1; /* moves between files have one source */
        if (move && m0 >> 12 >> k & 1 && op >= 0 && to->op[op].kind == OPND_V && !moved[op]) {
            unsigned reg = to->op[op].reg + (m0 & 0xff);
            to->op[op].reg = (uint16_t)(reg > 255 ? 255 : reg);
            moved[op] = true;
        }
    }
    for (unsigned i = 0; i < INST_OPS; i++)
        to->op[i].row = NULL;
    if (to->text && to->mnemonic)
        decode_valu(to);
    return to;
}

const struct inst *inst_indexed(const struct inst *in, uint32_t m0)
{
    struct inst **list = (struct inst **)&in->indexed;
    struct inst *head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
    for (struct inst *i = head; i; i = i->indexed)
        if (i->index == (m0 & 0xf0ff))
            return i;
    struct inst *made = make_indexed(in, m0);
    if (!made)
        return in;
    made->indexed = head; /* two threads may make the same one: both stay */
    while (!__atomic_compare_exchange_n(list, &made->indexed, made, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        ;
    return made;
}

void inst_free(struct inst *in)
{
    if (!in)
        return;
    inst_free(in->indexed);
    for (unsigned i = 0; i < INST_OPS; i++)
        free((void *)in->op[i].row);
    free((void *)in->text);
    free((void *)in->mnemonic);
    free(in);
}
