"""Keras' public names: ours take what Keras' take, or say that they are not there."""

import inspect
import json
import pathlib

import pytest
from keras_signatures import disagreements

import holdfast as tf

RECORDED = json.loads(
    (pathlib.Path(__file__).parent / "keras_reference" / "names.json").read_text()
)

# What is not there, and why. A name, or the namespace that it is in.
_LATER = "a layer, function or optimizer of the long tail, which is not made yet"
_IMAGES = "boxes, drawings and crops of images are not written yet"
_QUANTIZED = "weights of few bits are not made yet"
_SEVERAL = "models over several devices are not made yet"
_STATELESS = "state is in variables, and is given to nobody as values"
MISSING = {
    "keras.Function": "a model of symbols is a `Model`",
    "keras.Operation": "ops are C++'s; a program's own is a layer or a function",
    "keras.RematScope": "`remat` recomputes one function",
    "keras.StatelessScope": _STATELESS,
    "keras.SymbolicScope": _STATELESS,
    "keras.Quantizer": _QUANTIZED,
    "keras.quantizers": _QUANTIZED,
    "keras.applications": "models whose weights come from elsewhere are not made yet",
    "keras.callbacks.OrbaxCheckpoint": "it writes files of Orbax",
    "keras.config.enable_unsafe_deserialization": "code in files is never run",
    "keras.distillation": _LATER,
    "keras.distribution": _SEVERAL,
    "keras.dtype_policies.AWQDTypePolicy": _QUANTIZED,
    "keras.dtype_policies.GPTQDTypePolicy": _QUANTIZED,
    "keras.dtype_policies.Int4DTypePolicy": _QUANTIZED,
    "keras.dtype_policies.QuantizedDTypePolicy": _QUANTIZED,
    "keras.dtype_policies.QuantizedFloat8DTypePolicy": _QUANTIZED,
    "keras.export": "saved models are not written yet",
    "keras.layers.FlaxLayer": "a layer of another framework",
    "keras.layers.JaxLayer": "a layer of another framework",
    "keras.layers.TFSMLayer": "saved models are not read yet",
    "keras.layers.TorchModuleWrapper": "a layer of another framework",
    "keras.optimizers.legacy": "Keras' own raise too: they are gone",
    "keras.preprocessing.image.smart_resize": _IMAGES,
    "keras.saving.KerasFileEditor": _LATER,
    "keras.utils.Config": _LATER,
    "keras.utils.FeatureSpace": "layers that prepare inputs are not made yet",
    "keras.utils.bounding_boxes": _IMAGES,
    "keras.utils.legacy": "configs of Keras 2 are not read yet",
    "keras.visualization": _IMAGES,
    "keras.wrappers": _LATER,
}
_LONG_TAIL = {
    "keras.layers": """
      AugMix AutoContrast
      CategoryEncoding CenterCrop ContrastLimitedAdaptiveHistogramEqualization ConvLSTM1D ConvLSTM2D
      ConvLSTM3D CutMix Discretization Equalization HashedCrossing Hashing IntegerLookup
      MaxNumBoundingBoxes MelSpectrogram MixUp Pipeline RandAugment RandomBrightness
      RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform
      RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert
      RandomPerspective RandomPosterization RandomRotation RandomSaturation RandomSharpness
      RandomShear RandomTranslation RandomZoom Resizing ReversibleEmbedding STFTSpectrogram
      Solarization StringLookup TextVectorization""",
    "keras.ops": """
      ctc_decode""",
    "keras.ops.image": """
      affine_transform elastic_transform extract_patches_3d gaussian_blur hsv_to_rgb map_coordinates
      perspective_transform resize rgb_to_hsv scale_and_translate sobel_edges ssim""",
    "keras.ops.nn": "ctc_decode",
}
for _space, _names in _LONG_TAIL.items():
    MISSING |= {f"{_space}.{name}": _LATER for name in _names.split()}

# What a class has not, of the methods that programs call.
WITHOUT = {
    "keras.Layer": {
        "add_metric": "Keras' own does nothing but refuse",
        "symbolic_call": "a layer that is called on a symbol is not called on a value",
        "rematerialized_call": "`keras.remat` recomputes one function",
        "quantize": _QUANTIZED,
        "quantized_build": _QUANTIZED,
        "quantized_call": _QUANTIZED,
    },
}
WITHOUT["keras.Model"] = WITHOUT["keras.Sequential"] = WITHOUT["keras.Layer"] | {
    "export": "saved models are not written yet",
    "get_quantization_layer_structure": _QUANTIZED,
    "stateless_compute_loss": _STATELESS,
}

# Where ours differ on purpose.
DIFFERENT = {
    "keras.utils.plot_model": "drawings are SVG",
    "keras.Model.loss": "a property: what `compile` was given",
    "keras.Sequential.loss": "a property: what `compile` was given",
}


def _reason(path):
    while path:
        if path in MISSING:
            return MISSING[path]
        path = path.rpartition(".")[0]
    return None


def _found(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("space", sorted({p.rpartition(".")[0] for p in RECORDED["names"]}))
def test_names(space):
    wrong = []
    for path, signature in RECORDED["names"].items():
        if path.rpartition(".")[0] != space:
            continue
        try:
            value = _found(path)
        except tf.errors.UnimplementedError as error:
            assert error.code == "E1105"
            if _reason(path) is None:
                wrong.append(f"{path} is missing")
            continue
        if _reason(path) is not None:
            wrong.append(f"{path} is there, and stands in the list of what is not")
        elif signature is not None and path not in DIFFERENT:
            wrong += [f"{path} {what}" for what in disagreements(signature, value)]
    assert not wrong


@pytest.mark.parametrize("owner", RECORDED["methods"])
def test_methods(owner):
    wrong = []
    without = WITHOUT.get(owner, {})
    for name, signature in RECORDED["methods"][owner].items():
        method = inspect.getattr_static(_found(owner), name, None)
        if name in without or method is None:
            if (method is None) != (name in without):
                wrong.append(f"{owner}.{name} {'is missing' if method is None else 'is there'}")
        elif f"{owner}.{name}" not in DIFFERENT:
            bound = getattr(_found(owner), name)
            wrong += [f"{owner}.{name} {what}" for what in disagreements(signature, bound)]
    assert not wrong
