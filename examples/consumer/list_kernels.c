/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the kernels of a manifest, through the installed runtime. */
#include <runtime/cogen_rt.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct cogen_rt_error error;
    struct cogen_rt_library *library;
    if (argc != 2) {
        fprintf(stderr, "usage: list_kernels MANIFEST\n");
        return 2;
    }
    if (cogen_rt_library_load(argv[1], &library, &error) != COGEN_RT_OK) {
        fprintf(stderr, "list_kernels: %s\n", error.text);
        return 1;
    }
    for (size_t i = 0; i < cogen_rt_library_count(library); i++) {
        const struct cogen_rt_entry *e = cogen_rt_library_entry(library, i);
        printf("%s: %u VGPRs, %u bytes of LDS, %zu arguments\n", e->name, e->vgprs, e->lds_bytes,
               e->arg_count);
    }
    cogen_rt_library_free(library);
    return 0;
}
