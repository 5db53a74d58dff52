/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device and its memory. Allocations whose contents count as unwritten are private mappings of
 * one small file of POISON words, so a large one costs nothing until it is touched.
 */
#include "wave.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POISON_BYTES ((size_t)8 << 20)
#define PAGE ((size_t)4096)

static int poison_file(void)
{
    int fd = memfd_create("emu-poison", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    uint32_t *p = MAP_FAILED;
    if (ftruncate(fd, (off_t)POISON_BYTES) == 0)
        p = mmap(NULL, POISON_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        close(fd);
        return -1;
    }
    for (size_t i = 0; i < POISON_BYTES / 4; i++)
        p[i] = POISON;
    munmap(p, POISON_BYTES);
    return fd;
}

int emu_device_open(const struct emu_config *config, struct emu_device **device, char *err,
                    size_t err_size)
{
    const char *arch = config && config->arch ? config->arch : "gfx950";
    if (strcmp(arch, "gfx950") != 0 && strcmp(arch, "gfx942") != 0) {
        snprintf(err, err_size, "unknown target %s: gfx950 and gfx942 are emulated", arch);
        return -1;
    }
    struct device *dev = calloc(1, sizeof(*dev));
    if (!dev) {
        snprintf(err, err_size, "out of memory");
        return -1;
    }
    dev->poison_fd = -1;
    pthread_rwlock_init(&dev->lock, NULL);
    pthread_mutex_init(&dev->decode_lock, NULL);
    if (config)
        dev->config = *config;
    dev->arch = strdup(arch);
    dev->config.arch = dev->arch;
    if (!dev->config.cus)
        dev->config.cus = 256;
    dev->config.cus = dev->config.cus < XCDS ? XCDS : dev->config.cus > 256 ? 256 : dev->config.cus;
    if (!dev->config.threads) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        dev->config.threads = n > 0 ? (unsigned)n : 1;
    }
    if (dev->config.threads > XCDS)
        dev->config.threads = XCDS;
    dev->gfx950 = strcmp(arch, "gfx950") == 0;
    dev->lds_max = dev->gfx950 ? 160 << 10 : 64 << 10;
    dev->poison_fd = poison_file();
    if (dev->arch && dev->poison_fd >= 0 && decoder_open(arch, &dev->decoder, err, err_size) == 0) {
        dev->pool = pool_open(dev->config.threads);
        if (dev->pool) {
            *device = (struct emu_device *)dev;
            return 0;
        }
        snprintf(err, err_size, "cannot start host threads");
    } else if (dev->poison_fd < 0) {
        snprintf(err, err_size, "cannot make device memory: %s", strerror(errno));
    }
    emu_device_close((struct emu_device *)dev);
    return -1;
}

static void alloc_free(struct alloc *a)
{
    for (unsigned x = 0; x < XCDS; x++)
        if (a->xshadow[x])
            munmap(a->xshadow[x], a->lines * 8);
    if (a->gshadow)
        munmap(a->gshadow, a->lines * 4);
    if (a->map) /* not the host's own memory */
        munmap(a->map, a->mapped);
    free(a);
}

void emu_device_close(struct emu_device *device)
{
    struct device *dev = (struct device *)device;
    if (!dev)
        return;
    launch_free(dev->launch);
    while (dev->nobjects)
        emu_object_free((struct emu_object *)dev->objects[dev->nobjects - 1]);
    for (size_t i = 0; i < dev->nallocs; i++)
        alloc_free(dev->allocs[i]);
    pool_close(dev->pool);
    decoder_close(dev->decoder);
    if (dev->poison_fd >= 0)
        close(dev->poison_fd);
    pthread_rwlock_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->decode_lock);
    free((void *)dev->allocs);
    free((void *)dev->objects);
    free(dev->escapes);
    free(dev->report_text);
    free(dev->arch);
    free(dev);
}

