/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attention layer of v41-flash, tensor-parallel over 4 ranks, replayed step by step: load the
 * two kernels, give every argument a fixed pointer once, then launch the pair again and again while
 * only the memory behind the pointers changes.
 *
 *     cogen gen --kernel front,back --model v41-flash --tokens 1 --tp 4 --ratio 2 -o kernels
 *     layer_step kernels/manifest.json [emu|hsa|auto]
 */
#include "runtime/cogen_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HIDDEN = 5120,
    Q_RANK = 1280,
    HEADS = 16,
    Q_ROWS = HEADS * 512,
    O_ROWS = 2048,
    TOPK = 512,
    BLOCK = 64,
    STEPS = 4,
    CACHE = 4 * BLOCK * 584,
    POSITIONS = 64
};

/* Memory behind the pointer arguments of both kernels: size, and the word that it is filled with.
 */
static struct memory {
    const char *name;
    size_t size;
    uint32_t word;
    void *ptr;
} memory[] = {
    {"x",        HIDDEN * 2,                          0x3f803f80}, /* bf16 1.0 */
    {"wqkv",     (Q_RANK + 512) * HIDDEN,             0x38b83838}, /* e4m3 1, 1, -1, 1 */
    {"wqkv_s",   (Q_RANK + 512) / 32 * (HIDDEN / 32), 0x7a7a7a7a}, /* E8M0 2^-5 */
    {"qn_w",     Q_RANK * 2,                          0x3f803f80},
    {"kvn_w",    512 * 2,                             0x3f803f80},
    {"wqb",      Q_ROWS * Q_RANK,                     0x38303830},
    {"wqb_s",    Q_ROWS / 32 * (Q_RANK / 32),         0x7a7a7a7a},
    {"cos_sin",  POSITIONS * 64 * 4,                  0x3f3504f3}, /* every angle pi / 4 */
    {"pos",      8,                                   0         },
    {"slot",     8,                                   0         },
    {"swa",      CACHE,                               0         },
    {"q",        Q_ROWS * 2,                          0         },
    {"qr_out",   Q_RANK * 2,                          0         },
    {"swa_idx",  128 * 4,                             0         },
    {"swa_lens", 4,                                   1         },
    {"comp_bt",  POSITIONS * 4,                       0         },
    {"topk",     TOPK * 4,                            0xffffffff}, /* no compressed row yet */
    {"t2r",      4,                                   0         },
    {"tl",       4,                                   0         }, /* stamped by timeline builds alone */
    {"kt",       (TOPK + 128) * 4,                    0         },
    {"klen",     2 * 4,                               0         },
    {"comp",     CACHE,                               0         },
    {"zrec",     584,                                 0         },
    {"sink",     HEADS * 4,                           0         },
    {"woa",      O_ROWS * 4096,                       0x38b038b0},
    {"woa_s",    O_ROWS / 32 * (4096 / 32),           0x7a7a7a7a},
    {"wob",      HIDDEN * O_ROWS,                     0x38b838b0},
    {"wob_s",    HIDDEN / 32 * (O_ROWS / 32),         0x7a7a7a7a},
    {"out",      HIDDEN * 2,                          0         },
    {"scratch",  0,                                   0         },
    {"epoch",    0,                                   0         },
};

static const struct {
    const char *name;
    int64_t value;
} numbers[] = {
    {"x_stride",    HIDDEN     },
    {"out_stride",  HIDDEN     },
    {"swa_stride",  BLOCK * 584},
    {"swa_block",   BLOCK      },
    {"comp_stride", BLOCK * 584},
    {"comp_block",  BLOCK      },
    {"bt_stride",   POSITIONS  }
};

static struct cogen_rt_error error;

static void need(enum cogen_rt_status status)
{
    if (status == COGEN_RT_OK)
        return;
    fprintf(stderr, "layer_step: %s\n", error.text);
    exit(1);
}

static struct memory *find(const char *name)
{
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (strcmp(memory[i].name, name) == 0)
            return &memory[i];
    return NULL;
}

