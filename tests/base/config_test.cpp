#include "holdfast/base/config.h"

#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/base/diagnostic.h"

namespace holdfast {
namespace {

std::string refusal(const std::string& json) {
  try {
    Config::from_json(json);
  } catch (const Error& e) {
    return e.what();
  }
  return "it was read";
}

TEST(ConfigTest, JsonGoesThereAndBack) {
  const char* text =
      R"({"name": "d\u00e9\ud83d\ude00\n", "units": 3, "rate": 0.5, "on": true, "none": null, )"
      R"("list": [1, -2, [], {}], "big": 1e300, "whole": 2.0})";
  Config read = Config::from_json(text);
  const ConfigDict& d = read.as_dict();
  EXPECT_EQ(d.find("name")->as_text(), "d\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_EQ(d.find("units")->as_integer(), 3);
  EXPECT_EQ(d.find("units")->as_number(), 3.0);
  EXPECT_EQ(d.find("whole")->kind(), Config::Kind::kNumber);
  EXPECT_TRUE(d.find("none")->is_null());
  EXPECT_EQ(d.find("list")->as_list().size(), 4u);
  EXPECT_EQ(Config::from_json(read.to_json()), read);
  EXPECT_EQ(Config::from_json(read.to_json(2)), read);
  EXPECT_EQ(d.begin()->first, "name");  // in the order in which it was written
}

TEST(ConfigTest, NumbersKeepTheirKindAndTheirBits) {
  for (double v : {0.1, 1.0, -0.0, 1e-310, 1.7976931348623157e308}) {
    Config back = Config::from_json(Config(v).to_json());
    ASSERT_EQ(back.kind(), Config::Kind::kNumber) << v;
    EXPECT_EQ(std::signbit(back.as_number()), std::signbit(v));
    EXPECT_EQ(back.as_number(), v);
  }
  EXPECT_EQ(Config::from_json("9223372036854775807").as_integer(), INT64_MAX);
  EXPECT_EQ(Config::from_json("9223372036854775808").as_number(), 0x1p63);
  EXPECT_TRUE(std::isinf(Config::from_json("-Infinity").as_number()));
}

TEST(ConfigTest, WhatIsWrongIsToldWithLineAndColumn) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "line 1, column 1: the text ends, expected a value"},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}", "line 3, column 7: there is `2`, expected `:`"},
      {"[1, 2", "line 1, column 6: the text ends, expected `,` or `]`"},
      {"[1,]", "line 1, column 4: there is `]`, expected a value"},
      {"{\"a\": 1, \"a\": 2}", "line 1, column 10"},
      {"[1] x", "line 1, column 5: there is `x`, expected the end of the text"},
      {"\"\\ud800\"", "surrogate pair"},
      {"\"\\q\"", "column 2"},
      {"\"a\nb\"", "control character"},
      {"-", "column 2: the text ends, expected a digit"},
      {"01", "line 1, column 2"},
      {"1.", "expected a digit"},
      {"\"\xc3\xa9\" x", "line 1, column 5"},
  };
  for (auto [text, message] : wrong)
    EXPECT_NE(refusal(text).find(message), std::string::npos) << text << "\n" << refusal(text);
  EXPECT_NE(refusal(std::string(100000, '[')).find("levels"), std::string::npos);
}

TEST(ConfigTest, ADictWithAClassNameIsAnObject) {
  Config c = Config::from_json(
      R"({"class_name": "Dense", "config": {"units": 3}, "registered_name": "mine>Dense"})");
  ASSERT_EQ(c.kind(), Config::Kind::kObject);
  EXPECT_EQ(c.as_object().registered_name, "mine>Dense");
  EXPECT_EQ(c.as_object().config.find("units")->as_integer(), 3);
  EXPECT_EQ(Config::from_json(c.to_json()), c);
  EXPECT_EQ(Config::from_json(R"({"class_name": 1, "config": {}})").kind(), Config::Kind::kDict);
}

TEST(ConfigTest, AnotherKindIsRefusedByName) {
  try {
    Config("relu").as_integer("`units` of Dense");
    FAIL() << "no error came";
  } catch (const Error& e) {
    EXPECT_NE(
        std::string(e.what()).find("`units` of Dense is the text \"relu\", expected an integer"),
        std::string::npos)
        << e.what();
  }
}

TEST(ConfigTest, KeysThatNobodyAskedForAreRefused) {
  ConfigDict d{{"units", 3}, {"unit", 4}};
  ConfigReader read(d, "Dense");
  EXPECT_EQ(read.take("units")->as_integer(), 3);
  EXPECT_EQ(read.take("name"), nullptr);
  EXPECT_THROW(read.finish(), Error);
}

struct Thing final : Object {
  static const ObjectClass kClass;
  explicit Thing(int64_t number) : n(number) {}
  const ObjectClass& object_class() const override { return kClass; }
  int64_t n;
};
const ObjectClass Thing::kClass{"Thing"};

TEST(RegistryTest, ClassesAreFoundByName) {
  registry::add_class("test>Thing", [](const ConfigDict& c) {
    return Ref<Object>(make_ref<Thing>(c.find("n")->as_integer()));
  });
  Ref<Object> made = registry::make_object({"Thing", {{"n", 7}}, "test>Thing"});
  EXPECT_EQ(static_cast<Thing*>(made.get())->n, 7);
  EXPECT_THROW(registry::add_class("test>Thing", {}), Error);
  registry::remove_class("test>Thing");
  EXPECT_THROW(registry::make_object({"Thing", {}, "test>Thing"}), Error);
}

}  // namespace
}  // namespace holdfast
