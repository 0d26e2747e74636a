"""Each C++ example is short, runs and ends well: it checks its own result."""

import pytest
from example_page import ROOT, built, run

EXAMPLES = sorted((ROOT / "examples" / "cpp").glob("*.cpp"))
NEEDS_DATA = {"digits"}  # the main job of `./run`, which test_digits.py does
OF_PAGES = {"digits", "layers", "module"}  # longer, and explained by pages of docs/


@pytest.mark.parametrize("source", EXAMPLES, ids=lambda p: p.stem)
def test_example(source):
    if source.stem not in OF_PAGES:
        assert len(source.read_text().splitlines()) <= 40
    if source.stem in NEEDS_DATA:
        pytest.skip("needs the digits' images")
    program = built(source.stem)
    if not program.exists():
        pytest.skip("the examples are not built")
    done = run(str(program))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_there_are_enough_to_begin_with():
    assert len(EXAMPLES) >= 20
