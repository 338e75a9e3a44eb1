//! Eight numbers side by side, and the way between them and padded vectors.
//!
//! Plain arithmetic on arrays that compilers turn into SIMD; lanes round as scalars do and nothing is fused, so every instruction set
//! gives the same bits.

use super::Vec4;
use std::ops::{Add, Mul, Neg, Sub};

/// How many numbers stand side by side.
pub const LANES: usize = 8;

/// Eight numbers side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// All zero.
    pub const ZERO: Lanes = Lanes([0.0; LANES]);

    /// Eight times the same number.
    #[inline(always)]
    pub fn splat(number: f64) -> Self {
        Lanes([number; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.0, other.0);
        Lanes(std::array::from_fn(|l| f(a[l], b[l])))
    }

    /// The square root of each.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Lanes(self.0.map(f64::sqrt))
    }

    /// One over each.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Lanes::splat(1.0).zip(self, |a, b| a / b)
    }

    /// The larger of each pair; a NaN on the left is replaced.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// The smaller of each pair; a NaN on the left is replaced.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    /// The largest of the eight.
    #[inline(always)]
    pub fn largest(self) -> f64 {
        self.0.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes(self.0.map(|a| -a))
    }
}

/// Eight 3-vectors: x, y and z each side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Lanes3 {
    /// The x of each.
    pub x: Lanes,
    /// The y of each.
    pub y: Lanes,
    /// The z of each.
    pub z: Lanes,
}

impl Lanes3 {
    /// All zero.
    pub const ZERO: Lanes3 = Lanes3 { x: Lanes::ZERO, y: Lanes::ZERO, z: Lanes::ZERO };

    /// Eight dot products.
    #[inline(always)]
    pub fn dot(self, other: Self) -> Lanes {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Each times its own number.
    #[inline(always)]
    pub fn scaled(self, by: Lanes) -> Self {
        Lanes3 { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}

impl Add for Lanes3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Lanes3 { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Lanes3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Lanes3 { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

/// Eight padded vectors taken apart: x, y, z, and the fourth numbers.
#[inline(always)]
pub fn apart(vectors: [Vec4; LANES]) -> (Lanes3, Lanes) {
    let of = |c: usize| {
        let v = &vectors;
        Lanes([v[0].0[c], v[1].0[c], v[2].0[c], v[3].0[c], v[4].0[c], v[5].0[c], v[6].0[c], v[7].0[c]])
    };
    (Lanes3 { x: of(0), y: of(1), z: of(2) }, of(3))
}

/// The inverse of [`apart`].
#[inline(always)]
pub fn together(v: Lanes3, fourth: Lanes) -> [Vec4; LANES] {
    let of = |l: usize| Vec4([v.x.0[l], v.y.0[l], v.z.0[l], fourth.0[l]]);
    [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
}

/// Makes a function `$name` that runs `$body`, an `#[inline(always)]` function with the same arguments, compiled for the widest vectors of
/// the processor at hand.
macro_rules! by_instruction_set {
    ($(#[$doc:meta])* $vis:vis fn $name:ident = $body:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
                fn widest($($arg: $type),*) $(-> $out)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) $(-> $out)? {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512bw") {
                    // SAFETY: the processor has these instructions.
                    return unsafe { widest($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    return unsafe { wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use by_instruction_set;
