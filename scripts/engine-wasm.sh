#!/usr/bin/env bash
# The npm package of the engine, built and tested in node: scripts/engine-wasm.sh [build]; with `build` it is not tested.
#
# Needs node, Rust's standard library for wasm32-unknown-unknown, and wasm-bindgen (cargo install wasm-bindgen-cli) of the version that Cargo.lock names.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+simd128" cargo build --release -p taffeta-wasm --target $target
wasm-bindgen --target web --out-dir crates/taffeta-wasm/npm/bound "${CARGO_TARGET_DIR:-target}/$target/release/taffeta_wasm.wasm"
gzip -9 -c crates/taffeta-wasm/npm/bound/taffeta_wasm_bg.wasm | wc -c | awk '{ printf "%.2f MB compressed\n", $1 / 1e6 }'
if [ "${1:-}" != build ]; then
    (cd crates/taffeta-wasm/npm && npm test)
fi
