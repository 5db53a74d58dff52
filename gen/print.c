/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that knows the assembler's syntax. */
#include "gen/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/build_state.h"
#include "gen/isa.h"
#include "gen/plan.h"
#include "gen/text.h"

enum { COMMENT_COLUMN = 64 };

/* ---- operands */

static void print_tuple(struct text *t, char file, int first, int width)
{
    if (width == 1)
        text_add(t, "%c%d", file, first);
    else
        text_add(t, "%c[%d:%d]", file, first, first + width - 1);
}

static void print_constant(struct text *t, const Val *v, bool as_float)
{
    static const struct {
        uint32_t bits;
        const char *text;
    } floats[] = {
        {0x3f000000, "0.5"       },
        {0xbf000000, "-0.5"      },
        {0x3f800000, "1.0"       },
        {0xbf800000, "-1.0"      },
        {0x40000000, "2.0"       },
        {0xc0000000, "-2.0"      },
        {0x40800000, "4.0"       },
        {0xc0800000, "-4.0"      },
        {0x3e22f983, "0.15915494"}
    };
    uint32_t bits = (uint32_t)v->imm;
    if ((int32_t)bits >= -16 && (int32_t)bits <= 64) {
        text_add(t, "%d", (int32_t)bits);
        return;
    }
    for (size_t i = 0; as_float && i < sizeof floats / sizeof floats[0]; i++) {
        if (floats[i].bits == bits) {
            text_add(t, "%s", floats[i].text);
            return;
        }
    }
    text_add(t, "0x%" PRIx32, bits);
}

static void print_label(struct text *t, const struct program *p, int id)
{
    text_add(t, ".L%s_%d", p->labels[id].hint, id);
}

static void print_operand(struct text *t, const struct program *p, const Val *v,
                          const struct op_operand *o)
{
    text_add(t, "%s%s", v->neg ? "-" : "", v->abs ? "|" : "");
    switch (v->kind) {
    case VAL_V:
        print_tuple(t, 'v', p->vregs[v->id].phys + v->sub, v->width);
        break;
    case VAL_S:
        print_tuple(t, 's', p->vregs[v->id].phys + v->sub, v->width);
        break;
    case VAL_IMM:
    case VAL_F32:
        if (o->classes & OC_FIELD)
            text_add(t, v->imm >= -16 && v->imm <= 64 ? "%" PRId64 : "0x%" PRIx64,
                     v->imm >= -16 && v->imm <= 64 ? v->imm : v->imm & 0xffffffff);
        else
            print_constant(t, v, o->classes & OC_FLT);
        break;
    case VAL_VCC:
        text_add(t, "vcc");
        break;
    case VAL_EXEC:
        text_add(t, "exec");
        break;
    case VAL_M0:
        text_add(t, "m0");
        break;
    case VAL_OFF:
        text_add(t, "off");
        break;
    case VAL_LABEL:
        print_label(t, p, p->blocks[p->labels[v->id].block].label);
        break;
    default:
        break;
    }
    text_add(t, "%s", v->abs ? "|" : "");
}

/* ---- modifiers */

static void print_bits(struct text *t, const char *name, int mask, int elements)
{
    text_add(t, " %s:[", name);
    for (int i = 0; i < elements; i++)
        text_add(t, "%s%d", i ? "," : "", mask >> i & 1);
    text_add(t, "]");
}

/* Elements of an op_sel list: the sources, and in VOP3 the destination. */
static int select_elements(const struct op_info *info)
{
    int sources = 0;
    for (int i = 0; i < info->n; i++)
        sources += (info->operands[i].access & ACC_R) && info->operands[i].tag != TAG_SCALE;
    return sources + (info->enc == ENC_VOP3) + (info->flags & FLAG_SEL4 ? 1 : 0);
}

