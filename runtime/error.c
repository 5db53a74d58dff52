/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/error.h"

#include <stdarg.h>
#include <stdio.h>

enum cogen_rt_status rt_fail(struct cogen_rt_error *err, enum cogen_rt_status status,
                             const char *format, ...)
{
    if (err) {
        err->status = status;
        va_list ap;
        va_start(ap, format);
        vsnprintf(err->text, sizeof err->text, format, ap);
        va_end(ap);
    }
    return status;
}

enum cogen_rt_status rt_ok(struct cogen_rt_error *err)
{
    if (err) {
        err->status = COGEN_RT_OK;
        err->text[0] = '\0';
    }
    return COGEN_RT_OK;
}
