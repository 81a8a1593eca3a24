/// @file
/// Whether policies may be read.
#ifndef KUBEXX_RELOADER_POLICY_ACCESS_H_
#define KUBEXX_RELOADER_POLICY_ACCESS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::reloader {

/// Tells the refusals that last from those of a server that is starting or of roles that are being
/// replaced: to take the latter for "there are no policies" would roll everything that is due
/// without any brake. Thread-safe.
class PolicyAccess {
 public:
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// How long a refusal must last to count.
    base::Duration patience = std::chrono::seconds(10);
    /// Whether the server says that it has the resource; nothing when it cannot be asked. What it
    /// has not is known at once. Empty: nobody knows.
    std::function<std::optional<bool>(const std::stop_token&)> is_served{};
  };
  explicit PolicyAccess(Options options) : options_(std::move(options)) {}

  /// A source in the place of `inner`. Refusals (Unauthorized, Forbidden, NotFound) come through
  /// once they count; before that they are ServiceUnavailable, which is tried again with backoff.
  /// Must not outlive this.
  std::shared_ptr<cache::ListerWatcher> Follow(std::shared_ptr<cache::ListerWatcher> inner);
  /// Whether some source is refused now, so that there may be policies that nobody knows of.
  bool unread() const;

 private:
  class Source;
  /// What a source keeps of the refusal under way. The mutex is the owner's.
  struct Refusal {
    std::optional<base::TimePoint> since{};
    bool counts = false;
  };

  apimachinery::Status Judge(Refusal& refusal, apimachinery::Status status,
                             const std::stop_token& stop);
  void Granted(Refusal& refusal);

  const Options options_;
  mutable base::Mutex mu_;
  int unread_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_ACCESS_H_
