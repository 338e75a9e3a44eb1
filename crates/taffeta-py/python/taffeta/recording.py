"""Recordings: frames as arrays, slices, pictures, exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _taffeta
from .report import Report
from .scene import Scene


@dataclass(frozen=True, repr=False)
class RecordedFrame:
    """A frame of a recording."""

    number: int
    """Its number; 0 is the start."""
    time: float
    """Simulated time [s]."""
    positions: NDArray[np.float64]
    """Where every particle is [m], rounded to 2⁻²⁵ of the extent of the cloth."""
    state_hash: str
    """Fingerprint of the full state."""
    report: Report
    """What is told of it."""

    def __repr__(self) -> str:
        return f"<RecordedFrame {self.number} at {self.time:.3f} s: {self.report.certificate!r}>"


class Recording(_taffeta.Recording):
    """A recording, by its file or the folder of its run. It is a sequence of frames:

    >>> recording = Recording("out/drape")
    >>> last = recording[-1].positions
    >>> every_tenth = recording[::10]
    """

    @overload
    def __getitem__(self, index: int) -> RecordedFrame: ...
    @overload
    def __getitem__(self, index: slice) -> list[RecordedFrame]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = index + len(self) if index < 0 else index
        if not 0 <= k < len(self):
            raise IndexError(f"there is no frame {index}; the recording has {len(self)}, counted from 0")
        number, time, positions, state_hash, report = self._frame(k)
        return RecordedFrame(number, time, positions, state_hash, Report.of(report, self.tolerance))

    def __iter__(self) -> Iterator[RecordedFrame]:
        return (self[k] for k in range(len(self)))

    @property
    def scene(self) -> Scene:
        """The scene as it was run."""
        return Scene(json.loads(self._scene_json()), name=self.path.stem)

    @property
    def positions(self) -> NDArray[np.float32]:
        """Positions of all frames [m], `(frames, particles, 3)`, single precision."""
        return np.stack([self._frame(k)[2].astype(np.float32) for k in range(len(self))])

    def show(self, **options: Any) -> Any:
        """The recording in a notebook. Needs `pip install taffeta[notebook]`."""
        from .notebook import RecordingWidget

        return RecordingWidget(self, **options)

    def __repr__(self) -> str:
        return f"<Recording {str(self.path)!r}: {len(self)} frames, {len(self.rest_positions)} particles>"
