/// @file
/// Whether policies may be read.
#ifndef KUBEXX_RELOADER_PERMISSIONS_POLICY_ACCESS_H_
#define KUBEXX_RELOADER_PERMISSIONS_POLICY_ACCESS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::reloader {

/// Tells the refusals that last from those of a server that is starting or of roles that are being
/// replaced, and where there may be policies that nobody knows of because of them: to take a
/// refusal for "there are no policies" would roll everything that is due without any brake.
/// Thread-safe.
class PolicyAccess {
 public:
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// How long a refusal must last to count.
    base::Duration patience = std::chrono::seconds(10);
    /// Whether the server says that it has the resource; nothing when it cannot be asked. What it
    /// has not is known at once. Empty: nobody knows.
    std::function<std::optional<bool>(const std::stop_token&)> is_served{};
    /// Told when a refusal begins to count (true) and when it has ended, on the thread that lists,
    /// outside locks, before anybody sees what the list has given. Must not block.
    std::function<void(const std::string& namespace_, bool is_refused)> on_change{};
  };
  /// What may be missing of the policies of a namespace, or of all.
  struct Gap {
    /// The version of the list that has filled it, which is not in the caches yet perhaps; empty
    /// while reading them is refused.
    std::string listed{};
  };
  explicit PolicyAccess(Options options) : options_(std::move(options)) {}

  /// A source in the place of `inner`, which reads the policies of one namespace, or of all when
  /// `namespace_` is empty; each is given once. Refusals (Unauthorized, Forbidden, NotFound) come
  /// through once they count; before that they are ServiceUnavailable, which is tried again with
  /// backoff. One that counts is ended by a list only, since a watch tells nothing of what has
  /// changed meanwhile. Must not outlive this.
  std::shared_ptr<cache::ListerWatcher> Follow(std::shared_ptr<cache::ListerWatcher> inner,
                                               std::string namespace_ = {});
  /// Whether some source is refused now, so that there may be policies that nobody knows of.
  bool unread() const;
  /// Of what Follow was given under this name: from the time when its refusal counts until Close.
  std::optional<Gap> GapIn(const std::string& namespace_) const;
  /// What the list of this version has given is known to whoever goes by it.
  void Close(const std::string& namespace_, const std::string& version);

 private:
  class Source;
  /// What a source keeps of the refusal under way. The mutex is the owner's.
  struct Refusal {
    std::string namespace_{};
    std::optional<base::TimePoint> since{};
    bool counts = false;
  };

  apimachinery::Status Judge(Refusal& refusal, apimachinery::Status status,
                             const std::stop_token& stop);
  bool Counts(const Refusal& refusal) const;
  /// By a list of this version; empty when it was none.
  void Granted(Refusal& refusal, const std::string& version);
  void Tell(const std::string& namespace_, bool is_refused) const;

  const Options options_;
  mutable base::Mutex mu_;
  int unread_ KX_GUARDED_BY(mu_) = 0;
  /// By namespace.
  std::map<std::string, Gap> gaps_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_POLICY_ACCESS_H_
