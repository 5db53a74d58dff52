/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands share: the table of commands, options of a key, messages, progress, files.
 *
 * A message of the command line is one line on stderr, "cogen COMMAND: ...", and an exit status: 0
 * good, 1 something failed or differs, 2 the command was given something it does not accept.
 */
#ifndef COGEN_CLI_H
#define COGEN_CLI_H

#include "gen/key.h"

#include <argp.h>
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

/* argp_parse with this program's habits: a stray argument is refused unless args_doc says what it
 * is. On --help, or after a message, the process ends, as argp does it. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);
/* An integer option's text; ends the process with a line that names the option, the text and the
 * range when it is none. */
int64_t cli_number(const char *option, const char *text, int64_t least, int64_t most,
                   struct argp_state *state);

/* ---- options of a key: one argp option a row of cogen_key_options */

enum { CLI_MAX_KEY_OPTIONS = 32 };

struct cli_keys {
    const char
        *text[CLI_MAX_KEY_OPTIONS]; /* as given, by row of cogen_key_options; NULL: not given */
    bool takes_layer,
        layer; /* `--kernel layer`, both kernels in turn: whether accepted, whether given */
    char help[CLI_MAX_KEY_OPTIONS][192]; /* of an option: what it is, and the values it takes */
    struct argp_option options[CLI_MAX_KEY_OPTIONS + 1];
    struct argp argp;
    struct argp_child child[2];
};

/* Prepares keys->child, for the field `children` of a command's argp. The parser's child_inputs[0]
 * is `keys`. */
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
/* Makes a folder and its parents; checks that files can be made in it. */
int cli_make_folder(const char *path, char *err, size_t err_size);
char *cli_join(const char *folder, const char *file); /* malloc'd; NULL when out of memory */
/* A fresh folder for files of this run, and its removal with the files in it. */
int cli_temp_folder(char *path, size_t path_size, char *err, size_t err_size);
void cli_temp_remove(const char *path);

#endif
