"""`tf.DeviceSpec`: the parts of a device's name."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["DeviceSpec", "DeviceSpecV1"]

_PARTS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """What a name such as `/job:worker/task:1/device:GPU:0` says; None where it says nothing."""

    __slots__ = tuple(f"_{part}" for part in _PARTS)

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = _kind(device_type)
        self._device_index = None if device_index is None else int(device_index)

    @property
    def job(self) -> str | None:
        """The job."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The number of the task."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """ "CPU" or "GPU"."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its type."""
        return self._device_index

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """The parts of a name."""
        found: dict[str, Any] = {}
        for part in filter(None, (spec or "").split("/")):
            key, *rest = part.split(":")
            if key in ("job", "replica", "task") and len(rest) == 1:
                found[key] = rest[0] if key == "job" else _number(rest[0], spec)
                continue
            kind = rest if key == "device" else [key, *rest]
            if key != "device" and key.upper() not in ("CPU", "GPU") or len(kind) not in (1, 2):
                raise ValueError(f"{spec!r} is no device: it has no part like {part!r}")
            if "device_type" in found:
                raise ValueError(f"{spec!r} is no device: it names two, the second as {part!r}")
            found["device_type"] = kind[0]
            if len(kind) == 2 and kind[1] != "*":
                found["device_index"] = _number(kind[1], spec)
        return cls(**found)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """The same as `from_string`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name."""
        parts = [(key, getattr(self, key)) for key in ("job", "replica", "task")]
        text = "".join(f"/{key}:{value}" for key, value in parts if value is not None)
        if self.device_type is None:
            return text
        index = "*" if self.device_index is None else self.device_index
        return f"{text}/device:{self.device_type}:{index}"

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """What `dev` says, and this one where that says nothing."""
        return type(self)(**self._merged(dev))

    def _merged(self, dev: DeviceSpec) -> dict[str, Any]:
        # The number of a device is one among those of its type.
        typed = dev if dev.device_type is not None else self
        both = {p: getattr(self if getattr(dev, p) is None else dev, p) for p in _PARTS}
        return both | {"device_index": typed.device_index if typed is dev else both["device_index"]}

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """The same with other parts."""
        return type(self)(**{part: getattr(self, part) for part in _PARTS} | kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"<DeviceSpec {self.to_string()!r}>"


class DeviceSpecV1(DeviceSpec):
    """A `DeviceSpec` whose parts can be set, as TensorFlow 1 has it."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PARTS:
            self._set(**{name: value})
        else:
            super().__setattr__(name, value)

    def _set(self, **parts: Any) -> None:
        self.__init__(**{part: getattr(self, part) for part in _PARTS} | parts)  # type: ignore[misc]

    def parse_from_string(self, spec: str) -> DeviceSpecV1:
        """Takes over the parts of a name, and no others."""
        found = self.from_string(spec)
        self._set(**{part: getattr(found, part) for part in _PARTS})
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over what `dev` says."""
        self._set(**self._merged(dev))


def _kind(device_type: Any) -> str | None:
    """CPU and GPU in capitals, any other as it is written."""
    if device_type is None:
        return None
    text = str(device_type)
    return text.upper() if text.upper() in ("CPU", "GPU") else text


def _number(text: str, spec: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{spec!r} is no device: {text!r} is no number")
    return int(text)
