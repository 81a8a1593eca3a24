/// @file
/// The namespaces that --namespace-selector selects by their labels.
#ifndef KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_
#define KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/permissions/refusals.h"

namespace kubexx::cache {
class SharedInformerBase;
}
namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The namespaces that are selected at present. Thread-safe after Start.
class NamespaceSelector {
 public:
  /// `namespaces`: an informer of exactly the selected namespaces, which does not run yet.
  explicit NamespaceSelector(std::shared_ptr<cache::SharedInformerBase> namespaces);
  /// Stops.
  ~NamespaceSelector();
  NamespaceSelector(const NamespaceSelector&) = delete;
  NamespaceSelector& operator=(const NamespaceSelector&) = delete;

  /// Calls `on_selected` for each namespace that is or becomes selected, after Contains returns
  /// true for it, on a thread of the informer. It must not block. Call Start once only.
  void Start(std::function<void(const std::string& name)> on_selected);
  /// `on_selected` is not called after Stop has returned.
  void Stop();
  bool HasSynced() const;
  /// Blocks until the first list has arrived; until then Contains returns false for every
  /// namespace. Returns false when `stop` was requested first.
  bool WaitForSync(const std::stop_token& stop) const;
  bool Contains(std::string_view name) const;

 private:
  std::shared_ptr<cache::SharedInformerBase> namespaces_;
  base::Subscription subscription_;
};

/// Watches the namespaces that match the label selector and stores only their names. `refusals`, if
/// not null, follows the watch and must outlive it. `executor`: see
/// cache::InformerOptions::executor.
std::unique_ptr<NamespaceSelector> NewNamespaceSelector(
    std::shared_ptr<rest::RESTClient> client, const std::string& label_selector,
    metrics::Registry* registry, Refusals* refusals = nullptr,
    std::shared_ptr<base::Executor> executor = {});

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_
