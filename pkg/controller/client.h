/// @file
/// Client: what a reconciler reads and writes objects with.
#ifndef KUBEXX_CONTROLLER_CLIENT_H_
#define KUBEXX_CONTROLLER_CLIENT_H_

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/resource.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/informers/shared_informer_factory.h"
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
  };
  explicit Client(Parts parts) : parts_(std::move(parts)) {}

  /// From the cache; kNotFound when it has no such object. A type that nobody has asked for before
  /// gets its cache now, and the first call waits for it.
  template <class T>
  apimachinery::Result<cache::Ref<T>> Get(const apimachinery::ObjectKey& key) const {
    KX_ASSIGN_OR_RETURN(const auto informer, SyncedInformer<T>());
    return informer->Get(key);
  }

  /// All objects in `name_space` (empty: in all) that match, from the cache, in no particular
  /// order.
  template <class T>
  apimachinery::Result<std::vector<cache::Ref<T>>> List(
      std::string_view name_space = {}, const apimachinery::LabelSelector& selector = {}) const {
    KX_ASSIGN_OR_RETURN(const auto informer, SyncedInformer<T>());
    return cache::Lister<T>(informer).List(name_space, selector);
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
    return Noted(Resource<T>(object.metadata.namespace_).Create(object, options, parts_.stop));
  }

  /// Replaces the object; kConflict when its resource_version is set and not the stored one.
  template <class T>
  apimachinery::Result<T> Update(const T& object,
                                 const kubernetes::UpdateOptions& options = {}) const {
    return Noted(Resource<T>(object.metadata.namespace_).Update(object, options, parts_.stop));
  }

  /// Replaces the status of the object and nothing else of it.
  template <class T>
  apimachinery::Result<T> UpdateStatus(const T& object,
                                       const kubernetes::UpdateOptions& options = {}) const {
    return Noted(
        Resource<T>(object.metadata.namespace_).UpdateStatus(object, options, parts_.stop));
  }

  /// See ResourceClient::Patch.
  template <class T>
  apimachinery::Result<T> Patch(const apimachinery::ObjectKey& key, rest::PatchType type,
                                std::string patch,
                                const kubernetes::PatchOptions& options = {}) const {
    return Noted(
        Resource<T>(key.namespace_).Patch(key.name, type, std::move(patch), options, parts_.stop));
  }

  /// The cache may have the object a little longer.
  template <class T>
  apimachinery::Result<void> Delete(const apimachinery::ObjectKey& key,
                                    const kubernetes::DeleteOptions& options = {}) const {
    return Resource<T>(key.namespace_).Delete(key.name, options, parts_.stop);
  }

  /// For what this client has no method for. What it writes is not noted: pass the result to
  /// Noted().
  template <class T>
  kubernetes::ResourceClient<T> Resource(std::string name_space) const {
    return {parts_.rest, std::move(name_space)};
  }

  /// Notes a write that was made elsewhere, and returns it.
  template <class T>
  apimachinery::Result<T> Noted(apimachinery::Result<T> written) const {
    if (written && parts_.writes) {
      if (auto informer = parts_.caches->FindInformer<T>()) {
        Note(api::ResourceOf<T>(), written->metadata.resource_version, std::move(informer));
      }
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
  template <class T>
  apimachinery::Result<std::shared_ptr<cache::SharedInformer<T>>> SyncedInformer() const {
    auto informer = parts_.caches->InformerFor<T>();
    KX_RETURN_IF_ERROR(AwaitSync(*informer, api::ResourceOf<T>()));
    return informer;
  }
  apimachinery::Result<void> AwaitSync(cache::SharedInformerBase& informer,
                                       const apimachinery::ResourceInfo& resource) const;
  void Note(const apimachinery::ResourceInfo& resource, const std::string& version,
            std::shared_ptr<const cache::SharedInformerBase> informer) const;

  Parts parts_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CLIENT_H_
