/// @file
/// Tells sources that do not exist from sources that are only not watched.
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

/// Asks the API server whether a source exists, whatever its labels. May block.
using SourceExists =
    std::function<apimachinery::Result<bool>(const SourceId&, const std::stop_token&)>;

/// The type of the Secrets in which Helm keeps its releases. They are not watched: no workload
/// mounts them, and each upgrade of a release makes one.
inline constexpr std::string_view kHelmReleaseType = "helm.sh/release.v1";

/// A watch with a selector says of a source that it is deleted when it only lost its label, and
/// that it is created when it only got one. Where a deletion or a creation counts, the API server
/// itself is asked about what the informers do not have, for its metadata only, and its answer is
/// kept for a minute, or until the next event of the source. Thread-safe.
class SourceAbsences {
 public:
  struct Options {
    /// A label selector leaves out some sources; else only Secrets of Helm are left out.
    bool has_selector = false;
    SourceExists exists{};
    base::Clock& clock = base::Clock::Real();
    base::Duration keep_for = std::chrono::minutes(1);
  };
  /// Answers that are kept; beyond that it begins anew.
  static constexpr std::size_t kMaxAnswers = 10'000;

  explicit SourceAbsences(Options options) : options_(std::move(options)) {}
  /// Null where neither a deletion nor a creation counts, or nobody can be asked.
  static std::unique_ptr<SourceAbsences> NewFor(const DecisionRules& rules, Options options);

  /// Whether a source that the informers do not have exists all the same. An error when the API
  /// server did not say.
  apimachinery::Result<bool> IsLeftOut(const SourceId& id, const std::stop_token& stop);
  /// The source has changed, or has come or gone.
  void Forget(const SourceId& id);
  bool has_selector() const { return options_.has_selector; }

 private:
  struct Answer {
    bool exists = false;
    base::TimePoint until{};
  };

  const Options options_;
  base::Mutex mu_;
  std::map<SourceId, Answer> answers_ KX_GUARDED_BY(mu_);
  /// Counts the calls of Forget, so that an answer from before one is not kept.
  std::uint64_t forgotten_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_ABSENCES_H_
