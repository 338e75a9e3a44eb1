"""Writes the list of peers that are installed: how each driver is started, and the settings by which it is raised, cheapest first."""
import json
import os
import sys

here, root = sys.argv[1:]


def doubled(first, last):
    """first, 2 first, 4 first ... up to last."""
    while first <= last:
        yield first
        first *= 2


def python(venv, driver):
    return [f"{root}/{venv}/bin/python", f"{here}/drive_{driver}.py"]


def substeps(first, last, **more):
    return [{"substeps": count, **more} for count in doubled(first, last)]


def pairs(*list_of_pairs, **more):
    return [{"substeps": count, "stiffness": stiffness, **more} for count, stiffness in list_of_pairs]


vbd = [
    {"solver": "vbd", "substeps": count, "iterations": iterations, "stiffness": stiffness, "self_contact": True}
    for count, iterations, stiffness in [(5, 10, 1e3), (10, 10, 1e3), (10, 20, 1e4), (20, 20, 1e4), (40, 20, 1e5), (80, 20, 1e5), (160, 20, 1e6)]
]
xpbd = [
    {"solver": "xpbd", "substeps": count, "iterations": 10, "stiffness": stiffness}
    for count, stiffness in [(5, 100), (10, 1e3), (20, 1e3), (20, 1e4), (40, 1e4), (80, 1e5), (160, 1e5), (320, 1e6)]
]
peers = [
    # name, command, what must be there for it, settings
    ("pyPBD", python("v1", "pypbd"), "v1/lib/python*/site-packages/pypbd*", substeps(5, 5120)),
    ("MuJoCo", python("v1", "mujoco"), "v1/lib/python*/site-packages/mujoco", substeps(1, 128, self_contact=True)),
    (
        "PyBullet",
        python("v1", "pybullet"),
        "v1/lib/python*/site-packages/pybullet*",
        pairs((4, 10), (4, 40), (8, 100), (16, 400), (32, 1600), (64, 6400), (128, 25600), self_contact=True),
    ),
    ("Newton XPBD", python("v3", "newton"), "v3/lib/python*/site-packages/newton", xpbd),
    ("Newton VBD", python("v3", "newton"), "v3/lib/python*/site-packages/newton", vbd),
    ("Jolt (wasm)", ["node", f"{here}/drive_jolt.mjs"], "js/node_modules/jolt-physics", substeps(5, 2560)),
    ("Rapier", [f"{root}/rapier/release/drive-rapier"], "rapier/release/drive-rapier", substeps(4, 1024, self_contact=True)),
    (
        "Blender",
        python("v2", "blender"),
        "v2/lib/python*/site-packages/bpy",
        pairs((2, 15), (5, 15), (5, 100), (10, 1000), (20, 1000), (20, 10000), (40, 10000), (80, 10000), self_contact=True),
    ),
]


def installed(pattern):
    import glob

    return bool(glob.glob(os.path.join(root, pattern)))


folder = lambda name: os.path.join(root, "js") if name.startswith("Jolt") else root
listed = [
    {"name": name, "command": command, "folder": folder(name), "ladder": ladder} for name, command, pattern, ladder in peers if installed(pattern)
]
json.dump(listed, sys.stdout, indent=1)
