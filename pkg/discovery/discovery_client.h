/// @file
/// DiscoveryClient: asks an API server which groups and resources it serves.
#ifndef KUBEXX_DISCOVERY_DISCOVERY_CLIENT_H_
#define KUBEXX_DISCOVERY_DISCOVERY_CLIENT_H_

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/apidiscovery/v2/types.gen.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::discovery {

/// All groups of a server, the core group "" first. Each has its versions, in the order of the
/// server's preference, and their resources. The form is that of aggregated discovery, also for a
/// server without it.
using GroupList = api::apidiscovery::v2::APIGroupDiscoveryList;

/// The server's answer at /version.
struct ServerVersion {
  std::string major{};
  std::string minor{};
  std::string git_version{};  ///< for example "v1.36.3"
  std::string git_commit{};
  std::string build_date{};
  std::string go_version{};
  std::string platform{};
  bool operator==(const ServerVersion&) const = default;
};

/// Asks the server anew with every call; CachedDiscovery keeps the answers. Semantics: client-go's
/// discovery client. Errors are the server's Status, those of rest::Request, and kMalformed for
/// documents that cannot be read. Thread-safe, cheap to copy.
class DiscoveryClient {
 public:
  explicit DiscoveryClient(std::shared_ptr<rest::RESTClient> client);

  /// Sends two requests to a server with aggregated discovery (1.27 and newer), and otherwise one
  /// for each group version. A version whose resources are not available, because the server behind
  /// it is down, has the freshness "Stale" and perhaps no resources; the other versions are
  /// complete.
  apimachinery::Result<GroupList> Groups(std::stop_token stop = {}) const;

  apimachinery::Result<ServerVersion> Version(std::stop_token stop = {}) const;

  /// Returns a map from the path of each group version, such as "apis/apps/v1", to the URL of its
  /// OpenAPI v3 document relative to the server.
  apimachinery::Result<std::map<std::string, std::string>> OpenApiPaths(
      std::stop_token stop = {}) const;
  /// Returns the document at a URL from OpenApiPaths, as JSON text.
  apimachinery::Result<std::string> OpenApiDocument(std::string_view relative_url,
                                                    std::stop_token stop = {}) const;

 private:
  std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace kubexx::discovery

#endif  // KUBEXX_DISCOVERY_DISCOVERY_CLIENT_H_
