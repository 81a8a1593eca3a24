#include "kubexx/kubelet/config/api_source.h"

#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/typed_object.h"
#include "kubexx/logging/log.h"

namespace kubexx::kubelet {
namespace {

std::vector<Pod> PodsOf(const cache::UndeltaStore::State& state) {
  std::vector<Pod> pods;
  pods.reserve(state.size());
  for (const auto& object : state) {
    auto pod = cache::DecodeObject<Pod>(*object);
    if (pod) {
      pods.push_back(*std::move(pod));
    } else {
      logging::Error("Cannot read a pod",
                     {{"pod", object->key.ToString()}, {"error", pod.error()}});
    }
  }
  return pods;
}

}  // namespace

std::shared_ptr<cache::ListerWatcher> NewPodListWatch(std::shared_ptr<rest::RESTClient> client,
                                                      std::string_view node_name) {
  cache::ListWatchOptions options;
  options.field_selector = "spec.nodeName=" + std::string(node_name);
  return cache::NewListWatchFromClient(std::move(client), api::ResourceOf<Pod>(), "",
                                       std::move(options));
}

ApiSource::ApiSource(std::shared_ptr<cache::ListerWatcher> pods, PodSink sink,
                     cache::ReflectorOptions options)
    : store_([sink = std::move(sink)](const cache::UndeltaStore::State& state) {
        sink(PodsOf(state));
      }),
      reflector_("pods of the node", std::move(pods), store_, std::move(options)),
      thread_([this](const std::stop_token& stop) { reflector_.Run(stop); }) {}

}  // namespace kubexx::kubelet
