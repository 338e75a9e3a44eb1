//! Eight numbers side by side in the widest registers at hand, and the way between them and padded vectors.
//!
//! Code is written once for any [`Wide`] and compiled for every instruction set by `by_instruction_set!`. Every lane rounds as a scalar does,
//! and products and sums are fused only where the code says so, by `mul_add`, so every instruction set gives the same bits. A processor that cannot fuse has it
//! done by a library, which is slow.

use super::Vec4;
use std::ops::{Add, Mul, Sub};
use std::sync::OnceLock;

/// How many numbers stand side by side.
pub const LANES: usize = 8;

/// Eight numbers in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// All zero.
    pub const ZERO: Lanes = Lanes([0.0; LANES]);
}

/// Instructions that a function is compiled for and that the processor at hand has: only [`InstructionSet::detected`] makes one, so that whoever
/// holds one may use its instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(Instructions);

/// Which instructions there are.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// AVX-512: eight numbers in a register.
    Avx512,
    /// AVX2 with FMA: four numbers in a register.
    Avx2,
    /// Whatever every processor has.
    Plain,
}

impl InstructionSet {
    /// Those that the processor at hand has, widest first. The environment variable `TAFFETA_INSTRUCTIONS` (`avx512`, `avx2` or `plain`) leaves
    /// out what is wider: results have the same bits on every set, only the time changes.
    pub fn available() -> &'static [InstructionSet] {
        static AVAILABLE: OnceLock<&[InstructionSet]> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            let detected = Self::detected();
            let widest = std::env::var("TAFFETA_INSTRUCTIONS").ok();
            let first = detected.iter().position(|set| Some(set.name()) == widest.as_deref());
            &detected[first.unwrap_or(0)..]
        })
    }

    /// Those that the processor has, widest first.
    pub fn detected() -> &'static [InstructionSet] {
        const PLAIN: InstructionSet = InstructionSet(Instructions::Plain);
        #[cfg(target_arch = "x86_64")]
        {
            const AVX512: InstructionSet = InstructionSet(Instructions::Avx512);
            const AVX2: InstructionSet = InstructionSet(Instructions::Avx2);
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 && is_x86_feature_detected!("avx512dq") {
                return &[AVX512, AVX2, PLAIN];
            }
            if avx2 {
                return &[AVX2, PLAIN];
            }
        }
        &[PLAIN]
    }

    /// Its name, as in `TAFFETA_INSTRUCTIONS`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Avx512 => "avx512",
            Instructions::Avx2 => "avx2",
            Instructions::Plain => "plain",
        }
    }

    /// Runs a kernel compiled for these instructions.
    #[inline(always)]
    pub(crate) fn run<K: WideKernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            use super::lanes_x86::{Avx2, Avx512};
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
            fn avx512<K: WideKernel>(kernel: K) -> K::Output {
                kernel.run::<Avx512>()
            }
            #[target_feature(enable = "avx2,fma")]
            fn avx2<K: WideKernel>(kernel: K) -> K::Output {
                kernel.run::<Avx2>()
            }
            match self.0 {
                // SAFETY: only `detected` makes such a set, where the processor has all that is enabled above.
                Instructions::Avx512 => return unsafe { avx512(kernel) },
                // SAFETY: as above.
                Instructions::Avx2 => return unsafe { avx2(kernel) },
                Instructions::Plain => {}
            }
        }
        // A module with these instructions is not even loaded where there are none.
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return kernel.run::<super::lanes_wasm::Simd128>();
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        kernel.run::<Lanes>()
    }

    /// Which they are.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn instructions(self) -> Instructions {
        self.0
    }
}

/// A function with its arguments that is compiled for every [`Wide`]; `by_instruction_set!` makes them.
pub(crate) trait WideKernel {
    /// What it returns.
    type Output;
    /// Calls it; to be inlined.
    fn run<W: Wide>(self) -> Self::Output;
}

