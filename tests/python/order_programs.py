"""Pipelines with shuffles: `record_orders.py` writes down what TensorFlow gives for each of them.

Each takes the library. What `repeat` draws of a shuffle's seeds behind its last turn hangs on what
stands between the two, and on whether the pipeline or a function holds them.
"""


def mixed(tf):
    return tf.data.Dataset.range(4).shuffle(4, seed=3)


def same(x):
    return x + 0


def generated(tf, sizes):
    """A generator that gives other numbers of elements each time it begins."""
    turns = []

    def give():
        turns.append(0)
        for i in range(sizes[(len(turns) - 1) % len(sizes)]):
            yield len(turns) * 10 + i

    return tf.data.Dataset.from_generator(give, output_signature=tf.TensorSpec([], tf.int64))


def held(tf, dataset, turns=3):
    """It stands in a function."""
    return tf.data.Dataset.range(turns).flat_map(lambda _: dataset)


def in_windows(tf):
    whole = mixed(tf).repeat(2)
    windows = tf.data.Dataset.range(8).window(4)
    return windows.flat_map(lambda w: tf.data.Dataset.zip((w, whole)).map(lambda a, b: a * 10 + b))


def reduced(tf):
    whole = mixed(tf).repeat(2)
    zero = tf.constant(0, tf.int64)
    return tf.data.Dataset.range(3).map(lambda _: whole.reduce(zero, lambda s, x: s * 5 + x))


def beside(tf, first):
    parts = (tf.data.Dataset.range(4), mixed(tf).repeat(2))
    pairs = tf.data.Dataset.zip(parts if first else parts[::-1])
    return pairs.map(lambda a, b: a * 10 + b)


def repeated_in_a_function(tf):
    once = mixed(tf)
    return tf.data.Dataset.range(3).flat_map(lambda _: once.repeat(2))


def same_twice(tf):
    once = mixed(tf)
    return held(tf, once.concatenate(once).repeat(2), 2)


PIPELINES = {
    "repeat": lambda tf: mixed(tf).repeat(2),
    "repeat in a function": lambda tf: held(tf, mixed(tf).repeat(2)),
    "repeat of one turn in a function": lambda tf: held(tf, mixed(tf).repeat(1)),
    "a function that repeats": repeated_in_a_function,
    "an element that repeats": lambda tf: (
        tf.data.Dataset.from_tensors(mixed(tf).repeat(2)).repeat(3).flat_map(lambda x: x)
    ),
    "a function in a function": lambda tf: held(tf, held(tf, mixed(tf).repeat(2), 2), 2),
    "two shuffles": lambda tf: mixed(tf).shuffle(2, seed=9).map(same).repeat(2),
    "two shuffles in a function": lambda tf: held(tf, mixed(tf).shuffle(2, seed=9).repeat(2)),
    "repeat, shuffle, repeat in a function": lambda tf: held(
        tf, mixed(tf).repeat(2).shuffle(3, seed=5).repeat(2), 2
    ),
    "one stage twice": same_twice,
    "repeat in windows": in_windows,
    "reduce in a function": reduced,
    "zip ends first": lambda tf: beside(tf, True),
    "zip ends last": lambda tf: beside(tf, False),
    "all, none, one turn": lambda tf: mixed(tf).take(-1).skip(0).shard(1, 0).repeat(1).repeat(2),
    "options": lambda tf: mixed(tf).with_options(tf.data.Options()).repeat(2),
    "prefetch of nothing": lambda tf: mixed(tf).prefetch(0).repeat(2),
    "prefetch": lambda tf: mixed(tf).prefetch(1).repeat(2),
    "map": lambda tf: mixed(tf).map(same).repeat(2),
    "cache": lambda tf: mixed(tf).cache().map(same).repeat(2),
    "concatenate": lambda tf: mixed(tf).concatenate(mixed(tf).map(same)).repeat(2),
    "a part without end": lambda tf: mixed(tf).repeat().take(3).map(same).repeat(2),
    "turns that give nothing": lambda tf: generated(tf, [1, 0, 2]).repeat().take(6),
    "shuffled turns that give nothing": lambda tf: (
        generated(tf, [1, 0, 2]).shuffle(1, seed=2).repeat().take(6)
    ),
    "a first turn that gives nothing": lambda tf: (
        generated(tf, [0, 1]).shuffle(1, seed=2).repeat().take(6)
    ),
    "so many turns": lambda tf: generated(tf, [0, 1, 2]).repeat(4),
}

BY_NUMBER = {
    "all in the buffer": lambda tf: tf.data.Dataset.range(7).shuffle(10, seed=2),
    "a small buffer": lambda tf: tf.data.Dataset.range(7).shuffle(3, seed=2).map(same).repeat(2),
}


def iterated(tf, name):
    """What two iterations give."""
    tf.random.set_seed(1)
    dataset = PIPELINES[name](tf)
    return [[int(x) for x in dataset] for _ in range(2)]


def by_number(tf, name):
    """Each element by its number, before the dataset was iterated and after."""
    tf.random.set_seed(1)
    dataset = BY_NUMBER[name](tf)
    numbers = range(len(dataset))
    orders = []
    for _ in range(2):
        orders.append([int(tf.data.experimental.at(dataset, i)) for i in numbers])
        orders.append([int(x) for x in dataset])
    return orders
