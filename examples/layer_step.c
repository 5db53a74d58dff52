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
    Q_ROWS = 16 * 512, /* 16 heads */
    O_ROWS = 2048,
    TOPK = 512,
    BLOCK = 64,
    CACHE = 4 * BLOCK * 584,
    POSITIONS = 64
};

/* Both kernels' arguments: numbers, or the size of the memory and the word it is filled with. */
static const struct argument {
    const char *name;
    int64_t number;
    size_t size;
    uint32_t word;
} arguments[] = {
    {"x",           0,           HIDDEN * 2,                          0x3f803f80}, /* bf16 1.0 */
    {"x_stride",    HIDDEN,      0,                                   0         },
    {"wqkv",        0,           (Q_RANK + 512) * HIDDEN,             0x38b83838}, /* e4m3 1, 1, -1, 1 */
    {"wqkv_s",      0,           (Q_RANK + 512) / 32 * (HIDDEN / 32), 0x7a7a7a7a}, /* E8M0 2^-5 */
    {"qn_w",        0,           Q_RANK * 2,                          0x3f803f80},
    {"kvn_w",       0,           512 * 2,                             0x3f803f80},
    {"wqb",         0,           Q_ROWS * Q_RANK,                     0x38303830},
    {"wqb_s",       0,           Q_ROWS / 32 * (Q_RANK / 32),         0x7a7a7a7a},
    {"cos_sin",     0,           POSITIONS * 64 * 4,                  0x3f3504f3}, /* angles of pi / 4 */
    {"pos",         0,           8,                                   0         },
    {"slot",        0,           8,                                   0         },
    {"swa",         0,           CACHE,                               0         },
    {"swa_stride",  BLOCK * 584, 0,                                   0         },
    {"swa_block",   BLOCK,       0,                                   0         },
    {"q",           0,           Q_ROWS * 2,                          0         },
    {"qr_out",      0,           Q_RANK * 2,                          0         },
    {"swa_idx",     0,           128 * 4,                             0         },
    {"swa_lens",    0,           4,                                   1         },
    {"comp_bt",     0,           POSITIONS * 4,                       0         },
    {"bt_stride",   POSITIONS,   0,                                   0         },
    {"topk",        0,           TOPK * 4,                            0xffffffff}, /* no compressed row yet */
    {"t2r",         0,           4,                                   0         },
    {"tl",          0,           4,                                   0         }, /* of timeline builds alone */
    {"kt",          0,           (TOPK + 128) * 4,                    0         },
    {"klen",        0,           2 * 4,                               0         },
    {"comp",        0,           CACHE,                               0         },
    {"comp_stride", BLOCK * 584, 0,                                   0         },
    {"comp_block",  BLOCK,       0,                                   0         },
    {"zrec",        0,           584,                                 0         },
    {"sink",        0,           16 * 4,                              0         },
    {"woa",         0,           O_ROWS * 4096,                       0x38b038b0},
    {"woa_s",       0,           O_ROWS / 32 * (4096 / 32),           0x7a7a7a7a},
    {"wob",         0,           HIDDEN * O_ROWS,                     0x38b838b0},
    {"wob_s",       0,           HIDDEN / 32 * (O_ROWS / 32),         0x7a7a7a7a},
    {"out",         0,           HIDDEN * 2,                          0         },
    {"out_stride",  HIDDEN,      0,                                   0         },
    {"qk_scale",    0,           0,                                   0         }, /* below */
    {"scratch",     0,           0,                                   0         },
    {"epoch",       0,           0,                                   0         },
};
enum { COUNT = sizeof arguments / sizeof arguments[0], QK_SCALE = COUNT - 3, SCRATCH, EPOCH };

static struct cogen_rt_error error;

static void need(enum cogen_rt_status status)
{
    if (status == COGEN_RT_OK)
        return;
    fprintf(stderr, "layer_step: %s\n", error.text);
    exit(1);
}

static struct cogen_rt_device *device;
static void *memory[COUNT]; /* behind the pointer arguments */

