/* SPDX-License-Identifier: Apache-2.0 */
#include "evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_match.h"

enum { MAX_WAVES = WORKGROUPS * WAVES, TRACE_LINE = 512 };

/* An instruction of interest in a wave's order. */
struct event {
    int line;
    bool lanes; /* EXEC is not 0 */
};

struct wave_events {
    struct event *at;
    size_t n, cap;
    int last; /* the line executed last, -1: none */
    uint64_t last_exec;
    uint64_t stores; /* a hash of its stores and barriers in order, with their lanes */
};

struct evidence {
    const struct listing *l;
    struct wave_events waves[MAX_CASES * MAX_WAVES];
    uint64_t *passes, *exec_changes, *taken; /* by line */
    int *line_of;                            /* by dword of the code; -1: none */
    size_t dwords;
    int current_case;
    char part[TRACE_LINE]; /* of a line not complete yet */
    size_t part_size;
    bool failed;
};

/* ---- taking it */

/* Others learn here that something is over: at a barrier, and from a (value, tag) pair. */
static bool hands_over(const char *text)
{
    return is_op(text, "s_barrier") ||
           (starts(text, "global_store_dwordx2") && strstr(text, " sc1"));
}

static int counter_of(const char *text)
{
    if (starts(text, "global_"))
        return 0;
    return starts(text, "ds_") || starts(text, "s_load") ? 1 : -1;
}

static bool stores(const char *text)
{
    return starts(text, "global_store") || starts(text, "ds_write") || is_op(text, "s_barrier");
}

static bool of_interest(const char *text)
{
    return counter_of(text) >= 0 || hands_over(text) || is_op(text, "s_waitcnt");
}

static void push(struct evidence *e, struct wave_events *w, int line, bool lanes)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        struct event *at = realloc(w->at, cap * sizeof *at);
        if (!at) {
            e->failed = true;
            return;
        }
        w->at = at;
        w->cap = cap;
    }
    w->at[w->n++] = (struct event){line, lanes};
}

/* A number and what follows it; false when there is none or something else follows. */
static bool take_number(const char **at, int base, const char *behind, uint64_t *number)
{
    char *end;
    *number = strtoull(*at, &end, base);
    size_t n = strlen(behind);
    bool good = end != *at && strncmp(end, behind, n) == 0;
    *at = end + (good ? n : 0);
    return good;
}

/* "GROUP.WAVE PC exec EXEC ..." */
static void take_line(struct evidence *e, const char *text)
{
    uint64_t group, wave, pc, exec;
    if (!take_number(&text, 10, ".", &group) || !take_number(&text, 10, " ", &wave) ||
        !take_number(&text, 16, " exec ", &pc) || !take_number(&text, 16, "", &exec))
        return;
    size_t index = group * WAVES + wave;
    if (index >= MAX_WAVES || pc / 4 >= e->dwords || e->line_of[pc / 4] < 0) {
        e->failed = true;
        return;
    }
    int line = e->line_of[pc / 4];
    struct wave_events *w = &e->waves[(size_t)e->current_case * MAX_WAVES + index];
    if (w->last >= 0) {
        const struct line *last = &e->l->lines[w->last];
        if (w->last_exec != exec)
            e->exec_changes[w->last]++;
        for (int to = last->next[1]; to >= 0 && !e->l->lines[to].inst; to = e->l->lines[to].next[0])
            if (to + 1 == line || e->l->lines[to].next[0] == line) {
                e->taken[w->last]++;
                break;
            }
        if (is_op(last->text, "s_branch"))
            e->taken[w->last]++;
    }
    w->last = line;
    w->last_exec = exec;
    e->passes[line]++;
    uint64_t with = is_op(e->l->lines[line].text, "s_barrier") ? 1 : exec;
    if (stores(e->l->lines[line].text) && with)
        w->stores =
            (w->stores ^ (uint64_t)line ^ with * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu +
            (with >> 32) + 1;
    if (of_interest(e->l->lines[line].text))
        push(e, w, line, exec != 0);
}

static ssize_t take(void *data, const char *bytes, size_t size)
{
    struct evidence *e = data;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n') {
            if (e->part_size + 1 < sizeof e->part)
                e->part[e->part_size++] = bytes[i];
            continue;
        }
        e->part[e->part_size] = '\0';
        take_line(e, e->part);
        e->part_size = 0;
    }
    return (ssize_t)size;
}

