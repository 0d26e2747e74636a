"""Names of version 1 that are not there say so, and what to use instead."""

import pytest

import holdfast as tf

v1 = tf.compat.v1

SUMMARIES = (
    "scalar histogram image audio text tensor_summary merge merge_all FileWriter Summary initialize"
)


@pytest.mark.parametrize("name", SUMMARIES.split())
def test_summaries(name):
    with pytest.raises(tf.errors.UnimplementedError) as caught:
        getattr(v1.summary, name)("loss", 1.0)
    said = caught.value.diagnostic
    assert said.code == "E1105" and f"`tf.compat.v1.summary.{name}`" in said.headline
    assert "sess.run" in said.fixes[0].title
