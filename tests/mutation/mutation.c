/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutation: takes one thing at a time out of a generated kernel (a wait, a wait state, a barrier, a
 * scope, a store, a poll, a clamp, an EXEC restore), runs what is left on the emulator with every
 * check on, and counts by kind what was caught, what is equivalent for a reason that is shown, and
 * what was missed.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evidence.h"
#include "gen/generate.h"
#include "listing.h"
#include "runs.h"

enum { ERR_SIZE = 1024, REASON_MAX = 112, MAX_JOBS = 64 };

enum verdict { UNKNOWN, BY_FINDING, BY_OUTPUT, BY_HANG, EQUIVALENT, MISSED, FAILED, VERDICTS };

struct outcome {
    enum verdict verdict;
    int run;
    char rule[RULE_MAX];
    char reason[REASON_MAX]; /* of an equivalent; of a failure its message */
    char text[TEXT_MAX];
    int lint; /* findings of the static lint; -1: not asked */
};

struct options {
    struct cogen_key key;
    char key_text[512];
    int sample, jobs, schedules, cases, only, kind;
    unsigned seed;
    bool list, verbose;
};

struct work {
    const struct options *o;
    struct listing listing;
    struct mutant *mutants;
    int n_mutants;
    int *chosen, n_chosen; /* indices of mutants, in order */
    struct runs runs;
    struct evidence *evidence;
    int *next; /* shared between the processes, as outcomes are */
    struct outcome *outcomes;
};

/* ---- one mutant */

static bool is_wait(enum mutant_kind kind)
{
    return kind == MUTANT_WAIT || kind == MUTANT_WAIT_COUNTER || kind == MUTANT_WAIT_WEAKER;
}

/* A store at a lesser scope matters to those that load what it stores. With the store gone
 * altogether, nothing may change but the argument that it writes. */
static const char *shown_store(struct work *w, const struct mutant *m)
{
    struct mutant gone = *m;
    char name[RULE_MAX];
    gone.replacement[0] = '\0';
    char *text = mutant_text(&w->listing, &gone);
    int changed = text ? runs_changes(&w->runs, text, name, sizeof name) : -1;
    free(text);
    if (changed < 0 || changed > 1)
        return NULL;
    return "nobody in the launch loads it: without the store nothing else changes";
}

/* Lanes that stay off matter to what they store. Traces the mutant, on a device of its own. */
static const char *shown_lanes(struct work *w, const char *text)
{
    char err[ERR_SIZE];
    struct listing listing;
    if (listing_read(text, &listing))
        return NULL;
    struct evidence *e = evidence_of(&w->runs, &listing, err, sizeof err);
    bool same = e && evidence_same_stores(w->evidence, e);
    evidence_free(e);
    listing_free(&listing);
    if (runs_device(&w->runs, err, sizeof err))
        return NULL;
    return same ? "the lanes that stay off store nothing, in any wave of any run" : NULL;
}

/* A store that the launch does not end without is waited for itself: whoever needs it polls it. */
static bool is_flag(struct work *w, int line)
{
    char err[ERR_SIZE];
    struct run_result result = {.end = RUN_SAME};
    struct mutant gone = {.line = line};
    char *text = mutant_text(&w->listing, &gone);
    bool flag =
        text && runs_of(&w->runs, text, &result, err, sizeof err) == 0 && result.end == RUN_HANG;
    free(text);
    return flag;
}

/* LDS accesses that are in flight at a barrier do no harm when they do none behind it. */
static bool harmless_behind(struct work *w, int wait, int first)
{
    char err[ERR_SIZE];
    struct run_result result = {.end = RUN_HANG};
    char *text = moved_barrier_text(&w->listing, wait, first);
    bool same =
        text && runs_of(&w->runs, text, &result, err, sizeof err) == 0 && result.end == RUN_SAME;
    free(text);
    return same;
}

