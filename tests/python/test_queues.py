"""Queues: what is added is taken, in the order of their kind, at once, in functions and in sessions."""

import threading
import time

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
Queue = tf.queue.FIFOQueue


class Eager:
    """Operations happen when they are called."""

    @staticmethod
    def run(what):
        found = what()
        return tf.nest.map_structure(lambda t: t.numpy(), found) if found is not None else None


class Traced(Eager):
    @staticmethod
    def run(what):
        return Eager.run(tf.function(what))


class InSession:
    def __init__(self):
        self.session = v1.Session()

    def run(self, what):
        return self.session.run(what())


@pytest.fixture(params=[Eager, Traced, InSession])
def world(request):
    if request.param is not InSession:
        yield request.param()
        return
    with tf.Graph().as_default():
        yield InSession()


def test_elements_come_out_as_they_went_in(world):
    q = Queue(10, [tf.float32, tf.string], shapes=[[2], []])
    world.run(lambda: q.enqueue(([1.0, 2.0], "a")))
    world.run(lambda: q.enqueue_many(([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], ["b", "c", "d"])))
    assert world.run(q.size) == 4
    x, text = world.run(q.dequeue)
    assert x.tolist() == [1, 2] and text == b"a"
    x, text = world.run(lambda: q.dequeue_many(2))
    assert x.tolist() == [[3, 4], [5, 6]] and text.tolist() == [b"b", b"c"]
    assert not world.run(q.is_closed)
    world.run(q.close)
    assert world.run(q.is_closed)
    x, _ = world.run(lambda: q.dequeue_up_to(5))
    assert x.tolist() == [[7, 8]]
    for taken in (q.dequeue, lambda: q.dequeue_many(1), lambda: q.dequeue_up_to(1)):
        with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
            world.run(taken)
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        world.run(lambda: q.enqueue(([1.0, 2.0], "a")))


def test_parts_may_have_names(world):
    q = Queue(5, [tf.int32, tf.float32], shapes=[[], []], names=["i", "f"])
    world.run(lambda: q.enqueue({"i": 1, "f": 2.0}))
    assert world.run(q.dequeue) == {"i": 1, "f": 2.0}
    with pytest.raises(ValueError, match="keys"):
        q.enqueue({"i": 1})


def test_the_smallest_priority_goes_first(world):
    q = tf.queue.PriorityQueue(10, [tf.string], shapes=[[]])
    world.run(lambda: q.enqueue_many(([3, 1, 2, 1], ["c", "a", "b", "a2"])))
    priorities, texts = world.run(lambda: q.dequeue_many(4))
    assert priorities.tolist() == [1, 1, 2, 3] and texts.tolist() == [b"a", b"a2", b"b", b"c"]


def test_rows_of_different_lengths_are_padded(world):
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    for row in ([1], [2, 3], []):
        world.run(lambda row=row: q.enqueue(tf.constant(row, tf.int32)))
    assert world.run(lambda: q.dequeue_many(3)).tolist() == [[1, 0], [2, 3], [0, 0]]
    with pytest.raises(ValueError, match="ranks"):
        tf.queue.PaddingFIFOQueue(10, [tf.int32], shapes=None)


def test_a_shuffled_queue_gives_everything_in_any_order():
    q = tf.queue.RandomShuffleQueue(200, 10, tf.int32, shapes=[()], seed=3)
    q.enqueue_many([list(range(100))])
    first = q.dequeue_many(90).numpy().tolist()
    assert first != sorted(first)
    q.close()
    assert sorted(first + q.dequeue_many(10).numpy().tolist()) == list(range(100))


def test_one_of_several_queues_is_chosen_when_it_is_used(world):
    queues = [Queue(5, tf.int32, shapes=[()]) for _ in range(3)]
    world.run(lambda: queues[2].enqueue(7))
    chosen = tf.queue.QueueBase.from_list(2, queues)
    assert world.run(chosen.dequeue) == 7
    shapes = ([4, 2], [3, 2], None)
    mixed = [Queue(5, tf.int32, shapes=s if s is None else [s]) for s in shapes]
    assert tf.queue.QueueBase.from_list(0, mixed[:2]).shapes[0].as_list() == [None, 2]
    assert tf.queue.QueueBase.from_list(0, mixed).shapes[0].rank is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="index"):
        world.run(tf.queue.QueueBase.from_list(3, queues).size)


