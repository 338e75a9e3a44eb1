//! The kept hashes of the determinism tests as a library for WebAssembly: `scripts/golden-wasm.sh` runs all of them in node.

#[path = "../../taffeta/tests/engine/common/mod.rs"]
mod common;
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
