//! [`Wide`] in the registers of WebAssembly, two numbers in each. There is no instruction that fuses a product and a sum with the same bits everywhere, so it is
//! done by others that all round alike.

use super::Vec4;
use super::lanes::{Four, LANES, Lanes, Wide};
use std::arch::wasm32::*;
use std::array::from_fn;
use std::ops::{Add, Mul, Sub};

/// Eight numbers in four registers.
#[derive(Debug, Clone, Copy)]
pub struct Simd128([v128; 4]);

/// A padded vector in two registers.
#[derive(Debug, Clone, Copy)]
pub struct FourSimd128([v128; 2]);

/// Numbers whose products and sums are far from the ends of the range.
const LARGE: f64 = f64::from_bits((1023 + 900) << 52);
const SMALL: f64 = f64::from_bits((1023 - 900) << 52);
/// Splits a number into two halves of 26 bits.
const HALVES: f64 = ((1_u64 << 27) + 1) as f64;

/// The sum of each, and what rounding took from it (Knuth).
#[inline(always)]
fn exact_sum(a: v128, b: v128) -> (v128, v128) {
    let sum = f64x2_add(a, b);
    let of_b = f64x2_sub(sum, a);
    let of_a = f64x2_sub(sum, of_b);
    (sum, f64x2_add(f64x2_sub(a, of_a), f64x2_sub(b, of_b)))
}

/// The upper and the lower half of each (Veltkamp).
#[inline(always)]
fn halves(a: v128) -> (v128, v128) {
    let scaled = f64x2_mul(a, f64x2_splat(HALVES));
    let high = f64x2_sub(scaled, f64x2_sub(scaled, a));
    (high, f64x2_sub(a, high))
}

/// Products plus terms, each rounded once: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008.
#[inline]
fn fused(a: v128, b: v128, c: v128) -> v128 {
    let product = f64x2_mul(a, b);
    let zero = v128_or(f64x2_eq(a, f64x2_splat(0.0)), f64x2_eq(b, f64x2_splat(0.0)));
    let largest = f64x2_pmax(f64x2_abs(a), f64x2_pmax(f64x2_abs(b), f64x2_abs(c)));
    let large_enough = v128_or(f64x2_ge(f64x2_abs(product), f64x2_splat(SMALL)), zero);
    let ordinary = v128_and(f64x2_le(f64x2_pmax(f64x2_abs(product), largest), f64x2_splat(LARGE)), large_enough);
    if !i64x2_all_true(ordinary) {
        return by_library(a, b, c);
    }
    let ((high_a, low_a), (high_b, low_b)) = (halves(a), halves(b));
    let most = f64x2_sub(f64x2_mul(high_a, high_b), product);
    let more = f64x2_add(f64x2_add(most, f64x2_mul(high_a, low_b)), f64x2_mul(low_a, high_b));
    let lost = f64x2_add(more, f64x2_mul(low_a, low_b));
    let (small, smallest) = exact_sum(c, lost);
    let (large, middle) = exact_sum(product, small);
    // What is left is rounded to odd, so that the last rounding sees on which side of a tie it is.
    let (rest, error) = exact_sum(smallest, middle);
    let is_inexact = f64x2_ne(error, f64x2_splat(0.0));
    let is_even = i64x2_eq(v128_and(rest, i64x2_splat(1)), i64x2_splat(0));
    // One more in the last place, or one less: away from zero where error and rest have the same sign.
    let towards_error = v128_or(i64x2_shr(v128_xor(rest, error), 63), i64x2_splat(1));
    let odd = i64x2_add(rest, v128_and(towards_error, v128_and(is_inexact, is_even)));
    // Of a product that is zero the sign of the sum is left as it is.
    v128_bitselect(f64x2_add(product, c), f64x2_add(large, odd), zero)
}

/// The same for numbers at the ends of the range, and what is none.
#[cold]
#[inline(never)]
fn by_library(a: v128, b: v128, c: v128) -> v128 {
    let one = |a: f64, b: f64, c: f64| a.mul_add(b, c);
    f64x2(
        one(f64x2_extract_lane::<0>(a), f64x2_extract_lane::<0>(b), f64x2_extract_lane::<0>(c)),
        one(f64x2_extract_lane::<1>(a), f64x2_extract_lane::<1>(b), f64x2_extract_lane::<1>(c)),
    )
}

macro_rules! operator {
    ($type:ident, $trait:ident, $method:ident, $instruction:ident) => {
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                $type(from_fn(|k| $instruction(self.0[k], other.0[k])))
            }
        }
    };
}

operator!(Simd128, Add, add, f64x2_add);
operator!(Simd128, Sub, sub, f64x2_sub);
operator!(Simd128, Mul, mul, f64x2_mul);
operator!(FourSimd128, Add, add, f64x2_add);
operator!(FourSimd128, Sub, sub, f64x2_sub);
operator!(FourSimd128, Mul, mul, f64x2_mul);

