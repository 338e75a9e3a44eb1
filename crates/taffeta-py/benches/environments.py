"""Steps of environments in a second, and what Python adds to a step: `python environments.py [count] [seconds]`."""

import json
import os
import sys
import time

import numpy as np
import taffeta
from taffeta.gym import FoldTowels


def environments(count, seconds):
    """256 towels of 32 × 32 particles at 30 Hz of simulated time, if no other count is asked for."""
    env = FoldTowels(count, particles=32)
    env.reset()
    random = np.random.default_rng(1)
    actions = 0.3 * random.uniform(-1, 1, (count, 2, 3)).astype(np.float32) + [0, 0.3, -0.5]
    env.step(actions)
    begun, steps = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        env.step(actions)
        steps += count
    return steps / (time.perf_counter() - begun)


def overhead(repeats=200):
    """The share of `sim.step()` at 50 × 50 particles that is not the engine's, with both arrays looked at."""
    sim = taffeta.Simulation("hang", **{"cloth[0].sheet.rows": 50, "cloth[0].sheet.columns": 50})
    for _ in range(20):
        sim.step()
    sim.positions, sim.velocities
    whole, engine = [], []
    for _ in range(repeats):
        begun = time.perf_counter()
        sim.step()
        whole.append(time.perf_counter() - begun)
        engine.append(sim.last_step_seconds)
    return 1 - np.median(engine) / np.median(whole), 1e3 * np.median(whole)


if __name__ == "__main__":
    count, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 256, float(sys.argv[2]) if len(sys.argv) > 2 else 10
    share, step_ms = overhead()
    print(json.dumps({"cores": os.cpu_count(), "towels": count, "environment_steps_per_s": round(environments(count, seconds)),
                      "step_50_ms": round(step_ms, 3), "python_share_of_step": round(share, 4)}))
