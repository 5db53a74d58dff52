/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and modifiers against the opcode table, with errors that say what was given and what is
 * accepted. */
#include <stdio.h>
#include <string.h>

#include "gen/build.h"
#include "gen/build_state.h"

/* ---- text for errors */

static const char *describe_val(const Val *v, char *buf, size_t size)
{
    switch (v->kind) {
    case VAL_V:
        snprintf(buf, size, "V%d", v->width);
        break;
    case VAL_S:
        snprintf(buf, size, "S%d", v->width);
        break;
    case VAL_IMM:
        snprintf(buf, size, "integer %lld", (long long)v->imm);
        break;
    case VAL_F32:
        snprintf(buf, size, "constant 0x%08x", (unsigned)v->imm);
        break;
    default: {
        static const char *const names[] = {
            [VAL_NONE] = "NONE", [VAL_VCC] = "VCC",       [VAL_EXEC] = "EXEC",      [VAL_M0] = "M0",
            [VAL_OFF] = "OFF",   [VAL_LABEL] = "a label", [VAL_MOD] = "a modifier",
        };
        snprintf(buf, size, "%s", names[v->kind]);
    }
    }
    return buf;
}

static const char *describe_operand(const struct op_operand *o, int width, char *buf, size_t size)
{
    static const struct {
        uint8_t cls;
        const char *text;
    } parts[] = {
        {OC_V,     "V"             },
        {OC_S,     "S"             },
        {OC_INT,   "constant"      },
        {OC_FLT,   "float constant"},
        {OC_FIELD, "integer"       },
        {OC_LABEL, "label"         },
        {OC_OFF,   "OFF"           }
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && n < size; i++) {
        if (!(o->classes & parts[i].cls))
            continue;
        n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " or " : "", parts[i].text);
        if (n < size && parts[i].cls <= OC_S)
            n += (size_t)snprintf(buf + n, size - n, "%d", width);
    }
    return buf;
}

/* ---- operands */

bool val_is_const(const Val *v)
{
    return v->kind == VAL_IMM || v->kind == VAL_F32;
}

bool val_is_inline(const Val *v)
{
    static const uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    if (!val_is_const(v))
        return false;
    int64_t value = v->kind == VAL_F32 ? (int32_t)(uint32_t)v->imm : v->imm;
    if (value >= -16 && value <= 64)
        return true;
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if ((uint32_t)value == floats[i] && value == (int32_t)floats[i])
            return true;
    return false;
}

static bool is_register(const Val *v)
{
    return v->kind == VAL_V || v->kind == VAL_S;
}

/* The operand's width: a global address is a pair where it stands beside OFF. */
static int operand_width(const struct op_info *info, const struct instr *in, int i)
{
    const struct op_operand *o = &info->operands[i];
    if (o->tag != TAG_GADDR)
        return o->width;
    const Val *base = &in->operands[in->n - 1];
    return base->kind == VAL_OFF ? 2 : 1;
}

/* Accepted by class and width alone. */
static bool accepts(const struct op_operand *o, int width, const Val *v)
{
    switch (v->kind) {
    case VAL_V:
        return (o->classes & OC_V) && v->width == width;
    case VAL_S:
        return (o->classes & OC_S) && v->width == width;
    case VAL_VCC:
    case VAL_EXEC:
        return (o->classes & OC_S) && width == 2;
    case VAL_M0:
        return (o->classes & OC_S) && width == 1;
    case VAL_IMM:
        return o->classes & (OC_INT | OC_FLT | OC_FIELD);
    case VAL_F32:
        return o->classes & (OC_INT | OC_FLT);
    case VAL_OFF:
        return o->classes & OC_OFF;
    case VAL_LABEL:
        return o->classes & OC_LABEL;
    default:
        return false;
    }
}