@pytest.mark.parametrize("in_session", [False, True])
def test_who_adds_waits_for_room_and_who_takes_for_elements(in_session):
    found = []

    def wait_for_each_other(add, take):
        threads = [
            threading.Thread(target=lambda: found.append(take()), daemon=True),
            threading.Thread(target=add, daemon=True),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

    q, numbers = Queue(2, tf.int32, shapes=[()]), [list(range(20))]
    if in_session:
        with tf.Graph().as_default():
            session = v1.Session()
            add, take = q.enqueue_many(numbers), q.dequeue_many(20)
            wait_for_each_other(lambda: session.run(add), lambda: session.run(take))
    else:
        wait_for_each_other(lambda: q.enqueue_many(numbers), lambda: q.dequeue_many(20).numpy())
    assert found[0].tolist() == list(range(20))


def test_a_queue_that_closes_wakes_those_who_wait():
    q, full = Queue(1, tf.int32), Queue(1, tf.int32)
    full.enqueue(1)
    ends = []

    def tell(work):
        try:
            work()
        except tf.errors.OpError as end:
            ends.append(type(end).__name__)

    waiting = [
        threading.Thread(target=tell, args=(work,), daemon=True)
        for work in (q.dequeue, lambda: full.enqueue(2))
    ]
    for thread in waiting:
        thread.start()
    time.sleep(0.2)
    q.close()
    full.close(cancel_pending_enqueues=True)
    for thread in waiting:
        thread.join(20)
    assert sorted(ends) == ["CancelledError", "OutOfRangeError"]
    assert full.dequeue().numpy() == 1


def test_a_batch_that_can_not_be_filled_is_put_back():
    q = Queue(10, tf.int32, shapes=[()])
    q.enqueue_many([[1, 2, 3]])
    threading.Timer(0.2, q.close).start()
    with pytest.raises(tf.errors.OutOfRangeError):
        q.dequeue_many(5)
    assert q.dequeue_many(3).numpy().tolist() == [1, 2, 3]


def test_what_does_not_fit_is_refused():
    q = Queue(10, [tf.int32, tf.float32], shapes=[[2], []])
    for bad in (([1], 1.0), ([1, 2],), ([1, 2], [1.0])):
        with pytest.raises(ValueError):
            q.enqueue(bad)
    with pytest.raises(ValueError):
        q.enqueue_many(([[1, 2]], [1.0, 2.0]))
    with pytest.raises(tf.errors.DiagnosticError, match="shapes"):
        Queue(10, tf.int32).dequeue_many(1)
    with pytest.raises(tf.errors.UnimplementedError, match="shared_name"):
        Queue(10, tf.int32, shared_name="q")
    with pytest.raises(ValueError, match="min_after_dequeue"):
        tf.queue.RandomShuffleQueue(5, 5, tf.int32)
    assert v1.FIFOQueue is Queue and v1.queue.FIFOQueue is Queue


def test_a_choice_of_choices_is_made_by_both_indices(world):
    queues = [Queue(5, tf.int32, shapes=[()]) for _ in range(4)]
    for number, queue in enumerate(queues):
        world.run(lambda number=number, queue=queue: queue.enqueue(number))
    choose = tf.queue.QueueBase.from_list
    pairs = [choose(1, queues[:2]), choose(0, queues[2:])]
    assert [world.run(choose(at, pairs).dequeue) for at in (0, 1)] == [1, 2]


def test_each_of_several_queues_works_in_its_own_way(world):
    padding = [tf.queue.PaddingFIFOQueue(5, tf.int32, shapes=[[None]]) for _ in range(2)]
    chosen = tf.queue.QueueBase.from_list(1, padding)
    for row in ([1, 2], [3]):
        world.run(lambda row=row: chosen.enqueue([row]))
    assert world.run(lambda: chosen.dequeue_many(2)).tolist() == [[1, 2], [3, 0]]
    kinds = [Queue(5, tf.int32, shapes=[()]), tf.queue.RandomShuffleQueue(5, 0, tf.int32, [()])]
    mixed = tf.queue.QueueBase.from_list(0, kinds)
    world.run(lambda: mixed.enqueue_many([[4, 5, 6]]))
    assert world.run(lambda: mixed.dequeue_many(3)).tolist() == [4, 5, 6]
    sizes = [Queue(5, tf.int32, shapes=[[size]]) for size in (2, 3)]
    narrow = tf.queue.QueueBase.from_list(0, sizes)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3,\), expected \(2,\)"):
        world.run(lambda: narrow.enqueue([[1, 2, 3]]))
    with pytest.raises(TypeError, match="dtypes"):
        tf.queue.QueueBase.from_list(0, [kinds[0], Queue(5, tf.int64, shapes=[()])])


