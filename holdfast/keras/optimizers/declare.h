// Declares what all optimizers have in common, after the options of their own.
#pragma once

#include "holdfast/keras/foreign_optimizer.h"

namespace holdfast::keras::optimizers {

template <class L>
Declare<L> with_common(Declare<L>&& d) {
  using O = typename L::Options;
  // AdamW has its weight decay in front.
  bool has_decay = static_cast<ClassDef&>(d.def()).find("weight_decay") != nullptr;
  if (!has_decay) std::move(d).template option<&O::weight_decay>("weight_decay");
  return std::move(d)
      .template option<&O::clipnorm>("clipnorm")
      .template option<&O::clipvalue>("clipvalue")
      .template option<&O::global_clipnorm>("global_clipnorm")
      .template option<&O::use_ema>("use_ema")
      .template option<&O::ema_momentum>("ema_momentum")
      .template option<&O::ema_overwrite_frequency>("ema_overwrite_frequency")
      .template option<&O::loss_scale_factor>("loss_scale_factor")
      .template option<&O::gradient_accumulation_steps>("gradient_accumulation_steps")
      .template option<&O::name>("name")
      .known_as({lower_case(d.def().name)});
}

}  // namespace holdfast::keras::optimizers
