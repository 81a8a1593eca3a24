/// @file
/// RequestMatch: selects requests by verb, resource, namespace and name.
#ifndef KUBEXX_APISERVER_SERVER_TESTING_REQUEST_MATCH_H_
#define KUBEXX_APISERVER_SERVER_TESTING_REQUEST_MATCH_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/api/resource.h"

namespace kubexx::testing {

/// Selects requests: those that match all members that are not empty. By default that is every
/// request for a resource.
struct RequestMatch {
  /// The verb as in a Role: "get", "list", "watch", "create", "update", "patch", "delete" or
  /// "deletecollection".
  std::string verb{};
  /// The plural, with its subresource if it has one: "configmaps", "deployments/status".
  std::string resource{};
  std::string namespace_{};
  /// The name in the path. A create has none there.
  std::string name{};

  auto operator<=>(const RequestMatch&) const = default;
};

/// Returns a match for requests for objects of T, for example
/// RequestsFor<Deployment>("update", "status"). An empty `verb` means all.
template <class T>
RequestMatch RequestsFor(std::string verb = {}, std::string_view subresource = {}) {
  std::string resource(api::ResourceOf<T>().plural);
  if (!subresource.empty()) {
    resource.append("/").append(subresource);
  }
  return {.verb = std::move(verb), .resource = std::move(resource)};
}

/// Whether `wanted` selects the request whose parts are in `seen`.
bool Matches(const RequestMatch& wanted, const RequestMatch& seen);

/// Returns the parts of a request; std::nullopt when it is not for a resource. `path` is not
/// decoded, `query` is what follows the "?".
std::optional<RequestMatch> PartsOfRequest(std::string_view method, std::string_view path,
                                           std::string_view query);

}  // namespace kubexx::testing

#endif  // KUBEXX_APISERVER_SERVER_TESTING_REQUEST_MATCH_H_
