"""`ConfigProto` and its parts: how a session of TensorFlow 1 is set up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar

from .. import _holdfast
from .._messages.contexts import contextmanager
from ..errors import fail, unsupported

__all__ = [
    "ConfigProto",
    "GPUOptions",
    "GraphOptions",
    "OptimizerOptions",
    "RunMetadata",
    "RunOptions",
]  # and `measured`, for sessions


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
            _holdfast.set_num_threads(threads)


class RunOptions(_Record):
    """Options of a run: whether `RunMetadata` is told about it."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    _fields: ClassVar[dict[str, Any]] = {
        "trace_level": 0,
        "timeout_in_ms": 0,
        "inter_op_thread_pool": 0,
        "output_partition_graphs": False,
        "report_tensor_allocations_upon_oom": False,
    }

    trace_level: int

    def check(self) -> None:
        """Refuses what would change a run and can't."""
        for name, why in (
            ("timeout_in_ms", "a run goes on until it is done"),
            ("inter_op_thread_pool", "all runs share the threads of the process"),
            ("output_partition_graphs", "a run is not cut into graphs"),
        ):
            if getattr(self, name):
                unsupported(f"`RunOptions({name}=...)` is not supported", why)


class NodeExecStats(_Record):
    """When something ran, in microseconds since 1970, and for how long."""

    _fields: ClassVar[dict[str, Any]] = {
        "node_name": "",
        "all_start_micros": 0,
        "op_start_rel_micros": 0,
        "op_end_rel_micros": 0,
        "all_end_rel_micros": 0,
    }


class DeviceStepStats(_Record):
    """What ran on a device."""

    _fields: ClassVar[dict[str, Any]] = {"device": "", "node_stats": list}


class StepStats(_Record):
    """What a run did, by device."""

    _fields: ClassVar[dict[str, Any]] = {"dev_stats": list}

    dev_stats: list[Any]


class RunMetadata(_Record):
    """What `Session.run` tells about a run: its time as a whole. Steps are the profiler's."""

    _fields: ClassVar[dict[str, Any]] = {
        "step_stats": StepStats,
        "cost_graph": None,
        "partition_graphs": list,
    }

    step_stats: StepStats

    def HasField(self, name: str) -> bool:
        """Whether a run has told it that."""
        held = getattr(self, name)
        return bool(held.dev_stats) if isinstance(held, StepStats) else bool(held)


@contextmanager
def measured(options: Any, metadata: Any) -> Iterator[None]:
    """A run that `metadata` is told about, if `options` ask for that."""
    for given, kind in ((options, RunOptions), (metadata, RunMetadata)):
        if given is not None and not isinstance(given, kind):
            name = "options" if kind is RunOptions else "run_metadata"
            got = type(given).__name__
            fail("E1104", f"`{name}` is of type {got}, expected a `{kind.__name__}`")
    if options is not None:
        options.check()
    if metadata is None or options is None or not options.trace_level:
        yield
        return
    begun, clock = time.time(), time.perf_counter()
    yield
    took = int((time.perf_counter() - clock) * 1e6)
    ran = NodeExecStats(
        node_name="run",
        all_start_micros=int(begun * 1e6),
        op_end_rel_micros=took,
        all_end_rel_micros=took,
    )
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    metadata.step_stats = StepStats(dev_stats=[DeviceStepStats(device=device, node_stats=[ran])])
