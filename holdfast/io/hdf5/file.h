// The parts of an HDF5 file, as its reader passes them around.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "holdfast/io/byte_cursor.h"

namespace holdfast::io::hdf5 {

/// The place of something that is not there.
inline constexpr int64_t kNowhere = -1;

/// The file and how wide its numbers are.
struct File {
  explicit File(ByteSource s) : source(std::move(s)) {}

  ByteSource source;
  size_t offset_bytes = 8, length_bytes = 8;
  int64_t root = kNowhere;  // the root group's header
  mutable int64_t spent = 0;

  int64_t offset(ByteCursor& at) const;
  int64_t length(ByteCursor& at) const { return at.size(length_bytes); }
  /// A part of the file's structure. No two parts of an honest file lie on one another, so all of
  /// them together are no longer than the file; a file that has more is refused, before it keeps us
  /// busy for ever.
  std::string part(int64_t place, int64_t count) const;
};

enum class Kind : uint16_t {
  kNil = 0x00,
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFill = 0x04,
  kFill = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kGroupInfo = 0x0a,
  kFilters = 0x0b,
  kAttribute = 0x0c,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
  kLast = 0x17,
};

/// One message of an object's header.
struct Message {
  Kind kind = Kind::kNil;
  std::string bytes;
};

/// An object: a group or a dataset.
struct Object {
  int64_t place = kNowhere;
  std::vector<Message> messages;
  const Message* find(Kind) const;
};

/// Finds the superblock and fills in what it says.
void read_superblock(File&);
Object read_object(const File&, int64_t place);
/// Checks the sum that stands behind `covered` bytes of `block`.
void check_sum(const File&, std::string_view block, size_t covered, std::string_view what);

struct Link {
  std::string name;
  int64_t place = kNowhere;
  uint64_t order = 0;
};
/// The links of a group, in the order they are listed in. `path` is what messages call the group.
std::vector<Link> read_links(const File&, const Object& group, const std::string& path);
bool is_group(const Object&);
/// The attribute messages of an object, wherever they are.
std::vector<std::string> attribute_messages(const File&, const Object&);

/// Refuses the second visit of a place: a tree that comes back to itself.
class Visits {
 public:
  void visit(const File& file, int64_t place, std::string_view what) {
    if (!seen_.insert(place).second)
      file.source.damaged(cat(what, " at ", place, " is reached twice"));
  }

 private:
  std::unordered_set<int64_t> seen_;
};

}  // namespace holdfast::io::hdf5
