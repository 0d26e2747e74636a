// Weights in Keras' own files: `.weights.h5`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "holdfast/io/hdf5.h"

namespace holdfast::keras {

/// The weights of one object of a model: a layer, an optimizer, a metric.
struct HOLDFAST_API StoredWeights {
  std::string path;  // where it hangs on the model: "layers/dense", "optimizer"; "" is the model
  std::string name;  // what it is called, for whoever looks into the file; may be empty
  std::vector<std::pair<std::string, Tensor>> values;  // by their keys, mostly "0", "1", ...

  /// With the keys that Keras gives: "0" for the first.
  static StoredWeights numbered(std::string path, std::string name,
                                const std::vector<Tensor>& values);
};

/// A file of weights in the making. Each object gets a group at its path, and in it a group `vars`
/// with a dataset for each weight.
HOLDFAST_API io::H5Writer weights_file(const std::vector<StoredWeights>& weights);
/// Writes such a file. It is there whole, or not at all.
HOLDFAST_API void write_weights(const std::string& path, const std::vector<StoredWeights>& weights);

/// A file of weights that is there, of ours or of Keras'.
class HOLDFAST_API WeightsReader {
 public:
  explicit WeightsReader(io::ByteSource source) : file_(std::move(source)) {}

  /// The paths of all objects that the file knows, also those that have no weights.
  std::vector<std::string> paths() const;
  /// Whether there is anything below a path.
  bool has(const std::string& path) const { return !place(path).empty(); }
  /// The keys of an object's weights, numbers in their order; none where the file does not know it.
  std::vector<std::string> keys(const std::string& path) const;
  Tensor read(const std::string& path, const std::string& key) const;
  /// What the file says of a weight without reading it.
  DType dtype(const std::string& path, const std::string& key) const;
  Shape shape(const std::string& path, const std::string& key) const;
  /// Everything of one object.
  StoredWeights read(const std::string& path) const;
  const std::string& name() const { return file_.source().name(); }

 private:
  std::string place(const std::string& path) const;
  std::string vars(const std::string& path) const;
  io::H5Reader file_;
};

}  // namespace holdfast::keras
