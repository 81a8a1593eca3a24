#include "kubexx/base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace kubexx::base {
namespace {

namespace fs = std::filesystem;

std::error_code LastError() { return {errno, std::generic_category()}; }

std::error_code WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return LastError();
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

/// Writes and closes.
std::error_code Finish(int file, std::string_view text) {
  std::error_code error = WriteAll(file, text);
  if (::close(file) != 0 && !error) {
    error = LastError();
  }
  return error;
}

std::error_code WriteInto(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return file < 0 ? LastError() : Finish(file, text);
}

}  // namespace

std::error_code ReplaceFile(const std::string& path, std::string_view text, mode_t mode) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::status_known(status)) {
    return error;  // a loop of links, or no right to look
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return WriteInto(path, text);
  }
  fs::path real = path;  // fs::canonical does not follow a link to what is not there yet
  while (fs::is_symlink(fs::symlink_status(real, error))) {
    real = real.parent_path() / fs::read_symlink(real, error);
    if (error) {
      return error;
    }
  }
  const std::string& target = real.native();
  std::string temporary = target + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);  // for nobody but us
  if (file < 0) {
    return LastError();
  }
  error = ::fchmod(file, mode) == 0 ? std::error_code() : LastError();
  if (const std::error_code written = Finish(file, text); !error) {
    error = written;
  }
  if (!error && std::rename(temporary.c_str(), target.c_str()) != 0) {
    error = LastError();
  }
  if (error) {
    (void)std::remove(temporary.c_str());
  }
  return error;
}

}  // namespace kubexx::base
