/// @file
/// Writes certificates into the configurations of webhooks.
#ifndef KUBEXX_CERTROTATOR_INTERNAL_TRUST_H_
#define KUBEXX_CERTROTATOR_INTERNAL_TRUST_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::certrotator::internal {

/// The kinds of configurations.
enum class ConfigurationKind : std::uint8_t { kMutating, kValidating, kDefinition };

/// A configuration that names a webhook server.
struct Configuration {
  ConfigurationKind kind = ConfigurationKind::kMutating;
  std::string name{};
};

/// A webhook server, as a clientConfig names it: its Service, or a URL that is `url` or goes on
/// behind it with a slash, if that is not empty.
struct WebhookServer {
  apimachinery::ObjectKey service{};
  std::string url{};
};

/// Writes `bundle` into the caBundle of every webhook of `configuration` whose clientConfig names
/// `server`, and returns whether it was there already. A configuration that does not exist trusts
/// everything. A patch fails with kInvalid when somebody has reordered the webhooks in the
/// meantime, or pointed one to another server; the caller tries again later. The configurations of
/// others' webhooks stay as they are.
apimachinery::Result<bool> Trust(const std::shared_ptr<rest::RESTClient>& client,
                                 const Configuration& configuration, const WebhookServer& server,
                                 const std::string& bundle, const std::stop_token& stop);

}  // namespace kubexx::certrotator::internal

#endif  // KUBEXX_CERTROTATOR_INTERNAL_TRUST_H_
