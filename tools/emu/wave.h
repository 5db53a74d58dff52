/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a running dispatch: device, XCDs, workgroups, waves; and the functions by which the
 * emulator's parts call each other.
 *
 * Time goes in rounds. In a round every XCD runs its waves for a quantum each against the memory as
 * it was committed at the round's start, its own caches and its own waves' pending stores; nothing
 * of another XCD is touched. At the round's end one thread commits the stores and atomics that are
 * due, in a seeded order. So XCDs can run on any number of host threads and the result is the same.
 */
#ifndef EMU_WAVE_H
#define EMU_WAVE_H

#include "inst.h"

#include <pthread.h>

#define XCDS 8
#define LINE 128
#define LANES 64
#define RECENT 8
/* Contents of device memory, LDS and scratch that nobody wrote. A dword that still has it is
 * undefined. */
#define POISON 0xe5a7c39bu
#define INFLIGHT_MAX 64 /* vmcnt's range + 1 */

struct device;
struct xcd;
struct group;

struct rng {
    uint64_t s;
};
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- memory ---- */

/* What an XCD knows of a line: which of its CUs have it in L1, whether its L2 has it, and its
 * record if any. */
#define SHADOW_L1(cu) (1ull << (cu))
#define SHADOW_L2 (1ull << 32)
#define SHADOW_REC_SHIFT 33

struct alloc {
    uint8_t *base;
    size_t size;  /* as asked for */
    uint8_t *map; /* what was mapped, and how much */
    size_t mapped;
    size_t lines;
    bool defined;
    bool code;               /* a code object's image */
    uint64_t *xshadow[XCDS]; /* one word a line, sparse; see SHADOW_* */
    uint32_t *gshadow;       /* a line: 1 + index of its writers' record, 0: nobody stored to it */
};

struct mask128 {
    uint64_t lo, hi;
};
/* Bytes at .. at + n - 1 of a line, n at most 64. */
static inline struct mask128 mask_range(unsigned at, unsigned n)
{
    uint64_t ones = n >= 64 ? ~0ull : (1ull << n) - 1;
    if (at >= 64)
        return (struct mask128){0, ones << (at - 64)};
    return (struct mask128){ones << at, at ? ones >> (64 - at) : 0};
}
static inline bool mask_meets(struct mask128 a, struct mask128 b)
{
    return ((a.lo & b.lo) | (a.hi & b.hi)) != 0;
}
static inline bool mask_bit(struct mask128 m, unsigned i)
{
    return i < 64 ? m.lo >> i & 1 : m.hi >> (i - 64) & 1;
}

struct stale_copy { /* of a line, in one L1 (cu >= 0) or in the L2 (cu < 0) */
    int cu;
    struct mask128 mask; /* bytes that were stored elsewhere since */
    uint8_t data[LINE];
    struct stale_copy *next;
};

struct line_rec { /* of an XCD: a line with dirty bytes in the L2 or with stale copies */
    struct alloc *alloc;
    uint64_t line; /* number within the allocation */
    struct mask128 dirty;
    uint8_t data[LINE]; /* of the dirty bytes */
    struct stale_copy *stale;
};

struct writer { /* bytes of a line last stored by one instruction of one wave */
    struct mask128 mask;
    uint32_t wave; /* global number */
    uint32_t group;
    const struct inst *in;
    uint32_t seq, epoch;   /* of the store in its wave; barriers of the workgroup before it */
    uint64_t round;        /* in which it became visible */
    const uint32_t *known; /* order.c: of each wave of its workgroup at the last barrier, or NULL */
    uint32_t covered;      /* of its own wave, when it was issued */
    uint8_t id, nwaves;
    uint8_t xcd;
    bool released; /* at device scope or written back */
    bool pending;  /* issued, perhaps not visible yet */
    struct writer *next;
};

struct fetched { /* a line that a plain load brought into an L1 */
    uint64_t *shadow;
    const struct inst *in;
};

struct line_list { /* lines in an L2 */
    uint64_t **at;
    size_t n, cap;
};

