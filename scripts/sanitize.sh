#!/usr/bin/env bash
# Runs tests of the engine under AddressSanitizer and ThreadSanitizer: scripts/sanitize.sh [address|thread]
# Those of every module with unsafe code or threads, without long cases. It takes a nightly compiler, or the one at hand told to act as one; ThreadSanitizer
# also the sources of the standard library (rustup component add rust-src), so that its locks are seen.
set -euo pipefail
cd "$(dirname "$0")/.."
unset TAFFETA_LONG

toolchain=(rustup run nightly)
if ! "${toolchain[@]}" rustc --version >/dev/null 2>&1; then
    toolchain=(env RUSTC_BOOTSTRAP=1)
fi
# Left out: laws and scenes, which run the same code for minutes, and counts of allocations, to which a sanitizer adds its own.
address=(math:: forces:: collide:: solve:: step:: determinism::the_thread determinism::a_sheet determinism::a_state determinism::every_step)
# What works on several threads: whole scenes with contact take too long under ThreadSanitizer.
thread=(forces::gather collide::candidates collide::lanes collide::trees solve:: step::impulse_oracles determinism::the_thread determinism::a_sheet)

for sanitizer in ${@:-address thread}; do
    options=()
    declare -n modules=$sanitizer
    if [ "$sanitizer" = thread ]; then
        if [ ! -d "$("${toolchain[@]}" rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
            echo "SKIPPED: ThreadSanitizer: no sources of the standard library"
            continue
        fi
        options=(-Zbuild-std)
    fi
    printf '\n== %s, %s\n' "$sanitizer" "$("${toolchain[@]}" rustc --version)"
    RUSTFLAGS="-Zsanitizer=$sanitizer" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitize-$sanitizer" \
        "${toolchain[@]}" cargo test "${options[@]}" --target x86_64-unknown-linux-gnu -p taffeta --test engine -- \
        --skip allocation "${modules[@]}"
done
