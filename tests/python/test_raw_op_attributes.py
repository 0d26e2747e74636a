"""Attributes of raw ops: read by the type that the op says, refused by their names."""

import pytest

import holdfast as tf

raw = tf.raw_ops


def test_an_attribute_is_read_as_its_op_takes_it():
    x = tf.reshape(tf.range(6.0), [2, 3])
    assert raw.Cast(x=x, DstT="int32").dtype == tf.int32
    pixels = tf.ones([1, 4, 4, 1])
    assert raw.FractionalMaxPool(value=pixels, pooling_ratio=[1, 2, 2, 1])[0].shape == [1, 2, 2, 1]
    assert raw.EnsureShape(input=x, shape=None).shape == [2, 3]
    assert raw.EnsureShape(input=x, shape=[None, 3]).shape == [2, 3]


@pytest.mark.parametrize(
    "op, said, message",
    [
        ("Split", {"num_split": "2"}, "`num_split` is '2', expected an int of at most 64 bits"),
        ("Split", {"num_split": True}, "`num_split` is True, expected an int of at most 64 bits"),
        ("Split", {"num_split": None}, "`num_split` is None, expected an int of at most 64 bits"),
        (
            "Split",
            {"num_split": 2**70},
            "is 1180591620717411303424, expected an int of at most 64 bits",
        ),
        ("ArgMax", {"output_type": 1.5}, "`output_type` is 1.5, expected a dtype"),
        ("EnsureShape", {"shape": "wide"}, "`shape` is 'wide', expected a shape"),
        ("FractionalMaxPool", {"pooling_ratio": ["a"]}, "is ['a'], expected a list of floats"),
        ("MaxPool", {"ksize": [0.5], "strides": [1], "padding": "SAME"}, "expected a list of ints"),
        ("Split", {"num_split": 2, "name": 7}, "`name` is 7, expected a string"),
    ],
)
def test_another_type_is_refused_by_name(op, said, message):
    inputs = {"Split": {"axis": 0, "value": [1.0, 2.0]}, "ArgMax": {"input": [1.0], "dimension": 0}}
    inputs |= {"EnsureShape": {"input": [1.0]}, "MaxPool": {"input": [[[[1.0]]]]}}
    inputs |= {"FractionalMaxPool": {"value": [[[[1.0]]]]}}
    with pytest.raises(TypeError) as refused:
        getattr(raw, op)(**inputs[op], **said)
    assert refused.value.diagnostic.headline.endswith(message)
    assert f"raw_ops.{op}" in str(refused.value)


@pytest.mark.parametrize("op, attribute", [("EnsureShape", "shape"), ("Eig", "Tout")])
def test_what_tensorflow_requires_is_required(op, attribute):
    with pytest.raises(TypeError, match=f"`{attribute}`"):
        getattr(raw, op)(input=[[1.0]])
    assert raw.Eig(input=[[1.0]], Tout=tf.complex64)[0].numpy().tolist() == [1]


def test_a_list_of_tensors_is_needed_where_an_op_takes_one():
    with pytest.raises(TypeError, match="`values` is 1.0, expected a list of tensors"):
        raw.ConcatV2(values=1.0, axis=0)


def test_a_list_may_change_while_its_elements_become_tensors():
    class Emptying:
        def __array__(self, dtype=None, copy=None):
            items.clear()
            return tf.ones([2]).numpy()

    items = [Emptying(), tf.ones([2])]
    assert raw.AddN(inputs=items).numpy().tolist() == [2.0, 2.0]
