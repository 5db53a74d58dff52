/* SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_match.h"

const char *const mutant_kind_names[MUTANT_KINDS] = {
    [MUTANT_WAIT] = "s_waitcnt removed",
    [MUTANT_WAIT_COUNTER] = "counter of a wait dropped",
    [MUTANT_WAIT_WEAKER] = "counter one higher",
    [MUTANT_NOP] = "s_nop removed",
    [MUTANT_NOP_SHORTER] = "s_nop one shorter",
    [MUTANT_BARRIER] = "s_barrier removed",
    [MUTANT_SCOPE_LOAD] = "sc1 of a load",
    [MUTANT_SCOPE_STORE] = "sc1 of a store",
    [MUTANT_STORE] = "published store removed",
    [MUTANT_POLL] = "poll's branch back removed",
    [MUTANT_CLAMP] = "bounds clamp removed",
    [MUTANT_EXEC] = "EXEC restore removed",
};

/* ---- reading */

static void read_line(struct line *line)
{
    const char *p = line->start, *end = line->start + line->size;
    const char *comment = memchr(p, ';', line->size);
    if (comment)
        end = comment;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    size_t size = (size_t)(end - p);
    line->next[0] = line->next[1] = -1;
    if (size > 1 && end[-1] == ':' && size - 1 < sizeof line->label) {
        memcpy(line->label, p, size - 1);
        line->label[size - 1] = '\0';
    } else if (size > 2 && p[0] == ' ' && islower((unsigned char)p[2])) {
        while (p < end && *p == ' ')
            p++;
        size = (size_t)(end - p);
        line->inst = size < sizeof line->text;
        if (line->inst) {
            memcpy(line->text, p, size);
            line->text[size] = '\0';
        }
    }
}

static int find_label(const struct listing *l, const char *label)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->lines[i].label, label) == 0)
            return i;
    return -1;
}

static int link_lines(struct listing *l)
{
    for (int i = 0; i < l->n; i++) {
        struct line *line = &l->lines[i];
        int after = i + 1 < l->n ? i + 1 : -1;
        if (!line->inst) {
            line->next[0] = after;
            continue;
        }
        bool jump = is_op(line->text, "s_branch"), maybe = starts(line->text, "s_cbranch");
        if (!is_op(line->text, "s_endpgm") && !jump)
            line->next[0] = after;
        if (!jump && !maybe)
            continue;
        int to = find_label(l, strrchr(line->text, ' ') + 1);
        if (to < 0)
            return -1;
        line->next[jump ? 0 : 1] = to;
    }
    return 0;
}

int listing_read(const char *text, struct listing *out)
{
    *out = (struct listing){.text = text};
    int total = 0, number = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        total++;
    out->lines = calloc((size_t)total + 1, sizeof *out->lines);
    if (!out->lines)
        return -1;
    bool code = false;
    for (const char *p = text; *p;) {
        size_t size = strcspn(p, "\n");
        number++;
        if (starts(p, ".size"))
            code = false;
        if (code && out->n <= total) {
            struct line *line = &out->lines[out->n++];
            line->start = p;
            line->size = size;
            line->number = number;
            read_line(line);
        }
        if (starts(p, ".type"))
            code = true;
        p += size + (p[size] == '\n');
    }
    if (link_lines(out) == 0)
        return 0;
    listing_free(out);
    return -1;
}

void listing_free(struct listing *l)
{
    free(l->lines);
    *l = (struct listing){0};
}

/* ---- mutants */

struct list {
    struct mutant *m;
    int n, cap;
    bool failed;
};

static struct mutant *add(struct list *list, enum mutant_kind kind, int line)
{
    if (list->n == list->cap) {
        int cap = list->cap ? 2 * list->cap : 128;
        struct mutant *m = realloc(list->m, (size_t)cap * sizeof *m);
        if (!m) {
            list->failed = true;
            return NULL;
        }
        list->m = m;
        list->cap = cap;
    }
    struct mutant *m = &list->m[list->n++];
    *m = (struct mutant){.kind = kind, .line = line, .counter = -1};
    return m;
}

/* A wait of up to two counters; -1 where one is not in it. */
static void print_wait(char *text, const int counts[COUNTERS])
{
    int n = snprintf(text, LINE_MAX_TEXT, "s_waitcnt");
    for (int c = 0; c < COUNTERS; c++)
        if (counts[c] >= 0)
            n += snprintf(text + n, LINE_MAX_TEXT - (size_t)n, " %s(%d)", counter_names[c],
                          counts[c]);
}

static void add_wait(struct list *list, const struct listing *l, int at)
{
    int counts[COUNTERS], used = 0;
    wait_counts(l->lines[at].text, counts);
    add(list, MUTANT_WAIT, at);
    for (int c = 0; c < COUNTERS; c++)
        used += counts[c] >= 0;
    for (int c = 0; c < COUNTERS; c++) {
        if (counts[c] < 0)
            continue;
        int was = counts[c];
        if (used > 1) {
            struct mutant *m = add(list, MUTANT_WAIT_COUNTER, at);
            counts[c] = -1;
            if (m) {
                m->counter = c;
                print_wait(m->replacement, counts);
            }
        }
        counts[c] = was + 1;
        if (was < counter_max[c]) {
            struct mutant *m = add(list, MUTANT_WAIT_WEAKER, at);
            if (m) {
                m->counter = c;
                print_wait(m->replacement, counts);
            }
        }
        counts[c] = was;
    }
}

