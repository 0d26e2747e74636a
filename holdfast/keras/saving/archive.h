// Whole models in Keras' own files: `.keras`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/io/zip.h"
#include "holdfast/keras/saving/weights_file.h"

namespace holdfast::keras {

/// What a `.keras` file holds.
struct ModelArchive {
  std::string metadata, config;  // JSON
  std::vector<StoredWeights> weights;
  std::vector<std::pair<std::string, std::string>> assets;  // files, by their paths below `assets/`
};

/// Writes an archive. It is there whole, or not at all.
HOLDFAST_API void write_archive(const std::string& path, const ModelArchive& model);
/// The bytes that it would have, for copies that go through memory.
HOLDFAST_API std::string archive_bytes(const ModelArchive& model);

/// An archive that is there, of ours or of Keras'. Nothing in it is run.
class HOLDFAST_API ArchiveReader {
 public:
  explicit ArchiveReader(io::ByteSource source);
  const std::string& config() const { return config_; }
  /// Empty where there is none.
  const std::string& metadata() const { return metadata_; }
  /// The weights, read where they lie.
  WeightsReader weights() const;
  /// The paths of the assets below `assets/`, and one of them.
  std::vector<std::string> assets() const;
  std::string asset(const std::string& path) const;

 private:
  io::ZipReader zip_;
  std::string metadata_, config_;
};

}  // namespace holdfast::keras
