/// @file
/// RestMapper: finds the resource for a kind, or for a name that a person types.
#ifndef KUBEXX_DISCOVERY_REST_MAPPER_H_
#define KUBEXX_DISCOVERY_REST_MAPPER_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/discovery/cached_discovery.h"

namespace kubexx::discovery {

/// A resource of a server, and the kind of its objects.
struct RestMapping {
  apimachinery::GroupVersionResource resource{};
  apimachinery::GroupVersionKind kind{};
  bool namespaced = true;
  std::string singular{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::vector<std::string> verbs{};
  std::vector<std::string> subresources{};
  bool operator==(const RestMapping&) const = default;
};

/// Finds resources among those that the server serves. It asks the server again about unknown kinds
/// and resources, since a CustomResourceDefinition may be new, but not more often than Options
/// allows. Without a version, it takes the one that the server prefers; if several groups match, it
/// takes the first in the server's order, which begins with the core group. Semantics: client-go's
/// RESTMapper and controller-runtime's lazy one. Returns kNotFound if the server has no such kind
/// or resource. Thread-safe; calls may block for a request to the server.
class RestMapper {
 public:
  /// How often unknown kinds and resources may cause a request to the server.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// The number of such requests per second, once `burst` of them have been made at once.
    double reloads_per_second = 0.1;
    int burst = 5;
  };

  explicit RestMapper(std::shared_ptr<CachedDiscovery> discovery)
      : RestMapper(std::move(discovery), Options{}) {}
  RestMapper(std::shared_ptr<CachedDiscovery> discovery, Options options);

  /// Returns the resource of a kind; an empty version means the preferred one.
  apimachinery::Result<RestMapping> MappingFor(const apimachinery::GroupVersionKind& kind,
                                               std::stop_token stop = {});
  /// Returns the kind of a resource; an empty version means the preferred one.
  apimachinery::Result<RestMapping> MappingFor(const apimachinery::GroupVersionResource& resource,
                                               std::stop_token stop = {});
  /// Returns the resource that a user means by "deployments", "deployment", "deploy",
  /// "deployments.apps" or "deployments.v1.apps". The case of letters does not matter.
  apimachinery::Result<RestMapping> ResourceFor(std::string_view name, std::stop_token stop = {});
  /// Returns all resources of the server, in its order.
  apimachinery::Result<std::vector<RestMapping>> All(std::stop_token stop = {});

 private:
  using Index = std::shared_ptr<const std::vector<RestMapping>>;
  using Finder = base::FunctionRef<const RestMapping*(const std::vector<RestMapping>&)>;

  apimachinery::Result<RestMapping> Find(Finder find, const std::string& what,
                                         const std::stop_token& stop);
  Index IndexOf(const CachedDiscovery::Snapshot& snapshot);

  const std::shared_ptr<CachedDiscovery> discovery_;
  base::TokenBucket reloads_;
  base::Mutex mu_;
  CachedDiscovery::Snapshot indexed_ KX_GUARDED_BY(mu_);
  Index index_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::discovery

#endif  // KUBEXX_DISCOVERY_REST_MAPPER_H_
