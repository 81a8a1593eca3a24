/// @file
/// Which sources are watched, and whether their first list has arrived.
#ifndef KUBEXX_RELOADER_WATCH_SOURCE_SPACES_H_
#define KUBEXX_RELOADER_WATCH_SOURCE_SPACES_H_

#include <compare>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/reloader/model/source.h"

namespace kubexx::cache {
class SharedInformerBase;
}

namespace kubexx::reloader {

struct InformerSet;

/// The sources of a type in one namespace; in all namespaces when `namespace_` is empty.
struct SourceSpace {
  SourceType type = SourceType::kConfigMap;
  std::string namespace_{};
  auto operator<=>(const SourceSpace&) const = default;
};

/// Whether the namespace (all namespaces when it is empty) has been listed. Stays true once it is
/// true, even when the right to list it is lost.
bool IsListed(const cache::SharedInformerBase& informer, std::string_view namespace_);

/// Everything that is watched: what has been listed, and what has not, for example because the API
/// server refuses it. SecretProviderClassPodStatuses count as SecretProviderClasses.
struct SourceSpaces {
  std::set<SourceSpace> listed{};
  std::set<SourceSpace> unlisted{};
};
SourceSpaces SpacesOf(const std::vector<InformerSet>& informers);

/// Requested when the API server refuses the sources of the type in all namespaces; see
/// InformerSet::refused.
std::stop_token RefusalOf(const InformerSet& set, SourceType type);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_SPACES_H_
