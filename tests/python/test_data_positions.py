"""Saved positions of pipelines whose functions and elements hold datasets, or draw random numbers.

Each pipeline is made anew for each place, as another process would make it.
"""

import struct

import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def drawn(seed=1):
    return tf.random.uniform([], 0, 1000, tf.int32, seed=seed)


def plain(dataset):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), e) for e in dataset]


def two_shuffles():
    return [Dataset.range(4).shuffle(4, seed=1), Dataset.range(10, 13).shuffle(4, seed=2)]


def of_a_captured_list():
    both = two_shuffles()
    return Dataset.range(4).flat_map(lambda i: both[0].concatenate(both[1]))


class Owner:
    def __init__(self):
        self.parts = {"a": two_shuffles()[0]}

    def make(self, _):
        return self.parts["a"]


def of_an_object():
    return Dataset.range(4).flat_map(Owner().make)


def of_defaults():
    both = two_shuffles()
    return Dataset.range(4).interleave(lambda i, a=both[0]: Dataset.zip(a, a), cycle_length=2)


def of_elements():
    return Dataset.from_tensor_slices(two_shuffles()).repeat(3).flat_map(lambda d: d)


def of_elements_in_turn():
    return Dataset.from_tensor_slices(two_shuffles()).repeat(2).interleave(lambda d: d.batch(2))


def of_one_element():
    inner = two_shuffles()[0]
    return Dataset.from_tensors(inner).repeat(3).flat_map(lambda d: d)


def of_groups():
    inner = two_shuffles()[0]
    return Dataset.range(8).group_by_window(lambda x: x % 2, lambda _, w: Dataset.zip(w, inner), 2)


def of_windows():
    return Dataset.range(12).window(4).flat_map(lambda w: w.shuffle(4, seed=5))


def of_reduced():
    inner = Dataset.range(4).shuffle(4, seed=1)
    return Dataset.range(4).map(
        lambda i: inner.reduce(tf.constant(0, tf.int64), lambda state, x: state * 10 + x)
    )


def of_branches_of_a_function():
    return Dataset.range(9).map(lambda x: drawn() if x % 4 != 3 else drawn() + 2000)


def of_functions_made_inside():
    return Dataset.range(3).flat_map(lambda i: Dataset.range(3).map(lambda x: drawn()))


def of_functions_made_deeper():
    def deep(i):
        return Dataset.range(2).flat_map(lambda j: Dataset.range(2).map(lambda x: drawn()))

    return Dataset.range(3).interleave(deep, cycle_length=2)


def of_a_captured_map():
    inner = Dataset.range(3).map(lambda x: drawn())
    return Dataset.range(3).flat_map(lambda i: inner)


def of_shared_stages():
    inner = Dataset.range(5).map(lambda x: drawn())
    return Dataset.zip(inner, inner.skip(1), inner.concatenate(inner))


def of_shared_stages_that_have_ended():
    inner = Dataset.range(3).map(lambda x: drawn())
    choices = Dataset.range(5).map(lambda x: x % 2)
    chosen = Dataset.choose_from_datasets(
        [inner, inner.take(1)], choices, stop_on_empty_dataset=False
    )
    return inner.concatenate(inner).repeat(2).concatenate(chosen.repeat(2))


def of_held_datasets_beside_shared_stages():
    inner = Dataset.range(2).map(lambda x: drawn())
    held = Dataset.from_tensors(inner).repeat(2).flat_map(lambda d: d.map(lambda x: (x, drawn(2))))
    return held.concatenate(held).repeat(2)


def of_stages_made_beside_shared_ones():
    def inner(_):
        made = Dataset.range(2).map(lambda x: drawn())
        return Dataset.zip(made, made)

    numbers = Dataset.range(3)
    return Dataset.zip(numbers, numbers).flat_map(lambda a, b: inner(a))


def of_shuffles_that_a_function_gives():
    ds = Dataset.range(4).map(lambda x: Dataset.range(4).shuffle(4, seed=1))
    return ds.shuffle(2, seed=2).interleave(lambda d: d.concatenate(d), cycle_length=2)