/* The text with a label at each instruction, and a table of where they lie. */
static char *labelled(const struct listing *l)
{
    size_t size = strlen(l->text) + (size_t)l->n * 64 + 256;
    char *text = malloc(size);
    if (!text)
        return NULL;
    size_t n = 0;
    const char *from = l->text, *first = NULL;
    for (int i = 0; i < l->n; i++) {
        const struct line *line = &l->lines[i];
        if (!line->inst)
            continue;
        n += (size_t)snprintf(text + n, size - n, "%.*s.Lmutation_%d:\n", (int)(line->start - from),
                              from, i);
        from = line->start;
        if (!first)
            first = from;
    }
    n += (size_t)snprintf(text + n, size - n,
                          "%s\n.section .rodata\n.globl mutation_lines\n.p2align 3\n"
                          ".type mutation_lines,@object\nmutation_lines:\n",
                          from);
    size_t table = n;
    int zero = -1, count = 0;
    for (int i = 0; i < l->n; i++) {
        if (!l->lines[i].inst)
            continue;
        if (zero < 0)
            zero = i;
        n += (size_t)snprintf(text + n, size - n, ".long .Lmutation_%d-.Lmutation_%d\n", i, zero);
        count++;
    }
    n += (size_t)snprintf(text + n, size - n, ".size mutation_lines, %d\n", 4 * count);
    return n < size && table < n ? text : (free(text), NULL);
}

static int read_table(struct evidence *e, struct emu_object *object)
{
    size_t size, k = 0;
    const uint32_t *at = emu_object_symbol(object, "mutation_lines", &size);
    if (!at || size < 4)
        return -1;
    e->dwords = at[size / 4 - 1] / 4 + 4;
    e->line_of = malloc(e->dwords * sizeof *e->line_of);
    if (!e->line_of)
        return -1;
    for (size_t i = 0; i < e->dwords; i++)
        e->line_of[i] = -1;
    for (int i = 0; i < e->l->n && k < size / 4; i++)
        if (e->l->lines[i].inst)
            e->line_of[at[k++] / 4] = i;
    return 0;
}

struct evidence *evidence_of(struct runs *r, const struct listing *l, char *err, size_t err_size)
{
    struct evidence *e = calloc(1, sizeof *e);
    char *text = labelled(l);
    int bad = !e || !text;
    if (!bad) {
        e->l = l;
        e->passes = calloc((size_t)l->n, sizeof *e->passes);
        e->exec_changes = calloc((size_t)l->n, sizeof *e->exec_changes);
        e->taken = calloc((size_t)l->n, sizeof *e->taken);
        bad = !e->passes || !e->exec_changes || !e->taken;
        for (size_t i = 0; i < sizeof e->waves / sizeof e->waves[0]; i++)
            e->waves[i].last = -1;
    }
    if (bad)
        snprintf(err, err_size, "out of memory");
    FILE *trace = bad ? NULL : fopencookie(e, "w", (cookie_io_functions_t){.write = take});
    if (trace)
        setvbuf(trace, NULL, _IOFBF, 1 << 20);
    if (!bad && (!trace || runs_trace_begin(r, text, trace, err, err_size)))
        bad = -1;
    if (!bad && read_table(e, r->traced)) {
        snprintf(err, err_size, "the table of lines could not be read");
        bad = -1;
    }
    for (int i = 0; !bad && i < r->cases; i++) {
        e->current_case = i;
        bad = runs_trace_case(r, i, err, err_size);
        fflush(trace);
    }
    runs_trace_end(r);
    if (trace)
        fclose(trace);
    if (!bad && e->failed) {
        snprintf(err, err_size, "the trace could not be followed");
        bad = -1;
    }
    free(text);
    if (!bad)
        return e;
    evidence_free(e);
    return NULL;
}

