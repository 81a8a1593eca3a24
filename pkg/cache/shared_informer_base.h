/// @file
/// SharedInformerBase: what all informers have in common, whatever their type.
#ifndef KUBEXX_CACHE_SHARED_INFORMER_BASE_H_
#define KUBEXX_CACHE_SHARED_INFORMER_BASE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
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

/// The untyped core. Use SharedInformer<T>.
///
/// What handlers may rely on: events of one object come in order; the store has a change before any
/// handler is told; after a gap (a relist) a handler gets the difference between what it knew and
/// what is, so that intermediate states may be skipped but the last state never is. A relist that
/// brings an object unchanged delivers nothing for it. An object that was deleted and created again
/// during a gap shows as one update.
class SharedInformerBase {
 public:
  using RawEvent = cache::RawEvent;
  using RawHandler = std::function<void(const RawEvent&)>;

  SharedInformerBase(std::shared_ptr<ListerWatcher> lister_watcher, InformerOptions options);
  /// One view over several namespaces, each with a reflector of its own, so that one that is
  /// forbidden, or breaks, stops no other. It has synced when each namespace has, or has been
  /// refused (401, 403, 404): such a one is tried on, and its objects arrive as adds when it can be
  /// read.
  SharedInformerBase(std::vector<NamespacedSource> sources, InformerOptions options);
  /// Either, for who decides at run time.
  SharedInformerBase(InformerSources&& sources, InformerOptions&& options);
  /// Stops. Not by a handler of this informer, which could not be waited for: that ends the
  /// process, with a line in the log that names the informer.
  virtual ~SharedInformerBase();
  SharedInformerBase(const SharedInformerBase&) = delete;
  SharedInformerBase& operator=(const SharedInformerBase&) = delete;

  /// Starts the informer's threads; they end with Stop or the destructor. Does nothing when it
  /// runs. When a stop has been requested it waits until the threads have ended; a handler, which
  /// it would wait for, cannot start its informer again: that is logged.
  void Start();
  /// As closing client-go's stop channel: returns at once, and handlers are called no more, once
  /// the calls that are running have returned. The store keeps its content and handlers keep what
  /// they have not been given yet. Start may be called again.
  void RequestStop();
  /// RequestStop, and waits until the threads have ended, handlers that are running included. A
  /// handler of this informer, or another of its callbacks, may call it: then it does not wait, and
  /// the next Stop, Start or the destructor does. A handler that stops another informer waits for
  /// that one's handlers, so two that stop each other's wait for ever.
  void Stop();
  /// Whether the caller is a handler or another callback of this informer.
  bool OnOwnThread() const;
  /// True once the first full list since Start is in the store.
  bool HasSynced() const;
  /// Blocks until HasSynced; false when `stop` was requested first.
  bool WaitForSync(std::stop_token stop) const;
  /// The same for who must not wait for ever. Fails with the reason as soon as the server refuses
  /// the list (kForbidden, kUnauthorized; kUnavailable when it does not know the type), with
  /// kTimeout and the last reason known when there is no first list `patience` after Start, and
  /// with kCancelled when `stop` was requested first. The informer goes on trying.
  apimachinery::Result<void> AwaitSync(std::stop_token stop, base::Duration patience) const;
  /// Why there is no first list, with the last error; success once there is one. Over several
  /// namespaces: why `namespace_` cannot be read, or, empty, the first of those that cannot.
  apimachinery::Result<void> SyncError(std::string_view namespace_ = {}) const;
  /// As in InformerOptions.
  const std::string& name() const;
  /// The store's resourceVersion, with bookmarks: every change up to it has been applied. Over
  /// several namespaces the oldest of theirs. Empty before the first full list. As
  /// LastStoreSyncResourceVersion.
  std::string LastSyncResourceVersion() const;
  /// Of one namespace; the same for all but informers over several namespaces.
  std::string LastSyncResourceVersion(std::string_view namespace_) const;

  /// Adds a handler, before or after Start; a late one is given the store's content as adds first.
  /// Events of one handler come in order on a thread of its own, after the store has them. A
  /// handler that throws loses that event only; it is logged and counted. The handler may end its
  /// own registration; it may outlive the informer.
  HandlerRegistration AddRawHandler(std::string name, RawHandler handler,
                                    HandlerOptions options = {});
  /// Whether the handlers of this name have been given the whole initial list; false when there are
  /// none. A HandlerRegistration tells it of one handler, and can wait for it.
  bool HandlerHasSynced(std::string_view name) const;