static void add_nop(struct list *list, const struct listing *l, int at)
{
    int states = (int)strtol(l->lines[at].text + strlen("s_nop "), NULL, 10);
    add(list, MUTANT_NOP, at);
    struct mutant *m = states ? add(list, MUTANT_NOP_SHORTER, at) : NULL;
    if (m)
        snprintf(m->replacement, sizeof m->replacement, "s_nop %d", states - 1);
}

static void add_scope(struct list *list, const struct listing *l, int at)
{
    const char *text = l->lines[at].text, *sc1 = strstr(text, " sc1");
    bool store = starts(text, "global_store");
    struct mutant *m = add(list, store ? MUTANT_SCOPE_STORE : MUTANT_SCOPE_LOAD, at);
    if (m)
        snprintf(m->replacement, sizeof m->replacement, "%.*s%s", (int)(sc1 - text), text,
                 sc1 + strlen(" sc1"));
    if (store)
        add(list, MUTANT_STORE, at);
}

static bool polls(const struct listing *l, int from, int to)
{
    for (int i = from; i < to; i++)
        if (starts(l->lines[i].text, "global_load") && strstr(l->lines[i].text, " sc1"))
            return true;
    return false;
}

/* min and max of an index with a constant or a scalar bound: what is clamped is the last operand,
 * or for s_min the other one. A lower bound of a value, as of an exponent, is none. */
static void add_clamp(struct list *list, const struct listing *l, int at)
{
    char op[32], operand[4][40];
    const char *text = l->lines[at].text;
    int n = split_operands(text, op, sizeof op, operand);
    bool vector = n == 3 && (starts(op, "v_min_u32") || starts(op, "v_min_i32"));
    bool zero = n == 3 && starts(op, "v_max_i32") && strcmp(operand[1], "0") == 0;
    bool scalar = n == 3 && (strcmp(op, "s_min_u32") == 0 || strcmp(op, "s_min_i32") == 0);
    bool med3 = n == 4 && (starts(op, "v_med3_i32") || starts(op, "v_med3_u32"));
    if ((!vector && !zero && !scalar && !med3) || strstr(op, "dpp"))
        return;
    int of = med3 || (scalar && isdigit((unsigned char)operand[2][0])) ? 1 : 2;
    if (scalar && isdigit((unsigned char)operand[1][0]))
        of = 2;
    struct mutant *m = add(list, MUTANT_CLAMP, at);
    if (m)
        snprintf(m->replacement, sizeof m->replacement, "%s %s, %s",
                 scalar ? "s_mov_b32" : "v_mov_b32_e32", operand[0], operand[of]);
    if (scalar && of == 2 && !isdigit((unsigned char)operand[1][0])) {
        m = add(list, MUTANT_CLAMP, at);
        if (m)
            snprintf(m->replacement, sizeof m->replacement, "s_mov_b32 %s, %s", operand[0],
                     operand[1]);
    }
}

int mutants_list(const struct listing *l, struct mutant **out)
{
    struct list list = {0};
    for (int i = 0; i < l->n; i++) {
        const struct line *line = &l->lines[i];
        if (!line->inst)
            continue;
        if (is_op(line->text, "s_waitcnt"))
            add_wait(&list, l, i);
        else if (is_op(line->text, "s_nop"))
            add_nop(&list, l, i);
        else if (is_op(line->text, "s_barrier"))
            add(&list, MUTANT_BARRIER, i);
        else if (starts(line->text, "global_") && strstr(line->text, " sc1"))
            add_scope(&list, l, i);
        else if (is_op(line->text, "s_mov_b64 exec,") || is_op(line->text, "s_or_b64 exec,") ||
                 is_op(line->text, "s_andn2_b64 exec,"))
            add(&list, MUTANT_EXEC, i);
        else if (starts(line->text, "s_branch") || starts(line->text, "s_cbranch")) {
            int to = line->next[is_op(line->text, "s_branch") ? 0 : 1];
            if (to < i && polls(l, to, i))
                add(&list, MUTANT_POLL, i);
        } else
            add_clamp(&list, l, i);
    }
    *out = list.m;
    if (!list.failed)
        return list.n;
    free(list.m);
    *out = NULL;
    return -1;
}

char *mutant_text(const struct listing *l, const struct mutant *m)
{
    const struct line *line = &l->lines[m->line];
    size_t before = (size_t)(line->start - l->text), after = before + line->size;
    size_t size = strlen(l->text) + sizeof m->replacement + 8;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%.*s  %s%s", (int)before, l->text, m->replacement, l->text + after);
    return text;
}

char *moved_barrier_text(const struct listing *l, int wait, int to)
{
    if (to >= wait || wait + 1 >= l->n || !is_op(l->lines[wait + 1].text, "s_barrier"))
        return NULL;
    for (int i = to; i < wait; i++)
        if (l->lines[i].label[0] || starts(l->lines[i].text, "s_branch") ||
            starts(l->lines[i].text, "s_cbranch") || is_op(l->lines[i].text, "s_barrier"))
            return NULL;
    const char *barrier = l->lines[wait + 1].start;
    size_t size = strlen(l->text) + 64;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%.*s  s_waitcnt lgkmcnt(0)\n  s_barrier\n%.*s%s",
                 (int)(l->lines[to].start - l->text), l->text,
                 (int)(l->lines[wait].start - l->lines[to].start), l->lines[to].start,
                 barrier + l->lines[wait + 1].size + 1);
    return text;
}
