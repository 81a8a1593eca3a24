#include "kubexx/reloader/model/source.h"

#include <charconv>
#include <system_error>

namespace kubexx::reloader {

std::optional<SourceType> TypeCalled(std::string_view SourceTypeNames::* spelling,
                                     std::string_view name) {
  for (const SourceType type : AllSourceTypes()) {
    if (NamesOf(type).*spelling == name) {
      return type;
    }
  }
  return std::nullopt;
}

std::uint64_t VersionNumber(std::string_view resource_version) {
  const char* const end = resource_version.data() + resource_version.size();
  std::uint64_t number = 0;
  const auto read = std::from_chars(resource_version.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? number : 0;
}

}  // namespace kubexx::reloader
