/// @file
/// What the operator has to read and is not permitted to.
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

/// Follows lists and watches that nothing can take the place of, of ConfigMaps for example: which
/// of them are refused now (Forbidden or Unauthorized), also long after they worked. Shown as
/// kubexx_reloader_refused{resource,verb}: 1 while refused, and for each namespace that has been
/// refused (empty for all) as kubexx_reloader_unavailable{resource,watched_namespace}. Thread-safe.
class Refusals {
 public:
  /// `registry` must outlive this; null: nothing is shown.
  explicit Refusals(metrics::Registry* registry, base::Clock& clock = base::Clock::Real());

  /// How much depends on a source.
  enum class Need : std::uint8_t {
    kNeeded,  ///< without it the operator does not do its work: see Problem
    kPart,    ///< without it that part of the work is not done, and the other parts are
    /// While it is refused nothing is done in its namespace, or, of all namespaces, nothing at all:
    /// it tells what must not be done. Only refusals that count come from it, so that they do at
    /// once.
    kBrake,
    kWanted,  ///< it is only shown
  };
  /// A source in the place of `inner` that notes what becomes of its lists and watches. `resource`
  /// is the plural; `namespace_` is empty for all namespaces. Must not outlive this.
  std::shared_ptr<cache::ListerWatcher> Follow(std::shared_ptr<cache::ListerWatcher> inner,
                                               std::string resource, std::string namespace_,
                                               Need need = Need::kNeeded);

  /// In a sentence, what is refused so that nothing is done: what is needed, or all the parts.
  /// Refused means for ten seconds or more: a server that is starting also refuses, and so do roles
  /// that are just being replaced. Nothing when all or some of the work is done.
  std::optional<std::string> Problem() const;
  /// In a sentence, which parts are refused, when there are such.
  std::optional<std::string> MissingParts() const;

 private:
  class Source;
  enum class Verb : std::uint8_t { kList, kWatch };
  struct Entry {
    std::string resource{};
    std::string namespace_{};
    Need need = Need::kNeeded;
    Verb verb = Verb::kList;                    ///< the one that is refused
    std::optional<base::TimePoint> since{};     ///< of the refusal; nothing when granted
    std::optional<base::TimePoint> watching{};  ///< when the watch under way began
    std::string message{};
    bool has_been_refused = false;
  };

  void Ended(int id, Verb verb, const apimachinery::Result<void>& result);
  void BeganWatch(int id);
  void Granted(int id);
  static std::string_view ToString(Verb verb);
  /// What the server does not have holds nothing back.
  static bool IsAbsent(const Entry& entry, const apimachinery::Result<void>& result);
  /// A refused watch ends at once: one that goes on is permitted, though nothing arrives.
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
