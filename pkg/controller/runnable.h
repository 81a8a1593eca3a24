/// @file
/// What a manager runs.
#ifndef KUBEXX_CONTROLLER_RUNNABLE_H_
#define KUBEXX_CONTROLLER_RUNNABLE_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::controller {

/// When a runnable starts, in this order, and stops: those of the same stage together, kServer
/// last, kLeader and kOther first.
enum class Stage : std::uint8_t {
  kServer,  ///< HTTP and webhook servers: before the caches, on every replica
  kOther,   ///< once the caches are in sync, on every replica
  kLeader,  ///< once this replica leads
};

/// Something that runs from its manager's start until its end.
class Runnable {
 public:
  virtual ~Runnable() = default;
  /// For logs and errors.
  virtual std::string Name() const = 0;
  virtual Stage stage() const { return Stage::kLeader; }
  /// Runs on a thread of its own until `stop` is requested, or earlier when its work is done. An
  /// error, or what it throws, ends the manager.
  virtual apimachinery::Result<void> Run(std::stop_token stop) = 0;
  /// What it is at, for the log when it does not stop in time: "reconcile of default/web for 12 s".
  /// Called while it runs, on another thread.
  virtual std::vector<std::string> Busy() const { return {}; }
  /// Called once the caches are in sync, before this replica leads: whatever makes the take-over
  /// quick, and changes nothing in the cluster. For kLeader only. Blocks what starts after it.
  virtual apimachinery::Result<void> Warmup(std::stop_token /*stop*/) { return {}; }
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RUNNABLE_H_
