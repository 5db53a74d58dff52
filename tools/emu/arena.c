/* SPDX-License-Identifier: Apache-2.0 */
/* The emulator's own memory: arenas, whose blocks serve the next dispatch again, and arrays that
 * grow. */
#include "wave.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)1 << 20)

struct arena_block {
    struct arena_block *next, *first;
    size_t used, size;
    _Alignas(64) uint8_t bytes[];
};

void *emu_arena_alloc(struct arena *a, size_t size)
{
    size = (size + 63) & ~(size_t)63;
    struct arena_block *b = a->block;
    if (b && b->used + size > b->size && b->next) {
        a->block = b->next;
        a->block->used = 0;
        b = a->block;
    }
    if (!b || b->used + size > b->size) {
        size_t n = size > BLOCK ? size : BLOCK;
        struct arena_block *fresh = aligned_alloc(64, (sizeof(*fresh) + n + 63) & ~(size_t)63);
        if (!fresh)
            return NULL;
        fresh->next = NULL;
        fresh->used = 0;
        fresh->size = n;
        fresh->first = b ? b->first : fresh;
        if (b)
            b->next = fresh;
        a->block = b = fresh;
    }
    void *p = b->bytes + b->used;
    b->used += size;
    memset(p, 0, size);
    return p;
}

void arena_reset(struct arena *a)
{
    if (a->block) {
        a->block = a->block->first;
        a->block->used = 0;
    }
}

void arena_free(struct arena *a)
{
    struct arena_block *b = a->block ? a->block->first : NULL;
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
    a->block = NULL;
}

bool array_room(void **array, size_t n, size_t *cap, size_t size)
{
    enum { LEAST = 64 };
    if (n < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : LEAST;
    void *at = realloc(*array, more * size);
    if (!at)
        return false;
    *array = at;
    *cap = more;
    return true;
}
