/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an AMDGPU code object (ELF64, little-endian): sections and symbols, the kernel descriptor,
 * and the metadata note (MessagePack). A damaged file gives a line, never a read outside it.
 */
#include "runtime/code.h"

#include "runtime/error.h"

#include <elf.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EM_OF_AMDGPU = 224, MACH_MASK = 0xff, NOTE_METADATA = 32, DESCRIPTOR_BYTES = 64 };

static const struct {
    unsigned mach;
    const char *name;
} machs[] = {
    {0x02c, "gfx900" },
    {0x02f, "gfx906" },
    {0x030, "gfx908" },
    {0x03f, "gfx90a" },
    {0x040, "gfx940" },
    {0x04b, "gfx941" },
    {0x04c, "gfx942" },
    {0x04f, "gfx950" },
    {0x041, "gfx1100"},
    {0x04e, "gfx1201"}
};

struct elf {
    const char *file;
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr head;
    struct cogen_rt_error *err;
};

static bool inside(const struct elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset;
}

static enum cogen_rt_status damaged(const struct elf *e, const char *what)
{
    return rt_fail(e->err, COGEN_RT_BAD_FILE, "%s: %s: the file is truncated or damaged", e->file,
                   what);
}

static Elf64_Shdr section(const struct elf *e, unsigned index)
{
    Elf64_Shdr sh;
    memcpy(&sh, e->bytes + e->head.e_shoff + (uint64_t)index * sizeof sh, sizeof sh);
    return sh;
}

static enum cogen_rt_status read_head(struct elf *e, struct rt_code *code)
{
    if (e->size < sizeof e->head || memcmp(e->bytes, ELFMAG, SELFMAG) != 0)
        return rt_fail(e->err, COGEN_RT_BAD_FILE, "%s: not a code object (no ELF header)", e->file);
    memcpy(&e->head, e->bytes, sizeof e->head);
    if (e->head.e_ident[EI_CLASS] != ELFCLASS64 || e->head.e_ident[EI_DATA] != ELFDATA2LSB ||
        e->head.e_machine != EM_OF_AMDGPU)
        return rt_fail(e->err, COGEN_RT_MISMATCH,
                       "%s: an ELF file of another machine (%u), not an AMDGPU code object",
                       e->file, e->head.e_machine);
    if (e->head.e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(e, e->head.e_shoff, (uint64_t)e->head.e_shnum * sizeof(Elf64_Shdr)))
        return damaged(e, "section table outside the file");
    for (unsigned i = 0; i < e->head.e_shnum; i++) {
        Elf64_Shdr sh = section(e, i);
        if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
            !inside(e, sh.sh_offset, sh.sh_size))
            return damaged(e, "section outside the file");
    }
    unsigned mach = e->head.e_flags & MACH_MASK;
    snprintf(code->target, sizeof code->target, "machine 0x%x", mach);
    for (size_t i = 0; i < sizeof machs / sizeof machs[0]; i++)
        if (machs[i].mach == mach)
            snprintf(code->target, sizeof code->target, "%s", machs[i].name);
    return COGEN_RT_OK;
}

/* File offset of a virtual address, through the section that holds it; false when none holds size
 * bytes there. */
static bool offset_of(const struct elf *e, uint64_t address, uint64_t size, uint64_t *offset)
{
    for (unsigned i = 0; i < e->head.e_shnum; i++) {
        Elf64_Shdr sh = section(e, i);
        if (sh.sh_type == SHT_NOBITS || sh.sh_type == SHT_NULL || !(sh.sh_flags & SHF_ALLOC) ||
            address < sh.sh_addr || address - sh.sh_addr > sh.sh_size ||
            size > sh.sh_size - (address - sh.sh_addr))
            continue;
        *offset = sh.sh_offset + (address - sh.sh_addr);
        return true;
    }
    return false;
}

/* The defined dynamic symbol called name + suffix; with name NULL the first whose name ends in
 * suffix. */
static bool find_symbol(const struct elf *e, const char *name, const char *suffix, Elf64_Sym *found,
                        char *full, size_t full_size)
{
    for (unsigned i = 0; i < e->head.e_shnum; i++) {
        Elf64_Shdr sh = section(e, i);
        if (sh.sh_type != SHT_DYNSYM || sh.sh_link >= e->head.e_shnum)
            continue;
        Elf64_Shdr names = section(e, sh.sh_link);
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= sh.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym sym;
            memcpy(&sym, e->bytes + sh.sh_offset + at, sizeof sym);
            if (sym.st_shndx == SHN_UNDEF || sym.st_name >= names.sh_size)
                continue;
            const char *text = (const char *)e->bytes + names.sh_offset + sym.st_name;
            size_t room = names.sh_size - sym.st_name, n = strnlen(text, room), k = strlen(suffix);
            if (n == room || n < k || memcmp(text + n - k, suffix, k) != 0 || n >= full_size)
                continue;
            if (name && (strlen(name) != n - k || memcmp(text, name, n - k) != 0))
                continue;
            memcpy(full, text, n + 1);
            *found = sym;
            return true;
        }
    }
    return false;
}

