"""Files on disk that Blender plays without the extension: a point cache (PC2) for each cloth, and the certificates."""

import json
import re
import struct
from pathlib import Path

import bpy
import numpy as np

from .collect import MODIFIER, apply, to_blender

HEADER = struct.Struct("<12siiffi")
PROPERTY = "taffeta_strain"


def folder_of(scene):
    """Where the files of a scene lie: beside the .blend, or among temporary files until it is saved."""
    name = "taffeta_" + re.sub(r"\W", "_", scene.name)
    base = bpy.path.abspath("//") if bpy.data.filepath else bpy.app.tempdir
    return Path(base) / name


class PointCacheWriter:
    """A PC2 file that grows by a frame at a time and is whole after each."""

    def __init__(self, path, vertices):
        self.path, self.vertices, self.frames = path, vertices, 0
        path.write_bytes(self._header())

    def add(self, points):
        """Writes the vertices of the next frame, in the space of the object."""
        with self.path.open("r+b") as file:
            file.seek(HEADER.size + 12 * self.vertices * self.frames)
            file.write(np.ascontiguousarray(points, "<f4").tobytes())
            self.frames += 1
            file.seek(0)
            file.write(self._header())

    def _header(self):
        return HEADER.pack(b"POINTCACHE2\0", 1, self.vertices, 0.0, 1.0, self.frames)


class Cache:
    """All files of a simulation."""

    def __init__(self, folder, collected):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.collected, self.certificates = folder, collected, []
        self.writers = [PointCacheWriter(folder / f"{k}.pc2", part.vertex_count) for k, part in enumerate(collected.parts)]

    def add(self, frame, positions, ranges, told):
        """Writes a frame: positions of all particles [m], and what is certified."""
        for part, writer, (_, first, last) in zip(self.collected.parts, self.writers, ranges):
            world = to_blender(positions[first:last], self.collected.unit)
            points = part.loose.copy()
            points[part.used] = apply(np.linalg.inv(part.matrices[frame]), world)
            writer.add(points)
        self.certificates.append(told)
        (self.folder / "certificates.json").write_text(json.dumps(self.certificates))


def certified(report):
    """What the panel and the timeline tell of a frame."""
    told = report.certificate
    words = [f"largest strain {100 * told.max_strain:.3g} %, {100 * told.tolerance:g} % allowed",
             f"{told.cloth_cloth} cloth through cloth, {told.cloth_body} through bodies"]
    if told.min_gap < float("inf"):
        words.append(f"smallest gap {1e3 * told.min_gap:.3g} mm")
    if not report.converged:
        words.append("the solver did not converge")
    return {"frame": report.frame, "max_strain": told.max_strain, "intersections": told.intersections, "good": bool(report.good),
            "words": words}


def read_certificates(scene):
    """The certificates of all frames that are simulated."""
    file = folder_of(scene) / "certificates.json"
    return json.loads(file.read_text()) if file.exists() else []


def play(scene, part_number, obj):
    """Lets the modifier of a cloth play its cache."""
    modifier = obj.modifiers.get(MODIFIER) or obj.modifiers.new(MODIFIER, "MESH_CACHE")
    path = folder_of(scene) / f"{part_number}.pc2"
    modifier.cache_format = "PC2"
    modifier.filepath = bpy.path.relpath(str(path)) if bpy.data.filepath else str(path)
    modifier.frame_start = scene.frame_start
    modifier.interpolation = "LINEAR"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.show_viewport = modifier.show_render = True
    obj.update_tag()


def colour_timeline(scene, obj, certificates):
    """A key on every frame, in Blender's own colours of keys: green where the certificate holds, red where it does not."""
    obj[PROPERTY] = 0.0
    obj.id_properties_ui(PROPERTY).update(description="Largest strain [%], certified by Taffeta")
    for told in certificates:
        obj[PROPERTY] = 100 * told["max_strain"]
        kind = "JITTER" if told["good"] else "EXTREME"
        obj.keyframe_insert(f'["{PROPERTY}"]', frame=scene.frame_start + told["frame"], keytype=kind)
