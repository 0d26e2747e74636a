"""`make_template`: a function whose variables its first call makes, and the others share."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._graphs.graph import GraphKeys, get_default_graph
from .scopes import AUTO_REUSE, VariableScope, variable_scope
from .store import EagerVariableStore, store_here

__all__ = ["Template", "make_template"]


class Template:
    """A function and the scope of its variables."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        if name is None:
            raise ValueError("a template's variables need a prefix: `name` is None")
        self._func, self._name, self._unique_name = func, name, unique_name
        self._custom_getter = custom_getter
        self._eager = not _holdfast.is_tracing()
        self._kept: EagerVariableStore | None = None
        self._variables_created = False
        self._scope: VariableScope | None = None
        if create_scope_now:
            options = {"custom_getter": custom_getter, "auxiliary_name_scope": False}
            with variable_scope(unique_name, name, **options) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, with the variables of the first call."""
        with contextlib.ExitStack() as inside:
            if self._scope is not None:
                reuse = AUTO_REUSE if self._eager else self._variables_created
                inside.enter_context(variable_scope(self._scope, reuse=reuse))
            else:
                around = variable_scope(
                    self._unique_name, self._name, custom_getter=self._custom_getter
                )
                self._scope = inside.enter_context(around)
            if self._eager:
                inside.enter_context(self._store().as_default())
            return self._checked(args, kwargs)

    def _store(self) -> EagerVariableStore:
        """Where eager variables are found again: a store that is in force, else one of its own."""
        if self._kept is None:
            around = store_here()
            self._kept = EagerVariableStore(around if around.keeps_eager else None)
        return self._kept

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = self._trained()
        result = self._func(*args, **kwargs)
        if self._variables_created and self._trained() != before:
            raise ValueError(
                f"the template `{self._name}` made a trainable variable in a later call than its "
                "first: variables that all calls share are made with `get_variable`, and their "
                "names do not depend on arguments"
            )
        self._variables_created = True
        return result

    def _trained(self) -> int:
        if self._eager:
            return len(self._store().trainable_variables())
        return len(get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))

    # What it has.

    @property
    def name(self) -> str:
        """The name as given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function as given."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None until there is one."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """What the names of its variables begin with."""
        if self._scope is None:
            return None
        name = self._scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _collected(self, key: str) -> list[Any]:
        if self._scope is None:
            return []
        return get_default_graph().get_collection(key, self.variable_scope_name)

    def _eager_ones(self) -> list[Any]:
        prefix = self.variable_scope_name
        if self._kept is None or prefix is None:
            return []
        return [v for v in self._kept.variables() if v.name.startswith(prefix)]

    @property
    def global_variables(self) -> list[Any]:
        """Its variables that are no local ones."""
        return self._eager_ones() if self._eager else self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Its local ones."""
        return [] if self._eager else self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """All its variables."""
        return [*self.global_variables, *self.local_variables]

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Those that tapes watch."""
        if self._eager:
            return [v for v in self._eager_ones() if v.trainable]
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trained]

    non_trainable_weights = non_trainable_variables

    @property
    def regularization_losses(self) -> list[Any]:
        """What the regularizers of its variables gave."""
        return self._collected(GraphKeys.REGULARIZATION_LOSSES)


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """`func_` with variables that its first call makes and all others find.

    `kwargs` are given to it in each call. The scope of the variables is made by the first call, or
    at once with `create_scope_now_`.
    """
    if unique_name_ is not None and not _holdfast.is_tracing():
        raise ValueError("`unique_name_` finds variables of a graph, and eager code has none")
    func = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, func, create_scope_now_, unique_name_, custom_getter_)
