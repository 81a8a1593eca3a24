#include "kubexx/apiserver/endpoints/upkeep/system_objects.h"

#include <chrono>
#include <string>
#include <utility>

#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

// The interval is that of kube-apiserver.
constexpr base::Duration kNamespacesInterval = std::chrono::minutes(1);
constexpr base::Duration kServiceInterval = std::chrono::seconds(10);

/// Creates the namespace if it does not exist. Returns whether it was created.
Result<bool> MakeNamespace(const ResourceType& type, ObjectStore& objects, const char* name,
                           const std::stop_token& stop) {
  // For etcd, a read is cheaper than a write that is refused. What the namespace says does not
  // matter, so it is not decoded.
  const auto found = objects.storage().Get(type.StorageKey({.name = name}), 0, stop);
  if (found || found.error().reason != Reason::kNotFound) {
    return found ? Result<bool>(false) : Fail(found.error());
  }
  JsonTree object = JsonTree::Object();
  object["metadata"]["name"] = name;
  KX_ASSIGN_OR_RETURN(object, Canonical(type, object));
  const auto created = objects.Create(type, "", std::move(object), false, stop);
  if (!created && created.error().reason != Reason::kAlreadyExists) {
    return Fail(created.error().WithContext(std::string("make namespace ") + name));
  }
  return created.has_value();
}

/// Whether its time has come. If so, the next time is set.
bool IsDue(std::optional<base::TimePoint>& due, base::Duration interval, base::TimePoint now) {
  const bool is_due = due && now >= *due;
  if (is_due || !due) {
    due = now + interval;
  }
  return is_due;
}

}  // namespace

Result<void> SystemObjects::MakeNamespaces(const std::stop_token& stop) {
  const ResourceTypeRef type = types_.Find("", "v1", "namespaces");
  for (const char* const name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "the server is stopping");
    }
    KX_ASSIGN_OR_RETURN(const bool made, MakeNamespace(*type, objects_, name, stop));
    if (made && namespaces_due_) {
      logging::Info("Created a system namespace again, as it was missing", {{"namespace", name}});
    }
  }
  return {};
}

Result<void> SystemObjects::Publish(const KubernetesService& service, const std::stop_token& stop) {
  const auto published = PublishService(types_, objects_, service, stop);
  if (!published) {
    return Fail(published.error().WithContext("make the Service default/kubernetes"));
  }
  service_ = service;
  return {};
}

void SystemObjects::Tick(const std::stop_token& stop) {
  const base::TimePoint now = objects_.clock().Now();
  bool reachable = true;
  if (IsDue(namespaces_due_, kNamespacesInterval, now)) {
    reachable = MakeNamespaces(stop).has_value();
  }
  if (!service_ || !IsDue(service_due_, kServiceInterval, now) || !reachable ||
      stop.stop_requested()) {
    return;
  }
  auto made = MakeMissingOfService(types_, objects_, *service_, stop);
  if (!made && made.error().reason == Reason::kNotFound && MakeNamespaces(stop)) {
    made = MakeMissingOfService(types_, objects_, *service_, stop);
  }
  if (made && *made) {
    logging::Info("Created missing objects of the Service default/kubernetes again");
  }
}

}  // namespace kubexx::apiserver