static const char *shown_crossing(struct work *w, const struct mutant *m, const struct crossing *c)
{
    bool lds = true, flags = true;
    int first = m->line;
    if (!c->n)
        return NULL;
    for (int i = 0; i < c->n; i++) {
        bool is_lds = strncmp(w->listing.lines[c->line[i]].text, "ds_", 3) == 0;
        lds = lds && is_lds;
        flags = flags && !is_lds;
        if (c->line[i] < first)
            first = c->line[i];
    }
    if (lds && !c->more)
        return harmless_behind(w, m->line, first)
                   ? "the LDS accesses in flight at the barrier may as well be behind it: moved "
                     "there, no run differs"
                   : NULL;
    flags = flags && !c->more;
    for (int i = 0; flags && i < c->n; i++)
        flags = is_flag(w, c->line[i]);
    return flags ? "only flags are in flight at a hand-over: without them the launch hangs" : NULL;
}

static const char *or(const char *reason, const char *other)
{
    return reason ? reason : other;
}

/* No run differs: a reason that shows why none can, or NULL. */
static const char *shown(struct work *w, const struct mutant *m, const char *text,
                         struct outcome *out)
{
    const char *reason;
    struct crossing crossing;
    char err[ERR_SIZE];
    out->lint = runs_lint(&w->runs, text, err, sizeof err);
    switch (m->kind) {
    case MUTANT_WAIT:
    case MUTANT_WAIT_COUNTER:
    case MUTANT_WAIT_WEAKER:
        reason = or(out->lint == 0 ? shown_wait(&w->listing, m) : NULL,
                    evidence_wait(w->evidence, m, &crossing));
        return reason ? reason : shown_crossing(w, m, &crossing);
    case MUTANT_NOP:
    case MUTANT_NOP_SHORTER:
        return out->lint == 0 ? "every path has the wait states without it" : NULL;
    case MUTANT_BARRIER:
        return or(shown_barrier(&w->listing, m), evidence_barrier(w->evidence, m));
    case MUTANT_EXEC:
        reason = or(shown_exec(&w->listing, m), evidence_exec(w->evidence, m));
        return reason ? reason : shown_lanes(w, text);
    case MUTANT_POLL:
        return evidence_poll(w->evidence, m);
    case MUTANT_SCOPE_STORE:
        return shown_store(w, m);
    case MUTANT_SCOPE_LOAD:
        return "in no run does it load what another workgroup stored: that needs an acquire";
    case MUTANT_CLAMP:
        return "past the bound it reads other bytes of the same allocation, and no output changes";
    default:
        return NULL;
    }
}

static void judge(struct work *w, int index, struct outcome *out)
{
    static const enum verdict caught[] = {
        [RUN_SAME] = UNKNOWN,
        [RUN_FINDING] = BY_FINDING,
        [RUN_OUTPUT] = BY_OUTPUT,
        [RUN_HANG] = BY_HANG,
    };
    const struct mutant *m = &w->mutants[index];
    char *text = mutant_text(&w->listing, m), err[ERR_SIZE] = "out of memory";
    struct run_result result;
    out->lint = -1;
    if (!text || runs_of(&w->runs, text, &result, err, sizeof err)) {
        out->verdict = FAILED;
        snprintf(out->reason, sizeof out->reason, "%.*s", REASON_MAX - 1, err);
        free(text);
        return;
    }
    out->verdict = caught[result.end];
    out->run = result.run;
    memcpy(out->rule, result.rule, sizeof out->rule);
    memcpy(out->text, result.text, sizeof out->text);
    if (result.end == RUN_SAME) {
        const char *reason = shown(w, m, text, out);
        out->verdict = reason ? EQUIVALENT : MISSED;
        snprintf(out->reason, sizeof out->reason, "%s", reason ? reason : "");
    } else if (w->o->verbose && is_wait(m->kind)) {
        out->lint = runs_lint(&w->runs, text, err, sizeof err);
    }
    free(text);
}

/* ---- all of them, in processes: one that a mutant brings down is told from the others */

static int work_on(struct work *w)
{
    char err[ERR_SIZE];
    if (runs_device(&w->runs, err, sizeof err)) {
        fprintf(stderr, "mutation: %s\n", err);
        return EXIT_FAILURE;
    }
    for (;;) {
        int i = __atomic_fetch_add(w->next, 1, __ATOMIC_SEQ_CST);
        if (i >= w->n_chosen)
            return EXIT_SUCCESS;
        judge(w, w->chosen[i], &w->outcomes[i]);
    }
}

