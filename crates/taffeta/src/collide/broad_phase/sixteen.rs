//! One box against sixteen at once, in whatever registers the processor has.

use super::boxes::Bounds;
use crate::math::lanes::InstructionSet;
#[cfg(target_arch = "x86_64")]
use crate::math::lanes::Instructions;

/// How many boxes stand side by side.
pub const WIDE: usize = 16;

/// Sixteen boxes: per axis all least coordinates, then per axis all largest ones [m].
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Sixteen([[f32; WIDE]; 6]);

impl Sixteen {
    /// Sixteen boxes that hold nothing.
    pub const NOTHING: Sixteen = {
        let (low, high) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE]);
        Sixteen([low, low, low, high, high, high])
    };

    /// Puts a box into a lane.
    #[inline]
    pub fn set(&mut self, lane: usize, bounds: &Bounds) {
        for k in 0..3 {
            self.0[k][lane] = bounds.low(k);
            self.0[3 + k][lane] = bounds.high(k);
        }
    }

    /// The box in a lane.
    #[inline]
    pub fn get(&self, lane: usize) -> Bounds {
        Bounds::new([0, 1, 2].map(|k| self.0[k][lane]), [3, 4, 5].map(|k| self.0[k][lane]))
    }

    /// For every lane in `rows` the lanes of `other` that its box meets, as bits.
    #[inline]
    pub fn meet(&self, set: InstructionSet, rows: u16, other: &Sixteen) -> [u16; WIDE] {
        #[cfg(target_arch = "x86_64")]
        match set.instructions() {
            // SAFETY: the processor has what an `InstructionSet` holds.
            Instructions::Avx512 => return unsafe { x86::rows_avx512(&self.0, rows, &other.0) },
            // SAFETY: as above.
            Instructions::Avx2 => return unsafe { x86::rows_avx2(&self.0, rows, &other.0) },
            Instructions::Plain => {}
        }
        let _ = set;
        each_row(rows, |lane| one_by_one(&self.get(lane), &other.0))
    }

    /// The lanes whose boxes meet `one`, as bits.
    #[inline]
    pub fn meet_one(&self, set: InstructionSet, one: &Bounds) -> u16 {
        #[cfg(target_arch = "x86_64")]
        match set.instructions() {
            // SAFETY: the processor has what an `InstructionSet` holds.
            Instructions::Avx512 => return unsafe { x86::one_avx512(one, &self.0) },
            // SAFETY: as above.
            Instructions::Avx2 => return unsafe { x86::one_avx2(one, &self.0) },
            Instructions::Plain => {}
        }
        let _ = set;
        one_by_one(one, &self.0)
    }
}

#[inline(always)]
fn each_row(mut rows: u16, one: impl Fn(usize) -> u16) -> [u16; WIDE] {
    let mut met = [0; WIDE];
    while rows != 0 {
        let lane = rows.trailing_zeros() as usize;
        met[lane] = one(lane);
        rows &= rows - 1;
    }
    met
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn one_by_one(one: &Bounds, boxes: &[[f32; WIDE]; 6]) -> u16 {
    (0..WIDE).fold(0, |bits, lane| {
        let meets = (0..3)
            .fold(true, |all, k| all & (boxes[k][lane] <= one.high(k)) & (one.low(k) <= boxes[3 + k][lane]));
        bits | u16::from(meets) << lane
    })
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use wasm::one_by_fours as one_by_one;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm {
    use super::{Bounds, WIDE};
    use std::arch::wasm32::*;

    #[inline]
    pub fn one_by_fours(one: &Bounds, boxes: &[[f32; WIDE]; 6]) -> u16 {
        (0..WIDE / 4).fold(0, |bits, four| {
            let mut met = i32x4_splat(-1);
            for k in 0..3 {
                let load = |row: usize| {
                    let [a, b, c, d] = boxes[row].as_chunks().0[four];
                    f32x4(a, b, c, d)
                };
                met = v128_and(met, f32x4_le(load(k), f32x4_splat(one.high(k))));
                met = v128_and(met, f32x4_le(f32x4_splat(one.low(k)), load(3 + k)));
            }
            bits | u16::from(i32x4_bitmask(met)) << (4 * four)
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Bounds, WIDE, each_row};
    use std::arch::x86_64::*;

    type SixteenBounds = [[f32; WIDE]; 6];

    #[target_feature(enable = "avx512f")]
    pub fn rows_avx512(mine: &SixteenBounds, rows: u16, other: &SixteenBounds) -> [u16; WIDE] {
        // SAFETY: arrays of sixteen numbers at multiples of 64 bytes.
        let load = |k: usize| unsafe { _mm512_load_ps(other[k].as_ptr()) };
        let (low, high) = ([load(0), load(1), load(2)], [load(3), load(4), load(5)]);
        each_row(rows, |lane| {
            let mut met = !0;
            for k in 0..3 {
                let (my_low, my_high) = (_mm512_set1_ps(mine[k][lane]), _mm512_set1_ps(mine[3 + k][lane]));
                met = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(met, low[k], my_high);
                met = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(met, my_low, high[k]);
            }
            met
        })
    }

    #[target_feature(enable = "avx512f")]
    pub fn one_avx512(one: &Bounds, boxes: &SixteenBounds) -> u16 {
        let mut met = !0;
        for k in 0..3 {
            // SAFETY: arrays of sixteen numbers at multiples of 64 bytes.
            let (low, high) =
                unsafe { (_mm512_load_ps(boxes[k].as_ptr()), _mm512_load_ps(boxes[3 + k].as_ptr())) };
            met = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(met, low, _mm512_set1_ps(one.high(k)));
            met = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(met, _mm512_set1_ps(one.low(k)), high);
        }
        met
    }

    #[target_feature(enable = "avx2")]
    pub fn rows_avx2(mine: &SixteenBounds, rows: u16, other: &SixteenBounds) -> [u16; WIDE] {
        each_row(rows, |lane| {
            let bounds = Bounds::new([0, 1, 2].map(|k| mine[k][lane]), [3, 4, 5].map(|k| mine[k][lane]));
            one_avx2(&bounds, other)
        })
    }

    #[target_feature(enable = "avx2")]
    pub fn one_avx2(one: &Bounds, boxes: &SixteenBounds) -> u16 {
        let half = |from: usize| {
            let mut met = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
            for k in 0..3 {
                // SAFETY: eight numbers from a multiple of 32 bytes, inside an array of sixteen.
                let load = |row: usize| unsafe { _mm256_load_ps(boxes[row].as_ptr().add(from)) };
                let below = _mm256_cmp_ps::<_CMP_LE_OQ>(load(k), _mm256_set1_ps(one.high(k)));
                let above = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_set1_ps(one.low(k)), load(3 + k));
                met = _mm256_and_ps(met, _mm256_and_ps(below, above));
            }
            _mm256_movemask_ps(met) as u16
        };
        half(0) | half(8) << 8
    }
}
