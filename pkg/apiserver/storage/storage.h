/// @file
/// The interface of the store that holds the API server's objects: a versioned key-value store with
/// list and watch.
///
/// The contract is the same for every implementation (kubexx/apiserver/storage/memory.h and
/// kubexx/apiserver/storage/etcd3/etcd3.h); the conformance suite in testing/ checks it:
/// - The whole store has one counter of revisions. Every successful write takes a new, higher one.
/// - The store is linearizable: a call that starts after a write was acknowledged sees that write.
/// - The store has a history: callers can list the state at every revision back to the last
///   compaction, and watch from there. The store refuses older revisions with kExpired (410).
/// - A watch gives every later event of its prefix once, in the order of revisions.
/// - Keys are paths such as "/registry/pods/default/web"; a prefix ends in "/". Values are bytes
///   that the store does not interpret. The layer above encodes objects, checks names and writes,
///   and sets resourceVersions (as kube-apiserver's registry on storage.Interface).
///
/// All calls block, are thread-safe, and end with kCancelled soon after `stop` is requested. A
/// cancelled or timed-out write may or may not have happened.
#ifndef KUBEXX_APISERVER_STORAGE_STORAGE_H_
#define KUBEXX_APISERVER_STORAGE_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::apiserver::storage {

/// A revision of the store. It is above 0 once something was written. The API calls it
/// resourceVersion.
using Revision = std::int64_t;

/// Immutable bytes, shared by everyone who reads them. A store returns null only in the `kv` of a
/// delete event, in the KeyValue of a key that does not exist, and in a list with `keys_only`.
using Bytes = std::shared_ptr<const std::string>;

/// One key at one revision. `mod_revision` 0 stands for a key that does not exist.
struct KeyValue {
  std::string key{};
  Bytes value{};
  Revision create_revision = 0;
  Revision mod_revision = 0;
};

/// One change. Immutable and shared among watchers.
struct Event {
  enum class Type : std::uint8_t {
    kPut,      ///< created when `kv.create_revision == kv.mod_revision`, else updated
    kDelete,   ///< `kv` has the key, no value, and the revision of the deletion as mod_revision
    kProgress  ///< nothing changed; the watcher has received all events up to `kv.mod_revision`
  };
  Type type = Type::kPut;
  /// Another event of the same revision may follow, because another client of the store wrote
  /// several keys in one transaction.
  bool more = false;
  KeyValue kv{};
  /// The key before the change; its mod_revision is 0 when it did not exist. Unset in a kProgress
  /// event.
  KeyValue prev{};
};

/// The result of a successful deletion.
struct Deleted {
  KeyValue last{};        ///< the key before the deletion
  Revision revision = 0;  ///< of the deletion
};

/// The result of a compare-and-swap.
struct Swap {
  bool done = false;
  /// The key now: when `done`, with the new value; otherwise the version that differed from the
  /// expected one (mod_revision 0: the key does not exist).
  KeyValue current{};
};

/// Which part of a list GetList returns.
struct ListOptions {
  std::size_t limit = 0;  ///< items at most; 0 for all
  /// The list begins after this key, which is `ListResult::last_key` of the part before. Set
  /// `revision` to that of the part before, too; otherwise the parts are not one consistent list.
  std::string continue_after{};
  Revision revision = 0;   ///< the state at this revision; 0 for the latest
  bool keys_only = false;  ///< the store does not read the values; those of the items are null
};

/// The result of a list, besides its items.
struct ListResult {
  Revision revision = 0;       ///< the state that was listed
  bool more = false;           ///< the limit was reached and there are more items
  std::int64_t remaining = 0;  ///< items after the last one given, when `more`
  std::string last_key{};      ///< key of the last item of this part; empty when there was none
};

/// How to watch.
struct WatchOptions {
  /// The watch gives the events after this revision; with 0, those that happen from now on. When
  /// the revision lies in the future, the watch waits for it.
  Revision from_revision = 0;
  /// The caller knows that the store has given out `from_revision`. The watch ends with kExpired
  /// when the store has not reached that revision, as after somebody restored or emptied it.
  /// Without this flag the watch would continue in a different history.
  bool was_given_out = false;
  /// The watch gives a kProgress event after this long without an event. With zero it gives only
  /// those that RequestProgress asks for.
  base::Duration progress_interval{0};
  /// The store ends a watch with kTooManyRequests when it had caught up and then falls this many
  /// revisions behind. The watcher may watch again from the last revision it saw. The etcd3 store
  /// ignores this: there the flow control of the stream slows the sender down.
  std::size_t max_behind = 100000;
};

/// Whether a store can read and write at present. An error says why it cannot.
struct StorageHealth {
  apimachinery::Result<void> reads{};
  apimachinery::Result<void> writes{};
};

/// Whether the error means that the store cannot be reached at present, and not that something is
/// wrong with the request. The server logs such an outage once, when CheckHealth finds it; code
/// that follows the store need not log it again at each attempt.
bool IsOutage(const apimachinery::Status& status);

