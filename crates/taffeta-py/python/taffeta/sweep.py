"""Sweeps on a Ray cluster: `python -m taffeta.sweep FILE.toml --out DIR --ray ADDRESS`.

A run is a task. Its result, and its recording if that is wanted, come back through Ray's object store and are kept by the process that asked, in
the folder that `taffeta sweep` would write: the table is the same, bit for bit. Tasks of nodes that were lost are tried again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._taffeta import Sweep, run_job

__all__ = ["main", "on_ray"]

Told = Callable[[int, int, int], None]


def carry_out(job: str) -> tuple[str, bytes | None]:
    """Carries out a job on this machine; its result, and the recording if one is wanted."""
    asked = json.loads(job)
    if asked["recording"] is None:
        return run_job(job), None
    with tempfile.TemporaryDirectory() as folder:
        asked["recording"] = os.path.join(folder, "recording.taffeta")
        result = run_job(json.dumps(asked))
        done = json.loads(result)["outcome"]["status"] == "done"
        return result, Path(asked["recording"]).read_bytes() if done else None


def on_ray(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    address: str | None = None,
    resume: bool = False,
    memory: int | None = None,
    retries: int = 5,
    told: Told | None = None,
) -> dict[str, int]:
    """Carries out a sweep on a Ray cluster; how many runs ended in which way.

    `address` is Ray's; None takes the cluster that this process is connected to. `memory` is what a run is to have, in bytes; `told` hears
    after every run how many are done, how many there are and how many failed.
    """
    # By its name: it has no types, and need not be there for the rest of the package.
    ray: Any = importlib.import_module("ray")
    if address is not None:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True)
    needs: dict[str, Any] = {"num_cpus": 1, "max_retries": retries}
    if memory is not None:
        needs["memory"] = memory
    task = ray.remote(**needs)(carry_out)
    sweep = Sweep(file, out, resume)
    left = sweep.left()
    # Enough for every core to have the next at hand, and few enough for the memory of this process.
    window = max(8, 4 * int(ray.cluster_resources().get("CPU", 1)))
    running: dict[Any, str] = {}
    done = failed = 0
    queue = iter(left)
    while True:
        while len(running) < window and (run := next(queue, None)) is not None:
            job = sweep.job(run)
            if memory is not None:
                job = json.dumps({**json.loads(job), "memory": memory})
            running[task.remote(job)] = job
        if not running:
            break
        ready, _ = ray.wait(list(running), num_returns=1)
        for answer in ready:
            asked = json.loads(running.pop(answer))
            try:
                result, recording = ray.get(answer)
            except ray.exceptions.RayError as error:
                result, recording = lost(asked["address"], error, retries), None
            if recording is not None:
                Path(asked["recording"]).write_bytes(recording)
            sweep.keep(result)
            done += 1
            failed += json.loads(result)["outcome"]["status"] != "done"
            if told is not None:
                told(done, len(left), failed)
    return sweep.finish()


def lost(address: str, error: Exception, retries: int) -> str:
    """The result of a run that the cluster has lost for good."""
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    took = {"wall_ms": 0.0, "cpu_ms": 0.0, "attempts": retries + 1}
    return json.dumps({"address": address, "outcome": {"status": "lost", "reason": reason}, "took": took})


def main(words: list[str] | None = None) -> int:
    """The command; its exit code, as that of `taffeta sweep`."""
    parser = argparse.ArgumentParser(prog="python -m taffeta.sweep", description="Carries out a sweep on a Ray cluster.")
    parser.add_argument("file", metavar="FILE.toml", help="the sweep file")
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to write to")
    parser.add_argument("--ray", metavar="ADDRESS", required=True, help="the cluster: HOST:PORT, auto, or local for this machine alone")
    parser.add_argument("--resume", action="store_true", help="go on with the sweep that lies in the folder")
    parser.add_argument("--memory", metavar="BYTES", type=int, help="what a run is to have")
    parser.add_argument("--retries", metavar="N", type=int, default=5, help="how often a run of a lost node is tried again (5)")
    args = parser.parse_args(words)
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        print("error: the package ray is not installed; `pip install ray`, or use `taffeta sweep` on this machine", file=sys.stderr)
        return 2
    last = [time.monotonic()]

    def told(done: int, all_runs: int, failed: int) -> None:
        if time.monotonic() - last[0] > 5:
            last[0] = time.monotonic()
            print(f"{done} of {all_runs} runs done, {failed} failed", file=sys.stderr)

    try:
        tally = on_ray(
            args.file, args.out, address=args.ray, resume=args.resume, memory=args.memory, retries=args.retries, told=told
        )
    except (ValueError, OSError, ConnectionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command with --resume goes on", file=sys.stderr)
        return 3
    finally:
        ray.shutdown()
    print(f"{sum(tally.values())} runs: " + ", ".join(f"{count} {status}" for status, count in tally.items()))
    return 0 if set(tally) <= {"done"} else 1


if __name__ == "__main__":
    sys.exit(main())
