/* SPDX-License-Identifier: Apache-2.0 */
/* hsa_init, the environment that configures the device, and what the system says of itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_ext.h"
#include "hsa_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hsa_state *current; /* the ABI's one runtime of a process */
static unsigned uses;

struct hsa_state *hsa_state(void)
{
    pthread_mutex_lock(&lock);
    struct hsa_state *s = current;
    pthread_mutex_unlock(&lock);
    return s;
}

uint64_t hsa_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * HSA_TICKS_PER_SECOND + (uint64_t)t.tv_nsec;
}

/* ---- environment: a value that is not understood is an error, since a check that somebody
 * believes to be on, and is off for a slip of the hand, would be worse than none */

static bool env_number(const char *name, uint64_t min, uint64_t max, uint64_t *out)
{
    const char *text = getenv(name);
    if (!text)
        return true;
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || errno || n < min || n > max) {
        fprintf(stderr, "%s=%s: expected a number from %llu to %llu\n", name, text,
                (unsigned long long)min, (unsigned long long)max);
        return false;
    }
    *out = n;
    return true;
}

/* A number, or names. */
static bool env_checks(unsigned *checks)
{
    const char *text = getenv("COGEN_EMU_CHECKS");
    if (!text)
        return true;
    if (*text >= '0' && *text <= '9') {
        uint64_t number = 0;
        if (!env_number("COGEN_EMU_CHECKS", 0, EMU_CHECK_ALL, &number))
            return false;
        *checks = (unsigned)number;
        return true;
    }
    char err[256];
    if (emu_checks_parse(text, checks, err, sizeof err) == 0)
        return true;
    fprintf(stderr, "COGEN_EMU_CHECKS=%s: %s\n", text, err);
    return false;
}

static bool env_mfma(bool *precise)
{
    const char *text = getenv("COGEN_EMU_MFMA");
    char err[256];
    if (!text || emu_mfma_parse(text, precise, err, sizeof err) == 0)
        return true;
    fprintf(stderr, "COGEN_EMU_MFMA=%s: %s\n", text, err);
    return false;
}

static bool configure(struct emu_config *config)
{
    bool precise = false;
    uint64_t seed = 0, threads = 0, cus = 0, limit = 0;
    unsigned checks = EMU_CHECK_ALL;
    const char *arch = getenv("COGEN_EMU_ARCH");
    if (arch && strcmp(arch, "gfx950") != 0 && strcmp(arch, "gfx942") != 0) {
        fprintf(stderr, "COGEN_EMU_ARCH=%s: expected gfx950 or gfx942\n", arch);
        return false;
    }
    if (!env_number("COGEN_EMU_SEED", 0, UINT64_MAX, &seed) ||
        !env_number("COGEN_EMU_THREADS", 1, 256, &threads) ||
        !env_number("COGEN_EMU_CUS", 8, 256, &cus) ||
        !env_number("COGEN_EMU_MAX_INSTS", 0, UINT64_MAX, &limit) || !env_checks(&checks) ||
        !env_mfma(&precise))
        return false;
    *config = (struct emu_config){
        .arch = arch,
        .cus = (unsigned)cus,
        .threads = (unsigned)threads,
        .seed = seed,
        .checks = checks,
        .max_insts = limit,
        .precise_mfma = precise,
    };
    return true;
}