void evidence_free(struct evidence *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < sizeof e->waves / sizeof e->waves[0]; i++)
        free(e->waves[i].at);
    free(e->passes);
    free(e->exec_changes);
    free(e->taken);
    free(e->line_of);
    free(e);
}

uint64_t evidence_passes(const struct evidence *e, int line)
{
    return e->passes[line];
}

/* ---- reading it */

/* Operations of a counter are numbered from 1 in a wave's order; the first `done` of them are over
 * for sure, for the kernel and for the mutant. */
struct progress {
    int issued, done[2];
};

/* An operation that another wave could see by its effect. Loads are none: a register in flight is
 * the wave's own. Nor are plain stores: a load by another workgroup of what one left is a finding.
 */
static bool seen_by_others(const char *text)
{
    return starts(text, "ds_") || (starts(text, "global_store") && strstr(text, " sc1"));
}

/* Which of the wave's operations lie between the mutant's and the kernel's. */
struct between {
    bool any, lanes, visible;
};

static void cross(struct crossing *c, int line)
{
    for (int i = 0; i < c->n; i++)
        if (c->line[i] == line)
            return;
    if (c->n == MAX_CROSSING)
        c->more = true;
    else
        c->line[c->n++] = line;
}

/* What is visible of it is added to *crossing, unless that is NULL. */
static struct between between(const struct evidence *e, const struct wave_events *w, size_t upto,
                              int counter, const struct progress *p, struct crossing *crossing)
{
    struct between b = {0};
    int number = p->issued + 1;
    for (size_t i = upto; i-- > 0 && number > p->done[1];) {
        const char *text = e->l->lines[w->at[i].line].text;
        if (counter_of(text) != counter)
            continue;
        number--;
        if (number > p->done[0] || number <= p->done[1])
            continue;
        b.any = true;
        b.lanes = b.lanes || w->at[i].lanes;
        if (!w->at[i].lanes || !seen_by_others(text))
            continue;
        b.visible = true;
        if (crossing)
            cross(crossing, w->at[i].line);
    }
    return b;
}

static void advance(struct progress *p, int version, int count)
{
    if (p->issued - count > p->done[version])
        p->done[version] = p->issued - count;
}

enum wait_effect { NEVER_WAITS, NO_LANES, COVERED, NOT_SHOWN };

/* Follows one wave with a counter's wait changed to `count`. */
static enum wait_effect follow(const struct evidence *e, const struct wave_events *w, int counter,
                               int line, int count, struct crossing *crossing)
{
    struct progress p = {0};
    enum wait_effect effect = NEVER_WAITS;
    for (size_t i = 0; i < w->n; i++) {
        const char *text = e->l->lines[w->at[i].line].text;
        if (hands_over(text) && p.done[1] < p.done[0] &&
            between(e, w, i, counter, &p, crossing).visible)
            effect = NOT_SHOWN;
        if (counter_of(text) == counter) {
            p.issued++;
            /* A full counter holds the next operation back. */
            advance(&p, 0, counter_max[counter]);
            advance(&p, 1, counter_max[counter]);
        }
        if (!is_op(text, "s_waitcnt"))
            continue;
        int counts[COUNTERS];
        wait_counts(text, counts);
        if (counts[counter] < 0)
            continue;
        advance(&p, 0, counts[counter]);
        advance(&p, 1, w->at[i].line == line ? count : counts[counter]);
        struct between b =
            p.done[1] < p.done[0] ? between(e, w, i, counter, &p, NULL) : (struct between){0};
        enum wait_effect now = b.lanes ? COVERED : b.any ? NO_LANES : NEVER_WAITS;
        if (now > effect)
            effect = now;
    }
    return effect;
}

