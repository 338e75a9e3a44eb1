"""From a Blender scene to one of Taffeta: surfaces, pins, seams, wind, looked at frame by frame.

Blender's z is Taffeta's y: (x, y, z) there is (x, z, -y) here; lengths are metres whatever the unit scale of the scene is.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import taffeta

from .properties import LABORATORY

MODIFIER = "Taffeta"


class Refusal(Exception):
    """Why a scene cannot be simulated, in words for the user."""


@dataclass
class ClothPart:
    """A cloth: which vertices of the mesh are particles, how it is led, and where its object is in every frame."""

    name: str
    vertex_count: int
    used: np.ndarray
    """Vertices that are particles: those of faces."""
    loose: np.ndarray
    """Where the others stay, in the space of the object."""
    pinned: np.ndarray
    """Particles that are held."""
    places: list = field(default_factory=list)
    """Where they are at every look [m]."""
    matrices: list = field(default_factory=list)
    """From the space of the object to the world, in every frame."""


@dataclass
class Collected:
    """All that a simulation needs, with nothing of Blender in it."""

    scene: taffeta.Scene
    parts: list
    frame_start: int
    frame_count: int
    subframes: int
    unit: float
    """Metres in a unit of Blender."""
    winds: list
    """Velocity of the air at every look [m/s]."""
    notes: list

    @property
    def led(self):
        """Whether any pin moves."""
        return any(len(part.places) > 1 for part in self.parts)


def to_taffeta(points, unit=1.0):
    """Points of Blender's world in metres, y up."""
    points = np.asarray(points, np.float64) * unit
    return np.stack([points[..., 0], points[..., 2], -points[..., 1]], axis=-1)


def to_blender(points, unit=1.0):
    """The inverse of `to_taffeta`."""
    points = np.asarray(points, np.float64) / unit
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


def apply(matrix, points):
    """Points moved by a 4 × 4 matrix."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


@contextmanager
def before_the_cache(objects):
    """While this lasts, cloths are seen as their modifiers before Taffeta's leave them."""
    hidden = []
    for obj in objects:
        behind = False
        for modifier in obj.modifiers:
            behind |= modifier.name == MODIFIER
            if behind and modifier.show_viewport:
                modifier.show_viewport = False
                hidden.append(modifier)
    try:
        yield
    finally:
        for modifier in hidden:
            modifier.show_viewport = True


def seen(obj, depsgraph):
    """The mesh of an object as modifiers and shape keys leave it now, and its matrix."""
    evaluated = obj.evaluated_get(depsgraph)
    return evaluated, evaluated.to_mesh(), np.array(evaluated.matrix_world, np.float64)


def vertices_of(mesh):
    """Vertices in the space of their object."""
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def faces_of(mesh):
    """Triangles and quads; faces of more corners are cut as Blender cuts them."""
    faces = [list(polygon.vertices) for polygon in mesh.polygons if len(polygon.vertices) <= 4]
    large = {polygon.index for polygon in mesh.polygons if len(polygon.vertices) > 4}
    if large:
        mesh.calc_loop_triangles()
        faces += [list(triangle.vertices) for triangle in mesh.loop_triangles if triangle.polygon_index in large]
    return faces


def seams_of(mesh):
    """Edges without a face."""
    loose = {tuple(sorted(edge.vertices)) for edge in mesh.edges}
    return sorted(loose - {tuple(sorted(key)) for polygon in mesh.polygons for key in polygon.edge_keys})


def pinned_of(obj, mesh):
    """Vertices of the pin group."""
    group = obj.vertex_groups.get(obj.taffeta.pin_group)
    if group is None:
        if obj.taffeta.pin_group:
            raise Refusal(f"{obj.name}: there is no vertex group {obj.taffeta.pin_group!r}; choose another, or none")
        return []
    weight = {v.index: element.weight for v in mesh.vertices for element in v.groups if element.group == group.index}
    return [vertex for vertex, share in weight.items() if share > 0.5]


def cloth_part(obj, mesh, scene):
    """A cloth, and its entry in the scene."""
    settings, points, faces = obj.taffeta, vertices_of(mesh), faces_of(mesh)
    if not faces:
        raise Refusal(f"{obj.name}: the mesh has no faces; fill it, or make another object cloth")
    used = np.unique([corner for face in faces for corner in face])
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    pinned = number[pinned_of(obj, mesh)] if obj.taffeta.pin_group else np.array([], int)
    part = ClothPart(obj.name, len(points), used, points, pinned[pinned >= 0])
    keys = {"name": obj.name, "fabric": settings.fabric}
    if settings.use_laboratory:
        change = {key: getattr(settings, key) for key, *_ in LABORATORY}
        scene["fabrics"][obj.name] = {"base": settings.fabric, **change}
        keys["fabric"] = obj.name
    seams = [pair for pair in number[np.array(seams_of(mesh), int).reshape(-1, 2)].tolist() if min(pair) >= 0]
    if settings.sewing > 0 and seams:
        keys.update(lines=seams, sewing=settings.sewing)
    return part, [number[face].tolist() for face in faces], keys


