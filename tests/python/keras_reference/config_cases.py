"""What configs are recorded of: expressions in the words of both, over `layers`, `losses` and the rest."""

_LAYERS = """
Dense(3); Dense(3, activation='relu', kernel_regularizer='l2', name='mine'); Dense(3, activity_regularizer='l1', dtype='mixed_bfloat16')
Dense(2, kernel_initializer=initializers.HeNormal(seed=3), bias_constraint=constraints.MaxNorm(2), trainable=False)
EinsumDense('ab,bc->ac', 4); EinsumDense('abc,cd->abd', (None, 3), bias_axes='d', activation='tanh')
Embedding(5, 3); Embedding(5, 3, mask_zero=True, embeddings_regularizer='l1'); Identity(); Masking(0.5); Lambda(activations.relu)
Activation('relu'); ReLU(); ReLU(6.0, 0.1, 0.2); LeakyReLU(); ELU(0.3); PReLU(shared_axes=[1]); Softmax(); Softmax(axis=1)
Conv1D(3, 2); Conv2D(3, (2, 3), strides=2, padding='same', activation='relu', groups=1); Conv3D(2, 2, dilation_rate=2)
Conv1DTranspose(3, 2); Conv2DTranspose(3, 2, strides=2, output_padding=1); Conv3DTranspose(2, 2)
DepthwiseConv1D(2); DepthwiseConv2D(3, depth_multiplier=2); SeparableConv1D(3, 2); SeparableConv2D(3, 2, depthwise_regularizer='l2')
MaxPooling1D(); MaxPooling2D(3, 1, 'same'); MaxPooling3D(); AveragePooling1D(3); AveragePooling2D(2); AveragePooling3D(2)
GlobalMaxPooling1D(); GlobalMaxPooling2D(keepdims=True); GlobalMaxPooling3D(); GlobalAveragePooling1D(); GlobalAveragePooling2D(); GlobalAveragePooling3D()
BatchNormalization(); BatchNormalization(momentum=0.8, center=False, renorm=True); LayerNormalization(); LayerNormalization(axis=[1, 2], epsilon=1e-5)
GroupNormalization(4); RMSNormalization(); UnitNormalization(); Normalization(); Normalization(axis=None, mean=1.0, variance=2.0)
Normalization(mean=[1.0, 2.0], variance=[1.0, 4.0]); SpectralNormalization(layers.Dense(2))
Dropout(0.5); Dropout(0.5, noise_shape=(None, 1), seed=4); AlphaDropout(0.3); SpatialDropout1D(0.2); SpatialDropout2D(0.2); SpatialDropout3D(0.2)
GaussianDropout(0.2); GaussianNoise(0.2); ActivityRegularization(0.1, 0.2)
Flatten(); Reshape((3, -1)); Permute((2, 1)); RepeatVector(3); Cropping1D(); Cropping2D(1); Cropping3D(((1, 2), (0, 1), (1, 1)))
ZeroPadding1D((1, 2)); ZeroPadding2D(2); ZeroPadding3D(); UpSampling1D(); UpSampling2D((2, 3), interpolation='bilinear'); UpSampling3D()
Add(); Subtract(); Multiply(); Average(); Maximum(); Minimum(); Concatenate(axis=1); Dot(axes=1); Dot(axes=(1, 2), normalize=True)
LSTM(3); LSTM(3, return_sequences=True, dropout=0.1, recurrent_dropout=0.2, go_backwards=True, seed=1); GRU(3); GRU(3, reset_after=False, stateful=True)
SimpleRNN(3); SimpleRNN(3, activation='relu', unroll=True); LSTMCell(3); GRUCell(3); SimpleRNNCell(3)
RNN(layers.LSTMCell(2), return_state=True); RNN([layers.GRUCell(2), layers.SimpleRNNCell(3)]); StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(2)])
Bidirectional(layers.LSTM(2)); Bidirectional(layers.GRU(2), merge_mode='sum', backward_layer=layers.GRU(2, go_backwards=True)); TimeDistributed(layers.Dense(2))
MultiHeadAttention(2, 3); MultiHeadAttention(2, 3, value_dim=4, output_shape=5, attention_axes=(1, 2), seed=4, use_gate=True); GroupQueryAttention(3, 4, 2)
Attention(); Attention(use_scale=True, score_mode='concat', dropout=0.1); AdditiveAttention(); Rescaling(0.5, 1); Rescaling([1.0, 2.0])
InputLayer((3,)); InputLayer(batch_shape=(2, None), dtype='int32', name='ids'); Dense(2, dtype='float64'); Dense(2, activation='gelu', dtype='bfloat16')
Dense(3, kernel_initializer='zeros', bias_initializer=initializers.Constant(0.3), kernel_constraint='unit_norm')
"""
_LOSSES = """
MeanSquaredError(); MeanAbsoluteError(reduction='sum'); MeanAbsolutePercentageError(); MeanSquaredLogarithmicError(name='mine'); Huber(0.7); LogCosh()
BinaryCrossentropy(); BinaryCrossentropy(from_logits=True, label_smoothing=0.1); BinaryFocalCrossentropy(); CategoricalCrossentropy(); CategoricalFocalCrossentropy()
SparseCategoricalCrossentropy(ignore_class=0); KLDivergence(); Poisson(); Hinge(); SquaredHinge(); CategoricalHinge(); CosineSimilarity(); Tversky(); Dice(axis=(1, 2)); CTC(); Circle(); CategoricalGeneralizedCrossEntropy()
"""
_METRICS = """
Mean(); Sum(name='total'); MeanMetricWrapper(losses.mean_squared_error); Accuracy(); BinaryAccuracy(threshold=0.3); CategoricalAccuracy(); SparseCategoricalAccuracy()
TopKCategoricalAccuracy(3); SparseTopKCategoricalAccuracy(2); MeanSquaredError(); RootMeanSquaredError(); MeanAbsoluteError(); MeanAbsolutePercentageError(); MeanSquaredLogarithmicError()
CosineSimilarity(); LogCoshError(); R2Score(); R2Score('variance_weighted_average', num_regressors=2); AUC(); AUC(5, curve='PR', thresholds=[0.2, 0.5]); Precision(); Precision([0.2, 0.6], top_k=2); Recall(class_id=1)
PrecisionAtRecall(0.5); RecallAtPrecision(0.5); SensitivityAtSpecificity(0.4); SpecificityAtSensitivity(0.4); FalseNegatives(); FalsePositives(0.3); TrueNegatives(); TruePositives()
F1Score(); FBetaScore('micro', 0.5, 0.4); IoU(2, [0]); BinaryIoU(); MeanIoU(3); OneHotIoU(2, [1]); OneHotMeanIoU(2); BinaryCrossentropy(label_smoothing=0.1); CategoricalCrossentropy(); SparseCategoricalCrossentropy()
KLDivergence(); Poisson(); Hinge(); SquaredHinge(); CategoricalHinge(); ConcordanceCorrelation(); PearsonCorrelation(); Mean(dtype='float64')
"""
_OPTIMIZERS = """
SGD(); SGD(0.1, momentum=0.9, nesterov=True, clipnorm=1.0); Adam(); Adam(schedules.ExponentialDecay(0.1, 10, 0.5), weight_decay=0.01); AdamW(); Adamax(); Nadam(); Adagrad(); Adadelta(); RMSprop(centered=True)
Ftrl(); Lion(); Lamb(); Adafactor(); Muon(); LossScaleOptimizer(optimizers.Adam()); Adam(use_ema=True, ema_overwrite_frequency=5, loss_scale_factor=2.0, gradient_accumulation_steps=2, global_clipnorm=0.5)
"""
_SCHEDULES = """
ExponentialDecay(0.1, 10, 0.5); ExponentialDecay(0.1, 10, 0.5, staircase=True, name='mine'); PiecewiseConstantDecay([3, 5], [0.1, 0.2, 0.3]); PolynomialDecay(0.1, 10); InverseTimeDecay(0.1, 10, 0.5)
CosineDecay(0.1, 10); CosineDecay(0.0, 10, warmup_target=0.1, warmup_steps=3); CosineDecayRestarts(0.1, 10)
"""
_INITIALIZERS = """
Zeros(); Ones(); Constant(0.5); RandomNormal(); RandomUniform(seed=3); TruncatedNormal(); VarianceScaling(); GlorotUniform(); GlorotNormal(seed=1); HeNormal(); HeUniform(); LecunNormal(); LecunUniform(); Orthogonal(); Identity()
"""
_REGULARIZERS = "L1(); L2(0.3); L1L2(0.1, 0.2); OrthogonalRegularizer()"
_CONSTRAINTS = "MaxNorm(); MinMaxNorm(); NonNeg(); UnitNorm(axis=1)"
_POLICIES = "DTypePolicy('mixed_float16'); DTypePolicy('float32')"

SPACES = {
    "layers": _LAYERS,
    "losses": _LOSSES,
    "metrics": _METRICS,
    "optimizers": _OPTIMIZERS,
    "schedules": _SCHEDULES,
    "initializers": _INITIALIZERS,
    "regularizers": _REGULARIZERS,
    "constraints": _CONSTRAINTS,
    "dtype_policies": _POLICIES,
}


def cases():
    """All expressions, each with its namespace before it."""
    for space, listed in SPACES.items():
        for line in listed.strip().splitlines():
            for one in line.split(";"):
                yield f"{space}.{one.strip()}"


def made(keras, expression):
    """What an expression makes, with names counted from the start."""
    keras.backend.clear_session()
    words = {space: getattr(keras, space) for space in SPACES if space != "schedules"}
    words |= {"schedules": keras.optimizers.schedules, "activations": keras.activations}
    return eval(expression, words)


def config(keras, expression):
    """Its config, and what stands beside it where the object is in the config of another."""
    one = made(keras, expression)
    whole = keras.saving.serialize_keras_object(one)
    whole["config"] = one.get_config()
    return whole
