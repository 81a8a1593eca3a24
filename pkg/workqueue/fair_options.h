/// @file
/// Settings of a queue that is fair across tenants.
#ifndef KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_
#define KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_

#include <functional>
#include <map>
#include <string>

#include "kubexx/workqueue/key.h"

namespace kubexx::workqueue {

/// Who shares the queue, and how.
struct FairOptions {
  /// Whose key it is; by default its namespace. Called by whoever adds, without a lock; must always
  /// say the same of a key.
  std::function<std::string(const Key&)> tenant{};
  /// Keys that a tenant gets when it is its turn, at least 1, which is also the default.
  std::map<std::string, int> weights{};
  /// Keys of one tenant that may be worked on at a time, so that one whose work takes long leaves
  /// workers for the others; 0 means no limit.
  int max_working_per_tenant = 0;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_FAIR_OPTIONS_H_
