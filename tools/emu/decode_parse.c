/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disassembler's text into operands and modifiers. A line is
 *     mnemonic operand, operand, ... operand modifier modifier ...
 * where commas and blanks inside brackets belong to what they are in.
 */
#include "inst.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 48

static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool parse_number(const char *s, uint32_t *value)
{
    char *end;
    long long v = strtoll(s, &end, 0);
    if (end == s || *end)
        return false;
    *value = (uint32_t)v;
    return true;
}

struct named_reg {
    const char *name;
    uint8_t kind, n;
    uint16_t reg;
};

static const struct named_reg named_regs[] = {
    {"vcc",               OPND_S,       2, S_VCC                },
    {"vcc_lo",            OPND_S,       1, S_VCC                },
    {"vcc_hi",            OPND_S,       1, S_VCC + 1            },
    {"exec",              OPND_S,       2, S_EXEC               },
    {"exec_lo",           OPND_S,       1, S_EXEC               },
    {"exec_hi",           OPND_S,       1, S_EXEC + 1           },
    {"m0",                OPND_S,       1, S_M0                 },
    {"flat_scratch",      OPND_S,       2, S_FLAT_SCRATCH       },
    {"flat_scratch_lo",   OPND_S,       1, S_FLAT_SCRATCH       },
    {"flat_scratch_hi",   OPND_S,       1, S_FLAT_SCRATCH + 1   },
    {"xnack_mask",        OPND_S,       2, S_XNACK              },
    {"xnack_mask_lo",     OPND_S,       1, S_XNACK              },
    {"xnack_mask_hi",     OPND_S,       1, S_XNACK + 1          },
    {"src_shared_base",   OPND_SPECIAL, 2, SPECIAL_SHARED_BASE  },
    {"src_shared_limit",  OPND_SPECIAL, 2, SPECIAL_SHARED_LIMIT },
    {"src_private_base",  OPND_SPECIAL, 2, SPECIAL_PRIVATE_BASE },
    {"src_private_limit", OPND_SPECIAL, 2, SPECIAL_PRIVATE_LIMIT},
    {"src_vccz",          OPND_SPECIAL, 1, SPECIAL_VCCZ         },
    {"src_execz",         OPND_SPECIAL, 1, SPECIAL_EXECZ        },
    {"src_scc",           OPND_SPECIAL, 1, SPECIAL_SCC          },
    {"off",               OPND_OFF,     0, 0                    },
};

/* v7, a[4:7], s12, ttmp3: the letter's file. */
static bool parse_register(const char *s, struct opnd *o)
{
    unsigned base = 0;
    if (starts(s, "ttmp")) {
        s += 4;
        o->kind = OPND_S;
        base = S_TTMP;
    } else if (*s == 'v' || *s == 'a') {
        o->kind = OPND_V;
        o->acc = *s == 'a';
        s++;
    } else if (*s == 's') {
        o->kind = OPND_S;
        s++;
    } else {
        return false;
    }
    char *end;
    if (*s == '[') {
        unsigned long lo = strtoul(s + 1, &end, 10);
        if (*end != ':')
            return false;
        unsigned long hi = strtoul(end + 1, &end, 10);
        if (end[0] != ']' || end[1] || hi < lo)
            return false;
        o->reg = (uint16_t)(base + lo);
        o->n = (uint8_t)(hi - lo + 1);
        return true;
    }
    if (!isdigit((unsigned char)*s))
        return false;
    o->reg = (uint16_t)(base + strtoul(s, &end, 10));
    o->n = 1;
    return *end == 0;
}

static bool parse_constant(const char *s, struct opnd *o)
{
    /* lit(0x...): a literal whose value would also fit an inline constant. */
    char plain[40];
    size_t n = strlen(s);
    if (starts(s, "lit(") && n < sizeof(plain) && s[n - 1] == ')') {
        memcpy(plain, s + 4, n - 5);
        plain[n - 5] = 0;
        o->kind = OPND_IMM;
        o->literal = true;
        return parse_number(plain, &o->imm);
    }
    if (parse_number(s, &o->imm)) {
        o->kind = OPND_IMM;
        o->literal = starts(s, "0x") || starts(s, "-0x");
        return true;
    }
    char *end;
    float f = strtof(s, &end);
    if (end == s || *end)
        return false;
    memcpy(&o->imm, &f, 4);
    o->kind = OPND_IMM;
    o->real = true;
    return true;
}

