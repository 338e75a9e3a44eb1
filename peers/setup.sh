#!/usr/bin/env bash
# Installs the peers into a folder and writes the list that `taffeta bench peers` reads:
#     peers/setup.sh FOLDER && cargo run --release -- bench peers FOLDER/peers.json --out results/peers
# Needs python3 (3.11 for Blender), npm and cargo. What cannot be installed is said and left out.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1" || exit 1
root=$PWD

# Three environments keep apart what does not agree.
venv() {
    local name=$1
    shift
    [ -x "$name/bin/python" ] || python3 -m venv "$name" || return 1
    "$name/bin/pip" install --quiet --upgrade "$@"
}
venv v1 numpy pyPBD mujoco pybullet || echo "SKIPPED: pyPBD, MuJoCo or PyBullet"
venv v2 numpy bpy || echo "SKIPPED: Blender"
venv v3 numpy newton || echo "SKIPPED: Newton"
mkdir -p js && (cd js && { [ -f package.json ] || npm init -y >/dev/null; } && npm install --silent jolt-physics) || echo "SKIPPED: Jolt"
cargo build --release --quiet --manifest-path "$here/rapier/Cargo.toml" --target-dir "$root/rapier" || echo "SKIPPED: Rapier"

python3 "$here/ladders.py" "$here" "$root" >peers.json && echo "$root/peers.json"
