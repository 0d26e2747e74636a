"""Modules of Python's own library, converted, pass Python's own tests."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

PAIRS = {
    "textwrap": "test.test_textwrap",
    "fractions": "test.test_fractions",
    "string": "test.test_string",
    "csv": "test.test_csv",
    "graphlib": "test.test_graphlib",
    "ipaddress": "test.test_ipaddress",
    "copy": "test.test_copy",
    "fnmatch": "test.test_fnmatch",
    "urllib.parse": "test.test_urlparse",
    "dataclasses": "test.test_dataclasses",
}

# Every function of the module gets converted code, and the tests run as they are.
PROGRAM = """
import contextlib, gc, importlib, io, sys, types, unittest
import holdfast
from holdfast._tracing import recorder as recording
from holdfast._autograph.conversion import converted_form

name, tests, recorded = sys.argv[1:]
module = importlib.import_module(name)
suite = unittest.defaultTestLoader.loadTestsFromName(tests)
count = 0
for f in gc.get_objects():
    if isinstance(f, types.FunctionType) and f.__code__.co_filename == module.__file__:
        form = converted_form(f.__code__, f.__globals__)
        assert form is not None and form.code.co_freevars == f.__code__.co_freevars, f
        f.__code__ = form.code
        count += 1
with recording.Recorder() if recorded == "recorded" else contextlib.nullcontext():
    result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
for test, text in result.failures + result.errors:
    print(test, text)
print(count > 3, result.testsRun > 10, len(result.failures), len(result.errors))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_csv") is None,
    reason="Python was installed without its tests",
)
@pytest.mark.parametrize("recorded", ["plain", "recorded"])
@pytest.mark.parametrize("module", PAIRS)
def test_a_converted_module_passes_its_tests(module, recorded):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module, PAIRS[module], recorded],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["True True 0 0"], done.stdout + done.stderr
