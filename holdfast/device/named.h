// Devices by what they are called.
#pragma once

#include <source_location>
#include <string_view>

#include "holdfast/device/device.h"

namespace holdfast {

namespace detail {
HOLDFAST_API Device* device_named(std::string_view name);
}

/// The device called "CPU:1", "GPU" (the first), "/device:GPU:0" or by its whole name; letters of
/// any case. One that is not there is refused with those that are:
/// `copy_to(t, device_named("GPU:1"))`.
[[gnu::always_inline]] inline Device* device_named(
    std::string_view name, const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::device_named(name);
}

/// `copy_to(t, "GPU:1")`
[[gnu::always_inline]] inline Tensor copy_to(
    const Tensor& t, std::string_view device,
    const std::source_location& at = std::source_location::current()) {
  return copy_to(t, device_named(device, at), at);
}

}  // namespace holdfast
