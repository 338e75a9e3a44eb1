#!/usr/bin/env bash
# Makes the pictures of the README and of the scenes in docs anew: scripts/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
taffeta() { cargo run --release --quiet -- "$@"; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
picture() { # SCENE FRAME SIZE OPTIONS...
    local scene=$1 frame=$2 size=$3
    shift 3
    taffeta run "$scene" --frames "$frame" --out "$out/$scene" --overwrite --no-picture --quiet --lenient
    taffeta render "$out/$scene/recording.taffeta" --size "$size" --final --out "docs/pictures/$scene.png" "$@"
}
picture drape 60 960x540
picture flag 75 960x540
picture hang 14 960x540 --color strain
picture objects 20 960x540
picture tablecloth-pull 19 960x540
picture catch 6 960x540
picture shirt 133 480x600
for scene in cuff a-line; do
    taffeta run "docs/pictures/$scene.toml" --out "$out/$scene" --overwrite --no-picture --quiet --lenient
done
taffeta render "$out/cuff" --size 320x400 --final --out docs/pictures/cuff.png
taffeta render "$out/a-line" --size 320x400 --final --color ease --out docs/pictures/a-line.png
taffeta export skirt-spin --out docs/pictures/pattern.svg --replace --quiet
taffeta fit docs/pictures/poplin.toml --out "$out/poplin" --quiet
cp "$out/poplin/residuals.svg" docs/pictures/fit-residuals.svg
# The page needs npm and Chromium.
(cd crates/taffeta-view/web && npm ci --no-audit --no-fund && node tests/picture.mjs ../../../docs/pictures/viewer.png)
