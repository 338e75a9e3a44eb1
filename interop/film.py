"""Compares USD files of a run with its recording: points of every cloth, points and places of bodies, counts and extents.

Usage: python film.py RUN FILE..., with the folder of a run and files that were exported from it.
"""

import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdShade
from recording import Recording, report



def moments(body):
    """Points, or bones, of a body from moment to moment."""
    return body["moments"]["moments"] if isinstance(body["moments"], dict) else body["moments"]


def at_moment(body, number):
    """Points [m]: those that are there, or those that bones hold."""
    if not isinstance(body["moments"], dict):
        return np.array(body["moments"][number])
    skin, moment = body["moments"], body["moments"]["moments"][number]
    points = np.array(skin["rest"])
    for morph, part in zip(skin["morphs"], moment["morphs"]):
        if morph["points"]:
            points[morph["points"]] += part * np.array(morph["ways"])
    bones = np.array([np.ravel(bone) for bone in moment["bones"]]).reshape(-1, 4, 3)
    holder = np.repeat(np.arange(len(points)), np.diff([0, *skin["ends"]]))
    bone = np.array([share["bone"] for share in skin["shares"]])
    weight = np.array([share["weight"] for share in skin["shares"]])
    held = np.einsum("sa,sab->sb", points[holder], bones[bone, :3]) + bones[bone, 3]
    out = np.zeros_like(points)
    np.add.at(out, holder, weight[:, None] * held)
    return out


def deformed(body, time):
    """Points at a time [s]: on straight lines between moments."""
    pace, last = body["pace"], len(moments(body)) - 1
    passed = max((time - pace["start"]) / pace["interval"], 0)
    passed = passed % last if pace["repeats"] else min(passed, last)
    number = min(int(passed), last)
    a, b = at_moment(body, number), at_moment(body, min(number + 1, last))
    return a + (passed - number) * (b - a)


def placed(points, pose):
    """Points under a pose: position, and rotation as x y z w."""
    q = pose[3:6]
    turned = points + 2 * np.cross(q, np.cross(q, points) + pose[6] * points)
    return turned + pose[:3]


recording = Recording(f"{sys.argv[1]}/recording.taffeta")
for file in sys.argv[2:]:
    stage = Usd.Stage.Open(file)
    assert stage.GetTimeCodesPerSecond() == round(1 / recording.frame_time)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (recording.numbers[0], recording.numbers[-1])
    prims = {prim.GetDisplayName() or prim.GetName(): prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Gprim)}
    off = 0
    for cloth in recording.about["cloths"]:
        mesh = UsdGeom.Mesh(prims.pop(cloth["name"]))
        assert UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()[0], "no material"
        for k, number in enumerate(recording.numbers):
            points = np.array(mesh.GetPointsAttr().Get(number), dtype=float)
            truth = recording.positions[k, slice(*cloth["particles"])]
            assert points.shape == truth.shape, f"{cloth['name']}: {len(points)} points instead of {len(truth)}"
            off = max(off, np.abs(points - truth).max())
    report(f"{file.rsplit('/', 1)[-1]}: cloths", off)
    place = bodies = deforming = 0
    for k, about in enumerate(recording.about["colliders"]):
        if about["shape"] == "Plane":
            continue
        bodies += 1
        prim = prims.pop(about["name"])
        shape = about["shape"]
        body = next((s for s in (shape, *shape.values()) if isinstance(s, dict) and "pace" in s), None)
        if body and len(moments(body)) > 1:
            for frame, number in enumerate(recording.numbers):
                points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(number), dtype=float)
                truth = placed(deformed(body, recording.times[frame]), recording.poses[frame, k])
                deforming = max(deforming, np.abs(points - truth).max())
            continue
        for frame, number in enumerate(recording.numbers):
            matrix = UsdGeom.Imageable(prim).ComputeLocalToWorldTransform(number)
            place = max(place, np.abs(np.array(matrix.ExtractTranslation()) - recording.poses[frame, k, :3]).max())
    report(f"{file.rsplit('/', 1)[-1]}: places of {bodies} bodies", place)
    report(f"{file.rsplit('/', 1)[-1]}: points of bodies that deform", deforming)
    assert not prims, f"nobody knows {sorted(prims)}"
