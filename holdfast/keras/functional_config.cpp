// Configs of functional models: layers, the calls that join them, inputs and outputs.
#include "holdfast/keras/functional.h"

namespace holdfast::keras {

ConfigDict FunctionalLayer::get_config() const {
  fail(Code::E1105, "configs of functional models are not written yet");
}

Ref<FunctionalLayer> FunctionalLayer::from_config(const ConfigDict&) {
  fail(Code::E1105, "configs of functional models are not read yet");
}

}  // namespace holdfast::keras
