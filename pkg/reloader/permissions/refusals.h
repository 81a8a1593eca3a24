/// @file
/// Keeps track of objects that the operator must read but may not.
#ifndef KUBEXX_RELOADER_PERMISSIONS_REFUSALS_H_
#define KUBEXX_RELOADER_PERMISSIONS_REFUSALS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::reloader {

/// Follows the lists and watches that the operator cannot do without, for example those of
/// ConfigMaps, and knows which of them are refused at present (Forbidden or Unauthorized), even
/// long after they first worked. The metric kubexx_reloader_refused{resource,verb} is 1 while a
/// verb is refused; kubexx_reloader_unavailable{resource,watched_namespace} does the same for each
/// namespace that has ever been refused (empty for all namespaces). Thread-safe.
class Refusals {
 public:
  /// `registry` must outlive this object; if it is null, there are no metrics.
  explicit Refusals(metrics::Registry* registry, base::Clock& clock = base::Clock::Real());

  /// How much of the operator's work depends on a list-watch.
  enum class Need : std::uint8_t {
    kNeeded,  ///< without it the operator does none of its work: see Problem
    /// Without it this part of the work is not done, but other parts are. Where the server does not
    /// have the resource there is nothing to do, which hides no refusal of other parts.
    kPart,
    /// While it is refused, nothing is done in its namespace (if it covers all namespaces: nothing
    /// at all), because it would tell what must not be done. It passes on only refusals that count
    /// (see PolicyAccess), so each of them counts at once.
    kBrake,
    kWanted,  ///< refusals only appear in the metrics
  };
  /// Wraps `inner` and notes the results of its lists and watches. `resource` is the plural name;
  /// `namespace_` is empty for all namespaces. The result must not outlive this object.
  std::shared_ptr<cache::ListerWatcher> Follow(std::shared_ptr<cache::ListerWatcher> inner,
                                               std::string resource, std::string namespace_,
                                               Need need = Need::kNeeded);

  /// A sentence that says which refusal keeps the operator from doing any work: something needed,
  /// or all parts, have been refused for ten seconds or more. (A server that is starting refuses
  /// requests, too, as do roles that are being replaced.) std::nullopt when at least some work is
  /// done.
  std::optional<std::string> Problem() const;
  /// A sentence that says which parts are refused; std::nullopt when none is.
  std::optional<std::string> MissingParts() const;

 private:
  class FollowedListWatch;
  enum class Verb : std::uint8_t { kList, kWatch };
  struct Entry {
    std::string resource{};
    std::string namespace_{};
    Need need = Need::kNeeded;
    Verb verb = Verb::kList;  ///< the refused one
    /// When the refusal began; std::nullopt when the verb is permitted.
    std::optional<base::TimePoint> since{};
    std::optional<base::TimePoint> watching{};  ///< when the present watch began
    std::string message{};
    bool is_unauthorized = false;  ///< the API server does not know who asks
    bool is_not_served = false;    ///< the server does not have the resource, as it last said
    bool has_been_refused = false;
  };

  void Ended(int id, Verb verb, const apimachinery::Result<void>& result);
  /// Returns whether the list-watch counts as refused, so that its first event is news.
  bool BeganWatch(int id);
  void Granted(int id);
  static std::string_view ToString(Verb verb);
  /// Whether the list-watch is refused. A refused watch ends at once, so a watch that continues is
  /// permitted even if no event arrives.
  static bool IsRefused(const Entry& entry, base::TimePoint now);
  static bool IsRefusedForGood(const Entry& entry, base::TimePoint now);
  static std::string Sentence(const Entry& entry);
  void Show() const;

  metrics::Registry* const registry_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<int, Entry> entries_ KX_GUARDED_BY(mu_);
  base::Subscription scrapes_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_REFUSALS_H_
