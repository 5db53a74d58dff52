/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands share: the table of commands, options, messages, progress, files.
 *
 * A message of the command line is one line on stderr, "cogen COMMAND: ...", and an exit status: 0
 * good, 1 something failed or differs, 2 the command was given something it does not accept.
 */
#ifndef COGEN_CLI_H
#define COGEN_CLI_H

#include "gen/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2, ERR_SIZE = 1024 };

/* One subcommand a row, in the order of `cogen --help`. argv[0] is "cogen NAME". */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};
extern const struct command commands[];
extern const size_t command_count;

int cmd_gen(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_keys(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_emu(int argc, char **argv);
int cmd_lint(int argc, char **argv);

/* "cogen NAME: text" on stderr; returns status. who is argv[0]. */
int cli_fail(const char *who, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- options of a command: tables of them, its own and those that commands share */

/* What an option takes: CLI_FIELD makes it from the type of the field that it sets, CLI_FIELD_BY
 * has a function of its own. */
enum cli_kind { CLI_OWN, CLI_SWITCH, CLI_TEXT, CLI_INT, CLI_U32, CLI_U64 };

struct cli_option {
    const char *name;  /* NULL: the command's one argument that is not an option */
    int letter;        /* of the short form; 0: none */
    const char *value; /* what --help calls its value; NULL: it has none */
    const char *help;
    enum cli_kind kind;
    bool bare;           /* without a value it is "1" */
    size_t at;           /* of the field in the struct that the table is for */
    int64_t least, most; /* of a number */
    /* CLI_OWN: puts the text into the field; 0, or -1 and what is accepted. */
    int (*take)(void *field, const char *text, char *err, size_t err_size);
    const char *needed; /* what it is for, when it may not be left out */
};

#define CLI_FIELD(type, member)                                                                    \
    .kind = _Generic(((type *)0)->member,                                                          \
        bool: CLI_SWITCH,                                                                          \
        const char *: CLI_TEXT,                                                                    \
        int: CLI_INT,                                                                              \
        uint32_t: CLI_U32,                                                                         \
        uint64_t: CLI_U64),                                                                        \
    .at = offsetof(type, member)
#define CLI_FIELD_BY(type, member, function)                                                       \
    .kind = CLI_OWN, .at = offsetof(type, member), .take = (function)

struct cli_table {
    const struct cli_option *rows;
    size_t count;
    const char *header; /* above them in --help; NULL: none */
    void *into;         /* the struct of the fields */
    const struct cli_table *next;
};
#define CLI_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof((table)[0])

/* Fills the fields from the arguments. what: the text of --help; a part behind a \v stands below
 * the options. On --help, or after a line that names the option, its text and what is accepted, the
 * process ends. */
void cli_parse(int argc, char **argv, const char *what, const struct cli_table *tables);
int cli_number(const char *text, int64_t least, int64_t most, int64_t *number, char *err,
               size_t err_size);

/* ---- options of a key: one a row of cogen_key_options */

enum { CLI_MAX_KEY_OPTIONS = 32 };

struct cli_keys {
    const char
        *text[CLI_MAX_KEY_OPTIONS]; /* as given, by row of cogen_key_options; NULL: not given */
    bool layer;                     /* `--kernel layer`, both kernels in turn, was given */
    char help[CLI_MAX_KEY_OPTIONS][192]; /* of an option: what it is, and the values it takes */
    struct cli_option rows[CLI_MAX_KEY_OPTIONS];
    struct cli_table table;
};

/* Prepares keys->table, for a command's tables. */
void cli_keys_init(struct cli_keys *keys, const char *header, bool takes_layer);
const char *cli_keys_text(const struct cli_keys *keys, const char *option); /* NULL: not given */
void cli_keys_set(struct cli_keys *keys, const char *option, const char *text);
/* The finished key of the options given, each one value. */
int cli_keys_one(const struct cli_keys *keys, struct cogen_key *key, char *err, size_t err_size);
/* Every combination of the options' lists ("1,2,8..16", "all"), each a finished key, in a fixed
 * order. `all` leaves out what the key checks refuse; a value that was spelled out and is refused
 * is an error. The caller frees *out. */
int cli_keys_list(const struct cli_keys *keys, struct cogen_key **out, size_t *count, char *err,
                  size_t err_size);

/* ---- progress of long work: one line that is rewritten, on a terminal only */
struct cli_progress {
    const char *what;
    size_t total;
    bool shown;
};
struct cli_progress cli_progress_begin(const char *what, size_t total);
void cli_progress_step(struct cli_progress *p, size_t done, const char *detail);
void cli_progress_end(struct cli_progress *p);

/* ---- files */
/* Makes a folder and its parents; checks that files can be made in it. made: it was not there. */
int cli_make_folder(const char *path, bool *made, char *err, size_t err_size);
/* Of a command that failed: removes the folder that it made, unless there is something in it. */
void cli_drop_folder(const char *path, bool made);
char *cli_join(const char *folder, const char *file); /* malloc'd; NULL when out of memory */
/* A fresh folder for files of this run, and its removal with the files in it. */
int cli_temp_folder(char *path, size_t path_size, char *err, size_t err_size);
void cli_temp_remove(const char *path);

#endif