/* What is wrong with a constant, or NULL. */
static const char *constant_fault(const struct op_info *info, const struct op_operand *o,
                                  const Val *v)
{
    if (v->kind == VAL_IMM && (o->classes & OC_FLT) && o->tag != TAG_LITERAL && v->imm != 0)
        return "an integer is a bit pattern here: write f32() or bits()";
    if (o->classes & OC_FIELD) {
        bool fits = info->enc == ENC_SMEM ? v->imm >= -(1 << 20) && v->imm < 1 << 20
                                          : v->imm >= -32768 && v->imm <= 65535;
        return fits ? NULL : "outside the field";
    }
    if (o->tag == TAG_SEL && (v->imm < 0 || v->imm > 63))
        return "a lane is 0 .. 63";
    if (v->kind == VAL_IMM && (v->imm < INT32_MIN || v->imm > UINT32_MAX))
        return "not a 32-bit constant";
    bool scalar = info->enc <= ENC_SOPP;
    if (o->width == 2 && !val_is_inline(v)) {
        if (!scalar && !(info->flags & FLAG_PK_F32))
            return "a 64-bit operand takes inline constants only";
        if (scalar && (v->imm < 0 || v->imm > INT32_MAX))
            return "a literal of a 64-bit operand is 0 .. 0x7fffffff";
    }
    if (o->tag == TAG_C && !val_is_inline(v))
        return "a matrix C operand takes inline constants only";
    return NULL;
}

static const char *register_fault(const struct program *p, const Val *v)
{
    if (v->id >= (uint32_t)p->n_vregs || p->vregs[v->id].kind != v->kind || v->width == 0 ||
        v->sub + v->width > p->vregs[v->id].width)
        return "reaches past its register";
    if (v->kind == VAL_V && v->width >= 2 && v->sub % 2)
        return "a VGPR tuple starts at an even dword";
    if (v->kind == VAL_S && v->width == 2 && v->sub % 2)
        return "an SGPR pair starts at an even dword";
    if (v->kind == VAL_S && v->width > 2 && v->sub % 4)
        return "an SGPR tuple starts at a multiple of 4 dwords";
    return NULL;
}

static const char *modifier_fault(const struct op_info *info, const struct op_operand *o,
                                  const Val *v)
{
    bool e64 = info->enc == ENC_VOP1 || info->enc == ENC_VOP2 || info->enc == ENC_VOPC ||
               info->enc == ENC_VOP3;
    if ((v->neg || v->abs) && (!e64 || !(o->classes & OC_FLT)))
        return info->enc == ENC_VOP3P
                   ? "neg() and absv() do not reach packed operands: neg_lo, neg_hi"
                   : "neg() and absv() are for float sources";
    return NULL;
}

static bool check_operand(Builder *b, const struct op_info *info, const struct instr *in, int i)
{
    const struct op_operand *o = &info->operands[i];
    const Val *v = &in->operands[i];
    int width = operand_width(info, in, i);
    char got[40], want[80];
    const char *fault = NULL;
    if (!accepts(o, width, v))
        fault = "";
    else if (val_is_const(v))
        fault = constant_fault(info, o, v);
    else if (is_register(v))
        fault = register_fault(b->program, v);
    if (!fault)
        fault = modifier_fault(info, o, v);
    if (!fault && (o->access & ACC_W) && v->kind == VAL_EXEC && !b->state->internal)
        fault = "EXEC is written by lanes_if, lanes_else and lanes_end alone";
    if (!fault)
        return true;
    build_error(b, in->file, in->line, "%s: operand %d is %s%s%s; accepted: %s", info->name, i + 1,
                describe_val(v, got, sizeof got), fault[0] ? ": " : "", fault,
                describe_operand(o, width, want, sizeof want));
    return false;
}

/* ---- modifiers: where each may stand, and its range */

#define ENC_BIT(e) (1u << (e))
enum {
    VOP12 = ENC_BIT(ENC_VOP1) | ENC_BIT(ENC_VOP2),
    MEMORY = ENC_BIT(ENC_GLOBAL) | ENC_BIT(ENC_BUFFER),
};

