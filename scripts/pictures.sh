#!/usr/bin/env bash
# Makes the pictures of the README anew: scripts/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
taffeta() { cargo run --release --quiet -- "$@"; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
picture() { # NAME SCENE FRAMES FRAME OPTIONS...
    local name=$1 scene=$2 frames=$3 frame=$4
    shift 4
    taffeta run "$scene" --frames "$frames" --out "$out/$name" --no-picture --quiet
    taffeta render "$out/$name/recording.taffeta" --frame "$frame" --size 960x540 --final --out "docs/pictures/$name.png" "$@"
}
picture drape drape 60 60
picture flag flag 75 75
picture hang hang 45 14 --color strain
# The page needs npm and Chromium.
(cd crates/taffeta-view/web && npm ci --no-audit --no-fund && node tests/picture.mjs ../../../docs/pictures/viewer.png)
