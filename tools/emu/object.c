/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects: ELF segments into device memory, relocations, kernel descriptors, metadata, and the
 * table of decoded instructions.
 */
#include "wave.h"

#include <elf.h>
#include <msgpack.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif
#define NOTE_METADATA 32
#define OSABI_HSA 64

enum {
    REL_ABS32_LO = 1,
    REL_ABS32_HI = 2,
    REL_ABS64 = 3,
    REL_REL32 = 4,
    REL_REL64 = 5,
    REL_ABS32 = 6,
    REL_RELATIVE64 = 13
};

struct symbol {
    char *name;
    uint64_t value, size;
};

struct loading {
    struct device *dev;
    struct object *obj;
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *eh;
    char *err;
    size_t err_size;
};

static int fail(struct loading *ld, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(ld->err, ld->err_size, fmt, args);
    va_end(args);
    return -1;
}

static bool inside(const struct loading *ld, uint64_t at, uint64_t n)
{
    return at <= ld->size && n <= ld->size - at;
}

static int check_header(struct loading *ld)
{
    if (ld->size < EI_NIDENT || memcmp(ld->bytes, ELFMAG, SELFMAG) != 0)
        return fail(ld, "code object is not an ELF file");
    if (ld->size < sizeof(Elf64_Ehdr))
        return fail(ld, "code object is truncated: %zu bytes", ld->size);
    const Elf64_Ehdr *eh = ld->eh = (const Elf64_Ehdr *)ld->bytes;
    if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
        eh->e_machine != EM_AMDGPU)
        return fail(ld, "code object is not for AMDGPU (machine %u)", eh->e_machine);
    if (eh->e_ident[EI_OSABI] != OSABI_HSA)
        return fail(ld, "code object is not for the amdhsa ABI (OS ABI %u)", eh->e_ident[EI_OSABI]);
    if (eh->e_type != ET_DYN)
        return fail(ld, "code object is not linked (ELF type %u, expected a shared object)",
                    eh->e_type);
    unsigned mach = eh->e_flags & 0xff, want = ld->dev->gfx950 ? 0x4f : 0x4c;
    if (mach != want)
        return fail(ld, "code object is for another target (e_flags 0x%x%s), the device is %s",
                    eh->e_flags,
                    mach == 0x4f   ? ", gfx950"
                    : mach == 0x4c ? ", gfx942"
                                   : "",
                    ld->dev->arch);
    if (eh->e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(ld, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr)))
        return fail(ld, "code object is truncated: its program headers end beyond %zu bytes",
                    ld->size);
    if (eh->e_shoff && (eh->e_shentsize != sizeof(Elf64_Shdr) ||
                        !inside(ld, eh->e_shoff, (uint64_t)eh->e_shnum * sizeof(Elf64_Shdr))))
        return fail(ld, "code object is truncated: its section headers end beyond %zu bytes",
                    ld->size);
    if (eh->e_phoff % 8 || eh->e_shoff % 8)
        return fail(ld, "code object is damaged: its headers are not aligned");
    return 0;
}

static const Elf64_Phdr *phdr(const struct loading *ld, unsigned i)
{
    return (const Elf64_Phdr *)(ld->bytes + ld->eh->e_phoff) + i;
}

static const Elf64_Shdr *shdr(const struct loading *ld, unsigned i)
{
    return (const Elf64_Shdr *)(ld->bytes + ld->eh->e_shoff) + i;
}

