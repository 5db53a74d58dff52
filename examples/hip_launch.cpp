/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches a generated kernel with HIP instead of the runtime's queue: the manifest tells the argument block, HIP loads the
 * code object and launches it. Built where HIP is installed, not by this project:
 *
 *     hipcc -I PREFIX/include hip_launch.cpp -L PREFIX/lib -lcogen_rt -o hip_launch
 *     ./hip_launch manifest.json "kernel=front model=v41-flash tokens=1 tp=4 ratio=2" \
 *         x_stride=5120 swa_stride=37376 swa_block=64 comp_block=64 bt_stride=64
 *
 * Pointer arguments get zeroed memory, a piece each; the others are given by name. With zeros for inputs this shows the
 * launch, not a useful result.
 */
#include <runtime/cogen_rt.h>

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static const size_t PIECE = 64u << 20; /* more than any argument of a step of one token needs */

static void need(bool good, const char *what, const char *why)
{
    if (good)
        return;
    std::fprintf(stderr, "hip_launch: %s: %s\n", what, why);
    std::exit(1);
}

static void need(hipError_t status, const char *what) { need(status == hipSuccess, what, hipGetErrorString(status)); }

/* The text behind "name=" among the arguments of the command, or NULL. */
static const char *given(int argc, char **argv, const char *name)
{
    size_t n = std::strlen(name);
    for (int i = 3; i < argc; i++)
        if (std::strncmp(argv[i], name, n) == 0 && argv[i][n] == '=')
            return argv[i] + n + 1;
    return nullptr;
}

static void *zeroed(size_t size)
{
    void *memory;
    need(hipMalloc(&memory, size), "memory");
    need(hipMemset(memory, 0, size), "memory");
    return memory;
}

static std::vector<char> pack(const cogen_rt_entry *entry, int argc, char **argv)
{
    std::vector<char> block(entry->kernarg_bytes);
    for (size_t i = 0; i < entry->arg_count; i++) {
        const cogen_rt_arg &arg = entry->args[i];
        const char *text = given(argc, argv, arg.name);
        if (arg.kind == COGEN_RT_POINTER) {
            bool scratch = std::strcmp(arg.name, "scratch") == 0;
            void *memory = zeroed(scratch ? entry->scratch_bytes : PIECE);
            std::memcpy(&block[arg.offset], &memory, sizeof memory);
            continue;
        }
        need(text != nullptr, arg.name, "not given");
        int64_t number = std::strtoll(text, nullptr, 0);
        float real = std::strtof(text, nullptr);
        if (arg.kind == COGEN_RT_F32)
            std::memcpy(&block[arg.offset], &real, sizeof real);
        else
            std::memcpy(&block[arg.offset], &number, arg.size); /* little-endian */
    }
    return block;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: hip_launch MANIFEST KEY [NAME=VALUE...]\n");
        return 2;
    }
    cogen_rt_error error;
    cogen_rt_library *library;
    need(cogen_rt_library_load(argv[1], &library, &error) == COGEN_RT_OK, argv[1], error.text);
    const cogen_rt_entry *entry = cogen_rt_library_find(library, argv[2], &error);
    need(entry != nullptr, argv[2], error.text);

    hipDeviceProp_t device;
    need(hipGetDeviceProperties(&device, 0), "device 0");
    need(std::strncmp(device.gcnArchName, entry->arch, std::strlen(entry->arch)) == 0, device.gcnArchName,
         "not the kernel's target");
    /* The workgroups wait for each other, so all must be resident. */
    need(device.multiProcessorCount >= (int)entry->workgroups, device.gcnArchName, "too few compute units");

    std::string folder(argv[1]);
    folder.erase(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    hipModule_t module;
    hipFunction_t kernel;
    need(hipModuleLoad(&module, (folder + entry->file).c_str()), entry->file);
    need(hipModuleGetFunction(&kernel, module, entry->name), entry->name);

    std::vector<char> block = pack(entry, argc, argv);
    size_t size = block.size();
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END};
    need(hipModuleLaunchKernel(kernel, entry->workgroups, 1, 1, entry->threads, 1, 1, 0, nullptr, nullptr, config), "launch");
    need(hipDeviceSynchronize(), entry->name);
    std::printf("%s ran\n", entry->name);
    cogen_rt_library_free(library);
    return 0;
}
