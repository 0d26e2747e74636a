#include "holdfast/keras/models/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "holdfast/base/text.h"

namespace holdfast::keras {
namespace {

constexpr double kLetter = 7.2, kLine = 16, kPad = 8, kBetween = 28, kRows = 44, kEdge = 12;

size_t letters(const std::string& s) {
  return static_cast<size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// A box, or the place where a long arrow passes a row.
struct Spot {
  size_t row = 0;
  double place = 0;              // in the row: what spots are sorted by, then the coordinate
  double across = 0, along = 0;  // sizes in the row, and from row to row
  std::vector<size_t> up, down;  // spots of the rows before and after
};

// Each box is one row below the lowest of those before it.
std::vector<size_t> rows_of(const Drawing& d) {
  std::vector<size_t> row(d.boxes.size(), 0);
  for (size_t round = 0; round < d.boxes.size(); ++round) {
    bool moved = false;
    for (const Arrow& a : d.arrows)
      if (row[a.to] < row[a.from] + 1 && row[a.from] + 1 < d.boxes.size() + 1) {
        row[a.to] = row[a.from] + 1;
        moved = true;
      }
    if (!moved) break;
  }
  return row;
}

// Sorts each row by the middle of what its spots are joined to.
void reduce_crossings(std::vector<Spot>& spots, std::vector<std::vector<size_t>>& rows) {
  auto number = [&](const std::vector<size_t>& row) {
    for (size_t i = 0; i < row.size(); ++i) spots[row[i]].place = static_cast<double>(i);
  };
  for (const auto& row : rows) number(row);
  for (int sweep = 0; sweep < 8; ++sweep) {
    bool down = sweep % 2 == 0;
    for (size_t k = 0; k < rows.size(); ++k) {
      auto& row = rows[down ? k : rows.size() - 1 - k];
      std::vector<std::pair<double, size_t>> keyed;
      for (size_t s : row) {
        const auto& joined = down ? spots[s].up : spots[s].down;
        double sum = 0;
        for (size_t other : joined) sum += spots[other].place;
        keyed.emplace_back(joined.empty() ? spots[s].place : sum / double(joined.size()), s);
      }
      std::stable_sort(keyed.begin(), keyed.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
      number(row);
    }
  }
}

// Coordinates in the rows: near the middle of what a spot is joined to, and apart from neighbours.
void spread(std::vector<Spot>& spots, const std::vector<std::vector<size_t>>& rows) {
  for (const auto& row : rows) {
    double at = 0, wide = -kBetween;
    for (size_t s : row) wide += spots[s].across + kBetween;
    for (size_t s : row) {
      spots[s].place = at + spots[s].across / 2 - wide / 2;
      at += spots[s].across + kBetween;
    }
  }
  for (int sweep = 0; sweep < 6; ++sweep)
    for (size_t k = 0; k < rows.size(); ++k) {
      const auto& row = rows[sweep % 2 == 0 ? k : rows.size() - 1 - k];
      std::vector<double> wanted;
      for (size_t s : row) {
        double sum = 0;
        size_t n = 0;
        for (const auto* side : {&spots[s].up, &spots[s].down})
          for (size_t other : *side) sum += spots[other].place, ++n;
        wanted.push_back(n ? sum / double(n) : spots[s].place);
      }
      // From the left no nearer than neighbours allow; then all are shifted by what is left over.
      double shift = 0, edge = -1e300;
      std::vector<double> placed;
      for (size_t i = 0; i < row.size(); ++i) {
        double least = edge + spots[row[i]].across / 2;
        placed.push_back(std::max(wanted[i], least));
        edge = placed.back() + spots[row[i]].across / 2 + kBetween;
        shift += wanted[i] - placed.back();
      }
      shift /= double(std::max<size_t>(1, row.size()));
      for (size_t i = 0; i < row.size(); ++i) spots[row[i]].place = placed[i] + shift;
    }
}

std::string number(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", v);
  return buffer;
}

std::string escaped(const std::string& s) {
  std::string out;
  for (char c : s)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// A tint for each model inside, so that its boxes are seen to belong together.
std::string colour(const Drawing& d, const std::string& group) {
  if (group.empty()) return "#f4f6fa";
  static const char* const tints[] = {"#e8f4ea", "#fdf1e3", "#efe9f8", "#e4f3f6", "#fbe9ec"};
  std::vector<std::string> seen;
  for (const Box& b : d.boxes)
    if (!b.group.empty() && std::find(seen.begin(), seen.end(), b.group) == seen.end())
      seen.push_back(b.group);
  auto at = static_cast<size_t>(std::find(seen.begin(), seen.end(), group) - seen.begin());
  return tints[at % std::size(tints)];
}

std::string path_of(const Arrow& a, const std::string& splines, bool upright) {
  std::string out = cat("M", number(a.points[0].first), " ", number(a.points[0].second));
  for (size_t i = 1; i < a.points.size(); ++i) {
    auto [x0, y0] = a.points[i - 1];
    auto [x, y] = a.points[i];
    if (splines == "line" || splines == "polyline") {
      out += cat(" L", number(x), " ", number(y));
    } else if (splines == "ortho") {
      double middle = upright ? (y0 + y) / 2 : (x0 + x) / 2;
      out += upright ? cat(" V", number(middle), " H", number(x), " V", number(y))
                     : cat(" H", number(middle), " V", number(y), " H", number(x));
    } else {
      double half = upright ? (y - y0) / 2 : (x - x0) / 2;
      out += upright ? cat(" C", number(x0), " ", number(y0 + half), " ", number(x), " ",
                           number(y - half), " ", number(x), " ", number(y))
                     : cat(" C", number(x0 + half), " ", number(y0), " ", number(x - half), " ",
                           number(y), " ", number(x), " ", number(y));
    }
  }
  return out;
}

}  // namespace

void arrange(Drawing& d, const std::string& rankdir) {
  bool upright = rankdir == "TB" || rankdir == "BT";
  bool backwards = rankdir == "BT" || rankdir == "RL";
  for (Box& b : d.boxes) {
    size_t longest = letters(b.title);
    for (const std::string& l : b.lines) longest = std::max(longest, letters(l));
    b.wide = double(longest) * kLetter + 2 * kPad;
    b.high = double(b.lines.size() + 1) * kLine + 2 * kPad;
  }
  std::vector<size_t> row = rows_of(d);
  std::vector<Spot> spots(d.boxes.size());
  size_t high = 0;
  for (size_t i = 0; i < spots.size(); ++i) {
    spots[i].row = row[i];
    spots[i].across = upright ? d.boxes[i].wide : d.boxes[i].high;
    spots[i].along = upright ? d.boxes[i].high : d.boxes[i].wide;
    high = std::max(high, row[i] + 1);
  }
  std::vector<std::vector<size_t>> ways;  // the spots of each arrow
  for (const Arrow& a : d.arrows) {
    std::vector<size_t> way{a.from};
    for (size_t r = row[a.from] + 1; r < row[a.to]; ++r) {
      way.push_back(spots.size());
      spots.push_back({r, 0, 8, 0, {}, {}});
    }
    way.push_back(a.to);
    for (size_t i = 1; i < way.size(); ++i) {
      spots[way[i - 1]].down.push_back(way[i]);
      spots[way[i]].up.push_back(way[i - 1]);
    }
    ways.push_back(std::move(way));
  }
  std::vector<std::vector<size_t>> rows(high);
  for (size_t i = 0; i < spots.size(); ++i) rows[spots[i].row].push_back(i);
  reduce_crossings(spots, rows);
  spread(spots, rows);

  double least = 0, most = 0;
  for (const Spot& s : spots) {
    least = std::min(least, s.place - s.across / 2);
    most = std::max(most, s.place + s.across / 2);
  }
  std::vector<double> middle(high), half(high);
  double at = kEdge;
  for (size_t r = 0; r < high; ++r) {
    double along = 0;
    for (size_t s : rows[r]) along = std::max(along, spots[s].along);
    middle[r] = at + along / 2;
    half[r] = along / 2;
    at += along + kRows;
  }
  double across = most - least + 2 * kEdge, along = at - kRows + kEdge;
  d.wide = upright ? across : along;
  d.high = upright ? along : across;
  auto point = [&](double side, double down) {
    if (backwards) down = along - down;
    return upright ? std::pair(side - least + kEdge, down) : std::pair(down, side - least + kEdge);
  };
  for (size_t i = 0; i < d.boxes.size(); ++i)
    std::tie(d.boxes[i].x, d.boxes[i].y) = point(spots[i].place, middle[row[i]]);
  for (size_t k = 0; k < d.arrows.size(); ++k) {
    const auto& way = ways[k];
    for (size_t i = 0; i < way.size(); ++i) {
      const Spot& s = spots[way[i]];
      double off = i == 0 ? s.along / 2 : i + 1 == way.size() ? -s.along / 2 : 0;
      d.arrows[k].points.push_back(point(s.place, middle[s.row] + off));
    }
  }
}

std::string svg_of(const Drawing& d, const std::string& splines, double scale,
                   const std::string& rankdir) {
  bool upright = rankdir == "TB" || rankdir == "BT";
  std::string out =
      cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(d.wide * scale),
          "\" height=\"", number(d.high * scale), "\" viewBox=\"0 0 ", number(d.wide), " ",
          number(d.high), "\" font-family=\"monospace\" font-size=\"12\">\n",
          "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" ",
          "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker>",
          "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
  for (const Arrow& a : d.arrows)
    out += cat("<path d=\"", path_of(a, splines, upright),
               "\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#tip)\"/>\n");
  for (const Box& b : d.boxes) {
    double left = b.x - b.wide / 2, top = b.y - b.high / 2;
    out += cat("<rect x=\"", number(left), "\" y=\"", number(top), "\" width=\"", number(b.wide),
               "\" height=\"", number(b.high), "\" rx=\"4\" fill=\"", colour(d, b.group),
               "\" stroke=\"#333\"/>\n");
    double line = top + kPad + 12;
    auto say = [&](const std::string& text, const char* weight) {
      out += cat("<text x=\"", number(b.x), "\" y=\"", number(line), "\" text-anchor=\"middle\"",
                 weight, ">", escaped(text), "</text>\n");
      line += kLine;
    };
    say(b.title, " font-weight=\"bold\"");
    for (const std::string& l : b.lines) say(l, "");
  }
  return out + "</svg>\n";
}

}  // namespace holdfast::keras
