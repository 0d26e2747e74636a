"""Saved positions of pipelines whose functions and elements hold datasets, or draw random numbers.

Each pipeline is made anew for each place, as another process would make it.
"""

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
