"""`FoldTowel-v0`: Gymnasium's own checker, folding by hand, and learning."""

import os
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from taffeta.gym import LONGEST, FoldTowels, register  # noqa: E402

register()


@pytest.mark.parametrize("observation", ["particles", "image"])
def test_the_checker_of_gymnasium_passes(observation):
    env = gymnasium.make("FoldTowel-v0", observation=observation, particles=8, image_size=24, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*")
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(env.unwrapped, skip_render_check=False)


def over(step, towels):
    """Up, across and down: how anybody folds a towel."""
    way = [0, 0.9, -0.7] if step < 6 else [0, 0, -0.8] if step < 10 else [0, -0.6, -0.5]
    return np.tile(np.array(way, np.float32), (towels, 2, 1))


def test_a_towel_is_folded_by_hand_and_starts_anew():
    env = gymnasium.make_vec("FoldTowel-v0", num_envs=3, vectorization_mode="vector_entry_point", particles=10)
    flat, _ = env.reset(seed=1)
    earned, folded = np.zeros(3), np.zeros(3, bool)
    for step in range(LONGEST):
        observation, rewards, terminated, truncated, infos = env.step(over(step, 3))
        earned += rewards
        folded |= terminated
        if terminated.any():
            break
    assert folded.all() and (earned > 2.5).all()
    assert np.allclose(observation, flat), "it lies flat again"
    last = infos["final_obs"][0]
    assert np.linalg.norm(last[0] - last[90]) < 0.06 and last[:, 1].max() < 0.3
    assert env.batch.certificates()[0].holds


def test_many_are_as_one():
    many, one = FoldTowels(2, particles=8), FoldTowels(1, particles=8)
    many.reset(), one.reset()
    for step in range(6):
        actions = over(step, 2)
        actions[1] *= 0.5
        a, b = many.step(actions)[0][0], one.step(actions[:1])[0][0]
        assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="particles"):
        FoldTowels(1, observation="smell")


@pytest.mark.skipif(os.environ.get("TAFFETA_LONG") != "1", reason="TAFFETA_LONG=1 learns too")
def test_the_example_learns():
    example = Path(__file__).parents[1] / "examples" / "learn_to_fold.py"
    first, last, folded = runpy.run_path(str(example))["main"](rounds=5)
    assert last > first + 0.5 and folded > 0.2
