//! Four numbers side by side: plain array arithmetic that compilers turn into one SIMD instruction each.

use std::ops::{Add, Mul, Sub};

/// Four numbers, one for each of four boxes or triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(16))]
pub struct Lanes(pub [f32; 4]);

impl Lanes {
    /// Four times the same number.
    #[inline(always)]
    pub fn splat(number: f32) -> Self {
        Lanes([number; 4])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let (a, b) = (self.0, other.0);
        Lanes([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    /// The larger of each two; `other` where one is not a number.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// The smaller of each two; `other` where one is not a number.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    /// One over each.
    #[inline(always)]
    pub fn recip(self) -> Self {
        Lanes::splat(1.0).zip(self, |a, b| a / b)
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

/// Four vectors: x, y and z side by side.
pub type Lanes3 = [Lanes; 3];

/// Four times the same vector.
#[inline(always)]
pub fn splat(v: glam::Vec3) -> Lanes3 {
    [Lanes::splat(v.x), Lanes::splat(v.y), Lanes::splat(v.z)]
}

/// Differences of four vectors.
#[inline(always)]
pub fn sub(a: &Lanes3, b: &Lanes3) -> Lanes3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Scalar products of four vectors.
#[inline(always)]
pub fn dot(a: &Lanes3, b: &Lanes3) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Vector products of four vectors.
#[inline(always)]
pub fn cross(a: &Lanes3, b: &Lanes3) -> Lanes3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
