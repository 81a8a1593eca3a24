/// @file
/// Client: a reconciler's access to the API objects.
#ifndef KUBEXX_CONTROLLER_CLIENT_H_
#define KUBEXX_CONTROLLER_CLIENT_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/informers/complete_type.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

class Cluster;

/// The resource's name for logs and the consistency store, for example "apps/v1/deployments".
std::string ResourceName(const apimachinery::ResourceInfo& resource);

/// Reads from the manager's caches and writes to the API server, for any T with
/// api::ResourceOf<T>(), codec::SchemaOf<T>() and a member `metadata`. Modelled on
/// controller-runtime's client, except that objects read from a cache are shared and constant: to
/// change one, copy it. Inside a reconcile the client records every successful write, so that the
/// next reconcile of the same request waits until the cache contains it. Cheap to copy,
/// thread-safe. Calls return kCancelled when the reconcile has to stop.
class Client {
 public:
  /// What a Client consists of. The Manager fills it in.
  struct Parts {
    std::shared_ptr<rest::RESTClient> rest{};
    std::shared_ptr<informers::SharedInformerFactory> caches{};
    /// The client records its writes here, under the key `owner`. When null, it records none.
    std::shared_ptr<ConsistencyStore> writes{};
    workqueue::Key owner{};
    std::stop_token stop{};
    /// See ManagerOptions::first_read_timeout.
    base::Duration first_read_timeout = std::chrono::seconds(10);
    /// The client sets it to true when a read fails because the cache has no first list, or none of
    /// one of its namespaces. May be null.
    std::shared_ptr<std::atomic<bool>> read_early{};
    /// Filled in for all writes.
    kubernetes::WriteDefaults write_defaults{};
    /// Whether WithDryRun was called; then the client stays one for dry runs in other clusters,
    /// too.
    bool only_dry_run = false;
    /// The name of the Cluster, for errors and to tell the writes apart; empty for the manager's
    /// own.
    std::string cluster{};
  };
  explicit Client(Parts parts) : parts_(std::move(parts)) {}

