"""Opens the USD exports with Pixar's library, runs all of its validators, and compares points, normals and colliders.

Usage: python usd.py FOLDER, with the folder that the example `record_sample` wrote.
"""

import sys

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdValidation
from recording import Recording, report, z_up

folder = sys.argv[1]
recording = Recording(f"{folder}/sample.taffeta")


def validate(stage):
    """Every registered validator, which is what usdchecker runs."""
    registry = UsdValidation.ValidationRegistry()
    validators = [registry.GetOrLoadValidatorByName(m.name) for m in registry.GetAllValidatorMetadata() if not m.isSuite]
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    for error in errors:
        print("   ", error.GetErrorAsString())
    assert not errors, f"{len(errors)} complaints"
    return len(validators)


def compare(name, place, unit):
    stage = Usd.Stage.Open(f"{folder}/{name}")
    print(f"{name}: {validate(stage)} validators have no complaint")
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (recording.numbers[0], recording.numbers[-1])
    assert stage.GetTimeCodesPerSecond() == round(1 / recording.frame_time)
    assert UsdGeom.GetStageMetersPerUnit(stage) == unit
    mesh = UsdGeom.Mesh.Get(stage, "/World/curtain")
    assert np.array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), recording.triangles)
    api = UsdGeom.PrimvarsAPI(mesh)
    assert np.allclose(api.GetPrimvar("st").Get(), recording.uv, atol=1e-6)
    assert np.array_equal(np.flatnonzero(api.GetPrimvar("pinned").Get()), np.sort(recording.pinned))
    off = box = normal = ball = 0
    for k, number in enumerate(recording.numbers):
        points = np.array(mesh.GetPointsAttr().Get(number), dtype=float) * unit
        truth = place(recording.positions[k])
        off = max(off, np.abs(points - truth).max())
        extent = np.array(mesh.GetExtentAttr().Get(number), dtype=float) * unit
        box = max(box, np.abs(extent - [truth.min(axis=0), truth.max(axis=0)]).max())
        a, b, c = (truth[recording.triangles[:, i]] for i in range(3))
        smooth = np.zeros_like(truth)
        for i in range(3):
            np.add.at(smooth, recording.triangles[:, i], np.cross(b - a, c - a))
        smooth /= np.linalg.norm(smooth, axis=1)[:, None]
        normal = max(normal, np.abs(np.array(mesh.GetNormalsAttr().Get(number)) - smooth).max())
        # A point off the centre shows the rotation too.
        matrix = UsdGeom.Imageable.Get(stage, "/World/ball").ComputeLocalToWorldTransform(number)
        local = np.array([0.1, 0.2, 0.05])
        world = np.array(matrix.Transform(Gf.Vec3d(*(local / unit)))) * unit
        pose = recording.poses[k, 0]
        rotation = Gf.Rotation(Gf.Quatd(float(pose[6]), *(float(x) for x in pose[3:6])))
        turned = np.array(rotation.TransformDir(Gf.Vec3d(*local)))
        ball = max(ball, np.abs(world - place(pose[:3] + turned)).max())
    report(f"{name}: points", off)
    report(f"{name}: extent", box)
    report(f"{name}: a point of the moving ball", ball)
    print(f"{name}: normals differ by {normal:.1e}")
    assert normal < 1e-5


print("usd-core", ".".join(map(str, Usd.GetVersion()[1:])))
compare("sample_usd.usda", lambda p: p, 1)
compare("turned.usda", z_up, 0.01)
