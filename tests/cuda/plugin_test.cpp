// The plugin's door: a stranger is refused with a reason, a friend is let in, with or without a
// driver. Argument: the path of the plugin.
#include "holdfast/device/plugin.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int failures = 0;
  auto check = [&](bool ok, const char* what) {
    std::printf("%s %s\n", ok ? "ok    " : "FAILED", what);
    failures += !ok;
  };
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  check(library != nullptr, "the plugin opens");
  if (!library) return std::printf("%s\n", dlerror()), 1;
  auto entry = reinterpret_cast<holdfast::PluginEntry>(dlsym(library, "holdfast_plugin"));
  check(entry != nullptr, "it has its entry");
  if (!entry) return 1;
  char why[256] = "";
  check(entry("0.0.0 other", why, sizeof why) == -1, "another build is refused");
  check(std::strstr(why, "0.0.0 other") != nullptr, "and the reason names it");
  check(entry("0.0.0 other", why, 0) == -1, "a reason that nobody wants is not written");
  why[0] = 0;
  int devices = entry(holdfast::build_id(), why, sizeof why);
  std::printf("       %d devices, build %s %s\n", devices, holdfast::build_id(), why);
  check(devices >= 0, "our own build is let in");
  bool driver = dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
  check(driver || devices == 0, "without a driver there are no devices");
  return failures != 0;
}