static bool parse_operand(char *s, struct opnd *o)
{
    size_t len = strlen(s);
    /* A sign before a digit belongs to the number. */
    if (s[0] == '-' && !isdigit((unsigned char)s[1])) {
        o->neg = true;
        s++, len--;
    }
    if (starts(s, "neg(") && s[len - 1] == ')') {
        s[len - 1] = 0;
        s += 4, len -= 5;
        o->neg = true;
    }
    if (s[0] == '|' && len > 2 && s[len - 1] == '|') {
        s[len - 1] = 0;
        s++;
        o->abs = true;
    } else if (starts(s, "abs(") && s[len - 1] == ')') {
        s[len - 1] = 0;
        s += 4;
        o->abs = true;
    } else if (starts(s, "sext(") && s[len - 1] == ')') {
        s[len - 1] = 0;
        s += 5;
        o->sext = true;
    }
    for (size_t i = 0; i < sizeof(named_regs) / sizeof(named_regs[0]); i++) {
        if (strcmp(s, named_regs[i].name) == 0) {
            o->kind = named_regs[i].kind;
            o->n = named_regs[i].n;
            o->reg = named_regs[i].reg;
            return true;
        }
    }
    return parse_register(s, o) || parse_constant(s, o);
}

/* "[1,0,1]" into bits. */
static uint8_t parse_bits(const char *s, uint8_t *count)
{
    uint8_t bits = 0, n = 0;
    for (; *s && *s != ']'; s++) {
        if (*s == '0' || *s == '1') {
            bits |= (uint8_t)((*s - '0') << n);
            n++;
        }
    }
    if (count)
        *count = n;
    return bits;
}

static uint8_t parse_sel(const char *s)
{
    static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    for (uint8_t i = 0; i < 7; i++)
        if (strcmp(s, names[i]) == 0)
            return i;
    return SEL_DWORD;
}

/* The source lane of each lane, by the DPP control in text; 255 where there is none. */
static bool parse_dpp(struct inst *in, const char *s)
{
    unsigned n = 0, perm[4] = {0};
    const char *colon = strchr(s, ':');
    if (starts(s, "quad_perm:[")) {
        for (unsigned i = 0, k = 11; i < 4; i++, k += 2)
            perm[i] = (unsigned)(s[k] - '0') & 3;
    } else if (colon) {
        n = (unsigned)strtoul(colon + 1, NULL, 0);
    }
    for (unsigned i = 0; i < 64; i++) {
        unsigned row = i & ~15u, col = i & 15, j = 255;
        if (starts(s, "quad_perm:"))
            j = (i & ~3u) + perm[i & 3];
        else if (starts(s, "row_shr:"))
            j = col >= n ? i - n : 255;
        else if (starts(s, "row_shl:"))
            j = col + n < 16 ? i + n : 255;
        else if (starts(s, "row_ror:"))
            j = row + ((col - n) & 15);
        else if (starts(s, "row_mirror"))
            j = row + 15 - col;
        else if (starts(s, "row_half_mirror"))
            j = (i & ~7u) + 7 - (i & 7);
        else if (starts(s, "row_bcast:15"))
            j = i >= 16 ? row - 1 : 255;
        else if (starts(s, "row_bcast:31"))
            j = i >= 32 ? 31 : 255;
        else if (starts(s, "row_newbcast:"))
            j = row + (n & 15);
        else if (starts(s, "wave_shl"))
            j = i < 63 ? i + 1 : 255;
        else if (starts(s, "wave_shr"))
            j = i > 0 ? i - 1 : 255;
        else if (starts(s, "wave_rol"))
            j = (i + 1) & 63;
        else if (starts(s, "wave_ror"))
            j = (i - 1) & 63;
        else
            return false;
        in->dpp_lane[i] = (uint8_t)j;
    }
    in->flags |= IF_DPP;
    return true;
}

struct hw_name {
    const char *name;
    uint8_t id;
};
static const struct hw_name hw_names[] = {
    {"HW_REG_MODE",         1 },
    {"HW_REG_STATUS",       2 },
    {"HW_REG_TRAPSTS",      3 },
    {"HW_REG_HW_ID",        4 },
    {"HW_REG_GPR_ALLOC",    5 },
    {"HW_REG_LDS_ALLOC",    6 },
    {"HW_REG_IB_STS",       7 },
    {"HW_REG_SH_MEM_BASES", 15},
    {"HW_REG_XCC_ID",       20},
};

static bool parse_hwreg(struct inst *in, char *s)
{
    s += 6; /* hwreg( */
    char *comma = strchr(s, ',');
    in->hw_width = 32;
    if (comma) {
        in->hw_offset = (uint8_t)strtoul(comma + 1, &comma, 0);
        if (*comma == ',')
            in->hw_width = (uint8_t)strtoul(comma + 1, NULL, 0);
    }
    s[strcspn(s, ",)")] = 0;
    for (size_t i = 0; i < sizeof(hw_names) / sizeof(hw_names[0]); i++) {
        if (strcmp(s, hw_names[i].name) == 0) {
            in->hwreg = hw_names[i].id;
            return true;
        }
    }
    uint32_t id;
    if (!parse_number(s, &id))
        return false;
    in->hwreg = (uint8_t)id;
    return true;
}

