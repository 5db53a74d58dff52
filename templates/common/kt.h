/* SPDX-License-Identifier: Apache-2.0 */
/* The key table's stage: a token a unit, in K1 or K2. */
#ifndef TEMPLATES_COMMON_KT_H
#define TEMPLATES_COMMON_KT_H

#include "templates/common/mailbox.h"

/* KT[t][k] and KLEN of this workgroup's tokens. publish_rows: this launch reads them: stored at
 * device scope, and the flag (ktrdy, t) behind each. */
void kt_stage(Builder *b, const Mailbox *mb, bool publish_rows);

#endif