def of_random_numbers_that_a_function_gives():
    ds = Dataset.range(3).map(lambda x: (Dataset.range(2).map(lambda y: drawn()), x))
    return ds.flat_map(lambda d, x: d)


def of_windows_that_a_function_changes():
    windows = Dataset.range(8).window(2).map(lambda w: w.shuffle(2, seed=3).batch(2))
    return windows.window(2).flat_map(lambda ws: ws.flat_map(lambda w: w))


def of_cached_datasets_of_a_function():
    ds = Dataset.range(3).map(lambda x: Dataset.range(3).shuffle(3, seed=x)).cache()
    return ds.repeat(2).flat_map(lambda d: d)


def of_windows_that_overlap():
    windows = Dataset.range(3).map(lambda x: Dataset.range(3).shuffle(3, seed=4)).window(2, 1)
    return windows.flat_map(lambda ws: ws.flat_map(lambda w: w))


def of_datasets_in_python_code():
    inner = Dataset.range(3).shuffle(3, seed=1)

    def code(x):
        return sum(int(y) * 10**i for i, y in enumerate(inner))

    return Dataset.range(4).map(lambda x: tf.py_function(code, [x], tf.int64))


PIPELINES = [
    of_a_captured_list,
    of_an_object,
    of_defaults,
    of_elements,
    of_elements_in_turn,
    of_one_element,
    of_groups,
    of_windows,
    of_reduced,
    of_branches_of_a_function,
    of_functions_made_inside,
    of_functions_made_deeper,
    of_a_captured_map,
    of_shared_stages,
    of_shared_stages_that_have_ended,
    of_held_datasets_beside_shared_stages,
    of_stages_made_beside_shared_ones,
    of_shuffles_that_a_function_gives,
    of_random_numbers_that_a_function_gives,
    of_windows_that_a_function_changes,
    of_cached_datasets_of_a_function,
    of_windows_that_overlap,
    of_datasets_in_python_code,
]


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda f: f.__name__)
def test_a_position_goes_on_as_it_would_have(pipeline, ahead):
    def made():
        return pipeline().prefetch(2) if ahead else pipeline()

    wanted = plain(made())
    for cut in range(len(wanted) + 1):
        first = iter(made())
        assert plain(next(first) for _ in range(cut)) == wanted[:cut]
        again = iter(made())
        again.restore(first.save())
        assert plain(again) == wanted[cut:]
        assert plain(first) == wanted[cut:]  # which was saved from goes on, too


def test_the_next_iteration_goes_on_with_the_seeds_of_captured_shuffles():
    first = of_a_captured_list()
    begun = iter(first)
    for _ in range(9):
        next(begun)
    position = begun.save()
    plain(begun)
    second = of_a_captured_list()
    again = iter(second)
    again.restore(position)
    plain(again)
    assert plain(first) == plain(second)


@pytest.mark.parametrize("ahead", [False, True])
def test_the_next_iteration_goes_on_with_the_seeds_of_stages_that_have_ended(ahead):
    def made():
        ds = Dataset.range(5).shuffle(5, seed=3).concatenate(Dataset.range(10, 13))
        return ds.prefetch(2) if ahead else ds

    for cut in range(9):
        first, second = made(), made()
        begun, again = iter(first), iter(second)
        for _ in range(cut):
            next(begun)
        again.restore(begun.save())
        assert plain(again) == plain(begun)
        assert [plain(second) for _ in range(2)] == [plain(first) for _ in range(2)]


data = Dataset.range(4).shuffle(4, seed=1)  # as the attribute that functions below name


def test_an_attribute_is_no_global_of_that_name():
    ds = Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(x))
    assert b"shuffle" not in iter(ds).save()


def test_a_function_may_name_the_pipeline_that_it_is_part_of():
    held = {}

    def inner(x):
        return tf.data.Dataset.range(x) if held else Dataset.range(1)

    def code(x):
        return x if held else x + 1

    def made():
        ds = Dataset.range(1, 5).shuffle(4, seed=1).flat_map(inner)
        held["all"] = ds.map(lambda x: tf.py_function(code, [x], tf.int64))
        return held["all"]

    wanted = plain(made())
    first = iter(made())
    assert plain(next(first) for _ in range(3)) == wanted[:3]
    position = first.save()
    again = iter(made())
    again.restore(position)
    assert plain(again) == wanted[3:]


