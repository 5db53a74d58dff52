/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest: what a set of code objects holds, as JSON. Kernels are sorted by name, so the order
 * of generation does not show. 64-bit digests are FNV-1a as strings of 16 hexadecimal digits;
 * everything in bytes unless the name says otherwise.
 *
 *   { "cogen": "0.1.0",
 *     "kernels": [
 *       { "name": "cogen_front_...",          the kernel's symbol
 *         "file": "cogen_front_....co",       beside the manifest
 *         "file_size": 12345,
 *         "file_digest": "0123456789abcdef",
 *         "arch": "gfx950",
 *         "key": { "arch": "gfx950", "kernel": "front", ... },
 *                                             every option of the key, as text
 *         "args": [ { "name": "x", "kind": "pointer", "offset": 0, "size": 8,
 *                     "written": false }, ... ],
 *         "args_digest": "...",               over "name:offset:size:kind" and a newline, each
 *         "kernarg_size": 200,
 *         "scratch": { "size": 1048576,
 *                      "regions": [ { "name": "x8", "offset": 0, "size": 81920 }, ... ] },
 *         "epoch_size": 1040,
 *         "lds": 40960,
 *         "vgprs": 128, "sgprs": 64,          used, of a lane and of a wave
 *         "workgroups": 256, "workitems": 512 }, ... ] }
 */
#ifndef GEN_MANIFEST_H
#define GEN_MANIFEST_H

#include "gen/generate.h"

struct cogen_manifest_kernel {
    struct plan plan;
    char file[COGEN_NAME_MAX + 8]; /* relative to the manifest */
    int64_t file_size;
    uint64_t file_digest;
    int vgprs, sgprs;
};

/* FNV-1a-64 over bytes. */
uint64_t cogen_digest(const void *data, size_t size);

/* Fills k for the code whose object is folder/file: reads that file. 0, or -1 and one line. */
int cogen_manifest_kernel(struct cogen_manifest_kernel *k, const struct cogen_code *code,
                          const char *folder, const char *file, char *err, size_t err_size);

/* Writes the manifest of n kernels to path, whole or not at all. 0, or -1 and one line; two kernels
 * of one name are an error. */
int cogen_manifest_write(const char *path, const struct cogen_manifest_kernel *kernels, size_t n,
                         char *err, size_t err_size);

#endif
