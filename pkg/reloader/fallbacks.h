/// @file
/// What the operator does without, because the API or the right to use it is missing.
#ifndef KUBEXX_RELOADER_FALLBACKS_H_
#define KUBEXX_RELOADER_FALLBACKS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/workload_kind.h"

namespace kubexx::reloader {

/// Notes per kind, of a workload or of what is watched beside, and verb what is refused, says each
/// change once in the log, and shows it as kubexx_reloader_fallback{kind,verb}: 1 while refused.
/// The verb is list, watch, patch, create or delete; `served` stands for an API that the server
/// does not have, and that was asked for: OpenShift's is looked for everywhere, and not shown.
/// Thread-safe.
class Fallbacks {
 public:
  /// `registry` must outlive this; without one nothing is recorded.
  explicit Fallbacks(metrics::Registry* registry, base::Clock& clock = base::Clock::Real())
      : registry_(registry), clock_(clock) {}

  static constexpr std::string_view kServed = "served";

  /// The server refused the verb; `consequence` is what is done instead.
  void Refused(std::string_view kind, std::string_view verb, const apimachinery::Status& status,
               std::string_view consequence);
  void Refused(WorkloadKind kind, std::string_view verb, const apimachinery::Status& status,
               std::string_view consequence) {
    Refused(KindName(kind), verb, status, consequence);
  }
  /// The verb works, perhaps again.
  void Granted(std::string_view kind, std::string_view verb);
  void Granted(WorkloadKind kind, std::string_view verb) { Granted(KindName(kind), verb); }
  bool IsRefused(WorkloadKind kind, std::string_view verb) const;
  /// Whether to try the verb: unless it was refused less than a minute ago. For writes that there
  /// may be thousands of.
  bool ShouldTry(WorkloadKind kind, std::string_view verb) const;

 private:
  /// Whether the state has changed.
  bool Note(std::string_view kind, std::string_view verb, bool refused);

  metrics::Registry* const registry_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  /// What is refused, and when it was last.
  std::map<std::pair<std::string, std::string>, base::TimePoint> refused_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_FALLBACKS_H_