static struct cogen_rt_args *bind(struct cogen_rt_kernel *kernel)
{
    const struct cogen_rt_entry *entry = cogen_rt_kernel_entry(kernel);
    struct cogen_rt_args *args;
    need(cogen_rt_args_new(kernel, &args, &error));
    for (size_t i = 0; i < entry->arg_count; i++) {
        const struct cogen_rt_arg *arg = &entry->args[i];
        const struct memory *m = find(arg->name);
        if (arg->kind == COGEN_RT_POINTER && m)
            need(cogen_rt_set_pointer(args, arg->name, m->ptr, &error));
        if (arg->kind == COGEN_RT_F32) /* qk_scale: 512^-0.5 log2(e) */
            need(cogen_rt_set_f32(args, arg->name, 0.0637587f, &error));
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            if (strcmp(numbers[j].name, arg->name) == 0)
                need(arg->kind == COGEN_RT_I64
                         ? cogen_rt_set_i64(args, arg->name, numbers[j].value, &error)
                         : cogen_rt_set_i32(args, arg->name, (int32_t)numbers[j].value, &error));
    }
    need(cogen_rt_args_check(args, &error));
    return args;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: layer_step MANIFEST [emu|hsa|auto]\n");
        return 2;
    }
    struct cogen_rt_device *device;
    struct cogen_rt_library *library;
    struct cogen_rt_queue *queue;
    struct cogen_rt_kernel *kernels[2];
    struct cogen_rt_args *args[2];
    static const char *const keys[2] = {"kernel=front model=v41-flash tokens=1 tp=4 ratio=2",
                                        "kernel=back model=v41-flash tokens=1 tp=4 ratio=2"};
    need(cogen_rt_open(argc > 2 ? argv[2] : "auto", &device, &error));
    need(cogen_rt_library_load(argv[1], &library, &error));
    for (int k = 0; k < 2; k++) {
        const struct cogen_rt_entry *entry = cogen_rt_library_find(library, keys[k], &error);
        need(entry ? COGEN_RT_OK : error.status);
        need(cogen_rt_kernel_load(device, library, entry, &kernels[k], &error));
    }
    for (size_t i = 0; i < sizeof memory / sizeof memory[0] - 2; i++) {
        need(cogen_rt_alloc(device, memory[i].size, &memory[i].ptr, &error));
        need(cogen_rt_fill(device, memory[i].ptr, memory[i].word, memory[i].size, &error));
    }
    need(cogen_rt_scratch_alloc(device, cogen_rt_kernel_entry(kernels[0]), &find("scratch")->ptr,
                                &error));
    need(cogen_rt_epoch_alloc(device, cogen_rt_kernel_entry(kernels[0]), &find("epoch")->ptr,
                              &error));
    need(cogen_rt_queue_new(device, &queue, &error));
    for (int k = 0; k < 2; k++)
        args[k] = bind(kernels[k]);

    for (int64_t step = 0; step < STEPS; step++) {
        int32_t window[128],
            length = (int32_t)step + 1; /* the step sees its own row and the ones before it */
        for (int i = 0; i < 128; i++)
            window[i] = i;
        need(cogen_rt_copy(device, find("pos")->ptr, &step, sizeof step, &error));
        need(cogen_rt_copy(device, find("slot")->ptr, &step, sizeof step, &error));
        need(cogen_rt_copy(device, find("swa_idx")->ptr, window, sizeof window, &error));
        need(cogen_rt_copy(device, find("swa_lens")->ptr, &length, sizeof length, &error));
        need(cogen_rt_launch_pair(queue, args[0], args[1], &error));
        need(cogen_rt_wait(queue, 600000, &error));
        uint16_t out[4];
        need(cogen_rt_copy(device, out, find("out")->ptr, sizeof out, &error));
        printf("step %d: out = %04x %04x %04x %04x ...\n", (int)step, out[0], out[1], out[2],
               out[3]);
    }

    cogen_rt_queue_free(queue);
    for (int k = 0; k < 2; k++) {
        cogen_rt_args_free(args[k]);
        cogen_rt_kernel_free(kernels[k]);
    }
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        cogen_rt_free(device, memory[i].ptr);
    cogen_rt_library_free(library);
    cogen_rt_close(device);
    return 0;
}
