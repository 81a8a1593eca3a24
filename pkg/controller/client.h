/// @file
/// Client: what a reconciler reads and writes objects with.
#ifndef KUBEXX_CONTROLLER_CLIENT_H_
#define KUBEXX_CONTROLLER_CLIENT_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// "apps/v1/deployments", for logs and the consistency store.
std::string ResourceName(const apimachinery::ResourceInfo& resource);

/// Reads from the manager's caches and writes to the API server, for any T with
/// api::ResourceOf<T>(), codec::SchemaOf<T>() and a member `metadata`. As controller-runtime's
/// client, except that objects read from a cache are shared and constant: to change one, copy it.
/// Inside a reconcile every successful write is noted, so that the key's next reconcile waits until
/// the cache has it. Cheap to copy, thread-safe. Calls end with kCancelled when the reconcile is to
/// stop.
class Client {
 public:
  /// What a Client is made of; Manager fills it.
  struct Parts {
    std::shared_ptr<rest::RESTClient> rest{};
    std::shared_ptr<informers::SharedInformerFactory> caches{};
    /// Where writes are noted, for `owner`; null: nowhere.
    std::shared_ptr<ConsistencyStore> writes{};
    workqueue::Key owner{};
    std::stop_token stop{};
    /// See ManagerOptions.
    base::Duration first_read_timeout = std::chrono::seconds(10);
    /// Turns true when a read fails because its cache has no first list, or not of a namespace;
    /// may be null.
    std::shared_ptr<std::atomic<bool>> read_early{};
  };
  explicit Client(Parts parts) : parts_(std::move(parts)) {}

