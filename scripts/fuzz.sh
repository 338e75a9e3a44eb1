#!/usr/bin/env bash
# Feeds the readers of files with what libFuzzer makes up: scripts/fuzz.sh [RUNS [TARGET...]]
# So many executions of every target (10 million unless told otherwise) from the seeds in crates/taffeta-io/tests/corpus. Any compiler that
# builds Taffeta will do. A line for each target goes to out/fuzz/log.txt; what breaks a target stays in out/fuzz/TARGET, and the script
# then ends with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-10000000}"
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(obj ply stl gltf scene recording dxf svg)

host="$(rustc -vV | sed -n 's/^host: //p')"
built="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
coverage=(level=4 inline-8bit-counters pc-table trace-compares)
# Reached code is counted by LLVM's own pass; sums that overflow end a run, as they do in a debug build.
flags="--cfg fuzzing -Ccodegen-units=1 -Coverflow-checks=on -Cdebug-assertions=on -Cpasses=sancov-module ${coverage[*]/#/-Cllvm-args=-sanitizer-coverage-}"
RUSTFLAGS="$flags" CARGO_TARGET_DIR="$built" cargo build --release --manifest-path fuzz/Cargo.toml --target "$host"

mkdir -p out/fuzz
failed=0
for target in "${targets[@]}"; do
    found="out/fuzz/$target"
    mkdir -p "$found/corpus"
    seeds=("$found/corpus" "crates/taffeta-io/tests/corpus/$target")
    [ "$target" != scene ] || seeds+=(scenes scenes/bad)
    began=$SECONDS
    # Memory and time of one input are bounded: a file of a few kilobytes may not take more.
    result=held
    "$built/$host/release/$target" "${seeds[@]}" -runs="$runs" -seed=1 -max_len=65536 -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$found/" \
        -print_final_stats=1 >"$found/output.txt" 2>&1 || { result=BROKE; failed=1; }
    executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/output.txt")"
    covered="$(grep -o 'cov: [0-9]*' "$found/output.txt" | tail -1)"
    printf '%s  %-9s %s: %s executions, %s, %s inputs kept, %s s\n' "$(date -u +%Y-%m-%d)" "$target" "$result" "${executions:-no}" \
        "${covered:-cov: 0}" "$(ls "$found/corpus" | wc -l)" $((SECONDS - began)) | tee -a out/fuzz/log.txt
done
exit $failed
