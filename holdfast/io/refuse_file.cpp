#include "holdfast/io/refuse_file.h"

#include <cerrno>
#include <system_error>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/io/byte_source.h"

namespace holdfast::io {

void check_path(const std::string& path) {
  if (path.empty()) fail(Code::E1301, "the path of a file is empty");
  if (path.find('\0') != std::string::npos)
    fail(Code::E1301, cat("the path `", path.c_str(), "` goes on after a zero byte"),
         "the system would open another file than the one named");
}

void refuse_file(const std::string& path, const char* what_failed) {
  const int why = errno;
  std::string headline = cat("`", path, "` could not be ", what_failed);
  std::string reason = std::generic_category().message(why);
  if (why != ENOENT) fail(Code::E1301, headline, reason);
  fail(Code::E1304, headline, reason,
       {manual_fix("look at the path: one that does not begin with `/` begins in the folder that "
                   "the program runs in")});
}

void refuse_file(const std::string& path, const std::string& reason) {
  fail(Code::E1301, cat("`", path, "` ", reason));
}

void refuse_contents(const std::string& path, const std::string& why) {
  fail(Code::E1301, cat(shown(path), " is refused"), why);
}

void damaged_contents(const std::string& path, const std::string& why) {
  fail(Code::E1302, cat(shown(path), " is damaged"), why);
}

void refuse_damaged(const std::string& path, const std::string& how) {
  fail(Code::E1302, cat("`", path, "` is damaged: ", how),
       "what it holds does not fit together, so none of it was taken");
}

}  // namespace holdfast::io
