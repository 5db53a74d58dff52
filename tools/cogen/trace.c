/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cogen/trace.h"

#include "gen/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_PER_US = 100, ROW = 4, WIDTH = 1200, LEFT = 60, TOP = 40, GAP = 30, MAX_LAUNCHES = 2 };

/* A stage of a workgroup: from the stamp before it to its own. */
struct span {
    int workgroup, stamp;
    uint64_t from, to;
};

/* The spans of a workgroup, in time order; the count. The first stamp passed starts the clock and
 * ends no stage. */
static int spans_of(const struct trace_launch *l, int workgroup, struct span out[STAMPS])
{
    const uint64_t *s = l->stamps + (size_t)workgroup * STAMPS;
    int order[STAMPS], n = 0, count = 0;
    for (int i = 0; i < STAMPS; i++) {
        if (!s[i] || !l->names[i])
            continue;
        int at = n++;
        for (; at > 0 && s[order[at - 1]] > s[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 1; i < n; i++)
        out[count++] = (struct span){workgroup, order[i], s[order[i - 1]], s[order[i]]};
    return count;
}

/* What is drawn of a launch: its ticks less `origin`. */
struct drawn {
    uint64_t first, last, origin;
};

/* False when no stamp was passed. Launches run in turn; where the clock starts anew with a launch,
 * as the emulator's does, the later one is drawn right behind the earlier. *total: ticks of the
 * whole picture. */
static bool arrange(const struct trace_launch *launches, size_t count, struct drawn *out,
                    uint64_t *total)
{
    *total = 0;
    for (size_t k = 0; k < count; k++) {
        struct drawn *d = &out[k];
        *d = (struct drawn){UINT64_MAX, 0, 0};
        for (size_t i = 0; i < (size_t)WORKGROUPS * STAMPS; i++) {
            uint64_t t = launches[k].stamps[i];
            if (!t || !launches[k].names[i % STAMPS])
                continue;
            d->first = t < d->first ? t : d->first;
            d->last = t > d->last ? t : d->last;
        }
        if (d->first > d->last)
            return false;
        bool anew = k && d->first < out[k - 1].last;
        d->origin = anew ? d->first - *total : k ? out[0].origin : d->first;
        *total = d->last - d->origin;
    }
    return true;
}

/* Colours by stamp, far apart in hue and even in lightness. */
static const char *colour(int stamp)
{
    static const char *const table[STAMPS] = {
        "#888888", "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1",
        "#ff9da7", "#9c755f", "#86bcb6", "#d37295", "#a0cbe8", "#8cd17d", "#b6992d", "#499894"};
    return table[stamp];
}

char *trace_json(const struct trace_launch *launches, size_t count)
{
    struct drawn drawn[MAX_LAUNCHES];
    uint64_t total;
    if (count > MAX_LAUNCHES || !arrange(launches, count, drawn, &total))
        return NULL;
    struct text t = {0};
    text_add(&t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (size_t k = 0; k < count; k++) {
        text_add(&t,
                 "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%zu,\"args\":{\"name\":\"%s\"}}",
                 k, launches[k].kernel);
        for (int w = 0; w < WORKGROUPS; w++) {
            struct span spans[STAMPS];
            int n = spans_of(&launches[k], w, spans);
            text_add(&t,
                     ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%zu,\"tid\":%d,\"args\":{"
                     "\"name\":\"workgroup %d\"}}",
                     k, w, w);
            for (int i = 0; i < n; i++)
                text_add(&t,
                         ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%zu,\"tid\":%d,\"ts\":%.2f,"
                         "\"dur\":%.2f}",
                         launches[k].names[spans[i].stamp], k, w,
                         (double)(spans[i].from - drawn[k].origin) / TICKS_PER_US,
                         (double)(spans[i].to - spans[i].from) / TICKS_PER_US);
        }
        text_add(&t, k + 1 < count ? ",\n" : "\n");
    }
    text_add(&t, "]}\n");
    if (!t.failed)
        return t.data;
    free(t.data);
    return NULL;
}

static void svg_launch(struct text *t, const struct trace_launch *l, int top, uint64_t origin,
                       double scale)
{
    text_add(t, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, top - 6, l->kernel);
    int x = LEFT + 120;
    for (int i = 0; i < STAMPS; i++) {
        if (!l->names[i])
            continue;
        text_add(t,
                 "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" "
                 "y=\"%d\">%s</text>\n",
                 x, top - 15, colour(i), x + 13, top - 6, l->names[i]);
        x += 24 + 7 * (int)strlen(l->names[i]);
    }
    for (int w = 0; w < WORKGROUPS; w++) {
        struct span spans[STAMPS];
        int n = spans_of(l, w, spans), y = top + w * ROW;
        if (w % 32 == 0)
            text_add(t, "<text x=\"4\" y=\"%d\">wg %d</text>\n", y + ROW + 4, w);
        for (int i = 0; i < n; i++) {
            double from = (double)(spans[i].from - origin) * scale,
                   width = (double)(spans[i].to - spans[i].from) * scale;
            text_add(t,
                     "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" "
                     "fill=\"%s\"><title>workgroup %d %s: %.2f us"
                     "</title></rect>\n",
                     LEFT + from, y, width > 0.2 ? width : 0.2, ROW - 1, colour(spans[i].stamp), w,
                     l->names[spans[i].stamp],
                     (double)(spans[i].to - spans[i].from) / TICKS_PER_US);
        }
    }
}

char *trace_svg(const struct trace_launch *launches, size_t count)
{
    struct drawn drawn[MAX_LAUNCHES];
    uint64_t total;
    if (count > MAX_LAUNCHES || !arrange(launches, count, drawn, &total))
        return NULL;
    struct text t = {0};
    int step = WORKGROUPS * ROW + TOP + GAP, height = (int)count * step + GAP;
    double scale = (double)WIDTH / (double)(total ? total : 1);
    text_add(&t,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
             "font-family=\"sans-serif\" "
             "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
             LEFT + WIDTH + 20, height);
    for (size_t k = 0; k < count; k++)
        svg_launch(&t, &launches[k], TOP + (int)k * step, drawn[k].origin, scale);
    text_add(&t, "<text x=\"%d\" y=\"%d\">0 .. %.2f us of the device's clock</text>\n</svg>\n",
             LEFT, height - 8, (double)total / TICKS_PER_US);
    if (!t.failed)
        return t.data;
    free(t.data);
    return NULL;
}
