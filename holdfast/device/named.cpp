#include "holdfast/device/named.h"

#include <charconv>

#include "holdfast/base/text.h"

namespace holdfast::detail {
namespace {

std::string list_of_devices() {
  std::string out;
  for (Device* d : devices()) out += cat(out.empty() ? "" : ", ", d->short_name());
  return out;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

Device* device_named(std::string_view name) {
  std::string lower;
  for (char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view rest = lower;
  take(rest, "/job:localhost");
  take(rest, "/replica:0");
  take(rest, "/task:0");
  if (!take(rest, "/device:")) take(rest, "/");

  DeviceKind kind = DeviceKind::kCpu;
  bool known = take(rest, "cpu");
  if (!known && (take(rest, "gpu") || take(rest, "cuda"))) {
    known = true;
    kind = DeviceKind::kCuda;
  }
  int index = 0;
  if (known && take(rest, ":")) {
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    known =
        error == std::errc() && end == rest.data() + rest.size() && index >= 0 && rest[0] != '-';
    rest = {};
  }
  if (!known || !rest.empty())
    fail(Code::E1104, cat("`", name, "` is not the name of a device"),
         cat("names are like those of the devices here: ", list_of_devices()));
  Device* found = find_device(kind, index);
  if (!found)
    fail(Code::E1103, cat("there is no device ", kind == DeviceKind::kCpu ? "CPU:" : "GPU:", index),
         cat("there is: ", list_of_devices()),
         kind == DeviceKind::kCpu
             ? std::vector<Fix>{manual_fix(
                   cat("`set_logical_cpus(", index, " + 1)` at the start makes that many"))}
             : std::vector<Fix>{manual_fix("`devices()` lists them: choose one of these")});
  return found;
}

}  // namespace holdfast::detail
