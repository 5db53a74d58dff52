/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/common/wave.h"

bool is_sgpr(Val v)
{
    return v.kind == VAL_S;
}

static bool is_const(Val v)
{
    return v.kind == VAL_IMM;
}

/* ---- reductions */

static Val combine(Builder *b, enum op op, Val x, Val y, Val dpp)
{
    Val operands[] = {x, y, dpp, BOUND_CTRL};
    return build_instr(b, op, NONE, true, operands, dpp.kind == VAL_MOD ? 4 : 2, __FILE__,
                       __LINE__);
}

/* Swaps rows of 16 lanes, or halves, between v and other, a copy of it (V1 or V2 both): each lane
 * then has its own value and its partner's in the two. */
static void swap_rows(Builder *b, Val v, Val other, bool halves)
{
    for (int i = 0; i < v.width; i++) {
        if (halves)
            emit_to(b, part(v, i, 1), v_permlane32_swap_b32, part(other, i, 1));
        else
            emit_to(b, part(v, i, 1), v_permlane16_swap_b32, part(other, i, 1));
    }
}

static Val combine_swapped(Builder *b, enum op op, Val v, bool halves)
{
    Val other = mov_v(b, v);
    swap_rows(b, v, other, halves);
    return combine(b, op, v, other, NONE);
}

/* Mirrors stand for lane ^ 4 and lane ^ 8: inside the groups that they join, all lanes are equal by
 * then. */
static Val lanes_reduce(Builder *b, enum op op, Val v, int width)
{
    if (width >= 2)
        v = combine(b, op, v, v, quad_perm(1, 0, 3, 2));
    if (width >= 4)
        v = combine(b, op, v, v, quad_perm(2, 3, 0, 1));
    if (width >= 8)
        v = combine(b, op, v, v, ROW_HALF_MIRROR);
    if (width >= 16)
        v = combine(b, op, v, v, ROW_MIRROR);
    if (width >= 32)
        v = combine_swapped(b, op, v, false);
    if (width >= 64)
        v = combine_swapped(b, op, v, true);
    return v;
}

Val rows_max_f32(Builder *b, Val v)
{
    v = combine_swapped(b, OP_v_max_f32, mov_v(b, v), true);
    return combine_swapped(b, OP_v_max_f32, v, false);
}

Val rows_sum_f64(Builder *b, Val v)
{
    for (int halves = 1; halves >= 0; halves--) {
        Val x = mov_v(b, v), y = mov_v(b, v);
        swap_rows(b, x, y, halves);
        v = emit(b, v_add_f64, x, y);
    }
    return v;
}

/* An f64 instruction takes no lane of another one: the halves are moved. */
Val lanes_sum_f64(Builder *b, Val v)
{
    const Val from[] = {quad_perm(1, 0, 3, 2), quad_perm(2, 3, 0, 1), ROW_HALF_MIRROR, ROW_MIRROR};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        Val other = vreg(b, 2);
        for (int half = 0; half < 2; half++)
            emit_to(b, part(other, half, 1), v_mov_b32, part(v, half, 1), from[i], BOUND_CTRL);
        v = emit(b, v_add_f64, v, other);
    }
    return rows_sum_f64(b, v);
}

Val lanes_max_f32(Builder *b, Val v, int width)
{
    return lanes_reduce(b, OP_v_max_f32, v, width);
}

Val lanes_max_u32(Builder *b, Val v, int width)
{
    return lanes_reduce(b, OP_v_max_u32, v, width);
}

/* ---- bf16 */

Val bf16_pack(Builder *b, Val lo, Val hi)
{
    return emit(b, v_cvt_pk_bf16_f32, lo, hi);
}

Val bf16_lo(Builder *b, Val word)
{
    return emit(b, v_lshlrev_b32, imm(16), word);
}

Val bf16_hi(Builder *b, Val word)
{
    return emit(b, v_and_b32, bits(0xffff0000), word);
}

Val bf16_round(Builder *b, Val f)
{
    return bf16_lo(b, emit(b, v_cvt_pk_bf16_f32, f, f));
}

/* ---- f64 */

Val f64_const(Builder *b, double value)
{
    union {
        double value;
        uint64_t bits;
    } u = {value};
    Val out = sreg(b, 2);
    emit_to(b, part(out, 0, 1), s_mov_b32, bits((uint32_t)u.bits));
    emit_to(b, part(out, 1, 1), s_mov_b32, bits((uint32_t)(u.bits >> 32)));
    return out;
}

Val f64_add(Builder *b, Val sum, Val x)
{
    if (sum.kind == VAL_NONE)
        return x;
    emit_to(b, sum, v_add_f64, sum, x);
    return sum;
}

