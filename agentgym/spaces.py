"""The spaces of every environment: Unicode text and tool calls.

Both are direct subclasses of `gym.Space`. (`gym.spaces.Text` rejects what is not in its alphabet, takes milliseconds to
check a page, and turns to constant garbage in the shared memory of `AsyncVectorEnv`; custom spaces are refused there
with a clear error instead.)
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import gymnasium as gym
import numpy as np

from agentgym import sampling
from agentgym.errors import did_you_mean

_THOUGHT = frozenset({"thought"})


class UnicodeText(gym.Space[str]):
    r"""Any string that can be written as UTF-8 and holds no NUL.

    Args:
        max_length: most characters, or None for no bound.
        seed: of `sample`.

    >>> "é — ✓ {}" in UnicodeText(), "a\x00b" in UnicodeText(), "half a pair \ud83d" in UnicodeText()
    (True, False, False)
    """

    def __init__(self, max_length: int | None = None, seed: int | np.random.Generator | None = None) -> None:
        if max_length is not None and max_length < 0:
            raise ValueError(f"max_length must be ≥ 0 or None, got {max_length}")
        self.max_length = max_length
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no flat form."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a short printable text, of 0 to 24 characters.

        Raises:
            ValueError: a mask or a probability is given; text has none.
        """
        if mask is not None or probability is not None:
            raise ValueError("UnicodeText takes neither mask nor probability; pass None")
        return sampling.text(self.np_random, 0, 24 if self.max_length is None else min(24, self.max_length))

    def contains(self, x: Any) -> bool:
        """Whether *x* is such a text. Constant time for ASCII but for the search for NUL."""
        if not isinstance(x, str) or (self.max_length is not None and len(x) > self.max_length) or "\0" in x:
            return False
        if x.isascii():
            return True
        try:
            x.encode()
        except UnicodeEncodeError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __repr__(self) -> str:
        return "UnicodeText()" if self.max_length is None else f"UnicodeText(max_length={self.max_length})"


class ActionSpace(gym.Space[Any]):
    """Tool calls. `contains` looks at the form, not at names and arguments: those are the environment's to answer.

    Args:
        schemas: OpenAI function schemas of the tools that `sample` calls.
        seed: of `sample`.

    Raises:
        ValueError: there is no schema, or two of one name.
    """

    def __init__(self, schemas: Sequence[Mapping[str, Any]], seed: int | np.random.Generator | None = None) -> None:
        functions = sorted((schema["function"] for schema in schemas), key=lambda function: str(function["name"]))
        self.names: tuple[str, ...] = tuple(function["name"] for function in functions)
        if not functions or len(set(self.names)) != len(functions):
            raise ValueError(f"an action space needs tools with different names, got {list(self.names)}")
        self._parameters: dict[str, Mapping[str, Any]] = {
            function["name"]: function.get("parameters", {}) for function in functions
        }
        self._identity = json.dumps(functions, sort_keys=True)
        super().__init__(shape=None, dtype=None, seed=seed)

    def __deepcopy__(self, memo: dict[int, Any]) -> ActionSpace:
        """A space with the same position in its draws; the schemas, which nobody changes, are shared."""
        new = copy.copy(self)
        new._np_random = copy.deepcopy(self._np_random, memo)
        return new

    @property
    def is_np_flattenable(self) -> bool:
        """Tool calls have no flat form."""
        return False

    def sample(
        self,
        mask: Iterable[str] | np.ndarray[Any, Any] | None = None,
        probability: Sequence[float] | np.ndarray[Any, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a random call whose arguments satisfy the tool's schema.

        Args:
            mask: names that may be drawn, or a boolean array over `names` (which are sorted).
            probability: weights over `names`, ≥ 0, of a positive sum.

        Raises:
            ValueError: the mask allows nothing or names an unknown tool, the weights do not fit, or both are given.
        """
        if mask is not None and probability is not None:
            raise ValueError("sample takes a mask or a probability, not both")
        if probability is not None:
            name = self.names[self._weighted(probability)]
        else:
            allowed = self.names if mask is None else self._allowed(mask)
            name = sampling.pick(allowed, self.np_random)
        schema = {"type": "object", **self._parameters[name]}
        return {"name": name, "arguments": sampling.draw(schema, self.np_random)}

    def contains(self, x: Any) -> bool:
        """Whether *x* has the form of an action: a string, an action dict or an OpenAI tool call (dict or object)."""
        if isinstance(x, str):
            return True
        if not isinstance(x, Mapping):
            return _is_function(getattr(x, "function", None))
        if "name" not in x:
            return _is_function(x.get("function"))
        extra = x.keys() - {"name", "arguments"}
        return _is_function(x) and (not extra or (extra == _THOUGHT and isinstance(x["thought"], str)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and self._identity == other._identity

    def __repr__(self) -> str:
        return f"ActionSpace({len(self.names)} tools: {', '.join(self.names)})"

    def _allowed(self, mask: Iterable[str] | np.ndarray[Any, Any]) -> list[str]:
        if isinstance(mask, np.ndarray) and mask.dtype.kind in "biu":
            if mask.shape != (len(self.names),):
                raise ValueError(
                    f"the mask must have the shape ({len(self.names)},), one entry a name, got {mask.shape}"
                )
            allowed = [name for name, flag in zip(self.names, mask, strict=True) if flag]
        else:
            wanted = {mask} if isinstance(mask, str) else {str(name) for name in mask}
            for name in sorted(wanted.difference(self.names)):
                raise ValueError(f"the mask names {name!r}, which is no tool{did_you_mean(name, self.names)}")
            allowed = [name for name in self.names if name in wanted]
        if not allowed:
            raise ValueError("the mask allows no tool")
        return allowed

    def _weighted(self, probability: Sequence[float] | np.ndarray[Any, Any]) -> int:
        weights = np.asarray(probability, dtype=np.float64)
        if weights.shape != (len(self.names),) or not np.all(weights >= 0) or not 0 < weights.sum() < np.inf:
            raise ValueError(f"probability must be {len(self.names)} weights ≥ 0 with a positive sum, one a name")
        sums = np.cumsum(weights)
        return int(np.searchsorted(sums, sampling.uniform(self.np_random) * sums[-1], side="right"))


def observation_space() -> gym.Space[dict[str, str]]:
    """The observation space of every environment: a `gym.spaces.Dict` of role, name, content and notices, all text."""
    space = gym.spaces.Dict({key: UnicodeText() for key in ("role", "name", "content", "notices")})
    return cast("gym.Space[dict[str, str]]", space)


def _is_function(part: Any) -> bool:
    """Whether *part* (a dict or an object) has a string as name and a dict or a string as arguments."""
    if isinstance(part, Mapping):
        name, arguments = part.get("name"), part.get("arguments")
    else:
        name, arguments = getattr(part, "name", None), getattr(part, "arguments", None)
    return isinstance(name, str) and isinstance(arguments, Mapping | str)
