#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::reloader {
namespace {

/// The prefix of the Secrets in which Helm keeps its releases.
constexpr std::string_view kHelmReleasePrefix = "sh.helm.release.v1.";

}  // namespace

std::unique_ptr<SourceAbsences> SourceAbsences::NewFor(const DecisionRules& rules,
                                                       Options options) {
  options.only_recorded = !rules.reload_on_create && !rules.reload_on_delete;
  if (!options.exists || (options.only_recorded && !options.has_selector)) {
    return nullptr;
  }
  return std::make_unique<SourceAbsences>(std::move(options));
}

apimachinery::Result<bool> SourceAbsences::IsLeftOut(const SourceId& id,
                                                     const std::stop_token& stop) {
  const bool of_helm =
      id.type == SourceType::kSecret && id.key.name.starts_with(kHelmReleasePrefix);
  if (!options_.exists || (!options_.has_selector && !of_helm)) {
    return false;
  }
  std::uint64_t forgotten = 0;
  {
    const base::MutexLock lock(mu_);
    const auto found = answers_.find(id);
    if (found != answers_.end() && options_.clock.Now() < found->second.until) {
      return found->second.exists;
    }
    forgotten = forgotten_;
  }
  KX_ASSIGN_OR_RETURN(const bool exists, options_.exists(id, stop));
  const base::MutexLock lock(mu_);
  if (forgotten == forgotten_) {
    if (answers_.size() >= kMaxAnswers) {
      answers_.clear();
    }
    answers_[id] = {exists, options_.clock.Now() + options_.keep_for};
  }
  return exists;
}

void SourceAbsences::Forget(const SourceId& id) {
  const base::MutexLock lock(mu_);
  answers_.erase(id);
  ++forgotten_;
}

}  // namespace kubexx::reloader
