/// @file
/// TemporaryFolder: a folder for the files of a test.
#ifndef KUBEXX_BASE_TESTING_TEMPORARY_FOLDER_H_
#define KUBEXX_BASE_TESTING_TEMPORARY_FOLDER_H_

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kubexx::base::testing {

/// Makes an empty folder in $TMPDIR, or in /tmp. The destructor removes it with everything in it.
/// If the folder cannot be made, the program says why and aborts.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (::mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::abort();
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  /// Returns the path of a file with this name, which need not exist.
  std::filesystem::path operator/(std::string_view name) const {
    return std::filesystem::path(path_) / name;
  }

  /// Writes a file, which replaces an existing one with this name, and returns its path.
  std::string Write(std::string_view name, std::string_view text) const {
    std::filesystem::path file = *this / name;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    return std::move(file).string();
  }

 private:
  std::string path_ =
      (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "kubexx-XXXXXX")
          .string();
};

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_TEMPORARY_FOLDER_H_