static hsa_status_t start(void)
{
    struct emu_config config;
    if (!configure(&config))
        return HSA_STATUS_ERROR;
    struct hsa_state *s = calloc(1, sizeof *s);
    if (!s)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    char err[256];
    if (emu_device_open(&config, &s->device, err, sizeof err) != 0) {
        fprintf(stderr, "the emulated device: %s\n", err);
        free(s);
        return HSA_STATUS_ERROR;
    }
    s->arch = emu_device_config(s->device)->arch;
    pthread_mutex_init(&s->dispatch, NULL);
    pthread_mutex_init(&s->lists, NULL);
    current = s;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_init(void)
{
    pthread_mutex_lock(&lock);
    hsa_status_t status = current ? HSA_STATUS_SUCCESS : start();
    if (status == HSA_STATUS_SUCCESS)
        uses++;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Threads of queues may be inside callbacks that ask for the state, so they end before it goes. */
static void end(struct hsa_state *s)
{
    hsa_queues_end(s);
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_mutex_unlock(&lock);
    hsa_execs_end(s);
    hsa_allocs_end(s);
    emu_device_close(s->device);
    pthread_mutex_destroy(&s->dispatch);
    pthread_mutex_destroy(&s->lists);
    free(s->finding);
    free(s);
}

hsa_status_t hsa_shut_down(void)
{
    pthread_mutex_lock(&lock);
    bool was_up = current != NULL, last = was_up && uses == 1;
    if (was_up && uses > 0)
        uses--;
    struct hsa_state *s = last ? current : NULL;
    pthread_mutex_unlock(&lock);
    if (s)
        end(s);
    return was_up ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    HSA_NEEDS_STATE(s);
    if (!value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    switch ((int)attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
        *(uint16_t *)value = 1;
        break;
    case HSA_SYSTEM_INFO_VERSION_MINOR:
        *(uint16_t *)value = 1;
        break;
    case HSA_SYSTEM_INFO_TIMESTAMP:
        *(uint64_t *)value = hsa_now();
        break;
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
        *(uint64_t *)value = HSA_TICKS_PER_SECOND;
        break;
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
        *(uint64_t *)value = UINT64_MAX;
        break;
    case HSA_SYSTEM_INFO_ENDIANNESS:
        *(hsa_endianness_t *)value = HSA_ENDIANNESS_LITTLE;
        break;
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
        *(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
        break;
    case HSA_SYSTEM_INFO_EXTENSIONS: {
        uint8_t *bits = value;
        memset(bits, 0, 128);
        bits[HSA_EXTENSION_AMD_LOADER / 8] |= (uint8_t)(1 << HSA_EXTENSION_AMD_LOADER % 8);
        break;
    }
    case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
        *(const char **)value = "cogen-emu";
        break;
    case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
        *(bool *)value = false;
        break;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return HSA_STATUS_SUCCESS;
}

static const struct {
    hsa_status_t status;
    const char *text;
} status_texts[] = {
    {HSA_STATUS_SUCCESS,                          "success"                              },
    {HSA_STATUS_INFO_BREAK,                       "a traversal was ended by its callback"},
    {HSA_STATUS_ERROR,                            "an error"                             },
    {HSA_STATUS_ERROR_INVALID_ARGUMENT,           "an argument is not valid"             },
    {HSA_STATUS_ERROR_INVALID_QUEUE_CREATION,     "the queue cannot be created"          },
    {HSA_STATUS_ERROR_INVALID_ALLOCATION,         "the allocation is not valid"          },
    {HSA_STATUS_ERROR_INVALID_AGENT,              "no such agent"                        },
    {HSA_STATUS_ERROR_INVALID_REGION,             "no such memory region"                },
    {HSA_STATUS_ERROR_INVALID_SIGNAL,             "no such signal"                       },
    {HSA_STATUS_ERROR_INVALID_QUEUE,              "no such queue"                        },
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES,           "out of resources"                     },
    {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,      "an AQL packet is not valid"           },
    {HSA_STATUS_ERROR_RESOURCE_FREE,              "a resource cannot be freed"           },
    {HSA_STATUS_ERROR_NOT_INITIALIZED,            "hsa_init has not been called"         },
    {HSA_STATUS_ERROR_REFCOUNT_OVERFLOW,          "hsa_init was called too often"        },
    {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,     "arguments do not go together"         },
    {HSA_STATUS_ERROR_INVALID_INDEX,              "an index is out of range"             },
    {HSA_STATUS_ERROR_INVALID_ISA,                "no such instruction set"              },
    {HSA_STATUS_ERROR_INVALID_ISA_NAME,           "no instruction set has this name"     },
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT,        "the code object is not valid"         },
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE,         "no such executable"                   },
    {HSA_STATUS_ERROR_FROZEN_EXECUTABLE,          "the executable is frozen"             },
    {HSA_STATUS_ERROR_INVALID_SYMBOL_NAME,        "no symbol has this name"              },
    {HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,   "the variable is defined already"      },
    {HSA_STATUS_ERROR_VARIABLE_UNDEFINED,         "the variable is not defined"          },
    {HSA_STATUS_ERROR_EXCEPTION,                  "the kernel was stopped by the device" },
    {HSA_STATUS_ERROR_INVALID_CODE_SYMBOL,        "no such symbol"                       },
    {HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL,  "no such symbol"                       },
    {HSA_STATUS_ERROR_INVALID_FILE,               "the file cannot be read"              },
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "no such code object reader"           },
    {HSA_STATUS_ERROR_INVALID_CACHE,              "no such cache"                        },
    {HSA_STATUS_ERROR_INVALID_WAVEFRONT,          "no such wavefront"                    },
    {HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP,       "no such signal group"                 },
    {HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,      "the runtime is in another state"      },
    {HSA_STATUS_ERROR_FATAL,                      "a fatal error"                        },
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    if (!text)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < sizeof status_texts / sizeof status_texts[0]; i++)
        if (status_texts[i].status == status) {
            *text = status_texts[i].text;
            return HSA_STATUS_SUCCESS;
        }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- findings and counters, for clients that know the emulator (hsa_ext.h) */

static void keep(struct hsa_state *s, char *finding)
{
    pthread_mutex_lock(&s->lists);
    free(s->finding);
    s->finding = finding;
    pthread_mutex_unlock(&s->lists);
}

void hsa_complain(struct hsa_state *s, const char *text)
{
    fprintf(stderr, "%s\n", text);
    keep(s, strdup(text));
}

void hsa_report(struct hsa_state *s, const struct emu_result *result)
{
    pthread_mutex_lock(&s->lists);
    s->dispatches++;
    s->counters = *result;
    s->counters.reports = NULL; /* the device's, until its next dispatch */
    pthread_mutex_unlock(&s->lists);
    char *text = NULL;
    size_t size = 0;
    FILE *out = result->report_count ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    for (size_t i = 0; i < result->report_count; i++)
        fprintf(out, "%s%s", i ? "\n" : "", result->reports[i].text);
    fclose(out);
    if (text)
        fprintf(stderr, "%s%s", text, size && text[size - 1] == '\n' ? "" : "\n");
    keep(s, text);
}

int emu_hsa_reseed(uint64_t seed)
{
    struct hsa_state *s = hsa_state();
    if (!s)
        return -1;
    pthread_mutex_lock(&s->dispatch);
    emu_device_reseed(s->device, seed);
    pthread_mutex_unlock(&s->dispatch);
    return 0;
}

size_t emu_hsa_last_finding(char *text, size_t size)
{
    struct hsa_state *s = hsa_state();
    if (size)
        text[0] = '\0';
    if (!s)
        return 0;
    pthread_mutex_lock(&s->lists);
    size_t length = s->finding ? strlen(s->finding) : 0;
    if (size && s->finding)
        snprintf(text, size, "%s", s->finding);
    pthread_mutex_unlock(&s->lists);
    return length;
}

int emu_hsa_last_dispatch(struct emu_hsa_counters *counters)
{
    struct hsa_state *s = hsa_state();
    if (!s)
        return -1;
    pthread_mutex_lock(&s->lists);
    *counters = (struct emu_hsa_counters){.dispatches = s->dispatches,
                                          .insts = s->counters.insts,
                                          .mfma_macs = s->counters.mfma_macs,
                                          .reports = s->counters.report_count};
    pthread_mutex_unlock(&s->lists);
    return 0;
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t call, void *data)
{
    HSA_NEEDS_STATE(s);
    if (!call)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lists);
    bool taken = s->event_call != NULL;
    if (!taken) {
        s->event_call = call;
        s->event_data = data;
    }
    pthread_mutex_unlock(&s->lists);
    return taken ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}
