"""`tf.data.Options`: what a program may ask of how a pipeline runs.

They are kept and given back. `deterministic` says whether stages with threads of their own keep the
order of elements; no other changes what a pipeline gives.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from ..errors import fail, unsupported

__all__ = [
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Options",
    "ThreadingOptions",
]


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What saving does about state outside of a pipeline."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How sizes of buffers are found."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class _Settings:
    """Named settings of a type each; a name that is none is refused. None stands for nothing."""

    _kinds: ClassVar[dict[str, type]] = {}
    _older: ClassVar[dict[str, str]] = {}  # names of before, and what they are called now
    _of_dataset = False  # these are for reading

    def __init__(self) -> None:
        for name in self._kinds:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        name = self._older.get(name, name)
        if name not in self._kinds:
            fail(
                "E1104",
                f"`{type(self).__name__}` has no setting `{name}`",
                fix=f"one of {', '.join(self._kinds)}",
            )
        kind = self._kinds[name]
        if value is not None and not isinstance(value, kind):
            fail(
                "E1104",
                f"`{name}` of `{type(self).__name__}` is {value!r}, expected {kind.__name__}",
            )
        if self._of_dataset:
            fail(
                "E1103",
                f"`{name}` is set of the options that a dataset has",
                "a dataset never changes",
                fix="set it of a `tf.data.Options()`, and give that to `with_options`",
            )
        object.__setattr__(self, name, value)

    def _said(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._kinds}

    def _for_reading(self) -> None:
        object.__setattr__(self, "_of_dataset", True)
        for part in self._said().values():
            if isinstance(part, _Settings):
                part._for_reading()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Settings) or type(self) is not type(other):
            return False
        return self._said() == other._said()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = ", ".join(f"{k}={v!r}" for k, v in self._said().items() if v is not None)
        return f"{type(self).__name__}({said})"


class AutotuneOptions(_Settings):
    """Settings of autotuning."""

    _kinds: ClassVar[dict[str, type]] = {
        "autotune_algorithm": AutotuneAlgorithm,
        "cpu_budget": int,
        "enabled": bool,
        "initial_parallelism": int,
        "min_parallelism": int,
        "ram_budget": int,
    }


class DistributeOptions(_Settings):
    """Settings of datasets under a strategy."""

    _kinds: ClassVar[dict[str, type]] = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}


class OptimizationOptions(_Settings):
    """Settings of what may be rewritten."""

    _kinds: ClassVar[dict[str, type]] = dict.fromkeys(
        (
            "apply_default_optimizations",
            "filter_fusion",
            "filter_parallelization",
            "inject_prefetch",
            "map_and_batch_fusion",
            "map_and_filter_fusion",
            "map_fusion",
            "map_parallelization",
            "noop_elimination",
            "parallel_batch",
            "seq_interleave_prefetch",
            "shuffle_and_repeat_fusion",
        ),
        bool,
    )


class ThreadingOptions(_Settings):
    """Settings of threads."""

    _kinds: ClassVar[dict[str, type]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


_PARTS = {
    "autotune": AutotuneOptions,
    "experimental_distribute": DistributeOptions,
    "experimental_optimization": OptimizationOptions,
    "threading": ThreadingOptions,
}


class Options(_Settings):
    """What a program asks of how a pipeline runs; `Dataset.with_options` takes it."""

    _kinds: ClassVar[dict[str, type]] = {
        **_PARTS,
        "dataset_name": str,
        "deterministic": bool,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
        "framework_type": list,
    }
    _older: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __init__(self) -> None:
        super().__init__()
        for name, kind in _PARTS.items():
            object.__setattr__(self, name, kind())

    threading: ThreadingOptions
    autotune: AutotuneOptions
    deterministic: bool | None

    def __getattr__(self, name: str) -> Any:
        if name in self._older:
            return getattr(self, self._older[name])
        if name == "experimental_service":
            unsupported(
                "`experimental_service` of `Options` is not supported",
                "there is no service that makes elements in other processes",
            )
        raise AttributeError(f"'Options' object has no attribute {name!r}")

    def merge(self, options: Options) -> Options:
        """These, with what the others say in place of them."""
        out = Options()
        for source in (self, options):
            for name, value in source._said().items():
                if isinstance(value, _Settings):
                    for inner, given in value._said().items():
                        if given is not None:
                            setattr(getattr(out, name), inner, given)
                elif value is not None:
                    setattr(out, name, value)
        return out
