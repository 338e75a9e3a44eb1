#!/usr/bin/env bash
# Makes the mesh of scenes/meshes/knot.toml anew, a ribbon in a loose overhand knot (a trefoil cut open): scripts/knot.sh
set -euo pipefail
cd "$(dirname "$0")/.."
awk -v scale=0.036 -v edge=0.01 -v across=5 -v gap=0.42 -v tail=0.3 '
function trefoil(t) {
    P[0] = scale * (sin(t) + 2 * sin(2 * t)); P[1] = scale * (cos(t) - 2 * cos(2 * t)); P[2] = -1.6 * scale * sin(3 * t)
}
function unit(v,    l) { l = sqrt(v[0] ^ 2 + v[1] ^ 2 + v[2] ^ 2); v[0] /= l; v[1] /= l; v[2] /= l }
# One more point, if it is an edge away from the last.
function add(    d) {
    d = count ? sqrt((P[0] - x[count - 1]) ^ 2 + (P[1] - y[count - 1]) ^ 2 + (P[2] - z[count - 1]) ^ 2) : edge
    if (d >= edge) { x[count] = P[0]; y[count] = P[1]; z[count] = P[2]; count++ }
}
# Points of an end that leaves the knot at t, at first as the knot does (forward or backward), then straight outward.
function leave(t, way,    k, u, j) {
    trefoil(t - way * 0.001); for (j = 0; j < 3; j++) Q[j] = P[j]
    trefoil(t); for (j = 0; j < 3; j++) D[j] = P[j] - Q[j]
    R[0] = P[0]; R[1] = P[1]; R[2] = 0; unit(R); unit(D)
    steps = int(tail / 0.001)
    for (k = 0; k <= steps; k++) {
        ex[k] = P[0]; ey[k] = P[1]; ez[k] = P[2]
        u = k / steps * 6; if (u > 1) u = 1
        for (j = 0; j < 3; j++) S[j] = (1 - u) * D[j] + u * R[j]
        unit(S); for (j = 0; j < 3; j++) P[j] += 0.001 * S[j]
    }
}
BEGIN {
    count = 0; turn = 8 * atan2(1, 1); from = turn / 2 + gap; to = turn / 2 + turn - gap
    leave(from, -1); for (k = steps; k > 0; k--) { P[0] = ex[k]; P[1] = ey[k]; P[2] = ez[k]; add() }
    for (k = 0; k <= 20000; k++) { trefoil(from + (to - from) * k / 20000); add() }
    leave(to, 1); for (k = 1; k <= steps; k++) { P[0] = ex[k]; P[1] = ey[k]; P[2] = ez[k]; add() }
    print "# A ribbon in a loose overhand knot, " count " points long and " across " wide; made by scripts/knot.sh"
    W[0] = 0; W[1] = 0; W[2] = 1
    for (i = 0; i < count; i++) {
        a = i > 0 ? i - 1 : 0; b = i < count - 1 ? i + 1 : i
        D[0] = x[b] - x[a]; D[1] = y[b] - y[a]; D[2] = z[b] - z[a]; unit(D)
        # The ribbon turns no more than it must: what is across stays so.
        dot = W[0] * D[0] + W[1] * D[1] + W[2] * D[2]
        for (j = 0; j < 3; j++) W[j] -= dot * D[j]
        unit(W)
        for (k = 0; k < across; k++) {
            s = edge * (k - (across - 1) / 2)
            printf "v %.6f %.6f %.6f\n", x[i] + s * W[0], y[i] + s * W[1], z[i] + s * W[2]
        }
    }
    for (i = 0; i + 1 < count; i++) for (k = 1; k < across; k++) {
        a = i * across + k; b = a + across
        print "f", a, b, b + 1, a + 1
    }
}' > scenes/meshes/knot.obj
