#include "kubexx/reloader/watch/on_demand_lists.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kLook = std::chrono::milliseconds(2);
/// A list that has not come after this time may never come, and a store that has not taken one is
/// stuck. Nobody waits for these any longer; see Overdue.
constexpr base::Duration kPatience = std::chrono::seconds(10);
constexpr base::Duration kInterval = std::chrono::seconds(1);
/// An event that the watch has brought reaches the handlers in less than this time.
constexpr base::Duration kOnTheWay = std::chrono::seconds(10);
/// For more namespaces, one list of everything is less work.
constexpr std::size_t kMostParts = 4;

std::uint64_t Number(std::string_view version) {
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

}  // namespace

OnDemandLists::OnDemandLists(std::vector<Member> members, base::Clock& clock, Pass pass,
                             std::shared_ptr<base::Executor> executor)
    : members_(std::move(members)),
      clock_(clock),
      pass_(std::move(pass)),
      task_(std::move(executor), clock_,
            [this](const std::stop_token& stop) { return Step(stop); }) {}

std::vector<OnDemandLists::Member> OnDemandLists::MembersOf(
    const std::vector<InformerSet>& informers) {
  std::vector<Member> members;
  for (const InformerSet& set : informers) {
    for (const auto& [kind, all] : set.workload_list_watches) {
      for (const NamespacedWorkloads& listed : all) {
        members.push_back({listed.namespace_, listed.list_watch, set.workloads.at(kind)});
      }
    }
  }
  return members;
}

void OnDemandLists::Start() {
  if (!members_.empty()) {
    task_.Start();
  }
}

bool OnDemandLists::IsIn(const Member& member, std::string_view namespace_) {
  return (member.namespace_.empty() || member.namespace_ == namespace_) &&
         member.list_watch->IsOnDemand();
}

bool OnDemandLists::Covers(WorkloadKind kind, std::string_view namespace_) const {
  return std::ranges::any_of(members_, [&](const Member& member) {
    return member.list_watch->kind() == kind && IsIn(member, namespace_);
  });
}

OnDemandLists::Count OnDemandLists::CountIn(std::string_view namespace_) const {
  Count count;
  for (const Member& member : members_) {
    if (member.namespace_.empty() || member.namespace_ == namespace_) {
      const WorkloadListWatch::Hearing hearing = member.list_watch->hearing();
      count.on_demand += hearing == WorkloadListWatch::Hearing::kOnDemand ? 1 : 0;
      count.in_doubt += hearing == WorkloadListWatch::Hearing::kInDoubt ? 1 : 0;
    }
  }
  return count;
}

bool OnDemandLists::Changed(const SourceId& source, const std::optional<Digest>& before,
                            bool is_used, std::uint64_t version) {
  const Count count = CountIn(source.key.namespace_);
  const base::MutexLock lock(mu_);
  if (count.in_doubt > 0 && before) {
    doubtful_.try_emplace(source, Doubtful{.before = *before,
                                           .version = version,
                                           .is_used = is_used,
                                           .at = clock_.Now(),
                                           .members = count.on_demand});
    task_.Wake();
  }
  if (count.on_demand == 0) {
    return false;
  }
  AddLocked(source, before, is_used, version);
  return true;
}

void OnDemandLists::AddLocked(const SourceId& source, const std::optional<Digest>& before,
                              bool is_used, std::uint64_t version) {
  Waiting& waiting = waiting_[source];
  if (!waiting.before) {
    waiting.before = before;
  }
  waiting.is_used = waiting.is_used || is_used;
  waiting.version = std::max(waiting.version, version);
  if (waiting.is_used) {
    unreferenced_.Forget(source);
  }
  waiting.due = unreferenced_.DueOf(source, clock_.Now());
  task_.Wake();
}

void OnDemandLists::ResolveDoubtsLocked() {
  const base::TimePoint now = clock_.Now();
  std::map<std::string, Count> counts;
  for (auto each = doubtful_.begin(); each != doubtful_.end();) {
    auto& [source, change] = *each;
    const auto [counted, is_new] = counts.try_emplace(source.key.namespace_);
    if (is_new) {
      counted->second = CountIn(source.key.namespace_);
    }
    const Count& count = counted->second;
    if (count.on_demand > change.members) {
      change.members = count.on_demand;
      AddLocked(source, change.before, change.is_used, change.version);
    }
    const bool is_over = count.in_doubt == 0 && now - change.at >= kOnTheWay;
    each = is_over ? doubtful_.erase(each) : std::next(each);
  }
}

