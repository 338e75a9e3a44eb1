#!/usr/bin/env python3
"""Writes a pattern of this program (docs/garments.md) from a GarmentCode specification: garmentcode.py SPEC.json > PATTERN.toml"""

import json
import sys

# Panels that meet in the middle would touch: each starts so much further out [m].
OUTWARDS = 0.01


def control_points(edge, points):
    """Control points of a curved edge. They are given along the edge and across it, to its left, in lengths of the edge."""
    (ax, ay), (bx, by) = (points[i] for i in edge["endpoints"])
    dx, dy = bx - ax, by - ay
    curve = edge.get("curvature")
    if curve is None:
        return []
    if curve["type"] not in ("quadratic", "cubic"):
        sys.exit(f"an edge is a {curve['type']}; only quadratic and cubic curves are known")
    return [[ax + s * dx - t * dy, ay + s * dy + t * dx] for s, t in curve["params"]]


def panel(name, spec, metre):
    """A panel, drawn against the clock as seen from outside: one that runs with the clock is seen from behind."""
    points = spec["vertices"]
    outline = [points[edge["endpoints"][0]] for edge in spec["edges"]]
    pairs = list(zip(outline, outline[1:] + outline[:1]))
    mirror = -1 if sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs) < 0 else 1
    at = lambda p: f"[{mirror * p[0] / metre:.6f}, {p[1] / metre:.6f}]"
    rx, ry, rz = spec["rotation"]
    if mirror < 0 and (rx or ry):
        sys.exit(f"panel {name} is turned about x or y and seen from behind, which is not known")
    lines = ["[[panel]]", f'name = "{name}"', f"start = {at(outline[0])}", "edge = ["]
    for number, edge in enumerate(spec["edges"]):
        via = ", ".join(at(p) for p in control_points(edge, points))
        lines.append(f'    {{ name = "{number}", to = {at(points[edge["endpoints"][1]])}, via = [{via}] }},')
    x, y, z = (x / metre for x in spec["translation"])
    middle = x + sum(p[0] for p in outline) / len(outline) / metre
    place = f"{x + (OUTWARDS if middle > 0 else -OUTWARDS):.6f}, {y:.6f}, {z:.6f}"
    turn = [rx, 180 if mirror < 0 else ry, rz]
    return lines + ["]", f"position = [{place}]", f"rotation = {turn}", ""]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    metre = spec.get("properties", {}).get("units_in_meter", 100)
    lines = []
    for name, of in spec["pattern"]["panels"].items():
        lines += panel(name, of, metre)
    for sides in spec["pattern"]["stitches"]:
        join = ", ".join(f'"{side["panel"]}.{side["edge"]}"' for side in sides[:2])
        lines += ["[[seam]]", f"join = [{join}]"]
    print("\n".join(lines))


main()
