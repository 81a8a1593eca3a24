#include "kubexx/controller/client.h"

namespace kubexx::controller {

std::string ResourceName(const apimachinery::ResourceInfo& resource) {
  std::string name(resource.group);
  if (!name.empty()) {
    name += '/';
  }
  return name.append(resource.version).append("/").append(resource.plural);
}

apimachinery::Result<void> Client::AwaitSync(cache::SharedInformerBase& informer,
                                             const apimachinery::ResourceInfo& resource) const {
  if (informer.HasSynced()) {
    return {};
  }
  informer.Start();
  if (!informer.WaitForSync(parts_.stop)) {
    return apimachinery::Fail(apimachinery::Reason::kCancelled,
                              "read " + ResourceName(resource) +
                                  " from the cache: stopped before its first list had come");
  }
  return {};
}

void Client::Note(const apimachinery::ResourceInfo& resource, const std::string& version,
                  std::shared_ptr<const cache::SharedInformerBase> informer) const {
  parts_.writes->Wrote(
      parts_.owner, ResourceName(resource), version,
      [informer = std::move(informer)] { return informer->LastSyncResourceVersion(); });
}

}  // namespace kubexx::controller
