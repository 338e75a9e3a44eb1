//! All kernels compile, for strips of all lengths and cards of several years, where there is a compiler; no card is needed.

use taffeta_cuda::{Blocks, Cache, Kernels, Program, Shape, compiler_version};
use testing::{long, skipped};

#[test]
fn all_kernels_compile() {
    let Some(version) = compiler_version() else {
        return skipped::tell("no compiler for CUDA kernels (libnvrtc) on this machine");
    };
    let shapes: &[usize] = if long() { &[20, 50, 100, 200, 500, 1000, 2000, 4000] } else { &[100, 200] };
    for capability in [(7, 5), (9, 0)].into_iter().skip(usize::from(!long())) {
        for &longest in shapes {
            let shape = Shape::of(longest).unwrap();
            for sewn in [false, true] {
                compiles(Kernels { program: Program::Phases { sewn }, shape, capability }, &version);
            }
        }
        let eaches: &[usize] = if long() { &[1, 2, 4, 8] } else { &[1] };
        for (&each, shared) in eaches.iter().flat_map(|each| [(each, true), (each, false)]) {
            let blocks = Blocks { threads: 512, at_once: 1, shared, span: 8 };
            let shape = Shape { threads: 32, each };
            compiles(Kernels { program: Program::Members(blocks), shape, capability }, &version);
        }
    }
}

fn compiles(kernels: Kernels, version: &str) {
    let code = kernels.code(&Cache::default());
    let code = code.unwrap_or_else(|error| panic!("NVRTC {version}, {kernels:?}: {error}"));
    assert!(code.starts_with(b"\x7fELF"), "code for a card, not source for its driver");
}
