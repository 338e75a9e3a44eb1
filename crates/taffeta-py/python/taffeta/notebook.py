"""The cloth in a notebook: `sim.show()` and `recording.show()`. It needs no network, and works in Jupyter and VS Code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from . import _taffeta

if TYPE_CHECKING:
    from .recording import Recording
    from .simulation import Simulation


class ClothWidget(anywidget.AnyWidget):
    """What both widgets share: the page's stage, and answers to what it asks."""

    _esm = _taffeta.widget_source() or (
        "export default { render({ el }) { el.textContent = 'This package was built without npm, and has no widget.'; } };")
    height = traitlets.Int(420).tag(sync=True)
    frames = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.serial = 0
        self.on_msg(lambda _, asked, __: self.answer(asked))

    def answer(self, asked: dict[str, Any]) -> None:
        """Does what the page asks for and shows the result; what cannot be done is told there."""
        self.serial += 1
        try:
            shown = self.show(asked)
        except (ValueError, RuntimeError, OSError) as error:
            self.send({"error": str(error)})
        else:
            if shown:
                self.send({}, buffers=shown)

    def show(self, asked: dict[str, Any]) -> list[bytes]:
        """The messages that answer the page."""
        raise NotImplementedError


class SimulationWidget(ClothWidget):
    """A simulation, live: it goes on while it is played. With Shift the cloth can be grabbed and led."""

    def __init__(self, simulation: Simulation, **options: Any) -> None:
        super().__init__(**options)
        self.simulation = simulation

    def show(self, asked: dict[str, Any]) -> list[bytes]:
        """Steps, holds and releases as the page asks."""
        what = asked.get("do")
        if what == "hold":
            self.simulation.hold(int(asked["particle"]), asked["place"])
            return []
        if what == "release":
            self.simulation.release(int(asked["particle"]))
            return []
        if what == "next":
            self.simulation.step_frame()
        return _taffeta.shown_simulation(self.simulation, self.serial, what == "start")


class RecordingWidget(ClothWidget):
    """A recording, to be played and gone through."""

    def __init__(self, recording: Recording, **options: Any) -> None:
        super().__init__(frames=len(recording), **options)
        self.shown = _taffeta.ShownRecording(recording.path)

    def show(self, asked: dict[str, Any]) -> list[bytes]:
        """The frame that the page asks for."""
        if asked.get("do") == "start":
            return [self.shown.shape(), self.shown.frame(self.serial, 0)]
        return [self.shown.frame(self.serial, int(asked["frame"]))]
