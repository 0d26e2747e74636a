#include "holdfast/io/matching.h"

#include <glob.h>

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/refuse_file.h"

namespace holdfast::io {

std::vector<std::string> matching(std::span<const std::string> patterns) {
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) {
    check_path(pattern);
    glob_t found{};
    int failed = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
    for (size_t i = 0; !failed && i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (failed && failed != GLOB_NOMATCH)
      fail(Code::E1301, cat("the folders of `", pattern, "` could not be read"));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace holdfast::io