Val f64_add_f32(Builder *b, Val sum, Val x)
{
    return f64_add(b, sum, emit(b, v_cvt_f64_f32, x));
}

Val f64_add_product(Builder *b, Val sum, Val x, Val y)
{
    if (sum.kind == VAL_NONE)
        return emit(b, v_mul_f64, x, y);
    emit_to(b, sum, v_fma_f64, x, y, sum);
    return sum;
}

Val f64_inverse(Builder *b, Val x)
{
    Val r = emit(b, v_cvt_f64_f32, emit(b, v_rcp_f32, emit(b, v_cvt_f32_f64, x)));
    Val error = emit(b, v_fma_f64, neg(x), r, f32(1.0f));
    return emit(b, v_fma_f64, error, r, r);
}

/* One Newton step: r + r / 2 (1 - x r^2). */
Val f64_inverse_root(Builder *b, Val x)
{
    Val r = emit(b, v_cvt_f64_f32, emit(b, v_rsq_f32, x));
    Val square = emit(b, v_mul_f64, r, r);
    Val error = emit(b, v_fma_f64, neg(square), emit(b, v_cvt_f64_f32, x), f32(1.0f));
    return emit(b, v_fma_f64, emit(b, v_mul_f64, r, f32(0.5f)), error, r);
}

/* ---- integers */

static int log2_exact(int64_t v)
{
    for (int i = 0; i < 40; i++)
        if (v == (int64_t)1 << i)
            return i;
    return -1;
}

Val plus(Builder *b, Val x, int64_t constant)
{
    if (constant == 0)
        return x;
    if (is_const(x))
        return imm(x.imm + constant);
    if (is_sgpr(x))
        return emit(b, s_add_u32, x, imm(constant));
    return emit(b, v_add_u32, imm(constant), x);
}

Val min_const(Builder *b, Val x, int64_t constant)
{
    if (is_sgpr(x))
        return emit(b, s_min_u32, x, imm(constant));
    return emit(b, v_min_u32, imm(constant), x);
}

Val mul_add(Builder *b, Val x, int64_t by, Val add)
{
    int shift = log2_exact(by);
    bool nothing = is_const(add) && add.imm == 0;
    if (by == 1)
        return nothing ? x : emit(b, v_add_u32, add, x);
    if (shift > 0 && nothing)
        return emit(b, v_lshlrev_b32, imm(shift), x);
    if (shift > 0)
        return emit(b, v_lshl_add_u32, x, imm(shift), add);
    if (nothing)
        return emit(b, v_mul_u32_u24, imm(by), x);
    return emit(b, v_mad_u32_u24, x, imm(by), add);
}

Val s_mul_add(Builder *b, Val x, int64_t by, Val add)
{
    if (is_const(x))
        return is_const(add) ? imm(x.imm * by + add.imm) : plus(b, add, x.imm * by);
    int shift = log2_exact(by);
    Val product = shift == 0  ? x
                  : shift > 0 ? emit(b, s_lshl_b32, x, imm(shift))
                              : emit(b, s_mul_i32, x, imm(by));
    if (is_const(add))
        return plus(b, product, add.imm);
    return emit(b, s_add_u32, product, add);
}

/* The high half of x times ceil(2^32 / d): exact while x d < 2^32. */
QuoRem div_const(Builder *b, Val x, int d)
{
    int shift = log2_exact(d);
    bool s = is_sgpr(x);
    if (d == 1)
        return (QuoRem){x, s ? mov_s(b, imm(0)) : mov_v(b, imm(0))};
    if (shift > 0 && s)
        return (QuoRem){emit(b, s_lshr_b32, x, imm(shift)), emit(b, s_and_b32, x, imm(d - 1))};
    if (shift > 0)
        return (QuoRem){emit(b, v_lshrrev_b32, imm(shift), x), emit(b, v_and_b32, imm(d - 1), x)};
    int64_t magic = ((INT64_C(1) << 32) + d - 1) / d;
    if (s) {
        Val quo = emit(b, s_mul_hi_u32, x, imm(magic));
        return (QuoRem){quo, emit(b, s_sub_u32, x, emit(b, s_mul_i32, quo, imm(d)))};
    }
    Val quo = emit(b, v_mul_hi_u32, x, imm(magic));
    return (QuoRem){quo, emit(b, v_sub_u32, x, emit(b, v_mul_u32_u24, imm(d), quo))};
}

