"""Texts cut into parts, characters, runs, buckets and numbers: as TensorFlow has them."""

import pytest

import holdfast as tf

S = tf.strings


def rows(ragged):
    assert isinstance(ragged, tf.RaggedTensor)
    return ragged.to_list()


def test_words():
    assert rows(S.split(["a b  c", "", " lead "])) == [[b"a", b"b", b"c"], [], [b"lead"]]
    assert rows(S.split(["x,y,,z,", ""], ",")) == [[b"x", b"y", b"", b"z", b""], [b""]]
    assert rows(S.split(["1<>2<>3"], "<>", maxsplit=1)) == [[b"1", b"2<>3"]]
    assert rows(S.split(["a b  c", "one"], maxsplit=1)) == [[b"a", b"b  c"], [b"one", b""]]
    assert S.split("a b").numpy().tolist() == [b"a", b"b"]
    deep = S.split([["a b", "c"], ["d e f", ""]])
    assert deep.ragged_rank == 2
    assert deep.to_list() == [[[b"a", b"b"], [b"c"]], [[b"d", b"e", b"f"], []]]
    ragged = tf.ragged.constant([["a b"], [], ["c", "d e"]])
    assert rows(S.split(ragged)) == [[[b"a", b"b"]], [], [[b"c"], [b"d", b"e"]]]
    assert rows(S.split(tf.constant([], tf.string))) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="texts"):
        S.split([1, 2])


def test_words_in_graphs_and_datasets():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(texts):
        return S.split(texts)

    assert rows(words(["a b", "c"])) == [[b"a", b"b"], [b"c"]]
    ds = tf.data.Dataset.from_tensor_slices(["a b", "", "c d e"]).map(S.split)
    assert [e.numpy().tolist() for e in ds] == [[b"a", b"b"], [], [b"c", b"d", b"e"]]
    (batch,) = ds.ragged_batch(3)
    assert batch.to_list() == [[b"a", b"b"], [], [b"c", b"d", b"e"]]


def test_bytes_and_characters():
    assert rows(S.bytes_split(["ab", "", "é"])) == [[b"a", b"b"], [], [b"\xc3", b"\xa9"]]
    assert rows(S.unicode_decode(["h☃😀", ""], "UTF-8")) == [[104, 9731, 128512], []]
    assert rows(S.unicode_split(["h☃", "ab"], "UTF-8")) == [
        [b"h", "☃".encode()],
        [b"a", b"b"],
    ]
    assert S.unicode_decode("h☃", "UTF-8").numpy().tolist() == [104, 9731]
    characters, starts = S.unicode_decode_with_offsets(["h☃!"], "UTF-8")
    assert rows(characters) == [[104, 9731, 33]]
    assert rows(starts) == [[0, 1, 4]]
    parts, starts = S.unicode_split_with_offsets([["a☃"], ["é"]], "UTF-8")
    assert rows(parts) == [[[b"a", "☃".encode()]], [["é".encode()]]]
    assert rows(starts) == [[[0, 1]], [[0]]]


def test_bytes_that_are_no_characters():
    bad = [b"a\xffb\xe2\x98c", b"\xed\xa0\x80", b"\xc0\x80"]
    decoded = rows(S.unicode_decode(bad, "UTF-8"))
    assert decoded[0] == [97, 65533, 98, 65533, 99]
    assert set(decoded[1]) == set(decoded[2]) == {65533}
    assert rows(S.unicode_decode([b"a\xffb"], "UTF-8", errors="ignore")) == [[97, 98]]
    assert rows(S.unicode_decode([b"a\xff"], "UTF-8", replacement_char=63)) == [[97, 63]]
    controls = S.unicode_decode([b"a\x01"], "UTF-8", replace_control_characters=True)
    assert rows(controls) == [[97, 65533]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="string 1"):
        S.unicode_decode([b"a", b"\xff"], "UTF-8", errors="strict")
    with pytest.raises(tf.errors.InvalidArgumentError, match="UTF-9"):
        S.unicode_decode(["a"], "UTF-9")


def test_characters_become_texts():
    encode = S.unicode_encode
    assert encode([[104, 9731], [33, 34]], "UTF-8").numpy().tolist() == ["h☃".encode(), b'!"']
    ragged = tf.ragged.constant([[104, 9731], [], [128512]])
    assert encode(ragged, "UTF-8").numpy().tolist() == ["h☃".encode(), b"", "😀".encode()]
    deep = tf.ragged.constant([[[104], [9731]], [], [[33]]])
    assert rows(encode(deep, "UTF-8")) == [[b"h", "☃".encode()], [], [b"!"]]
    assert encode([104, 128512], "UTF-16-BE").numpy() == "h😀".encode("utf-16-be")
    assert encode([104, 0xD800], "UTF-8").numpy() == "h\ufffd".encode()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no character"):
        encode([0x110000], "UTF-8", errors="strict")
    texts = ["", "héllo ☃😀"]
    wide = S.unicode_transcode(texts, "UTF-8", "UTF-32-BE")
    assert wide.numpy().tolist() == [t.encode("utf-32-be") for t in texts]
    back = S.unicode_transcode(wide, "UTF-32-BE", "UTF-8")
    assert back.numpy().tolist() == [t.encode() for t in texts]


