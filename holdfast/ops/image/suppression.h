// Which of several things that are alike to keep: the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "holdfast/op/in.h"
#include "holdfast/op/opdef.h"

namespace holdfast::image {

// -- arguments

/// Refuses inputs from `from` on that are no scalars.
void need_scalars(const Infer&, int from);
/// A limit that is known already, or kUnknown; refuses one below `least`.
int64_t known_limit(const Infer&, int input, const char* argument, int64_t least);
/// Refuses what is no number from 0 to 1.
Status need_share(const Call&, const char* argument, float share);

Tensor float_of_in(const In&);
/// The score that chosen boxes exceed: below all where none is given.
Tensor score_limit(const MaybeIn&);
/// One number that limits how many there are.
Tensor count_limit(const char* function, const char* argument, const Sizes&);

// -- the choice

/// What limits a choice.
struct Limits {
  int64_t most;     // how many there may be
  float least;      // chosen ones have a better score than this
  float allowed;    // how much alike two of them may be
  float sigma = 0;  // above 0: likeness to a better one lowers a score and forbids nothing
};

/// One that was chosen, with the score that it had then.
struct Choice {
  int32_t number;
  float score;
};

/// Chooses among `count` things, best first, the first of equals first. `score(i)` is how good one
/// is, `alike(i, k)` how much two have in common. A score that is no number keeps a thing out.
template <class Score, class Alike>
std::vector<Choice> choose(int64_t count, const Limits& limits, Score&& score, Alike&& alike) {
  struct Candidate {
    float score;
    int32_t number;
    size_t met;  // with how many of the chosen it was compared
  };
  auto worse = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.number > b.number;
  };
  std::vector<Candidate> left;
  for (int64_t i = 0; i < count; ++i)
    if (float s = score(i); s > limits.least) left.push_back({s, static_cast<int32_t>(i), 0});
  std::make_heap(left.begin(), left.end(), worse);
  std::vector<Choice> chosen;
  while (!left.empty() && static_cast<int64_t>(chosen.size()) < limits.most) {
    std::pop_heap(left.begin(), left.end(), worse);
    Candidate next = left.back();
    left.pop_back();
    float was = next.score;
    bool out = false;
    for (size_t k = chosen.size(); k-- > next.met && !out;) {
      float likeness = alike(next.number, chosen[k].number);
      if (limits.sigma > 0) {
        next.score *= std::exp(-0.5f / limits.sigma * likeness * likeness);
        out = !(next.score > limits.least);
      } else {
        out = likeness > limits.allowed;
      }
    }
    if (out) continue;
    next.met = chosen.size();
    if (next.score == was) {
      chosen.push_back({next.number, next.score});
    } else {  // others may be better by now
      left.push_back(next);
      std::push_heap(left.begin(), left.end(), worse);
    }
  }
  return chosen;
}

}  // namespace holdfast::image
