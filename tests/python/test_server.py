"""Servers of this process: sessions with their target share variables, others do not."""

import gc

import pytest

import holdfast as tf

v1 = tf.compat.v1


def counter(start=0.0, shape=()):
    graph = tf.Graph()
    with graph.as_default():
        v = v1.get_variable("count", initializer=tf.fill(shape, start))
        return graph, v, v1.assign_add(v, tf.ones(shape))


def test_sessions_of_one_server_share_variables_by_name():
    server = tf.distribute.Server.create_local_server()
    (one, v, more), (two, w, _) = counter(5.0), counter(100.0)
    with v1.Session(server.target, one) as first, v1.Session(server.target, two) as second:
        first.run(more)
        assert first.run(v) == second.run(w) == 6.0
    with v1.Session(server.target, two) as later:  # what is shared outlives a session
        assert later.run(w) == 6.0
        assert later.sess_str.decode() == server.target
    with v1.Session(graph=two) as alone:
        assert alone.run(w) == 100.0


def test_a_partial_run_on_a_server():
    with tf.Graph().as_default():
        a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        total, product = a + b, (a + b) * b
        server = v1.train.Server.create_local_server()
        with v1.Session(server.target) as session:
            handle = session.partial_run_setup([total, product], [a, b])
            assert session.partial_run(handle, total, {a: 1.0, b: 2.0}) == 3.0
            assert session.partial_run(handle, product) == 6.0


def test_other_dtypes_and_shapes_are_refused_by_name():
    server = tf.distribute.Server.create_local_server()
    (one, v, _), (two, w, _) = counter(), counter(shape=(2,))
    with v1.Session(server.target, one) as first, v1.Session(server.target, two) as second:
        assert first.run(v) == 0.0
        with pytest.raises(ValueError, match="variable `count` is float32.2. in this graph"):
            second.run(w)


def test_two_servers_share_nothing():
    graph, v, more = counter()
    servers = [tf.distribute.Server.create_local_server() for _ in range(2)]
    assert servers[0].target != servers[1].target
    sessions = [v1.Session(server.target, graph) for server in servers]
    sessions[0].run(more)
    assert [session.run(v) for session in sessions] == [1.0, 0.0]


def test_what_no_server_of_this_process_has_is_refused():
    for target in ("grpc://localhost:2222", "local"):
        with pytest.raises(NotImplementedError, match="no server of this process"):
            v1.Session(target)
    idle = tf.distribute.Server.create_local_server(start=False)
    with pytest.raises(NotImplementedError, match="no server of this process"):
        v1.Session(idle.target, tf.Graph())
    idle.start()
    v1.Session(idle.target, tf.Graph()).close()
    with pytest.raises(NotImplementedError, match="cluster"):
        tf.distribute.Server({"worker": ["localhost:2222"]}, "worker", 0)
    with pytest.raises(NotImplementedError, match="join"):
        idle.join()
    target = idle.target
    del idle
    gc.collect()
    with pytest.raises(NotImplementedError, match="no server of this process"):
        v1.Session(target)
