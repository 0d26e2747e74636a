"""`Feature`: parts of the conversion by TensorFlow's names, and which of them may be asked for."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from ..errors import fail, unsupported

__all__ = ["Feature", "check_features"]


class Feature(enum.Enum):
    """Parts of the conversion, as TensorFlow names them. All but NAME_SCOPES are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Every feature but those."""
        left_out = exclude if isinstance(exclude, (list, tuple, set, frozenset)) else (exclude,)
        return _AllBut(each for each in cls if each not in left_out)


class _AllBut(tuple[Feature, ...]):
    """A choice of features that says which ones it does not want."""


def check_features(option: str, wanted: Any) -> None:
    """Refuses a choice of features that makes no difference here though it should.

    What is asked for and always on is granted; what is not mentioned stays on.
    """
    if wanted is None:
        return
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    features = tuple(wanted) if several else (wanted,)
    for each in features:
        if not isinstance(each, Feature):
            fail(
                "E1104",
                f"`{option}` got {each!r}, expected a `Feature`",
                "the parts of the conversion are members of `tf.autograph.experimental.Feature`",
            )
    if isinstance(wanted, _AllBut):
        _refuse_without(option, set(Feature) - set(features) - {Feature.ALL, Feature.NAME_SCOPES})
    elif Feature.NAME_SCOPES in features and Feature.ALL not in features:
        unsupported(
            f"`{option}` with `Feature.NAME_SCOPES` is not supported",
            "converted code puts ops into the name scopes that the program opens, and opens none.",
            fix="open scopes by `tf.name_scope`",
        )


def _refuse_without(option: str, unwanted: set[Feature]) -> None:
    if unwanted:
        named = ", ".join(sorted(f"`{each.name}`" for each in unwanted))
        unsupported(
            f"`{option}` without {named} is not supported",
            "these parts of the conversion are always on.",
            fix="keep a function as it is with `tf.autograph.experimental.do_not_convert`",
        )
