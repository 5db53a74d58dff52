/* SPDX-License-Identifier: Apache-2.0 */
#include "case_args.h"

#include <string.h>

#include "num.h"

static struct ref_arg cache_arg(const struct ref_cache *cache)
{
    return (struct ref_arg){cache->bytes, cache->size, cache};
}

bool ref_case_pointer(const struct ref_case *c, const char *name, struct ref_arg *arg)
{
    static const uint8_t zero_record[REF_RECORD];
    size_t s = (size_t)c->s;
    /* With ratio 0 no key points at a compressed row; the argument still names memory. */
    struct ref_arg comp =
        c->ratio ? cache_arg(&c->comp) : (struct ref_arg){zero_record, REF_RECORD};
    const struct {
        const char *name;
        struct ref_arg arg;
    } args[] = {
        {"x",        {c->x, s * c->x_stride * 2}                             },
        {"wqkv",     {c->wqkv.bytes, c->wqkv.size}                           },
        {"wqkv_s",   {c->wqkv.codes, c->wqkv.n / 32 * (c->wqkv.k / 32)}      },
        {"wqb",      {c->wqb.bytes, c->wqb.size}                             },
        {"wqb_s",    {c->wqb.codes, c->wqb.n / 32 * (c->wqb.k / 32)}         },
        {"qn_w",     {c->qn_w, (size_t)c->model.q_rank * 2}                  },
        {"kvn_w",    {c->kvn_w, REF_KV_DIM * 2}                              },
        {"qr_out",   {NULL, s * (size_t)c->model.q_rank * 2}                 },
        {"q",        {c->q, s * (size_t)c->q_rows * 2}                       },
        {"cos_sin",  {c->cos_sin, (size_t)c->params.max_pos * REF_ROPE * 4}  },
        {"pos",      {c->pos, s * 8}                                         },
        {"slot",     {c->slot, s * 8}                                        },
        {"swa",      cache_arg(&c->swa)                                      },
        {"comp",     comp                                                    },
        {"swa_idx",  {c->swa_idx, s * (size_t)c->model.window * 4}           },
        {"swa_lens", {c->swa_lens, s * 4}                                    },
        {"topk",     {c->topk, s * (size_t)c->topk_cols * 4}                 },
        {"comp_bt",  {c->comp_bt, (size_t)c->reqs * (size_t)c->bt_stride * 4}},
        {"t2r",      {c->t2r, s * 4}                                         },
        {"kt",       {NULL, s * (size_t)c->keys * 4}                         },
        {"klen",     {NULL, s * 8}                                           },
        {"zrec",     {zero_record, REF_RECORD}                               },
        {"sink",     {c->sink, (size_t)c->h * 4}                             },
        {"woa",      {c->woa.bytes, c->woa.size}                             },
        {"woa_s",    {c->woa.codes, c->woa.n / 32 * (c->woa.k / 32)}         },
        {"wob",      {c->wob.bytes, c->wob.size}                             },
        {"wob_s",    {c->wob.codes, c->wob.n / 32 * (c->wob.k / 32)}         },
        {"out",      {NULL, s * (size_t)c->model.hidden * 2}                 },
    };
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        if (strcmp(args[i].name, name) != 0)
            continue;
        *arg = args[i].arg;
        return true;
    }
    return false;
}

bool ref_case_number(const struct ref_case *c, const char *name, uint64_t *bits)
{
    const struct {
        const char *name;
        uint64_t bits;
    } numbers[] = {
        {"x_stride",    c->x_stride                   },
        {"swa_stride",  c->swa.stride                 },
        {"swa_block",   (uint64_t)c->swa.block        },
        {"comp_stride", c->comp.stride                },
        {"comp_block",  (uint64_t)c->params.comp_block},
        {"bt_stride",   (uint64_t)ref_bt_stride_arg(c)},
        {"out_stride",  (uint64_t)c->model.hidden     },
        {"qk_scale",    ref_f32_bits(ref_qk_scale())  },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, name) != 0)
            continue;
        *bits = numbers[i].bits;
        return true;
    }
    return false;
}