base::TimePoint OnDemandLists::NextDueLocked() const {
  base::TimePoint next = base::TimePoint::max();
  for (const auto& [source, waiting] : waiting_) {
    next = std::min(next, waiting.due);
  }
  return std::max(next, next_round_);
}

base::TimePoint OnDemandLists::NextLook() const {
  const base::MutexLock lock(mu_);
  base::TimePoint next = NextDueLocked();
  if (!doubtful_.empty() || !overdue_.empty()) {
    // There is no notification of a refusal, nor of a list that has come.
    next = std::min(next, clock_.Now() + kInterval);
  }
  return next;
}

OnDemandLists::Round OnDemandLists::TakeDue() {
  const base::MutexLock lock(mu_);
  ResolveDoubtsLocked();
  const base::TimePoint now = clock_.Now();
  Round round;
  if (NextDueLocked() > now) {
    return round;
  }
  next_round_ = now + kInterval;
  for (const auto& [source, waiting] : waiting_) {
    if (waiting.due <= now) {
      round.namespaces.emplace(source.key.namespace_, 0);
    }
  }
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const SourceId& source = each->first;
    const auto listed = round.namespaces.find(source.key.namespace_);
    if (listed == round.namespaces.end()) {
      ++each;
      continue;
    }
    listed->second = std::max(listed->second, each->second.version);
    if (!each->second.is_used) {
      unreferenced_.LookedInto(source, now);
    }
    round.changes[source] = each->second.before;
    each = waiting_.erase(each);
  }
  listed_for_ = round.changes;
  return round;
}

std::vector<std::pair<SourceId, Digest>> OnDemandLists::Before(std::string_view namespace_) const {
  std::vector<std::pair<SourceId, Digest>> result;
  const base::MutexLock lock(mu_);
  const auto add = [&](const SourceId& source, const std::optional<Digest>& before) {
    if (before && source.key.namespace_ == namespace_) {
      result.emplace_back(source, *before);
    }
  };
  for (const auto& [member, overdue] : overdue_) {  // the older one comes first
    for (const auto& [source, before] : overdue.changes) {
      add(source, before);
    }
  }
  for (const auto& [source, before] : listed_for_) {
    add(source, before);
  }
  for (const auto& [source, change] : doubtful_) {
    add(source, change.before);
  }
  for (const auto& [source, waiting] : waiting_) {
    add(source, waiting.before);
  }
  return result;
}

std::vector<std::pair<SourceId, Digest>> OnDemandLists::BeforeSince(std::string_view namespace_,
                                                                    std::uint64_t version) const {
  std::vector<std::pair<SourceId, Digest>> result;
  const base::MutexLock lock(mu_);
  for (const auto& [source, change] : doubtful_) {
    if (source.key.namespace_ == namespace_ && change.version > version) {
      result.emplace_back(source, change.before);
    }
  }
  return result;
}

base::TimePoint OnDemandLists::Step(const std::stop_token& stop) {
  const Round round = TakeDue();
  PassOverdue(stop);
  if (!round.changes.empty()) {
    const base::Executor::Waiting waiting;  // for answers, and for the stores, which are tasks
    Missing missing = List(round.namespaces, stop);
    if (stop.stop_requested()) {
      return base::TimePoint::max();
    }
    for (const auto& [source, before] : round.changes) {
      pass_(source, before);
    }
    NoteOverdue(std::move(missing), round.changes);
  }
  return NextLook();
}

void OnDemandLists::NoteOverdue(Missing&& missing, const Changes& changes) {
  const base::MutexLock lock(mu_);
  for (auto& [member, late] : missing) {
    Overdue& overdue = overdue_[member];
    overdue.number = std::max(overdue.number, late.number);
    std::erase_if(overdue.parts, [](const auto& part) { return part->load(); });
    std::ranges::move(late.parts, std::back_inserter(overdue.parts));
    for (const auto& [source, before] : changes) {
      std::optional<Digest>& first = overdue.changes[source];
      first = first ? first : before;
    }
  }
  listed_for_.clear();
}

