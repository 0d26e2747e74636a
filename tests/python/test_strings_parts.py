"""Texts cut into parts, characters, runs, buckets and numbers: as TensorFlow has them."""

import numpy as np
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


@pytest.mark.parametrize(
    "options, found",
    [
        ({}, [b"ab\xff", b"", b"a\0cdef"]),
        ({"width": 5}, [b"  ab\xff", b"     ", b"a\0cdef"]),
        ({"width": 5, "fill": "-"}, [b"ab\xff  ", b"     ", b"a\0cdef"]),
        ({"width": 5, "fill": "0"}, [b"  ab\xff", b"     ", b"a\0cdef"]),
        ({"width": 4, "precision": 2}, [b"  ab", b"    ", b"  a\0"]),
        (
            {"width": 0, "precision": 2},
            [b"ab\xff", b"", b"a\0cdef"],
        ),  # beside a width alone, as in TensorFlow
        ({"width": -3}, [b"ab\xff", b"", b"a\0cdef"]),
    ],
)
def test_texts_have_the_width_that_is_asked_for(options, found):
    assert S.as_string([b"ab\xff", b"", b"a\0cdef"], **options).numpy().tolist() == found


@pytest.mark.parametrize(
    "text, found",
    [
        (b"\xff", b'"\xff"'),
        ("\u65e5\u672c", '"\u65e5\u672c"'.encode()),
        (b"\0\x01\x7f", b'"\\000\\001\\177"'),
        (b"a\nb\t\r\"'\\", b'"a\\nb\\t\\r\\"\\\'\\\\"'),
    ],
)
def test_texts_in_templates_keep_their_bytes(text, found):
    assert S.format("{}", tf.constant(text)).numpy() == found
    assert S.format("<{}>", [tf.constant([text, b"x"])]).numpy() == b"<[" + found + b' "x"]>'


def test_templates():
    assert S.format("x {} y {}", (tf.range(3), tf.constant(1.5))).numpy() == b"x [0 1 2] y 1.5"
    assert S.format("%s!", tf.range(10), placeholder="%s").numpy() == b"[0 1 2 ... 7 8 9]!"
    with pytest.raises(tf.errors.InvalidArgumentError, match="places"):
        S.format("{} {}", tf.constant(1))


FAST = [377723, 291400, 782937, 268677, 641401, 612127, 460573]
STRONG = [804547, 12304, 279515, 601189, 398945, 743113, 110016]
PLAIN = [598820, 789371, 241279, 56437, 307402, 222250, 607196]


TEXTS = ["plain", "Zürich", "日本語", "𝈧n𝈩", "", "a\ufeffb"]
CODECS = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-16-LE": "utf-16-le",
    "UTF-32-BE": "utf-32-be",
    "UTF-32-LE": "utf-32-le",
    "UTF-16": "utf-16",  # begins with a mark, as Python writes it
    "UTF-32": "utf-32",
    "ISO-8859-1": "latin-1",
    "US-ASCII": "ascii",
}


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("encoding", CODECS)
def test_every_encoding_is_read_as_pythons_codec_writes_it(encoding, lower):
    name = encoding.lower() if lower else encoding
    for text in TEXTS:
        try:
            data = text.encode(CODECS[encoding])
        except UnicodeEncodeError:
            continue
        got = tf.strings.unicode_transcode(data, name, "UTF-8", errors="strict")
        assert got.numpy().decode() == text
        assert tf.strings.unicode_decode(data, name).numpy().tolist() == [ord(c) for c in text]


@pytest.mark.parametrize(("encoding", "codec"), [("UTF-16", "utf-16-be"), ("UTF-32", "utf-32-be")])
def test_without_a_mark_the_highest_byte_comes_first(encoding, codec):
    marked = "\ufeff".encode(codec.replace("be", "le")) + "hé".encode(codec.replace("be", "le"))
    for data in ("hé".encode(codec), "\ufeffhé".encode(codec), marked):
        assert tf.strings.unicode_transcode(data, encoding, "UTF-8").numpy().decode() == "hé"
    with pytest.raises(ValueError, match="UTF-7"):
        tf.strings.unicode_transcode("x", "UTF-7", "UTF-8")
    with pytest.raises(ValueError, match="output_encoding"):
        tf.strings.unicode_transcode("x", "UTF-8", encoding)


