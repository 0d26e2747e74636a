// A map from names, for the headers that programs read: std::map would cost them more than all of
// ours.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/base/api.h"

namespace holdfast {

/// Refuses a name that is not there.
[[noreturn]] HOLDFAST_API void no_such_name(std::string_view name);

/// Values by their names, in the names' order.
template <class V>
class ByName {
 public:
  using value_type = std::pair<std::string, V>;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  ByName() = default;
  ByName(std::initializer_list<value_type> items) {
    for (const value_type& item : items) emplace(item.first, item.second);
  }
  /// From a std::map, or another range of names and values.
  template <class Map>
    requires requires(const Map& m) {
      std::string(m.begin()->first);
      V(m.begin()->second);
    }
  ByName(const Map& m) {
    for (const auto& item : m) emplace(item.first, item.second);
  }

  /// Adds a value, unless the name is there already.
  bool emplace(std::string name, V value) {
    size_t i = place(name);
    if (is_at(i, name)) return false;
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(i),
                  {std::move(name), std::move(value)});
    return true;
  }
  /// The value of that name; an empty one is added where there is none.
  V& operator[](std::string_view name) {
    size_t i = place(name);
    if (!is_at(i, name)) emplace(std::string(name), V());
    return items_[i].second;
  }
  const V& at(std::string_view name) const {
    size_t i = place(name);
    if (!is_at(i, name)) no_such_name(name);
    return items_[i].second;
  }
  const_iterator find(std::string_view name) const {
    size_t i = place(name);
    return is_at(i, name) ? items_.begin() + static_cast<std::ptrdiff_t>(i) : items_.end();
  }
  bool contains(std::string_view name) const { return is_at(place(name), name); }
  size_t count(std::string_view name) const { return contains(name) ? 1 : 0; }
  size_t erase(std::string_view name) {
    size_t i = place(name);
    if (!is_at(i, name)) return 0;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(i));
    return 1;
  }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  iterator begin() { return items_.begin(); }
  iterator end() { return items_.end(); }
  const_iterator begin() const { return items_.begin(); }
  const_iterator end() const { return items_.end(); }

 private:
  /// Where the name is, or would be.
  size_t place(std::string_view name) const {
    size_t from = 0, to = items_.size();
    while (from < to) {
      size_t middle = (from + to) / 2;
      if (items_[middle].first < name)
        from = middle + 1;
      else
        to = middle;
    }
    return from;
  }
  bool is_at(size_t i, std::string_view name) const {
    return i < items_.size() && items_[i].first == name;
  }
  std::vector<value_type> items_;
};

}  // namespace holdfast
