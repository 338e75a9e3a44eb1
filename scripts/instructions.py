#!/usr/bin/env python3
"""Counts the instructions of hot kernels and holds them against results/instructions.json.

    scripts/instructions.py                    # fails where a kernel takes over 2 % more than it did
    scripts/instructions.py --update           # writes what it finds
    scripts/instructions.py --program PATH     # of a program that is built already

Instructions do not depend on what else a machine does, so a small allowance is enough. They are counted by callgrind, which has no AVX-512: kernels
run as they do with AVX2. A workload is run twice, the second time with twice the frames; the difference is free of start and end.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ALLOWANCE = 0.02
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(ROOT, "results", "instructions.json")

# Kernel: `taffeta bench` and these words, with the number of frames or steps last.
WORKLOADS = {
    "impulse-strips 40x40": ("hang --method impulse-strips --grid 40 --tolerance 0.001 --threads 1 --frames", 3),
    "impulse-iterative 20x20": ("hang --method impulse-iterative --grid 20 --tolerance 0.01 --threads 1 --frames", 3),
    "impulse-direct 20x20": ("hang --method impulse-direct --grid 20 --tolerance 0.001 --threads 1 --frames", 2),
    "verlet 30x30": ("hang --method verlet --grid 30 --threads 1 --frames", 2),
    "backward-euler 30x30": ("hang --method backward-euler --grid 30 --threads 1 --frames", 2),
    "bdf2 30x30": ("hang --method bdf2 --grid 30 --threads 1 --frames", 2),
    "drape with contact 30x30": ("drape --method impulse-strips --grid 30 --threads 1 --frames", 6),
    "trees of boxes": ("tree --triangles 4000 --steps", 3),
}


def skip(reason):
    print(f"SKIPPED: instruction counts: {reason}", flush=True)
    sys.exit(0)


def compiler():
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def count(program, words):
    """Instructions of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, "bench", *words]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
        return int(re.search(r"Collected : (\d+)", ended.stderr).group(1))


def measure(program):
    found = {}
    for name, (words, frames) in WORKLOADS.items():
        once, twice = (count(program, [*words.split(), str(many * frames)]) for many in (1, 2))
        found[name] = twice - once
        print(f"{name:28} {found[name]:>14,} instructions", flush=True)
    return found


def compare(found, kept):
    """Tells every kernel and returns those that take too many."""
    slower = []
    for name, now in found.items():
        before = kept.get(name)
        if before is None:
            print(f"{name}: not in {KEPT}; run scripts/instructions.py --update")
            slower.append(name)
            continue
        change = now / before - 1.0
        word = "SLOWER" if change > ALLOWANCE else "faster: keep it with --update" if change < -ALLOWANCE else "as before"
        print(f"{name:28} {100 * change:+7.2f} %  {word}")
        if change > ALLOWANCE:
            slower.append(name)
    return slower


def main():
    update = "--update" in sys.argv[1:]
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    with open("/proc/cpuinfo") as file:
        if " avx2 " not in file.read():
            skip("this processor has no AVX2, with which the counts were made")
    kept = None
    if not update:
        with open(KEPT) as file:
            kept = json.load(file)
        if kept["compiler"] != compiler():
            skip(f"they were made with {kept['compiler']}, this is {compiler()}")
    if "--program" in sys.argv[1:-1]:
        program = sys.argv[sys.argv.index("--program") + 1]
    else:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "taffeta-cli"], cwd=ROOT, check=True)
        program = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "taffeta")
    found = measure(program)
    if update:
        with open(KEPT, "w") as file:
            json.dump({"compiler": compiler(), "allowance": ALLOWANCE, "instructions": found}, file, indent=1)
            file.write("\n")
        return
    slower = compare(found, kept["instructions"])
    if slower:
        sys.exit(f"over {100 * ALLOWANCE:g} % more instructions: {', '.join(slower)}. Make them fewer, or keep the new counts with a reason.")


main()
