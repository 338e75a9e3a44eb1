"""Imports an export into Blender with default settings and renders some of its frames, to look at.

Usage: python look.py EXPORT OUT.png [--lens MM] [FRAME...]; frames are those of the recording. A lens of 800 mm shows threads.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

words = sys.argv[1:]
lens = 50.0
if "--lens" in words:
    at = words.index("--lens")
    lens = float(words[at + 1])
    del words[at:at + 2]
file, out, frames = Path(words[0]).resolve(), Path(words[1]).resolve(), [int(n) for n in words[2:]] or [0]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 30
load = {
    ".usda": lambda: bpy.ops.wm.usd_import(filepath=str(file)),
    ".usdz": lambda: bpy.ops.wm.usd_import(filepath=str(file)),
    ".abc": lambda: bpy.ops.wm.alembic_import(filepath=str(file), as_background_job=False),
    ".glb": lambda: bpy.ops.import_scene.gltf(filepath=str(file)),
}
load[file.suffix]()
meshes = [o for o in scene.objects if o.type == "MESH"]
print([(o.name, len(o.data.vertices), [m.name for m in o.data.materials]) for o in meshes])
print("frames", scene.frame_start, "to", scene.frame_end)

scene.frame_set(frames[-1])
graph = bpy.context.evaluated_depsgraph_get()
# A floor is far larger than what stands on it.
corners = {o: np.array([o.evaluated_get(graph).matrix_world @ Vector(c) for c in o.evaluated_get(graph).bound_box]) for o in meshes}
solid = [c for c in corners.values() if np.ptp(c, axis=0).min() > 1e-3]
low, high = np.min([c.min(axis=0) for c in solid], axis=0), np.max([c.max(axis=0) for c in solid], axis=0)
middle, size = Vector((low + high) / 2), float(np.linalg.norm(high - low))

camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
camera.data.lens = lens
camera.location = middle + size * Vector((0.6, -1.25, 0.45))
camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
scene.collection.objects.link(camera)
scene.camera = camera
sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
sun.data.energy, sun.data.angle, sun.rotation_euler = 3, 0.2, (0.7, 0.2, 0.5)
scene.collection.objects.link(sun)
scene.world = bpy.data.worlds.new("world")
scene.world.use_nodes = True
scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.6, 0.65, 0.7, 1)
scene.render.engine = "CYCLES"
scene.cycles.samples, scene.cycles.use_denoising = 16, False
scene.render.resolution_x, scene.render.resolution_y = 480, 480
for frame in frames:
    scene.frame_set(frame)
    scene.render.filepath = str(out.with_stem(f"{out.stem}_{frame:04}"))
    bpy.ops.render.render(write_still=True)