static void print_dpp(struct text *t, const struct instr *in, int control)
{
    static const char *const names[] = {"quad_perm",    "row_shl",      "row_shr",
                                        "row_ror",      "row_mirror",   "row_half_mirror",
                                        "row_bcast:15", "row_bcast:31", "row_newbcast"};
    int kind = control >> 8, argument = control & 0xff;
    const Val *row = instr_mod(in, MOD_DPP_ROW_MASK), *bank = instr_mod(in, MOD_DPP_BANK_MASK);
    if (kind == DPP_QUAD_PERM)
        text_add(t, " quad_perm:[%d,%d,%d,%d]", argument & 3, argument >> 2 & 3, argument >> 4 & 3,
                 argument >> 6 & 3);
    else if (kind == DPP_ROW_MIRROR || kind == DPP_ROW_HALF_MIRROR || kind == DPP_ROW_BCAST15 ||
             kind == DPP_ROW_BCAST31)
        text_add(t, " %s", names[kind]);
    else
        text_add(t, " %s:%d", names[kind], argument);
    text_add(t, " row_mask:0x%x bank_mask:0x%x", row ? (int)row->imm : 15,
             bank ? (int)bank->imm : 15);
    if (instr_mod(in, MOD_DPP_BOUND_CTRL))
        text_add(t, " bound_ctrl:0");
}

static void print_sdwa(struct text *t, const struct instr *in, const struct op_info *info)
{
    static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    const Val *dst = instr_mod(in, MOD_SDWA_DST), *src = instr_mod(in, MOD_SDWA_SRC0);
    bool wide = info->operands[0].width == 2;
    if (!wide)
        text_add(t, " dst_sel:%s dst_unused:%s", names[dst ? dst->imm : SDWA_DWORD],
                 dst ? "UNUSED_PRESERVE" : "UNUSED_PAD");
    text_add(t, " src0_sel:%s", names[src ? src->imm : SDWA_DWORD]);
    if (info->enc == ENC_VOP2)
        text_add(t, " src1_sel:DWORD");
}

static void print_mods(struct text *t, const struct instr *in, const struct op_info *info)
{
    /* In the order the assembler's own printer uses. */
    static const struct {
        enum mod mod;
        const char *format;
    } plain[] = {
        {MOD_OFFSET,  " offset:%d"  },
        {MOD_SWIZZLE, " offset:0x%x"},
        {MOD_OFFSET0, " offset0:%d" },
        {MOD_OFFSET1, " offset1:%d" },
        {MOD_BITOP3,  " bitop3:0x%x"},
        {MOD_CLAMP,   " clamp"      },
        {MOD_SC0,     " sc0"        },
        {MOD_NT,      " nt"         },
        {MOD_SC1,     " sc1"        }
    };
    static const struct {
        enum mod mod;
        const char *name;
    } lists[] = {
        {MOD_OP_SEL,    "op_sel"   },
        {MOD_OP_SEL_HI, "op_sel_hi"},
        {MOD_NEG_LO,    "neg_lo"   },
        {MOD_NEG_HI,    "neg_hi"   }
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const Val *m = instr_mod(in, lists[i].mod);
        if (m)
            print_bits(t, lists[i].name, (int)m->imm, select_elements(info));
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        const Val *m = instr_mod(in, plain[i].mod);
        if (plain[i].mod == MOD_SC0 && (info->flags & FLAG_RTN))
            text_add(t, " sc0");
        else if (m && !(info->enc == ENC_SMEM && plain[i].mod == MOD_OFFSET))
            text_add(t, plain[i].format, (int)m->imm);
    }
    if (instr_is_sdwa(in))
        print_sdwa(t, in, info);
    const Val *dpp = instr_mod(in, MOD_DPP);
    if (dpp)
        print_dpp(t, in, (int)dpp->imm);
}

/* ---- instructions */

static const char *suffix(const struct instr *in, const struct op_info *info)
{
    if (info->enc != ENC_VOP1 && info->enc != ENC_VOP2 && info->enc != ENC_VOPC)
        return "";
    if (info->n == 0)
        return ""; /* v_nop */
    if (instr_is_dpp(in))
        return "_dpp";
    if (instr_is_sdwa(in))
        return "_sdwa";
    return instr_needs_e64(in) ? "_e64" : "_e32";
}

static void print_wait(struct text *t, int64_t packed)
{
    int vm = (int)packed & 0xff, lgkm = (int)(packed >> 8) & 0xff;
    text_add(t, "s_waitcnt");
    if (vm != 255)
        text_add(t, " vmcnt(%d)", vm);
    if (lgkm != 255)
        text_add(t, " lgkmcnt(%d)", lgkm);
}

