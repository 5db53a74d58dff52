/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cogen binary as a user types it, and keeps what it said. Folders are fresh and go away.
 */
#ifndef TESTS_CLI_COMMAND_H
#define TESTS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct said {
    int status;        /* exit status; -1: ended by a signal */
    char out[1 << 20]; /* standard output */
    char err[1 << 16]; /* standard error */
};

/* `cogen LINE` through the shell, so that a test reads like the command. printf-like. The result is
 * one static block: the next call overwrites it. */
const struct said *cogen(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A refusal: the status, exactly one line on stderr, and every one of the words (NULL ends the
 * list) in it. */
#define assert_refused(said, code, ...)                                                            \
    refused(said, code, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
void refused(const struct said *s, int code, const char *const *words, const char *file, int line);

/* A fresh folder; its path is the caller's to pass to drop_folder, which removes it with all that
 * is in it. */
char *fresh_folder(void);
void drop_folder(char *folder);

/* A whole file; fails the test when it cannot be read. The caller frees. */
char *file_bytes(const char *folder, const char *file, size_t *size);
/* Fails the test unless both folders have the file, with the same bytes. */
void same_file(const char *a, const char *b, const char *file);
void put_file(const char *folder, const char *file, const void *bytes, size_t size);
bool file_exists(const char *folder, const char *file);
/* Number of files in a folder. */
int count_files(const char *folder);

#endif
