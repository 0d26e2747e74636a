"""docs/cpp.md is true: its code is that of the examples, and it names each of them."""

import re

import pytest
from example_page import ROOT, ExamplePage

PAGE = ExamplePage("cpp.md")
TEXT = (ROOT / "docs" / "cpp.md").read_text()


@pytest.mark.parametrize("example", re.findall(r"```cpp (\w+)", TEXT))
def test_code_is_part_of_an_example(example):
    PAGE.check_cpp(f"cpp {example}", f"{example}.cpp")


def test_each_example_is_named():
    named = set(re.findall(r"`(\w+)`", TEXT.split("## Examples")[1]))
    there = {path.stem for path in (ROOT / "examples" / "cpp").glob("*.cpp")}
    assert there - named == {"digits"}  # the main job of ./run