def test_a_queue_is_closed_once(world):
    q = Queue(5, tf.int32)
    world.run(q.close)
    with pytest.raises(tf.errors.CancelledError, match="closed already"):
        world.run(q.close)
    world.run(lambda: q.close(cancel_pending_enqueues=True))
    assert world.run(q.is_closed)


def test_an_interrupt_loses_no_elements(monkeypatch):
    q = Queue(10, tf.int32, shapes=[()])
    q.enqueue_many([[1, 2, 3]])

    def interrupted(timeout):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(q._line._changed, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            q.dequeue_many(5)
    assert q.size().numpy() == 3 and q.dequeue_many(3).numpy().tolist() == [1, 2, 3]


def test_the_order_of_a_shuffled_queue_follows_the_seeds():
    def drawn(seed=None):
        q = tf.queue.RandomShuffleQueue(50, 0, tf.int32, shapes=[()], seed=seed)
        q.enqueue_many([list(range(40))])
        return q.dequeue_many(40).numpy().tolist()

    tf.random.set_seed(3)
    first = [drawn(), drawn()]
    tf.random.set_seed(3)
    assert [drawn(), drawn()] == first and first[0] != first[1]
    tf.random.set_seed(4)
    assert drawn() != first[0]
    with tf.Graph().as_default():
        orders = []
        for _ in range(2):
            q = tf.queue.RandomShuffleQueue(50, 0, tf.int32, shapes=[()], seed=5)
            with v1.Session() as session:
                session.run(q.enqueue_many([list(range(40))]))
                orders.append(session.run(q.dequeue_many(40)).tolist())
        assert orders[0] == orders[1]


def test_operations_have_names_in_a_graph():
    with tf.Graph().as_default() as graph:
        q = Queue(10, tf.int32, shapes=[()], name="line")
        assert q.enqueue(5, name="add").name == "add" and q.dequeue(name="deq").name == "deq:0"
        with tf.name_scope("part"):
            assert q.size(name="count").name == "part/count:0"
        made = [q.enqueue(1), q.enqueue_many([[1]]), q.dequeue(), q.dequeue_many(2)]
        made += [q.dequeue_up_to(2), q.size(), q.is_closed(), q.close(), q.close()]
        assert [each.name.removesuffix(":0").removeprefix("line_") for each in made] == [
            *("enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Size"),
            *("Is_Closed", "Close", "Close_1"),
        ]
        with v1.Session() as session:
            session.run("add")
            assert session.run("deq:0") == 5
        assert graph.get_operation_by_name("deq").outputs[0].shape == ()


def test_one_run_goes_through_its_operations_as_they_were_written():
    with tf.Graph().as_default(), v1.Session() as session:
        q = Queue(10, tf.int32, shapes=[()])
        add, take = q.enqueue(5), q.dequeue()
        assert session.run([take, add]) == [5, None]
        found, early = [], q.dequeue()
        late = q.enqueue(6)
        waits = threading.Thread(
            target=lambda: found.append(session.run([early, late])), daemon=True
        )
        waits.start()
        waits.join(0.3)
        assert waits.is_alive()
        session.run(add)
        waits.join(20)
        assert found == [[5, None]] and session.run(take) == 6


def test_python_functions_have_names_in_a_graph():
    with tf.Graph().as_default():
        for call in (tf.py_function, tf.numpy_function):
            name = call.__name__
            assert call(lambda x: x, [1.0], tf.float32, name=f"my_{name}").name == f"my_{name}:0"


def test_shapes_are_known_while_a_graph_is_written():
    with tf.Graph().as_default():
        q = Queue(10, tf.float32, shapes=[[2]])
        assert q.dequeue().shape == (2,) and q.dequeue_many(3).shape == (3, 2)
        assert q.dequeue_up_to(3).shape.as_list() == [None, 2]
        late = q.enqueue(v1.placeholder_with_default(np.zeros(3, "float32"), None))
        with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
            session.run(late)
