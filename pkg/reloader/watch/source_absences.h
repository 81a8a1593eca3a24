/// @file
/// Distinguishes sources that do not exist from sources that are only not watched.
#ifndef KUBEXX_RELOADER_WATCH_SOURCE_ABSENCES_H_
#define KUBEXX_RELOADER_WATCH_SOURCE_ABSENCES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/decision.h"

namespace kubexx::reloader {

/// Asks the API server whether a source exists, whatever its labels are. May block.
using SourceExists =
    std::function<apimachinery::Result<bool>(const SourceId&, const std::stop_token&)>;

/// The type of the Secrets in which Helm stores its releases. They are not watched, because no
/// workload mounts them and each upgrade of a release creates one.
inline constexpr std::string_view kHelmReleaseType = "helm.sh/release.v1";

/// Answers whether a source that the informers do not have exists nevertheless. A watch with a
/// label selector reports a source as deleted when it only loses its label, and as created when it
/// only gets it. Where deletions or creations roll workloads, this class asks the API server for
/// the source's metadata. Elsewhere it does so for sources that a baseline names: another operator
/// may watch them, with another selector. It keeps the answer for a minute, or until the next event
/// of the source. Thread-safe.
class SourceAbsences {
 public:
  struct Options {
    /// A label selector excludes some sources. If false, only Helm's Secrets are excluded.
    bool has_selector = false;
    SourceExists exists{};
    /// Neither deletions nor creations roll workloads, so it only matters whether what is recorded
    /// of a source is to be kept.
    bool only_recorded = false;
    base::Clock& clock = base::Clock::Real();
    base::Duration keep_for = std::chrono::minutes(1);
  };
  /// The most answers that are kept; beyond that all of them are dropped.
  static constexpr std::size_t kMaxAnswers = 10'000;

  explicit SourceAbsences(Options options) : options_(std::move(options)) {}
  /// Returns null when neither deletions nor creations roll workloads and no selector excludes any
  /// source, or when `options` has no way to ask the API server.
  static std::unique_ptr<SourceAbsences> NewFor(const DecisionRules& rules, Options options);

  /// Whether a source that the informers do not have exists nevertheless. Fails when the API server
  /// does not answer.
  apimachinery::Result<bool> IsLeftOut(const SourceId& id, const std::stop_token& stop);
  /// The source was changed, created or deleted.
  void Forget(const SourceId& id);
  bool has_selector() const { return options_.has_selector; }
  bool only_recorded() const { return options_.only_recorded; }

 private:
  struct Answer {
    bool exists = false;
    base::TimePoint until{};
  };

  const Options options_;
  base::Mutex mu_;
  std::map<SourceId, Answer> answers_ KX_GUARDED_BY(mu_);
  /// Counts the calls of Forget, so that an answer to an earlier question is not stored.
  std::uint64_t forgotten_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_ABSENCES_H_
