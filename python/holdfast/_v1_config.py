"""`ConfigProto` and its parts: how a session of TensorFlow 1 is set up."""

from __future__ import annotations

from typing import Any, ClassVar

from .errors import fail

__all__ = [
    "ConfigProto",
    "GPUOptions",
    "GraphOptions",
    "OptimizerOptions",
    "RunMetadata",
    "RunOptions",
]


class _Record:
    """Fields with defaults, of which only known ones can be set."""

    _fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        for name, default in self._fields.items():
            self.__dict__[name] = default() if callable(default) else default
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        self.__dict__[name] = value

    def CopyFrom(self, other: Any) -> None:
        """Takes over all fields of another one."""
        self.__dict__.update(other.__dict__)

    def __repr__(self) -> str:
        set_ = {n: v for n, v in self.__dict__.items() if v not in (None, 0, 0.0, False, "", {})}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in set_.items())})"


class GPUOptions(_Record):
    """How a GPU's memory is used. Memory is always taken as it is needed, and given back."""

    _fields: ClassVar[dict[str, Any]] = {
        "per_process_gpu_memory_fraction": 0.0,
        "allow_growth": False,
        "allocator_type": "",
        "deferred_deletion_bytes": 0,
        "visible_device_list": "",
        "polling_active_delay_usecs": 0,
        "polling_inactive_delay_msecs": 0,
        "force_gpu_compatible": False,
    }


class OptimizerOptions(_Record):
    """Which passes run over a graph. All of ours always do, since they change no result."""

    L0, L1, DEFAULT, OFF, ON_1, ON_2 = -1, 0, 0, -1, 1, 2
    _fields: ClassVar[dict[str, Any]] = {
        "opt_level": 0,
        "global_jit_level": 0,
        "do_common_subexpression_elimination": False,
        "do_constant_folding": False,
        "do_function_inlining": False,
    }


class GraphOptions(_Record):
    """Options of the graph: those of its passes."""

    _fields: ClassVar[dict[str, Any]] = {
        "optimizer_options": OptimizerOptions,
        "rewrite_options": None,
        "infer_shapes": True,
    }


class ConfigProto(_Record):
    """Options of a session.

    `intra_op_parallelism_threads` sets the number of threads, for the whole process, as
    `tf.config.threading` does. The rest is kept and means nothing here: memory grows as it is
    needed, an op that has no kernel on its device always runs on the CPU with a warning, and
    `device_count` cannot hide a device that the process has.
    """

    _fields: ClassVar[dict[str, Any]] = {
        "device_count": dict,
        "intra_op_parallelism_threads": 0,
        "inter_op_parallelism_threads": 0,
        "use_per_session_threads": False,
        "allow_soft_placement": False,
        "log_device_placement": False,
        "isolate_session_state": False,
        "operation_timeout_in_ms": 0,
        "gpu_options": GPUOptions,
        "graph_options": GraphOptions,
    }

    intra_op_parallelism_threads: int

    def apply(self) -> None:
        """Carries over what has a meaning here."""
        threads = self.intra_op_parallelism_threads
        if not isinstance(threads, int) or threads < 0:
            fail("E1103", f"`intra_op_parallelism_threads` is {threads!r}, expected 0 or more")
        if threads:
            from .config import _set_intra_op_parallelism_threads

            _set_intra_op_parallelism_threads(threads)


class RunOptions(_Record):
    """Options of a run; `Session.run` refuses them."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    _fields: ClassVar[dict[str, Any]] = {
        "trace_level": 0,
        "timeout_in_ms": 0,
        "report_tensor_allocations_upon_oom": False,
    }


class RunMetadata(_Record):
    """What TensorFlow 1 writes about a run; `Session.run` refuses it."""

    _fields: ClassVar[dict[str, Any]] = {"step_stats": None}
