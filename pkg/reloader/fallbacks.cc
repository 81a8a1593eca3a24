#include "kubexx/reloader/fallbacks.h"

#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kRetryAfter = std::chrono::minutes(1);

}  // namespace

bool Fallbacks::Note(std::string_view kind, std::string_view verb, bool refused) {
  bool changed = false;
  {
    const base::MutexLock lock(mu_);
    const std::pair key{std::string(kind), std::string(verb)};
    changed = refused_.contains(key) != refused;
    if (refused) {
      refused_[key] = clock_.Now();
    } else {
      refused_.erase(key);
    }
  }
  // Nobody asks for DeploymentConfigs: a cluster without OpenShift lacks nothing.
  if (registry_ != nullptr &&
      (kind != KindName(WorkloadKind::kDeploymentConfig) || verb != kServed)) {
    registry_
        ->Gauge("kubexx_reloader_fallback",
                "1 while a verb is refused, or an API not served, and done without",
                {{"kind", std::string(kind)}, {"verb", std::string(verb)}})
        .Set(refused ? 1 : 0);  // also what is granted from the start
  }
  return changed;
}

void Fallbacks::Refused(std::string_view kind, std::string_view verb,
                        const apimachinery::Status& status, std::string_view consequence) {
  if (!Note(kind, verb, true)) {
    return;
  }
  if (verb == kServed) {
    logging::Info("The server does not have this kind; it is asked again now and then",
                  {{"kind", kind}, {"error", status}});
    return;
  }
  logging::Warning(
      "A right is missing; going on without it",
      {{"kind", kind}, {"verb", verb}, {"consequence", consequence}, {"error", status}});
}

void Fallbacks::Granted(std::string_view kind, std::string_view verb) {
  if (Note(kind, verb, false)) {
    logging::Info("A right or an API that was missing is there", {{"kind", kind}, {"verb", verb}});
  }
}

bool Fallbacks::IsRefused(WorkloadKind kind, std::string_view verb) const {
  const base::MutexLock lock(mu_);
  return refused_.contains({std::string(KindName(kind)), std::string(verb)});
}

bool Fallbacks::ShouldTry(WorkloadKind kind, std::string_view verb) const {
  const base::MutexLock lock(mu_);
  const auto found = refused_.find({std::string(KindName(kind)), std::string(verb)});
  return found == refused_.end() || clock_.Now() - found->second >= kRetryAfter;
}

}  // namespace kubexx::reloader
