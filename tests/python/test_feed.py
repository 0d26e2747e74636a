"""Any constant of a graph may be fed: the value is used, or refused by name, and nothing else happens.

pytest tests/python/test_feed.py --count 200        every sample
"""

import json
import pathlib

import children
import pytest
import samples

CHILD = pathlib.Path(__file__).with_name("feed_child.py")
FUNCTIONS = [f.record["name"] for f in samples.FUNCTIONS if f.record["samples"]]
CHUNK = 40


@pytest.mark.parametrize("start", range(0, len(FUNCTIONS), CHUNK), ids=lambda i: FUNCTIONS[i])
def test_a_fed_constant_is_used_or_refused_by_name(start, request):
    most = request.config.getoption("--count") // 2
    wrong = children.run(CHILD, FUNCTIONS[start : start + CHUNK], 1, most, timeout=900)
    assert not wrong, "\n".join(json.dumps(w, indent=1) for w in wrong[:10])