def test_a_position_of_a_function_that_uses_other_datasets_is_refused():
    def made(n):
        parts = [Dataset.range(2).shuffle(2, seed=1)] * n + [Dataset.range(2).take(2)]
        return Dataset.range(2).flat_map(lambda i: parts[-1])

    with pytest.raises(tf.errors.InvalidArgumentError, match="its functions use"):
        iter(made(0)).restore(iter(made(1)).save())


# What TensorFlow draws in these pipelines, by `random.uniform` with the op's seed 1.


def test_inputs_that_share_a_stage_have_random_numbers_of_their_own():
    m = Dataset.range(3).map(lambda x: drawn())
    assert plain(Dataset.zip(m, m)) == [(127, 127), (477, 477), (838, 838)]
    assert plain(m.concatenate(m)) == [127, 477, 838, 127, 477, 838]
    assert plain(Dataset.zip(m.batch(2).unbatch(), m.take(3))) == [
        (127, 127),
        (477, 477),
        (838, 838),
    ]
    choices = Dataset.from_tensor_slices(tf.constant([0, 1, 0, 1], tf.int64))
    assert plain(Dataset.choose_from_datasets([m, m], choices)) == [127, 127, 477, 477]
    twice = [127, 477, 838, 127, 477, 838, 340, 931, 893, 340, 931, 893]
    assert plain(m.concatenate(m).repeat(2)) == twice


def test_functions_that_a_function_makes_go_on_with_one_anothers_numbers():
    def inner(_):
        return Dataset.range(3).map(lambda x: drawn())

    wanted = [127, 477, 838, 340, 931, 893]
    assert plain(Dataset.range(2).flat_map(inner)) == wanted
    assert plain(Dataset.range(2).interleave(inner, cycle_length=2)) == wanted
    ds = Dataset.range(2).flat_map(inner)
    assert plain(ds) == plain(ds) == wanted  # each iteration begins anew


def test_stages_that_functions_hold_or_make_share_their_numbers():
    m, numbers = Dataset.range(2).map(lambda x: drawn()), Dataset.range(2)
    held = Dataset.zip(m, m)
    wanted = [(127, 477), (838, 340), (931, 893), (296, 283)]

    def made(_):
        inner = Dataset.range(2).map(lambda x: drawn())
        return Dataset.zip(inner, inner)

    for f in (made, lambda _: held):
        assert plain(numbers.flat_map(f)) == wanted
        # As they do beside stages that share an input.
        both = Dataset.zip(numbers, numbers).map(lambda a, b: a)
        assert plain(both.flat_map(f)) == wanted


def test_branches_share_the_numbers_of_datasets_that_functions_and_elements_hold():
    m = Dataset.range(2).map(lambda x: drawn())
    in_a_function = Dataset.range(1).flat_map(lambda i: m)
    in_an_element = Dataset.from_tensors(m).flat_map(lambda d: d)
    for held in (in_a_function, in_an_element, Dataset.range(1).flat_map(lambda i: in_a_function)):
        assert plain(held.concatenate(held)) == [127, 477, 838, 340]
        assert plain(Dataset.zip(held, held)) == [(127, 477), (838, 340)]
    made = Dataset.range(1).flat_map(lambda i: Dataset.range(2).map(lambda x: drawn()))
    assert plain(made.concatenate(made)) == [127, 477, 127, 477]
    both = Dataset.range(1).flat_map(lambda i: m.map(lambda x: (x, drawn(2))))
    assert plain(both.concatenate(both)) == [(127, 291), (477, 592), (838, 291), (340, 592)]


def test_arguments_have_the_random_numbers_of_a_loop_outside():
    m = Dataset.range(3).map(lambda x: drawn())

    @tf.function
    def pairs(dataset):
        return dataset.reduce(tf.zeros([0], tf.int32), lambda s, e: tf.concat([s, e], 0))

    @tf.function
    def of_two(a, b):
        return pairs(Dataset.zip(a, b).map(lambda x, y: tf.stack([x, y])))

    wanted = [127, 127, 477, 477, 838, 838]
    assert pairs(Dataset.zip(m, m).map(lambda x, y: tf.stack([x, y]))).numpy().tolist() == wanted
    assert of_two(m, m).numpy().tolist() == wanted