  /// Replaces the objects of one namespace, as a relist of it alone would: `objects` are all that
  /// it has now, before the transform, which runs on the calling thread. For an informer of all
  /// namespaces while its source does not watch, and neither lists nor watches from before these
  /// were listed: what such a watch brings, or has brought, may be undone. Returns when they are
  /// queued, and may block as a source's sink does; the result turns true once the store has them.
  /// kCancelled when the informer is stopped.
  apimachinery::Result<std::shared_ptr<const std::atomic<bool>>> ReplaceNamespace(
      std::string namespace_, std::vector<Object>&& objects);

  /// Adds indexes, at any time; the objects that are there have been indexed when it returns. The
  /// functions get the object as stored (after the transform). kAlreadyExists when there is an
  /// index of one of the names.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  /// The same for one function that gives terms of any indexes; one too many is logged.
  void AddIndexer(TermsFunc terms);

  /// Store access; thread-safe. Objects are unpacked copies. kNotFound when there is no such
  /// object; kMalformed, naming it, when it cannot be read, and for a missing one when the store
  /// lacks something that could not be read: nobody knows what that was. Of a namespace that is
  /// refused SyncError's error, and, before the first list, kUnavailable for what is not there yet:
  /// a reader would take kNotFound for a deleted object. (client-go's listers say "not found" and
  /// list nothing then, controller-runtime's cached client waits, as controller::Client does.) Once
  /// there was a list the store answers, also when the informer is stopped or starts again.
  apimachinery::Result<Object> GetRaw(const apimachinery::ObjectKey& key) const;
  /// Calls `read` with the object, which is gone when `read` returns; errors as GetRaw's.
  apimachinery::Result<void> ReadRaw(const apimachinery::ObjectKey& key,
                                     base::FunctionRef<void(const Object&)> read) const;
  /// The object as `decode` reads it; errors as ReadRaw's and those of `decode`.
  apimachinery::Result<std::shared_ptr<const void>> GetDecoded(const apimachinery::ObjectKey& key,
                                                               UntypedDecoder decode) const;
  /// What the store has; nothing before the first list.
  std::vector<apimachinery::ObjectKey> Keys() const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  /// Of the objects that have all of `terms`; none when `terms` is empty. Like the other queries
  /// for keys it unpacks nothing, and lacks what an index function could not read.
  std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const;
  std::size_t CountByIndex(std::string_view index, std::string_view value) const;
  /// The values under which `index` has objects.
  std::vector<std::string> IndexValues(std::string_view index) const;
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::size_t Size() const;
  /// Bytes of the packed entries and their table.
  std::size_t StoreBytes() const;
  /// The objects at one moment, unpacked one after the other. What could not be read is not among
  /// them; see DecodeEach.
  void ForEachRaw(base::FunctionRef<void(const Object&)> each) const;
  /// Decodes the objects of a namespace (empty: all) for `each`. kMalformed, naming the object,
  /// when one does not decode, and when the store lacks something that could not be read;
  /// SyncError's error while the namespace, or one of all, is refused; kUnavailable before the
  /// first list of the namespace, or of all.
  apimachinery::Result<void> DecodeEach(std::string_view namespace_, UntypedDecoder decode,
                                        base::FunctionRef<void(UntypedRef&&)> each) const;
  /// The same of the objects that have all of `terms`; only one namespace counts when they have a
  /// term of kNamespaceIndex. kMalformed also when an object that does not decode might be one of
  /// them, since the function of an index could not read it (see Indexers).
  apimachinery::Result<void> DecodeEachByIndex(const IndexTerms& terms, UntypedDecoder decode,
                                               base::FunctionRef<void(UntypedRef&&)> each) const;
  /// Of one namespace only; by its index when there is one (see kNamespaceIndex).
  void ForEachRaw(std::string_view namespace_, base::FunctionRef<void(const Object&)> each) const;
  /// Those that have all of `terms`.
  void ForEachRawByIndex(const IndexTerms& terms,
                         base::FunctionRef<void(const Object&)> each) const;

 private:
  std::unique_ptr<InformerCore> core_;
};

/// Asks all of them to stop, then stops each. False when the caller is a handler of one of them: it
/// must wait for none, as a handler of another may be here, too, and has only asked.
bool StopAll(const std::vector<std::shared_ptr<SharedInformerBase>>& informers);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_SHARED_INFORMER_BASE_H_
