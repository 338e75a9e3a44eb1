"""Taffeta: cloth simulation in which every frame carries a certificate, and the same scene gives the same bits.

A first simulation
------------------

>>> import taffeta
>>> sim = taffeta.Simulation("drape", frames=3)
>>> for frame in sim.run():
...     print(frame.frame, frame.certificate.holds)
1 True
2 True
3 True

A scene is a built-in name (`taffeta.scenes()` lists them), a path to a TOML file, a dict with the same keys, or a
`taffeta.Scene`. Keywords change it: `taffeta.Simulation("flag", **{"air.wind": [9, 0, 1]})`. Every key is told in
docs/scene.md; what is wrong with a scene raises `SceneError`, in the words of the program.

Arrays
------

>>> sim.positions.shape, sim.triangles.shape[1]
((10000, 3), 3)

`positions` and `velocities` are the same read-only arrays every time; a step changes them in place, so copy what is to
be kept. Lengths are metres, times seconds, masses kilograms; y points up.

Hands, forces, wind
-------------------

`sim.hold(particles, places)`, `sim.release(particles)`, `sim.add_forces(forces)`, `sim.set_gravity(g)`,
`sim.set_wind(v)`, `sim.set_positions(x)`; `sim.clone()`, `sim.snapshot()` and `sim.restore(bytes)` go back and forth,
and simulations can be pickled.

Cloth and bodies from arrays
----------------------------

>>> scene = taffeta.Scene()
>>> vertices = [[0, 1, 0], [1, 1, 0], [1, 1, -1], [0, 1, -1]]
>>> scene.add_cloth(vertices, [[0, 1, 2, 3]], fabric="silk")
>>> scene.add_collider(plane={})
>>> taffeta.Simulation(scene, frames=2).particles
4

`add_cloth` and `add_collider` take trimesh objects too, and `add_collider` the vertices of every moment.

Certificates, recordings, pictures
----------------------------------

`sim.certificate()` measures the present state by code that is not the solver; `taffeta.check(frames, faces)` does so
for frames of any program. `sim.run(record="out/drape")` writes a recording as `taffeta run` does, and goes on with one
that was interrupted; `taffeta.Recording("out/drape")` reads, slices, exports and renders it. `sim.render()` is a
picture as an array, `sim.show()` the cloth in a notebook.

Many at once
------------

`taffeta.Batch(scene, 256)` steps many cloths on all cores; `taffeta.gym` has the environment `FoldTowel-v0`.

docs/python.md has more of everything. `python -m taffeta` is the program `taffeta`.
"""

from ._taffeta import (
    Cancelled,
    Certificate,
    Fault,
    RecordingError,
    SceneError,
    SimulationError,
    StepReport,
    __version__,
    set_threads,
)
from .batch import Batch
from .checking import check
from .recording import Recording, RecordedFrame
from .report import Report
from .scene import Scene, fabrics, methods, scenes, schema
from .simulation import Simulation

__all__ = [
    "Batch",
    "Cancelled",
    "Certificate",
    "Fault",
    "RecordedFrame",
    "Recording",
    "RecordingError",
    "Report",
    "Scene",
    "SceneError",
    "Simulation",
    "SimulationError",
    "StepReport",
    "__version__",
    "check",
    "fabrics",
    "methods",
    "scenes",
    "schema",
    "set_threads",
]