static int load_segments(struct loading *ld)
{
    uint64_t end = 0;
    for (unsigned i = 0; i < ld->eh->e_phnum; i++) {
        const Elf64_Phdr *p = phdr(ld, i);
        if (p->p_type != PT_LOAD)
            continue;
        if (!inside(ld, p->p_offset, p->p_filesz) || p->p_filesz > p->p_memsz)
            return fail(ld, "code object is truncated: segment %u ends beyond %zu bytes", i,
                        ld->size);
        if (p->p_vaddr + p->p_memsz < p->p_vaddr || p->p_vaddr + p->p_memsz > (uint64_t)1 << 31)
            return fail(ld, "code object has a segment of absurd size");
        if (p->p_vaddr + p->p_memsz > end)
            end = p->p_vaddr + p->p_memsz;
    }
    if (!end)
        return fail(ld, "code object has nothing to load");
    struct object *obj = ld->obj;
    obj->image_size = (end + 4095) & ~4095ull;
    obj->image = emu_mem_alloc((struct emu_device *)ld->dev, obj->image_size, 4096, true);
    obj->exec = calloc(obj->image_size / 32 + 1, 1);
    obj->insts = (struct inst **)calloc(obj->image_size / 4 + 1, sizeof(*obj->insts));
    if (!obj->image || !obj->exec || !obj->insts)
        return fail(ld, "out of memory");
    device_find(ld->dev, (uint64_t)(uintptr_t)obj->image)->code = true;
    for (unsigned i = 0; i < ld->eh->e_phnum; i++) {
        const Elf64_Phdr *p = phdr(ld, i);
        if (p->p_type != PT_LOAD)
            continue;
        memcpy(obj->image + p->p_vaddr, ld->bytes + p->p_offset, p->p_filesz);
        if (p->p_flags & PF_X)
            for (uint64_t at = p->p_vaddr / 4; at < (p->p_vaddr + p->p_filesz) / 4; at++)
                obj->exec[at / 8] |= (uint8_t)(1 << at % 8);
    }
    return 0;
}

/* A section's bytes when they lie inside the file. */
static const void *section(const struct loading *ld, const Elf64_Shdr *s)
{
    return inside(ld, s->sh_offset, s->sh_size) ? ld->bytes + s->sh_offset : NULL;
}

static const char *string_at(const struct loading *ld, const Elf64_Shdr *strtab, uint64_t at)
{
    const char *s = section(ld, strtab);
    if (!s || at >= strtab->sh_size || !memchr(s + at, 0, strtab->sh_size - at))
        return NULL;
    return s + at;
}

