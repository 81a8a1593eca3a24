/// @file
/// Finds out whether the operator may read policies.
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

/// Distinguishes lasting refusals from those of a server that is starting or of roles that are
/// being replaced, and knows where there may be unknown policies because of lasting refusals. If
/// the operator took such a refusal for "there are no policies", it would roll at once everything
/// that these policies hold back. Thread-safe.
class PolicyAccess {
 public:
  struct Options {
    std::string resource{};  ///< what the log calls it, such as "reloadpolicies.kubexx.io"
    base::Clock& clock = base::Clock::Real();
    /// How long a refusal must last before it counts.
    base::Duration patience = std::chrono::seconds(10);
    /// Asks whether the server serves the resource; std::nullopt when it cannot be asked. "No" is
    /// believed only after the server has said so for `patience`, because a server that is starting
    /// says so, too, as does a proxy in front of it. While `is_awaited`, it is believed, and the
    /// question is only whether the resource is served by now: the answer may be some seconds old.
    /// Empty: it is never known.
    std::function<std::optional<bool>(bool is_awaited, const std::stop_token&)> is_served{};
    /// Called when the server says that it does not serve the resource. Returns whether that is
    /// certain, so that there is no need to wait. Empty: it is never certain.
    std::function<bool(const std::stop_token&)> is_certain{};
    /// Called when a refusal begins to count (true) and when it has ended (false), on the thread
    /// that lists, outside locks, and before anybody sees the objects of the list. Must not block.
    std::function<void(const std::string& namespace_, bool is_refused)> on_change{};
  };
  /// Whether an error of what Follow returns says only that the server does not seem to serve the
  /// resource. That is normal where nobody has installed the CRDs.
  static bool SeemsUnserved(const apimachinery::Status& status);
  /// Whether such an error only makes the reflector list again, after a refusal.
  static bool WantsList(const apimachinery::Status& status);

  /// The policies of a namespace, or of all, may not be completely known.
  struct Gap {
    /// The resource version of the list that has delivered the policies, though the caches may not
    /// contain them yet; empty while reading them is still refused.
    std::string listed{};
  };
  explicit PolicyAccess(Options options) : options_(std::move(options)) {}

  /// Wraps `inner`, which reads the policies of one namespace, or of all when `namespace_` is
  /// empty; call it once per namespace. The wrapper passes refusals (Unauthorized, Forbidden,
  /// NotFound) on when they count; until then it returns ServiceUnavailable instead, so that the
  /// reflector retries with backoff. A refusal that counts is ended only by a list, because a watch
  /// does not deliver what has changed in the meantime. Once the server is known not to serve the
  /// resource any more, one list succeeds without policies, so that the store of whoever lists has
  /// none either. From then on `inner` is not asked before the server serves the resource. The
  /// result must not outlive this object.
  std::shared_ptr<cache::ListerWatcher> Follow(std::shared_ptr<cache::ListerWatcher> inner,
                                               std::string namespace_ = {});
  /// Whether any list-watch from Follow is refused at present, so that there may be unknown
  /// policies.
  bool unread() const;
  /// Whether policies may be unknown in a namespace that was passed to Follow. That begins when a
  /// refusal counts, and ends with Close.
  std::optional<Gap> GapIn(const std::string& namespace_) const;
  /// The caller's data now contain the policies from the list with this version.
  void Close(const std::string& namespace_, const std::string& version);

 private:
  class FollowedListWatch;
  /// A refusal of one ListerWatcher. Guarded by the owner's mutex.
  struct Refusal {
    std::string namespace_{};
    std::optional<base::TimePoint> since{};
    bool counts = false;
    /// Since when the server has said that it does not serve the resource.
    std::optional<base::TimePoint> unserved_since{};
  };

  apimachinery::Status Judge(Refusal& refusal, apimachinery::Status status,
                             const std::stop_token& stop);
  bool Counts(const Refusal& refusal) const;
  /// Whether the last answer was that the server does not serve the resource, and is believed: see
  /// UnservedSince.
  bool IsUnserved(const Refusal& refusal) const;
  /// Does the same after asking whether it is still so.
  bool IsStillUnserved(const Refusal& refusal, const std::stop_token& stop) const;
  /// Since when the server has said that it does not serve the resource, if that is long enough or
  /// certain.
  std::optional<base::TimePoint> UnservedSince(Refusal& refusal, const std::stop_token& stop);
  /// `version`: of the list that succeeded; empty when something other than a list did.
  void Granted(Refusal& refusal, const std::string& version);
  void Tell(const std::string& namespace_, bool is_refused) const;

  const Options options_;
  mutable base::Mutex mu_;
  int unread_ KX_GUARDED_BY(mu_) = 0;
  /// Keyed by namespace.
  std::map<std::string, Gap> gaps_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_POLICY_ACCESS_H_
