/// @file
/// Discovery documents of a small server, in the aggregated and in the older form.
#ifndef KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_
#define KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_

#include <string>
#include <string_view>

#include "kubexx/discovery/discovery_client.h"

namespace kubexx::discovery::testing {

using Group = api::apidiscovery::v2::APIGroupDiscovery;

/// Returns v1 with pods, events and nodes.
Group CoreGroup();
/// Returns apps/v1 and v1beta1 with deployments. Only those of v1 have the subresource scale.
Group AppsGroup();
/// Returns example.com/v1 with widgets, which have the subresource scale and the short name "wd".
Group WidgetGroup();

template <class... G>
GroupList Groups(const G&... groups) {
  GroupList list;
  (list.items.push_back(groups), ...);
  return list;
}

/// Returns the answer at `target` of an old server with the first two groups, and with
/// metrics.example.com/v1, whose server is down. Returns "" for a path that the server does not
/// have.
std::string LegacyDocument(std::string_view target);

}  // namespace kubexx::discovery::testing

#endif  // KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_
