#include "kubexx/reloader/watch/namespace_selector.h"

#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {

using RawEvent = cache::SharedInformerBase::RawEvent;

NamespaceSelector::NamespaceSelector(std::shared_ptr<cache::SharedInformerBase> namespaces)
    : namespaces_(std::move(namespaces)) {}

NamespaceSelector::~NamespaceSelector() { Stop(); }

void NamespaceSelector::Start(std::function<void(const std::string& name)> on_selected) {
  subscription_ = namespaces_->AddRawHandler(
      "reloader", [on_selected = std::move(on_selected)](const RawEvent& event) {
        if (event.type == RawEvent::Type::kAdd) {
          on_selected(event.key().name);
        }
      });
  namespaces_->Start();
}

void NamespaceSelector::Stop() {
  subscription_.Reset();
  namespaces_->Stop();
}

bool NamespaceSelector::HasSynced() const { return namespaces_->HasSynced(); }

bool NamespaceSelector::WaitForSync(const std::stop_token& stop) const {
  return namespaces_->WaitForSync(stop);
}

bool NamespaceSelector::Contains(std::string_view name) const {
  return namespaces_->Contains({"", std::string(name)});
}

std::unique_ptr<NamespaceSelector> NewNamespaceSelector(std::shared_ptr<rest::RESTClient> client,
                                                        const std::string& label_selector,
                                                        metrics::Registry* registry,
                                                        Refusals* refusals,
                                                        std::shared_ptr<base::Executor> executor) {
  namespace core = api::core::v1;
  const apimachinery::ResourceInfo& resource = api::ResourceOf<core::Namespace>();
  std::shared_ptr<cache::ListerWatcher> list_watch = cache::NewListWatchFromClient(
      std::move(client), resource, "", {.label_selector = label_selector});
  if (refusals != nullptr) {
    list_watch = refusals->Follow(std::move(list_watch), std::string(resource.plural), "");
  }
  cache::InformerOptions informer{.name = std::string(resource.plural), .registry = registry};
  informer.transform = [](cache::Object& object) -> apimachinery::Result<void> {
    core::Namespace only;
    only.metadata.name = object.key.name;
    object.encoding = codec::Encoding::kProtobuf;
    object.bytes = codec::EncodeProtobuf(only);
    return {};
  };
  informer.executor = std::move(executor);
  informer.version = resource.version;
  informer.resource = resource.plural;
  return std::make_unique<NamespaceSelector>(
      std::make_shared<cache::SharedInformer<core::Namespace>>(std::move(list_watch),
                                                               std::move(informer)));
}

}  // namespace kubexx::reloader
