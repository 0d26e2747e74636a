"""Files that layers keep beside their weights come back with a model, from a file and from a copy."""

from __future__ import annotations

import pathlib
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


@keras.saving.register_keras_serializable("assets")
class Words(keras.layers.Layer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.words: list[str] = []
        self.scale = self.add_weight(shape=(), initializer="ones", name="scale")

    def call(self, x: Any) -> Any:
        return x * self.scale

    def save_assets(self, folder: str) -> None:
        place = pathlib.Path(folder, "text")
        place.mkdir()
        (place / "words.txt").write_text("\n".join(self.words), "utf-8")

    def load_assets(self, folder: str) -> None:
        self.words = pathlib.Path(folder, "text", "words.txt").read_text("utf-8").split("\n")
        self.scale_then = float(self.scale)


@keras.saving.register_keras_serializable("assets")
class Block(keras.layers.Layer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first, self.others = Words(), [Words(), Words()]

    def call(self, x: Any) -> Any:
        return self.others[1](self.others[0](self.first(x)))

    def save_assets(self, folder: str) -> None:
        pathlib.Path(folder, "note.txt").write_text("block")

    def load_assets(self, folder: str) -> None:
        self.note = pathlib.Path(folder, "note.txt").read_text()


def model() -> Any:
    block = Block()
    block.first.words, block.others[0].words = ["a", "b"], ["c"]
    block.others[1].words = ["d", "é"]
    block.others[1].scale.assign(7.0)
    return keras.Sequential([keras.Input((2,)), block])


def check(block: Any) -> None:
    assert block.note == "block"
    assert [w.words for w in (block.first, *block.others)] == [["a", "b"], ["c"], ["d", "é"]]
    assert block.others[1].scale_then == 7  # weights come first


def test_in_a_model_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "model.keras"
    model().save(path)
    names = [n for n in zipfile.ZipFile(path).namelist() if n.startswith("assets/")]
    assert names == [
        "assets/layers/block/note.txt",
        *(f"assets/layers/block/{w}/text/words.txt" for w in ("first", "others/words")),
        "assets/layers/block/others/words_1/text/words.txt",
    ]
    check(keras.models.load_model(path).layers[0])
    other = model()
    other.layers[0].first.words = []
    other.load_weights(path)
    check(other.layers[0])


def test_in_a_copy() -> None:
    check(pickle.loads(pickle.dumps(model())).layers[0])


def test_a_layer_without_files_is_not_asked_to_read_any(tmp_path: pathlib.Path) -> None:
    @keras.saving.register_keras_serializable("assets")
    class Nothing(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x

        def save_assets(self, folder: str) -> None:
            pass

        def load_assets(self, folder: str) -> None:
            raise AssertionError("there is nothing to read")

    keras.Sequential([keras.Input((2,)), Nothing()]).save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(np.ones((1, 2), "float32")), [[1, 1]])


@pytest.mark.parametrize("names", [["../../out"], ["a", "a/b"], ["a/b", "a"], ["x" * 300], ["."]])
def test_names_that_no_folder_takes_are_refused(tmp_path: pathlib.Path, names: list[str]) -> None:
    good, bad = tmp_path / "good.keras", tmp_path / "bad.keras"
    model().save(good)
    with zipfile.ZipFile(good) as given, zipfile.ZipFile(bad, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name))
        for name in names:
            made.writestr(f"assets/layers/block/{name}", "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="E1301"):
        keras.models.load_model(bad)
    assert not (tmp_path / "out").exists()
