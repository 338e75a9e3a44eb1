"""Poses skeletons of USD and glTF files as their readers do, and compares the points of bodies with the recording.

Usage: python skeleton.py RUN FILE..., with the folder of a run and files that were exported from it with --bodies skeleton.
USD is posed by Pixar's library, glTF by gltf_pose.py.
"""

import sys

import numpy as np
from bodies import deformed, deforming, placed
from gltf_pose import load, pose
from recording import Recording

# Points of a recording go straight between the moments of a body, where joints turn [m].
BOUND = 1e-3


def usd_points(file, name):
    """Points of a body at a frame."""
    from pxr import Usd, UsdGeom, UsdSkel, Vt

    stage = Usd.Stage.Open(file)
    root = next(UsdSkel.Root(prim) for prim in stage.Traverse() if prim.IsA(UsdSkel.Root) and (prim.GetDisplayName() or prim.GetName()) == name)
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    [binding] = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    skeleton = cache.GetSkelQuery(binding.GetSkeleton())
    surface = next(UsdGeom.Mesh(prim) for prim in Usd.PrimRange(root.GetPrim()) if prim.IsA(UsdGeom.Mesh))
    skin, rest = cache.GetSkinningQuery(surface.GetPrim()), surface.GetPointsAttr().Get()

    # A stage that nobody holds takes what was asked of it along.
    def points(number, _, _held=stage):
        posed = Vt.Vec3fArray(list(rest))
        assert skin.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(number), posed, number)
        return np.array(posed, dtype=float)

    return points


def gltf_points(file, name):
    """Points of a body at a time."""
    doc, data = load(file)
    count = lambda node: sum(doc["accessors"][part["attributes"]["POSITION"]]["count"] for part in doc["meshes"][node["mesh"]]["primitives"])
    first, last = 0, 0
    for node in (doc["nodes"][k] for k in doc["scenes"][0]["nodes"] if "mesh" in doc["nodes"][k]):
        first, last = last, last + count(node)
        if node["name"] == name and "skin" in node:
            break
    else:
        sys.exit(f"{file}: no skin is called {name}")
    wanted = set(range(first, last))

    def points(_, time):
        posed, _ = pose(doc, data, doc["animations"][0], time, wanted)
        return np.array([posed[k] for k in range(first, last)])

    return points


recording = Recording(f"{sys.argv[1]}/recording.taffeta")
bodies = [(k, about["name"], deforming(about)) for k, about in enumerate(recording.about["colliders"])]
bodies = [(k, name, body) for k, name, body in bodies if body]
assert bodies, "no body of this run deforms"
for file in sys.argv[2:]:
    for k, name, body in bodies:
        points = (gltf_points if file.endswith(".glb") else usd_points)(file, name)
        off = 0
        # glTF is posed in plain Python, which takes its time.
        for frame in range(0, len(recording.numbers), 20 if file.endswith(".glb") else 1):
            number = recording.numbers[frame]
            truth = placed(deformed(body, recording.times[frame]), recording.poses[frame, k])
            off = max(off, np.linalg.norm(points(number, recording.times[frame] - recording.times[0]) - truth, axis=1).max())
        print(f"{file.rsplit('/', 1)[-1]}: points of `{name}` on its skeleton differ by {off:.1e} m")
        assert off < BOUND
