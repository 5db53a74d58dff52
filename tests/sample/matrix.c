/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the acceptance matrix, an option list a line as keys.txt has them, for sample_keys:
 *
 *     matrix SEED
 *
 * Every model, rank count and ratio with 1, 3, 15, 16, 17, 31 and 48 tokens, K2 alone and the whole
 * layer step, random and exact inputs. Cache blocks, the width of a global key list and the pad row
 * go round among them, so that each value meets every model and every token count.
 */
#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static const struct model {
    const char *name;
    int tps[5], ratios[3];
} models[] = {
    {"v4-flash",  {1, 2, 4},    {0, 4, 128}},
    {"v4-pro",    {1, 2, 4, 8}, {0, 4, 128}},
    {"v41-flash", {1, 2, 4},    {0, 1, 2}  },
};
static const int tokens[] = {1, 3, 15, 16, 17, 31, 48};
static const char *const kernels[] = {"layer", "back"}, *const modes[] = {"random", "exact"};
static const int blocks[] = {64, 1, 16};

/* turn: differs from one line to the next of any of the loops. */
static void print_line(const struct model *m, int tp, int ratio, int s, const char *kernel,
                       const char *mode, int turn, int seed)
{
    printf("%s --model %s --tokens %d --tp %d --ratio %d --mode %s --seed %d --block %d", kernel,
           m->name, s, tp, ratio, mode, seed, blocks[turn % 3]);
    if (ratio)
        printf(" --comp-block %d", blocks[(turn + turn / 3) % 3]);
    if (ratio == 128)
        printf(" --global-keys --topk %d", turn % 2 ? 64 : 1024);
    printf("%s\n", turn % 4 == 3 ? " --pad" : "");
}

int main(int argc, char **argv)
{
    int seed = argc == 2 ? atoi(argv[1]) : 0;
    if (seed < 1) {
        fprintf(stderr, "usage: matrix SEED (1 and up)\n");
        return 2;
    }
    int turn = seed;
    for (int k = 0; k < COUNT(kernels); k++)
        for (int mode = 0; mode < COUNT(modes); mode++)
            for (int i = 0; i < COUNT(models); i++)
                for (int s = 0; s < COUNT(tokens); s++)
                    for (const int *tp = models[i].tps; *tp; tp++)
                        for (int r = 0; r < COUNT(models[i].ratios); r++)
                            print_line(&models[i], *tp, models[i].ratios[r], tokens[s], kernels[k],
                                       modes[mode], turn++, seed);
    return 0;
}
