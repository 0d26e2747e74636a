"""Files, records, and what is kept in them: `tf.io`, `tf.train.Example`."""
