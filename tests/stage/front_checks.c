/* SPDX-License-Identifier: Apache-2.0 */
#include "front_checks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/ref/keys.h"

void holds(struct ref_verdict v)
{
    if (!v.holds)
        fail_msg("%s", v.text);
}

void same_bytes(const void *got, const void *want, size_t n, const char *what)
{
    const uint8_t *a = got, *b = want;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            fail_msg("%s: byte %zu of %zu is %u, not %u", what, i, n, a[i], b[i]);
}

/* Live tokens' records, and nothing else in the cache has changed. */
void check_cache(struct rig *r, const struct ref_front *want)
{
    struct ref_cache got = r->c->swa;
    got.bytes = rig_arg(r, "swa");
    for (int t = 0; t < r->plan.s; t++) {
        int64_t slot = r->c->slot[t];
        uint8_t record[REF_RECORD];
        if (slot < 0)
            continue;
        memcpy(record, ref_cache_data(&got, slot), REF_DATA);
        memcpy(record + REF_DATA, ref_cache_scales(&got, slot), REF_SCALES);
        same_bytes(record, want->records + (size_t)t * REF_RECORD, REF_RECORD, "a record");
        memcpy(ref_cache_data(&got, slot), ref_cache_data(&r->c->swa, slot), REF_DATA);
        memcpy(ref_cache_scales(&got, slot), ref_cache_scales(&r->c->swa, slot), REF_SCALES);
    }
    same_bytes(got.bytes, r->c->swa.bytes, got.size, "the cache apart from the records");
}

void check_keys(struct rig *r)
{
    size_t s = (size_t)r->plan.s, keys = (size_t)r->plan.keys;
    int32_t *kt = malloc(s * keys * sizeof *kt), *klen = calloc(s, 2 * sizeof *klen);
    assert_true(kt && klen);
    ref_key_table(r->c, kt, klen);
    same_bytes(rig_arg(r, "klen"), klen, 2 * s * sizeof *klen, "KLEN");
    const int32_t *got = rig_arg(r, "kt");
    for (size_t t = 0; t < s; t++) {
        size_t n = r->plan.key.global_keys ? (size_t)klen[t] : keys; /* past kv_len nobody reads */
        for (size_t k = 0; k < n; k++)
            if (got[t * keys + k] != kt[t * keys + k])
                fail_msg("token %zu key %zu: %#x, not %#x", t, k, (unsigned)got[t * keys + k],
                         (unsigned)kt[t * keys + k]);
        if (r->plan.key.keys == COGEN_KEYS_BACK)
            assert_true(rig_pair(r, "ktrdy", t, NULL));
    }
    free(kt);
    free(klen);
}
