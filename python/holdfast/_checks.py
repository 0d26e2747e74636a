"""What a failed check says: the program's own words for what it checked, and its line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ._births import born_label
from ._diagnostics import argument_name
from ._staging import is_staged, stage
from ._tensor import convert_to_tensor
from .errors import fail, used_here

__all__ = ["Place", "births", "name_of", "run_check"]


class Place:
    """A check as the program wrote it: its name, its operands in the user's words, its line."""

    def __init__(self, check: str, *operands: tuple[Any, str], words: Sequence[str] = ()) -> None:
        self.check = check
        self._operands = operands
        self._words = list(words)
        self._settled: tuple[list[str], list[dict[str, Any]], list[dict[str, Any]]] | None = None

    def settle(self) -> None:
        """Looks everything up now; later the line that is executing is another."""
        names = self._words or [
            name_of(value, i, keyword) for i, (value, keyword) in enumerate(self._operands)
        ]
        things = [(value, name) for (value, _), name in zip(self._operands, names, strict=True)]
        self._settled = names, births(*things), used_here("checked here")

    @property
    def names(self) -> list[str]:
        """What the user typed for the operands."""
        if self._settled is None:
            self.settle()
        assert self._settled is not None
        return self._settled[0]

    def _labels(self, operand: int | None) -> list[dict[str, Any]]:
        """Where an operand was born, or all of them, and where they are checked."""
        name = None if operand is None else f"`{self.names[operand]}`"
        assert self._settled is not None
        _, born, used = self._settled
        return [*(label for label in born if name is None or name in label["text"]), *used]

    def refuse(
        self, found: str, why: str, message: str | None, operand: int | None = None
    ) -> NoReturn:
        """Stops the program; `operand` is the one to blame, where it is one alone."""
        first = self.names[operand or 0] if self.names and self.check != "Assert" else ""
        labels = self._labels(operand)
        born = [label for label in labels if label["role"] == "born"]
        where = f", in line {born[0]['loc']['line']}" if born else ""
        fail(
            "E1106",
            f"`{self.check}` failed: {found}",
            f"{message}: {why}" if message else why,
            fix=f"check where `{first}` comes from{where}" if first else "",
            labels=labels,
            op=self.check,
        )

    def wrong_shape(self, operand: int, rule: str, shape: Any, message: str | None) -> NoReturn:
        """Stops the program: the shape of an operand does not fit the rule."""
        prefix, name = f"{message}: " if message else "", self.names[operand]
        fail(
            "E1106",
            f"`{self.check}` failed: `{name}` has shape {shape}",
            f"{prefix}`{name}` must have {rule}, and has rank {shape.rank}.",
            labels=self._labels(operand),
            op=self.check,
        )


def run_check(place: Place, check: Callable[..., None], *operands: Any) -> None:
    """Checks values now; those of a graph each time it runs."""
    tensors = [convert_to_tensor(x) for x in operands]
    if not is_staged(tensors):
        check(*tensors)
        return
    place.settle()
    stage("Assert", place.check, check, tensors)


def name_of(value: Any, position: int, keyword: str) -> str:
    """What the user typed for an argument of the executing check; else what the check calls it."""
    return argument_name(value, position, keyword) or keyword


def births(*things: tuple[Any, str]) -> list[dict[str, Any]]:
    """The labels for where things were made."""
    return [label for thing, name in things for label in born_label(thing, name)]