const struct emu_config *emu_device_config(const struct emu_device *device)
{
    return &((const struct device *)device)->config;
}

void emu_device_reseed(struct emu_device *device, uint64_t seed)
{
    ((struct device *)device)->config.seed = seed;
}

/* Index of the first allocation that ends beyond addr. */
static size_t alloc_index(const struct device *dev, uint64_t addr)
{
    size_t lo = 0, hi = dev->nallocs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct alloc *a = dev->allocs[mid];
        if ((uint64_t)(uintptr_t)a->base + a->size > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct alloc *device_find(struct device *dev, uint64_t addr)
{
    pthread_rwlock_rdlock(&dev->lock);
    size_t i = alloc_index(dev, addr);
    struct alloc *a = i < dev->nallocs ? dev->allocs[i] : NULL;
    if (a && addr < (uint64_t)(uintptr_t)a->base)
        a = NULL;
    pthread_rwlock_unlock(&dev->lock);
    return a;
}

static bool map_poison(const struct device *dev, uint8_t *base, size_t size)
{
    for (size_t at = 0; at < size; at += POISON_BYTES) {
        size_t n = size - at < POISON_BYTES ? size - at : POISON_BYTES;
        if (mmap(base + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                 dev->poison_fd, 0) == MAP_FAILED)
            return false;
    }
    return true;
}

static void *sparse(size_t bytes)
{
    void *p = mmap(NULL, bytes ? bytes : PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool map_shadow(struct alloc *a)
{
    a->lines = (a->size + LINE - 1) / LINE + 1;
    for (unsigned x = 0; x < XCDS; x++)
        if (!(a->xshadow[x] = sparse(a->lines * 8)))
            return false;
    return (a->gshadow = sparse(a->lines * 4)) != NULL;
}

/* The lock is the caller's. */
static bool insert_alloc(struct device *dev, struct alloc *a)
{
    if (!ROOM(dev->allocs, dev->nallocs, dev->cap_allocs))
        return false;
    size_t i = alloc_index(dev, (uint64_t)(uintptr_t)a->base);
    for (size_t k = dev->nallocs; k > i; k--)
        dev->allocs[k] = dev->allocs[k - 1];
    dev->allocs[i] = a;
    dev->nallocs++;
    return true;
}

void *emu_mem_alloc(struct emu_device *device, size_t size, size_t align, bool defined)
{
    struct device *dev = (struct device *)device;
    if (align < PAGE)
        align = PAGE;
    if (!size || (align & (align - 1)) || size > (size_t)1 << 46)
        return NULL;
    struct alloc *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    /* A page on each side stays unmapped for everybody: no allocation touches another. */
    size_t whole = (size + PAGE - 1) / PAGE * PAGE;
    a->mapped = whole + align + 2 * PAGE;
    a->map = mmap(NULL, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->map == MAP_FAILED) {
        free(a);
        return NULL;
    }
    a->base = (uint8_t *)(((uintptr_t)a->map + PAGE + align - 1) & ~(uintptr_t)(align - 1));
    a->size = size;
    a->defined = defined;
    bool ok = defined ? mprotect(a->base, whole, PROT_READ | PROT_WRITE) == 0
                      : map_poison(dev, a->base, whole);
    ok = ok && map_shadow(a);
    pthread_rwlock_wrlock(&dev->lock);
    ok = ok && insert_alloc(dev, a);
    pthread_rwlock_unlock(&dev->lock);
    if (!ok) {
        alloc_free(a);
        return NULL;
    }
    return a->base;
}

int emu_mem_free(struct emu_device *device, void *ptr)
{
    struct device *dev = (struct device *)device;
    uint64_t addr = (uint64_t)(uintptr_t)ptr;
    pthread_rwlock_wrlock(&dev->lock);
    size_t i = alloc_index(dev, addr);
    struct alloc *a = i < dev->nallocs ? dev->allocs[i] : NULL;
    if (!a || a->base != ptr || a->code) {
        pthread_rwlock_unlock(&dev->lock);
        return -1;
    }
    dev->nallocs--;
    for (; i < dev->nallocs; i++)
        dev->allocs[i] = dev->allocs[i + 1];
    size_t kept = 0;
    for (size_t k = 0; k < dev->nescapes; k++)
        if (dev->escapes[k] - addr >= a->size)
            dev->escapes[kept++] = dev->escapes[k];
    dev->nescapes = kept;
    pthread_rwlock_unlock(&dev->lock);
    alloc_free(a);
    return 0;
}

int emu_mem_map(struct emu_device *device, void *ptr, size_t size)
{
    struct device *dev = (struct device *)device;
    uint64_t first = (uint64_t)(uintptr_t)ptr / PAGE * PAGE;
    uint64_t end = ((uint64_t)(uintptr_t)ptr + size + PAGE - 1) / PAGE * PAGE;
    struct alloc *a = size ? calloc(1, sizeof(*a)) : NULL;
    if (!a)
        return -1;
    a->base = (uint8_t *)(uintptr_t)first;
    a->size = end - first;
    a->defined = true;
    bool ok = map_shadow(a);
    pthread_rwlock_wrlock(&dev->lock);
    size_t i = alloc_index(dev, first);
    ok = ok && (i == dev->nallocs || (uint64_t)(uintptr_t)dev->allocs[i]->base >= end);
    ok = ok && insert_alloc(dev, a);
    pthread_rwlock_unlock(&dev->lock);
    if (!ok)
        alloc_free(a);
    return ok ? 0 : -1;
}

int emu_mem_unmap(struct emu_device *device, void *ptr)
{
    return emu_mem_free(device, (void *)((uintptr_t)ptr / PAGE * PAGE));
}

bool device_escaped(struct device *dev, uint64_t addr)
{
    pthread_rwlock_rdlock(&dev->lock);
    bool found = false;
    for (size_t i = 0; i < dev->nescapes && !found; i++)
        found = dev->escapes[i] == (addr & ~3ull);
    pthread_rwlock_unlock(&dev->lock);
    return found;
}

void device_escape(struct device *dev, uint64_t addr)
{
    if (device_escaped(dev, addr))
        return;
    pthread_rwlock_wrlock(&dev->lock);
    if (ROOM(dev->escapes, dev->nescapes, dev->cap_escapes))
        dev->escapes[dev->nescapes++] = addr & ~3ull;
    pthread_rwlock_unlock(&dev->lock);
}

/* Written dwords that look like POISON are remembered as written. */
static void escape_range(struct device *dev, uint8_t *dst, size_t size)
{
    struct alloc *a = device_find(dev, (uint64_t)(uintptr_t)dst);
    if (!a || a->defined)
        return;
    uint8_t *p = (uint8_t *)((uintptr_t)dst & ~(uintptr_t)3);
    for (; p + 4 <= dst + size; p += 4) {
        uint32_t v;
        memcpy(&v, p, 4);
        if (__builtin_expect(v == POISON, 0))
            device_escape(dev, (uint64_t)(uintptr_t)p);
    }
}

void emu_mem_copy(struct emu_device *device, void *dst, const void *src, size_t size)
{
    memmove(dst, src, size);
    escape_range((struct device *)device, dst, size);
}

void emu_mem_fill(struct emu_device *device, void *dst, uint32_t word, size_t words)
{
    uint32_t *p = dst;
    for (size_t i = 0; i < words; i++)
        p[i] = word;
    if (word == POISON)
        escape_range((struct device *)device, dst, words * 4);
}

bool emu_mem_info(struct emu_device *device, const void *ptr, void **base, size_t *size)
{
    struct alloc *a = device_find((struct device *)device, (uint64_t)(uintptr_t)ptr);
    if (!a)
        return false;
    if (base)
        *base = a->base;
    if (size)
        *size = a->size;
    return true;
}