static int load_symbols(struct loading *ld)
{
    struct object *obj = ld->obj;
    for (unsigned i = 0; ld->eh->e_shoff && i < ld->eh->e_shnum; i++) {
        const Elf64_Shdr *s = shdr(ld, i);
        if (s->sh_flags & SHF_EXECINSTR && !obj->text_offset)
            obj->text_offset = s->sh_addr;
        if (s->sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *sym = section(ld, s);
        if (!sym || s->sh_offset % 8 || s->sh_link >= ld->eh->e_shnum)
            return fail(ld, "code object is truncated: its symbol table is not there");
        size_t n = s->sh_size / sizeof(*sym);
        struct symbol *all = realloc(obj->symbols, (obj->nsymbols + n + 1) * sizeof(*all));
        if (!all)
            return fail(ld, "out of memory");
        obj->symbols = all;
        for (size_t k = 0; k < n; k++) {
            const char *name = string_at(ld, shdr(ld, s->sh_link), sym[k].st_name);
            if (!name || !*name || sym[k].st_shndx == SHN_UNDEF)
                continue;
            char *copy = strdup(name);
            if (!copy)
                return fail(ld, "out of memory");
            all[obj->nsymbols++] = (struct symbol){copy, sym[k].st_value, sym[k].st_size};
        }
    }
    return 0;
}

static int relocate_one(struct loading *ld, const Elf64_Rela *r, const Elf64_Shdr *symtab)
{
    struct object *obj = ld->obj;
    unsigned type = ELF64_R_TYPE(r->r_info);
    uint64_t base = (uint64_t)(uintptr_t)obj->image, value = base + (uint64_t)r->r_addend;
    if (r->r_offset > obj->image_size - 8)
        return fail(ld, "relocation at 0x%llx lies outside the code object",
                    (unsigned long long)r->r_offset);
    if (type != REL_RELATIVE64) {
        const Elf64_Sym *sym = symtab ? section(ld, symtab) : NULL;
        uint64_t k = ELF64_R_SYM(r->r_info);
        if (!sym || k >= symtab->sh_size / sizeof(*sym))
            return fail(ld, "relocation names symbol %llu, which is not there",
                        (unsigned long long)k);
        if (sym[k].st_shndx == SHN_UNDEF && k)
            return fail(ld, "undefined symbol %s",
                        string_at(ld, shdr(ld, symtab->sh_link), sym[k].st_name));
        value = base + sym[k].st_value + (uint64_t)r->r_addend;
    }
    uint8_t *at = obj->image + r->r_offset;
    uint64_t place = base + r->r_offset;
    uint32_t word = 0;
    switch (type) {
    case REL_RELATIVE64:
    case REL_ABS64:
        memcpy(at, &value, 8);
        return 0;
    case REL_REL64:
        value -= place;
        memcpy(at, &value, 8);
        return 0;
    case REL_ABS32:
    case REL_ABS32_LO:
        word = (uint32_t)value;
        break;
    case REL_ABS32_HI:
        word = (uint32_t)(value >> 32);
        break;
    case REL_REL32:
        word = (uint32_t)(value - place);
        break;
    default:
        return fail(ld, "unknown relocation type %u", type);
    }
    memcpy(at, &word, 4);
    return 0;
}

static int relocate(struct loading *ld)
{
    for (unsigned i = 0; ld->eh->e_shoff && i < ld->eh->e_shnum; i++) {
        const Elf64_Shdr *s = shdr(ld, i);
        if (s->sh_type != SHT_RELA || !(s->sh_flags & SHF_ALLOC))
            continue;
        const Elf64_Rela *r = section(ld, s);
        if (!r)
            return fail(ld, "code object is truncated: its relocations are not there");
        const Elf64_Shdr *symtab =
            s->sh_link && s->sh_link < ld->eh->e_shnum ? shdr(ld, s->sh_link) : NULL;
        for (size_t k = 0; k < s->sh_size / sizeof(*r); k++)
            if (relocate_one(ld, &r[k], symtab))
                return -1;
    }
    return 0;
}

static int read_descriptor(struct loading *ld, const struct symbol *sym, struct kernel *k)
{
    struct object *obj = ld->obj;
    if (sym->size != 64 || sym->value > obj->image_size - 64 || sym->value & 63)
        return fail(ld, "kernel descriptor %s is malformed: size %llu at 0x%llx", sym->name,
                    (unsigned long long)sym->size, (unsigned long long)sym->value);
    const uint8_t *d = obj->image + sym->value;
    int64_t entry;
    memcpy(&k->pub.group_size, d, 4);
    memcpy(&k->pub.private_size, d + 4, 4);
    memcpy(&k->pub.kernarg_size, d + 8, 4);
    memcpy(&entry, d + 16, 8);
    memcpy(&k->rsrc3, d + 44, 4);
    memcpy(&k->rsrc1, d + 48, 4);
    memcpy(&k->rsrc2, d + 52, 4);
    memcpy(&k->props, d + 56, 2);
    uint16_t preload;
    memcpy(&preload, d + 58, 2);
    k->preload_len = preload & 0x7f;
    k->preload_off = preload >> 7;
    k->entry = sym->value + (uint64_t)entry;
    k->obj = obj;
    k->pub.name = strndup(sym->name, strlen(sym->name) - 3);
    if (!k->pub.name) {
        fail(ld, "out of memory");
        return -1;
    }
    k->pub.handle = (uint64_t)(uintptr_t)d;
    k->pub.kernarg_align = 8;
    unsigned total = ((k->rsrc1 & 63) + 1) * 8;
    k->accum_offset = ((k->rsrc3 & 63) + 1) * 4;
    k->pub.vgprs = total < k->accum_offset ? total : k->accum_offset;
    k->pub.agprs = total > k->accum_offset ? total - k->accum_offset : 0;
    k->pub.sgprs = ((k->rsrc1 >> 6 & 15) / 2 + 1) * 16;
    if (k->entry & 255 || k->entry >= obj->image_size ||
        !(obj->exec[k->entry / 32] >> (k->entry / 4 % 8) & 1))
        return fail(ld, "kernel descriptor %s is malformed: entry 0x%llx is not code", sym->name,
                    (unsigned long long)k->entry);
    if (k->pub.group_size > ld->dev->lds_max)
        return fail(ld, "kernel %s wants %u bytes of LDS, %s has %u", k->pub.name,
                    k->pub.group_size, ld->dev->arch, ld->dev->lds_max);
    if (k->props & (1 << 10))
        return fail(ld, "kernel %s is for wave32, %s has wave64 only", k->pub.name, ld->dev->arch);
    if (k->props & (1 | 1 << 5))
        return fail(ld, "kernel descriptor %s asks for registers that %s does not set up",
                    sym->name, ld->dev->arch);
    return 0;
}

static int load_kernels(struct loading *ld)
{
    struct object *obj = ld->obj;
    obj->kernels = calloc(obj->nsymbols + 1, sizeof(*obj->kernels));
    obj->nkernels = 0;
    if (!obj->kernels)
        return fail(ld, "out of memory");
    for (size_t i = 0; i < obj->nsymbols; i++) {
        const struct symbol *s = &obj->symbols[i];
        size_t n = strlen(s->name);
        if (n < 4 || strcmp(s->name + n - 3, ".kd") != 0)
            continue;
        if (read_descriptor(ld, s, &obj->kernels[obj->nkernels++]))
            return -1;
    }
    return 0;
}

static bool key_is(const msgpack_object *o, const char *name)
{
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(name) &&
           memcmp(o->via.str.ptr, name, o->via.str.size) == 0;
}

static const msgpack_object *map_get(const msgpack_object *map, const char *name)
{
    if (map->type != MSGPACK_OBJECT_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (key_is(&map->via.map.ptr[i].key, name))
            return &map->via.map.ptr[i].val;
    return NULL;
}

static void metadata_number(const msgpack_object *map, const char *name, uint32_t *to)
{
    const msgpack_object *o = map_get(map, name);
    if (o && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *to = (uint32_t)o->via.u64;
}

static void metadata_kernel(struct object *obj, const msgpack_object *m)
{
    const msgpack_object *symbol = map_get(m, ".symbol");
    if (!symbol || symbol->type != MSGPACK_OBJECT_STR)
        return;
    for (size_t i = 0; i < obj->nkernels; i++) {
        struct emu_kernel *k = &obj->kernels[i].pub;
        size_t n = strlen(k->name);
        if (symbol->via.str.size != n + 3 || memcmp(symbol->via.str.ptr, k->name, n) != 0)
            continue;
        metadata_number(m, ".kernarg_segment_size", &k->kernarg_size);
        metadata_number(m, ".kernarg_segment_align", &k->kernarg_align);
    }
}

static int read_metadata(struct loading *ld, const uint8_t *desc, size_t size)
{
    msgpack_unpacked up;
    msgpack_unpacked_init(&up);
    size_t off = 0;
    int rc = 0;
    if (msgpack_unpack_next(&up, (const char *)desc, size, &off) != MSGPACK_UNPACK_SUCCESS) {
        rc = fail(ld, "code object's metadata is not valid msgpack");
    } else {
        const msgpack_object *kernels = map_get(&up.data, "amdhsa.kernels");
        if (kernels && kernels->type == MSGPACK_OBJECT_ARRAY)
            for (uint32_t i = 0; i < kernels->via.array.size; i++)
                metadata_kernel(ld->obj, &kernels->via.array.ptr[i]);
    }
    msgpack_unpacked_destroy(&up);
    return rc;
}

static int load_notes(struct loading *ld)
{
    for (unsigned i = 0; i < ld->eh->e_phnum; i++) {
        const Elf64_Phdr *p = phdr(ld, i);
        if (p->p_type != PT_NOTE)
            continue;
        if (!inside(ld, p->p_offset, p->p_filesz))
            return fail(ld, "code object is truncated: its notes end beyond %zu bytes", ld->size);
        const uint8_t *at = ld->bytes + p->p_offset, *end = at + p->p_filesz;
        while (end - at >= 12) {
            uint32_t h[3];
            memcpy(h, at, 12);
            uint64_t name = (h[0] + 3ull) & ~3ull, desc = (h[1] + 3ull) & ~3ull;
            if (name + h[1] > (uint64_t)(end - at - 12))
                break;
            if (h[2] == NOTE_METADATA && h[0] >= 6 && memcmp(at + 12, "AMDGPU", 6) == 0 &&
                read_metadata(ld, at + 12 + name, h[1]))
                return -1;
            if (name + desc > (uint64_t)(end - at - 12))
                break;
            at += 12 + name + desc;
        }
    }
    return 0;
}

int emu_object_load(struct emu_device *device, const void *bytes, size_t size,
                    struct emu_object **object, char *err, size_t err_size)
{
    struct device *dev = (struct device *)device;
    struct object *obj = calloc(1, sizeof(*obj));
    struct loading ld = {.dev = dev, .obj = obj, .size = size, .err = err, .err_size = err_size};
    /* A copy aligns the headers, whatever the caller's bytes are aligned to. */
    uint8_t *copy = obj ? malloc(size ? size : 1) : NULL;
    if (!copy) {
        free(obj);
        return fail(&ld, "out of memory");
    }
    memcpy(copy, bytes, size);
    ld.bytes = copy;
    obj->dev = dev;
    int rc = check_header(&ld) || load_segments(&ld) || load_symbols(&ld) || relocate(&ld) ||
             load_kernels(&ld) || load_notes(&ld);
    free(copy);
    if (rc || !ROOM(dev->objects, dev->nobjects, dev->cap_objects)) {
        emu_object_free((struct emu_object *)obj);
        return -1;
    }
    dev->objects[dev->nobjects++] = obj;
    *object = (struct emu_object *)obj;
    return 0;
}

void emu_object_free(struct emu_object *object)
{
    struct object *obj = (struct object *)object;
    if (!obj)
        return;
    struct device *dev = obj->dev;
    size_t kept = 0;
    for (size_t i = 0; i < dev->nobjects; i++)
        if (dev->objects[i] != obj)
            dev->objects[kept++] = dev->objects[i];
    dev->nobjects = kept;
    if (obj->image) {
        if (obj->insts)
            for (size_t i = 0; i < obj->image_size / 4; i++)
                inst_free(obj->insts[i]);
        device_find(dev, (uint64_t)(uintptr_t)obj->image)->code = false;
        emu_mem_free((struct emu_device *)dev, obj->image);
    }
    for (size_t i = 0; i < obj->nsymbols; i++)
        free(obj->symbols[i].name);
    for (size_t i = 0; i < obj->nkernels; i++)
        free((void *)obj->kernels[i].pub.name);
    free(obj->symbols);
    free(obj->kernels);
    free(obj->exec);
    free((void *)obj->insts);
    free(obj);
}

size_t emu_object_kernel_count(const struct emu_object *object)
{
    return ((const struct object *)object)->nkernels;
}

const struct emu_kernel *emu_object_kernel(const struct emu_object *object, size_t index)
{
    const struct object *obj = (const struct object *)object;
    return index < obj->nkernels ? &obj->kernels[index].pub : NULL;
}

const struct emu_kernel *emu_object_find(const struct emu_object *object, const char *name)
{
    const struct object *obj = (const struct object *)object;
    for (size_t i = 0; i < obj->nkernels; i++)
        if (strcmp(obj->kernels[i].pub.name, name) == 0)
            return &obj->kernels[i].pub;
    return NULL;
}

void *emu_object_symbol(const struct emu_object *object, const char *name, size_t *size)
{
    const struct object *obj = (const struct object *)object;
    for (size_t i = 0; i < obj->nsymbols; i++) {
        if (strcmp(obj->symbols[i].name, name) == 0 && obj->symbols[i].value < obj->image_size) {
            if (size)
                *size = obj->symbols[i].size;
            return obj->image + obj->symbols[i].value;
        }
    }
    return NULL;
}

struct kernel *object_kernel_at(struct device *dev, uint64_t handle, struct object **out)
{
    for (size_t i = 0; i < dev->nobjects; i++) {
        struct object *obj = dev->objects[i];
        for (size_t k = 0; k < obj->nkernels; k++) {
            if (obj->kernels[k].pub.handle == handle) {
                *out = obj;
                return &obj->kernels[k];
            }
        }
    }
    return NULL;
}

const struct inst *object_fetch(struct object *obj, uint32_t pc)
{
    size_t at = pc / 4;
    if (pc & 3 || pc >= obj->image_size || !(obj->exec[at / 8] >> at % 8 & 1))
        return NULL;
    pthread_mutex_lock(&obj->dev->decode_lock);
    struct inst *in = __atomic_load_n(&obj->insts[at], __ATOMIC_ACQUIRE);
    if (!in) {
        in = decode(obj->dev->decoder, obj->image + pc, obj->image_size - pc, pc);
        __atomic_store_n(&obj->insts[at], in, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&obj->dev->decode_lock);
    return in;
}
