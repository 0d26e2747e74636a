// Values of which configurations are made: what JSON and Python both can say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/base/object.h"

namespace holdfast {

class Config;
struct ConfigObject;

/// A dict that keeps the order in which it was filled.
class HOLDFAST_API ConfigDict {
 public:
  using Entry = std::pair<std::string, Config>;
  ConfigDict() = default;
  ConfigDict(std::initializer_list<Entry> entries);

  /// The value of a key; null where there is none.
  const Config* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  void set(std::string key, Config value);
  void erase(std::string_view key);
  size_t size() const;
  const Entry* begin() const;
  const Entry* end() const;
  bool operator==(const ConfigDict&) const;

 private:
  std::vector<Entry> entries_;
};

/// Null, a bool, an integer, a number, a text, a list, a dict, or an object with its class's name.
/// In a program also an object itself, which no file can hold.
class HOLDFAST_API Config {
 public:
  using List = std::vector<Config>;
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInteger,
    kNumber,
    kText,
    kList,
    kDict,
    kObject,
    kLive
  };

  // Out of line: what makes and destroys the variant is large.
  Config();
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();
  Config(std::nullptr_t) : Config() {}
  Config(bool v);
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Config(T v) : Config() {
    set(static_cast<int64_t>(v));
  }
  Config(double v);
  Config(std::string v);
  Config(const char* v) : Config(std::string(v)) {}
  Config(List v);
  Config(ConfigDict v);
  Config(ConfigObject v);
  Config(Ref<Object> live);
  /// The object that a dict describes with a class's name and its config; else the dict itself.
  static Config described(ConfigDict d);
  template <class T>
  Config(const std::optional<T>& v) {
    if (v) *this = Config(*v);
  }

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  /// The value as what it is. Another kind is refused: `what` names it in the message.
  bool as_bool(std::string_view what = "a value") const;
  int64_t as_integer(std::string_view what = "a value") const;
  double as_number(std::string_view what = "a value") const;  // an integer, too
  const std::string& as_text(std::string_view what = "a value") const;
  const List& as_list(std::string_view what = "a value") const;
  const ConfigDict& as_dict(std::string_view what = "a value") const;
  const ConfigObject& as_object(std::string_view what = "a value") const;
  /// The object itself; null where it is none.
  Object* live() const;
  bool operator==(const Config&) const;

  /// "the text \"relu\"", for messages.
  std::string text() const;
  /// JSON as Python writes it; `indent` spaces a level, or all in one line. Objects are dicts with
  /// `class_name`, `config` and `registered_name`.
  std::string to_json(int indent = -1) const;
  /// Reads JSON. What is wrong with a text is told with its line and column.
  static Config from_json(std::string_view text);

 private:
  void set(int64_t v);
  std::variant<std::monostate, bool, int64_t, double, std::string, List, ConfigDict,
               std::vector<ConfigObject>, Ref<Object>>
      value_;  // the one of objects has one element: a ConfigObject is not complete yet
};

/// An object as its class's name and what it was made with.
struct HOLDFAST_API ConfigObject {
  std::string class_name;
  ConfigDict config;
  std::string registered_name;  // "package>Class"; empty for our own
  ConfigDict more = {};         // what else it is described with: how it was built, who calls it
  bool operator==(const ConfigObject&) const = default;
};

/// Classes by name, for reading objects. A name of our own is plain ("Dense"); a program's has its
/// package in front ("mine>Dense").
namespace registry {

using Maker = Callback<Ref<Object>(const ConfigDict&)>;
/// Makes a class known. A name that is taken is given another maker only if `replace`.
HOLDFAST_API void add_class(const std::string& name, Maker make, bool replace = false);
HOLDFAST_API void remove_class(const std::string& name);
HOLDFAST_API bool has_class(const std::string& name);
/// Makes an object of what a file says of it. An unknown class is refused.
HOLDFAST_API Ref<Object> make_object(const ConfigObject& described);

}  // namespace registry

/// Reads a config key by key, and refuses keys that nobody asked for.
class HOLDFAST_API ConfigReader {
 public:
  ConfigReader(const ConfigDict& config, std::string of) : config_(config), of_(std::move(of)) {}
  /// The value of a key; null where it is missing.
  const Config* take(std::string_view key);
  /// Refuses what was not taken.
  void finish() const;
  const std::string& of() const { return of_; }
  std::string argument(std::string_view key) const;  // "`units` of Dense"

 private:
  const ConfigDict& config_;
  std::string of_;
  std::vector<std::string> taken_;
};

}  // namespace holdfast
