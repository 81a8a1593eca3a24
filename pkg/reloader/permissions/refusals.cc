#include "kubexx/reloader/permissions/refusals.h"

#include <chrono>
#include <memory>
#include <utility>

#include "kubexx/cache/watch/followed_watch.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;

constexpr base::Duration kForGood = std::chrono::seconds(10);
constexpr base::Duration kWatchIsPermitted = std::chrono::seconds(2);

bool IsRefusal(const apimachinery::Status& status) {
  return status.reason == Reason::kForbidden || status.reason == Reason::kUnauthorized;
}

}  // namespace

class Refusals::FollowedListWatch final : public cache::ListerWatcher {
 public:
  FollowedListWatch(Refusals& owner, int id, std::shared_ptr<cache::ListerWatcher> inner)
      : owner_(owner), id_(id), inner_(std::move(inner)) {}

  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    auto listed = inner_->List(options, sink, std::move(stop));
    owner_.Ended(id_, Verb::kList,
                 listed ? Result<void>() : Result<void>(apimachinery::Fail(listed.error())));
    return listed;
  }

  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    // Only a watch that has been refused before is looked at. The events of all others go directly
    // to the sink.
    auto result = owner_.BeganWatch(id_) ? WatchRefused(options, sink, std::move(stop))
                                         : inner_->Watch(options, sink, std::move(stop));
    owner_.Ended(id_, Verb::kWatch, result);
    return result;
  }

  bool CanStartWatch() const override { return inner_->CanStartWatch(); }

  Result<std::unique_ptr<cache::OpenWatch>> StartWatch(const ListOptions& options,
                                                       std::stop_token stop) override {
    cache::FollowedWatch::OnEvent on_event;
    if (owner_.BeganWatch(id_)) {
      on_event = [this, granted = false](cache::WatchEvent&& event, EventSink sink) mutable {
        if (!std::exchange(granted, true)) {
          owner_.Granted(id_);
        }
        return sink(std::move(event));
      };
    }
    auto watch = inner_->StartWatch(options, std::move(stop));
    if (!watch) {
      owner_.Ended(id_, Verb::kWatch, apimachinery::Fail(watch.error()));
      return watch;
    }
    return std::make_unique<cache::FollowedWatch>(*std::move(watch), std::move(on_event),
                                                  [this](Result<void> result) {
                                                    owner_.Ended(id_, Verb::kWatch, result);
                                                    return result;
                                                  });
  }

  // This request tells nothing of the right to watch, and of the right to list only what the next
  // list tells, too.
  Result<std::string> CurrentVersion(std::stop_token stop) override {
    return inner_->CurrentVersion(std::move(stop));
  }

 private:
  Result<void> WatchRefused(const ListOptions& options, EventSink sink, std::stop_token stop) {
    bool granted = false;
    return inner_->Watch(
        options,
        [&](cache::WatchEvent&& event) {
          if (!granted) {
            granted = true;
            owner_.Granted(id_);
          }
          return sink(std::move(event));
        },
        std::move(stop));
  }

  Refusals& owner_;
  const int id_;
  const std::shared_ptr<cache::ListerWatcher> inner_;
};

Refusals::Refusals(metrics::Registry* registry, base::Clock& clock)
    : registry_(registry), clock_(clock) {
  if (registry_ != nullptr) {
    scrapes_ = registry_->OnScrape([this] { Show(); });
  }
}

std::shared_ptr<cache::ListerWatcher> Refusals::Follow(std::shared_ptr<cache::ListerWatcher> inner,
                                                       std::string resource, std::string namespace_,
                                                       Need need) {
  const base::MutexLock lock(mu_);
  const int id = static_cast<int>(entries_.size());
  entries_[id] = {
      .resource = std::move(resource), .namespace_ = std::move(namespace_), .need = need};
  return std::make_shared<FollowedListWatch>(*this, id, std::move(inner));
}

bool Refusals::BeganWatch(int id) {
  const base::MutexLock lock(mu_);
  Entry& entry = entries_.at(id);
  entry.watching = clock_.Now();
  return entry.since.has_value();
}

void Refusals::Granted(int id) {
  const base::MutexLock lock(mu_);
  entries_.at(id).since.reset();
}

