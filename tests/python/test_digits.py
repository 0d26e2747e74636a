"""The main job of `./run`: a model trained from Python gives the same predictions in C++."""

import re
import sys

import pytest
from example_page import ROOT, built, run

pytest.importorskip("sklearn")


def trained(epochs, *options):
    script = str(ROOT / "examples" / "python" / "digits.py")
    return run(sys.executable, script, "--epochs", str(epochs), *options)


def test_the_predictions_are_the_same_to_the_last_bit(tmp_path):
    program = built("digits")
    if not program.exists():
        pytest.skip("the examples are not built")
    model, data = str(tmp_path / "m.keras"), str(tmp_path / "d.bin")
    done = trained(3, "--save", model, "--export", data)
    assert done.stderr == "" and "\r" not in done.stdout
    accuracy = float(re.search(r"accuracy (\d\.\d+) on 397 images", done.stdout)[1])
    assert done.returncode == (0 if accuracy > 0.97 else 1)
    assert (
        len(re.findall(r"^ +\d +(?:\d+|\.)(?: +(?:\d+|\.)){9}$", done.stdout, re.MULTILINE)) == 10
    )
    again = run(str(program), model, data)
    assert (again.returncode, again.stderr) == (0, "")
    assert f"accuracy {accuracy:.4f}" in again.stdout and "to the last bit" in again.stdout


def test_a_model_that_tells_too_little_ends_in_an_error():
    done = trained(0)
    assert done.returncode == 1 and done.stderr == ""


def test_what_is_no_model_and_no_data_is_refused(tmp_path):
    program = built("digits")
    if not program.exists():
        pytest.skip("the examples are not built")
    short = tmp_path / "short.bin"
    short.write_bytes(b"\x05" + b"\0" * 7 + b"abc")
    for given in ([], [str(short)], [str(short), str(tmp_path / "none")], [str(short), str(short)]):
        done = run(str(program), *given)
        assert done.returncode in (1, 2) and done.stderr and not done.stdout
