"""`tf.config`: devices, memory, threads."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import _holdfast
from ._devices.device import parse_device, soft_placement
from ._devices.listing import (
    LogicalDevice,
    PhysicalDevice,
    get_device_details,
    hidden,
    known,
    list_logical_devices,
    list_physical_devices,
    type_of,
)
from ._tracing.function import functions_run_eagerly, run_functions_eagerly
from .errors import fail, unsupported

__all__ = [
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_logical_device_configuration",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_soft_device_placement",
    "set_visible_devices",
]


class LogicalDeviceConfiguration(NamedTuple):
    """How a logical device is to be made. `memory_limit` is in megabytes."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_configured: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that this process may use."""
    return [d for d in list_physical_devices(device_type) if d not in hidden]


def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Uses only these devices (of that type)."""
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in wanted:
        if device_type is not None and known(device).device_type != type_of(device_type):
            fail("E1103", f"`{device.name}` is not of the type {device_type!r}")
    if device_type != "GPU" and not any(d.device_type == "CPU" for d in wanted):
        unsupported(
            "`set_visible_devices` without a CPU is not supported",
            "the CPU holds strings, shapes and what is read back; it is always there",
            fix='name the type: `tf.config.set_visible_devices([...], "GPU")`',
        )
    for device in list_physical_devices(device_type):
        (hidden.discard if device in wanted else hidden.add)(device)
    gpus = list_physical_devices("GPU")
    if gpus and all(gpu in hidden for gpu in gpus):
        _holdfast.push_device("CPU", 0)


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How a device was divided, None if it was not."""
    return _configured.get(known(device))


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Divides the CPU into several logical ones, or limits a GPU's memory."""
    parts = list(logical_devices)
    kind, index = known(device).device_type, int(device.name.rpartition(":")[2])
    if any(p.experimental_priority or p.experimental_device_ordinal for p in parts):
        unsupported(
            "`LogicalDeviceConfiguration` with a priority or an ordinal is not supported",
            "only `memory_limit` is",
        )
    if kind == "CPU":
        if any(p.memory_limit is not None for p in parts):
            raise ValueError("only a GPU's memory can be limited, and this is a CPU")
        _holdfast.set_logical_cpus(len(parts))
    else:
        if len(parts) != 1:
            unsupported(
                f"{len(parts)} logical devices on one GPU are not supported",
                "a GPU is one logical device; its memory can be limited",
                fix="give one LogicalDeviceConfiguration",
            )
        limit = parts[0].memory_limit
        if limit is not None:
            _holdfast.set_memory_limit(kind, index, int(limit) << 20)
    _configured[device] = parts


def get_soft_device_placement() -> bool:
    """Whether an absent device is replaced by another, with a warning."""
    return soft_placement.on


def set_soft_device_placement(enabled: bool) -> None:
    """Off: an absent device is an error."""
    soft_placement.on = bool(enabled)


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly


# tf.config.experimental

_policy = "warn"


def _set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """On is how memory always works here: it is taken as it is needed."""
    if known(device).device_type != "GPU":
        raise ValueError(f"only GPUs have memory growth, and this is {device.name}")
    if not enable:
        unsupported(
            "`set_memory_growth(..., False)` is not supported",
            "GPU memory is taken as it is needed, never all at once",
            fix="leave the call out; `LogicalDeviceConfiguration(memory_limit=...)` sets a limit",
        )


def _get_memory_growth(device: PhysicalDevice) -> bool:
    """True: memory is taken as it is needed."""
    if known(device).device_type != "GPU":
        raise ValueError(f"only GPUs have memory growth, and this is {device.name}")
    return True


def _present(device: str) -> tuple[str, int]:
    """Kind and number of a device that exists."""
    kind, index = parse_device(device)
    if not any(d["kind"] == kind and d["index"] == index for d in _holdfast.devices()):
        fail("E1103", f"`{device}` is none of this machine's devices")
    return kind or "CPU", index


def _get_memory_info(device: str) -> dict[str, int]:
    """Bytes in use now, and the most there were."""
    info = _holdfast.memory_info(*_present(device))
    return {"current": info["current"], "peak": info["peak"]}


def _get_memory_usage(device: str) -> int:
    """Bytes in use now."""
    return _holdfast.memory_info(*_present(device))["current"]


def _reset_memory_stats(device: str) -> None:
    """Lets the peak be what is in use now."""
    _holdfast.reset_peak(*_present(device))


def _set_device_policy(device_policy: str | None) -> None:
    """What happens when operands live on two devices: "silent", "warn" or "explicit"."""
    global _policy
    if device_policy == "silent_for_int32":
        unsupported(
            'the device policy "silent_for_int32" is not supported',
            'there are "silent", "warn" and "explicit"',
        )
    policy = "warn" if device_policy is None else device_policy
    if policy not in ("silent", "warn", "explicit"):
        fail(
            "E1103",
            f"`set_device_policy` got {device_policy!r}",
            'it takes "silent", "warn", "explicit", or None for the default, "warn"',
        )
    _holdfast.set_device_policy(policy)
    _policy = policy