static uint32_t word(const unsigned char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static enum cogen_rt_status read_descriptor(const struct elf *e, const char *kernel,
                                            struct rt_code *code)
{
    char full[RT_CODE_NAME];
    Elf64_Sym kd, text;
    uint64_t at;
    if (!find_symbol(e, kernel, ".kd", &kd, full, sizeof full))
        return rt_fail(e->err, COGEN_RT_BAD_FILE, "%s: holds no kernel%s%s", e->file,
                       kernel ? " " : "", kernel ? kernel : "");
    memcpy(code->kernel, full, strlen(full) - 3);
    code->kernel[strlen(full) - 3] = '\0';
    if (!offset_of(e, kd.st_value, DESCRIPTOR_BYTES, &at))
        return damaged(e, "kernel descriptor outside the file");
    const unsigned char *d = e->bytes + at;
    code->group_bytes = word(d);
    code->private_bytes = word(d + 4);
    code->kernarg_bytes = word(d + 8);
    code->rsrc3 = word(d + 44);
    code->rsrc1 = word(d + 48);
    code->rsrc2 = word(d + 52);
    if (!find_symbol(e, code->kernel, "", &text, full, sizeof full) ||
        !offset_of(e, text.st_value, text.st_size, &code->code_offset))
        return damaged(e, "machine code outside the file");
    code->code_bytes = text.st_size;
    return COGEN_RT_OK;
}

/* ---- metadata */

static bool key_is(const msgpack_object *key, const char *name)
{
    return key->type == MSGPACK_OBJECT_STR && key->via.str.size == strlen(name) &&
           memcmp(key->via.str.ptr, name, key->via.str.size) == 0;
}

static const msgpack_object *field(const msgpack_object *map, const char *name)
{
    if (map->type != MSGPACK_OBJECT_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (key_is(&map->via.map.ptr[i].key, name))
            return &map->via.map.ptr[i].val;
    return NULL;
}

static uint32_t number(const msgpack_object *map, const char *name)
{
    const msgpack_object *o = field(map, name);
    return o && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER ? (uint32_t)o->via.u64 : 0;
}

static void text_of(const msgpack_object *map, const char *name, char *out, size_t size)
{
    const msgpack_object *o = field(map, name);
    int n = o && o->type == MSGPACK_OBJECT_STR ? (int)o->via.str.size : 0;
    snprintf(out, size, "%.*s", n, n ? o->via.str.ptr : "");
}

static bool kernel_metadata(const msgpack_object *root, struct rt_code *code)
{
    const msgpack_object *kernels = field(root, "amdhsa.kernels");
    if (!kernels || kernels->type != MSGPACK_OBJECT_ARRAY)
        return false;
    for (uint32_t i = 0; i < kernels->via.array.size; i++) {
        const msgpack_object *k = &kernels->via.array.ptr[i];
        char name[RT_CODE_NAME];
        text_of(k, ".name", name, sizeof name);
        if (strcmp(name, code->kernel) != 0)
            continue;
        code->meta_vgprs = number(k, ".vgpr_count");
        code->meta_agprs = number(k, ".agpr_count");
        code->meta_sgprs = number(k, ".sgpr_count");
        code->meta_group_bytes = number(k, ".group_segment_fixed_size");
        code->meta_kernarg_bytes = number(k, ".kernarg_segment_size");
        code->wavefront = number(k, ".wavefront_size");
        char digest[32], *end;
        text_of(k, ".cogen_args_digest", digest, sizeof digest);
        code->args_digest = strtoull(digest, &end, 16);
        code->has_digest = *digest && !*end;
        const msgpack_object *args = field(k, ".args");
        uint32_t n = args && args->type == MSGPACK_OBJECT_ARRAY ? args->via.array.size : 0;
        if (n > RT_CODE_MAX_ARGS)
            return false;
        for (uint32_t j = 0; j < n; j++) {
            const msgpack_object *a = &args->via.array.ptr[j];
            struct rt_code_arg *out = &code->args[j];
            text_of(a, ".name", out->name, sizeof out->name);
            text_of(a, ".value_kind", out->value_kind, sizeof out->value_kind);
            out->offset = number(a, ".offset");
            out->size = number(a, ".size");
        }
        code->arg_count = n;
        return true;
    }
    return false;
}

static enum cogen_rt_status read_metadata(const struct elf *e, struct rt_code *code)
{
    for (unsigned i = 0; i < e->head.e_shnum; i++) {
        Elf64_Shdr sh = section(e, i);
        if (sh.sh_type != SHT_NOTE)
            continue;
        const unsigned char *p = e->bytes + sh.sh_offset;
        for (uint64_t at = 0; at + 12 <= sh.sh_size;) {
            uint64_t name = word(p + at), desc = word(p + at + 4), type = word(p + at + 8);
            uint64_t body = at + 12 + ((name + 3) & ~3ull), end = body + desc;
            if (end > sh.sh_size)
                return damaged(e, "note outside its section");
            if (type == NOTE_METADATA && name == 7 && memcmp(p + at + 12, "AMDGPU", 7) == 0) {
                msgpack_unpacked u;
                msgpack_unpacked_init(&u);
                size_t used = 0;
                bool good = msgpack_unpack_next(&u, (const char *)p + body, desc, &used) ==
                                MSGPACK_UNPACK_SUCCESS &&
                            kernel_metadata(&u.data, code);
                msgpack_unpacked_destroy(&u);
                return good ? COGEN_RT_OK : damaged(e, "metadata does not name the kernel");
            }
            at = (end + 3) & ~3ull;
        }
    }
    return damaged(e, "no AMDGPU metadata");
}

enum cogen_rt_status rt_code_read(const char *file, const void *bytes, size_t size,
                                  const char *kernel, struct rt_code *code,
                                  struct cogen_rt_error *err)
{
    struct elf e = {.file = file, .bytes = bytes, .size = size, .err = err};
    memset(code, 0, sizeof *code);
    enum cogen_rt_status st = read_head(&e, code);
    if (st == COGEN_RT_OK)
        st = read_descriptor(&e, kernel, code);
    if (st == COGEN_RT_OK)
        st = read_metadata(&e, code);
    if (st != COGEN_RT_OK)
        return st;
    return rt_ok(err);
}
