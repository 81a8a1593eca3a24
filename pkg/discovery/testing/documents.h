/// @file
/// Discovery documents of a small server, in the new form and in the old.
#ifndef KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_
#define KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_

#include <string>
#include <string_view>

#include "kubexx/discovery/discovery_client.h"

namespace kubexx::discovery::testing {

using Group = api::apidiscovery::v2::APIGroupDiscovery;

/// v1 with pods and events, and nodes.
Group CoreGroup();
/// apps/v1 and v1beta1 with deployments; v1 has their scale.
Group AppsGroup();
/// example.com/v1 with widgets, which have a scale, short name "wd".
Group WidgetGroup();

template <class... G>
GroupList Groups(const G&... groups) {
  GroupList list;
  (list.items.push_back(groups), ...);
  return list;
}

/// What an old server with the first two groups, and metrics.example.com/v1 that is down, answers
/// at `target`; "" for what it does not have.
std::string LegacyDocument(std::string_view target);

}  // namespace kubexx::discovery::testing

#endif  // KUBEXX_DISCOVERY_TESTING_DOCUMENTS_H_
