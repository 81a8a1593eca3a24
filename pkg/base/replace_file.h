/// @file
/// Files that others read while they are written.
#ifndef KUBEXX_BASE_REPLACE_FILE_H_
#define KUBEXX_BASE_REPLACE_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <system_error>

namespace kubexx::base {

/// Gives the file `path` the content `text`, as a whole: whoever reads it, also after a crash of
/// this process, finds all of the old content or all of the new. A new file beside it takes its
/// place, with `mode`; a symbolic link is followed. When `path` is a pipe, a terminal or anything
/// else that is not a regular file, it is written to instead. Returns the error of the system's
/// call that failed; then nothing has changed.
[[nodiscard]] std::error_code ReplaceFile(const std::string& path, std::string_view text,
                                          mode_t mode);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_REPLACE_FILE_H_
