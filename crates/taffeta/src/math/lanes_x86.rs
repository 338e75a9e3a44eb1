//! [`Wide`] in the registers of x86-64 processors. Every method is inlined into a function that is compiled for its instructions.
//!
//! Only [`super::lanes::InstructionSet::run`] names these types, and what it runs is reached on processors alone that have their instructions: AVX-512 (F, DQ,
//! VL) for [`Avx512`], AVX2 and FMA for all.

use super::Vec4;
use super::lanes::{Four, LANES, Lanes, Wide};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Eight numbers in one register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(__m512d);

/// Eight numbers in two registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2([__m256d; 2]);

/// A padded vector in one register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Four256(__m256d);

/// Intrinsics that touch no memory.
macro_rules! compute {
    ($intrinsics:expr) => {
        // SAFETY: this is reached on processors alone that have the instructions, as told above.
        unsafe { $intrinsics }
    };
}

macro_rules! operator {
    ($type:ident, $trait:ident, $method:ident, |$a:ident, $b:ident| $body:expr) => {
        impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.0, other.0);
                $type(compute!($body))
            }
        }
    };
}

operator!(Avx512, Add, add, |a, b| _mm512_add_pd(a, b));
operator!(Avx512, Sub, sub, |a, b| _mm512_sub_pd(a, b));
operator!(Avx512, Mul, mul, |a, b| _mm512_mul_pd(a, b));
operator!(Four256, Add, add, |a, b| _mm256_add_pd(a, b));
operator!(Four256, Sub, sub, |a, b| _mm256_sub_pd(a, b));
operator!(Four256, Mul, mul, |a, b| _mm256_mul_pd(a, b));
operator!(Avx2, Add, add, |a, b| [_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])]);
operator!(Avx2, Sub, sub, |a, b| [_mm256_sub_pd(a[0], b[0]), _mm256_sub_pd(a[1], b[1])]);
operator!(Avx2, Mul, mul, |a, b| [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])]);

