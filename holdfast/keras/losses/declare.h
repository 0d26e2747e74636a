// Declares losses that have no options of their own.
#pragma once

#include "holdfast/keras/foreign_loss.h"

namespace holdfast::keras::losses {

template <class L>
const ClassDef& plain(const char* path, const char* doc,
                      std::vector<std::string> short_names = {}) {
  return Declare<L>(path, doc, &Loss::def())
      .template option<&LossOptions::reduction>("reduction")
      .template option<&LossOptions::name>("name")
      .template option<&LossOptions::dtype>("dtype", false)
      .known_as(std::move(short_names));
}

}  // namespace holdfast::keras::losses