void Refusals::Ended(int id, Verb verb, const Result<void>& result) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  Entry& entry = entries_.at(id);
  const bool was_refused = IsRefused(entry, now);
  entry.watching.reset();
  // It holds nothing back then, and is no work that is done.
  entry.is_not_served = !result && result.error().reason == Reason::kNotFound;
  if (!result && IsRefusal(result.error())) {
    entry.since = was_refused ? entry.since : now;
    entry.verb = verb;
    entry.has_been_refused = true;
    entry.message = result.error().message;
    entry.is_unauthorized = result.error().reason == Reason::kUnauthorized;
  } else if (!was_refused || (result && verb == entry.verb) ||
             (entry.need == Need::kBrake && entry.is_not_served)) {
    entry.since.reset();  // a list that succeeds says nothing of a watch that is refused
  }
}

bool Refusals::IsRefused(const Entry& entry, base::TimePoint now) {
  return entry.since && !(entry.verb == Verb::kWatch && entry.watching &&
                          now - *entry.watching >= kWatchIsPermitted);
}

std::string_view Refusals::ToString(Verb verb) { return verb == Verb::kList ? "list" : "watch"; }

bool Refusals::IsRefusedForGood(const Entry& entry, base::TimePoint now) {
  return IsRefused(entry, now) && (entry.need == Need::kBrake || now - *entry.since >= kForGood);
}

std::string Refusals::Sentence(const Entry& entry) {
  return (entry.is_unauthorized ? "cannot " : "may not ") + std::string(ToString(entry.verb)) +
         " " + entry.resource +
         (entry.namespace_.empty() ? std::string() : " in namespace " + entry.namespace_) +
         (entry.is_unauthorized ? ", as the API server does not accept the operator's credentials: "
                                : ": ") +
         entry.message;
}

std::optional<std::string> Refusals::Problem() const {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  const Entry* part = nullptr;
  bool some_work = false;
  const Entry* brake = nullptr;
  bool some_may_move = false;
  for (const auto& [id, entry] : entries_) {
    const bool refused = IsRefusedForGood(entry, now);
    if (entry.need == Need::kBrake) {
      if (refused && entry.namespace_.empty()) {
        return Sentence(entry);
      }
      brake = refused && brake == nullptr ? &entry : brake;
      some_may_move = some_may_move || (!refused && !entry.namespace_.empty());
    }
    if (refused && entry.need == Need::kNeeded) {
      return Sentence(entry);
    }
    if (entry.need == Need::kPart) {
      part = refused && part == nullptr ? &entry : part;
      some_work = some_work || (!refused && !entry.is_not_served);
    }
  }
  if (brake != nullptr && !some_may_move) {
    return Sentence(*brake);
  }
  return part == nullptr || some_work ? std::nullopt : std::optional(Sentence(*part));
}

std::optional<std::string> Refusals::MissingParts() const {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  std::string text;
  std::size_t more = 0;
  for (const auto& [id, entry] : entries_) {
    const bool counts = entry.need == Need::kPart || entry.need == Need::kBrake;
    if (!counts || !IsRefusedForGood(entry, now)) {
      continue;
    }
    if (text.empty()) {
      text = Sentence(entry);
    } else {
      ++more;
    }
  }
  if (text.empty()) {
    return std::nullopt;
  }
  return more == 0 ? text : text + "; and " + std::to_string(more) + " more";
}

void Refusals::Show() const {
  std::map<std::pair<std::string, Verb>, bool> refused;
  std::map<std::pair<std::string, std::string>, bool> unavailable;
  const base::TimePoint now = clock_.Now();
  {
    const base::MutexLock lock(mu_);
    for (const auto& [id, entry] : entries_) {
      for (const Verb verb : {Verb::kList, Verb::kWatch}) {
        bool& any = refused[{entry.resource, verb}];
        any = any || (IsRefused(entry, now) && entry.verb == verb);
      }
      // When there are many namespaces, only those are logged that have something to report.
      if (entry.has_been_refused || (entry.need == Need::kPart && entry.namespace_.empty())) {
        bool& any = unavailable[{entry.resource, entry.namespace_}];
        any = any || IsRefused(entry, now);
      }
    }
  }
  for (const auto& [series, is_refused] : refused) {
    registry_
        ->Gauge("kubexx_reloader_refused",
                "1 while the API server does not permit a list or watch that nothing replaces.",
                {{"resource", series.first}, {"verb", std::string(ToString(series.second))}})
        .Set(is_refused ? 1 : 0);
  }
  for (const auto& [series, is_refused] : unavailable) {
    registry_
        ->Gauge("kubexx_reloader_unavailable",
                "1 while the objects of a namespace, or of all, may not be read.",
                {{"resource", series.first}, {"watched_namespace", series.second}})
        .Set(is_refused ? 1 : 0);
  }
}

}  // namespace kubexx::reloader
