#include "holdfast/data/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "holdfast/holdfast.h"
#include "tests/refused.h"

namespace holdfast::data {
namespace {

std::vector<std::string> texts(const Dataset& ds) {
  std::vector<std::string> out;
  for (const Nested& n : ds) out.push_back(n.tensor().item<std::string>());
  return out;
}

class FilesTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string records(const std::string& name, const std::vector<std::string>& all,
                      const io::RecordOptions& o = {}) const {
    io::RecordWriter writer(path(name), o);
    for (const auto& each : all) writer.write(each);
    writer.close();
    return path(name);
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

using Texts = std::vector<std::string>;

TEST_F(FilesTest, RecordsComeBackFromSeveralFiles) {
  std::string a = records("a", {"1", "2", ""}), b = records("b", {"3"});
  EXPECT_EQ(texts(TFRecordDataset({a, b})), (Texts{"1", "2", "", "3"}));
  EXPECT_EQ(texts(TFRecordDataset({a, b}, {.num_parallel_reads = 2})), (Texts{"1", "3", "2", ""}));
  std::string packed = records("c", {"zip"}, {.compression = io::Compression::kGzip});
  EXPECT_EQ(texts(TFRecordDataset(packed, {.compression_type = "GZIP"})), Texts{"zip"});
  EXPECT_EQ(refused([&] { texts(TFRecordDataset(packed)); }), Code::E1302);
}

TEST_F(FilesTest, LinesAndPiecesAreOfOneFile) {
  std::ofstream(path("a")) << "one\ntwo\nsix\n";
  EXPECT_EQ(texts(TextLineDataset(path("a"))), (Texts{"one", "two", "six"}));
  EXPECT_EQ(texts(FixedLengthRecordDataset(path("a"), 3, {.header_bytes = 4, .footer_bytes = 2})),
            (Texts{"two", "\nsi"}));
  EXPECT_EQ(refused([&] { texts(FixedLengthRecordDataset(path("a"), 5)); }), Code::E1301);
}

TEST_F(FilesTest, APositionGoesOn) {
  std::string a = records("a", {"1", "2", "3", "4"});
  Dataset ds = TFRecordDataset(a);
  Iterator first = ds.iterator();
  first.next();
  first.next();
  Iterator again = ds.iterator();
  again.restore(first.save());
  EXPECT_EQ(again.next()->tensor().item<std::string>(), "3");
}

}  // namespace
}  // namespace holdfast::data
