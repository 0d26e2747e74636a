// HDF5 files: what is written comes back, what is refused, and that no bytes at all end in a crash.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>
#include <holdfast/io/hdf5.h>
#include <holdfast/tensor/complex.h>

#include <cstring>
#include <random>

#include "tests/io/raw_bytes.h"
#include "tests/refused.h"

namespace holdfast {
namespace {

using io::ByteSource;
using io::H5Reader;
using io::H5Writer;

std::string big_file() {
  H5Writer w;
  w.dataset("layers/dense/vars/0", constant({{1.f, -2.5f}, {3.f, 1e30f}}));
  w.dataset("layers/dense/vars/1", constant({0.1, 0.2}, float64));
  w.attribute("layers/dense/vars", "name", "dense");
  w.dataset("layers/dense_1/vars/0", cast(constant({1.5f, 7.f}), bfloat16));
  w.dataset("scalar", constant(7));
  w.dataset("none", zeros({0, 3}, int64));
  w.dataset("bools", constant({true, false, true}));
  w.dataset("halves", cast(constant({1.5f, -0.f}), float16));
  w.dataset("complex", constant(complex64(1, -2)));
  std::vector<std::string> texts = {"", "a", "\xc3\xa4 long one"};
  w.dataset("texts", Tensor::of<std::string>(texts, {3}));
  w.attribute("texts", "of", Tensor::of<std::string>(texts, {3, 1}));
  w.attribute("", "number", constant({1, 2, 3}));
  for (int i = 0; i < 200; ++i) w.dataset("many/m" + std::to_string(i), constant(i));
  w.group("empty");
  return w.bytes();
}

// Reads everything that is there.
void read_all(const H5Reader& r, const std::string& path = "") {
  r.attributes(path);
  if (r.has_dataset(path)) {
    r.read(path);
    return;
  }
  for (const std::string& name : r.children(path))
    read_all(r, path.empty() ? name : path + "/" + name);
}

TEST(Hdf5, WhatIsWrittenComesBack) {
  std::string bytes = big_file();
  H5Reader r(ByteSource::of_view("f", bytes));
  EXPECT_EQ(r.children("layers"), (std::vector<std::string>{"dense", "dense_1"}));
  EXPECT_EQ(raw_bytes(r.read("layers/dense/vars/0")),
            raw_bytes(constant({{1.f, -2.5f}, {3.f, 1e30f}})));
  EXPECT_EQ(r.shape("layers/dense/vars/0"), (Shape{2, 2}));
  EXPECT_EQ(r.read("/layers/dense/vars/1/").dtype(), float64);
  EXPECT_EQ(r.attribute("layers/dense/vars", "name").item<std::string>(), "dense");
  EXPECT_FALSE(r.attribute("layers/dense/vars", "other").defined());
  EXPECT_EQ(r.read("layers/dense_1/vars/0").dtype(), bfloat16);
  EXPECT_EQ(raw_bytes(r.read("layers/dense_1/vars/0")),
            raw_bytes(cast(constant({1.5f, 7.f}), bfloat16)));
  EXPECT_EQ(r.read("scalar").shape(), Shape{});
  EXPECT_EQ(r.read("scalar").item<int>(), 7);
  EXPECT_EQ(r.read("none").shape(), (Shape{0, 3}));
  EXPECT_EQ(r.read("bools").to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(r.read("complex").dtype(), DType::kComplex64);
  EXPECT_EQ(r.read("texts").to_vector<std::string>()[2], "\xc3\xa4 long one");
  EXPECT_EQ(r.attribute("texts", "of").shape(), (Shape{3, 1}));
  EXPECT_EQ(r.attribute("", "number").to_vector<int>(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(r.children("many").size(), 200u);
  EXPECT_EQ(r.read("many/m137").item<int>(), 137);
  EXPECT_TRUE(r.has_group("empty"));
  EXPECT_TRUE(r.children("empty").empty());
  EXPECT_FALSE(r.has_dataset("nothing/at/all"));
  read_all(r);
}

TEST(Hdf5, GroupsOfManyThousandsHaveTreesOfSeveralLevels) {
  H5Writer w;
  for (int i = 0; i < 9000; ++i) w.group("g/" + std::to_string(i));
  std::string bytes = w.bytes();
  H5Reader r(ByteSource::of_view("f", bytes));
  EXPECT_EQ(r.children("g").size(), 9000u);
  EXPECT_TRUE(r.has_group("g/8999"));
}

TEST(Hdf5, PathsAndValuesThatCantBeStoredAreRefused) {
  H5Writer w;
  w.dataset("a", constant(1));
  EXPECT_EQ(refused([&] { w.dataset("a", constant(1)); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.dataset("a/b", constant(1)); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.dataset("", constant(1)); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.group("x/./y"); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.group(std::string("x\0y", 3)); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.attribute("b", "n", "text"); }), Code::E1104);
  EXPECT_EQ(refused([&] { w.attribute("a", "", "text"); }), Code::E1104);
  w.attribute("a", "large", zeros({10000}, float64));
  EXPECT_EQ(refused([&] { w.bytes(); }), Code::E1105);
}

TEST(Hdf5, WhatIsAskedForMustBeThere) {
  std::string bytes = big_file();
  H5Reader r(ByteSource::of_view("f", bytes));
  EXPECT_EQ(refused([&] { r.read("nothing"); }), Code::E1301);
  EXPECT_EQ(refused([&] { r.read("many"); }), Code::E1301);
  EXPECT_EQ(refused([&] { r.children("scalar"); }), Code::E1301);
}

// A file whose bytes are others at one place.
std::string changed(std::string bytes, size_t at, std::string_view to) {
  bytes.replace(at, to.size(), to);
  return bytes;
}
std::string eight(uint64_t v) { return {reinterpret_cast<const char*>(&v), 8}; }

std::string said(const std::string& bytes) {
  try {
    read_all(H5Reader(ByteSource::of_view("f", bytes)));
  } catch (const Error& e) {
    return e.diagnostic().why + " " + info(e.code()).name;
  }
  return "nothing was refused";
}
#define EXPECT_SAYS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

TEST(Hdf5, FilesThatLieAreRefusedByWhatIsWrong) {
  H5Writer w;
  w.dataset("g/w", zeros({4}));
  std::string good = w.bytes();
  EXPECT_SAYS(said(""), "no HDF5 file");
  EXPECT_SAYS(said("PK"), "no HDF5 file");
  EXPECT_SAYS(said(good.substr(0, 90)), "the file has 90 bytes");
  EXPECT_SAYS(said(good.substr(0, good.size() - 1)), "E1302");
  EXPECT_SAYS(said(changed(good, 8, "\x09")), "version 9");
  EXPECT_SAYS(said(changed(good, 13, "\x03")), "places are written in 3 bytes");
  // The shape of the dataset: its dataspace message is the only one with one dimension of four.
  size_t shape = good.find(std::string("\1\1\0\0\0\0\0\0", 8) + eight(4)) + 8;
  ASSERT_LT(shape, good.size());
  EXPECT_SAYS(said(changed(good, shape, eight(1ull << 61))), "which no memory holds");
  EXPECT_SAYS(said(changed(good, shape, eight(1ull << 40))),
              "takes 4398046511104 bytes, and 16 are there");
  // Where its elements lie.
  size_t layout = good.find(std::string("\3\1", 2), shape);
  EXPECT_SAYS(said(changed(good, layout + 2, eight(1ull << 50))), "points to 1125899906842624");
  EXPECT_SAYS(said(changed(good, layout + 1, "\x03")), "virtual");
  EXPECT_SAYS(said(changed(good, layout + 2, eight(good.size() - 8))), "E1302");
  // The group `g` is the root: it holds itself.
  size_t entry = good.find("SNOD") + 8;
  EXPECT_SAYS(said(changed(good, entry + 8, eight(96))), "are one");
  EXPECT_SAYS(said(changed(changed(good, entry + 16, "\2"), entry + 24, eight(8))),
              "`g` is a soft link to `g`");
}

TEST(Hdf5, NoBytesEndInACrash) {
  std::string good = big_file();
  // Most of the file is about the many; half of the damage goes where the rest is.
  std::mt19937 random(7);
  int values = 0, refusals = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    auto pick = [&](size_t below) {
      return std::uniform_int_distribution<size_t>(0, below - 1)(random);
    };
    size_t reach = i % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 12000);
    for (size_t n = 1 + pick(8); n > 0; --n) bytes[pick(reach)] = static_cast<char>(pick(256));
    if (i % 5 == 0) bytes.resize(pick(bytes.size()));
    if (i % 7 == 0) bytes.replace(pick(bytes.size() + 1), 8, eight(pick(good.size())));
    try {
      read_all(H5Reader(ByteSource::of_view("f", bytes)));
      ++values;
    } catch (const Error& e) {
      ++refusals;
      EXPECT_TRUE(e.code() == Code::E1301 || e.code() == Code::E1302) << e.what();
    }
  }
  EXPECT_GT(values, 100);
  EXPECT_GT(refusals, 100);
}

}  // namespace
}  // namespace holdfast
