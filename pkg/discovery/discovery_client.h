/// @file
/// DiscoveryClient: asks an API server what it serves.
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

/// All groups, the core group "" first, each with its versions, best first, and their resources.
/// The form is that of aggregated discovery, whatever the server speaks.
using GroupList = api::apidiscovery::v2::APIGroupDiscoveryList;

/// What /version says.
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

/// Every call asks the server anew; use CachedDiscovery to keep what it said. As client-go's
/// discovery client. Thread-safe, cheap to copy. Errors are the server's Status or those of
/// rest::Request; kMalformed for documents that cannot be read.
class DiscoveryClient {
 public:
  explicit DiscoveryClient(std::shared_ptr<rest::RESTClient> client);

  /// Two requests to a server with aggregated discovery (1.27 and newer), otherwise one for each
  /// group version. A version whose resources cannot be had, because the server behind it is down,
  /// has the freshness "Stale" and perhaps no resources; the others are complete.
  apimachinery::Result<GroupList> Groups(std::stop_token stop = {}) const;

  apimachinery::Result<ServerVersion> Version(std::stop_token stop = {}) const;

  /// From the group version's path, such as "apis/apps/v1", to the URL of its OpenAPI v3 document,
  /// relative to the server.
  apimachinery::Result<std::map<std::string, std::string>> OpenApiPaths(
      std::stop_token stop = {}) const;
  /// The document at such a URL, as JSON text.
  apimachinery::Result<std::string> OpenApiDocument(std::string_view relative_url,
                                                    std::stop_token stop = {}) const;

 private:
  std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace kubexx::discovery

#endif  // KUBEXX_DISCOVERY_DISCOVERY_CLIENT_H_
