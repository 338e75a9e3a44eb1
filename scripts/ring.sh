#!/usr/bin/env bash
# Makes the mesh of scenes/meshes/ring.toml anew, a ring that lies flat: scripts/ring.sh
set -euo pipefail
cd "$(dirname "$0")/.."
awk -v around=40 -v across=16 -v radius=0.3 -v tube=0.06 'BEGIN {
    turn = 8 * atan2(1, 1)
    print "# A ring of radius " radius " m, its tube of radius " tube " m; made by scripts/ring.sh"
    for (i = 0; i < around; i++) for (j = 0; j < across; j++) {
        out = radius + tube * cos(turn * j / across)
        printf "v %.6f %.6f %.6f\n", out * cos(turn * i / around), tube * sin(turn * j / across), -out * sin(turn * i / around)
    }
    for (i = 0; i < around; i++) for (j = 0; j < across; j++) {
        a = i * across; b = (i + 1) % around * across; k = (j + 1) % across
        print "f", a + j + 1, b + j + 1, b + k + 1, a + k + 1
    }
}' > scenes/meshes/ring.obj
