"""Steps of environments in a second, and what Python adds to a step: `python environments.py [count] [seconds]`."""

import json
import os
import sys
import time

import numpy as np
import taffeta
from taffeta.gym import FoldTowels


def environments(count, seconds):
    """Steps in a second, and processor time of one [ms]: 256 towels of 32 × 32 particles at 30 Hz of simulated time, if no other count is asked for.
    Grippers are moved at random and on the whole towards the fold; episodes of 40 steps end and begin anew."""
    env = FoldTowels(count, particles=32)
    env.reset()
    random = np.random.default_rng(1)
    actions = 0.3 * random.uniform(-1, 1, (count, 2, 3)).astype(np.float32) + [0, 0.3, -0.5]
    env.step(actions)
    begun, spent, steps = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begun < seconds:
        env.step(actions)
        steps += count
    return steps / (time.perf_counter() - begun), 1e3 * (time.process_time() - spent) / steps


def step_cpu(particles, count):
    """Processor time of `sim.step()` with both arrays looked at, on one thread [s]."""
    sim = taffeta.Simulation("hang", **{"cloth[0].sheet.rows": particles, "cloth[0].sheet.columns": particles})
    for _ in range(10):
        sim.step()
    sim.positions, sim.velocities
    begun = time.process_time()
    for _ in range(count):
        sim.step()
        sim.positions, sim.velocities
    return (time.process_time() - begun) / count


def overhead():
    """The most that Python can add to a step at 50 × 50 particles: a step of four particles, the engine's part of it included, and the copy of both arrays."""
    from_array, into = np.ones((2500, 3)), np.zeros((2500, 3))
    begun = time.process_time()
    for _ in range(20_000):
        into[:] = from_array
        into[:] = from_array
    copy = (time.process_time() - begun) / 20_000
    whole = step_cpu(50, 120)
    return (min(step_cpu(2, 3000) for _ in range(3)) + copy) / whole, 1e3 * whole


if __name__ == "__main__":
    count, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 256, float(sys.argv[2]) if len(sys.argv) > 2 else 10
    taffeta.set_threads(1)
    share, step_ms = overhead()
    taffeta.set_threads(os.cpu_count())
    per_second, step_cpu_ms = environments(count, seconds)
    print(json.dumps({"cores": os.cpu_count(), "towels": count, "environment_steps_per_s": round(per_second),
                      "environment_step_cpu_ms": round(step_cpu_ms, 3), "step_50_cpu_ms": round(step_ms, 3), "python_share_of_step_at_most": round(share, 4)}))