@pytest.mark.parametrize(("errors", "expected"), [("replace", b"?a?"), ("ignore", b"a")])
def test_control_characters_go_the_way_of_bytes_that_are_no_character(errors, expected):
    options = {"errors": errors, "replacement_char": ord("?"), "replace_control_characters": True}
    assert (
        tf.strings.unicode_transcode(b"\x01a\xff", "UTF-8", "UTF-8", **options).numpy() == expected
    )


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    ("texts", "places"),
    [([4, 3], [3]), ([3], [2, 3]), ([], [3]), ([1], [3]), ([2, 1], [1, 3]), ([2, 0], [1]), ([2], [])],
)  # fmt: skip
def test_parts_are_taken_in_every_combination(texts, places, dtype, traced):
    rng = np.random.default_rng(1)
    words = np.array([b"thirteen", b"fourteen", b"fifteen"], object)[rng.integers(0, 3, texts)]
    begin = rng.integers(-7, 7, places).astype(dtype)
    length = rng.integers(0, 9, places).astype(dtype)
    expected = np.vectorize(lambda t, b, n: t[b % len(t) :][:n], otypes=[object])(
        *np.broadcast_arrays(words, begin, length)
    )

    def part(*args):
        return tf.strings.substr(*args)

    spec = [tf.TensorSpec(None, d) for d in (tf.string, dtype, dtype)]
    run = tf.function(part, input_signature=spec) if traced else part
    got = run(tf.constant(words, tf.string, shape=texts), begin, length)
    np.testing.assert_array_equal(got.numpy(), expected)


def test_parts_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="broadcasts with"):
        tf.strings.substr(["abc", "abd"], [0, 1, 2], [1, 1, 1])


@pytest.mark.parametrize("bad", [-1, 2])
def test_segments_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match=f"segment id {bad}"):
        tf.strings.unsorted_segment_join(["a", "b"], [0, bad], 2)


def test_patterns_in_the_program_do_what_those_in_tensors_do():
    texts = tf.constant(["aab", "b", ""])
    for everywhere in (True, False):
        rewrite = {"rewrite": r"<\0>", "replace_global": everywhere}
        got = tf.raw_ops.StaticRegexReplace(input=texts, pattern="a", **rewrite)
        wanted = tf.strings.regex_replace(texts, "a", **rewrite)
        assert got.numpy().tolist() == wanted.numpy().tolist()
    got = tf.raw_ops.StaticRegexFullMatch(input=texts, pattern="a*b")
    assert got.numpy().tolist() == [True, True, False]
    with pytest.raises(ValueError, match="no regular expression"):
        tf.raw_ops.StaticRegexFullMatch(input=texts, pattern="(")


def test_strict_transcoding_refuses_control_characters_that_are_to_go():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_transcode(
            "a\x01b", "UTF-8", "UTF-8", errors="strict", replace_control_characters=True
        )


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ("a b  c", [["a", "b", "c"]]),
        (["a b", "", "c"], [["a", "b"], [], ["c"]]),
        ([["a b"], ["c d e"]], [[["a", "b"]], [["c", "d", "e"]]]),
    ],
)
def test_the_old_split_gives_sparse_rows_or_ragged_ones(texts, wanted):
    old = tf.compat.v1.strings.split
    rows = tf.ragged.constant(wanted, dtype=tf.string)
    assert old(texts, result_type="RaggedTensor").to_list() == rows.to_list()
    for sparse in (old(texts), old(source=texts)):
        np.testing.assert_array_equal(
            tf.sparse.to_dense(sparse), rows.to_tensor() if rows.flat_values.shape[0] else []
        )


def test_the_oldest_split_cuts_at_each_of_several_characters():
    old = tf.compat.v1.string_split
    ragged = {"result_type": "RaggedTensor"}
    assert old(["a b,c"], sep=" ,", **ragged).to_list() == [[b"a", b"b", b"c"]]
    assert old(["a,,c"], delimiter=",", **ragged).to_list() == [[b"a", b"c"]]
    kept = old(["a,,c"], delimiter=",", skip_empty=False, **ragged)
    assert kept.to_list() == [[b"a", b"", b"c"]]
    assert old(["ab", "c"], delimiter="", **ragged).to_list() == [[b"a", b"b"], [b"c"]]
    np.testing.assert_array_equal(old(["a b", "c"]).indices, [[0, 0], [0, 1], [1, 0]])


def test_the_old_splits_refuse_what_they_are_not_given():
    v1 = tf.compat.v1
    with pytest.raises(tf.errors.InvalidArgumentError, match="result_type"):
        v1.string_split(["a"], result_type="list")
    with pytest.raises(TypeError, match="source"):
        v1.strings.split()
    with pytest.raises(TypeError, match="source"):
        v1.strings.split(["a"], source=["a"])
