"""Makes the sample and two runs, reads all exports with every program that is installed, and prints a table.

Usage: python all.py FOLDER, in a clone of the repository; needs cargo. What is not installed is skipped, loudly. Exit code 1 where
anything differs.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

here, folder = Path(__file__).parent, Path(sys.argv[1]).resolve()
taffeta = ["cargo", "run", "--quiet", "--release", "--"]


def make(*words):
    print("making:", *words[-4:], flush=True)
    subprocess.run(words, check=True, cwd=here.parent)


def has_validator():
    return not subprocess.run(["node", "-e", "require('gltf-validator')"], capture_output=True, cwd=os.getcwd()).returncode


make("cargo", "run", "--quiet", "--release", "-p", "taffeta-io", "--example", "record_sample", "--", str(folder / "sample"))
for scene in ("objects", "shirt"):
    make(*taffeta, "run", scene, "--quiet", "--lenient", "--no-picture", "--overwrite", "--out", str(folder / scene))
    for kind in ("usda", "usdz", "abc", "glb"):
        make(*taffeta, "export", str(folder / scene), "--replace", "--quiet", "--out", str(folder / f"{scene}.{kind}"))
for kind in ("usda", "glb"):
    bones = ["--bodies", "skeleton"]
    make(*taffeta, "export", str(folder / "shirt"), "--replace", "--quiet", *bones, "--out", str(folder / f"shirt_bones.{kind}"))

python, sample = sys.executable, str(folder / "sample")
checks = [
    ("bpy", [python, here / "blender.py", sample]),
    ("pxr", [python, here / "usd.py", sample]),
    ("pxr", [python, here / "film.py", folder / "objects", folder / "objects.usda", folder / "objects.usdz"]),
    ("pxr", [python, here / "film.py", folder / "shirt", folder / "shirt.usda", folder / "shirt.usdz"]),
    ("pxr", [python, here / "skeleton.py", folder / "shirt", folder / "shirt_bones.usda"]),
    ("numpy", [python, here / "skeleton.py", folder / "shirt", folder / "shirt_bones.glb"]),
    ("trimesh", [python, here / "meshes.py", sample]),
    ("CGAL", [python, here / "cgal.py", folder / "objects" / "recording.taffeta"]),
    ("CGAL", [python, here / "cgal.py", folder / "shirt" / "recording.taffeta", "40"]),
]
for file in ("sample/sample_gltf.glb", "objects.glb", "shirt.glb", "shirt_bones.glb"):
    checks.append(("gltf-validator", ["node", here / "gltf.js", folder / file]))
rows = []
for needs, words in checks:
    what = " ".join(Path(word).name for word in map(str, words[1:]))
    there = has_validator() if needs == "gltf-validator" else importlib.util.find_spec(needs) is not None
    if not there:
        print(f"SKIPPED: {needs} is not installed, so {what} was not run", flush=True)
        rows.append((what, needs, "SKIPPED"))
        continue
    print(f"--- {what}", flush=True)
    ended = subprocess.run(list(map(str, words)))
    rows.append((what, needs, "ok" if ended.returncode == 0 else "DIFFERS"))
print()
for what, needs, verdict in rows:
    print(f"| {what:48} | {needs:14} | {verdict:8} |")
sys.exit(any(verdict == "DIFFERS" for *_, verdict in rows))
