"""`tf.keras.callbacks`: what looks on while a model is trained."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from .. import _holdfast, nest
from . import declared


class Callback(declared.base_type("callbacks.Callback")):  # type: ignore[misc]
    """Base of callbacks: override what you want to be told."""

    params: dict[str, Any] | None = None
    model: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Is told the plan of the training before it begins."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model before the training begins."""
        self.model = model


declared.register({"path": "callbacks.Callback"}, Callback)

_CLASSES = declared.export("callbacks", Callback, globals(), frozenset())
History: Any = declared.class_of("callbacks.History")
ProgbarLogger: Any = declared.class_of("callbacks.ProgbarLogger")


def _trained_model(history: Any) -> Any:
    """The model, as long as somebody has it: it has its history, and would never go by itself."""
    held = history.__dict__.get("_trained")
    return held() if held is not None else None


def _hold_weakly(history: Any, model: Any) -> None:
    history.__dict__["_trained"] = None if model is None else weakref.ref(model)


History.model = property(_trained_model, _hold_weakly)


def _numbers_told(history: Any) -> dict[str, list[Any]]:
    """The numbers of each epoch by name: one dict, to which epochs add, as programs may."""
    kept: dict[str, list[Any]]
    kept, taken = history.__dict__.setdefault("_numbers_told", ({}, {}))
    for name, values in _holdfast.callback_history(history).items():
        kept.setdefault(name, []).extend(values[taken.get(name, 0) :])
        taken[name] = len(values)
    return kept


History.history = property(_numbers_told)


def _with_settable_best(kind: Any) -> None:
    """Lets programs say what counts as the best yet; None: nothing does."""

    def put(self: Any, value: Any) -> None:
        _holdfast.set_callback_best(self, None if value is None else float(value))

    kind.best = property(kind.best.fget, put, doc="The best number yet; None before the first.")


def _with_settable_wait(kind: Any) -> None:
    """Lets programs set how long it has waited, and ask what counts as better."""

    def put(self: Any, value: int) -> None:
        _holdfast.set_callback_wait(self, int(value))

    def monitor_op(self: Any) -> Any:
        """`keras.ops.greater` where larger numbers are better, else `keras.ops.less`."""
        from . import ops

        return ops.greater if self._rises else ops.less

    kind.wait = property(kind.wait.fget, put, doc="For how many epochs nothing got better.")
    kind.monitor_op = property(monitor_op)


for _path in ("EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau"):
    _with_settable_best(declared.class_of(f"callbacks.{_path}"))
for _path in ("EarlyStopping", "ReduceLROnPlateau"):
    _with_settable_wait(declared.class_of(f"callbacks.{_path}"))


def _in_cooldown(self: Any) -> bool:
    """Whether it waits for nothing yet, after the rate became smaller."""
    return bool(self.cooldown_counter > 0)


_plateau: Any = declared.class_of("callbacks.ReduceLROnPlateau")
_plateau.in_cooldown = _in_cooldown


class LambdaCallback(Callback):
    """Calls functions of the program: `LambdaCallback(on_epoch_end=lambda epoch, logs: ...)`."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        given = {name: f for name, f in given.items() if f is not None}
        for name, value in {**given, **kwargs}.items():
            setattr(self, name, value)


class CallbackList(Callback):
    """Several callbacks, told together, for programs with a loop of their own."""

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.callbacks: list[Any] = nest.flatten(callbacks) if callbacks else []
        for wanted, kind in ((add_progbar, ProgbarLogger), (add_history, History)):
            if wanted and not any(isinstance(c, kind) for c in self.callbacks):
                self.callbacks.append(kind())
        self.set_model(model)
        self.set_params(params)

    def append(self, callback: Any) -> None:
        """Adds a callback."""
        self.callbacks.append(callback)

    def set_params(self, params: dict[str, Any]) -> None:
        """Tells all the plan of the training."""
        self.params = params
        if params:
            for callback in self.callbacks:
                callback.set_params(params)

    def set_model(self, model: Any) -> None:
        """Tells all the model."""
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)


def _tell_all(moment: str) -> Callable[..., None]:
    def tell(self: CallbackList, *args: Any, **kwargs: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, moment)(*args, **kwargs)

    tell.__name__ = tell.__qualname__ = moment
    tell.__doc__ = "Tells all callbacks."
    return tell


for _moment in [name for name in dir(Callback) if name.startswith("on_")]:
    setattr(CallbackList, _moment, _tell_all(_moment))


class RemoteMonitor(Callback):
    """Sends the numbers of each epoch to a server, by HTTP."""

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Posts the numbers; a server that is not there is told of once more each epoch."""
        import json
        import urllib.error
        import urllib.parse
        import urllib.request
        import warnings

        numbers = json.dumps({"epoch": epoch, **(logs or {})})
        if self.send_as_json:
            body, kind = numbers.encode(), "application/json"
        else:
            body = urllib.parse.urlencode({self.field: numbers}).encode()
            kind = "application/x-www-form-urlencoded"
        request = urllib.request.Request(
            self.root + self.path, body, {"Content-Type": kind, **(self.headers or {})}
        )
        try:
            urllib.request.urlopen(request, timeout=30).close()
        except (urllib.error.URLError, OSError) as problem:
            warnings.warn(
                f"RemoteMonitor could not reach the server at {self.root}: {problem}", stacklevel=2
            )


__all__ = [  # noqa: PLE0604
    "Callback",
    "CallbackList",
    "LambdaCallback",
    "RemoteMonitor",
    *_CLASSES,
]
