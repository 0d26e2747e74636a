// TensorFlow's checkpoint files: `prefix.index` says what tensors there are, and the data files
// beside it hold their elements.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/io/byte_source.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::io {

/// The key under which a checkpoint keeps its object graph.
inline constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// What an index says of one tensor.
struct BundleEntry {
  std::string key;
  DType dtype = DType::kInvalid;  // kInvalid: one of TensorFlow's that there is none for here
  Shape shape;
  int64_t shard = 0, offset = 0, size = 0;
  uint32_t crc = 0;
  int64_t number = 0;  // TensorFlow's number of the dtype
};

/// A checkpoint that is there. The index is read and checked when it is opened, the elements when
/// asked for; each tensor's checksum is compared.
class HOLDFAST_API BundleReader {
 public:
  explicit BundleReader(std::string prefix);
  /// In the order of their keys.
  const std::vector<BundleEntry>& entries() const { return entries_; }
  const BundleEntry* find(std::string_view key) const;
  Tensor read(const std::string& key) const;
  const std::string& prefix() const { return prefix_; }

 private:
  void read_header(std::string_view bytes, const ByteSource& index);
  std::string prefix_;
  int64_t shards_ = 0;
  std::vector<BundleEntry> entries_;
};

/// Writes a checkpoint of one shard. The index comes last and all at once, and names the data that
/// belongs to it: whoever is killed on the way leaves the old checkpoint, or the new one.
HOLDFAST_API void write_bundle(const std::string& prefix,
                               const std::vector<std::pair<std::string, Tensor>>& tensors);

/// What a checkpoint says of the objects that hold its tensors (TrackableObjectGraph).
struct ObjectGraph {
  struct Child {
    int64_t node = 0;
    std::string name;
  };
  struct Attribute {
    std::string name, full_name, key;
  };
  struct Slot {
    int64_t variable = 0;
    std::string name;
    int64_t slot = 0;
  };
  struct Saver {
    std::string name, object_name;
  };
  struct Node {
    std::vector<Child> children;
    std::vector<Attribute> attributes;
    std::vector<Slot> slots;
    std::optional<Saver> saver;      // registered by a program under a name
    std::optional<bool> has_values;  // whether it, or what it holds, has values in the checkpoint
  };
  std::vector<Node> nodes;
};
HOLDFAST_API std::string encode(const ObjectGraph& graph);
/// `name` is what messages call the checkpoint. Numbers of nodes that are not there are damage.
HOLDFAST_API ObjectGraph decode_object_graph(const std::string& name, std::string_view bytes);

}  // namespace holdfast::io
