"""Names that a user gives to keys, figures and values, for heads of columns, rows, axes and legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import leaves, shown
from flashwatt.base.misspelt import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Labels:
    """Labels by what they replace: `{"gc.policy": "Collector", "cost_benefit": "cost-benefit"}`.

    A key or a figure is called by its dotted key, a value by its text in a configuration, without quotation marks.
    A table of labels below a key is for the values of this key alone, `{"device.channels": {"1": "one"}}`, in short
    `device.channels.1`.
    """

    def __init__(self, given: Mapping[str, Any] | None = None, place: str = "labels") -> None:
        """Take the labels of a user; `place` names them in messages. Raises `FlashwattError` for what is no text."""
        self._place = place
        if given is not None and not isinstance(given, Mapping):
            expected = 'expected a dictionary: {"gc.policy": "Policy"}'
            raise _core.FlashwattError(f"{place}: found {shown(given)}; {expected}")
        self._given: dict[str, str] = {str(name): label for name, label in leaves(_as_text(given or {}))}
        for name, label in self._given.items():
            if not isinstance(label, str) or not label.strip():
                raise _core.FlashwattError(f"{place}: {name}: found {shown(label)}; expected a text that is not empty")

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._given)

    def over(self, other: Labels) -> Labels:
        """Give these labels with others laid over them."""
        both = Labels(place=other._place)
        both._given = {**self._given, **other._given}
        return both

    def name(self, key: str, otherwise: str) -> str:
        """Give the label of a key or a figure."""
        return self._given.get(key, otherwise)

    def value(self, key: str, text: str, otherwise: str | None = None) -> str:
        """Give the label of a value of a key: `text` is the value as a configuration has it."""
        return self._given.get(f"{key}.{text}", self._given.get(text, text if otherwise is None else otherwise))

    def check(self, names: Iterable[str], values: Mapping[str, Sequence[str]]) -> None:
        """Raise `FlashwattError` for a label of nothing, and for one label of two values of a key.

        `names` are the keys and figures that there are, `values` the texts of the values by their keys.
        """
        if not self:
            return
        texts = [(key, text) for key, listed in values.items() for text in listed]
        every = dict.fromkeys((*values, *(text for _, text in texts), *names, *(f"{key}.{one}" for key, one in texts)))
        known(self._place, self._given, every)
        for key, listed in values.items():
            found: dict[str, str] = {}
            for text in dict.fromkeys(listed):
                label = self.value(key, text)
                if label in found:
                    both = f"{key}: `{found[label]}` and `{text}` are both called {label!r}"
                    raise _core.FlashwattError(f"{self._place}: {both}; expected two labels")
                found[label] = text


def _as_text(tree: Mapping[Any, Any]) -> dict[str, Any]:
    """The same tree with names as text: a value of Python may be a number."""
    return {str(name): _as_text(one) if isinstance(one, Mapping) else one for name, one in tree.items()}
