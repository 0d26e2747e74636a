"""`tf.distribute.coordinator`: work for other processes. There are none, and its class says so."""

from __future__ import annotations

from typing import Any

from .elsewhere import refuse

__all__ = ["ClusterCoordinator"]


class ClusterCoordinator:
    """Hands functions to workers; it can't be made here."""

    def __init__(self, strategy: Any = None) -> None:
        refuse("coordinator.ClusterCoordinator", "it hands functions to other processes")