/// A store. The comment of this file says what all calls have in common.
class Storage {
 public:
  using ItemSink = base::FunctionRef<apimachinery::Result<void>(KeyValue&&)>;
  using EventSink = base::FunctionRef<apimachinery::Result<void>(std::shared_ptr<const Event>)>;

  virtual ~Storage() = default;

  /// Returns the key at `revision`, or its latest state with 0. Returns kNotFound when it does not
  /// exist, kExpired when the revision was compacted, and for a revision in the future a kTimeout
  /// for which apimachinery::IsTooLargeResourceVersion is true.
  virtual apimachinery::Result<KeyValue> Get(std::string_view key, Revision revision,
                                             std::stop_token stop) = 0;

  /// Writes a key that does not exist yet. Returns kAlreadyExists when it exists, and
  /// kRequestEntityTooLarge when the value is larger than the store accepts.
  virtual apimachinery::Result<KeyValue> Create(std::string_view key, std::string value,
                                                std::stop_token stop) = 0;

  /// Writes `value` if the key's mod_revision is `expected` (> 0). When it is not, the call
  /// succeeds and `Swap::done` is false. Most callers want GuaranteedUpdate below.
  virtual apimachinery::Result<Swap> CompareAndSwap(std::string_view key, Revision expected,
                                                    std::string value, std::stop_token stop) = 0;

  /// Deletes the key if its mod_revision is `expected`; with 0, whatever it is. Returns kNotFound
  /// when the key does not exist, and kConflict when its mod_revision is another one.
  virtual apimachinery::Result<Deleted> Delete(std::string_view key, Revision expected,
                                               std::stop_token stop) = 0;

  /// Hands the items below `prefix` to `sink` in the order of their keys, on the calling thread.
  /// When `sink` returns an error, the call ends and returns it. For `ListOptions::revision` it
  /// returns the same errors as Get.
  virtual apimachinery::Result<ListResult> GetList(std::string_view prefix,
                                                   const ListOptions& options, ItemSink sink,
                                                   std::stop_token stop) = 0;

  /// Returns how many keys are below `prefix` now.
  virtual apimachinery::Result<std::int64_t> Count(std::string_view prefix,
                                                   std::stop_token stop) = 0;

  /// Returns the revision of the last acknowledged write.
  virtual apimachinery::Result<Revision> CurrentRevision(std::stop_token stop) = 0;

  /// Hands the events of the keys below `prefix` to `sink` in order, on the calling thread. It ends
  /// when `stop` is requested (kCancelled), when `sink` returns an error (which it returns), or
  /// with an error of the store: kExpired when `from_revision` was compacted, kTooManyRequests as
  /// WatchOptions says, kUnavailable when the connection to the store broke. Then the caller may
  /// watch again from the last revision seen, including that of a kProgress event. A slow sink does
  /// not make the store use more memory than its limits allow.
  virtual apimachinery::Result<void> Watch(std::string_view prefix, const WatchOptions& options,
                                           EventSink sink, std::stop_token stop) = 0;

  /// Makes every open Watch of `prefix` (of all prefixes when it is empty) give a kProgress event
  /// soon, after the events that it still has to give. The revision of that event is at least the
  /// one that CurrentRevision would have returned at this call. Does not wait.
  virtual void RequestProgress(std::string_view prefix) = 0;

  /// Drops the history before `revision`; `revision` itself stays readable. Returns kExpired when
  /// it was compacted before, and kBadRequest when it is in the future. Implementations also
  /// compact by themselves; see their options.
  virtual apimachinery::Result<void> Compact(Revision revision, std::stop_token stop) = 0;

  /// Whether the store answers reads and accepts writes, as far as it can tell without writing.
  /// Takes about `timeout` at most. The default implementation calls CurrentRevision, however long
  /// that takes.
  virtual StorageHealth CheckHealth(base::Duration timeout, std::stop_token stop);
};

/// Settings of one GuaranteedUpdate.
struct UpdateOptions {
  /// The state of the key that the caller has in a cache. It is tried first, without reading the
  /// store. When `update` fails on it, or it is outdated, the key is read and `update` called
  /// again.
  std::optional<KeyValue> origin{};
  /// For a key that does not exist, call `update` with mod_revision 0 and create the key, instead
  /// of returning kNotFound.
  bool create_if_missing = false;
};

/// Makes the new value from the current one, or returns std::nullopt when nothing has to change.
/// May be called several times.
using UpdateFunction =
    base::FunctionRef<apimachinery::Result<std::optional<std::string>>(const KeyValue& current)>;

/// Reads the key, calls `update` and writes the result, and repeats this when another writer has
/// changed the key meanwhile. Returns the key as it is then. An error that `update` returns for the
/// current value ends the call. Semantics: kube-apiserver's GuaranteedUpdate
/// (`apiserver/pkg/storage`). Blocking, thread-safe.
apimachinery::Result<KeyValue> GuaranteedUpdate(Storage& storage, std::string_view key,
                                                UpdateFunction update, UpdateOptions options,
                                                std::stop_token stop);

}  // namespace kubexx::apiserver::storage

#endif  // KUBEXX_APISERVER_STORAGE_STORAGE_H_
