// How the team of threads waits where other programs want the cores too.
#pragma once

#include <cstdint>

namespace holdfast {

/// How many cores this process may use: those that it is bound to, and no more than its container's
/// share of processor time.
int usable_cores();

/// Looks, now and then, whether threads of the team wait for a core, and lets the team sleep soon
/// while they do. libgomp's threads look for work for milliseconds before they sleep: on a quiet
/// machine that makes small regions quick, on a crowded one each burns the slice that the thread it
/// waits for needs, and a step takes a hundred times as long.
/// For whoever has the wide team, before each region: one caller at a time.
class Crowding {
 public:
  void look(int team);

 private:
  bool crowded(int team, int64_t since);
  void rest(int extra);
  void wake();

  int64_t looked_ = 0, calm_at_ = 0;  // nanoseconds of the steady clock
  int64_t pushed_ = 0;                // times that threads were pushed off, so far
  bool crowded_before_ = false;       // in the window before
  int extra_ = 0;                     // parked threads of libgomp, beyond the team's
  struct Parked;
  Parked* parked_ = nullptr;
};

}  // namespace holdfast
