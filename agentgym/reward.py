"""The reward of a step."""

from __future__ import annotations

from typing import Literal

RewardMode = Literal["sparse", "shaped"]
MODES: tuple[RewardMode, ...] = ("sparse", "shaped")

VETO_RETURN = -1.0
"""What an episode's return becomes, once and for all, when something forbidden is done."""

_SHARE = 0.5


class Reward:
    """Turns progress into rewards.

    ``sparse``: 1 on success, else 0. ``shaped``: with Φ = 0.5 × checkpoint share, each step pays ΔΦ and a success the
    rest to 1, so the return is 1 or 0.5 × share (potential-based: nothing is gained by undoing and redoing). In both a
    veto brings the return to −1 on the step where it is raised, and every later reward is 0.

    Attributes:
        total: the return so far.
    """

    def __init__(self, mode: RewardMode) -> None:
        if mode not in MODES:
            raise ValueError(f"expected reward to be one of {', '.join(MODES)}, got {mode!r}")
        self.mode = mode
        self.total = 0.0
        self._vetoed = False

    def step(self, share: float, success: bool, veto: bool) -> float:
        """The reward of a step.

        Args:
            share: checkpoint share after the step, 0–1.
            success: the episode ended in success with this step.
            veto: something forbidden has been done.
        """
        if self._vetoed:
            return 0.0
        if veto:
            self._vetoed = True
            target = VETO_RETURN
        elif success:
            target = 1.0
        else:
            target = _SHARE * share if self.mode == "shaped" else 0.0
        reward = target - self.total
        self.total = target
        return reward

    def get_state(self) -> list[float | bool]:
        """The return and whether a veto was paid."""
        return [self.total, self._vetoed]

    def set_state(self, state: list[float | bool]) -> None:
        """Take up a state that `get_state` gave."""
        self.total, self._vetoed = float(state[0]), bool(state[1])