struct fetch_list {
    struct fetched *at;
    size_t n, cap;
};

/* ---- stores and atomics between issue and commit ---- */

enum pend_kind { PEND_STORE, PEND_PLAIN, PEND_ATOMIC, PEND_WRITEBACK };

struct pend {
    struct pend *next; /* of the wave, oldest first; or in the XCD's log of plain stores */
    struct wave *w;
    const struct inst *in;
    enum pend_kind kind;
    uint64_t lanes;
    uint64_t addr[LANES];
    uint8_t bytes; /* a lane */
    bool forced;   /* somebody waits for it */
    bool returns, noted;
    bool done;
    uint8_t refs; /* the wave's list, the counter's queue */
    uint32_t seq, epoch;
    const uint32_t *known; /* see struct writer */
    uint32_t covered;
    uint64_t due;   /* round */
    uint64_t bloom; /* of its lines */
    uint32_t data[4][LANES];
};

/* ---- waves ---- */

enum op_class { OPC_LOAD, OPC_STORE, OPC_ATOMIC, OPC_LDS_DMA, OPC_LDS, OPC_SMEM, OPC_OTHER };

struct flight { /* an instruction that a counter still counts */
    const struct inst *in;
    enum op_class cls;
    uint16_t reg; /* registers that are poison until it is waited for (REG_* based) */
    uint8_t n;
    uint8_t count;           /* by how much the counter goes up */
    bool flat;               /* ticks both counters */
    struct pend *pend;       /* store or atomic */
    struct lds_touch *touch; /* LDS bytes in flight */
    uint64_t lanes;
};

struct lds_touch {
    struct lds_touch *next;
    uint64_t lanes;
    uint32_t addr[LANES];
    uint16_t bytes;
    bool write, dma;
};

struct counter {
    struct flight q[INFLIGHT_MAX + 1];
    unsigned head, n;
    unsigned value; /* sum of counts */
};

enum wave_state {
    WAVE_RUN,
    WAVE_BARRIER,
    WAVE_WAIT,
    WAVE_PARKED,
    WAVE_SLEEP,
    WAVE_ENDED,
    WAVE_FAULT
};

enum reg_state { REG_OK, REG_UNDEFINED, REG_INFLIGHT, REG_OUTSIDE };

/* Producer of a register's value as far as wait states go. */
enum prod_kind {
    PROD_NONE,
    PROD_VALU,
    PROD_TRANS,
    PROD_PARTIAL,
    PROD_DOT,
    PROD_PERMSWAP,
    PROD_XDL,
    PROD_SMFMA,
    PROD_DGEMM,
};

struct vreg_haz {
    uint32_t t;   /* when written, in wait states of the wave */
    uint32_t c_t; /* when an MFMA read it as SrcC */
    uint32_t s_t; /* when a wide store read it as data */
    uint8_t kind, passes;
    uint8_t c_passes, s_soffset;
    uint16_t mfma_reg; /* first register and size of the MFMA's D */
    uint16_t mfma_n;
    const struct inst *in, *c_in, *s_in;
};

struct sreg_haz {
    uint32_t t;      /* written by a VALU instruction */
    uint32_t salu_t; /* written by a SALU instruction */
    const struct inst *in, *salu_in;
};

#define SPIN_SETS 16 /* by address of the load */
#define SPIN_WAYS 4
#define FLATS 16

/* What a load saw last. */
struct sight {
    const struct inst *in;
    uint64_t addr_hash, value_hash;
    uint32_t note; /* which of the wave's loads it was */
};

struct wave {
    struct group *group;
    struct xcd *xcd;
    uint32_t id, gid; /* in its workgroup; in the dispatch */
    uint32_t pc;      /* byte offset in the object's image */
    enum wave_state state;
    bool scc;
    uint32_t s[128]; /* by encoding; EXEC lives in `exec` */
    uint32_t mode;
    uint64_t exec;
    struct emu_alu alu_mode; /* MODE's fields as the arithmetic wants them */
    uint32_t *rows[2];       /* arch and acc VGPRs, 64 lanes each */
    uint32_t nv, na, ns;     /* allotted */
    uint8_t *scratch;
    uint64_t insts, macs;
    uint64_t quantum;

