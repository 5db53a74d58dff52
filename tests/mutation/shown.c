/* SPDX-License-Identifier: Apache-2.0 */
/* What the control flow of the text shows of a change, without running it. */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "text_match.h"

/* ---- operations in flight */

static bool is_vector_memory(const char *text)
{
    return starts(text, "global_") || starts(text, "buffer_") || starts(text, "flat_") ||
           starts(text, "scratch_");
}

/* Most that an instruction adds to a counter. A scalar load may count twice. */
static int issues(const char *text, int counter)
{
    if (counter == 0)
        return is_vector_memory(text);
    return starts(text, "ds_") ? 1 : starts(text, "s_load") || starts(text, "s_store") ? 2 : 0;
}

/* The most operations of a counter that may be in flight ahead of a line, over all paths. */
static int most_in_flight(const struct listing *l, int counter, int at)
{
    int *most = malloc((size_t)l->n * sizeof *most);
    if (!most)
        return NO_LIMIT;
    for (int i = 0; i < l->n; i++)
        most[i] = -1; /* not reached */
    most[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < l->n; i++) {
            if (most[i] < 0)
                continue;
            const char *text = l->lines[i].text;
            int out = most[i] + issues(text, counter), counts[COUNTERS];
            if (out > counter_max[counter] + 1)
                out = counter_max[counter] + 1;
            if (is_op(text, "s_waitcnt")) {
                wait_counts(text, counts);
                if (counts[counter] >= 0 && counts[counter] < out)
                    out = counts[counter];
            }
            for (int k = 0; k < MAX_NEXT; k++) {
                int to = l->lines[i].next[k];
                if (to >= 0 && most[to] < out) {
                    most[to] = out;
                    changed = true;
                }
            }
        }
    }
    int result = most[at] < 0 ? 0 : most[at];
    free(most);
    return result;
}

/* Other waves or workgroups may see from here on that something is not done yet. */
static bool hands_over(const char *text)
{
    return is_op(text, "s_barrier") || starts(text, "buffer_wbl2") || starts(text, "buffer_inv") ||
           (starts(text, "global_store") && strstr(text, " sc1")) || starts(text, "global_atomic");
}

/* Every path from `from` meets a wait that stands in for counter(count), ahead of any hand-over;
 * issued: operations since, by which a later wait's count may be higher. */
struct search {
    const struct listing *l;
    int *seen; /* least `issued` a line was reached with, -1: not reached */
    int counter, count;
};

static bool stood_in(struct search *s, int at, int issued)
{
    while (at >= 0) {
        if (s->seen[at] >= 0 && s->seen[at] <= issued)
            return true;
        s->seen[at] = issued;
        const struct line *line = &s->l->lines[at];
        int counts[COUNTERS];
        if (hands_over(line->text))
            return false;
        if (is_op(line->text, "s_waitcnt")) {
            wait_counts(line->text, counts);
            if (counts[s->counter] >= 0 && counts[s->counter] <= s->count + issued)
                return true;
        }
        /* a scalar load's return is in no order: it covers nothing */
        if (starts(line->text, "ds_") || s->counter == 0)
            issued += issues(line->text, s->counter) > 0;
        if (line->next[1] >= 0 && !stood_in(s, line->next[1], issued))
            return false;
        at = line->next[0];
    }
    return true; /* the program's end */
}

static bool later_wait(const struct listing *l, int counter, int count, int from)
{
    struct search s = {.l = l, .counter = counter, .count = count};
    s.seen = malloc((size_t)l->n * sizeof *s.seen);
    if (!s.seen)
        return false;
    for (int i = 0; i < l->n; i++)
        s.seen[i] = -1;
    bool found = stood_in(&s, from, 0);
    free(s.seen);
    return found;
}

const char *shown_wait(const struct listing *l, const struct mutant *m)
{
    int counts[COUNTERS];
    bool never = true;
    wait_counts(l->lines[m->line].text, counts);
    for (int c = 0; c < COUNTERS; c++) {
        if (counts[c] < 0 || (m->counter >= 0 && m->counter != c))
            continue;
        if (most_in_flight(l, c, m->line) <= counts[c])
            continue;
        never = false;
        if (!later_wait(l, c, counts[c], l->lines[m->line].next[0]))
            return NULL;
    }
    return never ? "never waits: no path has more in flight"
                 : "a later wait stands in ahead of every use and hand-over";
}

/* ---- EXEC */

static bool depends_on_exec(const char *text)
{
    return text[0] == 'v' || starts(text, "ds_") || is_vector_memory(text) ||
           is_op(text, "s_barrier") || starts(text, "s_cbranch_exec") ||
           starts(text, "s_cbranch_vcc") || strstr(text, "saveexec") ||
           (strstr(text, "exec") && !starts(text, "s_mov_b64 exec,"));
}

static bool rewritten(const struct listing *l, bool *seen, int at)
{
    while (at >= 0 && !seen[at]) {
        seen[at] = true;
        const struct line *line = &l->lines[at];
        if (starts(line->text, "s_mov_b64 exec,"))
            return true;
        if (depends_on_exec(line->text))
            return false;
        if (line->next[1] >= 0 && !rewritten(l, seen, line->next[1]))
            return false;
        at = line->next[0];
    }
    return true;
}

const char *shown_exec(const struct listing *l, const struct mutant *m)
{
    bool *seen = calloc((size_t)l->n, sizeof *seen);
    if (!seen)
        return NULL;
    bool shown = rewritten(l, seen, l->lines[m->line].next[0]);
    free(seen);
    return shown ? "EXEC is written anew ahead of anything that depends on it" : NULL;
}

/* ---- barriers */

static bool is_memory(const char *text)
{
    return starts(text, "ds_") || is_vector_memory(text);
}

/* No path from `at` has a memory access ahead of the next barrier. */
static bool quiet_after(const struct listing *l, bool *seen, int at)
{
    while (at >= 0 && !seen[at]) {
        seen[at] = true;
        const struct line *line = &l->lines[at];
        if (is_op(line->text, "s_barrier"))
            return true;
        if (is_memory(line->text))
            return false;
        if (line->next[1] >= 0 && !quiet_after(l, seen, line->next[1]))
            return false;
        at = line->next[0];
    }
    return true;
}

const char *shown_barrier(const struct listing *l, const struct mutant *m)
{
    bool *seen = calloc((size_t)l->n, sizeof *seen);
    if (!seen)
        return NULL;
    bool shown = quiet_after(l, seen, l->lines[m->line].next[0]);
    free(seen);
    return shown ? "no memory access between it and the next barrier" : NULL;
}
