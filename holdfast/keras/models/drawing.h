// Boxes and arrows, and where they go.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace holdfast::keras {

struct Box {
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::string group;               // the model that it is inside of; empty: the outermost
  double wide = 0, high = 0;       // filled in by `arrange`
  double x = 0, y = 0;             // its middle
};

struct Arrow {
  size_t from = 0, to = 0;
  std::vector<std::pair<double, double>> points;  // filled in by `arrange`
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
  double wide = 0, high = 0;
};

/// Puts boxes into rows so that arrows go one way, in an order in which few of them cross.
/// `rankdir` as Graphviz has it.
void arrange(Drawing& drawing, const std::string& rankdir);
/// As an SVG element.
std::string svg_of(const Drawing& drawing, const std::string& splines, double scale,
                   const std::string& rankdir);

}  // namespace holdfast::keras
