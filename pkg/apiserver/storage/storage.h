/// @file
/// What the API server keeps its objects in: a versioned key-value store with list and watch.
///
/// The contract, the same for every implementation (kubexx/apiserver/storage/memory.h and
/// kubexx/apiserver/storage/etcd3/etcd3.h); the conformance suite in testing/ holds them to it:
/// - One counter of revisions for the whole store. Every successful write takes a new, higher one.
/// - Linearizable: a call that starts after a write was acknowledged sees that write.
/// - History: the state at every revision back to the last compaction can be listed, and watched
///   from. Older ones are refused with kExpired (410).
/// - A watch gives every later event of its prefix once, in the order of revisions.
/// - Keys are paths such as "/registry/pods/default/web"; a prefix ends in "/". Values are bytes
///   that the store does not look into. Encoding, names, resourceVersions in objects and the
///   checks of a write belong to the layer above (as kube-apiserver's registry on
///   storage.Interface).
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

/// A revision of the store, > 0 once something was written; what the API calls resourceVersion.
using Revision = std::int64_t;

/// Immutable bytes, shared by everyone who reads them. Never null in what a store returns, but for
/// the `kv` of a delete event, a KeyValue of no object, and a list of keys only.
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
    kProgress  ///< nothing changed; all events up to `kv.mod_revision` have been given
  };
  Type type = Type::kPut;
  /// Another event of the same revision follows, or may: a transaction of others wrote several
  /// keys.
  bool more = false;
  KeyValue kv{};
  /// The key before the change; mod_revision 0 when it did not exist. Absent from kProgress.
  KeyValue prev{};
};

/// What a successful deletion was.
struct Deleted {
  KeyValue last{};        ///< as it was before
  Revision revision = 0;  ///< of the deletion
};

/// What a compare-and-swap came to.
struct Swap {
  bool done = false;
  /// The key now: the new value when `done`, else what stood in the way (mod_revision 0: no key).
  KeyValue current{};
};

/// Which part of a list to give.
struct ListOptions {
  std::size_t limit = 0;  ///< items at most; 0 for all
  /// Only keys after this one: `ListResult::last_key` of the part before. Give the revision of that
  /// part too, for one consistent list.
  std::string continue_after{};
  Revision revision = 0;   ///< the state at this revision; 0 for the latest
  bool keys_only = false;  ///< the values of the items are null, and are not read
};

/// What follows the items of a list.
struct ListResult {
  Revision revision = 0;       ///< the state that was listed
  bool more = false;           ///< the limit was reached and there are more items
  std::int64_t remaining = 0;  ///< items after the last one given, when `more`
  std::string last_key{};      ///< key of the last item given; empty when there was none
};

/// How to watch.
struct WatchOptions {
  /// Events after this revision; 0 for what happens from now on. One in the future is waited for.
  Revision from_revision = 0;
  /// The store has given out `from_revision`: kExpired when it has not come so far, as after it was
  /// restored or emptied. Without this the watch would go on in another history from there.
  bool was_given_out = false;
  /// A kProgress event after this long without an event; zero for none but those of
  /// RequestProgress.
  base::Duration progress_interval{0};
  /// A watcher that had caught up and falls this many revisions behind is ended with
  /// kTooManyRequests (etcd3: not, there the stream's flow control holds it back). It may watch
  /// again from the last revision it saw.
  std::size_t max_behind = 100000;
};

/// What a store can do at present; errors say why not.
struct StorageHealth {
  apimachinery::Result<void> reads{};
  apimachinery::Result<void> writes{};
};

/// Whether an error says that the store is not there at present, and not what is wrong with a
/// request. The store itself logs that, once, when CheckHealth finds it; who follows the store need
/// not, each time it tries.
bool IsOutage(const apimachinery::Status& status);

/// The store. See the file comment for what all calls have in common.
class Storage {
 public:
  using ItemSink = base::FunctionRef<apimachinery::Result<void>(KeyValue&&)>;
  using EventSink = base::FunctionRef<apimachinery::Result<void>(std::shared_ptr<const Event>)>;

  virtual ~Storage() = default;

