// Models in files: `.keras` with all that a model is, `.weights.h5` with its weights.
#pragma once

#include <string>

#include "holdfast/keras/model.h"

namespace holdfast::keras {

class ArchiveReader;
class Model;
class WeightsReader;

/// Writes the weights of a model, and of what hangs on it, as Keras does: to a path that ends in
/// `.weights.h5`. One that ends in `.safetensors` gets the weights of layers as plain tensors.
HOLDFAST_API void save_weights(const Layer& model, const std::string& path);

struct LoadOptions {
  bool skip_mismatch = false;  // leave out objects whose weights do not fit
};
/// Gives a model the weights of a `.weights.h5`, `.safetensors` or `.keras` file. Everything is
/// compared before anything changes; a model that has an object with other weights than the file's
/// is refused, or that object is left as it is.
HOLDFAST_API void load_weights(const Layer& model, const std::string& path,
                               const LoadOptions& options = {});
HOLDFAST_API void load_weights(const Layer& model, const WeightsReader& file,
                               const LoadOptions& options = {});

/// Writes a whole model. A path must end in `.keras`. `more` is put beside what describes it: how
/// it was compiled, for those who know.
HOLDFAST_API void save_model(const Layer& model, const std::string& path,
                             const ConfigDict& more = {});
/// The config of a model as `.keras` files have it: every object with its module, and the shapes
/// that the model was built for.
HOLDFAST_API Config archived_config(const Layer& model);
/// The config of an archive's model, as `deserialize` takes it.
HOLDFAST_API Config config_of(const ArchiveReader& file);
/// Builds a model for the shapes that such a config tells, if it tells any.
HOLDFAST_API void build_from(const Config& archived, Layer& model);
/// Compiles a model as such a config tells, if it tells how.
HOLDFAST_API void compile_from(const Config& archived, Layer& model);

struct LoadModelOptions {
  bool compile = true;  // as the model was when it was saved, with what its optimizer kept
};
/// The model of a `.keras` file. Classes are looked up in the registry; nothing in the file is run.
/// A file that holds a layer which is no model is refused.
HOLDFAST_API Model load_model(const std::string& path, const LoadModelOptions& options = {});

}  // namespace holdfast::keras
