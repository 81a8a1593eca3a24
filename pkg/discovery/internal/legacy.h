/// @file
/// Discovery for servers without aggregated discovery.
#ifndef KUBEXX_DISCOVERY_INTERNAL_LEGACY_H_
#define KUBEXX_DISCOVERY_INTERNAL_LEGACY_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/discovery/discovery_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::discovery::internal {

/// Asks for the groups and then for each group version.
apimachinery::Result<GroupList> LegacyGroups(rest::RESTClient& client, const std::stop_token& stop);

}  // namespace kubexx::discovery::internal

#endif  // KUBEXX_DISCOVERY_INTERNAL_LEGACY_H_