  /// The key at `revision`, 0 for the latest. kNotFound; kExpired when compacted; a revision in the
  /// future gives kTimeout for which apimachinery::IsTooLargeResourceVersion is true.
  virtual apimachinery::Result<KeyValue> Get(std::string_view key, Revision revision,
                                             std::stop_token stop) = 0;

  /// Writes a key that does not exist yet, else kAlreadyExists. kRequestEntityTooLarge when the
  /// value is larger than the store takes.
  virtual apimachinery::Result<KeyValue> Create(std::string_view key, std::string value,
                                                std::stop_token stop) = 0;

  /// Writes `value` when the key's mod_revision is `expected` (> 0). That it is not is no error:
  /// see Swap. Most callers want GuaranteedUpdate below.
  virtual apimachinery::Result<Swap> CompareAndSwap(std::string_view key, Revision expected,
                                                    std::string value, std::stop_token stop) = 0;

  /// Deletes the key when its mod_revision is `expected`; 0 for any. kNotFound, kConflict.
  virtual apimachinery::Result<Deleted> Delete(std::string_view key, Revision expected,
                                               std::stop_token stop) = 0;

  /// Hands the items below `prefix` to `sink` in the order of their keys, on the calling thread. An
  /// error of `sink` ends the call and is returned. Errors of `revision` as Get.
  virtual apimachinery::Result<ListResult> GetList(std::string_view prefix,
                                                   const ListOptions& options, ItemSink sink,
                                                   std::stop_token stop) = 0;

  /// How many keys are below `prefix` now.
  virtual apimachinery::Result<std::int64_t> Count(std::string_view prefix,
                                                   std::stop_token stop) = 0;

  /// The revision of the last acknowledged write.
  virtual apimachinery::Result<Revision> CurrentRevision(std::stop_token stop) = 0;

  /// Gives the events of `prefix` to `sink` in order, on the calling thread, until `stop`
  /// (kCancelled), an error of `sink` (returned), or an error of the store: kExpired when
  /// `from_revision` was compacted, kTooManyRequests see WatchOptions, kUnavailable when the
  /// connection to the store broke. Watch again from the last revision seen, progress included. A
  /// slow sink costs no memory beyond the bounds of the store.
  virtual apimachinery::Result<void> Watch(std::string_view prefix, const WatchOptions& options,
                                           EventSink sink, std::stop_token stop) = 0;

  /// Every open Watch of `prefix`, of any when that is empty, gets a kProgress event soon, of a
  /// revision not below what CurrentRevision would have returned at this call; one that has events
  /// to give gives them first. Does not wait.
  virtual void RequestProgress(std::string_view prefix) = 0;

  /// Forgets the history before `revision` (which itself stays readable). kExpired when that was
  /// done before, kBadRequest when it is in the future. Implementations also compact on their own,
  /// see their options.
  virtual apimachinery::Result<void> Compact(Revision revision, std::stop_token stop) = 0;

  /// Whether the store answers and takes writes, as far as can be told without writing; about
  /// `timeout` at most. By default what CurrentRevision says, however long it takes.
  virtual StorageHealth CheckHealth(base::Duration timeout, std::stop_token stop);
};

/// How GuaranteedUpdate goes about it.
struct UpdateOptions {
  /// What the caller believes the key to be, from a cache: tried first, without reading the store.
  /// When `update` fails on it, or it is out of date, the key is read and `update` called again.
  std::optional<KeyValue> origin{};
  /// Call `update` with mod_revision 0 for a key that does not exist and create it, instead of
  /// kNotFound.
  bool create_if_missing = false;
};

/// Makes the new value from the current one; nothing when there is nothing to change. May be called
/// several times.
using UpdateFunction =
    base::FunctionRef<apimachinery::Result<std::optional<std::string>>(const KeyValue& current)>;

/// Reads, calls `update` and writes until no other writer came in between; returns what the key is
/// then. An error of `update` on the current value ends it. As kube-apiserver's GuaranteedUpdate
/// (`apiserver/pkg/storage`). Blocking, thread-safe.
apimachinery::Result<KeyValue> GuaranteedUpdate(Storage& storage, std::string_view key,
                                                UpdateFunction update, UpdateOptions options,
                                                std::stop_token stop);

}  // namespace kubexx::apiserver::storage

#endif  // KUBEXX_APISERVER_STORAGE_STORAGE_H_
