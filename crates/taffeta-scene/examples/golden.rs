//! The kept hashes of the determinism tests as a library for WebAssembly: `scripts/golden-wasm.sh` runs all of them in node.

#[path = "../../taffeta/tests/engine/common/mod.rs"]
pub mod common;
#[allow(dead_code)] // the tests ask cases for more
#[path = "../../taffeta/tests/engine/determinism/scenes.rs"]
mod scenes;

use scenes::Case;
use taffeta_scene::Method;

/// A scene, its method's name with underscores, and its hash.
type Golden = (fn(Method) -> Case, &'static str, &'static str, u64);

macro_rules! golden {
    ($($scene:ident { $($method:ident $hash:literal)* })*) => {
        const GOLDEN: &[Golden] =
            &[$($((scenes::$scene, stringify!($scene), stringify!($method), $hash)),*),*];
    };
}

include!("../../taffeta/tests/engine/determinism/golden.hashes");

/// How many products and sums that are fused in lanes differ from those that a library fuses.
#[unsafe(no_mangle)]
pub extern "C" fn fused_wrong() -> u32 {
    #[cfg(not(target_feature = "simd128"))]
    return 0;
    #[cfg(target_feature = "simd128")]
    {
        use taffeta::math::lanes::{LANES, Lanes, Wide};
        use taffeta::math::{lanes_wasm::Simd128, random::Random};
        let mut random = Random::new(3);
        // Of all sizes, with few bits and with many, and now and then zero.
        let mut number = |spread: f64| {
            let scale = f64::exp2((spread * (random.unit() - 0.5)).round());
            let few = (16.0 * (random.unit() - 0.5)).round();
            scale * if random.unit() < 0.3 { few } else { random.unit() - 0.5 }
        };
        let mut wrong = 0;
        for round in 0..20_000 {
            let spread = [0.0, 8.0, 120.0, 2000.0][round % 4];
            let [a, mut b, mut c] = [(); 3].map(|()| Lanes(std::array::from_fn(|_| number(spread))));
            if round % 3 == 0 {
                // Sums that nearly or wholly cancel, and ties.
                c = Lanes(std::array::from_fn(|l| -a.0[l] * b.0[l]));
            } else if round % 3 == 1 {
                b = Lanes(std::array::from_fn(|l| b.0[l] * f64::EPSILON / 2.0));
            }
            let mut found = Lanes::ZERO;
            Simd128::load(&a).mul_add(Simd128::load(&b), Simd128::load(&c)).store(&mut found);
            let right = |l: &usize| a.0[*l].mul_add(b.0[*l], c.0[*l]).to_bits() == found.0[*l].to_bits();
            wrong += (0..LANES).filter(|l| !right(l)).count() as u32;
        }
        wrong
    }
}

/// The scene and the method of a hash.
pub fn name(number: u32) -> String {
    let (_, scene, method, _) = GOLDEN[number as usize];
    format!("{scene} by {method}")
}

/// How many hashes are kept.
#[unsafe(no_mangle)]
pub extern "C" fn golden_count() -> u32 {
    GOLDEN.len() as u32
}

/// The hash that is kept.
#[unsafe(no_mangle)]
pub extern "C" fn golden_kept(number: u32) -> u64 {
    GOLDEN[number as usize].3
}

/// The hash that this machine finds; 0 if a step fails.
#[unsafe(no_mangle)]
pub extern "C" fn golden_found(number: u32) -> u64 {
    let (make, _, name, _) = GOLDEN[number as usize];
    let Some(method) = Method::ALL.iter().find(|method| method.name().replace('-', "_") == name) else {
        return 0;
    };
    let case = make(*method);
    let mut simulation = case.build();
    for _ in 0..case.frames {
        if simulation.step().is_err() {
            return 0;
        }
    }
    simulation.state().hash()
}

/// Where the name of its scene is; its length stands in [`golden_name_length`].
#[unsafe(no_mangle)]
pub extern "C" fn golden_name(number: u32) -> *const u8 {
    GOLDEN[number as usize].1.as_ptr()
}

/// See [`golden_name`].
#[unsafe(no_mangle)]
pub extern "C" fn golden_name_length(number: u32) -> usize {
    GOLDEN[number as usize].1.len()
}

/// Where the name of its method is; its length stands in [`golden_method_length`].
#[unsafe(no_mangle)]
pub extern "C" fn golden_method(number: u32) -> *const u8 {
    GOLDEN[number as usize].2.as_ptr()
}

/// See [`golden_method`].
#[unsafe(no_mangle)]
pub extern "C" fn golden_method_length(number: u32) -> usize {
    GOLDEN[number as usize].2.len()
}
