"""Poses of an animated GLB file by an evaluation of its own, in plain Python: what the readers of Taffeta are held against.

Usage: python gltf_pose.py FILE CLIP TIME [VERTEX...]   prints x y z of vertices, counted through all parts in the order of the scene
       python gltf_pose.py FILE                         prints the clips and the number of vertices
"""

import json
import math
import struct
import sys

TYPES = {5120: ("b", 127), 5121: ("B", 255), 5122: ("h", 32767), 5123: ("H", 65535), 5125: ("I", 0), 5126: ("f", 0)}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def accessor(doc, data, index, unit=False):
    """All elements as lists of numbers; whole numbers as parts of their largest if `unit`."""
    about = doc["accessors"][index]
    code, largest = TYPES[about["componentType"]]
    width, size = WIDTHS[about["type"]], struct.calcsize("<" + code)

    def rows(view_index, offset, count, code, width):
        view = doc["bufferViews"][view_index]
        size = struct.calcsize("<" + code) * width
        stride = view.get("byteStride", size)
        start = view.get("byteOffset", 0) + offset
        return [list(struct.unpack_from("<" + code * width, data, start + k * stride)) for k in range(count)]

    if "bufferView" in about:
        found = rows(about["bufferView"], about.get("byteOffset", 0), about["count"], code, width)
    else:
        found = [[0] * width for _ in range(about["count"])]
    if "sparse" in about:
        sparse = about["sparse"]
        where, what = sparse["indices"], sparse["values"]
        places = rows(where["bufferView"], where.get("byteOffset", 0), sparse["count"], TYPES[where["componentType"]][0], 1)
        values = rows(what["bufferView"], what.get("byteOffset", 0), sparse["count"], code, width)
        for [place], value in zip(places, values):
            found[place] = value
    if (unit or about.get("normalized")) and largest:
        found = [[max(n / largest, -1) for n in row] for row in found]
    return found


def times(a, b):
    """The product of two 4 x 4 matrices, lists of columns."""
    return [[sum(a[k][r] * column[k] for k in range(4)) for r in range(4)] for column in b]


