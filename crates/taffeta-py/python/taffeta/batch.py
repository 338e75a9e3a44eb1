"""Many cloths at once, for learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _taffeta
from .scene import SceneLike, sets_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Vary = Mapping[str, Sequence[Any]] | Callable[[int], Mapping[str, Any]]


class Batch(_taffeta.Batch):
    """As many independent simulations of a scene, stepped on all cores, each on one thread; bit for bit as one by one.

    `vary` makes them differ: a dict of keys with a value for each member, or a function from the number of a member to the
    changes of its scene.

    >>> batch = Batch("flag", 4, vary={"seed": [1, 2, 3, 4]})
    >>> converged = batch.step_frame()
    >>> batch.positions.shape[0]
    4

    With `device="cuda"` it is a `DeviceBatch`, which stays on a card.
    """

    def __new__(cls, scene: SceneLike, count: int, vary: Vary | None = None, *, device: str = "cpu", handles: ArrayLike = (),
                **changes: Any) -> Any:
        if device != "cpu":
            if vary is not None:
                raise ValueError("vary: members on a card share one scene; give each its state by `restore`, or leave device out")
            return DeviceBatch(scene, count, device, handles, **changes)
        if np.size(handles):
            raise ValueError("handles: a batch on the CPU can hold every particle; leave them out")
        sets = [sets_of({**changes, **_member(vary, k, count)}) for k in range(count)] if vary or changes else []
        made: Batch = super().__new__(cls, scene, count, sets)
        made.positions, made.velocities = _shown(made._positions()), _shown(made._velocities())
        return made

    positions: NDArray[np.float64]
    """Where all particles are [m], `(members, particles, 3)`, read-only; steps change it in place."""
    velocities: NDArray[np.float64]
    """How fast they move [m/s], likewise."""

    def hold(self, member: int, particles: ArrayLike, places: ArrayLike, duration: float) -> None:
        """Holds particles of one member and leads them to their places [m] within a duration [s]."""
        self._hold(member, np.atleast_1d(np.asarray(particles, np.int64)), np.asarray(places, np.float64).reshape(-1, 3), duration)

    def release(self, member: int, particles: ArrayLike) -> None:
        """Lets go of particles of one member."""
        self._release(member, np.atleast_1d(np.asarray(particles, np.int64)))

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} with {self.positions.shape[1]} particles each>"


class DeviceBatch(_taffeta.DeviceBatch):
    """Many members of one scene on a CUDA card, without contact. Nothing comes back unless it is asked for.

    `positions`, `velocities`, `places`, `held` and `strains` are lists on the card: `torch.as_tensor(batch.positions)` and
    `cupy.asarray` take them without a copy, `numpy.asarray` copies. What is written to them counts from the next step on.
    `handles` are particles that can be held, after those that the scene pins.
    """

    def __new__(cls, scene: SceneLike, count: int, device: str = "cuda", handles: ArrayLike = (), **changes: Any) -> DeviceBatch:
        own = np.atleast_1d(np.asarray(handles, np.int64))
        made: DeviceBatch = super().__new__(cls, scene, count, sets_of(changes), device, own)
        return made

    def hold(self, member: int, particles: ArrayLike, places: ArrayLike) -> None:
        """Holds handles of one member: they are at their places [m] at the end of the next `step_frame`."""
        self._hold(member, np.atleast_1d(np.asarray(particles, np.int64)), np.asarray(places, np.float64).reshape(-1, 3))

    def release(self, member: int, particles: ArrayLike) -> None:
        """Lets go of handles of one member, also of those that the scene pins."""
        self._release(member, np.atleast_1d(np.asarray(particles, np.int64)))

    def __repr__(self) -> str:
        return f"<DeviceBatch of {len(self)} with {self.positions.shape[1]} particles each>"


def _member(vary: Vary | None, number: int, count: int) -> Mapping[str, Any]:
    if vary is None:
        return {}
    if callable(vary):
        return vary(number)
    for key, values in vary.items():
        if len(values) != count:
            raise ValueError(f"vary[{key!r}] has {len(values)} values for {count} members; give one each")
    return {key: values[number] for key, values in vary.items()}


def _shown(own: NDArray[np.float64]) -> NDArray[np.float64]:
    shown = own.view()
    shown.setflags(write=False)
    return shown