static const struct mod_rule {
    enum mod mod;
    uint32_t encodings;
    int low, high;
    const char *name;
} mod_rules[] = {
    {MOD_OFFSET,         ENC_BIT(ENC_DS),                                            0,           65535,         "off"          },
    {MOD_OFFSET,         ENC_BIT(ENC_GLOBAL),                                        -4096,       4095,          "off"          },
    {MOD_OFFSET,         ENC_BIT(ENC_BUFFER),                                        0,           4095,          "off"          },
    {MOD_OFFSET,         ENC_BIT(ENC_SMEM),                                          -(1 << 20),  (1 << 20) - 1, "off"          },
    {MOD_OFFSET0,        ENC_BIT(ENC_DS),                                            0,           255,           "off2(0)"      },
    {MOD_OFFSET1,        ENC_BIT(ENC_DS),                                            0,           255,           "off2(1)"      },
    {MOD_SC0,            MEMORY | ENC_BIT(ENC_CACHE),                                1,           1,             "SC0"          },
    {MOD_SC1,            MEMORY | ENC_BIT(ENC_CACHE),                                1,           1,             "SC1"          },
    {MOD_NT,             MEMORY,                                                     1,           1,             "NT"           },
    {MOD_OP_SEL,         ENC_BIT(ENC_VOP3) | ENC_BIT(ENC_VOP3P) | ENC_BIT(ENC_MFMA), 0,           15,            "op_sel"       },
    {MOD_OP_SEL_HI,      ENC_BIT(ENC_VOP3P) | ENC_BIT(ENC_MFMA),                     0,           7,             "op_sel_hi"    },
    {MOD_NEG_LO,         ENC_BIT(ENC_VOP3P),                                         0,           7,             "neg_lo"       },
    {MOD_NEG_HI,         ENC_BIT(ENC_VOP3P),                                         0,           7,             "neg_hi"       },
    {MOD_CLAMP,          VOP12 | ENC_BIT(ENC_VOP3) | ENC_BIT(ENC_VOP3P),             1,           1,             "CLAMP"        },
    {MOD_DPP,            VOP12,                                                      0,           0xffff,        "a DPP control"},
    {MOD_DPP_ROW_MASK,   VOP12,                                                      0,           15,            "row_mask"     },
    {MOD_DPP_BANK_MASK,  VOP12,                                                      0,           15,            "bank_mask"    },
    {MOD_DPP_BOUND_CTRL, VOP12,                                                      1,           1,             "BOUND_CTRL"   },
    {MOD_SWIZZLE,        ENC_BIT(ENC_DS),                                            0,           0xffff,        "swizzle"      },
    {MOD_SDWA_SRC0,      VOP12,                                                      SDWA_BYTE_0, SDWA_DWORD,    "sdwa_src0"    },
    {MOD_SDWA_DST,       VOP12,                                                      SDWA_BYTE_0, SDWA_DWORD,    "sdwa_dst"     },
    {MOD_BITOP3,         ENC_BIT(ENC_VOP3),                                          0,           255,           "bitop3"       },
};

/* What the encoding alone does not decide. */
static bool mod_fits_op(const struct op_info *info, const struct instr *in, enum mod mod)
{
    bool off2 = info->flags & FLAG_OFF2, swz = info->flags & FLAG_SWIZZLE;
    switch (mod) {
    case MOD_OFFSET:
        return !off2 && !swz;
    case MOD_OFFSET0:
    case MOD_OFFSET1:
        return off2;
    case MOD_SWIZZLE:
        return swz;
    case MOD_OP_SEL:
    case MOD_OP_SEL_HI:
        return info->enc != ENC_MFMA || (info->flags & FLAG_SCALED);
    case MOD_DPP_ROW_MASK:
    case MOD_DPP_BANK_MASK:
    case MOD_DPP_BOUND_CTRL:
        return instr_is_dpp(in);
    case MOD_BITOP3:
        return in->op == OP_v_bitop3_b32;
    default:
        return true;
    }
}

