/// @file
/// Passes the informers' events on to the parts of an operator that handle them.
#ifndef KUBEXX_RELOADER_OPERATOR_EVENT_LISTENERS_H_
#define KUBEXX_RELOADER_OPERATOR_EVENT_LISTENERS_H_

#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/cache/handler_registration.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/event_router.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/write/pause.h"

namespace kubexx::reloader {

/// Subscribes to all informers of an operator. The rollout gate and the pauses are told of an event
/// of a workload before the router, which has the workload looked at. Keeps references to its
/// arguments. Not thread-safe, except for AwaitWorkloads; the events arrive on the informers'
/// threads.
class EventListeners {
 public:
  struct Parts {
    const Caches& caches;
    EventRouter& router;
    const AnnotationKeys& keys;
    const std::set<std::string>& ignored_namespaces;
    /// Null: all namespaces are selected.
    const NamespaceSelector* namespaces = nullptr;
    /// Null: nobody decides when rollouts begin.
    RolloutGate* gate = nullptr;
    /// Null: the operator pauses nothing.
    Pauses* pauses = nullptr;
    /// Ends the waits of the router.
    std::stop_token stop{};
  };
  explicit EventListeners(Parts parts) : parts_(std::move(parts)) {}

  /// Call it once, before the informers start.
  void Subscribe();
  /// Blocks until the events of all workloads that the informers listed first have been handled,
  /// except for kinds that are late. Returns false when `stop` was requested first.
  bool AwaitWorkloads(const std::stop_token& stop) const;
  /// Ends the subscriptions, after the calls that are under way.
  void Unsubscribe();

 private:
  void TellGate(WorkloadKind kind, const cache::RawEvent& event);
  void TellPauses(WorkloadKind kind, const cache::RawEvent& event);
  /// Whether the operator works on the namespace. What another operator has paused in a namespace
  /// that this one leaves alone is not resumed.
  bool IsWatched(const std::string& namespace_) const;

  const Parts parts_;
  std::vector<std::pair<cache::HandlerRegistration, std::stop_token>> workloads_;
  std::vector<cache::HandlerRegistration> sources_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_EVENT_LISTENERS_H_
