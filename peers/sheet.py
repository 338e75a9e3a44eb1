"""The sheet that all peers simulate, and the loop that times them.

A driver is one file that calls `drive(name, version, make)`. `make(sheet, settings)` returns an object with `frame()`, which moves on by one
frame, and `positions()`, an array of n * n rows of x, y, z. The driver is run as

    python peers/drive_NAME.py OUT '{"n": 20, "scene": "hang", "frames": 90, ...}'

and leaves OUT/frames.f64 (positions of frame 0, 1, ... as little-endian doubles) and OUT/peer.json (version, settings, times).
Strain, intersections and fall are judged elsewhere, from the frames.
"""
import json
import os
import sys
import time

import numpy as np

FRAME = 1.0 / 30.0  # s
GRAVITY = 9.81  # m/s²
SIZE = 1.0  # m
MASS = 0.2  # kg
BALL = 0.3  # m, radius of the sphere at the origin
FRICTION = 0.3


class Sheet:
    """n x n particles, level, y up; rows go along z."""

    def __init__(self, n, scene):
        self.n, self.scene = n, scene
        self.edge = SIZE / (n - 1)
        row, column = np.divmod(np.arange(n * n), n)
        self.start = np.zeros((n * n, 3))
        self.start[:, 0] = column * self.edge - SIZE / 2
        self.start[:, 2] = row * self.edge - SIZE / 2
        if scene == "drape":
            self.start[:, 1] = BALL + 0.05
        self.pins = [0, n - 1] if scene == "hang" else []
        number = np.arange(n * n).reshape(n, n)
        a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
        self.quads = np.stack([a, d, c, b], 1)  # normals up
        self.triangles = np.concatenate([self.quads[:, [0, 1, 2]], self.quads[:, [0, 2, 3]]])
        self.edges = np.concatenate(
            [np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1), np.stack([number[:-1].ravel(), number[1:].ravel()], 1)]
        )
        self.diagonals = np.stack([a, c], 1)
        self.particle_mass = MASS / (n * n)


def drive(name, version, make):
    """Runs what the command line asks for."""
    out, settings = sys.argv[1], json.loads(sys.argv[2])
    os.makedirs(out, exist_ok=True)
    sheet = Sheet(settings["n"], settings["scene"])
    run = make(sheet, settings)
    cpu, wall = [], []
    with open(os.path.join(out, "frames.f64"), "wb") as film:
        film.write(sheet.start.astype("<f8").tobytes())
        for _ in range(settings["frames"]):
            begun, spent = time.perf_counter(), time.process_time()
            run.frame()
            cpu.append(1e3 * (time.process_time() - spent))
            wall.append(1e3 * (time.perf_counter() - begun))
            positions = np.asarray(run.positions(), dtype="<f8").reshape(-1, 3)
            film.write(positions.tobytes())
            if not np.isfinite(positions).all() or np.abs(positions).max() > 100.0:
                break
            if sum(cpu) > 1e3 * settings.get("seconds", 1e9):
                break
    with open(os.path.join(out, "peer.json"), "w") as report:
        json.dump({"peer": name, "version": version, "settings": settings, "cpu_ms": cpu, "wall_ms": wall}, report)
    sys.stdout.flush()
    os._exit(0)  # some peers crash when they are taken down