static int run_all(struct work *w)
{
    pid_t children[MAX_JOBS];
    int started = 0;
    fflush(NULL);
    for (; started < w->o->jobs; started++) {
        children[started] = fork();
        if (children[started] < 0)
            break;
        if (children[started] == 0)
            _exit(work_on(w));
    }
    int bad = started ? 0 : -1;
    for (int i = 0; i < started; i++) {
        int status;
        while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            bad = -1;
    }
    for (int i = 0; i < w->n_chosen; i++)
        if (w->outcomes[i].verdict == UNKNOWN) {
            w->outcomes[i].verdict = FAILED;
            snprintf(w->outcomes[i].reason, REASON_MAX, "its process ended before a verdict");
        }
    return bad;
}

/* ---- what is shown */

static void print_mutant(const struct work *w, int index)
{
    const struct mutant *m = &w->mutants[index];
    const struct line *line = &w->listing.lines[m->line];
    printf("  #%d %s, line %d: %s", index, mutant_kind_names[m->kind], line->number, line->text);
    if (m->replacement[0])
        printf("  ->  %s", m->replacement);
    putchar('\n');
}

static void print_list(const struct work *w, enum verdict verdict, const char *title)
{
    bool any = false;
    for (int i = 0; i < w->n_chosen; i++) {
        const struct outcome *o = &w->outcomes[i];
        if (o->verdict != verdict)
            continue;
        if (!any)
            printf("\n%s\n", title);
        any = true;
        print_mutant(w, w->chosen[i]);
        if (o->reason[0])
            printf("      %s\n", o->reason);
        if (verdict == MISSED)
            printf("      lint: %d findings; again: cogen-mutation %s --only %d\n", o->lint,
                   w->o->key_text, w->chosen[i]);
    }
}

static void print_rules(const struct work *w, const char *kind_name, enum mutant_kind kind)
{
    char seen[24][RULE_MAX + 8];
    int count[24], n = 0;
    for (int i = 0; i < w->n_chosen; i++) {
        const struct outcome *o = &w->outcomes[i];
        if (w->mutants[w->chosen[i]].kind != kind || o->verdict > BY_HANG)
            continue;
        char rule[RULE_MAX + 8];
        int k = 0;
        snprintf(rule, sizeof rule, "%s%s", o->verdict == BY_OUTPUT ? "output " : "", o->rule);
        while (k < n && strcmp(seen[k], rule) != 0)
            k++;
        if (k == 24)
            continue;
        if (k == n) {
            memcpy(seen[n], rule, sizeof rule);
            count[n++] = 0;
        }
        count[k]++;
    }
    if (n)
        printf("  %s:", kind_name);
    for (int k = 0; k < n; k++)
        printf("%s %s %d", k ? "," : "", seen[k], count[k]);
    if (n)
        putchar('\n');
}

static void print_table(const struct work *w)
{
    int total[VERDICTS] = {0}, all = 0;
    printf("\n| removed or weakened | mutants | finding | output | hang | equivalent | missed |\n");
    printf("|---|--:|--:|--:|--:|--:|--:|\n");
    for (int k = 0; k < MUTANT_KINDS; k++) {
        int by[VERDICTS] = {0}, n = 0;
        for (int i = 0; i < w->n_chosen; i++)
            if ((int)w->mutants[w->chosen[i]].kind == k) {
                by[w->outcomes[i].verdict]++;
                n++;
            }
        for (int v = 0; v < VERDICTS; v++)
            total[v] += by[v];
        all += n;
        if (n)
            printf("| %s | %d | %d | %d | %d | %d | %d |\n", mutant_kind_names[k], n,
                   by[BY_FINDING], by[BY_OUTPUT], by[BY_HANG], by[EQUIVALENT],
                   by[MISSED] + by[FAILED]);
    }
    printf("| all | %d | %d | %d | %d | %d | %d |\n", all, total[BY_FINDING], total[BY_OUTPUT],
           total[BY_HANG], total[EQUIVALENT], total[MISSED] + total[FAILED]);
}

