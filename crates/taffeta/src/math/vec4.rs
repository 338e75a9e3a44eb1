//! A 3-vector padded to four numbers: one load, one store and one operation in a 256-bit register.
//!
//! Plain arithmetic on arrays, which compilers turn into SIMD where the instruction set has it; lanes round as scalars do, so the bits
//! are the same where it has not.

use super::DVec3;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// x, y, z and a fourth number that stays 0, or four numbers side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Vec4(pub [f64; 4]);

impl Vec4 {
    /// All zero.
    pub const ZERO: Vec4 = Vec4([0.0; 4]);

    /// The first three numbers.
    #[inline(always)]
    pub fn xyz(self) -> DVec3 {
        DVec3::new(self.0[0], self.0[1], self.0[2])
    }

    /// Four times the same number.
    #[inline(always)]
    pub fn splat(number: f64) -> Self {
        Vec4([number; 4])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.0, other.0);
        Vec4([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    /// One over the square root of each number, or of `floor` where that is more.
    #[inline(always)]
    pub fn inverse_sqrt(self, floor: f64) -> Self {
        let roots = self.zip(Vec4::splat(floor), |a, b| if a > b { a } else { b });
        let roots = Vec4(roots.0.map(f64::sqrt));
        Vec4::splat(1.0).zip(roots, |a, b| a / b)
    }
}

impl From<DVec3> for Vec4 {
    #[inline(always)]
    fn from(v: DVec3) -> Self {
        Vec4([v.x, v.y, v.z, 0.0])
    }
}

impl Add for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl AddAssign for Vec4 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Mul<f64> for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        self * Vec4::splat(factor)
    }
}

impl Div<f64> for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn div(self, divisor: f64) -> Self {
        Vec4(self.0.map(|c| c / divisor))
    }
}

impl Neg for Vec4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Vec4(self.0.map(|c| -c))
    }
}

/// Compiles `$body`, an `#[inline(always)]` function, for AVX2 too: `$name` takes the arguments of `$body` and runs the faster one that the processor
/// has. What is generic stands in square brackets. Lanes round as scalars do and nothing is fused, so both give the same bits.
macro_rules! with_avx2 {
    ($(#[$doc:meta])* $vis:vis fn $name:ident $([$($generic:tt)*])? = $body:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?) => {
        $(#[$doc])*
        $vis fn $name$(<$($generic)*>)?($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2$(<$($generic)*>)?($($arg: $type),*) $(-> $out)? {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use with_avx2;