def _get_device_policy() -> str:
    """The device policy in force."""
    return _policy


def _enable_op_determinism() -> None:
    """Makes every op give the same bits on each run, also those of libraries."""
    _holdfast.set_deterministic(True)


def _tensor_float_32_execution_enabled() -> bool:
    """Whether float32 products may be computed in TensorFloat-32: never."""
    return False


def _enable_tensor_float_32_execution(enabled: bool) -> None:
    """Off is how it always is."""
    if enabled:
        unsupported(
            "TensorFloat-32 is not supported",
            "float32 products are computed in float32",
            fix="leave the call out",
        )


def _get_synchronous_execution() -> bool:
    """Whether ops are finished when their call returns: as far as anybody can see."""
    return True


def _set_synchronous_execution(enable: bool) -> None:
    """On is how it always is."""
    if not enable:
        unsupported(
            "asynchronous execution is not supported", "an op is finished when its call returns"
        )


# tf.config.threading

_inter_op = 0


def _set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads share the work of one op; 0: as many as there are cores."""
    if num_threads < 0:
        raise ValueError(f"num_threads must be at least 0, got {num_threads}")
    _holdfast.set_num_threads(int(num_threads))


def _get_intra_op_parallelism_threads() -> int:
    """How many threads share the work of one op."""
    return int(_holdfast.num_threads())


def _set_inter_op_parallelism_threads(num_threads: int) -> None:
    """A bound on how many ops run at once. Eager ops of a thread run one by one, so it holds."""
    global _inter_op
    if num_threads < 0:
        raise ValueError(f"num_threads must be at least 0, got {num_threads}")
    _inter_op = int(num_threads)


def _get_inter_op_parallelism_threads() -> int:
    """The bound that was set, 0 if none was."""
    return _inter_op


# tf.config.optimizer: passes over graphs

_PASSES = (
    *("layout_optimizer", "constant_folding", "shape_optimization", "remapping"),
    *("arithmetic_optimization", "dependency_optimization", "loop_optimization"),
    *("function_optimization", "debug_stripper", "disable_model_pruning"),
    *("scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector"),
    *("auto_mixed_precision", "disable_meta_optimizer", "min_graph_nodes"),
)
_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}


def _set_experimental_options(options: dict[str, Any]) -> None:
    """Notes which passes over graphs may run."""
    for name, value in options.items():
        if name not in _PASSES:
            known = ", ".join(_PASSES)
            fail("E1103", f"there is no optimizer option {name!r}", f"there are {known}")
        if name == "auto_mixed_precision" and value:
            unsupported(
                "the option `auto_mixed_precision` is not supported",
                "no pass changes the dtype of a computation",
                fix="cast to `float16` or `bfloat16` where it is wanted",
            )
    _options.update(options)


def _get_experimental_options() -> dict[str, Any]:
    """The options in force."""
    return dict(_options)


def _set_jit(enabled: bool | str) -> None:
    """Off is how it always is."""
    if enabled:
        unsupported("XLA is not supported", "there is no XLA compiler in Holdfast")


def _get_jit() -> str:
    """Empty: there is no XLA."""
    return ""


def _public(names: Iterable[str]) -> dict[str, Any]:
    here = vars(sys.modules[__name__])
    return {name: here["_" + name] for name in names}


# What stands under tf.config.experimental, .threading and .optimizer.
_NAMESPACES: dict[str, dict[str, Any]] = {
    "config.experimental": {
        "VirtualDeviceConfiguration": LogicalDeviceConfiguration,
        "get_virtual_device_configuration": get_logical_device_configuration,
        "set_virtual_device_configuration": set_logical_device_configuration,
        "get_visible_devices": get_visible_devices,
        "set_visible_devices": set_visible_devices,
        "list_logical_devices": list_logical_devices,
        "list_physical_devices": list_physical_devices,
        "get_device_details": get_device_details,
        **_public(
            (
                *("set_memory_growth", "get_memory_growth", "get_memory_info", "get_memory_usage"),
                *("reset_memory_stats", "set_device_policy"),
                *("get_device_policy", "enable_op_determinism"),
                *("tensor_float_32_execution_enabled", "enable_tensor_float_32_execution"),
                *("get_synchronous_execution", "set_synchronous_execution"),
            )
        ),
    },
    "config.threading": _public(
        (
            *("set_intra_op_parallelism_threads", "get_intra_op_parallelism_threads"),
            *("set_inter_op_parallelism_threads", "get_inter_op_parallelism_threads"),
        )
    ),
    "config.optimizer": _public(
        ("set_experimental_options", "get_experimental_options", "set_jit", "get_jit")
    ),
}

NAMES: dict[str, Any] = {
    f"{path}.{name}": value for path, names in _NAMESPACES.items() for name, value in names.items()
}
