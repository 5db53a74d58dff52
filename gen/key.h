/* SPDX-License-Identifier: Apache-2.0 */
/* The build key: what is asked of the generator. Everything else derives from it. */
#ifndef GEN_KEY_H
#define GEN_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cogen_kernel { COGEN_FRONT, COGEN_BACK };
enum cogen_x { COGEN_X_BF16, COGEN_X_X8 };
enum cogen_keys { COGEN_KEYS_FRONT, COGEN_KEYS_BACK, COGEN_KEYS_GIVEN };
enum { COGEN_MAX_TOKENS = 48 };

struct cogen_key {
    const char *arch;  /* "gfx950" */
    const char *model; /* a name of the model table */
    enum cogen_kernel kernel;
    int tokens; /* S, 1 .. COGEN_MAX_TOKENS */
    int tp;     /* tensor-parallel ranks */
    int ratio;  /* compress ratio of the layer, 0: window only */
    int topk;   /* width of the top-k table; 0 when ratio is 0 */
    enum cogen_x x;
    enum cogen_keys keys;
    bool global_keys, shuffled, timeline;
    int wqkv_ld, wqb_ld, woa_ld, wob_ld; /* row strides of the weights in bytes; K when not given */
    bool keys_set, global_keys_set;      /* given, not to be filled in by cogen_key_finish */
};

/* One option of a key: the command line, the manifest and the key's name all go by this table. */
struct cogen_key_option {
    const char *name;   /* as in "--name", and in the manifest */
    const char *values; /* what is accepted, for help and errors */
    const char *help;
};
extern const struct cogen_key_option cogen_key_options[];
extern const size_t cogen_key_option_count;

/* A key with nothing set: numbers -1, so that cogen_key_finish knows what to fill in. */
struct cogen_key cogen_key_empty(void);
/* Sets one option from text. 0, or -1 and a line naming the option, the value and what is accepted.
 */
int cogen_key_set(struct cogen_key *key, const char *option, const char *value, char *err,
                  size_t err_size);
/* The option's value as text (the inverse of cogen_key_set); the text is in buf. */
const char *cogen_key_get(const struct cogen_key *key, const char *option, char *buf,
                          size_t buf_size);
/* Fills defaults (specification section 8) and checks each value alone and against the model:
 * unknown model, tp that does not divide, tokens out of range, ratio the model does not have, ...
 * 0, or -1 and one line. */
int cogen_key_finish(struct cogen_key *key, char *err, size_t err_size);
/* The key's symbol and file name, e.g. "cogen_front_gfx950_v41_flash_s4_tp4_r2_k512"; options that
 * are not the default of the model follow. At most 160 bytes with the terminator. Returns buf. */
#define COGEN_NAME_MAX 160
const char *cogen_key_name(const struct cogen_key *key, char *buf);
bool cogen_key_equal(const struct cogen_key *a, const struct cogen_key *b);

#endif
