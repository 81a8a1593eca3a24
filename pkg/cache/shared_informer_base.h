/// @file
/// SharedInformerBase: the part of an informer that does not depend on the type of its objects.
#ifndef KUBEXX_CACHE_SHARED_INFORMER_BASE_H_
#define KUBEXX_CACHE_SHARED_INFORMER_BASE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/selection.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/handler_options.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/informer_options.h"
#include "kubexx/cache/informer_sources.h"

namespace kubexx::cache {

class InformerCore;
using apimachinery::Selection;

/// The untyped core. Use SharedInformer<T>.
///
/// Guarantees for handlers: Events of one object come in order. The store contains a change before
/// any handler gets it. After a gap (a relist) a handler gets the difference between the state that
/// it knew and the present state, so that it may miss intermediate states but never the last one. A
/// relist that finds an object unchanged causes no event for it. An object that was deleted and
/// created again during a gap appears as one update.
class SharedInformerBase {
 public:
  using RawEvent = cache::RawEvent;
  using RawHandler = std::function<void(const RawEvent&)>;

  SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher, InformerOptions options);
  /// An informer over several namespaces. Each has a reflector of its own, so that a namespace that
  /// the server refuses, or whose watch breaks, does not affect the others. The informer has synced
  /// when each namespace has synced or has been refused (401, 403, 404). The informer keeps trying
  /// a refused namespace, and its objects arrive as adds when the server allows reading it.
  SharedInformerBase(std::vector<NamespacedSource> sources, InformerOptions options);
  /// An informer of either kind, for callers that decide at run time.
  SharedInformerBase(InformerSources&& sources, InformerOptions&& options);
  /// Stops the informer. A handler of this informer must not destroy it, because the destructor
  /// would wait for that handler: the process then ends, with a line in the log that names the
  /// informer.
  virtual ~SharedInformerBase();
  SharedInformerBase(const SharedInformerBase&) = delete;
  SharedInformerBase& operator=(const SharedInformerBase&) = delete;

  /// Starts the reflectors' threads, which end with Stop or the destructor, and the threads of the
  /// executor (see InformerOptions), which end with the executor. Does nothing when the informer
  /// runs. When a stop has been requested, Start waits until what runs has ended. It would have to
  /// wait for a handler that calls it then, so it only logs an error in that case. Throws
  /// std::system_error when the system has not enough threads; the informer then does not run, and
  /// Start may be called again.
  void Start();
  /// Requests the stop and returns at once, like closing client-go's stop channel. Handler calls
  /// that are running finish, and no further ones follow. The store keeps its content, and the
  /// handlers' waiting events stay queued. Start may be called again.
  void RequestStop();
  /// Requests the stop and waits until what runs has ended, including running handlers. When a
  /// handler or another callback of this informer calls it, it does not wait; the next Stop, Start
  /// or the destructor does. A handler that stops another informer waits for that informer's
  /// handlers, so two handlers that stop each other's informers wait for ever.
  void Stop();
  /// Whether the caller is a handler or another callback of this informer.
  bool OnOwnThread() const;
  /// Stops the informer for good: like Stop, but Start from now on only logs an error, and those
  /// who wait for the first list are told at once that it does not come. Logs a warning that names
  /// the handlers that are still registered, because they get no more events.
  void Retire();
  /// Whether no thread of the informer runs any more, so that Stop would not have to wait.
  bool HasEnded() const;
  /// True once the first full list since Start is in the store.
  bool HasSynced() const;
  /// Blocks until HasSynced; false when `stop` was requested or the informer was retired first.
  bool WaitForSync(std::stop_token stop) const;
  /// Like WaitForSync, for callers that must not wait for ever. Fails with the reason as soon as
  /// the server refuses the list (kForbidden, kUnauthorized; kUnavailable when it does not know the
  /// type), with kTimeout and the last known reason when there is no first list `patience` after
  /// Start, with kCancelled when `stop` was requested first, and with kUnavailable when the
  /// informer is retired; Duration::max() means that there is no limit. The informer keeps trying.
  apimachinery::Result<void> AwaitSync(std::stop_token stop, base::Duration patience) const;
  /// Returns why there is no first list, with the last error; success when there is one. For an
  /// informer over several namespaces: why `namespace_` cannot be read or, when it is empty, why
  /// the first of the unreadable namespaces cannot be read.
  apimachinery::Result<void> SyncError(std::string_view namespace_ = {}) const;
  /// The name in InformerOptions.
  const std::string& name() const;
  /// The resourceVersion up to which the store has every change; bookmarks advance it, too. For an
  /// informer over several namespaces, the oldest of theirs. Empty before the first full list. As
  /// LastStoreSyncResourceVersion.
  std::string LastSyncResourceVersion() const;
  /// The resourceVersion of one namespace. It differs from that of the informer only when the
  /// informer is over several namespaces.
  std::string LastSyncResourceVersion(std::string_view namespace_) const;

