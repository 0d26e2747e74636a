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

// -- files of well-known datasets

TEST_F(FilesTest, ImagesAndLabelsInIdxFiles) {
  std::string images(16, '\0'), labels(8, '\0');
  for (int i = 0; i < 5; ++i) {
    images += std::string(28 * 28, static_cast<char>(i + 1));
    labels += static_cast<char>(i);
  }
  std::ofstream(path("images"), std::ios::binary) << images;
  std::ofstream(path("labels"), std::ios::binary) << labels;
  Dataset pixels =
      FixedLengthRecordDataset(path("images"), 28 * 28, {.header_bytes = 16}).map([](Tensor r) {
        return reshape(io::decode_raw(r, uint8), {28, 28});
      });
  Dataset numbers =
      FixedLengthRecordDataset(path("labels"), 1, {.header_bytes = 8}).map([](Tensor r) {
        return reshape(io::decode_raw(r, uint8), Shape{});
      });
  int seen = 0;
  for (const Nested& n : Dataset::zip({pixels, numbers}).batch(2)) {
    EXPECT_EQ(n[0].tensor().shape(), (Shape{n[1].tensor().size(), 28, 28}));
    for (uint8_t label : n[1].tensor().span<uint8_t>()) EXPECT_EQ(label, seen++);
  }
  EXPECT_EQ(seen, 5);
}

TEST_F(FilesTest, CifarInBinaryFiles) {
  std::string rows;
  for (int i = 0; i < 3; ++i)
    rows += static_cast<char>(i) + std::string(1024, 'r') + std::string(1024, 'g') +
            std::string(1024, 'b');
  std::ofstream(path("data_batch_1.bin"), std::ios::binary) << rows;
  Dataset ds = FixedLengthRecordDataset(path("data_batch_1.bin"), 3073).map([](Tensor r) {
    Tensor all = io::decode_raw(r, uint8);
    Tensor image = transpose(reshape(slice(all, {1}, {3072}), {3, 32, 32}), {.perm = {1, 2, 0}});
    return std::pair(image, slice(all, {0}, {1}));
  });
  int seen = 0;
  for (const Nested& n : ds) {
    EXPECT_EQ(n[0].tensor().shape(), (Shape{32, 32, 3}));
    EXPECT_EQ(n[0].tensor().span<uint8_t>()[0], 'r');
    EXPECT_EQ(n[0].tensor().span<uint8_t>()[2], 'b');
    EXPECT_EQ(n[1].tensor().span<uint8_t>()[0], seen++);
  }
  EXPECT_EQ(seen, 3);
}

TEST_F(FilesTest, AFolderOfImages) {
  for (int i = 0; i < 3; ++i) {
    Tensor image = fill({4, 6, 3}, Tensor::scalar(static_cast<uint8_t>(40 * i)));
    std::ofstream(path(std::to_string(i) + ".png"), std::ios::binary)
        << io::encode_png(image).item<std::string>();
  }
  Dataset ds = Dataset::list_files({path("*.png")}, {.shuffle = false}).map([](Tensor name) {
    return io::decode_png(io::read_file(name), {.channels = 3});
  });
  int seen = 0;
  for (const Nested& n : ds) EXPECT_EQ(n.tensor().span<uint8_t>()[0], 40 * seen++);
  EXPECT_EQ(seen, 3);
}

TEST_F(FilesTest, ColumnsOfACsvFile) {
  std::ofstream(path("a.csv")) << "n,word\n1,\"a\nb\"\n2,\n";
  std::vector<std::string> words;
  int64_t sum = 0;
  for (const Nested& n : CsvRecords(path("a.csv"), {.header = true})) {
    Tensors columns = io::decode_csv(n.tensor(), {Tensor::of(std::vector<int64_t>{0}),
                                                  Tensor::of(std::vector<std::string>{"none"})});
    sum += columns[0].item<int64_t>();
    words.push_back(columns[1].item<std::string>());
  }
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(words, (Texts{"a\nb", "none"}));
}

}  // namespace
}  // namespace holdfast::data