def matrix_of(t, r, s):
    x, y, z, w = r
    length = math.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / length, y / length, z / length, w / length
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
        [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
        [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
    ]
    return [[n * s[k] for n in turn[k]] + [0] for k in range(3)] + [list(t) + [1]]


def sample(keys, values, how, time, turns):
    """A track at a time."""
    rows = 3 if how == "CUBICSPLINE" else 1
    at = lambda k, row=1: values[3 * k + row] if rows == 3 else values[k]
    if time <= keys[0]:
        return at(0)
    if time >= keys[-1]:
        return at(len(keys) - 1)
    k = max(i for i, key in enumerate(keys) if key <= time)
    span = keys[k + 1] - keys[k]
    s = (time - keys[k]) / span
    a, b = at(k), at(k + 1)
    if how == "STEP":
        return a
    if rows == 3:
        m, n = at(k, 2), at(k + 1, 0)
        h = [2 * s**3 - 3 * s**2 + 1, span * (s**3 - 2 * s**2 + s), 3 * s**2 - 2 * s**3, span * (s**3 - s**2)]
        return [h[0] * p + h[1] * u + h[2] * q + h[3] * v for p, u, q, v in zip(a, m, b, n)]
    if turns:
        cosine = sum(p * q for p, q in zip(a, b))
        if cosine < 0:
            b, cosine = [-q for q in b], -cosine
        angle = math.acos(min(cosine, 1))
        if angle > 1e-6:
            u, v = math.sin((1 - s) * angle) / math.sin(angle), math.sin(s * angle) / math.sin(angle)
            return [u * p + v * q for p, q in zip(a, b)]
    return [p + s * (q - p) for p, q in zip(a, b)]


def load(path):
    raw = open(path, "rb").read()
    length = struct.unpack_from("<I", raw, 12)[0]
    return json.loads(raw[20 : 20 + length]), raw[28 + length :]


def pose(doc, data, clip, time, wanted=None):
    """All vertices at a time of a clip, or the wanted ones."""
    nodes = doc["nodes"]
    moved = [dict(node) for node in nodes]
    for channel in clip["channels"]:
        sampler, target = clip["samplers"][channel["sampler"]], channel["target"]
        keys = [row[0] for row in accessor(doc, data, sampler["input"])]
        values = accessor(doc, data, sampler["output"], unit=True)
        how = sampler.get("interpolation", "LINEAR")
        if target["path"] == "weights":
            wide = len(values) // len(keys) // (3 if how == "CUBICSPLINE" else 1)
            flat = [row[0] for row in values]
            values = [flat[k * wide : (k + 1) * wide] for k in range(len(flat) // wide)]
        moved[target["node"]][target["path"]] = sample(keys, values, how, time, target["path"] == "rotation")
    world = {}

    def place(k, parent):
        node = moved[k]
        if "matrix" in node:
            own = [node["matrix"][4 * c : 4 * c + 4] for c in range(4)]
        else:
            own = matrix_of(node.get("translation", [0, 0, 0]), node.get("rotation", [0, 0, 0, 1]), node.get("scale", [1, 1, 1]))
        world[k] = times(parent, own)
        for child in node.get("children", []):
            place(child, world[k])

    one = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    order, roots = [], doc["scenes"][doc.get("scene", 0)]["nodes"]
    for root in roots:
        place(root, one)

    def draws(k):
        if "mesh" in nodes[k]:
            order.append(k)
        for child in nodes[k].get("children", []):
            draws(child)

    for root in roots:
        draws(root)
    out, number = {}, 0
    for k in order:
        node, mesh, known = moved[k], doc["meshes"][nodes[k]["mesh"]], set()
        weights = node.get("weights", mesh.get("weights", []))
        bones = None
        if "skin" in node:
            skin = doc["skins"][node["skin"]]
            unbound = accessor(doc, data, skin["inverseBindMatrices"])
            bones = [times(world[j], [m[4 * c : 4 * c + 4] for c in range(4)]) for j, m in zip(skin["joints"], unbound)]
        for part in mesh["primitives"]:
            lists = (part["attributes"]["POSITION"], part["attributes"].get("TEXCOORD_0"))
            if lists in known:
                continue
            known.add(lists)
            points = accessor(doc, data, part["attributes"]["POSITION"])
            shapes = [accessor(doc, data, t["POSITION"]) for t in part.get("targets", [])]
            joints = accessor(doc, data, part["attributes"]["JOINTS_0"]) if bones else None
            shares = accessor(doc, data, part["attributes"]["WEIGHTS_0"], unit=True) if bones else None
            for i, p in enumerate(points):
                if wanted is None or number + i in wanted:
                    for weight, shape in zip(weights, shapes):
                        p = [a + weight * b for a, b in zip(p, shape[i])]
                    held = list(zip([bones[j] for j in joints[i]], shares[i])) if bones else [(world[k], 1)]
                    total = sum(share for _, share in held)
                    out[number + i] = [
                        sum(s / total * (m[0][r] * p[0] + m[1][r] * p[1] + m[2][r] * p[2] + m[3][r]) for m, s in held)
                        for r in range(3)
                    ]
            number += len(points)
    return out, number


if __name__ == "__main__":
    doc, data = load(sys.argv[1])
    clips = doc["animations"]
    if len(sys.argv) < 4:
        for clip in clips:
            last = max(accessor(doc, data, s["input"])[-1][0] for s in clip["samplers"])
            print(clip.get("name", ""), last)
        print(pose(doc, data, clips[0], 0.0, set())[1], "vertices")
    else:
        clip = next((c for c in clips if c.get("name") == sys.argv[2]), None) or clips[int(sys.argv[2])]
        wanted = {int(n) for n in sys.argv[4:]}
        for number, point in sorted(pose(doc, data, clip, float(sys.argv[3]), wanted or None)[0].items()):
            print(number, *(f"{x:.9f}" for x in point))