# Positions that nobody saved.


def number(value):
    return b"i" + struct.pack("<q", value)


def test_specs_without_end_are_refused():
    ds = Dataset.range(4).window(1).shuffle(2, seed=1)
    it = iter(ds)
    next(it)
    position = it.save()
    window = b"e" + number(100) + number(-1)  # a dataset that is told by its elements
    before = position[: position.index(window)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too deep"):
        iter(ds).restore(before + window + (b"f" + number(100)) * 200_000)


def test_functions_in_functions_without_end_are_refused():
    ds = Dataset.range(4).interleave(lambda x: Dataset.range(2).map(lambda y: y))
    it = iter(ds)
    next(it)
    position = it.save()
    name = b"interleave"
    before = position[: position.rindex(name) + len(name)]
    one = number(0) + number(1)  # no random numbers, and one function that it makes
    with pytest.raises(tf.errors.InvalidArgumentError, match="too deep"):
        iter(ds).restore(before + one * 200_000)


def test_elements_of_another_kind_are_refused():
    ds = Dataset.range(8).batch(2).shuffle(2, seed=1)
    it = iter(ds)
    next(it)
    position = it.save()
    at = position.index(b"t" + b"i") + 1 + len(number(0))  # behind the dtype of a tensor
    vector = number(1) + number(2)
    assert position[at:].startswith(vector)
    other = position[:at] + number(2) + number(2) + number(1) + position[at + len(vector) :]
    with pytest.raises(tf.errors.InvalidArgumentError, match="an element: it is"):
        iter(ds).restore(other)


def _not_of_four(x):
    four = tf.debugging.assert_none_equal(x % 4, tf.constant(0, tf.int64))
    with tf.control_dependencies([four]):
        return tf.identity(x)


def _not_of_four_in_python(x):
    if x % 4 == 0:
        raise ValueError("it is of four")
    return x


def _ones_to_ten():
    return Dataset.range(1, 11)


def _in_python(ds, **options):
    return ds.map(lambda x: tf.py_function(_not_of_four_in_python, [x], tf.int64), **options)


_WITH_ERRORS = {
    "prefetch": lambda: _ones_to_ten().map(_not_of_four).prefetch(8),
    "a parallel map": lambda: _ones_to_ten().map(_not_of_four, num_parallel_calls=3),
    "one before it": lambda: (
        _ones_to_ten().map(_not_of_four).map(lambda x: x + 1, num_parallel_calls=3)
    ),
    "python code in it": lambda: _in_python(_ones_to_ten(), num_parallel_calls=3),
    "window": lambda: (
        _ones_to_ten().map(_not_of_four).window(4, shift=1).flat_map(lambda w: w.batch(4))
    ),
    "interleave": lambda: (
        _ones_to_ten().map(_not_of_four).interleave(Dataset.range, 4, num_parallel_calls=4)
    ),
}


def _told(it):
    out = []
    for _ in range(100):
        try:
            out.append(plain([next(it)]))
        except StopIteration:
            return out
        except ValueError as error:
            out.append(str(error))
    raise AssertionError("it does not end")


@pytest.mark.parametrize("name", _WITH_ERRORS)
@pytest.mark.parametrize("before", [1, 2, 5])
def test_elements_that_failed_ahead_of_their_turn_fail_behind_a_restored_position(name, before):
    it = iter(_WITH_ERRORS[name]())
    for _ in range(before):
        try:
            next(it)
        except ValueError:
            pass
    position = it.save()
    other = iter(_WITH_ERRORS[name]())
    other.restore(position)
    expected = _told(it)
    assert any("of four" in str(e) or "assert_none_equal" in str(e) for e in expected)
    assert _told(other) == expected
    ignored = iter(_WITH_ERRORS[name]().ignore_errors())
    next(ignored)
    ignored.save()  # is not refused for what nobody will see