const char *evidence_wait(const struct evidence *e, const struct mutant *m, struct crossing *out)
{
    static const char *const reasons[] = {
        [NEVER_WAITS] = "no wave of any run has more in flight there",
        [NO_LANES] = "all that it waits for, in any wave of any run, was issued with EXEC 0",
        [COVERED] = "in every wave of every run a later wait stands in ahead of use and hand-over",
        [NOT_SHOWN] = NULL,
    };
    int was[COUNTERS], is[COUNTERS];
    enum wait_effect worst = NEVER_WAITS;
    *out = (struct crossing){0};
    wait_counts(e->l->lines[m->line].text, was);
    wait_counts(m->replacement, is);
    for (int c = 0; c < COUNTERS; c++) {
        if (was[c] < 0 || was[c] == is[c])
            continue;
        for (size_t i = 0; i < sizeof e->waves / sizeof e->waves[0]; i++) {
            enum wait_effect now =
                follow(e, &e->waves[i], c, m->line, is[c] < 0 ? NO_LIMIT : is[c], out);
            if (now > worst)
                worst = now;
        }
    }
    return reasons[worst];
}

const char *evidence_exec(const struct evidence *e, const struct mutant *m)
{
    if (!e->passes[m->line])
        return "no wave of any run comes there";
    return e->exec_changes[m->line] ? NULL
                                    : "EXEC has that value already, in every wave of every run";
}

const char *evidence_poll(const struct evidence *e, const struct mutant *m)
{
    return e->taken[m->line] ? NULL : "no wave of any run takes the branch: the loop has one round";
}

bool evidence_same_stores(const struct evidence *e, const struct evidence *other)
{
    for (size_t i = 0; i < sizeof e->waves / sizeof e->waves[0]; i++)
        if (e->waves[i].stores != other->waves[i].stores)
            return false;
    return true;
}

/* ---- barriers */

/* Which waves of a workgroup do what between two barriers, a bit a wave. */
struct phase {
    unsigned lds_reads, lds_writes, publishes;
};

/* The events of a wave from *at to its next barrier, whose line is returned; -1: the program ended.
 */
static int phase_of(const struct evidence *e, const struct wave_events *w, size_t *at, unsigned bit,
                    struct phase *p)
{
    while (*at < w->n) {
        struct event event = w->at[(*at)++];
        const char *text = e->l->lines[event.line].text;
        if (is_op(text, "s_barrier"))
            return event.line;
        if (!event.lanes)
            continue;
        if (starts(text, "ds_read"))
            p->lds_reads |= bit;
        else if (starts(text, "ds_"))
            p->lds_writes |= bit;
        else if (starts(text, "global_store") && strstr(text, " sc1"))
            p->publishes |= bit;
    }
    return -1;
}

/* Whether some wave of a and another one of b are in both. */
static bool two_waves(unsigned a, unsigned b)
{
    return a && b && (a != b || (a & (a - 1)));
}

static bool ordered(const struct phase *before, const struct phase *after)
{
    return two_waves(before->publishes, after->publishes) ||
           two_waves(before->lds_writes, after->lds_writes | after->lds_reads) ||
           two_waves(before->lds_reads, after->lds_writes);
}

/* The barrier at a line orders nothing in a workgroup. */
static bool idle_in_group(const struct evidence *e, const struct wave_events *waves, int line)
{
    size_t at[WAVES] = {0};
    struct phase before = {0};
    bool here = false, more = true;
    while (more) {
        struct phase after = {0};
        bool was_here = here;
        here = more = false;
        for (int w = 0; w < WAVES; w++) {
            int ended = phase_of(e, &waves[w], &at[w], 1u << w, &after);
            here = here || ended == line;
            more = more || ended >= 0;
        }
        if (was_here && ordered(&before, &after))
            return false;
        before = after;
    }
    return true;
}

const char *evidence_barrier(const struct evidence *e, const struct mutant *m)
{
    for (size_t i = 0; i < sizeof e->waves / sizeof e->waves[0]; i += WAVES)
        if (!idle_in_group(e, &e->waves[i], m->line))
            return NULL;
    return "in every workgroup of every run, what it would order is done by one wave";
}
