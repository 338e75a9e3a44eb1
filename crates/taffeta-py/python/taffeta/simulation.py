"""A running simulation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _taffeta
from .report import Report
from .scene import Scene, SceneLike, sets_of

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike


class Simulation(_taffeta.Simulation):
    """A running simulation of a scene: a built-in name, a path, a dict or a `Scene`. Keywords change its keys.

    >>> sim = Simulation("flag", frames=30, **{"air.wind": [9, 0, 1]})
    """

    _made_of: tuple[SceneLike, dict[str, Any]]

    def __new__(cls, scene: SceneLike, **changes: Any) -> Simulation:
        made: Simulation = super().__new__(cls, scene, sets=sets_of(changes))
        made._made_of = (scene, changes)
        return made

    @property
    def particles(self) -> int:
        """How many particles there are."""
        return len(self.positions)

    @property
    def scene(self) -> Scene:
        """The scene as it runs, complete; changing it changes nothing here."""
        source = self._made_of[0]
        scene = Scene(json.loads(self._scene_json()), name=self.name)
        if isinstance(source, Scene):
            scene.surfaces, scene.folder = dict(source.surfaces), source.folder
        return scene

    def run(self, frames: int | None = None, *, progress: bool = False, record: str | os.PathLike[str] | None = None,
            resume: bool = True) -> Iterator[Report]:
        """Goes on by so many frames, or to the end of the scene, and gives the report of each.

        With `record`, frames go to `recording.taffeta` in that folder, or to that file if its name ends in `.taffeta`. A
        recording of the same scene that is there is gone on with (then `frames` counts from its start, and frames that are there
        are not given again), unless `resume` is False. With `progress`, a line on stderr tells how far it is.
        """
        recorder, last = None, self.frame + (self.frames - self.frame if frames is None else frames)
        if record is not None:
            recorder = _taffeta.Recorder(self, recording_path(record, resume), resume)
        try:
            while self.frame < last:
                self.step_frame()
                report = Report.of(recorder.frame(self), self.tolerance) if recorder else self.report()
                if progress:
                    print(f"\r{report.frame}/{last}  {report.wall_ms:.0f} ms  {report.certificate!r}", end="", file=sys.stderr)
                yield report
        finally:
            if progress:
                print(file=sys.stderr)
            if recorder:
                recorder.close(self, self.frame >= last)

    def report(self) -> Report:
        """What is told of the present frame, its certificate included."""
        return Report.of(self._report(), self.tolerance)

    def hold(self, particles: ArrayLike, places: ArrayLike | None = None, duration: float | None = None) -> None:
        """Holds particles from now on, and leads them to their places [m] within a duration [s], that of a frame if none is given.

        Without places they are held where they are; no hand goes further than the cloth reaches. Where
        more than one is held, all that hands hold are led anew.
        """
        numbers = np.atleast_1d(np.asarray(particles, np.int64))
        goals = self.positions[numbers] if places is None else np.asarray(places, np.float64)
        self._hold(numbers, goals.reshape(-1, 3), self.frame_time if duration is None else duration)

    def release(self, particles: ArrayLike) -> None:
        """Lets go of particles, whoever holds them: a hand, a body or a pin of the scene."""
        self._release(np.atleast_1d(np.asarray(particles, np.int64)))

    def clone(self) -> Simulation:
        """Another simulation in the same state; both go on with the same bits."""
        other: Simulation = super().__new__(type(self), self)
        other._made_of = self._made_of
        return other

    def show(self, **options: Any) -> Any:
        """The cloth in a notebook, live: a widget that can be turned, played and touched. Needs `pip install taffeta[notebook]`."""
        from .notebook import SimulationWidget

        return SimulationWidget(self, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), *self._made_of, self.snapshot(), self._grip())

    def __repr__(self) -> str:
        return f"<Simulation {self.name!r}: {self.particles} particles, {self.method}, frame {self.frame} of {self.frames}>"


def _revived(kind: type[Simulation], scene: SceneLike, changes: dict[str, Any], snapshot: bytes, grip: Any) -> Simulation:
    """A simulation that was pickled. What hands hold is at its place at once."""
    made = kind(scene, **changes)
    made.restore(snapshot)
    made._take_grip(*grip)
    return made


def recording_path(record: str | os.PathLike[str], resume: bool) -> Path:
    """The file to record to; its folder is made. One that is there is set aside unless it is gone on with, as the program does."""
    path = Path(record)
    if path.suffix != ".taffeta":
        path = path / "recording.taffeta"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not resume:
        path.replace(path.with_name(path.stem + ".previous.taffeta"))
    return path
