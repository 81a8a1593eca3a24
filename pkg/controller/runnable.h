/// @file
/// Runnable: something that a manager runs.
#ifndef KUBEXX_CONTROLLER_RUNNABLE_H_
#define KUBEXX_CONTROLLER_RUNNABLE_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::controller {

/// When a runnable starts and stops. The stages start in this order, and each stops as a whole:
/// kLeader and kOther first, kServer last.
enum class Stage : std::uint8_t {
  kServer,  ///< before the caches, on every replica: HTTP and webhook servers
  kOther,   ///< when the caches are in sync, on every replica
  kLeader,  ///< when this replica leads
};

/// Something that runs from its manager's start until its end.
class Runnable {
 public:
  virtual ~Runnable() = default;
  /// The name for logs and errors.
  virtual std::string Name() const = 0;
  virtual Stage stage() const { return Stage::kLeader; }
  /// Runs on a thread of its own until `stop` is requested, or until its work is done. An error or
  /// an exception ends the manager.
  virtual apimachinery::Result<void> Run(std::stop_token stop) = 0;
  /// Whether Run only begins something that needs no thread of the runnable's own. Once Run has
  /// returned success, the runnable counts as running without a thread, until its stage stops and
  /// End has returned. No callback of `stop` may then block, in this runnable or in another one of
  /// its stage: the callbacks run one after the other, and before the first End.
  virtual bool HasEnd() const { return false; }
  /// Ends what Run has begun. Called once, and on some thread, when `stop` has been requested.
  virtual void End() {}
  /// What the runnable is doing, for the log when it does not stop in time, for example "reconcile
  /// of default/web for 12 s". Called on another thread while it runs.
  virtual std::vector<std::string> Busy() const { return {}; }
  /// Called when the caches are in sync, before this replica leads. It may do everything that
  /// speeds up a later take-over and changes nothing in the cluster. Called only for kLeader. The
  /// manager starts nothing further until it returns.
  virtual apimachinery::Result<void> Warmup(std::stop_token /*stop*/) { return {}; }
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RUNNABLE_H_
