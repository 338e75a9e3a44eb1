"""The simulation, in a thread of its own that touches nothing of Blender."""

import threading

import taffeta

from .cache import Cache, certified
from .collect import in_words


class Job(threading.Thread):
    """Simulates what was collected, into a cache. `done` frames of `frames` are on disk; `error` says why it ended early."""

    def __init__(self, collected, folder):
        super().__init__(name="taffeta", daemon=True)
        self.collected, self.folder, self.frames = collected, folder, collected.frame_count
        self.done, self.error, self.notes = 0, None, []
        self._cancel = threading.Event()

    def cancel(self):
        """Asks for an end between two sub-steps; another Simulate goes on from the last whole frame."""
        self._cancel.set()

    def run(self):
        """Called by the thread."""
        try:
            self.simulate()
        except taffeta.SceneError as error:
            self.error = in_words(error, self.collected)
        except (taffeta.SimulationError, OSError) as error:
            self.error = str(error)
        except Exception as error:
            # A thread that ends in silence would pass for one that is done.
            self.error = f"{type(error).__name__}: {error}; this is a defect of Taffeta"

    def simulate(self):
        """From the start, or from where a recording of the same scene ends."""
        sim = taffeta.Simulation(self.collected.scene)
        self.lead(sim, 0)
        start = sim.certificate()
        if start.intersections:
            self.notes.append(f"the cloth starts with {start.intersections} intersections; it comes apart slowly")
        self.folder.mkdir(parents=True, exist_ok=True)
        cache, recorder = Cache(self.folder, self.collected), self.recorder(sim)
        ranges = sim.cloths
        if sim.frame > 0:
            self.notes.append(f"going on after frame {self.collected.frame_start + sim.frame}")
            for frame in taffeta.Recording(self.folder)[: sim.frame + 1]:
                cache.add(frame.number, frame.positions, ranges, certified(frame.report))
        else:
            cache.add(0, sim.positions, ranges, certified(sim.report()))
        self.done = sim.frame
        while sim.frame < self.frames and not self._cancel.is_set():
            try:
                self.advance(sim)
            except taffeta.Cancelled:
                break
            report = taffeta.Report.of(recorder.frame(sim), sim.tolerance)
            cache.add(sim.frame, sim.positions, ranges, certified(report))
            self.done = sim.frame
        recorder.close(sim, sim.frame >= self.frames)

    def recorder(self, sim):
        """Goes on with the recording that lies there; one of another scene is set aside."""
        from taffeta._taffeta import Recorder
        from taffeta.simulation import recording_path

        try:
            return Recorder(sim, recording_path(self.folder, True), True)
        except taffeta.RecordingError:
            return Recorder(sim, recording_path(self.folder, False), False)

    def lead(self, sim, look):
        """Pins and wind go where they are at a look."""
        for part, (_, first, _) in zip(self.collected.parts, sim.cloths):
            if part.places:
                duration = sim.frame_time / self.collected.subframes
                sim.hold(first + part.pinned, part.places[min(look, len(part.places) - 1)], duration)
        sim.set_wind(self.collected.winds[min(look, len(self.collected.winds) - 1)])

    def advance(self, sim):
        """One frame, looking where pins and wind are as often as they were looked at."""
        first = sim.frame * self.collected.subframes
        if not self.collected.led:
            self.lead(sim, first + self.collected.subframes)
            sim.step_frame(cancel=self._cancel)
            return
        for look in range(first + 1, first + self.collected.subframes + 1):
            self.lead(sim, look)
            sim.step(cancel=self._cancel)