impl Four for Four256 {
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Four256(compute!(_mm256_set1_pd(number)))
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Four256(compute!(_mm256_fmadd_pd(self.0, by.0, plus.0)))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        Four256(compute!(_mm256_fnmadd_pd(self.0, by.0, from.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Four256(compute!(_mm256_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        Four256(compute!(_mm256_div_pd(self.0, by.0)))
    }
    #[inline(always)]
    fn first(self) -> f64 {
        compute!(_mm256_cvtsd_f64(self.0))
    }
    #[inline(always)]
    fn fourth(self) -> Self {
        Four256(compute!(_mm256_permute4x64_pd::<0b11_11_11_11>(self.0)))
    }
    #[inline(always)]
    fn with_fourth(self, of: Self) -> Self {
        Four256(compute!(_mm256_blend_pd::<0b1000>(self.0, of.0)))
    }
    #[inline(always)]
    fn load(from: &Vec4) -> Self {
        // SAFETY: as in `compute!`, and a `Vec4` is four numbers at a multiple of 32 bytes.
        Four256(unsafe { _mm256_load_pd(from.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut Vec4) {
        // SAFETY: as for `load`.
        unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
    }
}

impl Wide for Avx512 {
    type Four = Four256;
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Avx512(compute!(_mm512_set1_pd(number)))
    }
    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        // SAFETY: as in `compute!`, and `Lanes` are eight numbers at a multiple of 64 bytes.
        Avx512(unsafe { _mm512_load_pd(from.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        // SAFETY: as for `load`.
        unsafe { _mm512_store_pd(to.0.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Avx512(compute!(_mm512_fmadd_pd(self.0, by.0, plus.0)))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        Avx512(compute!(_mm512_fnmadd_pd(self.0, by.0, from.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Avx512(compute!(_mm512_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn inverse(self) -> Self {
        Avx512(compute!(_mm512_div_pd(_mm512_set1_pd(1.0), self.0)))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        Avx512(compute!(_mm512_div_pd(self.0, by.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Avx512(compute!(_mm512_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Avx512(compute!(_mm512_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn where_less(self, a: Self, b: Self, other: Self) -> Self {
        Avx512(compute!(_mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), other.0, self.0)))
    }
    #[inline(always)]
    unsafe fn gather(from: *const Vec4, at: &[u32; LANES]) -> [Self; 4] {
        // SAFETY: as in `compute!`; the caller promises a vector at every place, and a vector is at a multiple of 32 bytes.
        unsafe {
            let one = |l: usize| _mm256_load_pd(from.add(at[l] as usize).cast());
            // Vectors l and l + 2 in one register, so that all lanes come out in order.
            let two = |l: usize| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(one(l)), one(l + 2));
            let (a, b, c, d) = (two(0), two(1), two(4), two(5));
            let (xz, yw) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (more_xz, more_yw) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            const FIRST: i32 = 0b10_00_10_00;
            const SECOND: i32 = 0b11_01_11_01;
            [
                Avx512(_mm512_shuffle_f64x2::<FIRST>(xz, more_xz)),
                Avx512(_mm512_shuffle_f64x2::<FIRST>(yw, more_yw)),
                Avx512(_mm512_shuffle_f64x2::<SECOND>(xz, more_xz)),
                Avx512(_mm512_shuffle_f64x2::<SECOND>(yw, more_yw)),
            ]
        }
    }
    #[inline(always)]
    unsafe fn scatter(to: *mut Vec4, at: &[u32; LANES], [x, y, z, w]: [Self; 4]) {
        // SAFETY: as for `gather`, and nobody else uses these vectors.
        unsafe {
            let (xy, more_xy) = (_mm512_unpacklo_pd(x.0, y.0), _mm512_unpackhi_pd(x.0, y.0));
            let (zw, more_zw) = (_mm512_unpacklo_pd(z.0, w.0), _mm512_unpackhi_pd(z.0, w.0));
            // Pairs of numbers from both: those of vectors l and l + 2.
            let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            let put = |l: usize, two: __m512d| {
                _mm256_store_pd(to.add(at[l] as usize).cast(), _mm512_castpd512_pd256(two));
                _mm256_store_pd(to.add(at[l + 2] as usize).cast(), _mm512_extractf64x4_pd::<1>(two));
            };
            put(0, _mm512_permutex2var_pd(xy, low, zw));
            put(1, _mm512_permutex2var_pd(more_xy, low, more_zw));
            put(4, _mm512_permutex2var_pd(xy, high, zw));
            put(5, _mm512_permutex2var_pd(more_xy, high, more_zw));
        }
    }
}

impl Wide for Avx2 {
    type Four = Four256;
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Avx2(compute!([_mm256_set1_pd(number); 2]))
    }
    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        // SAFETY: as in `compute!`, and `Lanes` are eight numbers at a multiple of 64 bytes.
        Avx2(unsafe { [_mm256_load_pd(from.0.as_ptr()), _mm256_load_pd(from.0.as_ptr().add(4))] })
    }
    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        // SAFETY: as for `load`.
        unsafe {
            _mm256_store_pd(to.0.as_mut_ptr(), self.0[0]);
            _mm256_store_pd(to.0.as_mut_ptr().add(4), self.0[1]);
        }
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        let (a, b, c) = (self.0, by.0, plus.0);
        Avx2(compute!([_mm256_fmadd_pd(a[0], b[0], c[0]), _mm256_fmadd_pd(a[1], b[1], c[1])]))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        let (a, b, c) = (self.0, by.0, from.0);
        Avx2(compute!([_mm256_fnmadd_pd(a[0], b[0], c[0]), _mm256_fnmadd_pd(a[1], b[1], c[1])]))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Avx2(self.0.map(|a| compute!(_mm256_sqrt_pd(a))))
    }
    #[inline(always)]
    fn inverse(self) -> Self {
        Avx2(self.0.map(|a| compute!(_mm256_div_pd(_mm256_set1_pd(1.0), a))))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        let (a, b) = (self.0, by.0);
        Avx2(compute!([_mm256_div_pd(a[0], b[0]), _mm256_div_pd(a[1], b[1])]))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Avx2(compute!([_mm256_max_pd(a[0], b[0]), _mm256_max_pd(a[1], b[1])]))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Avx2(compute!([_mm256_min_pd(a[0], b[0]), _mm256_min_pd(a[1], b[1])]))
    }
    #[inline(always)]
    fn where_less(self, a: Self, b: Self, other: Self) -> Self {
        let ([a, more_a], [b, more_b], [x, more_x], [y, more_y]) = (a.0, b.0, self.0, other.0);
        Avx2(compute!([
            _mm256_blendv_pd(y, x, _mm256_cmp_pd::<_CMP_LT_OQ>(a, b)),
            _mm256_blendv_pd(more_y, more_x, _mm256_cmp_pd::<_CMP_LT_OQ>(more_a, more_b)),
        ]))
    }
    #[inline(always)]
    unsafe fn gather(from: *const Vec4, at: &[u32; LANES]) -> [Self; 4] {
        // SAFETY: as in `compute!`; the caller promises a vector at every place, and a vector is at a multiple of 32 bytes.
        unsafe {
            let [a, b, c, d, e, f, g, h] = *at;
            let [x, y, z, w] = four(from, [a, b, c, d]);
            let [more_x, more_y, more_z, more_w] = four(from, [e, f, g, h]);
            [Avx2([x, more_x]), Avx2([y, more_y]), Avx2([z, more_z]), Avx2([w, more_w])]
        }
    }
    #[inline(always)]
    unsafe fn scatter(to: *mut Vec4, at: &[u32; LANES], [x, y, z, w]: [Self; 4]) {
        // SAFETY: as for `gather`, and nobody else uses these vectors.
        unsafe {
            for half in 0..2 {
                let vectors = turned([x.0[half], y.0[half], z.0[half], w.0[half]]);
                for (l, vector) in vectors.into_iter().enumerate() {
                    _mm256_store_pd(to.add(at[4 * half + l] as usize).cast(), vector);
                }
            }
        }
    }
}

/// Four padded vectors taken apart.
///
/// # Safety
/// `from` must have a vector at every place.
#[inline(always)]
unsafe fn four(from: *const Vec4, [a, b, c, d]: [u32; 4]) -> [__m256d; 4] {
    // SAFETY: as in `compute!`; the caller promises a vector at every place.
    unsafe {
        turned([
            _mm256_load_pd(from.add(a as usize).cast()),
            _mm256_load_pd(from.add(b as usize).cast()),
            _mm256_load_pd(from.add(c as usize).cast()),
            _mm256_load_pd(from.add(d as usize).cast()),
        ])
    }
}

/// Rows and columns of a 4 × 4 matrix exchanged.
#[inline(always)]
fn turned([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    compute!({
        let (xz, yw) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (more_xz, more_yw) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(xz, more_xz),
            _mm256_permute2f128_pd::<0x20>(yw, more_yw),
            _mm256_permute2f128_pd::<0x31>(xz, more_xz),
            _mm256_permute2f128_pd::<0x31>(yw, more_yw),
        ]
    })
}
