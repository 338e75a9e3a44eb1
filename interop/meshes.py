"""Reads OBJ, PLY and GLB with trimesh, and PC2 and MDD with numpy alone, and compares positions.

Usage: python meshes.py FOLDER, with the folder that the example `record_sample` wrote.
"""

import glob
import json
import sys

import numpy as np
import trimesh
from recording import Recording, report, z_up

folder = sys.argv[1]
recording = Recording(f"{folder}/sample.taffeta")
print("trimesh", trimesh.__version__, "numpy", np.__version__)

for extension, place in (("obj", lambda p: p), ("ply", z_up)):
    files = sorted(glob.glob(f"{folder}/sample_{extension}/*.{extension}"))
    assert len(files) == len(recording.numbers)
    off = 0
    for k, file in enumerate(files):
        mesh, truth = trimesh.load(file, process=False, maintain_order=True), place(recording.positions[k])
        # A mesh with materials is taken apart, a piece for each.
        names = [cloth["name"] for cloth in recording.about["cloths"]]
        pieces = [mesh.geometry[name] for name in names + ["ball"]] if hasattr(mesh, "geometry") else [mesh]
        corners = np.concatenate([piece.vertices[piece.faces] for piece in pieces])
        # Bodies follow the cloths.
        assert len(corners) > len(recording.triangles), "no bodies"
        off = max(off, np.abs(corners[: len(recording.triangles)] - truth[recording.triangles]).max())
    report(f"{extension} sequence", off)

# trimesh knows no morph targets: it shows the frame that is the mesh itself, the one that is no target.
scene = trimesh.load(f"{folder}/sample_gltf.glb", process=False)
data = open(f"{folder}/sample_gltf.glb", "rb").read()
document = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
targets = {int(name.split()[-1]) for name in document["meshes"][0]["extras"]["targetNames"]}
(base,) = set(recording.numbers) - targets
for cloth in recording.about["cloths"]:
    mesh, part = scene.geometry[cloth["name"]], slice(*cloth["particles"])
    assert np.array_equal(mesh.faces + part.start, recording.triangles[slice(*cloth["triangles"])])
    report(f"glb, frame {base}: {cloth['name']}", np.abs(mesh.vertices - recording.positions[recording.numbers.index(base), part]).max())

data = open(f"{folder}/sample_pc2.pc2", "rb").read()
assert data[:12] == b"POINTCACHE2\0"
version, points = np.frombuffer(data, "<i4", 2, 12)
start, rate = np.frombuffer(data, "<f4", 2, 20)
samples = np.frombuffer(data, "<i4", 1, 28)[0]
assert (version, start, rate) == (1, recording.numbers[0], 1) and points > recording.particles
cache = np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)
report("pc2", np.abs(cache[:, : recording.particles] - recording.positions).max())

data = open(f"{folder}/sample_mdd.mdd", "rb").read()
samples, points = np.frombuffer(data, ">i4", 2)
times = np.frombuffer(data, ">f4", samples, 8)
assert np.allclose(times, recording.times, atol=1e-6)
cache = np.frombuffer(data, ">f4", offset=8 + 4 * samples).reshape(samples, points, 3)
report("mdd", np.abs(cache[:, : recording.particles] - recording.positions).max())
