"""Each public C++ function is called with arguments that make no sense, by `tests/diagnostics/cpp/bad_*`.

Functions of the registry are, all of them; the others are where a test names them.
"""

import pathlib
import re

from cpp_headers import Headers

from holdfast import _holdfast

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = "".join(p.read_text() for p in sorted((ROOT / "tests/diagnostics/cpp").glob("bad_*.cpp")))

# What no program calls with values of its own: hooks, and what makes messages. With the reason.
NOT_FUZZED = {
    "add_device": "what plugins call",
    "differentiate": "of nodes of a graph, which `gradients_in` makes sure of",
    "set_eager": "an interpreter is ours",
    "parallel_pieces": "a plain loop over code of the program's own",
    "registry::add_class": "a maker of the program's own",
    "set_print_sink": "code of the program's own",
    "set_warning_sink": "code of the program's own",
    "set_deterministic": "a bool",
    "set_device_policy": "an enumerator",
    "live_tensors": "an enumerator",
    **dict.fromkeys(["live_text", "print_all"], "what one of ours gave"),
    **dict.fromkeys(
        ["bug", "fail", "raise", "warn", "render", "used_here", "manual_fix", "info",
         "speak_as", "text_of"],
        "makes a message, or throws it",
    ),
    **dict.fromkeys(
        ["keras::begins_with", "keras::build_from", "keras::compile_from", "keras::config_of",
         "keras::metrics::config_of", "keras::compile_options", "keras::dataset_source"],
        "what readers of models call with what they read; tests/python/test_keras_*files* damage those",
    ),
    **dict.fromkeys(
        ["shape_of", "went_by_numbers", "went_by_sizes", "without_gradient", "select", "gradients_in"],
        "for the gradients of ops and for the bindings, which have a tensor in hand",
    ),
}  # fmt: skip


def public_functions():
    text = (ROOT / "holdfast/holdfast.h").read_text()
    return Headers(
        [ROOT / name for name in re.findall(r'#include "(holdfast/\S+)"', text)]
    ).functions


def uncovered():
    registered = {f.__name__.split(".")[-1] for f in _holdfast.functions()}
    for path, signatures in public_functions().items():
        path = path.removeprefix(
            "data::holdfast::"
        )  # a namespace within which another one is closed
        name = path.split("::")[-1]
        if "detail" in path or not any(signatures) or name in registered:
            continue
        if not re.search(rf"\b{name}\b", TESTS):
            yield path


def test_every_public_function_is_called_with_bad_arguments():
    assert sorted(set(uncovered()) - NOT_FUZZED.keys()) == []


def test_what_is_not_fuzzed_is_there_and_is_not():
    assert NOT_FUZZED.keys() - set(uncovered()) == set()
    assert len(public_functions()) > 700
