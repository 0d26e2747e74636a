"""`tf.train.CheckpointManager`: keeps the last few checkpoints of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..errors import fail
from . import files
from .checkpoint import Checkpoint
from .kept import Kept

__all__ = ["CheckpointManager"]


class CheckpointManager:
    """Saves a checkpoint under numbered names, and deletes the old ones."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if not isinstance(checkpoint, Checkpoint):
            fail(
                "E1104",
                f"`checkpoint` is of type {type(checkpoint).__name__}, expected a Checkpoint",
            )
        if max_to_keep is not None and max_to_keep <= 0:
            fail("E1103", f"`max_to_keep` is {max_to_keep}, expected a positive number or None")
        if checkpoint_interval is not None and step_counter is None:
            fail("E1104", "`checkpoint_interval` is given, and no `step_counter` to count with")
        if keep_checkpoint_every_n_hours is not None and keep_checkpoint_every_n_hours < 0:
            fail(
                "E1103",
                f"`keep_checkpoint_every_n_hours` is {keep_checkpoint_every_n_hours},"
                " expected hours",
            )
        self._checkpoint, self._init = checkpoint, init_fn
        self._directory = files.path_of(directory, "directory")
        self._name, self._steps, self._interval = checkpoint_name, step_counter, checkpoint_interval
        self._last_step = last_checkpoint_step if checkpoint_interval is not None else None
        self._kept = Kept(max_to_keep, keep_checkpoint_every_n_hours)
        self._kept.take_over(self._directory)

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What it saves."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps lie between two checkpoints at least."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of those that are kept, the latest last."""
        return list(self._kept.paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest one; None where there is none."""
        return self._kept.latest

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Saves, unless too few steps have gone by. Gives the prefix."""
        if self._interval is not None:
            step = int(self._steps)
            too_soon = self._last_step is not None and step - self._last_step < self._interval
            if check_interval and too_soon:
                return None
            self._last_step = step
        prefix = os.path.join(self._directory, self._name)
        if checkpoint_number is None:
            self._checkpoint.save_counter.assign_add(1)
            number = int(self._checkpoint.save_counter.numpy())
        else:
            number = int(checkpoint_number)
        path = self._checkpoint.write(f"{prefix}-{number}", options)
        self._kept.add(path, self._directory)
        return path

    def restore_or_initialize(self) -> str | None:
        """Restores the latest one; where there is none, calls `init_fn`."""
        if self.latest_checkpoint is not None:
            self._checkpoint.restore(self.latest_checkpoint)
            if self._interval is not None:
                self._last_step = int(self._steps)
            return self.latest_checkpoint
        if self._init is not None:
            self._init()
        return None