  /// Adds a handler, before or after Start; a handler that is added later first gets the store's
  /// content as adds. A handler gets its events in order, one at a time, on threads of the
  /// informer's executor, after the store has them. It may block: it then holds up only its own
  /// events. When a handler throws, it loses only that event, which is logged and counted. The
  /// handler may end its own registration. The registration may outlive the informer.
  HandlerRegistration AddRawHandler(std::string name, RawHandler handler,
                                    HandlerOptions options = {});
  /// Whether all handlers of this name have got the whole initial list; false when there are none.
  /// A HandlerRegistration reports this for one handler, and can wait for it.
  bool HandlerHasSynced(std::string_view name) const;

  /// Replaces the objects of one namespace, as a relist of it alone would. `objects` are all
  /// objects that the namespace has now, before the transform, which runs on the calling thread.
  /// Call it only for an informer of all namespaces, while its source does not watch, and only if
  /// the source's later lists and watches start no earlier than the list of `objects`; otherwise
  /// changes that a watch has brought, or brings, may be undone. Returns when the objects are
  /// queued, and may block as the sink of a source does. A task of an executor is not blocked, and
  /// its objects are queued even when the queue is full: it should not call this again before the
  /// result of an earlier call is true. The result turns true when the store has the objects.
  /// kCancelled when the informer is stopped.
  apimachinery::Result<std::shared_ptr<const std::atomic<bool>>> ReplaceNamespace(
      std::string namespace_, std::vector<Object>&& objects);

  /// Adds indexes, at any time and on several threads at once. When it returns, the existing
  /// objects have been indexed; until then a query by a new index finds nothing, never a part of
  /// the objects. The functions get the object as it is stored (after the transform).
  /// kAlreadyExists when there is an index of one of the names; that one is whole then, too, even
  /// when another thread is still adding it.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  /// Adds one function that returns terms of any indexes. When the informer cannot take it because
  /// there are too many, it logs an error. It must not use the name of an index that exists already
  /// when the informer has objects: while they get its terms, a query by that index finds some of
  /// them.
  void AddIndexer(TermsFunc terms);