static void *find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(arguments[i].name, name) == 0)
            return memory[i];
    return NULL;
}

static void make_memory(const struct cogen_rt_entry *layer)
{
    need(cogen_rt_scratch_alloc(device, layer, &memory[SCRATCH], &error));
    need(cogen_rt_epoch_alloc(device, layer, &memory[EPOCH], &error));
    for (int i = 0; i < COUNT; i++) {
        const struct argument *a = &arguments[i];
        if (!a->size)
            continue;
        need(cogen_rt_alloc(device, a->size, &memory[i], &error));
        need(cogen_rt_fill(device, memory[i], a->word, a->size, &error));
    }
    int32_t window[128];
    for (int i = 0; i < 128; i++)
        window[i] = i;
    need(cogen_rt_copy(device, find("swa_idx"), window, sizeof window, &error));
}

static struct cogen_rt_args *bind(struct cogen_rt_kernel *kernel)
{
    struct cogen_rt_value values[COUNT];
    struct cogen_rt_args *args;
    for (int i = 0; i < COUNT; i++)
        values[i] = (struct cogen_rt_value){arguments[i].name, memory[i], arguments[i].number, 0};
    values[QK_SCALE].real = 0.0637587f; /* 512^-0.5 log2(e) */
    need(cogen_rt_args_new(kernel, &args, &error));
    need(cogen_rt_set_values(args, values, COUNT, &error));
    need(cogen_rt_args_check(args, &error));
    return args;
}

/* A step sees its own row and the ones before it. */
static void run_step(struct cogen_rt_queue *queue, struct cogen_rt_args *args[2], int64_t step)
{
    int32_t length = (int32_t)step + 1;
    uint16_t out[4];
    need(cogen_rt_copy(device, find("pos"), &step, sizeof step, &error));
    need(cogen_rt_copy(device, find("slot"), &step, sizeof step, &error));
    need(cogen_rt_copy(device, find("swa_lens"), &length, sizeof length, &error));
    need(cogen_rt_launch_pair(queue, args[0], args[1], &error));
    need(cogen_rt_wait(queue, 600000, &error));
    need(cogen_rt_copy(device, out, find("out"), sizeof out, &error));
    printf("step %d: out = %04x %04x %04x %04x ...\n", (int)step, out[0], out[1], out[2], out[3]);
}

int main(int argc, char **argv)
{
    static const char *const keys[2] = {"kernel=front model=v41-flash tokens=1 tp=4 ratio=2",
                                        "kernel=back model=v41-flash tokens=1 tp=4 ratio=2"};
    struct cogen_rt_library *library;
    struct cogen_rt_queue *queue;
    struct cogen_rt_kernel *kernels[2];
    struct cogen_rt_args *args[2];
    if (argc < 2) {
        fprintf(stderr, "usage: layer_step MANIFEST [emu|hsa|auto]\n");
        return 2;
    }
    need(cogen_rt_open(argc > 2 ? argv[2] : "auto", &device, &error));
    need(cogen_rt_library_load(argv[1], &library, &error));
    need(cogen_rt_queue_new(device, &queue, &error));
    for (int k = 0; k < 2; k++) {
        const struct cogen_rt_entry *entry = cogen_rt_library_find(library, keys[k], &error);
        need(entry ? COGEN_RT_OK : error.status);
        need(cogen_rt_kernel_load(device, library, entry, &kernels[k], &error));
    }
    make_memory(cogen_rt_kernel_entry(kernels[0]));
    for (int k = 0; k < 2; k++)
        args[k] = bind(kernels[k]);
    for (int64_t step = 0; step < 4; step++)
        run_step(queue, args, step);

    cogen_rt_queue_free(queue);
    for (int k = 0; k < 2; k++) {
        cogen_rt_args_free(args[k]);
        cogen_rt_kernel_free(kernels[k]);
    }
    for (int i = 0; i < COUNT; i++)
        cogen_rt_free(device, memory[i]);
    cogen_rt_library_free(library);
    cogen_rt_close(device);
    return 0;
}
