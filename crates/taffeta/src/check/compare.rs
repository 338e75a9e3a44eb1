//! Eight numbers compared with one, the answers as bits.
//!
//! Compilers make such loops into many moves and few comparisons, so they are spelled out for the registers that every x86-64 processor has.

/// How many numbers stand side by side.
pub(super) const LANES: usize = 8;

#[cfg(target_arch = "x86_64")]
mod lanes {
    use super::LANES;
    use std::arch::x86_64::*;

    /// Which of eight intervals per axis are beside one on any axis: `eights` has all lower ends per axis, then all upper ones.
    #[inline(always)]
    pub fn apart(eights: &[[f32; LANES]; 6], low: [f32; 3], high: [f32; 3]) -> u32 {
        // SAFETY: SSE2 is part of x86-64, and nothing is read through a pointer.
        unsafe {
            let (mut first, mut second) = (_mm_setzero_ps(), _mm_setzero_ps());
            for k in 0..3 {
                let (high, low) = (_mm_set1_ps(high[k]), _mm_set1_ps(low[k]));
                let [a, b, c, d, e, f, g, h] = eights[k];
                first = _mm_or_ps(first, _mm_cmpgt_ps(_mm_setr_ps(a, b, c, d), high));
                second = _mm_or_ps(second, _mm_cmpgt_ps(_mm_setr_ps(e, f, g, h), high));
                let [a, b, c, d, e, f, g, h] = eights[3 + k];
                first = _mm_or_ps(first, _mm_cmplt_ps(_mm_setr_ps(a, b, c, d), low));
                second = _mm_or_ps(second, _mm_cmplt_ps(_mm_setr_ps(e, f, g, h), low));
            }
            (_mm_movemask_ps(first) | _mm_movemask_ps(second) << 4).cast_unsigned()
        }
    }

    /// Which lanes have one of three numbers in one of three rows.
    #[inline(always)]
    pub fn have(rows: &[[u32; LANES]; 3], numbers: [u32; 3]) -> u32 {
        // SAFETY: as above.
        unsafe {
            let (mut first, mut second) = (_mm_setzero_si128(), _mm_setzero_si128());
            let numbers = numbers.map(|number| _mm_set1_epi32(number.cast_signed()));
            for row in rows {
                let [a, b, c, d, e, f, g, h] = row.map(u32::cast_signed);
                let (four, more) = (_mm_setr_epi32(a, b, c, d), _mm_setr_epi32(e, f, g, h));
                for number in numbers {
                    first = _mm_or_si128(first, _mm_cmpeq_epi32(four, number));
                    second = _mm_or_si128(second, _mm_cmpeq_epi32(more, number));
                }
            }
            let bits = |lanes: __m128i| _mm_movemask_ps(_mm_castsi128_ps(lanes));
            (bits(first) | bits(second) << 4).cast_unsigned()
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    use super::LANES;

    /// Which of eight intervals per axis are beside one on any axis: `eights` has all lower ends per axis, then all upper ones.
    pub fn apart(eights: &[[f32; LANES]; 6], low: [f32; 3], high: [f32; 3]) -> u32 {
        let beside = |lane: usize, k: usize| eights[k][lane] > high[k] || eights[3 + k][lane] < low[k];
        (0..LANES).fold(0, |bits, lane| bits | u32::from((0..3).any(|k| beside(lane, k))) << lane)
    }

    /// Which lanes have one of three numbers in one of three rows.
    pub fn have(rows: &[[u32; LANES]; 3], numbers: [u32; 3]) -> u32 {
        let has = |lane: usize| rows.iter().any(|row| numbers.contains(&row[lane]));
        (0..LANES).fold(0, |bits, lane| bits | u32::from(has(lane)) << lane)
    }
}

pub(super) use lanes::{apart, have};