/* "swizzle(MODE, ...)" is the printer's spelling of the 16 offset bits; the caller takes them from
 * the encoding. */
static bool parse_valued(struct inst *in, const char *name, char *value)
{
    uint32_t v = 0;
    bool number = parse_number(value, &v);
    if (strcmp(name, "offset") == 0)
        in->offset = (int32_t)v;
    else if (strcmp(name, "offset0") == 0)
        in->offset0 = (uint8_t)v;
    else if (strcmp(name, "offset1") == 0)
        in->offset1 = (uint8_t)v;
    else if (strcmp(name, "op_sel") == 0)
        in->op_sel = parse_bits(value, &in->op_sel_count);
    else if (strcmp(name, "op_sel_hi") == 0)
        in->op_sel_hi = parse_bits(value, NULL);
    else if (strcmp(name, "neg_lo") == 0)
        in->neg_lo = parse_bits(value, NULL);
    else if (strcmp(name, "neg_hi") == 0)
        in->neg_hi = parse_bits(value, NULL);
    else if (strcmp(name, "mul") == 0)
        in->omod = v == 2 ? 1 : 2;
    else if (strcmp(name, "div") == 0)
        in->omod = 3;
    else if (strcmp(name, "row_mask") == 0)
        in->row_mask = (uint8_t)v;
    else if (strcmp(name, "bank_mask") == 0)
        in->bank_mask = (uint8_t)v;
    else if (strcmp(name, "bound_ctrl") == 0)
        in->bound_ctrl = true;
    else if (strcmp(name, "dst_sel") == 0)
        in->dst_sel = parse_sel(value), in->flags |= IF_SDWA;
    else if (strcmp(name, "dst_unused") == 0)
        in->dst_unused = strcmp(value, "UNUSED_PAD") == 0    ? UNUSED_PAD
                         : strcmp(value, "UNUSED_SEXT") == 0 ? UNUSED_SEXT
                                                             : UNUSED_PRESERVE;
    else if (strcmp(name, "src0_sel") == 0)
        in->src_sel[0] = parse_sel(value), in->flags |= IF_SDWA;
    else if (strcmp(name, "src1_sel") == 0)
        in->src_sel[1] = parse_sel(value), in->flags |= IF_SDWA;
    else if (strcmp(name, "cbsz") == 0)
        in->cbsz = (uint8_t)v;
    else if (strcmp(name, "abid") == 0)
        in->abid = (uint8_t)v;
    else if (strcmp(name, "blgp") == 0)
        in->blgp = (uint8_t)v;
    else if (strcmp(name, "neg") == 0) /* blgp of f64 MFMA */
        in->blgp = parse_bits(value, NULL);
    else if (strcmp(name, "bitop3") == 0)
        in->bitop3 = (uint8_t)v;
    else
        return false;
    return number || !isdigit((unsigned char)value[0]);
}

static bool parse_counter(struct inst *in, const char *s)
{
    const char *paren = strchr(s, '(');
    if (!paren)
        return false;
    uint8_t n = (uint8_t)strtoul(paren + 1, NULL, 0);
    if (starts(s, "vmcnt"))
        in->vmcnt = n;
    else if (starts(s, "lgkmcnt"))
        in->lgkmcnt = n;
    else
        return starts(s, "expcnt");
    return true;
}

/* gpr_idx(SRC0,DST): which operands an index moves, as the four bits of M0 that say so. */
static bool parse_gpr_idx(struct inst *in, const char *s)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    for (unsigned i = 0; i < 4; i++)
        in->index |= (uint16_t)(strstr(s, names[i]) ? 0x1000u << i : 0);
    return true;
}