/// Eight numbers in registers.
pub trait Wide: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A padded vector in registers.
    type Four: Four;
    /// Eight times the same number.
    fn splat(number: f64) -> Self;
    /// From memory.
    fn load(from: &Lanes) -> Self;
    /// To memory.
    fn store(self, to: &mut Lanes);
    /// Each times its own factor plus its own term, rounded once.
    fn mul_add(self, by: Self, plus: Self) -> Self;
    /// What is left of `from` without each times its own factor, rounded once.
    fn mul_sub_from(self, by: Self, from: Self) -> Self;
    /// The square root of each.
    fn sqrt(self) -> Self;
    /// One over each.
    fn inverse(self) -> Self;
    /// Each over its own number.
    fn over(self, by: Self) -> Self;
    /// The larger of each pair; the second where one is not a number.
    fn max(self, other: Self) -> Self;
    /// The smaller of each pair; the second where one is not a number.
    fn min(self, other: Self) -> Self;
    /// This where `a < b`, the other elsewhere, also where one of the two is not a number.
    fn where_less(self, a: Self, b: Self, other: Self) -> Self;
    /// Eight padded vectors taken apart: all x, all y, all z, all fourth numbers.
    ///
    /// # Safety
    /// `from` must have a vector at every place in `at`.
    unsafe fn gather(from: *const Vec4, at: &[u32; LANES]) -> [Self; 4];
    /// The inverse of [`Wide::gather`].
    ///
    /// # Safety
    /// `to` must have a vector at every place in `at`, and nobody else may use it.
    unsafe fn scatter(to: *mut Vec4, at: &[u32; LANES], numbers: [Self; 4]);
}

/// A padded vector in registers.
pub trait Four: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Four times the same number.
    fn splat(number: f64) -> Self;
    /// Each times its own factor plus its own term, rounded once.
    fn mul_add(self, by: Self, plus: Self) -> Self;
    /// What is left of `from` without each times its own factor, rounded once.
    fn mul_sub_from(self, by: Self, from: Self) -> Self;
    /// The larger of each pair; the second where one is not a number.
    fn max(self, other: Self) -> Self;
    /// Each over its own number.
    fn over(self, by: Self) -> Self;
    /// The first number.
    fn first(self) -> f64;
    /// The fourth number, four times.
    fn fourth(self) -> Self;
    /// The same but for the fourth number, which is that of another.
    fn with_fourth(self, of: Self) -> Self;
    /// From memory.
    fn load(from: &Vec4) -> Self;
    /// To memory.
    fn store(self, to: &mut Vec4);
}

impl Four for Vec4 {
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Vec4([number; 4])
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Vec4(std::array::from_fn(|c| self.0[c].mul_add(by.0[c], plus.0[c])))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        Vec4(std::array::from_fn(|c| (-self.0[c]).mul_add(by.0[c], from.0[c])))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Vec4(std::array::from_fn(|c| if self.0[c] > other.0[c] { self.0[c] } else { other.0[c] }))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        Vec4(std::array::from_fn(|c| self.0[c] / by.0[c]))
    }
    #[inline(always)]
    fn first(self) -> f64 {
        self.0[0]
    }
    #[inline(always)]
    fn fourth(self) -> Self {
        Vec4([self.0[3]; 4])
    }
    #[inline(always)]
    fn with_fourth(self, of: Self) -> Self {
        let [x, y, z, _] = self.0;
        Vec4([x, y, z, of.0[3]])
    }
    #[inline(always)]
    fn load(from: &Vec4) -> Self {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut Vec4) {
        *to = self;
    }
}

/// Eight 3-vectors: x, y and z each side by side.
#[derive(Debug, Clone, Copy)]
pub struct Wide3<W>(pub [W; 3]);