static int report(const struct work *w)
{
    print_table(w);
    printf("\nCaught by\n");
    for (int k = 0; k < MUTANT_KINDS; k++)
        print_rules(w, mutant_kind_names[k], (enum mutant_kind)k);
    print_list(w, EQUIVALENT, "Equivalent");
    print_list(w, MISSED, "Missed");
    print_list(w, FAILED, "Without a verdict");
    if (w->o->verbose) {
        print_list(w, BY_OUTPUT, "By output");
        print_list(w, BY_HANG, "By hang");
        print_list(w, BY_FINDING, "By finding");
    }
    int missed = 0;
    for (int i = 0; i < w->n_chosen; i++) {
        const struct outcome *o = &w->outcomes[i];
        missed += o->verdict == MISSED || o->verdict == FAILED;
        if (w->o->only >= 0)
            printf("\n%s in run %d\n%s\n", o->rule, o->run, o->text);
    }
    return missed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the choice */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A sample takes kinds in turn, so that the rare ones are in it; within a kind by a hash of seed
 * and index. */
static void choose(struct work *w)
{
    const struct options *o = w->o;
    w->n_chosen = 0;
    bool *in = calloc((size_t)w->n_mutants + 1, sizeof *in);
    int want = o->sample > 0 && o->sample < w->n_mutants ? o->sample : w->n_mutants, got = 0;
    for (bool more = true; in && more && got < want;) {
        more = false;
        for (int k = 0; k < MUTANT_KINDS && got < want; k++) {
            int best = -1;
            for (int i = 0; i < w->n_mutants; i++)
                if ((int)w->mutants[i].kind == k && !in[i] && (o->kind < 0 || o->kind == k) &&
                    (o->only < 0 || o->only == i) &&
                    (best < 0 || mix(o->seed * 1000003u + (unsigned)i) <
                                     mix(o->seed * 1000003u + (unsigned)best)))
                    best = i;
            if (best < 0)
                continue;
            in[best] = more = true;
            got++;
        }
    }
    for (int i = 0; in && i < w->n_mutants; i++)
        if (in[i])
            w->chosen[w->n_chosen++] = i;
    free(in);
}

static void *shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static int prepare(struct work *w, const char *text, char *err, size_t err_size)
{
    if (listing_read(text, &w->listing)) {
        snprintf(err, err_size, "the assembly could not be read");
        return -1;
    }
    w->n_mutants = mutants_list(&w->listing, &w->mutants);
    size_t n = (size_t)(w->n_mutants < 0 ? 0 : w->n_mutants) + 1;
    w->chosen = calloc(n, sizeof *w->chosen);
    w->next = shared(sizeof *w->next);
    w->outcomes = shared(n * sizeof *w->outcomes);
    if (w->n_mutants < 0 || !w->chosen || !w->next || !w->outcomes) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    choose(w);
    return 0;
}

static int mutate(const struct options *o)
{
    char err[ERR_SIZE];
    struct cogen_code code;
    struct work w = {.o = o};
    if (cogen_generate(&o->key, NULL, &code, err, sizeof err)) {
        fprintf(stderr, "mutation: %s\n", err);
        return EXIT_FAILURE;
    }
    int status = EXIT_FAILURE;
    int bad = prepare(&w, code.text, err, sizeof err);
    if (!bad && o->list) {
        for (int i = 0; i < w.n_chosen; i++)
            print_mutant(&w, w.chosen[i]);
        status = EXIT_SUCCESS;
    } else if (!bad) {
        bad = runs_open(&w.runs, &o->key, o->cases, o->schedules, err, sizeof err) ||
              runs_device(&w.runs, err, sizeof err) ||
              runs_baseline(&w.runs, code.text, err, sizeof err);
        if (!bad) {
            printf("%s: %d of %d mutants, at most %d runs each\n", code.plan.name, w.n_chosen,
                   w.n_mutants, o->schedules);
            if (w.runs.device)
                emu_device_close(w.runs.device);
            w.runs.device = NULL;
            w.evidence = evidence_of(&w.runs, &w.listing, err, sizeof err);
            bad = !w.evidence;
        }
        if (!bad) {
            bad = run_all(&w);
            snprintf(err, sizeof err, "a process of it failed");
            status = report(&w);
        }
    }
    if (bad) {
        fprintf(stderr, "mutation: %s\n", err);
        status = EXIT_FAILURE;
    }
    runs_close(&w.runs);
    evidence_free(w.evidence);
    free(w.mutants);
    free(w.chosen);
    listing_free(&w.listing);
    cogen_code_free(&code);
    return status;
}

/* ---- options */

enum { OPT_SAMPLE = 1, OPT_SEED, OPT_RUNS, OPT_CASES, OPT_ONLY, OPT_LIST, OPT_KIND };

static const struct argp_option options[] = {
    {"sample", OPT_SAMPLE, "N", 0, "mutants of a seeded choice, kinds in turn (all)", 0},
    {"seed", OPT_SEED, "N", 0, "of the choice (1)", 0},
    {"runs", OPT_RUNS, "N", 0, "runs a mutant has to pass, each under another schedule (3)", 0},
    {"cases", OPT_CASES, "N", 0, "different inputs, 1 .. 3; the runs take them in turn (2)", 0},
    {"only", OPT_ONLY, "ID", 0, "one mutant, with the finding's text", 0},
    {"kind", OPT_KIND, "K", 0, "mutants of one kind, by its number in the table, from 0", 0},
    {"list", OPT_LIST, NULL, 0, "list the mutants, run none", 0},
    {"jobs", 'j', "N", 0, "processes (2)", 0},
    {"verbose", 'v', NULL, 0, "list the caught ones too", 0},
    {0},
};

static int number(const char *arg, int low, int high, struct argp_state *state)
{
    char *end;
    long n = strtol(arg, &end, 10);
    if (!*arg || *end || n < low || n > high)
        argp_error(state, "\"%s\": a number from %d to %d is due", arg, low, high);
    return (int)n;
}

/* OPTION=VALUE of the key, as `cogen gen --OPTION VALUE`. */
static void key_argument(struct options *o, const char *arg, struct argp_state *state)
{
    char name[64], err[512];
    const char *equals = strchr(arg, '=');
    if (!equals || (size_t)(equals - arg) >= sizeof name) {
        argp_error(state, "\"%s\": an option of the key is due, as kernel=front", arg);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - arg), arg);
    if (cogen_key_set(&o->key, name, equals + 1, err, sizeof err))
        argp_error(state, "%s", err);
    size_t n = strlen(o->key_text);
    snprintf(o->key_text + n, sizeof o->key_text - n, "%s%s", n ? " " : "", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    char err[512];
    switch (key) {
    case OPT_SAMPLE:
        o->sample = number(arg, 1, 1000000, state);
        return 0;
    case OPT_SEED:
        o->seed = (unsigned)number(arg, 0, 1000000, state);
        return 0;
    case OPT_RUNS:
        o->schedules = number(arg, 1, 1000, state);
        return 0;
    case OPT_CASES:
        o->cases = number(arg, 1, MAX_CASES, state);
        return 0;
    case OPT_ONLY:
        o->only = number(arg, 0, 1000000, state);
        return 0;
    case OPT_KIND:
        o->kind = number(arg, 0, MUTANT_KINDS - 1, state);
        return 0;
    case OPT_LIST:
        o->list = true;
        return 0;
    case 'j':
        o->jobs = number(arg, 1, MAX_JOBS, state);
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        key_argument(o, arg, state);
        return 0;
    case ARGP_KEY_END:
        if (cogen_key_finish(&o->key, err, sizeof err))
            argp_error(state, "%s", err);
        if (o->schedules < o->cases)
            argp_error(state, "fewer runs than cases");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "OPTION=VALUE...",
        "Takes one thing at a time out of the kernel of a key and counts what the emulator "
        "catches.\vExit status: 0 none missed, 1 some missed, or the kernel itself fails.",
        NULL,
        NULL,
        NULL};
    struct options o = {.key = cogen_key_empty(),
                        .jobs = 2,
                        .schedules = 3,
                        .cases = 2,
                        .only = -1,
                        .kind = -1,
                        .seed = 1};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    return mutate(&o);
}