static bool check_mod(Builder *b, const struct op_info *info, const struct instr *in, const Val *m)
{
    const struct mod_rule *named = NULL;
    for (size_t i = 0; i < sizeof mod_rules / sizeof mod_rules[0]; i++) {
        const struct mod_rule *r = &mod_rules[i];
        if (r->mod != (enum mod)m->id)
            continue;
        named = r;
        if (!(r->encodings & ENC_BIT(info->enc)) || !mod_fits_op(info, in, r->mod))
            continue;
        if (m->imm >= r->low && m->imm <= r->high)
            return true;
        build_error(b, in->file, in->line, "%s: %s is %lld; accepted: %d .. %d", info->name,
                    r->name, (long long)m->imm, r->low, r->high);
        return false;
    }
    build_error(b, in->file, in->line, "%s: %s does not go with this instruction", info->name,
                named ? named->name : "an unknown modifier");
    return false;
}

static bool check_mods(Builder *b, const struct op_info *info, const struct instr *in)
{
    for (int i = 0; i < in->n_mods; i++) {
        if (!check_mod(b, info, in, &in->mods[i]))
            return false;
        for (int k = 0; k < i; k++) {
            if (in->mods[k].id == in->mods[i].id) {
                build_error(b, in->file, in->line, "%s: a modifier is given twice", info->name);
                return false;
            }
        }
    }
    if (instr_is_dpp(in) && instr_is_sdwa(in)) {
        build_error(b, in->file, in->line, "%s: DPP and SDWA exclude each other", info->name);
        return false;
    }
    if (in->op == OP_v_bitop3_b32 && !instr_mod(in, MOD_BITOP3)) {
        build_error(b, in->file, in->line, "%s needs bitop3(table)", info->name);
        return false;
    }
    return true;
}

static bool check_dpp(Builder *b, const struct op_info *info, const struct instr *in)
{
    const Val *ctrl = instr_mod(in, MOD_DPP);
    if (!ctrl)
        return true;
    int kind = (int)ctrl->imm >> 8, argument = (int)ctrl->imm & 0xff;
    bool shift = kind == DPP_ROW_SHL || kind == DPP_ROW_SHR || kind == DPP_ROW_ROR;
    const char *fault = NULL;
    if (shift && (argument < 1 || argument > 15))
        fault = "a row shift is 1 .. 15";
    else if (kind == DPP_ROW_NEWBCAST && argument > 15)
        fault = "row_newbcast takes a lane 0 .. 15";
    else if (info->operands[0].width == 2 && kind != DPP_ROW_NEWBCAST)
        fault = "64-bit DPP has row_newbcast alone";
    if (fault)
        build_error(b, in->file, in->line, "%s: %s", info->name, fault);
    return !fault;
}

bool build_check(Builder *b, const struct instr *in)
{
    const struct op_info *info = op_info(in->op);
    if ((info->flags & FLAG_INTERNAL) && !b->state->internal) {
        build_error(b, in->file, in->line, "%s is written by the passes, not by templates",
                    info->name);
        return false;
    }
    if (info->only_950 && !b->program->arch_950) {
        build_error(b, in->file, in->line, "%s exists on gfx950 only", info->name);
        return false;
    }
    int least = info->n;
    while (least && info->operands[least - 1].optional)
        least--;
    if (in->n < least || in->n > info->n) {
        build_error(b, in->file, in->line, "%s has %d operands, %d given%s", info->name, info->n,
                    in->n, in->fresh ? " with the destination" : "");
        return false;
    }
    for (int i = 0; i < in->n; i++)
        if (!check_operand(b, info, in, i))
            return false;
    return check_mods(b, info, in) && check_dpp(b, info, in);
}
