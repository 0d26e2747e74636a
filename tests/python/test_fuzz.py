"""No signature makes an op crash or hang: each is computed, or refused by a message that names the op.

pytest tests/python/test_fuzz.py --count 200        the full run
"""

import json
import pathlib

import children
import pytest

from holdfast import _holdfast

CHILD = pathlib.Path(__file__).with_name("fuzz_child.py")
OPS = sorted(_holdfast.raw_ops())
CHUNK = 12


@pytest.mark.parametrize("start", range(0, len(OPS), CHUNK), ids=lambda i: OPS[i])
def test_bad_signatures_are_refused(start, request):
    count = request.config.getoption("--count")
    wrong = children.run(CHILD, OPS[start : start + CHUNK], 1, count, timeout=600)
    assert not wrong, "\n".join(json.dumps(w, indent=1) for w in wrong[:10])
