/// @file
/// Changes of files as `diff -u` and `git diff` write them.
#ifndef KUBEXX_RELOADER_OBSERVE_UNIFIED_DIFF_H_
#define KUBEXX_RELOADER_OBSERVE_UNIFIED_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// The change of one file. May contain values of a Secret.
struct FileChange {
  /// A line of a hunk. Its text ends with a newline unless the file ends without one.
  struct Line {
    enum class Side : std::uint8_t { kBoth, kBefore, kAfter } side = Side::kBoth;
    std::string text{};
  };
  /// Lines that follow each other.
  struct Hunk {
    std::size_t first_before = 0;  ///< the number of its first line in the file before, from 1
    std::size_t first_after = 0;
    std::vector<Line> lines{};
  };
  std::string before{};  ///< the file's name as the diff has it; empty: the file is new
  std::string after{};   ///< empty: the file is deleted
  std::vector<Hunk> hunks{};
};

/// Whether the text contains the head of a unified diff, at the begin of a line. Text before it, as
/// in what `git show` prints, does not matter. Pure.
bool IsUnifiedDiff(std::string_view text);

/// Reads all changes of a unified diff. Files that are only renamed, or are no text, are not
/// listed. Fails with kInvalidConfig, and a message that begins with the number of a line and
/// contains nothing of the files, when a hunk does not have the lines that its head says, or when
/// the diff is of a merge (`@@@`). Pure.
apimachinery::Result<std::vector<FileChange>> ParseUnifiedDiff(std::string_view text);

/// The file after the change. `content`: the file as it is, before the change or after it; not used
/// for a new file. Fails with kInvalidConfig when it is neither. Pure.
apimachinery::Result<std::string> FileAfter(const FileChange& change, std::string_view content);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_UNIFIED_DIFF_H_
