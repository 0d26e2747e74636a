"""docs/strategies.md is true: its program prints what it shows."""

from example_page import ExamplePage


def test_the_python_program_prints_what_is_shown(tmp_path):
    ExamplePage("strategies.md").check_python(tmp_path)
