/// @file
/// The state of the memory store and its history: every key with its versions back to the
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

/// A key at one revision. Its pointers stay valid, whatever happens to the history. `mod` is 0 when
/// the key does not exist, and `value` is null for a deletion.
struct Item {
  std::shared_ptr<const std::string> key{};
  BlobRef value{};
  Revision create = 0;
  Revision mod = 0;
};

/// The KeyValue of an item. Returns the errors of ValueOf.
apimachinery::Result<KeyValue> ToKeyValue(const Item& item);

/// The change of one revision: the key after it and before it.
struct Change {
  Item now{};
  Item before{};
};

/// The event of a change. Returns the errors of ValueOf.
apimachinery::Result<std::shared_ptr<const Event>> ToEvent(const Change& change);

/// Part of the keys below a prefix at one revision.
struct Range {
  std::vector<Item> items{};
  std::int64_t remaining = 0;  ///< how many keys follow the last of `items`
};

/// The history. Every revision since the compaction is one change. Not thread-safe: the owner's
/// mutex must guard all calls, also the const ones.
class History {
 public:
  History() = default;
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  Revision current() const { return current_; }
  /// Versions before this revision are dropped, or Trim will drop them.
  Revision compacted() const { return compacted_; }
  std::size_t keys() const { return live_keys_; }
  std::size_t revisions() const { return log_.size(); }
  std::size_t value_bytes() const { return value_bytes_; }
  /// The size of the values that only the past needs, as far back as the compaction, in the form in
  /// which memory holds them.
  std::size_t past_bytes() const { return past_bytes_; }
  /// The uncompressed size of the live keys and values.
  std::size_t live_bytes() const { return live_bytes_; }

  /// The key at `revision`; `Item::mod` is 0 when it did not exist then.
  Item Find(std::string_view key, Revision revision) const;

  /// Adds the next revision: sets `key` to `value`, or deletes it when `value` is null (the key
  /// must exist then). Returns the new version.
  Item Write(std::string_view key, BlobRef value, base::TimePoint now);

  /// Takes back every revision after `kept`, so that the next Write gets the revision `kept` + 1
  /// again. `kept` must not be before the compaction.
  void Undo(Revision kept);

  /// For loading a file: adds a key of the state at the base. May be called in any order, before
  /// any Write.
  void Restore(std::string_view key, BlobRef value, Revision create, Revision mod);
  /// Sets the revision at which the restored keys are the state.
  void SetBase(Revision base);

  /// Up to `limit` keys (0: all) below `prefix` and after `after`, at `revision`.
  Range List(std::string_view prefix, std::string_view after, Revision revision,
             std::size_t limit) const;

  /// How many keys are below `prefix` at `revision`.
  std::int64_t Count(std::string_view prefix, Revision revision) const;

  /// The change at `revision`, which must be from first() to current().
  Change ChangeAt(Revision revision) const;
  const std::string& KeyAt(Revision revision) const;
  /// A slot that holds the event of `revision`, so that its watchers can share it.
  std::shared_ptr<const Event>& EventAt(Revision revision);
  /// The oldest revision that ChangeAt knows; current() + 1 when there is none.
  Revision first() const { return current_ - static_cast<Revision>(log_.size()) + 1; }

  /// Replaces the value of `key` at `mod` with its compressed form `packed`, if the history still
  /// has that version.
  void Repack(std::string_view key, Revision mod, const BlobRef& packed);

  /// Moves the compaction up to `revision` (<= current()). Trim frees the older versions.
  void Compact(Revision revision);
  /// Moves the compaction so far that at most `keep` changes stay and none from before `oldest`,
  /// but not beyond the revision `limit`.
  void CompactOld(std::size_t keep, base::TimePoint oldest, Revision limit);
  /// Moves the compaction so far that past_bytes() is at most `bytes`, but not beyond `limit`.
  void CompactLarge(std::size_t bytes, Revision limit);
  /// Frees at most `steps` revisions that are before the compaction. Returns true when there are
  /// more to free.
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
    Version* version = nullptr;  // the key's chain owns it for as long as this entry exists
    base::TimePoint time{};
    std::shared_ptr<const Event> event{};
  };

  static Item ItemOf(const Version* version);
  static const Version* LiveAt(const Version* newest, Revision revision);
  Entry& EntryAt(Revision revision);
  const Entry& EntryAt(Revision revision) const;
  static std::size_t BytesOf(const Version* version);
  void DropOlder(Version& version);
  void AddLive(const Version& version);
  void SubtractLive(const Version& version);

  Revision current_ = 0;
  Revision compacted_ = 0;
  std::size_t live_keys_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t value_bytes_ = 0;
  // Of the versions before those of the entries that are after the compaction.
  std::size_t past_bytes_ = 0;
  // The newest version of each key owns the older ones. The views are into the version's own key.
  std::map<std::string_view, std::unique_ptr<Version>> keys_;
  std::deque<Entry> log_;  // the last log_.size() revisions
};

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_HISTORY_H_
