#!/usr/bin/env bash
# The kept hashes of the determinism tests, found again by the engine in WebAssembly: scripts/golden-wasm.sh
#
# Needs node and Rust's standard library for wasm32-unknown-unknown: from rustup, or, where that cannot be reached, Debian's rustc-web, cargo-web, rust-web-src and
# lld-14 before rustup's in the PATH, with which the library is built from its sources.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
flags="${RUSTFLAGS:-}"
build=(build -p taffeta-scene --example golden --no-default-features --features golden --target $target)
if ! rustc --print target-libdir --target $target >/dev/null 2>&1 || [ ! -d "$(rustc --print target-libdir --target $target)" ]; then
    export RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-14
    build+=(-Zbuild-std=std,panic_abort)
fi
# Products and sums by parts, and by the instruction that fuses them.
for features in +simd128 +simd128,+relaxed-simd; do
    RUSTFLAGS="$flags -C target-feature=$features" cargo "${build[@]}"
    node scripts/golden-wasm.mjs "${CARGO_TARGET_DIR:-target}/$target/debug/examples/golden.wasm" $features
done
