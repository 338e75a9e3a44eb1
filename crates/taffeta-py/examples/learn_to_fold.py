"""Learns to fold a towel on a CPU within a few minutes: `python learn_to_fold.py [picture.png]`.

A policy of ten numbers, found by the cross-entropy method (Rubinstein 1999): how both grippers move up and across in five
parts of an episode. Every round tries as many policies as there are towels, and goes on around the best of them.
"""

import sys
import time

import numpy as np
from taffeta.gym import LONGEST, FoldTowels

TOWELS, ROUNDS, BEST, PARTS = 48, 10, 8, 5


def actions(policies, step):
    """What every policy does in a step: both grippers move alike, up or down and across."""
    part = step * PARTS // LONGEST
    ways = np.zeros((len(policies), 2, 3))
    ways[..., 1:] = np.clip(policies.reshape(-1, PARTS, 1, 2)[:, part], -1, 1)
    return ways


def returns(env, policies):
    """What every policy earns in one episode, and whether it folds its towel."""
    env.reset()
    earned, folded, going = np.zeros(TOWELS), np.zeros(TOWELS, bool), np.ones(TOWELS, bool)
    for step in range(LONGEST):
        _, rewards, terminated, truncated, _ = env.step(actions(policies, step))
        earned += rewards * going
        folded |= terminated & going
        going &= ~(terminated | truncated)
    return earned, folded


def main(picture=None, rounds=ROUNDS):
    """Learns, tells of every round, and takes a picture of how the best policy folds."""
    random, env = np.random.default_rng(1), FoldTowels(TOWELS, particles=12, render_mode="rgb_array")
    mean, spread = np.zeros(2 * PARTS), np.full(2 * PARTS, 0.7)
    first, begun = None, time.perf_counter()
    for number in range(rounds):
        policies = mean + spread * random.standard_normal((TOWELS, 2 * PARTS))
        earned, folded = returns(env, policies)
        best = policies[np.argsort(earned)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        first = earned.mean() if first is None else first
        print(f"round {number + 1:2}: mean return {earned.mean():6.2f}, folded {folded.sum():3} of {TOWELS}, "
              f"{time.perf_counter() - begun:5.1f} s", flush=True)
    if picture:
        folding(env, mean, picture)
    return first, earned.mean(), folded.mean()


def folding(env, policy, picture):
    """Four moments of an episode side by side."""
    import matplotlib.pyplot as plt

    env.reset()
    shots = [env.render()[0]]
    for step in range(LONGEST):
        _, _, terminated, _, _ = env.step(actions(np.tile(policy, (TOWELS, 1)), step))
        if terminated[0]:
            break
        shots.append(env.render()[0])
    chosen = np.linspace(0, len(shots) - 1, 4).astype(int)
    plt.imsave(picture, np.concatenate([shots[k] for k in chosen], axis=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
