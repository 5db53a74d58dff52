/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/model.h"

#include <string.h>

const struct model models[] = {
    {.name = "v4-flash",
     .hidden = 4096,
     .q_rank = 1024,
     .heads = 64,
     .o_groups = 8,
     .topk = 512,
     .eps = 1e-6f,
     .ratios = {0, 4, 128},
     .n_ratios = 3,
     .keys = COGEN_KEYS_BACK,
     .listed = true },
    {.name = "v4-pro",
     .hidden = 7168,
     .q_rank = 1536,
     .heads = 128,
     .o_groups = 16,
     .topk = 1024,
     .eps = 1e-6f,
     .ratios = {0, 4, 128},
     .n_ratios = 3,
     .keys = COGEN_KEYS_BACK,
     .listed = true },
    {.name = "v41-flash",
     .hidden = 5120,
     .q_rank = 1280,
     .heads = 64,
     .o_groups = 8,
     .topk = 512,
     .eps = 1e-20f,
     .ratios = {0, 1, 2},
     .n_ratios = 3,
     .keys = COGEN_KEYS_FRONT,
     .listed = true },
    /* The least that every stage still has work for: long tests of hand-offs and replays. */
    {.name = "tiny",
     .hidden = 512,
     .q_rank = 256,
     .heads = 16,
     .o_groups = 2,
     .topk = 64,
     .eps = 1e-6f,
     .ratios = {0, 4},
     .n_ratios = 2,
     .keys = COGEN_KEYS_BACK,
     .listed = false},
};
const size_t model_count = sizeof models / sizeof models[0];

const struct model *model_find(const char *name)
{
    for (size_t i = 0; i < model_count; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}
