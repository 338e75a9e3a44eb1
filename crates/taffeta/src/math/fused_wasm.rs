//! Products and sums in registers of WebAssembly, rounded once.
//!
//! What fuses them, `relaxed_madd`, may round once or twice: that is left to the machine, which does all of a program alike. So a module with that instruction is
//! loaded only where it was tried and rounds once (`crates/taffeta-wasm/npm/fused.js`). The other module does it by instructions that all round alike.

#[cfg(target_feature = "relaxed-simd")]
use std::arch::wasm32::{f64x2_relaxed_madd, v128};

/// Products plus terms, each rounded once.
#[cfg(target_feature = "relaxed-simd")]
#[inline(always)]
pub fn fused(a: v128, b: v128, c: v128) -> v128 {
    f64x2_relaxed_madd(a, b, c)
}

#[cfg(not(target_feature = "relaxed-simd"))]
pub use by_parts::fused;

#[cfg(not(target_feature = "relaxed-simd"))]
mod by_parts {
    use std::arch::wasm32::*;

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
    pub fn fused(a: v128, b: v128, c: v128) -> v128 {
        let product = f64x2_mul(a, b);
        let zero = v128_or(f64x2_eq(a, f64x2_splat(0.0)), f64x2_eq(b, f64x2_splat(0.0)));
        let largest = f64x2_pmax(f64x2_abs(a), f64x2_pmax(f64x2_abs(b), f64x2_abs(c)));
        let large_enough = v128_or(f64x2_ge(f64x2_abs(product), f64x2_splat(SMALL)), zero);
        let ordinary =
            v128_and(f64x2_le(f64x2_pmax(f64x2_abs(product), largest), f64x2_splat(LARGE)), large_enough);
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
}
