#include "kubexx/reloader/on_demand_lists.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

namespace kubexx::reloader {
namespace {

constexpr base::Duration kLook = std::chrono::milliseconds(2);
/// A store that has not taken a list by then is stuck; its changes still come as events.
constexpr base::Duration kPatience = std::chrono::seconds(10);

std::uint64_t Number(std::string_view version) {
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

}  // namespace

OnDemandLists::OnDemandLists(std::vector<Member> members, base::Clock& clock, Pass pass)
    : members_(std::move(members)), clock_(clock), pass_(std::move(pass)) {}

void OnDemandLists::Start() {
  if (!members_.empty()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
}

void OnDemandLists::Stop() { thread_ = {}; }

bool OnDemandLists::IsIn(const Member& member, std::string_view namespace_) {
  return (member.namespace_.empty() || member.namespace_ == namespace_) &&
         member.source->IsOnDemand();
}

bool OnDemandLists::Covers(WorkloadKind kind, std::string_view namespace_) const {
  return std::ranges::any_of(members_, [&](const Member& member) {
    return member.source->kind() == kind && IsIn(member, namespace_);
  });
}

bool OnDemandLists::Changed(const SourceId& source, const std::optional<Digest>& before) {
  if (std::ranges::none_of(
          members_, [&](const Member& member) { return IsIn(member, source.key.namespace_); })) {
    return false;
  }
  const base::MutexLock lock(mu_);
  const auto [entry, is_new] = waiting_.try_emplace(source, before);
  if (!is_new && !entry->second) {
    entry->second = before;
  }
  changed_.notify_all();
  return true;
}

OnDemandLists::Changes OnDemandLists::Await(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (waiting_.empty() && !stop.stop_requested()) {
    clock_.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  listed_for_ = std::exchange(waiting_, {});
  return listed_for_;
}

std::vector<std::pair<SourceId, Digest>> OnDemandLists::Before(std::string_view namespace_) const {
  std::vector<std::pair<SourceId, Digest>> result;
  const base::MutexLock lock(mu_);
  for (const Changes* changes : {&listed_for_, &waiting_}) {  // the older first
    for (const auto& [source, before] : *changes) {
      if (before && source.key.namespace_ == namespace_) {
        result.emplace_back(source, *before);
      }
    }
  }
  return result;
}

void OnDemandLists::Run(const std::stop_token& stop) {
  while (true) {
    const Changes changes = Await(stop);
    if (stop.stop_requested()) {
      return;
    }
    ListAll(changes, stop);
    if (stop.stop_requested()) {
      return;
    }
    for (const auto& [source, before] : changes) {
      pass_(source, before);
    }
    const base::MutexLock lock(mu_);
    listed_for_.clear();
  }
}

void OnDemandLists::ListAll(const Changes& changes, const std::stop_token& stop) {
  std::vector<std::pair<const Member*, std::uint64_t>> asked;
  for (const Member& member : members_) {
    if (std::ranges::any_of(changes, [&](const auto& change) {
          return IsIn(member, change.first.key.namespace_);
        })) {
      asked.emplace_back(&member, member.source->AskForList());
    }
  }
  for (const auto& [member, number] : asked) {
    if (const auto version = member->source->AwaitList(number, stop)) {
      AwaitStored(*member, *version, stop);
    }
  }
}

void OnDemandLists::AwaitStored(const Member& member, const std::string& version,
                                const std::stop_token& stop) {
  const std::uint64_t wanted = Number(version);
  const base::TimePoint deadline = clock_.Now() + kPatience;
  while (Number(member.informer->LastSyncResourceVersion()) < wanted && clock_.Now() < deadline) {
    if (!clock_.SleepFor(kLook, stop)) {
      return;
    }
  }
}

}  // namespace kubexx::reloader
