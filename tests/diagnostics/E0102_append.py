import holdfast as tf

kept = []


@tf.function(autograph=False)
def forward(x):
    kept.append(x * 2)
    return x


forward(tf.constant(1.0))
forward(tf.constant(2.0))
print(kept)