static bool parse_modifier(struct inst *in, char *s)
{
    struct flag_name {
        const char *name;
        bool *flag;
    } flags[] = {
        {"sc0",   &in->sc0  },
        {"sc1",   &in->sc1  },
        {"nt",    &in->nt   },
        {"offen", &in->offen},
        {"idxen", &in->idxen},
        {"lds",   &in->lds  },
        {"clamp", &in->clamp},
        {"gds",   &in->gds  },
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(s, flags[i].name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    if (starts(s, "hwreg("))
        return parse_hwreg(in, s);
    if (starts(s, "gpr_idx("))
        return parse_gpr_idx(in, s);
    if (strcmp(s, "&") == 0 || starts(s, "sendmsg("))
        return true;
    if (starts(s, "vmcnt(") || starts(s, "lgkmcnt(") || starts(s, "expcnt("))
        return parse_counter(in, s);
    if (parse_dpp(in, s))
        return true;
    char *colon = strchr(s, ':');
    if (!colon)
        return false;
    *colon = 0;
    bool ok = parse_valued(in, s, colon + 1);
    *colon = ':';
    return ok;
}

/* Cuts the line into words at commas and blanks outside brackets. A word after a blank, not a
 * comma, can only be a modifier (or the first operand). */
static unsigned split(char *s, char *word[MAX_WORDS], bool after_comma[MAX_WORDS])
{
    unsigned n = 0;
    int depth = 0;
    bool comma = true, open = false;
    for (; *s; s++) {
        if (*s == '[' || *s == '(')
            depth++;
        if (*s == ']' || *s == ')')
            depth--;
        bool blank = depth == 0 && (*s == ' ' || *s == '\t');
        bool cut = depth == 0 && *s == ',';
        if (blank || cut) {
            *s = 0;
            if (cut)
                comma = true;
            open = false;
            continue;
        }
        if (!open) {
            if (n == MAX_WORDS)
                return n;
            word[n] = s;
            after_comma[n++] = comma;
            comma = false;
            open = true;
        }
    }
    return n;
}

static char *base_mnemonic(const char *word, size_t len, struct inst *in)
{
    static const struct {
        const char *suffix;
        uint32_t flag;
    } suffixes[] = {
        {"_e32",  0      },
        {"_e64",  0      },
        {"_sdwa", IF_SDWA},
        {"_dpp",  IF_DPP },
    };
    if (word[0] == 'v')
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
            size_t n = strlen(suffixes[i].suffix);
            if (len > n && strncmp(word + len - n, suffixes[i].suffix, n) == 0) {
                in->flags |= suffixes[i].flag;
                len -= n;
                break;
            }
        }
    return strndup(word, len);
}

bool inst_parse(struct inst *in, const char *text)
{
    in->vmcnt = in->lgkmcnt = 255;
    in->row_mask = in->bank_mask = 15;
    in->dst_sel = in->src_sel[0] = in->src_sel[1] = SEL_DWORD;
    in->op_sel_hi = 0xff; /* default of packed instructions: 1 for each source */
    in->wait_states = 1;
    char *line = strdup(text);
    if (!line)
        return false;
    char *word[MAX_WORDS];
    bool after_comma[MAX_WORDS];
    unsigned n = split(line, word, after_comma);
    bool ok = n > 0;
    if (ok)
        in->mnemonic = base_mnemonic(word[0], strlen(word[0]), in);
    for (unsigned i = 1; ok && i < n; i++) {
        if ((i == 1 || after_comma[i]) && in->nops < INST_OPS) {
            struct opnd o = {0};
            char *copy = strdup(word[i]);
            bool operand = copy && parse_operand(copy, &o);
            free(copy);
            if (operand) {
                in->op[in->nops++] = o;
                continue;
            }
        }
        ok = parse_modifier(in, word[i]);
    }
    free(line);
    return ok && in->mnemonic;
}

static uint16_t f32_to_f16_bits(uint32_t f)
{
    /* Only the inline constants come here: all are normal numbers of both types. */
    if ((f & 0x7fffffff) == 0)
        return (uint16_t)(f >> 16);
    int exp = (int)((f >> 23) & 0xff) - 127 + 15;
    uint32_t man = f & 0x7fffff;
    uint32_t half = ((uint32_t)exp << 10) + (man >> 13);
    if ((man & 0x1fff) > 0x1000 || ((man & 0x1fff) == 0x1000 && (half & 1)))
        half++;
    return (uint16_t)(half | (f >> 31) << 15);
}

uint64_t opnd_bits(const struct opnd *o, const char *type, unsigned dwords)
{
    if (o->real) {
        if (dwords == 2 && strstr(type, "64")) { /* of whatever type: the bits are an f64's */
            /* 1/(2 pi) is an inline constant of its own in each width. */
            if ((o->imm & 0x7fffffff) == 0x3e22f983)
                return 0x3fc45f306dc9c882 | (uint64_t)(o->imm >> 31) << 63;
            float f;
            memcpy(&f, &o->imm, 4);
            double d = f;
            uint64_t bits;
            memcpy(&bits, &d, 8);
            return bits;
        }
        if (strcmp(type, "f16") == 0)
            return f32_to_f16_bits(o->imm);
        if (strcmp(type, "bf16") == 0)
            return o->imm >> 16;
        return o->imm;
    }
    if (dwords < 2)
        return o->imm;
    if (o->literal && strcmp(type, "f64") == 0)
        return (uint64_t)o->imm << 32;
    if (o->literal && type[0] != 'i')
        return o->imm;
    return (uint64_t)(int64_t)(int32_t)o->imm;
}
