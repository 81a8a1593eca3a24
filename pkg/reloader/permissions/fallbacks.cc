#include "kubexx/reloader/permissions/fallbacks.h"

#include <algorithm>
#include <optional>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/permissions/denial.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kRetryAfter = std::chrono::minutes(1);

// The operator tries a write only when it has something to write. If no write has been refused for
// so long, it may have nothing to write any more, or the namespace may be gone. A watch is tried
// for ever.
constexpr base::Duration kRefusedWriteCounts = std::chrono::hours(1);

// This many namespaces are logged for one kind and verb. Further namespaces that refuse it are
// logged at level debug.
constexpr std::size_t kLoggedNamespaces = 10;

bool IsRead(std::string_view verb) {
  return verb == "list" || verb == "watch" || verb == Fallbacks::kServed;
}

}  // namespace

Fallbacks::Fallbacks(metrics::Registry* registry, base::Clock& clock)
    : registry_(registry), clock_(clock) {
  if (registry_ == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < refused_writes_.size(); ++i) {
    refused_writes_[i] =
        registry_->Counter("kubexx_reloader_writes_refused_total",
                           "Writes that the API server refused, because a right is missing or a "
                           "rule forbids them.",
                           {{"by", i == 0 ? "missing_right" : "rule"}});
  }
  scrapes_ = registry_->OnScrape([this] { Expire(); });
}

void Fallbacks::ShowLocked(const Verb& verb) const {
  // DeploymentConfigs have no metric here, because a cluster without OpenShift does not lack
  // anything.
  if (registry_ == nullptr ||
      (verb.first == KindName(WorkloadKind::kDeploymentConfig) && verb.second == kServed)) {
    return;
  }
  registry_
      ->Gauge("kubexx_reloader_fallback",
              "1 while a verb is refused, or an API not served, and done without",
              {{"kind", verb.first}, {"verb", verb.second}})
      .Set(refused_.at(verb).empty() ? 0 : 1);  // also for rights that are granted from the start
}

void Fallbacks::ExpireLocked() {
  const base::TimePoint now = clock_.Now();
  for (auto& [verb, times] : refused_) {
    if (!IsRead(verb.second)) {
      entries_ -= std::erase_if(
          times, [&](const auto& entry) { return now - entry.second >= kRefusedWriteCounts; });
    }
  }
}

void Fallbacks::Expire() {
  const base::MutexLock lock(mu_);
  ExpireLocked();
  for (const auto& [verb, times] : refused_) {
    ShowLocked(verb);
  }
}

void Fallbacks::DropOldestLocked() {
  std::optional<std::pair<Times*, Times::iterator>> oldest;
  for (auto& [verb, times] : refused_) {
    const auto least = std::ranges::min_element(times, {}, &Times::value_type::second);
    if (least != times.end() && (!oldest || least->second < oldest->second->second)) {
      oldest.emplace(&times, least);
    }
  }
  if (oldest) {
    oldest->first->erase(oldest->second);
    --entries_;
  }
}

void Fallbacks::Refused(const Right& right, const apimachinery::Status& status,
                        std::string_view consequence) {
  bool is_new = false;
  std::size_t namespaces = 0;
  {
    const base::MutexLock lock(mu_);
    const Verb verb{right.kind, right.verb};
    Times& times = refused_[verb];
    is_new = times.insert_or_assign(std::string(right.namespace_), clock_.Now()).second;
    if (is_new && ++entries_ > kMaxEntries) {
      ExpireLocked();
      if (entries_ > kMaxEntries) {
        DropOldestLocked();
      }
    }
    namespaces = times.size();
    ShowLocked(verb);
  }
  if (!is_new) {
    return;
  }
  if (right.verb == kServed) {
    logging::Info("The API server does not serve a kind; the operator asks again from time to time",
                  {{"kind", right.kind}, {"error", status}});
    return;
  }
  logging::Log(
      namespaces > kLoggedNamespaces ? logging::Level::kDebug : logging::Level::kWarning,
      "The operator lacks a right and continues without it",
      {{"kind", right.kind},
       {"verb", right.verb},
       {"namespace", right.namespace_.empty() ? std::string_view("all") : right.namespace_},
       {"consequence", consequence},
       {"error", status}});
}

void Fallbacks::Granted(const Right& right) {
  {
    const base::MutexLock lock(mu_);
    const Verb verb{right.kind, right.verb};
    Times& times = refused_[verb];
    const auto found = times.find(right.namespace_);
    const bool was_refused = found != times.end();
    if (was_refused) {
      times.erase(found);
      --entries_;
    }
    ShowLocked(verb);
    if (!was_refused) {
      return;
    }
  }
  if (right.verb == kServed) {
    logging::Info("The API server serves a kind that it did not serve before",
                  {{"kind", right.kind}});
    return;
  }
  logging::Info("The operator has a right that it lacked before",
                {{"kind", right.kind}, {"verb", right.verb}, {"namespace", right.namespace_}});
}

bool Fallbacks::IsRefused(const Right& right) const {
  const base::MutexLock lock(mu_);
  const auto found = refused_.find({std::string(right.kind), std::string(right.verb)});
  return found != refused_.end() && found->second.contains(right.namespace_);
}

bool Fallbacks::ShouldTry(const Right& right) const {
  const base::MutexLock lock(mu_);
  const auto verb = refused_.find({std::string(right.kind), std::string(right.verb)});
  if (verb == refused_.end()) {
    return true;
  }
  const auto found = verb->second.find(right.namespace_);
  return found == verb->second.end() || clock_.Now() - found->second >= kRetryAfter;
}

void Fallbacks::CountRefusedWrite(const apimachinery::Status& status) const {
  const bool by_right =
      IsMissingRight(status) || status.reason == apimachinery::Reason::kUnauthorized;
  if (by_right || IsDenied(status)) {
    refused_writes_[by_right ? 0 : 1].Increment();
  }
}

}  // namespace kubexx::reloader
