"""Imports every export with Blender's own readers, default settings, and compares each frame's world positions.

Usage: python blender.py FOLDER, with the folder that the example `record_sample` wrote.
"""

import glob
import os
import sys

import bpy
import numpy as np
from recording import Recording, report, z_up

folder = os.path.abspath(sys.argv[1])
recording = Recording(f"{folder}/sample.taffeta")
truth = z_up(recording.positions)
fps = round(1 / recording.frame_time)


def fresh():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = fps


def world_points(item, frame):
    """Evaluated vertices of an object in world space at a frame."""
    bpy.context.scene.frame_set(frame)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    matrix = np.array(evaluated.matrix_world)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def compare(what, item, part=slice(None)):
    """All frames of some of the particles."""
    def off(k, n):
        # Bodies follow the cloths where all is one mesh.
        own = truth[k, part]
        return np.abs(world_points(item, n)[: len(own)] - own).max()

    report(what, max(off(k, n) for k, n in enumerate(recording.numbers)))


def faces(item):
    return np.array([list(p.vertices) for p in item.data.polygons])


def compare_faces(what, item, part=slice(None), first=0):
    """The same triangles with the same sense of rotation, wherever each begins."""
    own = recording.triangles[part]
    turned = [np.roll(faces(item)[: len(own)], k, axis=1) for k in range(3)]
    same = np.any([np.all(t == own - first, axis=1) for t in turned], axis=0)
    assert same.all(), f"{what}: {np.count_nonzero(~same)} triangles differ"


def compare_uv(what, item, first=0):
    """Texture coordinates of every corner."""
    layer = item.data.uv_layers[0].data
    uv = np.array([tuple(layer[i].uv) for i in range(len(layer))])
    corners = np.array([loop.vertex_index for loop in item.data.loops])
    cloth = corners + first < recording.particles
    off = np.abs(uv[cloth] - recording.uv[corners[cloth] + first]).max()
    assert off < 1e-6, f"{what}: texture coordinates differ by {off}"


def turned(quaternion):
    """Rotation matrix of (x, y, z, w)."""
    x, y, z, w = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def compare_colliders(what):
    """The boxes around all colliders in all frames against those of the exact shapes."""
    for body, about in enumerate(recording.about["colliders"]):
        item, shape, off = bpy.data.objects[about["name"]], about["shape"], 0
        if item.type != "MESH":
            item = next(child for child in item.children_recursive if child.type == "MESH")
        for k, n in enumerate(recording.numbers):
            points = world_points(item, n)
            pose = recording.poses[k, body]
            rotation = turned(pose[3:])
            if shape == "Plane":
                off = max(off, np.abs(points[:, 2] - pose[1]).max())
                continue
            if "Sphere" in shape:
                half = np.full(3, shape["Sphere"]["radius"])
            elif "Capsule" in shape:
                half = np.abs(rotation[:, 1]) * shape["Capsule"]["half_length"] + shape["Capsule"]["radius"]
            else:
                half = np.abs(rotation) @ shape["Box"]["half_size"]
            half, centre = np.abs(z_up(half)), z_up(pose[:3])
            off = max(off, np.abs(points.max(axis=0) - centre - half).max(), np.abs(centre - half - points.min(axis=0)).max())
        # Readers make polyhedra of round things, which are smaller.
        flat = shape == "Plane" or "Box" in shape
        report(f"{what}: {about['name']}", off, 1e-6 if flat else 0.02)


def mesh_named(start):
    return next(o for o in bpy.data.objects if o.type == "MESH" and o.name.startswith(start))


print("Blender", bpy.app.version_string)

for extension, load in (("obj", bpy.ops.wm.obj_import), ("ply", bpy.ops.wm.ply_import)):
    off = 0
    for k, file in enumerate(sorted(glob.glob(f"{folder}/sample_{extension}/*.{extension}"))):
        fresh()
        load(filepath=file)
        item = bpy.context.selected_objects[0]
        off = max(off, np.abs(world_points(item, 1)[: recording.particles] - truth[k]).max())
    assert k + 1 == len(truth)
    compare_faces(extension, item)
    compare_uv(extension, item)
    report(f"{extension} sequence", off)

for kind in ("pc2", "mdd"):
    fresh()
    bpy.ops.wm.obj_import(filepath=f"{folder}/sample_{kind}.obj")
    item = bpy.context.selected_objects[0]
    modifier = item.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind.upper()
    modifier.filepath = f"{folder}/sample_{kind}.{kind}"
    compare(f"{kind} on its rest mesh, Mesh Cache modifier", item)

for name, load, file in (
    ("usd", bpy.ops.wm.usd_import, "sample_usd.usda"),
    ("alembic", bpy.ops.wm.alembic_import, "sample_alembic.abc"),
    ("gltf", bpy.ops.import_scene.gltf, "sample_gltf.glb"),
    ("usd, z up, in centimetres", bpy.ops.wm.usd_import, "turned.usda"),
    ("alembic with normals", bpy.ops.wm.alembic_import, "smooth.abc"),
):
    fresh()
    load(filepath=f"{folder}/{file}", **({"as_background_job": False} if "alembic" in name else {}))
    for cloth in recording.about["cloths"]:
        item = mesh_named(cloth["name"])
        first = cloth["particles"][0]
        compare(f"{name}: {cloth['name']}", item, slice(*cloth["particles"]))
        compare_faces(name, item, slice(*cloth["triangles"]), first)
        compare_uv(name, item, first)
        if "usd" in name:
            pinned = np.flatnonzero([v.value for v in item.data.attributes["pinned"].data]) + first
            own = [i for i in np.sort(recording.pinned) if i in range(*cloth["particles"])]
            assert len(own) > 1 and np.array_equal(pinned, own), "pins differ"
    compare_colliders(name)
    names = sorted(o.name for o in bpy.data.objects)
    if "alembic" not in name:
        # Blender gives the shapes of USD none.
        for cloth in recording.about["cloths"]:
            assert mesh_named(cloth["name"]).data.materials, f"{cloth['name']} has no material"
    print(f"    objects: {names}, frames {bpy.context.scene.frame_start} to {bpy.context.scene.frame_end}")