    /* checks */
    uint64_t ok[512];     /* lanes of each VGPR that are defined and not in flight */
    uint64_t flight[512]; /* lanes in flight; all of a register outside the allotment */
    uint64_t stay[512];   /* lanes in flight that stay undefined when they land: scratch that nobody
                             wrote */
    uint8_t sstate[128];
    uint32_t sundef[128]; /* bits that nobody wrote, of an undefined scalar register */
    bool undef_pending;   /* the instruction's result is undefined in undef_bits */
    uint64_t undef_bits;
    uint32_t clk; /* wait states executed */
    uint32_t haz_valu,
        haz_mem;     /* until when VALU and memory instructions may meet a hazard at all */
    uint32_t exec_t; /* EXEC written by VALU */
    const struct inst *exec_in;
    uint32_t setreg_t[64];
    const struct inst *setreg_in;
    struct vreg_haz vh[512];
    struct sreg_haz sh[128];
    const struct inst *sdef[128]; /* what is in flight to a scalar register */
    struct counter vm, lgkm;
    struct flight flats[FLATS];   /* flat loads that one counter has let go */
    const struct inst *vdef[512]; /* what is in flight to a VGPR */
    struct pend *pend_head, *pend_tail;
    unsigned nflats, npend;
    bool listed;                  /* in its XCD's list of waves with pending stores */
    uint32_t store_seq, released; /* stores so far; of these, covered by a wait */

    /* polling */
    struct sight sights[SPIN_SETS][SPIN_WAYS];
    uint32_t notes;           /* loads so far */
    uint32_t spins;           /* loads in a row that saw what they saw the time before */
    uint64_t watch;           /* bloom of the lines it polls */
    uint64_t wake;            /* round */
    uint64_t proof;           /* hash of its state when last seen at a standstill */
    bool proven;              /* and the same again: it will never do anything else */
    uint32_t park;            /* rounds of the next parking */
    const struct inst *block; /* where it waits */
    uint64_t block_addr;
    uint32_t block_value;
};

struct lds_cell {            /* of an LDS dword */
    uint16_t wepoch, repoch; /* last write, last read: barriers of the slot so far, 0: never */
    uint8_t wwave, rwave;    /* 255: several */
    uint8_t def : 4, wmask : 4;
    uint8_t atomic : 1, dma : 1, rmask : 4;
};

struct group {
    struct xcd *xcd;
    uint32_t index, id[3]; /* flat and by dimension */
    unsigned cu;           /* in its XCD */
    unsigned slot;
    bool live;
    unsigned nwaves, ended, at_barrier;
    uint32_t barriers;      /* passed so far */
    uint16_t epoch0, epoch; /* of the LDS cells; the first of this group and the present one */
    struct wave *waves;
    uint8_t *lds;
    struct lds_cell *cells;
    const struct inst **cell_in; /* last writer of each dword */
    uint32_t lds_bytes, lds_cap;
    /* What the last round left: nothing happens before round `next` unless a line of `watch`
     * changes. */
    uint64_t next, watch, insts;
    bool proven;
    uint32_t size[3];      /* work-items a dimension: less than the packet's at the grid's edge */
    struct seen *seen;     /* stores of others that this workgroup has observed */
    const uint32_t *known; /* of its own waves' stores, at the last barrier */
    unsigned nseen, cap_seen;
    uint32_t *rows_pool; /* register files of all its waves */
    size_t rows_cap;
    uint8_t *scratch_pool;
    size_t scratch_cap;
    unsigned waves_cap;
};

struct seen {
    uint32_t wave, group, seq, epoch;
    const struct inst *in; /* the load that observed it */
};

struct fault {
    const char *what;
    char *text;
    enum emu_check kind;
    enum emu_status status;
    uint32_t pc, group, wave, lane;
};

