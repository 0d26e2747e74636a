"""docs/modules-and-checks.md is true: its program prints what it shows, and its C++ is that of the example."""

import pytest
from example_page import ExamplePage, built, losses_in, said_by

PAGE = ExamplePage("modules-and-checks.md")
EXAMPLE, STATE = built("module"), built("state")


def test_the_python_program_prints_what_is_shown(tmp_path):
    PAGE.check_python(tmp_path)


def test_the_cpp_program_is_the_example():
    PAGE.check_cpp("cpp", "module.cpp")


def test_the_module_with_state_is_the_example():
    PAGE.check_cpp("cpp state", "state.cpp")


@pytest.mark.skipif(not STATE.exists(), reason="the C++ examples are not built")
def test_state_is_left_behind_by_each_call():
    said = said_by(STATE)
    assert said[:4] == [
        "after call 0 the mean is [2 3]",
        "after call 1 the mean is [2.5 3.5]",
        "after call 2 the mean is [3.25 4.25]",
        "variables: 1",
    ]
    assert said[4] == "step: 2 traces"
    assert said[6].startswith("  2. attribute normalise/mean: was empty, now float32[2]")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the C++ examples are not built")
def test_the_example_trains_and_says_how_it_goes():
    said = said_by(EXAMPLE)
    assert said[0] == "net holds 4 variables"
    losses = losses_in(said[1:])
    assert len(losses) == 5 and losses[-1] < 0.05 < losses[0]
