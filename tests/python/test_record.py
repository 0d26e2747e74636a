"""Records: frozen dataclasses that share their methods."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import ClassVar

import pytest

from holdfast._messages.record import Record


class Point(Record):
    """A place with a note that does not count."""

    x: int
    y: int = 2
    tags: dict[str, int] = {}  # noqa: RUF012
    note: str = ""

    _UNCOMPARED: ClassVar = ("note",)
    _UNSHOWN: ClassVar = ("note",)


def test_fields_are_given_by_position_and_name():
    p = Point(1, note="here")
    assert (p.x, p.y, p.tags, p.note) == (1, 2, {}, "here")
    match p:
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert Point(1).tags is not Point(1).tags


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Point(), "needs 'x'"),
        (lambda: Point(1, 2, {}, "", 5), "takes 4 values, got 5"),
        (lambda: Point(1, x=2), "twice"),
        (lambda: Point(1, z=2), "'z', and has no such field"),
    ],
)
def test_calls_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(TypeError, match=message):
        wrong()


def test_records_are_frozen_and_compare_by_what_counts():
    p = Point(1, note="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del p.x
    with pytest.raises(AttributeError):
        p.other = 1
    assert p == Point(1, note="b") != Point(2)
    assert p != (1, 2, {}, "a")
    assert repr(p) == "Point(x=1, y=2, tags={})"
    assert p.replaced(y=5) == Point(1, 5)


def test_records_are_dataclasses_to_whoever_asks():
    p = Point(1, 3, {"a": 1}, "n")
    assert dataclasses.is_dataclass(p) and dataclasses.is_dataclass(Point)
    assert [f.name for f in dataclasses.fields(p)] == ["x", "y", "tags", "note"]
    assert dataclasses.asdict(p) == p.as_dict() == {"x": 1, "y": 3, "tags": {"a": 1}, "note": "n"}
    assert dataclasses.replace(p, x=9) == Point(9, 3, {"a": 1})
    assert Point.__dataclass_params__.frozen


def test_records_are_copied_and_pickled():
    p = Point(1, 3, {"a": 1}, "n")
    for twin in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert twin == p
        assert twin.note == "n"
