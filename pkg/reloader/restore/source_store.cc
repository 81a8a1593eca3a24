#include "kubexx/reloader/restore/source_store.h"

#include <utility>
#include <variant>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/restore/snapshot.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Result;

template <class T>
kubernetes::ResourceClient<T> ClientOf(const std::shared_ptr<rest::RESTClient>& client,
                                       const std::string& namespace_) {
  return kubernetes::ResourceClient<T>(client, namespace_);
}

class RestSourceStore final : public SourceStore {
 public:
  explicit RestSourceStore(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

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
              .Delete(each.metadata.name, {.uid = each.metadata.uid}, stop);
        },
        object.object());
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

  const std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace

std::unique_ptr<SourceStore> NewSourceStore(std::shared_ptr<rest::RESTClient> client) {
  return std::make_unique<RestSourceStore>(std::move(client));
}

}  // namespace kubexx::reloader
