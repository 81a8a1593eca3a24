#include "kubexx/reloader/restore/source_store.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/crypto/secrets.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/restore/snapshot.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Result;

/// The key of the data of kSnapshotKeySecret, and how long its value is at least.
constexpr char kKeyField[] = "key";
constexpr std::size_t kKeyBytes = 32;

template <class T>
kubernetes::ResourceClient<T> ClientOf(const std::shared_ptr<rest::RESTClient>& client,
                                       const std::string& namespace_) {
  return kubernetes::ResourceClient<T>(client, namespace_);
}

class RestSourceStore final : public SourceStore {
 public:
  RestSourceStore(std::shared_ptr<rest::RESTClient> client, std::string own_namespace)
      : client_(std::move(client)), own_namespace_(std::move(own_namespace)) {}

  Result<SourceObject> Get(const SourceId& id, const std::stop_token& stop) override {
    return id.type == SourceType::kSecret ? GetAs<Secret>(id, stop) : GetAs<ConfigMap>(id, stop);
  }

  Result<std::vector<SourceObject>> ListSnapshots(const SourceId& source, const std::string& uid,
                                                  const std::stop_token& stop) override {
    return source.type == SourceType::kSecret ? ListAs<Secret>(source, uid, stop)
                                              : ListAs<ConfigMap>(source, uid, stop);
  }

  Result<void> Create(const SourceObject& object, const std::stop_token& stop) override {
    return std::visit(
        [&]<class T>(const T& each) -> Result<void> {
          KX_RETURN_IF_ERROR(ClientOf<T>(client_, each.metadata.namespace_)
                                 .Create(each, {.field_manager = kRestoreFieldManager}, stop));
          return {};
        },
        object.object());
  }

  Result<std::string> Update(const SourceObject& object, const std::stop_token& stop) override {
    return std::visit(
        [&]<class T>(const T& each) -> Result<std::string> {
          KX_ASSIGN_OR_RETURN(T written,
                              ClientOf<T>(client_, each.metadata.namespace_)
                                  .Update(each, {.field_manager = kRestoreFieldManager}, stop));
          // Wipes what came back.
          const SourceObject answer{SourceObject::Object(std::move(written))};
          return answer.metadata().resource_version;
        },
        object.object());
  }

  Result<void> Delete(const SourceObject& object, const std::stop_token& stop) override {
    return std::visit(
        [&]<class T>(const T& each) {
          return ClientOf<T>(client_, each.metadata.namespace_)
              .Delete(
                  each.metadata.name,
                  {.uid = each.metadata.uid, .resource_version = each.metadata.resource_version},
                  stop);
        },
        object.object());
  }

  Result<apimachinery::Bytes> Key(bool make, const std::stop_token& stop) override {
    const SourceId id{SourceType::kSecret, {own_namespace_, kSnapshotKeySecret}};
    auto found = GetAs<Secret>(id, stop);
    if (!found && make && apimachinery::IsObjectNotFound(found.error())) {
      KX_RETURN_IF_ERROR(MakeKey(stop));
      found = GetAs<Secret>(id, stop);
    }
    if (!found) {
      return apimachinery::Fail(found.error());
    }
    const Secret& secret = std::get<Secret>(found->object());
    const auto key = secret.data.find(kKeyField);
    if (key == secret.data.end() || key->second.view().size() < kKeyBytes) {
      return apimachinery::Fail(
          apimachinery::Malformed("Secret " + id.key.ToString(), "has no key of snapshots"));
    }
    return key->second;
  }

 private:
  template <class T>
  Result<SourceObject> GetAs(const SourceId& id, const std::stop_token& stop) const {
    KX_ASSIGN_OR_RETURN(T object, ClientOf<T>(client_, id.key.namespace_).Get(id.key.name, stop));
    return SourceObject(SourceObject::Object(std::move(object)));
  }

  template <class T>
  Result<std::vector<SourceObject>> ListAs(const SourceId& source, const std::string& uid,
                                           const std::stop_token& stop) const {
    KX_ASSIGN_OR_RETURN(auto list,
                        ClientOf<T>(client_, source.key.namespace_)
                            .List({.label_selector = std::string(kSnapshotOf) + "=" + uid}, stop));
    std::vector<SourceObject> objects;
    for (T& item : list.items) {
      objects.emplace_back(SourceObject::Object(std::move(item)));
    }
    return objects;
  }

  /// Another replica may do it at the same time; then that one's key counts.
  Result<void> MakeKey(const std::stop_token& stop) const {
    auto random = crypto::Random256();
    if (!random) {
      return apimachinery::Fail(apimachinery::Reason::kInternalError,
                                "there are no random bytes for a key");
    }
    Secret secret;
    secret.metadata.namespace_ = own_namespace_;
    secret.metadata.name = kSnapshotKeySecret;
    secret.data[kKeyField] = apimachinery::Bytes(
        std::string(reinterpret_cast<const char*>(random->data()), random->size()));
    random->fill(0);
    const auto created = ClientOf<Secret>(client_, own_namespace_)
                             .Create(secret, {.field_manager = kRestoreFieldManager}, stop);
    return created || created.error().reason == apimachinery::Reason::kAlreadyExists
               ? Result<void>()
               : apimachinery::Fail(created.error());
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const std::string own_namespace_;
};

}  // namespace

std::unique_ptr<SourceStore> NewSourceStore(std::shared_ptr<rest::RESTClient> client,
                                            std::string own_namespace) {
  return std::make_unique<RestSourceStore>(std::move(client), std::move(own_namespace));
}

}  // namespace kubexx::reloader
