"""What an op is, is said in its own file: passes and executors ask for facts, not for names.

Attributes are read by the fields of a struct (`op/attr.h`), never by their position; and only rules that
rewrite certain ops, or make nodes of them, know them by name.
"""

import pathlib
import re

from holdfast._tensors import registry

ROOT = pathlib.Path(__file__).resolve().parents[2]

PLACES = [f"holdfast/{f}" for f in ("passes", "graph", "exec", "expr", "autodiff")]
# Tables of rules: each rule is about the ops that it names.
RULES = {
    "holdfast/passes/relax.cpp",
    "holdfast/passes/simplify_arithmetic.cpp",
    "holdfast/passes/simplify_broadcasts.cpp",
    "holdfast/passes/simplify_shape.cpp",
    "holdfast/passes/transposes.cpp",
}
# Names that a program may give to nodes, of which these are the defaults.
NODE_NAMES = {
    ("holdfast/graph/open_graph.h", "Const"),
    ("holdfast/graph/open_graph.h", "Placeholder"),
    ("holdfast/graph/open_graph.h", "PlaceholderWithDefault"),
}

BY_POSITION = re.compile(
    r"\battrs_?(?:\(\))?\[\s*(?:\d|k[A-Z]|static_cast)|\battrs_?(?:\(\))?\.(?:front|at)\("
)
# By a position that was just found by name.
FOUND_BY_NAME = {"python/bind/session.cpp", "holdfast/graph/parse.cpp"}


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".cu"):
                text = path.read_text(encoding="utf-8")
                yield path.relative_to(ROOT).as_posix(), re.sub(r"//[^\n]*", "", text)


def test_passes_and_executors_ask_for_facts_not_for_names():
    ops = set(registry.RAW_OPS)
    assert {"Conv2D", "Sum", "ReadVariableOp", "While"} <= ops
    named = []
    for path, text in sources(*PLACES):
        if path in RULES:
            continue
        for quoted in re.findall(r'"(\w+)"', text):
            if quoted in ops and (path, quoted) not in NODE_NAMES:
                named.append(f"{path}: {quoted}")
    assert not named


def test_attributes_are_read_by_name():
    found = []
    for path, text in sources("holdfast", "python/bind"):
        if path.startswith("holdfast/op/") or path in FOUND_BY_NAME:
            continue
        found += [f"{path}: {m.group()}" for m in BY_POSITION.finditer(text)]
    assert not found


def test_kernels_call_kernels_and_never_the_dispatcher():
    found = []
    for path, text in sources("holdfast/ops", "holdfast/cuda"):
        found += [f"{path}: {call}" for call in re.findall(r"\beager\(\)->\w+", text)]
    assert not found


def test_kernels_are_chosen_by_types_and_see_no_address():
    found = []
    for path, text in sources("holdfast"):
        found += [
            f"{path}: {head}"
            for head in re.findall(r"const char\*\s*\w+\(const Call&[^)]*\)", text)
        ]
        found += [
            f"{path}: a lambda" for _ in re.findall(r"const Call&[^)]*\)\s*->\s*const char", text)
        ]
    assert not found


def test_nobody_asks_how_many_devices_there_are():
    asked = re.compile(r"devices\(\)\s*\.\s*size\(\)|&\s*\w+\s*=\s*devices\(\)")
    found = [path for path, text in sources(*PLACES, "holdfast/op") if asked.search(text)]
    assert not found, "where a call runs follows from where its values lie"
