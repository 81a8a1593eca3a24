/// @file
/// --namespace-selector: the namespaces with certain labels.
#ifndef KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_
#define KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

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

/// The namespaces that are selected at present. Thread-safe once started.
class NamespaceSelector {
 public:
  /// `namespaces`: an informer of exactly the namespaces that are selected, not yet running.
  explicit NamespaceSelector(std::shared_ptr<cache::SharedInformerBase> namespaces);
  /// Stops.
  ~NamespaceSelector();
  NamespaceSelector(const NamespaceSelector&) = delete;
  NamespaceSelector& operator=(const NamespaceSelector&) = delete;

  /// `on_selected` is called for each namespace that is or becomes selected, after Contains knows
  /// it, on a thread of the informer; it must not block. Once only.
  void Start(std::function<void(const std::string& name)> on_selected);
  /// No call is made after it has returned.
  void Stop();
  bool HasSynced() const;
  /// Blocks until the first list is here: until then Contains is false for all. False when `stop`
  /// was requested first.
  bool WaitForSync(const std::stop_token& stop) const;
  bool Contains(std::string_view name) const;

 private:
  std::shared_ptr<cache::SharedInformerBase> namespaces_;
  base::Subscription subscription_;
};

/// Watches the namespaces that match the label selector; keeps their names only. `refusals` follows
/// the watch when not null, and must outlive it.
std::unique_ptr<NamespaceSelector> NewNamespaceSelector(std::shared_ptr<rest::RESTClient> client,
                                                        const std::string& label_selector,
                                                        metrics::Registry* registry,
                                                        Refusals* refusals = nullptr);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_NAMESPACE_SELECTOR_H_