impl Four for FourSimd128 {
    #[inline(always)]
    fn splat(number: f64) -> Self {
        FourSimd128([f64x2_splat(number); 2])
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        FourSimd128(from_fn(|k| fused(self.0[k], by.0[k], plus.0[k])))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        FourSimd128(from_fn(|k| fused(f64x2_neg(self.0[k]), by.0[k], from.0[k])))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        FourSimd128(from_fn(|k| f64x2_pmax(other.0[k], self.0[k])))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        FourSimd128(from_fn(|k| f64x2_div(self.0[k], by.0[k])))
    }
    #[inline(always)]
    fn first(self) -> f64 {
        f64x2_extract_lane::<0>(self.0[0])
    }
    #[inline(always)]
    fn fourth(self) -> Self {
        FourSimd128([i64x2_shuffle::<1, 1>(self.0[1], self.0[1]); 2])
    }
    #[inline(always)]
    fn with_fourth(self, of: Self) -> Self {
        FourSimd128([self.0[0], i64x2_shuffle::<0, 3>(self.0[1], of.0[1])])
    }
    #[inline(always)]
    fn load(from: &Vec4) -> Self {
        let [a, b, c, d] = from.0;
        FourSimd128([f64x2(a, b), f64x2(c, d)])
    }
    #[inline(always)]
    fn store(self, to: &mut Vec4) {
        *to = Vec4(unpacked(self.0));
    }
}

/// Two registers as four numbers.
#[inline(always)]
fn unpacked([ab, cd]: [v128; 2]) -> [f64; 4] {
    [
        f64x2_extract_lane::<0>(ab),
        f64x2_extract_lane::<1>(ab),
        f64x2_extract_lane::<0>(cd),
        f64x2_extract_lane::<1>(cd),
    ]
}

impl Wide for Simd128 {
    type Four = FourSimd128;
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Simd128([f64x2_splat(number); 4])
    }
    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        Simd128(from_fn(|k| f64x2(from.0[2 * k], from.0[2 * k + 1])))
    }
    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        for (pair, numbers) in to.0.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = [f64x2_extract_lane::<0>(numbers), f64x2_extract_lane::<1>(numbers)];
        }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Simd128(from_fn(|k| fused(self.0[k], by.0[k], plus.0[k])))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        Simd128(from_fn(|k| fused(f64x2_neg(self.0[k]), by.0[k], from.0[k])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Simd128(self.0.map(|a| f64x2_sqrt(a)))
    }
    #[inline(always)]
    fn inverse(self) -> Self {
        Simd128(self.0.map(|a| f64x2_div(f64x2_splat(1.0), a)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // The instruction takes its first number unless the second is larger.
        Simd128(from_fn(|k| f64x2_pmax(other.0[k], self.0[k])))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Simd128(from_fn(|k| f64x2_pmin(other.0[k], self.0[k])))
    }
    #[inline(always)]
    fn where_less(self, a: Self, b: Self, other: Self) -> Self {
        Simd128(from_fn(|k| v128_bitselect(self.0[k], other.0[k], f64x2_lt(a.0[k], b.0[k]))))
    }
    #[inline(always)]
    unsafe fn gather(from: *const Vec4, at: &[u32; LANES]) -> [Self; 4] {
        // SAFETY: as the caller promises.
        let [a, b, c, d, e, f, g, h] = at.map(|i| FourSimd128::load(unsafe { &*from.add(i as usize) }).0);
        let lower = |half: usize| {
            Simd128([(a, b), (c, d), (e, f), (g, h)].map(|(p, q)| i64x2_shuffle::<0, 2>(p[half], q[half])))
        };
        let upper = |half: usize| {
            Simd128([(a, b), (c, d), (e, f), (g, h)].map(|(p, q)| i64x2_shuffle::<1, 3>(p[half], q[half])))
        };
        [lower(0), upper(0), lower(1), upper(1)]
    }
    #[inline(always)]
    unsafe fn scatter(to: *mut Vec4, at: &[u32; LANES], [x, y, z, w]: [Self; 4]) {
        for k in 0..LANES / 2 {
            let (x, y, z, w) = (x.0[k], y.0[k], z.0[k], w.0[k]);
            let first = FourSimd128([i64x2_shuffle::<0, 2>(x, y), i64x2_shuffle::<0, 2>(z, w)]);
            let second = FourSimd128([i64x2_shuffle::<1, 3>(x, y), i64x2_shuffle::<1, 3>(z, w)]);
            // SAFETY: as the caller promises.
            unsafe {
                first.store(&mut *to.add(at[2 * k] as usize));
                second.store(&mut *to.add(at[2 * k + 1] as usize));
            }
        }
    }
}