/* SMEM: the offset is an operand of its own, an SGPR plus off() or a constant. */
static void print_smem_offset(struct text *t, const struct program *p, const struct instr *in,
                              const struct op_info *info)
{
    const Val *off = instr_mod(in, MOD_OFFSET);
    const Val *given = in->n == 3 ? &in->operands[2] : NULL;
    if (info->n < 3)
        return;
    text_add(t, ", ");
    if (given && given->kind != VAL_IMM) {
        print_operand(t, p, given, &info->operands[2]);
        if (off)
            text_add(t, " offset:%d", (int)off->imm);
        return;
    }
    long bytes = (long)(given ? given->imm : 0) + (long)(off ? off->imm : 0);
    text_add(t, "%s0x%lx", bytes < 0 ? "-" : "", bytes < 0 ? -bytes : bytes);
}

static void print_instr(struct text *t, const struct program *p, const struct instr *in)
{
    const struct op_info *info = op_info(in->op);
    text_add(t, "  ");
    if (in->op == OP_s_waitcnt) {
        print_wait(t, in->operands[0].imm);
        return;
    }
    size_t length = strlen(info->name) - (info->flags & FLAG_RTN ? strlen("_rtn") : 0);
    text_add(t, "%.*s%s", (int)length, info->name, suffix(in, info));
    int n = info->enc == ENC_SMEM && in->n == 3 ? 2 : in->n;
    for (int i = 0; i < n; i++) {
        text_add(t, i ? ", " : " ");
        print_operand(t, p, &in->operands[i], &info->operands[i]);
    }
    if (info->enc == ENC_SMEM)
        print_smem_offset(t, p, in, info);
    if (info->enc == ENC_BUFFER && in->operands[1].kind == VAL_V)
        text_add(t, " offen");
    print_mods(t, in, info);
}

static void print_heading(struct text *t, const char *heading)
{
    while (heading) {
        const char *end = strchr(heading, '\n');
        int n = end ? (int)(end - heading) : (int)strlen(heading);
        text_add(t, "  ; %.*s\n", n, heading);
        heading = end ? end + 1 : NULL;
    }
}

static void print_code(struct text *t, const struct program *p)
{
    int stage = -1;
    for (int b = 0; b < p->n_blocks; b++) {
        const struct block *block = &p->blocks[b];
        if (block->label >= 0) {
            print_label(t, p, block->label);
            text_add(t, ":\n");
        }
        for (int i = 0; i < block->n; i++) {
            const struct instr *in = &block->instrs[i];
            if (in->stage != stage) {
                stage = in->stage;
                text_add(t, "\n  ; ---- %s\n", p->stages[stage]);
            }
            print_heading(t, in->heading);
            print_instr(t, p, in);
            if (in->note) {
                text_column(t, COMMENT_COLUMN);
                text_add(t, "; %s", in->note);
            }
            text_add(t, "\n");
        }
    }
}

/* ---- the file around the instructions */

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

static void print_plan(struct text *t, const struct plan *plan)
{
    char value[64];
    text_add(t, "; key:");
    for (size_t i = 0; i < cogen_key_option_count; i++)
        text_add(t, " %s=%s", cogen_key_options[i].name,
                 cogen_key_get(&plan->key, cogen_key_options[i].name, value, sizeof value));
    text_add(t, "\n; %d workgroups x %d work-items\n", WORKGROUPS, THREADS);
    for (int i = 0; i < plan->n_lds; i++)
        text_add(t, "; lds      %6" PRId64 " + %6" PRId64 "  %s\n", plan->lds[i].offset,
                 plan->lds[i].size, plan->lds[i].name);
    for (int i = 0; i < plan->n_scratch; i++)
        text_add(t, "; scratch  %8" PRId64 " + %8" PRId64 "  %s\n", plan->scratch[i].offset,
                 plan->scratch[i].size, plan->scratch[i].name);
    for (int i = 0; i < plan->n_args; i++)
        text_add(t, "; argument %3d + %d  %s%s\n", plan->args[i].offset, plan->args[i].size,
                 plan->args[i].name, plan->args[i].written ? " (written)" : "");
}