def test_runs_of_words():
    assert S.ngrams(["a", "b", "c"], 2).numpy().tolist() == [b"a b", b"b c"]
    both = S.ngrams([["a", "b", "c"], ["d", "e", "f"]], [1, 2], separator="|")
    assert both.numpy().tolist()[1] == [b"d", b"e", b"f", b"d|e", b"e|f"]
    padded = S.ngrams(["a", "b"], 3, pad_values=("<", ">")).numpy().tolist()
    assert padded == [b"< < a", b"< a b", b"a b >", b"b > >"]
    assert S.ngrams(["a"], 3, pad_values="_", padding_width=1).numpy().tolist() == [b"_ a _"]
    ragged = tf.ragged.constant([["a", "b", "c"], [], ["d"]])
    assert rows(S.ngrams(ragged, 2)) == [[b"a b", b"b c"], [], []]
    kept = S.ngrams(ragged, 2, preserve_short_sequences=True)
    assert rows(kept) == [[b"a b", b"b c"], [], [b"d"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ngram_widths"):
        S.ngrams(["a"], 0)
    with pytest.raises(TypeError, match="pad_values"):
        S.ngrams(["a"], 2, padding_width=1)


def test_buckets_are_those_of_tensorflow():
    texts = ["", "a", "tensor", "x" * 20, "y" * 40, "z" * 70, "w" * 200]
    fast = S.to_hash_bucket_fast(texts, 1000003).numpy().tolist()
    strong = S.to_hash_bucket_strong(texts, 1000003, [123, 456]).numpy().tolist()
    plain = S.to_hash_bucket(texts, 1000003).numpy().tolist()
    assert fast == FAST
    assert strong == STRONG
    assert plain == PLAIN
    ragged = tf.ragged.constant([["a"], ["tensor", ""]])
    assert rows(S.to_hash_bucket_fast(ragged, 1000003)) == [[FAST[1]], [FAST[2], FAST[0]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_buckets"):
        S.to_hash_bucket_fast(texts, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="key"):
        S.to_hash_bucket_strong(texts, 5, [1])


def test_regular_expressions():
    texts = tf.constant(["abc 123", "", "x9y"])
    assert S.regex_replace(texts, "[0-9]+", "#").numpy().tolist() == [b"abc #", b"", b"x#y"]
    assert S.regex_replace(texts, r"(\w)", r"<\1>", replace_global=False).numpy().tolist() == [
        b"<a>bc 123",
        b"",
        b"<x>9y",
    ]
    assert S.regex_full_match(texts, r"\w+").numpy().tolist() == [False, False, True]
    assert rows(S.regex_replace(tf.ragged.constant([["ab"], ["b", "c"]]), "b", "x")) == [
        [b"ax"],
        [b"x", b"c"],
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pattern"):
        S.regex_replace(texts, "(", "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="rewrite"):
        S.regex_replace(texts, "a", r"\1")
    cleaned = tf.data.Dataset.from_tensor_slices(texts).map(
        lambda t: S.regex_replace(t, "[^a-z]", "")
    )
    assert [t.numpy() for t in cleaned] == [b"abc", b"", b"xy"]


def test_numbers_as_texts():
    assert S.as_string([1, -2, 300]).numpy().tolist() == [b"1", b"-2", b"300"]
    assert S.as_string([1.5, -2.25], precision=3).numpy().tolist() == [b"1.500", b"-2.250"]
    assert S.as_string([1.5, 1e20], shortest=True).numpy().tolist() == [b"1.5", b"1e+20"]
    assert S.as_string([1.5], scientific=True, precision=2).numpy().tolist() == [b"1.50e+00"]
    assert S.as_string([1, -2], width=5, fill="0").numpy().tolist() == [b"00001", b"-0002"]
    assert S.as_string([True, False]).numpy().tolist() == [b"true", b"false"]
    assert S.as_string(tf.constant([1 + 2j])).numpy().tolist() == [b"(1.000000,2.000000)"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="floats"):
        S.as_string([1], precision=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fill"):
        S.as_string([1], width=4, fill="x")


def test_templates():
    assert S.format("x {} y {}", (tf.range(3), tf.constant(1.5))).numpy() == b"x [0 1 2] y 1.5"
    assert S.format("%s!", tf.range(10), placeholder="%s").numpy() == b"[0 1 2 ... 7 8 9]!"
    with pytest.raises(tf.errors.InvalidArgumentError, match="places"):
        S.format("{} {}", tf.constant(1))


FAST = [377723, 291400, 782937, 268677, 641401, 612127, 460573]
STRONG = [804547, 12304, 279515, 601189, 398945, 743113, 110016]
PLAIN = [598820, 789371, 241279, 56437, 307402, 222250, 607196]
