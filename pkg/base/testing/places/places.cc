#include "kubexx/base/testing/places/places.h"

#include <filesystem>
#include <string_view>

namespace kubexx::base::testing {

std::filesystem::path SourceTree() { return KUBEXX_SOURCE_DIR; }

std::filesystem::path ProgramBesideThis(std::string_view name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace kubexx::base::testing