static void print_head(struct text *t, const struct program *p)
{
    text_add(t, "; %s\n; cogen %s\n", p->name, COGEN_VERSION);
    if (p->plan)
        print_plan(t, p->plan);
    text_add(t, "; %d VGPRs, %d SGPRs (most alive: %d, %d)\n\n", p->vgprs, p->sgprs, p->peak_vgprs,
             p->peak_sgprs);
    text_add(t,
             ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.amdhsa_code_object_version 5\n.text\n"
             ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n",
             p->arch_950 ? "gfx950" : "gfx942", p->name, p->name, p->name);
}

static void print_descriptor(struct text *t, const struct program *p, int vgprs, int sgprs)
{
    /* The instruction fetch runs ahead of the last instruction: 256 dwords of s_nop to land in. */
    text_add(t, ".size %s, .-%s\n.fill 256, 4, 0xbf800000\n\n", p->name, p->name);
    text_add(t, ".rodata\n.p2align 6\n.amdhsa_kernel %s\n", p->name);
    const struct {
        const char *name;
        int value;
    } fields[] = {
        {"group_segment_fixed_size",      p->plan ? p->plan->lds_bytes : 0   },
        {"kernarg_size",                  p->plan ? p->plan->kernarg_size : 0},
        {"user_sgpr_kernarg_segment_ptr", 1                                  },
        {"system_sgpr_workgroup_id_x",    1                                  },
        {"system_vgpr_workitem_id",       0                                  },
        {"next_free_vgpr",                vgprs                              },
        {"next_free_sgpr",                sgprs                              },
        {"accum_offset",                  vgprs                              },
        {"float_denorm_mode_32",          3                                  },
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        text_add(t, "  .amdhsa_%s %d\n", fields[i].name, fields[i].value);
    text_add(t, ".end_amdhsa_kernel\n\n");
}

static void print_metadata_args(struct text *t, const struct plan *plan)
{
    if (!plan || !plan->n_args)
        return;
    text_add(t, "    .args:\n");
    for (int i = 0; i < plan->n_args; i++) {
        const struct plan_arg *a = &plan->args[i];
        text_add(t, "      - {.name: %s, .offset: %d, .size: %d, ", a->name, a->offset, a->size);
        if (a->kind == ARG_POINTER)
            text_add(t, ".value_kind: global_buffer, .address_space: global, .actual_access: %s}\n",
                     a->written ? "read_write" : "read_only");
        else
            text_add(t, ".value_kind: by_value}\n");
    }
}

static void print_metadata(struct text *t, const struct program *p, int vgprs, int sgprs)
{
    const struct plan *plan = p->plan;
    text_add(t, ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n");
    text_add(t, "  - .name: %s\n    .symbol: %s.kd\n", p->name, p->name);
    const struct {
        const char *name;
        int value;
    } fields[] = {
        {"kernarg_segment_size",       plan ? plan->kernarg_size : 0},
        {"kernarg_segment_align",      8                            },
        {"group_segment_fixed_size",   plan ? plan->lds_bytes : 0   },
        {"private_segment_fixed_size", 0                            },
        {"wavefront_size",             64                           },
        {"sgpr_count",                 sgprs                        },
        {"vgpr_count",                 vgprs                        },
        {"max_flat_workgroup_size",    THREADS                      },
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        text_add(t, "    .%s: %d\n", fields[i].name, fields[i].value);
    text_add(t, "    .reqd_workgroup_size: [%d, 1, 1]\n", THREADS);
    if (plan)
        text_add(t, "    .cogen_args_digest: \"%016" PRIx64 "\"\n", plan_args_digest(plan));
    print_metadata_args(t, plan);
    text_add(t, "...\n.end_amdgpu_metadata\n");
}

char *program_print(const struct program *p, char *err, size_t err_size)
{
    struct text t = {0};
    int vgprs = round_up(p->vgprs > 8 ? p->vgprs : 8, 8);
    int sgprs = p->sgprs > 16 ? p->sgprs : 16;
    print_head(&t, p);
    print_code(&t, p);
    print_descriptor(&t, p, vgprs, sgprs);
    print_metadata(&t, p, vgprs, sgprs);
    if (t.failed) {
        free(t.data);
        snprintf(err, err_size, "out of memory");
        return NULL;
    }
    return t.data;
}