/* An estimate of 2^32 / d that is never above it, one Newton step from the float reciprocal. */
Divisor divisor(Builder *b, Val d)
{
    Val dv = mov_v(b, d);
    Val rcp = emit(b, v_rcp_iflag_f32, emit(b, v_cvt_f32_u32, dv));
    Val z =
        emit(b, v_cvt_u32_f32, emit(b, v_mul_f32, bits(0x4f7ffffe), rcp)); /* (2^32 - 512) / d */
    Val rest = emit(b, v_mul_lo_u32, emit(b, v_sub_u32, imm(0), dv), z);   /* 2^32 - d z */
    Val magic = emit(b, v_add_u32, z, emit(b, v_mul_hi_u32, z, rest));
    return (Divisor){d, uniform(b, magic)};
}

/* x magic / 2^32 is at most two below the quotient. */
QuoRem div_by(Builder *b, Val x, Divisor d)
{
    Val quo = emit(b, v_mul_hi_u32, x, d.magic);
    Val rem = emit(b, v_sub_u32, x, emit(b, v_mul_lo_u32, quo, d.d));
    for (int i = 0; i < 2; i++) {
        Val over = emit(b, v_cmp_le_u32, d.d, rem);
        quo = emit(b, v_cndmask_b32, quo, emit(b, v_add_u32, imm(1), quo), over);
        rem = emit(b, v_cndmask_b32, rem, emit(b, v_subrev_u32, d.d, rem), over);
    }
    return (QuoRem){quo, rem};
}

QuoRem s_div_by(Builder *b, Val x, Divisor d)
{
    Val quo = emit(b, s_mul_hi_u32, x, d.magic);
    Val rem = emit(b, s_sub_u32, x, emit(b, s_mul_i32, quo, d.d));
    for (int i = 0; i < 2; i++) {
        Val more = emit(b, s_add_u32, quo, imm(1)), less = emit(b, s_sub_u32, rem, d.d);
        emit_void(b, s_cmp_ge_u32, rem, d.d);
        quo = emit(b, s_cselect_b32, more, quo);
        rem = emit(b, s_cselect_b32, less, rem);
    }
    return (QuoRem){quo, rem};
}

/* ---- 64-bit addresses */

static Val add64(Builder *b, Val base, Val lo, Val hi)
{
    Val sum = sreg(b, 2);
    emit_to(b, part(sum, 0, 1), s_add_u32, part(base, 0, 1), lo);
    emit_to(b, part(sum, 1, 1), s_addc_u32, part(base, 1, 1), hi);
    return sum;
}

Val addr_plus(Builder *b, Val base, int64_t bytes)
{
    if (bytes == 0)
        return base;
    return add64(b, base, imm(bytes & 0xffffffff), imm(bytes >> 32));
}

Val addr_at(Builder *b, Val base, Val x, int64_t bytes)
{
    if (is_const(x))
        return addr_plus(b, base, x.imm * bytes);
    return add64(b, base, s_mul_add(b, x, bytes, imm(0)), imm(0));
}

Val addr_mul(Builder *b, Val base, Val x, Val y)
{
    if (is_const(x) && is_const(y))
        return addr_plus(b, base, x.imm * y.imm);
    if (is_const(x))
        return addr_mul(b, base, y, x);
    return add64(b, base, emit(b, s_mul_i32, x, y), emit(b, s_mul_hi_u32, x, y));
}

Val addr_mul64(Builder *b, Val base, Val x, Val y)
{
    Val lo = part(y, 0, 1), hi = part(y, 1, 1);
    Val upper = emit(b, s_add_u32, emit(b, s_mul_hi_u32, x, lo), emit(b, s_mul_i32, x, hi));
    return add64(b, base, emit(b, s_mul_i32, x, lo), upper);
}

Val lane_addr(Builder *b, Val base, Val x, Val stride, Val add)
{
    Val from = is_sgpr(base) ? mov_v(b, base) : base;
    Val at = emit(b, v_mad_u64_u32, VCC, x, part(stride, 0, 1), from);
    Val sum = vreg(b, 2);
    Val high = emit(b, v_mul_lo_u32, x, part(stride, 1, 1));
    Val carried = emit(b, v_add_u32, high, part(at, 1, 1));
    emit_to(b, part(sum, 0, 1), v_add_co_u32, VCC, add, part(at, 0, 1));
    emit_to(b, part(sum, 1, 1), v_addc_co_u32, VCC, imm(0), carried, VCC);
    return sum;
}

/* ---- uniform inputs */

Val load_i32(Builder *b, Val base, Val index)
{
    return emit(b, s_load_dword, addr_at(b, base, index, 4), imm(0));
}

Val load_i64(Builder *b, Val base, Val index)
{
    return emit(b, s_load_dwordx2, addr_at(b, base, index, 8), imm(0));
}

Val tid_below(Builder *b, int n)
{
    return emit(b, v_cmp_gt_u32, imm(n), b->tid);
}