  /// Reads the object from the cache. kNotFound means that the cache has no such object, kMalformed
  /// that the object cannot be decoded. The first read of a type starts its cache and waits for the
  /// first list, but no longer than Parts::first_read_timeout. When the server refuses the list, or
  /// it does not come in time, the error says why (see SharedInformerBase::AwaitSync) and is never
  /// kNotFound. The same holds when the server has refused one of several namespaces from the
  /// start. A refusal after the first list is no error: the cache answers as it was when the rights
  /// were taken away, and has no object that was created since; see "When the rights are taken
  /// away" in docs/library/informers.md. kBadRequest means that the caches do not watch the key's
  /// namespace. For a cluster-scoped type the namespace in `key` is ignored, as in
  /// controller-runtime; kBadRequest when the server has the object in that namespace, so that the
  /// type is not cluster-scoped there.
  template <class T>
  apimachinery::Result<cache::Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    if constexpr (informers::CheckComplete<T>()) {
      return cache::Typed<T>(GetCached(*parts_.caches->InformerFor<T>(), api::ResourceOf<T>(), key,
                                       cache::DecodeUntyped<T>));
    } else {
      std::unreachable();  // one error is enough
    }
  }

  /// Returns the matching objects in `namespace_` (empty: in all namespaces) from the cache, in no
  /// particular order. kMalformed names an object that cannot be decoded. Other errors are those of
  /// Get; a list over all namespaces also fails when the server has refused a single one from the
  /// start.
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<T>>> List(
      std::string_view namespace_ = {}, const apimachinery::LabelSelector& selector = {}) const {
    return List<T>(cache::Selection{.namespace_ = std::string(namespace_), .labels = selector});
  }

  /// Returns the selected objects from the cache, in no particular order, and decodes only these. A
  /// field selector may have "metadata.name", "metadata.namespace" and the indexes that the type's
  /// informer has; see cache::IndexField. kBadRequest names a field without an index. Other errors
  /// are those of the other List.
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<T>>> List(cache::Selection selection) const {
    if constexpr (informers::CheckComplete<T>()) {
      return ListFrom(parts_.caches->InformerFor<T>(), api::ResourceOf<T>(), std::move(selection));
    } else {
      std::unreachable();  // one error is enough
    }
  }

  /// Reads the metadata of the T from a cache that keeps only the metadata, and therefore takes far
  /// less memory than whole objects. It is another cache than that of Get<T>. Errors are those of
  /// Get.
  template <class T>
  apimachinery::Result<cache::Ref<api::meta::v1::PartialObjectMetadata>> GetMetadata(
      const apimachinery::ObjectKey& key) const {
    using Metadata = api::meta::v1::PartialObjectMetadata;
    return cache::Typed<Metadata>(GetCached(*parts_.caches->MetadataInformerFor<T>(),
                                            api::ResourceOf<T>(), key,
                                            cache::DecodeUntyped<Metadata>));
  }
  /// Returns the metadata of the selected T from that cache. Errors are those of List.
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<api::meta::v1::PartialObjectMetadata>>> ListMetadata(
      cache::Selection selection = {}) const {
    return ListFrom(parts_.caches->MetadataInformerFor<T>(), api::ResourceOf<T>(),
                    std::move(selection));
  }

  /// Reads the object from the API server.
  template <class T>
  apimachinery::Result<T> GetLive(const apimachinery::ObjectKey& key) const {
    return Resource<T>(key.namespace_).Get(key.name, parts_.stop);
  }

  /// Creates the object and returns it as the server stored it. kAlreadyExists when an object of
  /// that name exists.
  template <class T>
  apimachinery::Result<T> Create(const T& object,
                                 const kubernetes::CreateOptions& options = {}) const {
    T out{};
    KX_RETURN_IF_ERROR(CreateUntyped(KindOf<T>(), NameOf(object), &object, options,
                                     {&out, &out.metadata.resource_version}));
    return out;
  }

  /// Replaces the object and returns it as the server stored it. kConflict when
  /// `object.metadata.resource_version` is set and differs from the stored object's.
  template <class T>
  apimachinery::Result<T> Update(const T& object,
                                 const kubernetes::UpdateOptions& options = {}) const {
    return UpdateAt({}, object, options);
  }

  /// Replaces only the status of the object.
  template <class T>
  apimachinery::Result<T> UpdateStatus(const T& object,
                                       const kubernetes::UpdateOptions& options = {}) const
    requires api::kHasStatus<T>
  {
    return UpdateAt("status", object, options);
  }

  /// These refuse a pointer to an object, such as what a cache returns, by one readable error.
  template <class T>
  apimachinery::Result<std::remove_const_t<T>> Create(const std::shared_ptr<T>&,
                                                      const kubernetes::CreateOptions& = {}) const {
    return RefusePointer<T>();
  }
  /// Does as that Create.
  template <class T>
  apimachinery::Result<std::remove_const_t<T>> Update(const std::shared_ptr<T>&,
                                                      const kubernetes::UpdateOptions& = {}) const {
    return RefusePointer<T>();
  }
  /// Does as that Create.
  template <class T>
  apimachinery::Result<std::remove_const_t<T>> UpdateStatus(
      const std::shared_ptr<T>&, const kubernetes::UpdateOptions& = {}) const {
    return RefusePointer<T>();
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

  /// Patches only the status; ignores `options.subresource`.
  template <class T>
  apimachinery::Result<T> PatchStatus(const apimachinery::ObjectKey& key, rest::PatchType type,
                                      std::string patch,
                                      kubernetes::PatchOptions options = {}) const
    requires api::kHasStatus<T>
  {
    options.subresource = "status";
    return Patch<T>(key, type, std::move(patch), options);
  }

  /// Server-side apply: creates the object, or sets the fields that `object` has and gives up those
  /// that this field manager applied earlier and that `object` lacks. kConflict, with one cause for
  /// each field, when another manager owns some of the fields with other values and `options.force`
  /// is false. kBadRequest when neither `options` nor this client (WithFieldManager) has a field
  /// manager. See kubernetes::ApplyObject.
  template <class T>
  apimachinery::Result<T> Apply(const kubernetes::ApplyObject<T>& object,
                                const kubernetes::ApplyOptions& options = {}) const {
    return ApplyAt({}, object, options);
  }

  /// Server-side apply of only the status.
  template <class T>
  apimachinery::Result<T> ApplyStatus(const kubernetes::ApplyObject<T>& object,
                                      const kubernetes::ApplyOptions& options = {}) const
    requires api::kHasStatus<T>
  {
    return ApplyAt("status", object, options);
  }

  /// Deletes the object on the API server. The cache may contain it for a short time afterwards.
  template <class T>
  apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key,
                                    const kubernetes::DeleteOptions& options = {}) const {
    return Resource<T>(key.namespace_).Delete(key.name, options, parts_.stop);
  }

  /// Deletes the objects of T in `namespace_` that `selection` matches, or all of them when it is
  /// empty. kBadRequest when T is namespaced and `namespace_` is empty, because the API cannot
  /// delete over all namespaces. For a cluster-scoped type `namespace_` is ignored. Like
  /// controller-runtime's DeleteAllOf. The caches may contain the objects for a short time
  /// afterwards; no reconcile waits for that, because the server's answer has no resourceVersion to
  /// wait for.
  template <class T>
  apimachinery::Result<void> DeleteCollection(std::string_view namespace_,
                                              const apimachinery::ListOptions& selection = {},
                                              const kubernetes::DeleteOptions& options = {}) const {
    return DeleteCollectionUntyped(KindOf<T>(), namespace_, selection, options);
  }

  /// A client with the methods that this one lacks. Its writes are not recorded; pass their results
  /// to Noted().
  template <class T>
  kubernetes::ResourceClient<T> Resource(std::string namespace_) const {
    return {parts_.rest, std::move(namespace_), parts_.write_defaults};
  }

  /// Records a write that was made without this client, and returns it unchanged.
  template <class T>
  apimachinery::Result<T> Noted(apimachinery::Result<T> written) const {
    if (written) {
      Note(KindOf<T>(), written->metadata.namespace_, written->metadata.resource_version);
    }
    return written;
  }

  /// Returns a copy of this client whose writes have this field manager where their options name
  /// none. It is also the manager of server-side apply. As controller-runtime's WithFieldOwner.
  ///
  ///     const auto client = context.client.WithFieldManager("website-controller");
  ///     auto applied = client.Apply(wanted);
  Client WithFieldManager(std::string name) const {
    Parts parts = parts_;
    parts.write_defaults.field_manager = std::move(name);
    return Client(std::move(parts));
  }
  /// Returns a copy of this client whose writes have this field validation ("Ignore", "Warn" or
  /// "Strict") where their options have none: how the server treats unknown and duplicate fields.
  /// As controller-runtime's WithFieldValidation.
  Client WithFieldValidation(std::string validation) const {
    Parts parts = parts_;
    parts.write_defaults.field_validation = std::move(validation);
    return Client(std::move(parts));
  }
  /// Returns a copy of this client whose writes, deletes included, are dry runs: the server checks
  /// and answers them, and stores nothing. No reconcile waits until a cache has them. As
  /// controller-runtime's NewDryRunClient.
  Client WithDryRun() const {
    Parts parts = parts_;
    parts.write_defaults.dry_run = true;
    parts.only_dry_run = true;
    return Client(std::move(parts));
  }
  /// Returns a client of another cluster of the manager, for the same reconcile: a write with it
  /// also holds the request's next reconcile until that cluster's cache contains the write. Its
  /// writes have the defaults of that cluster, and are dry runs if those of this client are by
  /// WithDryRun.
  ///
  ///     const auto settings = context.client.In(*west).Get<ConfigMap>(request.object);
  Client In(const Cluster& cluster) const;
  /// A copy of this client with another stop_token.
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
    std::type_index metadata;  ///< of the cache of the metadata
  };
  // A value-initialised object that takes an answer, and its metadata's resource_version.
  struct Answer {
    void* object = nullptr;
    const std::string* version = nullptr;
  };

  template <class T>
  static Kind KindOf() {
    return {typeid(T), api::ResourceOf<T>(), codec::SchemaOf<T>(),
            informers::SharedInformerFactory::MetadataTypeOf<T>()};
  }
  template <class T>
  static apimachinery::Error RefusePointer() {
    static_assert(
        sizeof(T) == 0,
        "kubexx: this takes an object, not a pointer to one. Copy the object that a cache "
        "has returned, change the copy, and pass that.");
    return apimachinery::Fail(apimachinery::Reason::kInternalError, "");
  }
  template <class T>
  static kubernetes::ObjectName NameOf(const T& object) {
    return {.namespace_ = object.metadata.namespace_, .name = object.metadata.name};
  }
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<T>>> ListFrom(
      std::shared_ptr<cache::SharedInformer<T>> informer,
      const apimachinery::ResourceInfo& resource, cache::Selection selection) const {
    if (!resource.namespaced) {
      selection.namespace_.clear();
    }
    KX_RETURN_IF_ERROR(AwaitSync(
        *informer, resource, resource.namespaced ? selection.SelectedNamespace() : std::string()));
    auto listed = cache::Lister<T>(std::move(informer)).List(selection);
    return listed ? std::move(listed) : FromCache(resource, listed.error());
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
  /// kUnavailable while the cache does not contain what was written before it was made.
  apimachinery::Result<void> CheckOwnWrites(const cache::SharedInformerBase& informer,
                                            const apimachinery::ResourceInfo& resource,
                                            std::string_view namespace_) const;
  apimachinery::Error FromCache(const apimachinery::ResourceInfo& resource,
                                const apimachinery::Status& status) const;
  /// ResourceName, after the name of the cluster if it has one.
  std::string NameInCluster(const apimachinery::ResourceInfo& resource) const;
  void NoteEarlyRead() const;
  kubernetes::UntypedClient Untyped(const Kind& kind, std::string namespace_) const;
  void Note(const Kind& kind, std::string_view namespace_, const std::string& version) const;

  Parts parts_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CLIENT_H_
