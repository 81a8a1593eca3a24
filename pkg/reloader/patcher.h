/// @file
/// The one write the operator makes.
#ifndef KUBEXX_RELOADER_PATCHER_H_
#define KUBEXX_RELOADER_PATCHER_H_

#include <stop_token>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/workload.h"

namespace kubexx::reloader {

/// Writes to workloads. Implementations are thread-safe.
class WorkloadPatcher {
 public:
  virtual ~WorkloadPatcher() = default;
  /// Sends a strategic merge patch with kFieldManager as field manager; returns once the server has
  /// answered.
  virtual apimachinery::Result<void> Patch(const WorkloadId& workload, std::string_view patch,
                                           std::stop_token stop) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PATCHER_H_
