/// @file
/// Settings of a queue that is fair across tenants.
#ifndef KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_
#define KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_

#include <functional>
#include <map>
#include <string>

#include "kubexx/workqueue/key.h"

namespace kubexx::workqueue {

/// The tenants that share the queue, and their shares.
struct FairOptions {
  /// Returns the tenant of a key; by default its namespace. Called without a lock on the thread
  /// that adds the key. When it throws, that thread gets the exception, and the key is not added.
  /// Must always return the same tenant for a key.
  std::function<std::string(const Key&)> tenant{};
  /// How many keys a tenant gets in its turn; at least 1, which is also the default.
  std::map<std::string, int> weights{};
  /// How many keys of one tenant workers may process at the same time, so that a tenant whose work
  /// takes long leaves workers for the others; 0 means no limit.
  int max_working_per_tenant = 0;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_
