#include "holdfast/base/config.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"

namespace holdfast {

ConfigDict::ConfigDict(std::initializer_list<Entry> entries) : entries_(entries) {}

const Config* ConfigDict::find(std::string_view key) const {
  for (const Entry& e : entries_)
    if (e.first == key) return &e.second;
  return nullptr;
}

void ConfigDict::set(std::string key, Config value) {
  for (Entry& e : entries_)
    if (e.first == key) {
      e.second = std::move(value);
      return;
    }
  entries_.emplace_back(std::move(key), std::move(value));
}

void ConfigDict::erase(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& e) { return e.first == key; });
}

size_t ConfigDict::size() const { return entries_.size(); }
const ConfigDict::Entry* ConfigDict::begin() const { return entries_.data(); }
const ConfigDict::Entry* ConfigDict::end() const { return entries_.data() + entries_.size(); }
bool ConfigDict::operator==(const ConfigDict& o) const { return entries_ == o.entries_; }

Config::Config() = default;
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;
Config::Config(bool v) : value_(v) {}
Config::Config(double v) : value_(v) {}
Config::Config(std::string v) : value_(std::move(v)) {}
Config::Config(List v) : value_(std::move(v)) {}
Config::Config(ConfigDict v) : value_(std::move(v)) {}
void Config::set(int64_t v) { value_ = v; }
Config::Config(ConfigObject v) : value_(std::vector<ConfigObject>{std::move(v)}) {}
Config::Config(Ref<Object> live) : value_(std::move(live)) {}
bool Config::operator==(const Config& o) const { return value_ == o.value_; }

Config Config::described(ConfigDict d) {
  const Config *name = d.find("class_name"), *config = d.find("config");
  if (!name || !config || name->kind() != Kind::kText || config->kind() != Kind::kDict) return d;
  ConfigObject out{name->as_text(), config->as_dict(), {}};
  const Config* registered = d.find("registered_name");
  if (registered && registered->kind() == Kind::kText) out.registered_name = registered->as_text();
  for (const auto& [key, value] : d)
    if (key != "class_name" && key != "config" && key != "registered_name")
      out.more.set(key, value);
  return out;
}

namespace {

[[noreturn]] void wrong(const Config& got, std::string_view what, const char* expected) {
  fail(Code::E1104, cat(what, " is ", got.text(), ", expected ", expected));
}

}  // namespace

bool Config::as_bool(std::string_view what) const {
  if (auto* v = std::get_if<bool>(&value_)) return *v;
  wrong(*this, what, "true or false");
}
int64_t Config::as_integer(std::string_view what) const {
  if (auto* v = std::get_if<int64_t>(&value_)) return *v;
  wrong(*this, what, "an integer");
}
double Config::as_number(std::string_view what) const {
  if (auto* v = std::get_if<double>(&value_)) return *v;
  if (auto* v = std::get_if<int64_t>(&value_)) return static_cast<double>(*v);
  wrong(*this, what, "a number");
}
const std::string& Config::as_text(std::string_view what) const {
  if (auto* v = std::get_if<std::string>(&value_)) return *v;
  wrong(*this, what, "a text");
}
const Config::List& Config::as_list(std::string_view what) const {
  if (auto* v = std::get_if<List>(&value_)) return *v;
  wrong(*this, what, "a list");
}
const ConfigDict& Config::as_dict(std::string_view what) const {
  if (auto* v = std::get_if<ConfigDict>(&value_)) return *v;
  wrong(*this, what, "a dict");
}
const ConfigObject& Config::as_object(std::string_view what) const {
  if (auto* v = std::get_if<std::vector<ConfigObject>>(&value_)) return v->front();
  wrong(*this, what, "an object with a class name");
}

Object* Config::live() const {
  auto* v = std::get_if<Ref<Object>>(&value_);
  return v ? v->get() : nullptr;
}

std::string Config::text() const {
  switch (kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool:
    case Kind::kInteger:
    case Kind::kNumber: return to_json();
    case Kind::kText: return cat("the text ", to_json());
    case Kind::kList: return "a list";
    case Kind::kDict: return "a dict";
    case Kind::kObject: return cat("an object of class ", as_object().class_name);
    case Kind::kLive: return live() ? live()->text() : "an object";
  }
  return "a value";
}

const Config* ConfigReader::take(std::string_view key) {
  taken_.emplace_back(key);
  return config_.find(key);
}

std::string ConfigReader::argument(std::string_view key) const {
  return cat("`", key, "` of ", of_);
}

void ConfigReader::finish() const {
  for (const auto& [key, value] : config_) {
    if (std::find(taken_.begin(), taken_.end(), key) != taken_.end()) continue;
    fail(Code::E1104, cat("the config of ", of_, " has `", key, "`, which it does not know"),
         cat("it knows ", name_list(taken_)));
  }
}

namespace registry {
namespace {

struct Classes {
  std::mutex mutex;
  std::map<std::string, Maker> by_name;
};
Classes& classes() {
  static auto* all = new Classes;  // makers may hold Python's objects, which end before us
  return *all;
}

}  // namespace

void add_class(const std::string& name, Maker make, bool replace) {
  Maker before;  // dropped outside of the lock
  Classes& all = classes();
  std::lock_guard lock(all.mutex);
  auto [it, added] = all.by_name.try_emplace(name, make);
  if (added) return;
  if (!replace)
    fail(Code::E1104, cat("the class name \"", name, "\" is registered already"),
         "a name says which class a file means, so each is given once",
         {manual_fix("register it under another name or package")});
  before = std::exchange(it->second, std::move(make));
}

void remove_class(const std::string& name) {
  Maker before;
  Classes& all = classes();
  std::lock_guard lock(all.mutex);
  auto it = all.by_name.find(name);
  if (it == all.by_name.end()) return;
  before = std::move(it->second);
  all.by_name.erase(it);
}

bool has_class(const std::string& name) {
  Classes& all = classes();
  std::lock_guard lock(all.mutex);
  return all.by_name.contains(name);
}

Ref<Object> make_object(const ConfigObject& described) {
  const std::string& name =
      described.registered_name.empty() ? described.class_name : described.registered_name;
  Maker make;
  {
    Classes& all = classes();
    std::lock_guard lock(all.mutex);
    auto it = all.by_name.find(name);
    if (it == all.by_name.end()) it = all.by_name.find(described.class_name);
    if (it != all.by_name.end()) make = it->second;
  }
  if (!make)
    fail(Code::E1104, cat("the class \"", name, "\" is not known"),
         "a config names classes, and only those that were registered can be made",
         {manual_fix("register the class before the config is read")});
  return make(described.config);
}

}  // namespace registry
}  // namespace holdfast