/* arena.c */
struct arena {
    struct arena_block *block;
};
void *emu_arena_alloc(struct arena *a, size_t size); /* zeroed */
void arena_reset(struct arena *a);                   /* keeps the blocks */
void arena_free(struct arena *a);
/* Room for element n; false without memory. */
bool array_room(void **array, size_t n, size_t *cap, size_t size);
#define ROOM(array, n, cap) array_room((void **)&(array), (n), &(cap), sizeof *(array))

struct xcd {
    struct launch *launch;
    unsigned index;
    struct group *slots;
    unsigned nslots, cap_slots;
    uint64_t next_group; /* flat index of the next workgroup to start here */
    struct rng rng;
    struct alloc *last; /* allocation of the last access */
    struct alloc *recent[RECENT];
    unsigned next_recent;
    struct line_rec **recs;
    uint32_t nrecs;
    size_t cap_recs;
    struct fetch_list l1[32];
    uint64_t inv_round[32]; /* when each CU last invalidated its caches */
    struct line_list l2;
    struct pend *plain_head, *plain_tail; /* log of this round's plain stores */
    struct wave **pwaves;                 /* waves with pending stores */
    unsigned npwaves;
    size_t cap_pwaves;
    struct pend *free_pends;
    struct lds_touch *free_touches;
    struct arena arena; /* of the dispatch */
    bool progress;      /* something happened this round beside polling */
    bool stop;
    struct order_candidate *orders; /* loads of this round that need a third workgroup's word */
    unsigned norders;
    struct fault fault;
    uint64_t insts, macs;
};

struct launch {
    struct device *dev;
    const struct emu_dispatch *d;
    const struct kernel *k;
    struct object *obj;
    unsigned checks;
    uint64_t round;
    struct rng rng;
    uint32_t groups[3]; /* workgroups a dimension */
    uint64_t ngroups;
    unsigned waves_per_group;
    uint64_t groups_left;
    struct xcd xcd[XCDS];
    struct arena arena;      /* writers */
    struct writer **writers; /* by gshadow index */
    uint32_t **writer_slots; /* and where that index stands */
    uint32_t nwriters;
    size_t cap_writers, cap_slots;
    struct fault fault;
    bool done;
    uint64_t commits; /* stores that changed memory, ever */
    uint64_t idle;    /* rounds without progress */
    uint64_t committed_bloom;
    uint64_t skew;               /* of the clock: time that passed at standstills */
    struct order_table **orders; /* by workgroup: what it knows of others' stores (order.c) */
    uint64_t late;               /* the workgroup that starts when the others can go no further */
    bool hold;                   /* it has not started yet */
    unsigned slots_per_cu;
};

struct kernel {
    struct emu_kernel pub;
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t props;
    uint16_t preload_len, preload_off;
    uint32_t accum_offset;
    uint64_t entry; /* offset in the image */
    struct object *obj;
};

struct object {
    struct device *dev;
    uint8_t *image; /* device memory: the LOAD segments */
    size_t image_size;
    uint8_t *exec;       /* a bit per dword of the image: executable segment */
    struct inst **insts; /* by dword */
    struct kernel *kernels;
    size_t nkernels;
    struct symbol *symbols;
    size_t nsymbols;
    uint64_t text_offset; /* of .text: what reports count from */
};

struct device {
    struct emu_config config;
    char *arch;
    bool gfx950;
    uint32_t lds_max;
    struct decoder *decoder;
    pthread_mutex_t decode_lock;
    struct alloc **allocs; /* by address */
    size_t nallocs, cap_allocs;
    pthread_rwlock_t lock; /* of the allocations and the escapes */
    int poison_fd;
    struct object **objects;
    size_t nobjects, cap_objects;
    uint64_t *escapes; /* addresses whose dword is POISON but was written so */
    size_t nescapes, cap_escapes;
    struct launch *launch; /* kept for its memory */
    struct emu_report report;
    char *report_text;
    struct pool *pool; /* host threads */
    uint64_t dispatches;
};