  /// Returns an unpacked copy of the object at `key`. Thread-safe. Answers from the store as soon
  /// as there was a list, even while the informer is stopped or starts again. Errors:
  /// - kNotFound when the store has no such object.
  /// - kMalformed, which names the object, when it cannot be read; and for a missing object when
  ///   the store lacks an object that could not be read, because that might be the missing one.
  /// - SyncError's error for a missing object while the server has refused its namespace since
  ///   Start. Once there was a list, a refusal is not an error: the store answers as it was then.
  /// - kUnavailable for a missing object before the first list, because the caller would take
  ///   kNotFound for a deleted object. (client-go's listers return "not found" and empty lists
  ///   then; controller-runtime's cached client waits, as controller::Client does.)
  apimachinery::Result<Object> GetRaw(const apimachinery::ObjectKey& key) const;
  /// Calls `read` with the object, which is valid only during the call; errors are those of GetRaw.
  apimachinery::Result<void> ReadRaw(const apimachinery::ObjectKey& key,
                                     base::FunctionRef<void(const Object&)> read) const;
  /// Returns the object decoded by `decode`; errors are those of ReadRaw and of `decode`.
  apimachinery::Result<std::shared_ptr<const void>> GetDecoded(const apimachinery::ObjectKey& key,
                                                               UntypedDecoder decode) const;
  /// The keys of all objects in the store; none before the first list.
  std::vector<apimachinery::ObjectKey> Keys() const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  /// The keys of the objects that have all of `terms`; none when `terms` is empty. Like the other
  /// queries for keys it unpacks nothing, and it omits objects that an index function could not
  /// read.
  std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const;
  std::size_t CountByIndex(std::string_view index, std::string_view value) const;
  /// The values under which `index` has objects.
  std::vector<std::string> IndexValues(std::string_view index) const;
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::size_t Size() const;
  /// The size of the packed entries and their table in bytes.
  std::size_t StoreBytes() const;
  /// Calls `each` for all objects of one moment, unpacked one after the other. It omits objects
  /// that could not be read; see DecodeEach.
  void ForEachRaw(base::FunctionRef<void(const Object&)> each) const;
  /// Decodes the objects of a namespace (empty: of all namespaces) and calls `each` for them.
  /// kMalformed, which names the object, when one cannot be decoded, and when the store lacks an
  /// object that could not be read; SyncError's error while the server has refused the namespace
  /// since Start, or any of all namespaces; kUnavailable before the first list of the namespace, or
  /// of all namespaces.
  apimachinery::Result<void> DecodeEach(std::string_view namespace_, UntypedDecoder decode,
                                        base::FunctionRef<void(UntypedRef&&)> each) const;
  /// Like DecodeEach, for the objects that have all of `terms`. When these have a term of
  /// kNamespaceIndex, only errors of that namespace matter. kMalformed also when an object that an
  /// index function could not read (see Indexers), and that cannot be decoded, might be one of
  /// them.
  apimachinery::Result<void> DecodeEachByIndex(const IndexTerms& terms, UntypedDecoder decode,
                                               base::FunctionRef<void(UntypedRef&&)> each) const;
  /// Like DecodeEach, for the objects of a Selection; decodes these only. `has_labels` tells of a
  /// decoded object whether the selection's label selector matches it. The first call with a label
  /// selector adds an index of the labels, for which it unpacks every object once, and which from
  /// then on takes the size of an object's labels, some twenty bytes for each of them, and some 200
  /// bytes for each distinct label and value of all objects. While another thread does that, a call
  /// decodes every object. kBadRequest, which names the field,
  /// when the informer has no index of a field. kMalformed names an object that is selected, or
  /// might be, and cannot be decoded; one that is certainly not selected makes no error.
  apimachinery::Result<void> DecodeSelected(const Selection& selection, UntypedDecoder decode,
                                            base::FunctionRef<bool(const void*)> has_labels,
                                            base::FunctionRef<void(UntypedRef&&)> each) const;
  /// Like ForEachRaw, for the objects of one namespace; uses kNamespaceIndex when the informer has
  /// it.
  void ForEachRaw(std::string_view namespace_, base::FunctionRef<void(const Object&)> each) const;
  /// Like ForEachRaw, for the objects that have all of `terms`.
  void ForEachRawByIndex(const IndexTerms& terms,
                         base::FunctionRef<void(const Object&)> each) const;

 private:
  /// How far the index of labels is.
  enum class LabelIndex : std::uint8_t { kNone, kMaking, kMade };
  /// Whether the store has the index of labels; the first call adds it.
  bool IndexLabels() const;

  std::unique_ptr<InformerCore> core_;
  mutable std::atomic<LabelIndex> label_index_ = LabelIndex::kNone;
};

/// Requests the stop of all informers, then stops each. When the caller is a handler of one of
/// them, it only requests the stops and returns false: it must not wait, because a handler of
/// another informer may be in this function, too, and they would wait for each other.
bool StopAll(const std::vector<std::shared_ptr<SharedInformerBase>>& informers);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_SHARED_INFORMER_BASE_H_
