"""Reads OBJ, PLY and GLB with trimesh, and PC2 and MDD with numpy alone, and compares positions.

Usage: python meshes.py FOLDER, with the folder that the example `record_sample` wrote.
"""

import glob
import sys

import numpy as np
import trimesh
from recording import Recording, report, z_up

folder = sys.argv[1]
recording = Recording(f"{folder}/sample.taffeta")
print("trimesh", trimesh.__version__, "numpy", np.__version__)

for extension, place in (("obj", lambda p: p), ("ply", z_up)):
    files = sorted(glob.glob(f"{folder}/sample_{extension}/*"))
    assert len(files) == len(recording.numbers)
    off = 0
    for k, file in enumerate(files):
        mesh = trimesh.load(file, process=False, maintain_order=True)
        assert np.array_equal(mesh.faces, recording.triangles), file
        off = max(off, np.abs(mesh.vertices - place(recording.positions[k])).max())
    report(f"{extension} sequence", off)

scene = trimesh.load(f"{folder}/sample_gltf.glb", process=False)
for cloth in recording.about["cloths"]:
    mesh, part = scene.geometry[cloth["name"]], slice(*cloth["particles"])
    assert np.array_equal(mesh.faces + part.start, recording.triangles[slice(*cloth["triangles"])])
    report(f"glb, first frame: {cloth['name']}", np.abs(mesh.vertices - recording.positions[0, part]).max())

data = open(f"{folder}/sample_pc2.pc2", "rb").read()
assert data[:12] == b"POINTCACHE2\0"
version, points = np.frombuffer(data, "<i4", 2, 12)
start, rate = np.frombuffer(data, "<f4", 2, 20)
samples = np.frombuffer(data, "<i4", 1, 28)[0]
assert (version, points, start, rate) == (1, recording.particles, recording.numbers[0], 1)
cache = np.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3)
report("pc2", np.abs(cache - recording.positions).max())

data = open(f"{folder}/sample_mdd.mdd", "rb").read()
samples, points = np.frombuffer(data, ">i4", 2)
times = np.frombuffer(data, ">f4", samples, 8)
assert np.allclose(times, recording.times, atol=1e-6)
cache = np.frombuffer(data, ">f4", offset=8 + 4 * samples).reshape(samples, points, 3)
report("mdd", np.abs(cache - recording.positions).max())
