/// @file
/// ApiSource: the pods that the scheduler assigned to a node.
#ifndef KUBEXX_KUBELET_CONFIG_API_SOURCE_H_
#define KUBEXX_KUBELET_CONFIG_API_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "kubexx/base/clock.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/undelta_store.h"
#include "kubexx/kubelet/config/pod_update.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::kubelet {

/// Makes a source that lists and watches the pods of all namespaces whose spec.nodeName is the
/// node.
std::shared_ptr<cache::ListerWatcher> NewPodListWatch(std::shared_ptr<rest::RESTClient> client,
                                                      std::string_view node_name);

/// Runs a Reflector into an UndeltaStore, and passes all pods to the sink after every change. While
/// the API server is unreachable it passes nothing, so the consumers keep the last state. It logs
/// and leaves out a pod that cannot be decoded. As the kubelet's NewSourceApiserver. The destructor
/// stops it.
class ApiSource {
 public:
  ApiSource(std::shared_ptr<cache::ListerWatcher> pods, PodSink sink,
            cache::ReflectorOptions options = {});
  ApiSource(const ApiSource&) = delete;
  ApiSource& operator=(const ApiSource&) = delete;

 private:
  cache::UndeltaStore store_;
  cache::Reflector reflector_;
  std::jthread thread_;
};

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_API_SOURCE_H_
