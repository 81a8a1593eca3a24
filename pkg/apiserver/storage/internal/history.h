/// @file
/// The state of the memory store and how it came about: every key with its versions back to the
/// compaction, and the same versions in the order of their revisions.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_HISTORY_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/storage/internal/value.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver::storage::internal {

/// A key at one revision, by handles that stay good whatever happens to the history. `mod` 0: no
/// such key. A null value: a deletion.
struct Item {
  std::shared_ptr<const std::string> key{};
  BlobRef value{};
  Revision create = 0;
  Revision mod = 0;
};

/// The KeyValue of an item; see ValueOf.
apimachinery::Result<KeyValue> ToKeyValue(const Item& item);

/// One revision: what the key became, and what it was.
struct Change {
  Item now{};
  Item before{};
};

/// The event of a change; see ValueOf.
apimachinery::Result<std::shared_ptr<const Event>> ToEvent(const Change& change);

/// Part of the keys below a prefix at one revision.
struct Range {
  std::vector<Item> items{};
  std::int64_t remaining = 0;  ///< behind the last of `items`
};

/// Not thread-safe: its owner's lock guards it, also from const calls that run beside others.
/// Every revision since the compaction is one change.
class History {
 public:
  History() = default;
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  Revision current() const { return current_; }
  /// Versions before this revision are gone, or going.
  Revision compacted() const { return compacted_; }
  std::size_t keys() const { return live_keys_; }
  std::size_t revisions() const { return log_.size(); }
  std::size_t value_bytes() const { return value_bytes_; }
  /// What the live keys and values take uncompressed.
  std::size_t live_bytes() const { return live_bytes_; }

  /// The key at `revision`; mod 0 when it did not exist then.
  Item Find(std::string_view key, Revision revision) const;

  /// The next revision: `key` becomes `value`, or is deleted when that is null (it must exist).
  /// Returns the new version.
  Item Write(std::string_view key, BlobRef value, base::TimePoint now);

  /// Takes back every revision after `kept`, which is not before the compaction: the next Write has
  /// the number `kept` + 1 again.
  void Undo(Revision kept);

  /// Puts back what was before `base`, for loading: in any order, before any Write.
  void Restore(std::string_view key, BlobRef value, Revision create, Revision mod);
  /// The revision that the restored keys stand for.
  void SetBase(Revision base);

  /// Up to `limit` keys (0: all) below `prefix` and after `after`, at `revision`.
  Range List(std::string_view prefix, std::string_view after, Revision revision,
             std::size_t limit) const;

  /// How many keys are below `prefix` at `revision`.
  std::int64_t Count(std::string_view prefix, Revision revision) const;

  /// What happened at `revision`, which is > first() - 1 and <= current().
  Change ChangeAt(Revision revision) const;
  const std::string& KeyAt(Revision revision) const;
  /// A place for the event of `revision`, shared by its watchers.
  std::shared_ptr<const Event>& EventAt(Revision revision);
  /// The oldest revision that ChangeAt knows; current() + 1 when there is none.
  Revision first() const { return current_ - static_cast<Revision>(log_.size()) + 1; }

  /// Holds the value of `key` at `mod` as `packed` from now on, when that version is still there.
  void Repack(std::string_view key, Revision mod, const BlobRef& packed);

  /// Moves the compaction up to `revision` (<= current()); Trim does the work.
  void Compact(Revision revision);
  /// Moves it as far as the limits ask for: at most `keep` changes and none from before `oldest`,
  /// but not beyond `limit`.
  void CompactOld(std::size_t keep, base::TimePoint oldest, Revision limit);
  /// Frees at most `steps` revisions that are before the compaction. True when there are more.
  bool Trim(std::size_t steps);

 private:
  struct Version {
    std::shared_ptr<const std::string> key{};
    BlobRef value{};
    std::unique_ptr<Version> previous{};
    Revision create = 0;
    Revision mod = 0;
  };
  struct Entry {
    Version* version = nullptr;  // owned by the key's chain for as long as the entry is there
    base::TimePoint time{};
    std::shared_ptr<const Event> event{};
  };

  static Item ItemOf(const Version* version);
  static const Version* LiveAt(const Version* newest, Revision revision);
  Version* VersionAt(std::string_view key, Revision mod);
  Entry& EntryAt(Revision revision);
  const Entry& EntryAt(Revision revision) const;
  void DropOlder(Version& version);
  void AddLive(const Version& version);
  void SubtractLive(const Version& version);

  Revision current_ = 0;
  Revision compacted_ = 0;
  std::size_t live_keys_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t value_bytes_ = 0;
  // The newest version of each key owns the older ones. Views into the version's own key.
  std::map<std::string_view, std::unique_ptr<Version>> keys_;
  std::deque<Entry> log_;  // the last log_.size() revisions
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_HISTORY_H_
