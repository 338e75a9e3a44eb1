"""Reads a Taffeta recording by its documented bytes, with nothing of Taffeta's: the measure for all comparisons."""

import json
import struct

import numpy as np


def blocks(path):
    """Kind and payload of every whole block; checksums are the Rust reader's business."""
    with open(path, "rb") as file:
        assert struct.unpack("<8sQ", file.read(16)) == (b"TAFFETA\n", 1), "no recording of version 1"
        while len(head := file.read(24)) == 24:
            kind, _, length, _ = struct.unpack("<4sIQQ", head)
            payload = file.read(length)
            if len(file.read(8)) == 8:
                yield kind, payload


class Recording:
    """Mesh, numbers, times, positions [m], poses and reports of all frames, y up."""

    def __init__(self, path):
        self.numbers, self.times, self.reports, positions, poses = [], [], [], [], []
        for kind, payload in blocks(path):
            if kind == b"HEAD":
                self.header(payload)
            if kind == b"FRAM":
                number, bodies, time, _, *centre = struct.unpack_from("<IIdQ3d", payload)
                end = 48 + 12 * self.particles
                relative = np.frombuffer(payload[48:end], "<f4").reshape(-1, 3).astype(float)
                self.numbers.append(number)
                self.times.append(time)
                positions.append(relative + centre)
                poses.append(np.frombuffer(payload[end : end + 56 * bodies], "<f8").reshape(-1, 7))
                self.reports.append(json.loads(payload[end + 56 * bodies :]) or {})
        self.positions, self.poses = np.array(positions), np.array(poses)

    def header(self, payload):
        self.frame_time, self.particles, edges, triangles, material, pinned, scene, about = struct.unpack_from("<d7Q", payload)
        offset = 64 + 24 * self.particles + 8 * edges
        self.uv = np.frombuffer(payload, "<f8", 2 * material, offset).reshape(-1, 2)
        offset += 16 * material + 8 * edges
        self.triangles = np.frombuffer(payload, "<u4", 3 * triangles, offset).reshape(-1, 3).astype(int)
        offset += 12 * triangles
        self.pinned = np.frombuffer(payload, "<u4", pinned, offset)
        self.about = json.loads(payload[len(payload) - about :])


def z_up(points):
    """What Blender shows of y-up points."""
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


def report(what, difference, bound=1e-6):
    """One line per comparison; a difference above the bound [m] ends the script."""
    print(f"{what:44} {difference:.2e} m", flush=True)
    assert difference <= bound, f"{what}: more than {bound} m"
