/// @file
/// Replaces files that others may be reading.
#ifndef KUBEXX_BASE_REPLACE_FILE_H_
#define KUBEXX_BASE_REPLACE_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <system_error>

namespace kubexx::base {

/// Replaces the content of the file `path` by `text`. Readers find either all of the old content or
/// all of the new content, even if this process crashes. The text is written to a new file with
/// `mode` in the same folder, which then takes the place of the old one; a symbolic link is
/// followed. If `path` is a pipe, a terminal or anything else that is not a regular file, the text
/// is written to it instead. Returns the error of the system call that failed; nothing has changed
/// then.
[[nodiscard]] std::error_code ReplaceFile(const std::string& path, std::string_view text,
                                          mode_t mode);

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_REPLACE_FILE_H_
