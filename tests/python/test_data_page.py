"""docs/data.md is true: its program prints what it shows, and its C++ is that of the example."""

import pytest
from example_page import ExamplePage, built, said_by

PAGE = ExamplePage("data.md")
EXAMPLE = built("data_pipeline")


def test_the_python_program_prints_what_is_shown(tmp_path):
    PAGE.check_python(tmp_path)


def test_the_cpp_program_is_the_example():
    PAGE.check_cpp("cpp", "data_pipeline.cpp")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the C++ examples are not built")
def test_the_example_says_that_both_iterators_agree():
    assert said_by(EXAMPLE)[-1] == "batch 8 is the same in both: yes"