  /// From the cache; kNotFound when it has no such object, kMalformed when it cannot be read. A
  /// type that nobody has asked for before gets its cache now, and calls wait for its first list,
  /// but not for ever: one that the server refuses, or that does not come in time, is an error that
  /// says why (see SharedInformerBase::AwaitSync), and never kNotFound. The same where one of
  /// several namespaces may not be read, and, as kBadRequest, where the caches do not watch the
  /// namespace. Of a type that is not namespaced the namespace in `key` does not matter.
  template <class T>
  apimachinery::Result<cache::Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    return cache::Typed<T>(GetCached(*parts_.caches->InformerFor<T>(), api::ResourceOf<T>(), key,
                                     cache::DecodeUntyped<T>));
  }

  /// All objects in `namespace_` (empty: in all) that match, from the cache, in no particular
  /// order. kMalformed, naming the object, when one cannot be read; otherwise errors as Get's, for
  /// all namespaces also when only one of them may not be read.
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<T>>> List(
      std::string_view namespace_ = {}, const apimachinery::LabelSelector& selector = {}) const {
    const auto informer = parts_.caches->InformerFor<T>();
    namespace_ = api::ResourceOf<T>().namespaced ? namespace_ : std::string_view();
    KX_RETURN_IF_ERROR(AwaitSync(*informer, api::ResourceOf<T>(), namespace_));
    auto listed = cache::Lister<T>(informer).List(namespace_, selector);
    return listed ? std::move(listed) : FromCache(api::ResourceOf<T>(), listed.error());
  }

  /// From the API server.
  template <class T>
  apimachinery::Result<T> GetLive(const apimachinery::ObjectKey& key) const {
    return Resource<T>(key.namespace_).Get(key.name, parts_.stop);
  }

  /// The object as stored. kAlreadyExists when there is one of that name.
  template <class T>
  apimachinery::Result<T> Create(const T& object,
                                 const kubernetes::CreateOptions& options = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(CreateUntyped(KindOf<T>(), NameOf(object), &object, options,
                                     {&out, &out.metadata.resource_version}));
    return out;
  }

  /// Replaces the object; kConflict when its resource_version is set and not the stored one.
  template <class T>
  apimachinery::Result<T> Update(const T& object,
                                 const kubernetes::UpdateOptions& options = {}) const {
    return UpdateAt({}, object, options);
  }

  /// Replaces the status of the object and nothing else of it.
  template <class T>
  apimachinery::Result<T> UpdateStatus(const T& object,
                                       const kubernetes::UpdateOptions& options = {}) const
    requires api::kHasStatus<T>
  {
    return UpdateAt("status", object, options);
  }

  /// See ResourceClient::Patch.
  template <class T>
  apimachinery::Result<T> Patch(const apimachinery::ObjectKey& key, rest::PatchType type,
                                std::string patch,
                                const kubernetes::PatchOptions& options = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(PatchUntyped(KindOf<T>(), key, {.type = type, .text = std::move(patch)},
                                    options, {&out, &out.metadata.resource_version}));
    return out;
  }

  /// Patch of the status alone; `options.subresource` is not looked at.
  template <class T>
  apimachinery::Result<T> PatchStatus(const apimachinery::ObjectKey& key, rest::PatchType type,
                                      std::string patch,
                                      kubernetes::PatchOptions options = {}) const
    requires api::kHasStatus<T>
  {
    options.subresource = "status";
    return Patch<T>(key, type, std::move(patch), options);
  }

  /// Server-side apply: creates the object, or changes the fields that `object` has and gives up
  /// those that an earlier apply of the same field manager had. kConflict, with one cause for each
  /// field, when another manager owns some of them with other values, unless `options.force`.
  /// kBadRequest without `options.field_manager`. See kubernetes::ApplyObject.
  template <class T>
  apimachinery::Result<T> Apply(const kubernetes::ApplyObject<T>& object,
                                const kubernetes::ApplyOptions& options) const {
    return ApplyAt({}, object, options);
  }

  /// Server-side apply of the status alone.
  template <class T>
  apimachinery::Result<T> ApplyStatus(const kubernetes::ApplyObject<T>& object,
                                      const kubernetes::ApplyOptions& options) const
    requires api::kHasStatus<T>
  {
    return ApplyAt("status", object, options);
  }

  /// The cache may have the object a little longer.
  template <class T>
  apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key,
                                    const kubernetes::DeleteOptions& options = {}) const {
    return Resource<T>(key.namespace_).Delete(key.name, options, parts_.stop);
  }

  /// Deletes the objects of T in `namespace_` that `selection` matches, all of them when it is
  /// empty. kBadRequest when T is namespaced and `namespace_` is empty: the API has no deletion
  /// over all namespaces. Of a type that is not namespaced `namespace_` does not matter. As
  /// controller-runtime's DeleteAllOf. The caches may have the objects a little longer; like Delete
  /// it is not noted, since the answer has no version that a cache comes by.
  template <class T>
  apimachinery::Result<void> DeleteCollection(std::string_view namespace_,
                                              const apimachinery::ListOptions& selection = {},
                                              const kubernetes::DeleteOptions& options = {}) const {
    return DeleteCollectionUntyped(KindOf<T>(), namespace_, selection, options);
  }

  /// For what this client has no method for. What it writes is not noted: pass the result to
  /// Noted().
  template <class T>
  kubernetes::ResourceClient<T> Resource(std::string namespace_) const {
    return {parts_.rest, std::move(namespace_)};
  }

  /// Notes a write that was made elsewhere, and returns it.
  template <class T>
  apimachinery::Result<T> Noted(apimachinery::Result<T> written) const {
    if (written) {
      Note(KindOf<T>(), written->metadata.namespace_, written->metadata.resource_version);
    }
    return written;
  }

  /// The same client with another stop_token.
  Client WithStop(std::stop_token stop) const {
    Parts parts = parts_;
    parts.stop = std::move(stop);
    return Client(std::move(parts));
  }
  const std::stop_token& stop() const { return parts_.stop; }
  const std::shared_ptr<rest::RESTClient>& rest() const { return parts_.rest; }

 private:
  // What the untyped functions, which are compiled once, need to know of T.
  struct Kind {
    std::type_index type;
    const apimachinery::ResourceInfo& resource;
    const codec::TypeSchema& schema;
  };
  // A value-initialised object that takes an answer, and its metadata's resource_version.
  struct Answer {
    void* object = nullptr;
    const std::string* version = nullptr;
  };

  template <class T>
  static Kind KindOf() {
    return {typeid(T), api::ResourceOf<T>(), codec::SchemaOf<T>()};
  }
  template <class T>
  static kubernetes::ObjectName NameOf(const T& object) {
    return {.namespace_ = object.metadata.namespace_, .name = object.metadata.name};
  }
  template <class T>
  apimachinery::Result<T> UpdateAt(std::string_view subresource, const T& object,
                                   const kubernetes::UpdateOptions& options) const {
    T out{};
    kubernetes::ObjectName name = NameOf(object);
    name.subresource = subresource;
    KX_RETURN_IF_ERROR(
        UpdateUntyped(KindOf<T>(), name, &object, options, {&out, &out.metadata.resource_version}));
    return out;
  }

  template <class T>
  apimachinery::Result<T> ApplyAt(std::string_view subresource,
                                  const kubernetes::ApplyObject<T>& object,
                                  const kubernetes::ApplyOptions& options) const {
    T out{};
    KX_RETURN_IF_ERROR(ApplyUntyped(
        KindOf<T>(),
        {.namespace_ = object.namespace_(), .name = object.name(), .subresource = subresource},
        object.ToJson(), options, {&out, &out.metadata.resource_version}));
    return out;
  }

  apimachinery::Result<cache::UntypedRef> GetCached(cache::SharedInformerBase& informer,
                                                    const apimachinery::ResourceInfo& resource,
                                                    const apimachinery::ObjectKey& key,
                                                    cache::UntypedDecoder decode) const;
  apimachinery::Result<void> CreateUntyped(const Kind& kind, const kubernetes::ObjectName& name,
                                           const void* object,
                                           const kubernetes::CreateOptions& options,
                                           Answer answer) const;
  apimachinery::Result<void> UpdateUntyped(const Kind& kind, const kubernetes::ObjectName& name,
                                           const void* object,
                                           const kubernetes::UpdateOptions& options,
                                           Answer answer) const;
  apimachinery::Result<void> PatchUntyped(const Kind& kind, const apimachinery::ObjectKey& key,
                                          kubernetes::RawPatch patch,
                                          const kubernetes::PatchOptions& options,
                                          Answer answer) const;
  apimachinery::Result<void> ApplyUntyped(const Kind& kind, const kubernetes::ObjectName& name,
                                          std::string json, const kubernetes::ApplyOptions& options,
                                          Answer answer) const;
  apimachinery::Result<void> DeleteCollectionUntyped(
      const Kind& kind, std::string_view namespace_, const apimachinery::ListOptions& selection,
      const kubernetes::DeleteOptions& options) const;
  apimachinery::Result<void> AwaitSync(cache::SharedInformerBase& informer,
                                       const apimachinery::ResourceInfo& resource,
                                       std::string_view namespace_) const;
  static apimachinery::Error FromCache(const apimachinery::ResourceInfo& resource,
                                       const apimachinery::Status& status);
  void NoteEarlyRead() const;
  void Note(const Kind& kind, std::string_view namespace_, const std::string& version) const;

  Parts parts_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CLIENT_H_
