#!/usr/bin/env bash
# All tables of this machine: scripts/results.sh NAME [--quick] writes results/NAME. Nothing else should run meanwhile.
# With a list of peers (peers/setup.sh) in PEERS they are compared too, which takes as long again: each has 20 s for a scene and a grid.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
shift
out=results/$name
cargo build --release -p taffeta-cli
taffeta=${CARGO_TARGET_DIR:-target}/release/taffeta

# Exit code 1 says that a row missed its goal; the page says which.
bench() { "$taffeta" bench "$@" --out "$out" || [ $? = 1 ]; }
bench papers "$@"
bench physics "$@"
bench compare hang --set cloth[0].sheet.columns=20 --set cloth[0].sheet.rows=20 --threads 1 "$@"
bench scale --scene drape --skip 20 --grid 50,100,200 --threads 1,2,4,8,16 "$@"
if [ -n "${PEERS:-}" ]; then
    bench peers "$PEERS" --scene hang,drape --grid 10,30,100 --frames 60 --seconds 10 --budget 20 --threads 1 "$@"
fi