def wind_now(depsgraph):
    """The wind of all force fields of that kind: along their local z, `strength` m/s; and the largest gust."""
    wind, gust = np.zeros(3), 0.0
    for obj in depsgraph.objects:
        if obj.field is not None and obj.field.type == "WIND":
            direction = np.array(obj.matrix_world, np.float64)[:3, 2]
            wind += obj.field.strength * direction / max(np.linalg.norm(direction), 1e-12)
            gust = max(gust, obj.field.noise * abs(obj.field.strength) / 10)
    return to_taffeta(wind), gust


def collect(context):
    """Goes through the frames of the scene; yields how far it is (0 to 1) and returns `Collected`. The frame is put back."""
    scene = context.scene
    settings, unit = scene.taffeta, scene.unit_settings.scale_length
    objects = [obj for obj in scene.objects if obj.type == "MESH" and obj.visible_get()]
    cloths = [obj for obj in objects if obj.taffeta.kind == "CLOTH"]
    colliders = [obj for obj in objects if obj.taffeta.kind == "COLLIDER"]
    if not cloths:
        raise Refusal("nothing is cloth; select a mesh and choose Cloth under Physics > Taffeta")
    frames = scene.frame_end - scene.frame_start
    if frames < 1:
        raise Refusal(f"the scene ends in frame {scene.frame_end}, where it starts; give it more frames")
    rate = scene.render.fps / scene.render.fps_base
    gravity = to_taffeta(scene.gravity, unit).tolist() if scene.use_gravity else [0.0, 0.0, 0.0]
    made = taffeta.Scene(name=scene.name, frames=frames, frame_time=1 / rate, gravity=gravity, fabrics={},
                         solver={"method": settings.method, "tolerance": settings.tolerance, "extensible": settings.extensible},
                         contact={"cloth_cloth": settings.self_collision}, air={"density": settings.air})
    looks = frames * settings.subframes + 1
    parts, entries, moving, winds, gust = [], [], {obj: [] for obj in colliders}, [], 0.0
    shapes = {}
    was = scene.frame_current, scene.frame_subframe
    try:
        with before_the_cache(cloths):
            for look in range(looks):
                frame, sub = divmod(look, settings.subframes)
                scene.frame_set(scene.frame_start + frame, subframe=sub / settings.subframes)
                depsgraph = context.evaluated_depsgraph_get()
                for number, obj in enumerate(cloths):
                    evaluated, mesh, matrix = seen(obj, depsgraph)
                    if look == 0:
                        part, faces, keys = cloth_part(obj, mesh, made)
                        parts.append(part)
                        entries.append((to_taffeta(apply(matrix, vertices_of(mesh)[part.used]), unit), faces, keys))
                    part = parts[number]
                    if len(mesh.vertices) != part.vertex_count:
                        raise Refusal(f"{obj.name}: has {len(mesh.vertices)} vertices in frame {scene.frame_current}, "
                                      f"{part.vertex_count} at the start; move the modifier that changes their number behind Taffeta's")
                    if len(part.pinned):
                        world = apply(matrix, vertices_of(mesh)[part.used[part.pinned]])
                        part.places.append(to_taffeta(world, unit))
                    if sub == 0:
                        part.matrices.append(matrix)
                    evaluated.to_mesh_clear()
                for obj, moments in moving.items():
                    evaluated, mesh, matrix = seen(obj, depsgraph)
                    if look == 0:
                        shapes[obj] = faces_of(mesh)
                        if not shapes[obj]:
                            raise Refusal(f"{obj.name}: the mesh has no faces, so that cloth cannot meet it; fill it, or make it "
                                          "no collider")
                    moments.append(to_taffeta(apply(matrix, vertices_of(mesh)), unit))
                    if moments[-1].shape != moments[0].shape:
                        raise Refusal(f"{obj.name}: the number of its vertices changes in frame {scene.frame_current}; a collider "
                                      "keeps its vertices")
                    evaluated.to_mesh_clear()
                wind, gusts = wind_now(depsgraph)
                winds.append(wind)
                gust = max(gust, gusts)
                yield (look + 1) / looks
    finally:
        scene.frame_set(was[0], subframe=was[1])
    made["air"].update(wind=winds[0].tolist(), gust={"speed": gust})
    for part, (points, faces, keys) in zip(parts, entries):
        still = len(part.pinned) and np.ptp(np.stack(part.places), axis=0).max() < 1e-7
        if still:
            keys["pin"] = [{"vertices": part.pinned.tolist()}]
            part.places = []
        made.add_cloth(points, faces, **keys)
    if any(len(part.places) > 1 for part in parts):
        made["solver"]["steps_per_frame"] = settings.subframes
    for obj, moments in moving.items():
        still = np.ptp(np.stack(moments), axis=0).max() < 1e-7
        shape = moments[0] if still else np.stack(moments)
        made.add_collider(shape, shapes[obj], rate=None if still else rate * settings.subframes, thickness=obj.taffeta.distance,
                          name=obj.name, friction=obj.taffeta.collider_friction)
    return Collected(made, parts, scene.frame_start, frames, settings.subframes, unit, winds, [])


def in_words(error, collected):
    """A fault of the scene in terms of objects."""
    told = []
    for fault in error.faults:
        kind, _, rest = fault.key.partition("[")
        if kind in ("cloth", "collider") and rest:
            name = collected.scene[kind][int(rest.split("]")[0])]["name"]
            told.append(f"{name}: {fault.reason}; {fault.remedy}")
        else:
            told.append(f"{fault.key} = {fault.value}: {fault.reason}; {fault.remedy}")
    return "\n".join(told)

