"""What is known of a staged statement besides its code: its place, its names and their lines."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any, NamedTuple

from .._messages.source import shown_name
from .._messages.source_text import line_at

__all__ = ["Home", "Site", "Spot"]


class Spot(NamedTuple):
    """A stretch of one line: columns in bytes, from 0."""

    line: int
    col: int
    end_col: int


def spot_of(node: ast.AST) -> Spot:
    """Where a node begins; the first line stands for one of several."""
    line, col = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    if getattr(node, "end_lineno", None) != line:
        return Spot(line, col, -1)
    return Spot(line, col, getattr(node, "end_col_offset", -1))


@dataclasses.dataclass(slots=True, eq=False)
class Home:
    """The function that staged statements stand in, and where it sets its names.

    grows: by the name of a method, where it is called and of what, such as `rows` of `rows.append`.
    """

    filename: str
    function: str
    sets: dict[str, list[Spot]]
    grows: dict[str, list[tuple[Spot, str]]] = dataclasses.field(default_factory=dict)

    def loc(self, where: Spot) -> dict[str, Any]:
        """A place in the function, as the dict form of a Loc."""
        source = line_at(self.filename, where.line)
        end = where.end_col if where.end_col >= 0 else len(source.encode("utf-8", "replace"))
        return {
            "file": shown_name(self.filename),
            "line": where.line,
            "col_begin": where.col,
            "col_end": end,
            "qualname": self.function,
            "source": source,
        }


@dataclasses.dataclass(slots=True, eq=False)  # a constant of code objects, which are hashed
class Site:
    """One `if`, `while` or `for` that may be staged.

    modified: the names its blocks may set.  outputs: those of them that are read afterwards.
    carried: the names that an iteration hands to the next one, or to what follows the loop.
    exposed: those of them that an iteration may read before it sets them.
    blocks: the first and the last line of each block.
    sides: what messages call the two sides of a branch; by their lines where it has no names.
    jumps: whether one side leaves what is around the branch, or did before; a flag tells which.
    """

    kind: str
    home: Home
    where: Spot
    modified: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    sides: tuple[str, str] | None = None
    jumps: bool = False

    @property
    def line(self) -> int:
        """The line of the statement."""
        return self.where.line

    @property
    def key(self) -> tuple[Any, ...]:
        """What the statement is known by when its function is traced again."""
        return self.home.filename, self.home.function, self.where

    @property
    def is_loop(self) -> bool:
        """Whether a loop stands there: also where a flag asks whether it has returned."""
        words = self.loc()["source"].split(None, 1)
        return bool(words) and words[0] in ("for", "while")

    def loc(self) -> dict[str, Any]:
        """The place of the test or of what is iterated, as the dict form of a Loc."""
        return self.home.loc(self.where)

    def describe(self) -> dict[str, Any]:
        """What a scope's record keeps of the statement."""
        return {
            "kind": self.kind,
            "file": self.home.filename,
            "line": self.where.line,
            "function": self.home.function,
        }

    def set_in(self, block: int, name: str) -> Spot | None:
        """The last line of a block that sets `name`."""
        if block >= len(self.blocks):
            return None
        first, last = self.blocks[block]
        inside = [each for each in self.home.sets.get(name, ()) if first <= each.line <= last]
        return inside[-1] if inside else None

    def set_as(self, location: Any) -> str:
        """The text by which the blocks set an attribute or an item; "" if several may mean it."""
        name, item = getattr(location, "name", None), getattr(location, "item", None)
        end = f".{name}" if name is not None else f"[{item!r}]"
        first = min((block[0] for block in self.blocks if block[1] >= 0), default=0)
        last = max((block[1] for block in self.blocks), default=-1)
        found = [
            text
            for text, spots in self.home.sets.items()
            if text.endswith(end) and any(first <= spot.line <= last for spot in spots)
        ]
        return found[0] if len(found) == 1 else ""

    def grown_by(self, method: str) -> tuple[Spot, str] | None:
        """The one place in the blocks that calls a method of a container, and its text."""
        first = min((block[0] for block in self.blocks if block[1] >= 0), default=0)
        last = max((block[1] for block in self.blocks), default=-1)
        found = [each for each in self.home.grows.get(method, ()) if first <= each[0].line <= last]
        return found[0] if len(found) == 1 else None

    def set_inside(self, name: str) -> Spot | None:
        """The last line between the statement and its first block that sets `name`."""
        first = self.blocks[0][0] if self.blocks else 0
        found = self.home.sets.get(name, ())
        inside = [each for each in found if self.where.line < each.line < first]
        return inside[-1] if inside else None

    def set_before(self, name: str) -> Spot | None:
        """The last line before the statement that sets `name`."""
        before = [each for each in self.home.sets.get(name, ()) if each.line < self.where.line]
        return before[-1] if before else None


_GROW = {
    *("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault"),
    *("pop", "popleft", "popitem", "remove", "discard", "clear", "sort", "reverse", "rotate"),
}


def grows(function: ast.AST) -> dict[str, list[tuple[Spot, str]]]:
    """Every place in a function that changes a container, by the name of the method."""
    found: dict[str, list[tuple[Spot, str]]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _GROW:
                found.setdefault(name, []).append((spot_of(node), ast.unparse(owner)))
    return found


def sets(function: ast.AST) -> dict[str, list[Spot]]:
    """Every place in a function that sets a name, an attribute or an item, by its source text."""
    found: dict[str, list[Spot]] = {}
    for node in ast.walk(function):
        targets: list[ast.expr] = []
        match node:
            case ast.Assign():
                targets = node.targets
            case ast.AugAssign() | ast.AnnAssign():
                targets = [node.target]
            case ast.For():
                for part in ast.walk(node.target):
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, []).append(spot_of(node.target))
            case ast.NamedExpr():
                targets = [node.target]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not function:
                found.setdefault(name, []).append(spot_of(node))
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for each in names:
                    bound = each.asname or each.name.partition(".")[0]
                    found.setdefault(bound, []).append(spot_of(node))
            case ast.Return():
                found.setdefault("return", []).append(spot_of(node))
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    found.setdefault(part.id, []).append(spot_of(node))
                elif isinstance(part, (ast.Attribute, ast.Subscript)):
                    found.setdefault(ast.unparse(part), []).append(spot_of(node))
    for spots in found.values():
        spots.sort()
    return found
