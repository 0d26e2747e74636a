"""Every sample where the plugin of tests/probe looks on, or is a second device."""

import os
import pathlib

import children
import pytest
import samples

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = ROOT / "build" / os.environ.get("HOLDFAST_PRESET", "release") / "libholdfast_probe.so"
CHILD = ROOT / "tests" / "python" / "probe_child.py"
NAMES = [f.record["name"] for f in samples.FUNCTIONS if f.record["samples"]]
# What the same call gives another time: numbers are drawn, or memory is left as it was.
REPEATABLE = [f.record["name"] for f in samples.FUNCTIONS if f.record["reference"]]


def run(monkeypatch, what, probe, names):
    monkeypatch.setenv("HOLDFAST_CUDA_PLUGIN", str(PROBE))
    monkeypatch.setenv("HOLDFAST_PROBE", probe)
    return children.run(CHILD, names, what, timeout=900)


def test_outputs_lie_where_their_ops_say(monkeypatch):
    assert run(monkeypatch, "aliases", "aliases", NAMES) == []


@pytest.mark.parametrize("probe", ["kernels", "fallback"])
def test_a_second_device_computes_the_same_bits(monkeypatch, probe):
    assert run(monkeypatch, "values", probe, REPEATABLE) == []


@pytest.mark.parametrize("probe", ["kernels", "fallback"])
def test_a_plan_has_devices_memory_there_and_copies(monkeypatch, probe):
    assert run(monkeypatch, "plan", probe, ["plan"]) == []
