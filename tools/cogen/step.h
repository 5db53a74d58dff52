/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a layer on a device: a case's inputs in device memory, K1, K2 or both, and what they
 * wrote, read back.
 *
 *     struct step *s;
 *     step_open(&request, &s, err);      device, kernels, buffers, argument blocks
 *     step_run(s, seed, err);            inputs put back as they were, outputs poisoned, launch,
 * wait, read back step_output(s, "q", &size) ...     host memory of the step step_close(s);
 */
#ifndef COGEN_STEP_H
#define COGEN_STEP_H

#include "gen/key.h"
#include "runtime/cogen_rt.h"
#include "tests/ref/case.h"

struct step_request {
    const struct ref_case *c;      /* with the parts that the kernels read; outlives the step */
    const struct cogen_key *front; /* NULL: K1 does not run */
    const struct cogen_key *back;  /* NULL: K2 does not run */
    const char *device;            /* "emu", "hsa", "auto" */
    const char *mfma; /* the emulator's COGEN_EMU_MFMA, "model" or "precise"; NULL: as the
                         environment has it, else precise: a difference is then the kernel's, not
                         that of a guess at the order of a matrix instruction's sums */
    const char *
        manifest; /* of the kernels; NULL: generated for this step, in a folder that goes with it */
    const int32_t *kt,
        *klen; /* key table for a K2 that does not write its own; NULL when none needs it */
    uint64_t timeout_ms; /* of a launch; 0: none */
};

struct step;

int step_open(const struct step_request *request, struct step **step, char *err, size_t err_size);
/* seed: of the emulator's schedule; a GPU has none. Gives -1 and a line also when a byte outside
 * the outputs changed. */
int step_run(struct step *step, uint64_t seed, char *err, size_t err_size);
void step_close(struct step *step);

/* The parts of step_run, for replays: inputs as they were and work memory zeroed; `times` launches
 * in a row and a wait; outputs read back and everything else compared. */
int step_prepare(struct step *step, uint64_t seed, char *err, size_t err_size);
int step_launch(struct step *step, int times, char *err, size_t err_size);
int step_read(struct step *step, char *err, size_t err_size);
/* Writes or reads the start of the memory behind an argument ("pos", "epoch", "out", ...) between
 * launches. */
int step_put(struct step *step, const char *arg, const void *bytes, size_t size, char *err,
             size_t err_size);
int step_get(struct step *step, const char *arg, void *bytes, size_t size, char *err,
             size_t err_size);

/* Outputs by file name: qr, q, records, kt, klen, out; NULL for one that the kernels of the step do
 * not write. */
const void *step_output(const struct step *step, const char *name, size_t *size);
extern const char *const step_output_names[];
extern const size_t step_output_count;

/* The timeline buffer of K1 (kernel 0) or K2 (1): stamps[workgroup][STAMPS]; NULL when not a
 * timeline build. */
const uint64_t *step_timeline(const struct step *step, int kernel);
const struct cogen_rt_device_info *step_device(const struct step *step);

#endif
