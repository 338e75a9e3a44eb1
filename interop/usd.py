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
    for cloth in recording.about["cloths"]:
        compare_cloth(f"{name}: {cloth['name']}", stage, cloth, place, unit)
    ball = 0
    for k, number in enumerate(recording.numbers):
        # A point off the centre shows the rotation too.
        matrix = UsdGeom.Imageable.Get(stage, "/World/ball").ComputeLocalToWorldTransform(number)
        local = np.array([0.1, 0.2, 0.05])
        world = np.array(matrix.Transform(Gf.Vec3d(*(local / unit)))) * unit
        pose = recording.poses[k, 0]
        rotation = Gf.Rotation(Gf.Quatd(float(pose[6]), *(float(x) for x in pose[3:6])))
        turned = np.array(rotation.TransformDir(Gf.Vec3d(*local)))
        ball = max(ball, np.abs(world - place(pose[:3] + turned)).max())
    report(f"{name}: a point of the moving ball", ball)


def compare_cloth(what, stage, cloth, place, unit):
    particles = slice(*cloth["particles"])
    triangles = recording.triangles[slice(*cloth["triangles"])] - particles.start
    mesh = UsdGeom.Mesh.Get(stage, f"/World/{cloth['name']}")
    assert np.array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), triangles)
    api = UsdGeom.PrimvarsAPI(mesh)
    assert np.allclose(api.GetPrimvar("st").Get(), recording.uv[particles], atol=1e-6)
    pinned = np.flatnonzero(api.GetPrimvar("pinned").Get()) + particles.start
    assert np.array_equal(pinned, [i for i in np.sort(recording.pinned) if particles.start <= i < particles.stop])
    off = box = normal = 0
    for k, number in enumerate(recording.numbers):
        points = np.array(mesh.GetPointsAttr().Get(number), dtype=float) * unit
        truth = place(recording.positions[k, particles])
        off = max(off, np.abs(points - truth).max())
        extent = np.array(mesh.GetExtentAttr().Get(number), dtype=float) * unit
        box = max(box, np.abs(extent - [truth.min(axis=0), truth.max(axis=0)]).max())
        a, b, c = (truth[triangles[:, i]] for i in range(3))
        smooth = np.zeros_like(truth)
        for i in range(3):
            np.add.at(smooth, triangles[:, i], np.cross(b - a, c - a))
        smooth /= np.linalg.norm(smooth, axis=1)[:, None]
        normal = max(normal, np.abs(np.array(mesh.GetNormalsAttr().Get(number)) - smooth).max())
    report(f"{what}: points", off)
    report(f"{what}: extent", box)
    print(f"{what}: normals differ by {normal:.1e}")
    assert normal < 1e-5


print("usd-core", ".".join(map(str, Usd.GetVersion()[1:])))
compare("sample_usd.usda", lambda p: p, 1)
compare("turned.usda", z_up, 0.01)
