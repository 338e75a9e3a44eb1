//! [`Wide`] in the registers of WebAssembly, two numbers in each.

use super::Vec4;
use super::fused_wasm::fused;
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
    fn over(self, by: Self) -> Self {
        Simd128(from_fn(|k| f64x2_div(self.0[k], by.0[k])))
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
