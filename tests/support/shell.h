/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_SHELL_H
#define TESTS_SUPPORT_SHELL_H

/* Runs a line as a user types it: its exit status, or -1 when it did not run or a signal ended it.
 */
int shell(const char *line);

#endif
