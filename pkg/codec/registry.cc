#include "kubexx/codec/registry.h"

#include <algorithm>
#include <tuple>

namespace kubexx::codec {

const TypeSchema* Registry::Find(std::string_view api_version, std::string_view kind) const {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  const auto group = core ? std::string_view() : api_version.substr(0, slash);
  const auto version = core ? api_version : api_version.substr(slash + 1);
  const auto wanted = std::tuple(group, version, kind);
  const auto key = [](const TypeSchema* type) {
    return std::tuple(type->group, type->version, type->kind);
  };
  const auto found = std::ranges::lower_bound(types_, wanted, {}, key);
  return found != types_.end() && key(*found) == wanted ? *found : nullptr;
}

}  // namespace kubexx::codec
