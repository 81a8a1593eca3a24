/// @file
/// The pods that the scheduler gave to a node.
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

/// Lists and watches the pods with spec.nodeName of the node, of all namespaces.
std::shared_ptr<cache::ListerWatcher> NewPodListWatch(std::shared_ptr<rest::RESTClient> client,
                                                      std::string_view node_name);

/// A Reflector into an UndeltaStore: every change gives all pods to the sink. While the API server
/// is away nothing is given, so what was stays. A pod that cannot be decoded is logged and left
/// out. As the kubelet's NewSourceApiserver. The destructor stops.
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
