// Tensors over memory of others, with and without DLPack, and devices by their names.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

TEST(Wrapping, CopiesNothingAndKeepsTheOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  std::weak_ptr<std::vector<float>> alive = owner;
  Tensor t = wrap(owner->data(), {2, 2}, owner);
  EXPECT_EQ(t.data<float>(), owner->data());
  owner.reset();
  EXPECT_EQ(reduce_sum(t).item<float>(), 10.f);
  Tensor part = reshape(t, {4});
  t = Tensor();
  EXPECT_FALSE(alive.expired());
  part = Tensor();
  EXPECT_TRUE(alive.expired());
}

TEST(Wrapping, TakesAVectorOver) {
  std::vector<int> values{1, 2, 3, 4};
  const int* data = values.data();
  Tensor t = wrap(std::move(values), {4, 1});
  EXPECT_EQ(t.data<int>(), data);
  std::vector<double> more{1, 2};
  Tensor u = wrap(more.data(), {2}, std::move(more));
  EXPECT_EQ(u.to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(refused([&] { t.mutable_data<int>(); }), Code::E1104) << "lent memory is not written";
}

TEST(Wrapping, WhatIsNoMemoryIsRefused) {
  auto owner = std::make_shared<int>(1);
  const float* null = nullptr;
  alignas(8) static const char bytes[16] = {};
  EXPECT_EQ(refused([&] { wrap(null, {2}, owner); }), Code::E1104);
  EXPECT_EQ(refused([&] { wrap(reinterpret_cast<const float*>(bytes + 1), {2}, owner); }),
            Code::E1104);
  EXPECT_EQ(refused([&] { wrap(owner.get(), {-1}, owner); }), Code::E1102);
  EXPECT_EQ(refused([&] { wrap(owner.get(), {1LL << 62, 4}, owner); }), Code::E1102);
  EXPECT_EQ(refused([&] { wrap(std::vector<int>{1, 2, 3}, {2}); }), Code::E1102);
  std::array<int, 2> inside{1, 2};
  EXPECT_EQ(refused([&] { wrap(inside.data(), {2}, std::move(inside)); }), Code::E1104);
  EXPECT_EQ(wrap(null, {0}, owner).size(), 0);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(DLPack, GoesOutAndComesBackWithoutACopy) {
  Tensor t = constant({{1.f, 2.f}, {3.f, 4.f}});
  dlpack::ManagedVersioned* out = dlpack::to_dlpack_versioned(t);
  EXPECT_EQ(out->array.data, t.raw());
  EXPECT_TRUE(out->flags & dlpack::kReadOnly);
  Tensor back = dlpack::from_dlpack(out);
  EXPECT_EQ(back.data<float>(), t.data<float>());
  EXPECT_EQ(back.shape(), t.shape());
  Tensor copied = dlpack::from_dlpack(dlpack::to_dlpack(t, true));
  EXPECT_NE(copied.data<float>(), t.data<float>());
  EXPECT_EQ(copied.to_vector<float>(), t.to_vector<float>());
}

TEST(DLPack, TakesInStridesAndOddPlacesByCopy) {
  static float values[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  static int deleted = 0;
  dlpack::Managed m{{values, {dlpack::kCPU, 0}, 2, {dlpack::kFloat, 32, 1}, shape, strides, 0},
                    nullptr,
                    [](dlpack::Managed*) { ++deleted; }};
  EXPECT_EQ(dlpack::from_dlpack(&m).to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(deleted, 1);
  alignas(8) static char odd[9] = {0, 1, 0, 0, 0, 2, 0, 0, 0};
  int64_t two[] = {2};
  m.array = {odd, {dlpack::kCPU, 0}, 1, {dlpack::kInt, 32, 1}, two, nullptr, 1};
  EXPECT_EQ(dlpack::from_dlpack(&m).to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(deleted, 2);
}

TEST(DLPack, WhatIsRefusedStaysTheCallers) {
  static int deleted = 0;
  int64_t shape[] = {2};
  float values[2] = {};
  auto from = [&](dlpack::Array a) {
    dlpack::Managed m{a, nullptr, [](dlpack::Managed*) { ++deleted; }};
    return refused([&] { dlpack::from_dlpack(&m); });
  };
  dlpack::Array good{values, {dlpack::kCPU, 0}, 1, {dlpack::kFloat, 32, 1}, shape, nullptr, 0};
  dlpack::Array bad = good;
  bad.device.type = dlpack::kCUDA;
  EXPECT_EQ(from(bad), Code::E1105);
  bad = good;
  bad.dtype.lanes = 4;
  EXPECT_EQ(from(bad), Code::E1105);
  bad = good;
  bad.rank = -1;
  EXPECT_EQ(from(bad), Code::E1102);
  bad = good;
  bad.data = nullptr;
  EXPECT_EQ(from(bad), Code::E1104);
  EXPECT_EQ(refused([] { dlpack::from_dlpack(static_cast<dlpack::Managed*>(nullptr)); }),
            Code::E1104);
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(refused([] { dlpack::to_dlpack(constant("text")); }), Code::E1105);
  EXPECT_EQ(refused([] { dlpack::to_dlpack(Tensor()); }), Code::E1104);
}

TEST(DeviceNames, LeadToDevices) {
  for (const char* name :
       {"CPU:0", "cpu", "/CPU:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"})
    EXPECT_EQ(device_named(name), cpu(0)) << name;
  DeviceScope on(device_named("CPU:0"));
  EXPECT_EQ(zeros({1}).device(), cpu(0));
}

TEST(DeviceNames, OfNoDeviceAreRefusedWithTheListOfThoseThereAre) {
  for (const char* name :
       {"", "TPU:0", "CPU:", "CPU:x", "CPU:-1", "CPU:1x", "CPU0", "CPU:99999999999"})
    EXPECT_EQ(refused([&] { device_named(name); }), Code::E1104) << name;
  try {
    device_named("CPU:12345");
    FAIL() << "expected a refusal";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1103);
    EXPECT_NE(std::string(e.what()).find("CPU:0"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("set_logical_cpus"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace holdfast
