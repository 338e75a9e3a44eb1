"""Compares USD files of a run with its recording: points of every cloth, points and places of bodies, counts and extents.

Usage: python film.py RUN FILE..., with the folder of a run and files that were exported from it.
"""

import sys

import numpy as np
from bodies import deformed, deforming, placed
from pxr import Usd, UsdGeom, UsdShade
from recording import Recording, report

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
    place = bodies = off = 0
    for k, about in enumerate(recording.about["colliders"]):
        if about["shape"] == "Plane":
            continue
        bodies += 1
        prim = prims.pop(about["name"])
        body = deforming(about)
        if body:
            for frame, number in enumerate(recording.numbers):
                points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(number), dtype=float)
                truth = placed(deformed(body, recording.times[frame]), recording.poses[frame, k])
                off = max(off, np.abs(points - truth).max())
            continue
        for frame, number in enumerate(recording.numbers):
            matrix = UsdGeom.Imageable(prim).ComputeLocalToWorldTransform(number)
            place = max(place, np.abs(np.array(matrix.ExtractTranslation()) - recording.poses[frame, k, :3]).max())
    report(f"{file.rsplit('/', 1)[-1]}: places of {bodies} bodies", place)
    report(f"{file.rsplit('/', 1)[-1]}: points of bodies that deform", off)
    assert not prims, f"nobody knows {sorted(prims)}"
