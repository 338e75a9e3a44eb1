"""An environment for learning: `FoldTowel-v0`, for one towel or for many at once.

>>> import gymnasium, taffeta.gym
>>> one = gymnasium.make("FoldTowel-v0")
>>> many = gymnasium.make_vec("FoldTowel-v0", num_envs=256, vectorization_mode="vector_entry_point")

Two grippers hold the two corners of one side of a towel that lies on a table. An action moves each of them by up to
`REACH` along x, y and z. The towel is folded when the held corners lie on the other two; the reward is how much closer
they came, and 1 at once for a fold.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from .batch import Batch

SIZE = 0.4
"""Sides of the towel [m]."""
REACH = 0.04
"""How far a gripper moves in a step at most, along every axis [m]."""
FOLDED = 0.05
"""Corners nearer to their goals than this are on them [m]."""
LONGEST = 40
"""Steps after which an episode ends."""
CAMERA = ((0.0, 0.9, 0.75), (0.0, 0.05, 0.0))
"""Where the camera stands and what it looks at [m]."""


def towel(particles: int) -> dict[str, Any]:
    """The scene: a towel of so many particles along each side on a table, its frames a thirtieth of a second."""
    sheet = {"width": SIZE, "height": SIZE, "columns": particles, "rows": particles}
    return {
        "title": "A towel on a table",
        "solver": {"tolerance": 0.05},
        "cloth": [{"name": "towel", "fabric": "cotton", "position": [0, 0.004, 0], "sheet": sheet}],
        "collider": [{"name": "table", "plane": {}, "friction": 0.6}],
    }


def within_reach(places: Any) -> Any:
    """Where the grippers go: above the table, not past one another, and no further apart than the towel is wide [m]."""
    places = np.clip(places, [-SIZE, 0.004, -SIZE], SIZE)
    places[:, 0, 0] = np.minimum(places[:, 0, 0], -0.02)
    places[:, 1, 0] = np.maximum(places[:, 1, 0], 0.02)
    middle = places.mean(axis=1, keepdims=True)
    apart = np.linalg.norm(places[:, :1] - places[:, 1:], axis=2, keepdims=True)
    return middle + (places - middle) * np.minimum(1, SIZE / apart)


class FoldTowels(VectorEnv[Any, Any, Any]):
    """Many towels, stepped on all cores. Observations are particles, `(envs, particles, 3)` [m], or pictures."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30, "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, num_envs: int = 1, observation: str = "particles", particles: int = 16, image_size: int = 64,
                 render_mode: str | None = None) -> None:
        """`observation` is `particles` or `image`; the towel has `particles` along each side."""
        if observation not in ("particles", "image"):
            raise ValueError(f"observation = {observation!r}: choose 'particles' or 'image'")
        self.num_envs, self.observation, self.image_size, self.render_mode = num_envs, observation, image_size, render_mode
        self.batch = Batch(towel(particles), num_envs)
        self._start = self.batch.snapshot(0)
        last = particles * particles - 1
        # The side that is held, and the corners that it is folded onto.
        self._held, self._goals = np.array([0, particles - 1]), np.array([last - particles + 1, last])
        if observation == "image":
            self.single_observation_space = spaces.Box(0, 255, (image_size, image_size, 3), np.uint8)
        else:
            self.single_observation_space = spaces.Box(-np.inf, np.inf, (last + 1, 3), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, (2, 3), np.float32)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self._steps = np.zeros(num_envs, np.int64)

    def reset(self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Lays all towels flat; those of `options["reset_mask"]` alone, if it is given."""
        super().reset(seed=seed if not isinstance(seed, list) else seed[0])
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        self._lay(np.flatnonzero(mask))
        return self._observe(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Moves all grippers and simulates a frame. Episodes that end start anew in the same step; `final_obs` is how they ended."""
        before = self._distances()
        ways = REACH * np.clip(np.asarray(actions, np.float64), -1, 1)
        places = within_reach(self.batch.positions[:, self._held] + ways)
        for member in range(self.num_envs):
            self.batch.hold(member, self._held, places[member], 1 / 30)
        self.batch.step_frame()
        self._steps += 1
        after = self._distances()
        terminated = (after < FOLDED).all(axis=1)
        rewards = (before - after).sum(axis=1) / SIZE + terminated
        truncated = (self._steps >= LONGEST) & ~terminated
        ended = np.flatnonzero(terminated | truncated)
        observation, infos = self._observe(), {}
        if len(ended):
            infos = {"final_obs": observation.copy(), "_final_obs": terminated | truncated}
            self._lay(ended)
            observation = self._observe()
        return observation, rewards, terminated, truncated, infos

    def render(self) -> Any:
        """Pictures of all towels."""
        return self.batch.render(256, 256, CAMERA) if self.render_mode == "rgb_array" else None

    def _lay(self, members: Any) -> None:
        self.batch.restore(self._start, members.tolist())
        self._steps[members] = 0

    def _distances(self) -> Any:
        """How far every held corner is from its goal, over the table [m]."""
        return np.linalg.norm(self.batch.positions[:, self._held] - self.batch.positions[:, self._goals], axis=2)

    def _observe(self) -> Any:
        if self.observation == "image":
            return self.batch.render(self.image_size, self.image_size, CAMERA)
        return self.batch.positions.astype(np.float32)


class FoldTowel(gymnasium.Env[Any, Any]):
    """One towel: `FoldTowels` with a single member."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        """The same options as `FoldTowels`."""
        self.many, self.render_mode = FoldTowels(1, render_mode=render_mode, **options), render_mode
        self.observation_space, self.action_space = self.many.single_observation_space, self.many.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Lays the towel flat."""
        super().reset(seed=seed)
        observation, _ = self.many.reset()
        return observation[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Moves the grippers and simulates a frame."""
        observation, reward, terminated, truncated, infos = self.many.step(np.asarray(action)[None])
        last = infos["final_obs"][0] if infos else observation[0]
        return last, float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}

    def render(self) -> Any:
        """A picture of the towel."""
        return self.many.batch.render(256, 256, CAMERA)[0] if self.render_mode == "rgb_array" else None


def register() -> None:
    """Makes `FoldTowel-v0` known to Gymnasium, which calls this by itself where the package is installed."""
    if "FoldTowel-v0" not in gymnasium.registry:
        gymnasium.register("FoldTowel-v0", entry_point="taffeta.gym:FoldTowel", vector_entry_point="taffeta.gym:FoldTowels")


register()
