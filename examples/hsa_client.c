/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain HSA client: it loads a code object, runs its kernel vector_add(a, b, c, n) over buffers
 * and checks the sums. It knows nothing of cogen, and runs on any library with libhsa-runtime64's
 * ABI: on a GPU by ROCm's, without one by the emulator's, which the loader takes instead with
 *
 *     LD_LIBRARY_PATH=BUILD/lib/hsa hsa_client vector_add.co
 *
 * where vector_add.co is, for example, clang-22's output of
 *
 *     __attribute__((reqd_work_group_size(256, 1, 1))) kernel void
 *     vector_add(global const float *a, global const float *b, global float *c, uint n) { ... }
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 100000, GROUP = 256 };

struct client {
    hsa_agent_t gpu, cpu;
    char name[64];
    hsa_amd_memory_pool_t kernarg, device;
};

struct kernel {
    hsa_executable_t executable;
    uint64_t object;
    uint32_t kernarg_bytes, group_bytes, private_bytes;
};

/* True when a call succeeded; otherwise says which did not, and why. */
static int ok(hsa_status_t status, const char *what)
{
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return 1;
    const char *text = NULL;
    if (hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || !text)
        text = "no text";
    fprintf(stderr, "%s: %s (0x%x)\n", what, text, (unsigned)status);
    return 0;
}

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
    struct client *c = data;
    hsa_device_type_t type;
    hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (type == HSA_DEVICE_TYPE_CPU && !c->cpu.handle)
        c->cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU && !c->gpu.handle)
        c->gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct client *c = data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        c->kernarg = pool;
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        c->device = pool; /* the CPU's pools are listed first, so the GPU's stays */
    return HSA_STATUS_SUCCESS;
}

static int find_agents(struct client *c)
{
    if (!ok(hsa_iterate_agents(on_agent, c), "list agents"))
        return 0;
    if (!c->gpu.handle || !c->cpu.handle) {
        fprintf(stderr, "there is no GPU agent\n");
        return 0;
    }
    return ok(hsa_agent_get_info(c->gpu, HSA_AGENT_INFO_NAME, c->name), "name the GPU") &&
           ok(hsa_amd_agent_iterate_memory_pools(c->cpu, on_pool, c), "list the CPU's pools") &&
           ok(hsa_amd_agent_iterate_memory_pools(c->gpu, on_pool, c), "list the GPU's pools");
}

static int load(const struct client *c, const char *path, struct kernel *k)
{
    int file = open(path, O_RDONLY);
    if (file < 0) {
        perror(path);
        return 0;
    }
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    int loaded =
        ok(hsa_code_object_reader_create_from_file(file, &reader), path) &&
        ok(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                     NULL, &k->executable),
           "create an executable") &&
        ok(hsa_executable_load_agent_code_object(k->executable, c->gpu, reader, NULL, NULL),
           path) &&
        ok(hsa_executable_freeze(k->executable, NULL), "freeze the executable") &&
        ok(hsa_executable_get_symbol_by_name(k->executable, "vector_add.kd", &c->gpu, &symbol),
           "vector_add.kd");
    close(file);
    if (!loaded)
        return 0;
    hsa_code_object_reader_destroy(reader);
    const struct {
        hsa_executable_symbol_info_t what;
        void *to;
    } facts[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,               &k->object       },
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k->kernarg_bytes},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,   &k->group_bytes  },
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k->private_bytes},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (!ok(hsa_executable_symbol_get_info(symbol, facts[i].what, facts[i].to), "the kernel"))
            return 0;
    return 1;
}

/* Memory of a pool that both agents may use. */
static void *allocate(const struct client *c, hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *p = NULL;
    const hsa_agent_t both[2] = {c->cpu, c->gpu};
    if (!ok(hsa_amd_memory_pool_allocate(pool, bytes, 0, &p), "allocate") ||
        !ok(hsa_amd_agents_allow_access(2, both, NULL, p), "allow access"))
        return NULL;
    return p;
}

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    ok(status, "the queue");
    hsa_signal_store_screlease(*(hsa_signal_t *)data, -1);
}

/* One packet, and its end. False when it failed. */
static int run(hsa_queue_t *queue, const struct kernel *k, void *args, hsa_signal_t done)
{
    uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
    hsa_kernel_dispatch_packet_t *p =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memset((char *)p + 4, 0,
           sizeof *p - 4); /* the header stays invalid until all the rest is there */
    p->workgroup_size_x = GROUP;
    p->workgroup_size_y = p->workgroup_size_z = 1;
    p->grid_size_x = (ITEMS + GROUP - 1) / GROUP * GROUP;
    p->grid_size_y = p->grid_size_z = 1;
    p->group_segment_size = k->group_bytes;
    p->private_segment_size = k->private_bytes;
    p->kernel_object = k->object;
    p->kernarg_address = args;
    p->completion_signal = done;
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    uint32_t setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    __atomic_store_n((uint32_t *)p, header | setup << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    return hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) == 0;
}

static int vector_add(const struct client *c, const struct kernel *k)
{
    struct args {
        const float *a, *b;
        float *c;
        uint32_t n;
    };
    hsa_signal_t done;
    hsa_queue_t *queue = NULL;
    float *x = allocate(c, c->device, ITEMS * sizeof *x);
    float *y = allocate(c, c->device, ITEMS * sizeof *y);
    float *z = allocate(c, c->device, ITEMS * sizeof *z);
    size_t bytes = k->kernarg_bytes > sizeof(struct args) ? k->kernarg_bytes : sizeof(struct args);
    struct args *args = allocate(c, c->kernarg, bytes);
    if (!x || !y || !z || !args || !ok(hsa_signal_create(1, 0, NULL, &done), "create a signal") ||
        !ok(hsa_queue_create(c->gpu, 64, HSA_QUEUE_TYPE_SINGLE, on_error, &done, UINT32_MAX,
                             UINT32_MAX, &queue),
            "create a queue"))
        return 0;
    static float numbers[3][ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        numbers[0][i] = (float)i;
        numbers[1][i] = (float)(2 * i + 1);
    }
    memset(args, 0, bytes);
    *args = (struct args){x, y, z, ITEMS};
    int good = ok(hsa_memory_copy(x, numbers[0], sizeof numbers[0]), "copy to the device") &&
               ok(hsa_memory_copy(y, numbers[1], sizeof numbers[1]), "copy to the device") &&
               run(queue, k, args, done) &&
               ok(hsa_memory_copy(numbers[2], z, sizeof numbers[2]), "copy from the device");
    for (int i = 0; good && i < ITEMS; i++)
        if (numbers[2][i] != (float)(3 * i + 1)) {
            fprintf(stderr, "c[%d] is %g, not %g\n", i, (double)numbers[2][i], (double)(3 * i + 1));
            good = 0;
        }
    hsa_queue_destroy(queue);
    hsa_signal_destroy(done);
    hsa_amd_memory_pool_free(x);
    hsa_amd_memory_pool_free(y);
    hsa_amd_memory_pool_free(z);
    hsa_amd_memory_pool_free(args);
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CODE_OBJECT\n", argv[0]);
        return 2;
    }
    struct client c = {.name = ""};
    struct kernel k = {.object = 0};
    if (!ok(hsa_init(), "hsa_init"))
        return 1;
    int good = find_agents(&c) && load(&c, argv[1], &k) && vector_add(&c, &k);
    if (k.executable.handle)
        hsa_executable_destroy(k.executable);
    hsa_shut_down();
    if (good)
        printf("vector_add of %d items on %s: correct\n", ITEMS, c.name);
    return good ? 0 : 1;
}
