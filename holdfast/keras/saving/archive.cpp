#include "holdfast/keras/saving/archive.h"

#include "holdfast/base/text.h"
#include "holdfast/io/atomic_file.h"

namespace holdfast::keras {
namespace {

constexpr const char *kMetadata = "metadata.json", *kConfig = "config.json";
constexpr const char* kWeights = "model.weights.h5";
constexpr std::string_view kAssets = "assets/";

void write(const ModelArchive& model, const io::Sink& to) {
  io::H5Writer weights = weights_file(model.weights);
  io::ZipWriter zip(to);
  zip.add(kMetadata, model.metadata);
  zip.add(kConfig, model.config);
  zip.add(kWeights, [&](const io::Sink& sink) { weights.write(sink); });
  for (const auto& [path, bytes] : model.assets) zip.add(cat(kAssets, path), bytes);
  zip.finish();
}

}  // namespace

void write_archive(const std::string& path, const ModelArchive& model) {
  io::AtomicFile file(path);
  write(model, [&](std::string_view piece) { file.write(piece.data(), piece.size()); });
  file.commit();
}

std::string archive_bytes(const ModelArchive& model) {
  std::string out;
  write(model, [&](std::string_view piece) { out += piece; });
  return out;
}

ArchiveReader::ArchiveReader(io::ByteSource source) : zip_(std::move(source)) {
  if (!zip_.find(kConfig))
    zip_.source().refuse(cat("it is no model of Keras: it holds no `", kConfig, "`"));
  config_ = zip_.read(kConfig);
  if (zip_.find(kMetadata)) metadata_ = zip_.read(kMetadata);
}

WeightsReader ArchiveReader::weights() const {
  if (!zip_.find(kWeights))
    for (const char* other : {"model.weights.npz", "model.weights.json"})
      if (zip_.find(other))
        zip_.source().refuse(
            cat("it keeps its weights in `", other, "`; `", kWeights, "` is read"));
  return WeightsReader(zip_.open(kWeights));
}

std::vector<std::string> ArchiveReader::assets() const {
  std::vector<std::string> out;
  for (const io::ZipEntry& e : zip_.entries())
    if (e.name.starts_with(kAssets)) out.push_back(e.name.substr(kAssets.size()));
  return out;
}

std::string ArchiveReader::asset(const std::string& path) const {
  return zip_.read(cat(kAssets, path));
}

}  // namespace holdfast::keras
