/// @file
/// What the operator does without, because the API or the right to use it is missing.
#ifndef KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_
#define KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/workload_kind.h"

namespace kubexx::reloader {

/// A verb on objects of one kind, in one namespace or, when that is empty, in all. Only looks at
/// what it names.
struct Right {
  std::string_view kind{};  ///< of a workload, or of what is watched beside
  /// list, watch, patch, create or delete; Fallbacks::kServed stands for the API itself.
  std::string_view verb{};
  std::string_view namespace_{};
};

/// Notes what rights and APIs are missing, says each change once in the log, and shows it as
/// kubexx_reloader_fallback{kind,verb}: 1 while the verb is refused in some namespace. OpenShift's
/// API is looked for everywhere, and not shown. What a rule refuses that is about single objects
/// (see IsMissingRight) is none of it. Also counts writes that were refused, by either. Keeps an
/// entry for each right that is missing, kMaxEntries at most: the oldest go. Thread-safe.
class Fallbacks {
 public:
  static constexpr std::string_view kServed = "served";
  static constexpr std::size_t kMaxEntries = 10'000;

  /// `registry` must outlive this; without one nothing is recorded.
  explicit Fallbacks(metrics::Registry* registry, base::Clock& clock = base::Clock::Real());

  /// The server refused it; `consequence` is what is done instead.
  void Refused(const Right& right, const apimachinery::Status& status,
               std::string_view consequence);
  /// It works, perhaps again.
  void Granted(const Right& right);
  bool IsRefused(const Right& right) const;
  /// Whether to try it: unless it was refused less than a minute ago. For writes that there may be
  /// thousands of.
  bool ShouldTry(const Right& right) const;
  /// A write was refused with `status`; see kubexx_reloader_writes_refused_total. Others are not
  /// counted.
  void CountRefusedWrite(const apimachinery::Status& status) const;

 private:
  using Verb = std::pair<std::string, std::string>;  ///< kind and verb
  using Times = std::map<std::string, base::TimePoint, std::less<>>;

  void Expire();
  void ExpireLocked() KX_REQUIRES(mu_);
  void DropOldestLocked() KX_REQUIRES(mu_);
  void ShowLocked(const Verb& verb) const KX_REQUIRES(mu_);

  metrics::Registry* const registry_;
  base::Clock& clock_;
  std::array<metrics::Counter, 2> refused_writes_;  ///< by missing rights, by rules
  mutable base::Mutex mu_;
  /// In which namespaces it is refused, and when it was last; without any, it once was asked for.
  std::map<Verb, Times> refused_ KX_GUARDED_BY(mu_);
  std::size_t entries_ KX_GUARDED_BY(mu_) = 0;
  base::Subscription scrapes_;  // last: ends first
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PERMISSIONS_FALLBACKS_H_
