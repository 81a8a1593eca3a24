#include "kubexx/reloader/ha/member_view.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace kubexx::reloader {
namespace {

// The Lease of a dead member is removed after this many times the expiry.
constexpr int kAbandonedAfter = 10;

/// Whether the member has this number of shards, as far as its Lease tells. A member that does not
/// tell has several shards, because with one shard there are no members.
bool Agrees(const Member& member, int shards) {
  return member.shards == shards || (member.shards == 0 && shards > 1);
}

}  // namespace

void MemberView::Saw(const std::vector<Member>& members, base::TimePoint now) {
  const base::Duration unseen =
      last_ ? std::max(now - *last_ - expiry_ / 2, base::Duration(0)) : base::Duration(0);
  last_ = now;
  for (auto& [name, entry] : entries_) {
    entry.since += unseen;
  }
  std::set<std::string> present;
  for (const Member& member : members) {
    present.insert(member.name);
    const auto [at, is_new] =
        entries_.try_emplace(member.name, Entry{.member = member, .since = now});
    Entry& entry = at->second;
    if (!is_new && entry.member.version != member.version) {
      entry.since = now;
      entry.is_renewed = true;
    }
    entry.member = member;
  }
  std::erase_if(entries_, [&](const auto& entry) { return !present.contains(entry.first); });
}

bool MemberView::IsLive(const Entry& entry, base::TimePoint now) const {
  return (entry.is_renewed || !entry.member.is_abandoned) && now - entry.since < expiry_;
}

std::vector<std::string> MemberView::Live(base::TimePoint now, std::optional<int> shards) const {
  std::vector<std::string> live;
  for (const auto& [name, entry] : entries_) {
    if (IsLive(entry, now) && (!shards || Agrees(entry.member, *shards))) {
      live.push_back(name);
    }
  }
  return live;
}

std::optional<Member> MemberView::Elder(base::TimePoint now, int shards) const {
  const Member* first = nullptr;
  const auto rank = [shards](const Member& member) {
    return std::pair(member.created, Agrees(member, shards) ? shards : member.shards);
  };
  for (const auto& [name, entry] : entries_) {
    if (IsLive(entry, now) && (first == nullptr || rank(entry.member) < rank(*first))) {
      first = &entry.member;
    }
  }
  return first == nullptr || Agrees(*first, shards) ? std::nullopt : std::optional(*first);
}

std::vector<std::string> MemberView::Abandoned(base::TimePoint now) const {
  std::vector<std::string> abandoned;
  for (const auto& [name, entry] : entries_) {
    if (now - entry.since >= kAbandonedAfter * expiry_) {
      abandoned.push_back(name);
    }
  }
  return abandoned;
}

std::string TakerOf(int shard, const std::vector<std::string>& members) {
  return members.empty() ? std::string()
                         : members[static_cast<std::size_t>(shard) % members.size()];
}

}  // namespace kubexx::reloader