bool OnDemandLists::AreStored(const Parts& parts) {
  return std::ranges::all_of(parts, [](const auto& part) { return part->load(); });
}

bool OnDemandLists::HasCome(const Member& member, const Overdue& overdue,
                            const std::stop_token& stop) {
  if (!AreStored(overdue.parts)) {
    return false;
  }
  if (overdue.number == 0) {
    return true;
  }
  if (const auto version = member.list_watch->AwaitList(overdue.number, stop, base::Duration(0))) {
    return Number(member.informer->LastSyncResourceVersion()) >= Number(*version);
  }
  const WorkloadListWatch::Hearing hearing = member.list_watch->hearing();
  return hearing == WorkloadListWatch::Hearing::kWatched ||
         hearing == WorkloadListWatch::Hearing::kNone;
}

bool OnDemandLists::HasOverdueParts(const Member& member) const {
  const base::MutexLock lock(mu_);
  const auto found = overdue_.find(&member);
  return found != overdue_.end() && !AreStored(found->second.parts);
}

void OnDemandLists::PassOverdue(const std::stop_token& stop) {
  Missing overdue;
  {
    const base::MutexLock lock(mu_);
    overdue = overdue_;
  }
  for (const auto& [member, late] : overdue) {
    if (stop.stop_requested() || !HasCome(*member, late, stop)) {
      continue;
    }
    for (const auto& [source, before] : late.changes) {
      if (member->namespace_.empty() || member->namespace_ == source.key.namespace_) {
        pass_(source, before);
      }
    }
    const base::MutexLock lock(mu_);
    overdue_.erase(member);
  }
}

std::optional<OnDemandLists::Parts> OnDemandLists::ListParts(const Member& member,
                                                             const Namespaces& namespaces,
                                                             const std::stop_token& stop) {
  if (namespaces.size() > kMostParts || HasOverdueParts(member)) {
    return std::nullopt;
  }
  Parts parts;
  for (const auto& [namespace_, version] : namespaces) {
    const auto take = [&](std::vector<cache::Object>&& objects) -> apimachinery::Result<void> {
      KX_ASSIGN_OR_RETURN(auto applied,
                          member.informer->ReplaceNamespace(namespace_, std::move(objects)));
      parts.push_back(std::move(applied));
      return {};
    };
    if (!member.list_watch->ListNamespace(
            namespace_, version == 0 ? std::string() : std::to_string(version), take, stop)) {
      return std::nullopt;
    }
  }
  if (AwaitStored([&] { return AreStored(parts); }, stop)) {
    parts.clear();
  }
  return parts;
}

OnDemandLists::Missing OnDemandLists::List(const Namespaces& namespaces,
                                           const std::stop_token& stop) {
  std::vector<std::pair<const Member*, std::uint64_t>> asked;
  Missing missing;
  for (const Member& member : members_) {
    const bool concerned = std::ranges::any_of(
        namespaces, [&](const auto& entry) { return IsIn(member, entry.first); });
    if (!concerned) {
      continue;
    }
    std::optional<Parts> late;
    if (member.namespace_.empty()) {
      late = ListParts(member, namespaces, stop);
    }
    if (!late) {
      asked.emplace_back(&member, member.list_watch->AskForList());
    } else if (!late->empty()) {
      missing[&member].parts = *std::move(late);
    }
  }
  // A kind that the server does not list now must not delay the changes of the other kinds.
  const base::TimePoint deadline = clock_.Now() + kPatience;
  for (const auto& [member, number] : asked) {
    const auto version = member->list_watch->AwaitList(number, stop, deadline - clock_.Now());
    const bool is_stored =
        version && AwaitStored(
                       [&, wanted = Number(*version)] {
                         return Number(member->informer->LastSyncResourceVersion()) >= wanted;
                       },
                       stop);
    if (!is_stored) {
      missing[member].number = number;
    }
  }
  return missing;
}

bool OnDemandLists::AwaitStored(base::FunctionRef<bool()> is_there, const std::stop_token& stop) {
  const base::TimePoint deadline = clock_.Now() + kPatience;
  bool there = is_there();
  while (!there && clock_.Now() < deadline && clock_.SleepFor(kLook, stop)) {
    there = is_there();
  }
  return there;
}

}  // namespace kubexx::reloader
