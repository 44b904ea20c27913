"""A seeded generator that deals registered names evenly, so that none of them is left out by chance."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class Draw:
    """Draws of one seed. They depend on it and on the names that are dealt, on nothing else."""

    def __init__(self, seed: int | str, names: dict[str, list[str]]) -> None:
        """Take the seed, and the names of each kind."""
        self.rng = random.Random(seed)
        self.names = names
        self._decks: dict[str, list[str]] = {}

    def chance(self, share: float) -> bool:
        """Say yes to this share of all calls."""
        return self.rng.random() < share

    def one(self, *values: Any) -> Any:
        """Choose one of the values."""
        return self.rng.choice(values)

    def whole(self, least: int, most: int) -> int:
        """Choose a whole number, both ends included."""
        return self.rng.randint(least, most)

    def name(self, kind: str, among: Sequence[str] = ()) -> str:
        """Deal a name of a kind: each comes once before any comes again. `among` are the names instead of all."""
        place = f"{kind} {' '.join(among)}"
        if not self._decks.get(place):
            self._decks[place] = list(among or self.names[kind])
            self.rng.shuffle(self._decks[place])
        return self._decks[place].pop()

    def some(self, settings: dict[str, tuple[Any, ...]], share: float = 0.4) -> dict[str, Any]:
        """Choose a value for a share of the keys; each key comes with its values."""
        return {key: self.one(*values) for key, values in settings.items() if self.chance(share)}
