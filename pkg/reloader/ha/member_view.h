/// @file
/// Judges which replicas are alive, and which shards each of them should take.
#ifndef KUBEXX_RELOADER_HA_MEMBER_VIEW_H_
#define KUBEXX_RELOADER_HA_MEMBER_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"

namespace kubexx::reloader {

/// A replica's sign of life, as it is stored.
struct Member {
  std::string name{};
  std::string version{};  ///< changes with every renewal
  /// Into how many shards it divides the namespaces; 0 when it does not tell, as those of earlier
  /// versions. Such a member is taken for one with the same number, if that is not 1.
  int shards = 0;
  /// When its entry was created, in seconds by the API server's clock.
  std::int64_t created = 0;
  /// It was renewed so long ago that it is dead, however wrong clocks are.
  bool is_abandoned = false;
  bool operator==(const Member&) const = default;
};

/// Judges which members are alive by when their signs of life were seen to change. It never
/// compares times that other replicas wrote, but for Member::is_abandoned. Pure.
class MemberView {
 public:
  /// A member whose version has not changed for `expiry` counts as dead.
  explicit MemberView(base::Duration expiry) : expiry_(expiry) {}

  /// Takes in all members that are stored at the time `now`. Of the time since the last call, what
  /// is more than half of the expiry counts for nobody as silence: this replica may not have been
  /// able to look.
  void Saw(const std::vector<Member>& members, base::TimePoint now);
  /// The names of all live members, sorted. With `shards`: of those that divide the namespaces into
  /// this number of shards, or do not tell.
  std::vector<std::string> Live(base::TimePoint now, std::optional<int> shards = {}) const;
  /// The live member for which those with `shards` have to wait: it has another number, and of all
  /// live members it was there first. std::nullopt: nobody has to wait.
  std::optional<Member> Elder(base::TimePoint now, int shards) const;
  /// The members that have been dead for so long that their signs of life can be removed.
  std::vector<std::string> Abandoned(base::TimePoint now) const;

 private:
  struct Entry {
    Member member{};
    base::TimePoint since{};
    bool is_renewed = false;  ///< its version was seen to change
  };
  bool IsLive(const Entry& entry, base::TimePoint now) const;

  base::Duration expiry_;
  std::optional<base::TimePoint> last_{};
  std::map<std::string, Entry> entries_;
};

/// The member that should take a shard; empty when there are no members. The numbers of shards of
/// any two members differ by at most one. `members` must be sorted. While replicas disagree about
/// the members, several of them or none may want a shard; its Lease decides then.
std::string TakerOf(int shard, const std::vector<std::string>& members);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_MEMBER_VIEW_H_
