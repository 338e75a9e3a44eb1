"""Scenes: what is simulated, as plain data with the keys of docs/scene.md."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Union

import numpy as np
from numpy.typing import NDArray

from . import _taffeta

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Surface(Protocol):
    """Anything with `vertices` and `faces`, such as a `trimesh.Trimesh`."""

    vertices: Any
    faces: Any


Faces = NDArray[np.uint32]
Arrays = tuple[NDArray[np.float64], Faces, Faces, Faces]
SceneLike = Union[str, os.PathLike[str], Mapping[str, Any], "Scene"]


class Scene(Mapping[str, Any]):
    """A scene as nested dicts and lists, with the keys of a scene file; surfaces may be arrays.

    >>> scene = Scene("drape")
    >>> scene["solver"]["tolerance"] = 0.001
    >>> scene.set("cloth[0].sheet.rows", 20)
    """

    data: dict[str, Any]
    """The keys and their values."""
    name: str
    """What it goes by in recordings and messages."""

    def __init__(self, source: SceneLike | None = None, *, name: str = "scene", **changes: Any) -> None:
        """Of a built-in name, a path, a dict or another scene; empty without any. Keywords change keys, as `set` does."""
        self.name, self.folder, self.data = name, Path(), {}
        self.surfaces: dict[str, Arrays] = {}
        if isinstance(source, Scene):
            self.name, self.folder, self.surfaces = source.name, source.folder, dict(source.surfaces)
            self.data = copy.deepcopy(source.data)
        elif isinstance(source, (str, os.PathLike)):
            text, self.name, self.folder = _taffeta.read_scene(source, [])
            self.data = json.loads(text)
        elif source is not None:
            self.data = copy.deepcopy(dict(source))
        for key, value in changes.items():
            self.set(key, value)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.data[key] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        pieces = [f"{len(self.data.get(kind, ()))} {kind}" for kind in ("cloth", "garment", "collider", "body")]
        return f"<Scene {self.name!r}: {', '.join(piece for piece in pieces if not piece.startswith('0 '))}>"

    def set(self, key: str, value: Any) -> None:
        """Changes one key, such as `air.wind` or `cloth[0].sheet.rows`."""
        steps = key.replace("[", ".").replace("]", "").split(".")
        place: Any = self.data
        for step in steps[:-1]:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        place[int(steps[-1]) if isinstance(place, list) else steps[-1]] = value

    def add_cloth(self, vertices: ArrayLike | Surface | None = None, faces: ArrayLike | None = None, **keys: Any) -> None:
        """Adds a piece of cloth: vertices [m] and faces (triangles, quads or a list of both), a trimesh object, or a shape by
        its key, such as `sheet={...}`. Particles have the numbers of the vertices.

        `lines` are pairs of vertices that are seams if `sewing`, in which time they are sewn [s], is given. All other keywords
        are keys of `[[cloth]]`: name, fabric, position, pin, ...
        """
        self._add("cloth", vertices, faces, keys)

    def add_collider(self, vertices: ArrayLike | Surface | None = None, faces: ArrayLike | None = None, *,
                     rate: float | None = None, thickness: float | None = None, **keys: Any) -> None:
        """Adds what cloth cannot pass: vertices [m] and faces, a trimesh object, or a shape by its key, such as
        `sphere={"radius": 0.3}`.

        Vertices `(moments, points, 3)` move from moment to moment, `rate` of them in a second. Cloth keeps half of `thickness`
        [m] from the surface. All other keywords are keys of `[[collider]]`: name, friction, position, keyframe, ...
        """
        mesh: dict[str, Any] = {} if thickness is None else {"thickness": thickness}
        if vertices is not None and not hasattr(vertices, "faces"):
            moments = np.asarray(vertices, dtype=np.float64)
            if moments.ndim == 3:
                if rate is None:
                    raise ValueError("vertices of many moments need a `rate`: how many moments pass in a second")
                vertices = moments[0]
                none = np.zeros((0, 2), np.uint32)
                cache = self._keep((moments.reshape(-1, 3), none_of(3), none_of(4), none))
                mesh["cache"] = {"file": cache, "rate": rate}
        self._add("collider", vertices, faces, keys, mesh)

    def to_toml(self) -> str:
        """The complete text of the scene file, all defaults written out. Surfaces that are arrays are only named in it."""
        return _taffeta.to_toml(self)

    def _add(self, kind: str, vertices: Any, faces: Any, keys: dict[str, Any], mesh: dict[str, Any] | None = None) -> None:
        item = dict(keys)
        if vertices is not None:
            file = self._keep(surface(vertices, faces, item.pop("lines", None)))
            item["mesh"] = {"file": file, **(mesh or {}), **item.get("mesh", {})}
        item.setdefault("name", f"{kind} {len(self.data.get(kind, ()))}")
        self.data.setdefault(kind, []).append(item)

    def _keep(self, arrays: Arrays) -> str:
        name = f"array {len(self.surfaces)}"
        self.surfaces[name] = arrays
        return name


def none_of(corners: int) -> Faces:
    """No faces of so many corners."""
    return np.zeros((0, corners), np.uint32)


def split_faces(faces: Any) -> tuple[Faces, Faces]:
    """Triangles and quads of faces that are an array of either, or a list of both."""
    rows = [np.asarray(face, np.uint32) for face in faces]
    sizes = {len(face) for face in rows}
    if not sizes <= {3, 4}:
        raise ValueError(f"faces have {sorted(sizes)} corners; cut them into triangles and quads")
    triangles, quads = ([face for face in rows if len(face) == corners] for corners in (3, 4))
    return np.array(triangles, np.uint32).reshape(-1, 3), np.array(quads, np.uint32).reshape(-1, 4)


def surface(vertices: Any, faces: Any, lines: Any = None) -> Arrays:
    """Points, triangles, quads and lines of what a user gives as a surface."""
    if hasattr(vertices, "faces"):
        vertices, faces = vertices.vertices, vertices.faces
    if faces is None:
        raise ValueError("vertices alone are no surface; give `faces` too, or an object that has both")
    points = np.ascontiguousarray(vertices, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"vertices have the shape {points.shape}; give an array of shape (points, 3)")
    seams = np.zeros((0, 2), np.uint32) if lines is None else np.ascontiguousarray(lines, np.uint32).reshape(-1, 2)
    return (points, *split_faces(faces), seams)


def parts(scene: Mapping[str, Any]) -> tuple[str, str, Path, dict[str, Arrays]]:
    """Name, data as JSON, folder and surfaces of a scene or dict, for the compiled part of the package."""
    if not isinstance(scene, Mapping):
        raise TypeError(f"a scene is a name, a path, a dict or a taffeta.Scene, not {type(scene).__name__}")
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    return scene.name, json.dumps(without_nulls(scene.data), default=plain), scene.folder, scene.surfaces


def without_nulls(value: Any) -> Any:
    """Plain data without the keys that have no value."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [without_nulls(item) for item in value]
    return value


def plain(value: Any) -> Any:
    """An array or number of numpy as plain data."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a scene holds numbers, texts, lists and dicts, not {type(value).__name__}")


def sets_of(changes: Mapping[str, Any]) -> list[str]:
    """Changes to a scene as the program takes them: `key=value`, where JSON is TOML too but for dicts."""
    def text(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{json.dumps(key)} = {text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(text(item) for item in value) + "]"
        if isinstance(value, (np.ndarray, np.generic)):
            return text(value.tolist())
        return json.dumps(value, default=plain)
    return [f"{key}={text(value)}" for key, value in changes.items()]


def scenes() -> dict[str, str]:
    """Built-in scenes and what they show."""
    return dict(_taffeta.built_in())


def methods() -> dict[str, str]:
    """Methods by name and what they are."""
    return dict(_taffeta.methods())


def fabrics() -> dict[str, dict[str, Any]]:
    """Built-in fabrics and their numbers, in laboratory units."""
    return {name: {"about": about, **json.loads(numbers)} for name, about, numbers in _taffeta.fabrics()}


def schema() -> dict[str, Any]:
    """The JSON Schema of a scene."""
    told: dict[str, Any] = json.loads(_taffeta.schema())
    return told