/* device.c */
struct alloc *device_find(struct device *dev, uint64_t addr);
bool device_escaped(struct device *dev, uint64_t addr);
void device_escape(struct device *dev, uint64_t addr);

/* object.c */
struct kernel *object_kernel_at(struct device *dev, uint64_t handle, struct object **obj);
const struct inst *object_fetch(struct object *obj, uint32_t pc);

/* report.c: an offset in the image as reports give it: from the start of .text. */
uint32_t report_pc(const struct object *obj, uint32_t pc);

/* report.c: the finding that stops a wave. Lane -1: none in particular. The text gets the kernel,
 * place and disassembly in front; `other` is the second instruction involved, or NULL. */
void fault(struct wave *w, const struct inst *in, enum emu_check kind, const char *what, int lane,
           const struct inst *other, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
void fault_status(struct wave *w, enum emu_status status);
void launch_fault(struct launch *l, enum emu_check kind, enum emu_status status, const char *what,
                  char *text);

/* waits.c: counters */
void counters_drop(struct wave *w);
void counter_issue(struct wave *w, struct counter *c, struct flight f);
bool wait_counters(struct wave *w, unsigned vm, unsigned lgkm); /* false: blocked until a commit */
/* Undefined bits of scalar registers: which instructions let them pass, the i-th dword of a use,
 * and what is marked once such an instruction has been executed. */
void undefined_decode(struct inst *in);
bool undefined_allowed(struct wave *w, const struct inst *in, const struct use *u, unsigned i);
bool undefined_high(struct wave *w, const struct inst *in, const struct use *u, unsigned i,
                    uint64_t lanes);
void undefined_mark(struct wave *w, const struct inst *in);
bool check_reads(struct wave *w, const struct inst *in);
bool check_writes(struct wave *w, const struct inst *in);
void mark_writes(struct wave *w, const struct inst *in, uint64_t exec);
void mark_loading(struct wave *w, const struct inst *in, unsigned reg, unsigned n, uint64_t lanes);
bool check_vgpr(struct wave *w, const struct inst *in, unsigned reg, unsigned n, uint64_t lanes);

/* hazards.c */
bool hazard_check(struct wave *w, const struct inst *in);
void hazard_update(struct wave *w, const struct inst *in);

/* memory.c: accesses of the vector memory instructions */
bool mem_span(struct wave *w, const struct inst *in, uint64_t addr, unsigned bytes, int lane,
              struct alloc **a);
/* Line as the wave sees it: its bytes, or NULL after a fault. want: the bytes it is about to read.
 */
const uint8_t *cache_line(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                          struct mask128 want, int lane, uint8_t tmp[LINE]);
void cache_plain_store(struct wave *w, const struct inst *in, const struct pend *p);
void cache_invalidate(struct wave *w, bool l2);
/* Bytes of a line become visible to everybody; cu < 0: from no L1 (write-back). True when memory
 * changed. */
bool cache_commit(struct launch *l, struct xcd *x, int cu, struct alloc *a, uint64_t line,
                  struct mask128 mask, const uint8_t *data);
void cache_write_back(struct launch *l, struct xcd *x);
void cache_begin(struct launch *l);
void cache_end(struct launch *l);
struct line_rec *cache_rec(struct xcd *x, struct alloc *a, uint64_t line);
void writers_add(struct launch *l, const struct pend *p, bool released, bool pending);
void writers_commit(struct launch *l, const struct pend *p);
/* What a load of these bytes says about order between workgroups; false after a fault. */
/* order.c: what a load that sees a store must know of it. */
void order_load(struct wave *w, const struct inst *in, const struct writer *by, int lane);
void order_seen(struct wave *w, const struct writer *by); /* by an atomic, when it is done */
void order_barrier(struct group *g);                      /* a barrier is passed */
void order_round(struct launch *l);                       /* the round's end, one thread */
bool order_begin(struct launch *l);                       /* a dispatch; false without memory */
void order_end(struct launch *l);
bool writers_check(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                   struct mask128 want, int lane);
/* Whether a plain load may read them: an invalidate of its CU came after the last store of another
 * workgroup. */
bool writers_acquired(struct wave *w, const struct inst *in, struct alloc *a, uint64_t line,
                      struct mask128 want, int lane);
void writers_release(struct launch *l, unsigned xcd, struct alloc *a, uint64_t line);

/* store.c: pending stores and atomics */
struct pend *pend_new(struct wave *w, const struct inst *in, enum pend_kind kind, uint64_t lanes,
                      unsigned bytes);
void pend_issue(struct wave *w, struct pend *p);
bool pend_conflict(struct wave *w, uint64_t lanes, const uint64_t *addr); /* and forces them */
void pend_unref(struct xcd *x, struct pend *p);
void commit_round(struct launch *l);
uint64_t bloom_line(uint64_t addr);

/* races.c: LDS */
bool lds_access(struct wave *w, const struct inst *in, uint32_t addr, unsigned bytes, bool write,
                bool atomic, int lane);
void lds_epoch(struct group *g);
void lds_hold(struct wave *w);
struct lds_touch *lds_touch_new(struct wave *w, unsigned bytes, bool write,
                                bool dma); /* of the active lanes */
void lds_touch_done(struct wave *w, struct flight *f);

/* exec_*.c */
uint32_t read_s32(const struct wave *w, const struct opnd *o);
uint64_t read_s64(const struct wave *w, const struct opnd *o);
void write_s32(struct wave *w, unsigned reg, uint32_t v);
void write_s64(struct wave *w, unsigned reg, uint64_t v);
void set_mode(struct wave *w, uint32_t mode);
void exec_unknown(struct wave *w, const struct inst *in);
void spin_note(struct wave *w, const struct inst *in, uint64_t addr_hash, uint64_t value_hash,
               uint64_t watch);
bool spin_again(struct wave *w, const struct inst *in, uint64_t addr_hash); /* as the time before */
void spin_reset(struct wave *w);
static inline uint32_t *vrow(const struct wave *w, const struct opnd *o, unsigned k)
{
    return w->rows[o->acc] + (size_t)(o->reg + k) * LANES;
}
static inline unsigned vnum(const struct opnd *o)
{
    return o->reg + (o->acc ? REG_A : REG_V);
}
/* Architected apertures of flat addresses: the high 32 bits. */
#define APERTURE_SHARED 0x00010000u
#define APERTURE_PRIVATE 0x00020000u

/* atomic.c */
enum atomic_op {
    AT_SWAP,
    AT_CMPSWAP,
    AT_ADD,
    AT_SUB,
    AT_SMIN,
    AT_UMIN,
    AT_SMAX,
    AT_UMAX,
    AT_AND,
    AT_OR,
    AT_XOR,
    AT_INC,
    AT_DEC,
    AT_ADD_F32,
    AT_PK_ADD_F16,
    AT_PK_ADD_BF16,
    AT_ADD_F64,
    AT_MIN_F64,
    AT_MAX_F64,
    /* of LDS only */
    AT_RSUB,
    AT_MSKOR,
    AT_MIN_F32,
    AT_MAX_F32,
};
/* v2: what AT_CMPSWAP compares with, what AT_MSKOR sets. */
uint64_t atomic_value(unsigned op, bool wide, uint64_t old, uint64_t v, uint64_t v2);

/* exec_vmem_store.c: an atomic at its commit */
void vmem_atomic_commit(struct launch *l, struct pend *p);

/* dispatch.c */
void group_start(struct xcd *x, struct group *g, uint64_t index);
void launch_free(struct launch *l);

/* schedule.c */
enum emu_status launch_run(struct launch *l);
void wave_end(struct wave *w);
uint64_t wave_clock(const struct wave *w);

/* pool.c */
struct pool *pool_open(unsigned threads);
void pool_close(struct pool *p);
void pool_run(struct pool *p, void (*fn)(void *arg, unsigned index), void *arg, unsigned n);

#endif
