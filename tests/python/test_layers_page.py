"""docs/layers.md is true: its program prints what it shows, and its C++ is that of the example."""

import pytest
from example_page import ExamplePage, built, losses_in, said_by

PAGE = ExamplePage("layers.md")
EXAMPLE = built("layers")


def test_the_python_program_prints_what_is_shown(tmp_path):
    PAGE.check_python(tmp_path)


def test_the_cpp_program_is_the_example():
    PAGE.check_cpp("cpp", "layers.cpp")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the C++ examples are not built")
def test_the_example_trains_and_says_how_it_goes():
    losses = losses_in(said_by(EXAMPLE))
    assert len(losses) == 5 and losses[-1] < 0.1 < losses[0]
