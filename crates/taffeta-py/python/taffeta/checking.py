"""The certificate of anybody's frames."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _taffeta
from .scene import split_faces

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def check(frames: Any, faces: ArrayLike | None = None, *, rest: Any = None,
          tolerance: float | None = None) -> list[_taffeta.Certificate]:
    """Certifies frames of one cloth: strain of structural edges and intersections, one certificate each.

    `frames` is an array `(frames, points, 3)` or `(points, 3)` with `faces` (triangles or quads), a list of such frames, or a
    list of objects with `vertices` and `faces`, such as those of trimesh. `rest` is where edges have their rest lengths, the
    first frame if it is left out.

    >>> flat = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    >>> check(flat, [[0, 1, 2, 3]])[0].holds
    True
    """
    if isinstance(frames, (str, os.PathLike)):
        raise TypeError("give frames as arrays; `python -m taffeta check` takes files, and frames of a Recording have certificates")
    if hasattr(frames, "faces"):
        frames = [frames]
    if faces is None:
        faces = frames[0].faces

    def points(frame: Any) -> NDArray[np.float64]:
        return np.asarray(getattr(frame, "vertices", frame), np.float64)

    moments = np.stack([points(frame) for frame in frames]) if isinstance(frames, (list, tuple)) and np.ndim(points(frames[0])) == 2 \
        else np.asarray(frames, np.float64)
    moments = moments[None] if moments.ndim == 2 else moments
    if moments.ndim != 3:
        raise ValueError(f"frames have the shape {moments.shape}; give (frames, points, 3)")
    triangles, quads = split_faces(faces)
    at_rest = moments[0] if rest is None else points(rest)
    return _taffeta.certify(moments, triangles, quads, np.ascontiguousarray(at_rest), tolerance)