impl<W: Wide> Wide3<W> {
    /// All zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Wide3([W::splat(0.0); 3])
    }

    /// From memory.
    #[inline(always)]
    pub fn load([x, y, z]: &[Lanes; 3]) -> Self {
        Wide3([W::load(x), W::load(y), W::load(z)])
    }

    /// To memory.
    #[inline(always)]
    pub fn store(self, to: &mut [Lanes; 3]) {
        let [x, y, z] = to;
        self.0[0].store(x);
        self.0[1].store(y);
        self.0[2].store(z);
    }

    /// Eight cross products.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Wide3([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// Eight dot products.
    #[inline(always)]
    pub fn dot(self, other: Self) -> W {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        a * x + b * y + c * z
    }

    /// Eight dot products, fused.
    #[inline(always)]
    pub fn fused_dot(self, other: Self) -> W {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        c.mul_add(z, b.mul_add(y, a * x))
    }

    /// Each times its own number.
    #[inline(always)]
    pub fn scaled(self, by: W) -> Self {
        let [x, y, z] = self.0;
        Wide3([x * by, y * by, z * by])
    }

    /// Each times its own number, plus another vector; fused.
    #[inline(always)]
    pub fn scaled_plus(self, by: W, plus: Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.0, plus.0);
        Wide3([x.mul_add(by, a), y.mul_add(by, b), z.mul_add(by, c)])
    }

    /// What is left of another vector without each times its own number; fused.
    #[inline(always)]
    pub fn scaled_from(self, by: W, from: Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.0, from.0);
        Wide3([x.mul_sub_from(by, a), y.mul_sub_from(by, b), z.mul_sub_from(by, c)])
    }
}

impl<W: Wide> Add for Wide3<W> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Wide3([a + x, b + y, c + z])
    }
}

impl<W: Wide> Sub for Wide3<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Wide3([a - x, b - y, c - z])
    }
}

impl Lanes {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.0, other.0);
        Lanes(std::array::from_fn(|l| f(a[l], b[l])))
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

impl Wide for Lanes {
    type Four = Vec4;
    #[inline(always)]
    fn splat(number: f64) -> Self {
        Lanes([number; LANES])
    }
    #[inline(always)]
    fn load(from: &Lanes) -> Self {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut Lanes) {
        *to = self;
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Lanes(std::array::from_fn(|l| self.0[l].mul_add(by.0[l], plus.0[l])))
    }
    #[inline(always)]
    fn mul_sub_from(self, by: Self, from: Self) -> Self {
        Lanes(std::array::from_fn(|l| (-self.0[l]).mul_add(by.0[l], from.0[l])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Lanes(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn inverse(self) -> Self {
        Lanes(self.0.map(|a| 1.0 / a))
    }
    #[inline(always)]
    fn over(self, by: Self) -> Self {
        self.zip(by, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn where_less(self, a: Self, b: Self, other: Self) -> Self {
        let (a, b) = (a.0, b.0);
        Lanes(std::array::from_fn(|l| if a[l] < b[l] { self.0[l] } else { other.0[l] }))
    }
    #[inline(always)]
    unsafe fn gather(from: *const Vec4, at: &[u32; LANES]) -> [Self; 4] {
        // SAFETY: as the caller promises.
        let vectors = at.map(|i| unsafe { *from.add(i as usize) });
        std::array::from_fn(|c| Lanes(std::array::from_fn(|l| vectors[l].0[c])))
    }
    #[inline(always)]
    unsafe fn scatter(to: *mut Vec4, at: &[u32; LANES], numbers: [Self; 4]) {
        for (l, i) in at.iter().enumerate() {
            // SAFETY: as the caller promises.
            unsafe { *to.add(*i as usize) = Vec4(std::array::from_fn(|c| numbers[c].0[l])) };
        }
    }
}

/// Compiles `$body`, an `#[inline(always)]` function that is generic over [`Wide`], for every instruction set: `$name` takes the set and the
/// arguments of `$body`. Types name their lifetimes, if only as `'_`.
macro_rules! by_instruction_set {
    ($(#[$doc:meta])* $vis:vis fn $name:ident = $body:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name(set: $crate::math::lanes::InstructionSet, $($arg: $type),*) $(-> $out)? {
            struct Kernel<Arguments>(Arguments);
            impl $crate::math::lanes::WideKernel for Kernel<($($type,)*)> {
                #[allow(unused_parens)]
                type Output = ($($out)?);
                #[inline(always)]
                fn run<W: $crate::math::lanes::Wide>(self) -> Self::Output {
                    let ($($arg,)*) = self.0;
                    $body::<W>($($arg),*)
                }
            }
            set.run(Kernel(($($arg,)*)))
        }
    };
}
pub(crate) use by_instruction_set;
