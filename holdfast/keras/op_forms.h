// Which op computes which operation of Keras, and what stands where in a config. Inside only.
#pragma once

#include "holdfast/keras/op_config.h"

namespace holdfast::keras {

/// What an operation of a config is called with.
class OperationArgs {
 public:
  OperationArgs(const ConfigObject& said, const ConfigDict& call,
                const holdfast::Callback<Tensor(const Config&)>& symbol);
  size_t count() const { return args_ ? args_->size() : 0; }
  /// An argument by its place; null where it is not given.
  const Config& at(size_t place) const;
  /// By its name or its place.
  const Config& find(const char* name, size_t place) const;
  /// What the operation was made with.
  const Config& option(const char* name) const;
  Tensor tensor(const Config& c, const std::string& argument) const;
  Tensor tensor(size_t place) const { return tensor(at(place), cat_place(place)); }
  Tensor first(const char* name = "x") const { return tensor(find(name, 0), name); }
  /// Tensors and numbers, brought to one dtype.
  std::vector<Tensor> operands(std::initializer_list<const char*> names) const;
  std::string what(const std::string& argument) const;
  static bool is_tensor(const Config& c);

 private:
  static std::string cat_place(size_t place) { return "argument " + std::to_string(place); }
  const ConfigObject& said_;
  const holdfast::Callback<Tensor(const Config&)>& symbol_;
  const Config::List* args_ = nullptr;
  const ConfigDict* kwargs_ = nullptr;
};

/// As an operation of Keras; none where Keras has no such, or not in this form.
std::optional<OperationCall> describe_known(const Node& node,
                                            const holdfast::Callback<Config(const Edge&)>& operand);
/// What an operation of Keras gives; none where it is not known here.
std::optional<Tensors> call_known(const std::string& class_name, const OperationArgs& args);

}  // namespace holdfast::keras
