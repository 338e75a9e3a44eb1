#!/usr/bin/env bash
# The modules of the engine for pages and for node, built and tested in node: scripts/engine-wasm.sh [build]; with `build` they are not tested.
#
# Needs node, Rust's standard library for wasm32-unknown-unknown, and wasm-bindgen (cargo install wasm-bindgen-cli) of the version that Cargo.lock names. The module
# with threads also needs the sources of the standard library (rustup component add rust-src), which is built with atomics; where they are missing it is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
npm=crates/taffeta-wasm/npm

# Builds a module into a folder of the package: its name, features of WebAssembly, flags of the linker, and what cargo is told.
module() {
    local name=$1 features=$2 link=$3
    RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=$features $link" cargo build --profile wasm -p taffeta-wasm --target $target "${@:4}"
    rm -rf "$npm/$name"
    wasm-bindgen --target web --remove-name-section --out-dir "$npm/$name" "${CARGO_TARGET_DIR:-target}/$target/wasm/taffeta_wasm.wasm"
    gzip -9 -c "$npm/$name/taffeta_wasm_bg.wasm" | wc -c | awk -v name="$name" '{ printf "%s: %.2f MB compressed\n", name, $1 / 1e6 }'
}

module plain +simd128 ""
module fused +simd128,+relaxed-simd ""
if [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
    link="-C link-arg=--shared-memory -C link-arg=--import-memory -C link-arg=--max-memory=4294967296"
    for name in __wasm_init_tls __tls_size __tls_align __tls_base; do
        link="$link -C link-arg=--export=$name"
    done
    RUSTC_BOOTSTRAP=1 module threads +atomics,+simd128,+relaxed-simd "$link" --features threads -Zbuild-std=std,panic_abort
else
    rm -rf "$npm/threads"
    echo "SKIPPED: the module with threads: rustup component add rust-src"
fi
if [ "${1:-}" != build ]; then
    (cd "$npm" && npm test)
fi
