// Answers for ComponentStatus. The store is healthy, because it is in the server or has answered
// it. The components that clients expect besides the store do not exist.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/discovery/health.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/response/formats.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

struct Health {
  bool healthy;
  std::string_view message;
};

Health HealthOfStore(const Call& call) {
  const storage::StorageHealth store =
      call.objects.storage().CheckHealth(HealthPages::kInterval, call.request.stop);
  if (!store.reads) {
    return {false, "the store does not answer"};
  }
  return {store.writes.has_value(), store.writes ? "ok" : "the store takes no writes"};
}
Health HealthOfNothing(const Call& /*call*/) {
  return {false, "there is none: kubexx-apiserver runs controllers of its own when it is told to"};
}

struct Component {
  std::string_view name;
  Health (*health)(const Call& call);
};
constexpr std::array kComponents{Component{"controller-manager", HealthOfNothing},
                                 Component{"etcd-0", HealthOfStore},
                                 Component{"scheduler", HealthOfNothing}};

JsonTree StatusOf(const Component& component, const Call& call) {
  JsonTree object = JsonTree::Object();
  object["kind"] = call.type->kind;
  object["apiVersion"] = call.type->ApiVersion();
  object["metadata"]["name"] = component.name;
  const Health health = component.health(call);
  JsonTree condition = JsonTree::Object();
  condition["type"] = "Healthy";
  condition["status"] = health.healthy ? "True" : "False";
  condition["message"] = health.message;
  object["conditions"].Append(std::move(condition));
  return object;
}

Answer ListOfStatus(const Call& call) {
  KX_ASSIGN_OR_RETURN(const apimachinery::ListOptions options, ListOptionsOf(call.query));
  KX_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(call, options));
  ListBody body(call.form, *call.type);
  for (const Component& component : kComponents) {
    if (selection.Matches({.name = std::string(component.name)}, {})) {
      KX_RETURN_IF_ERROR(body.Add(StatusOf(component, call).ToJson()));
    }
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish({}));
  return http::Response{.content_type = call.form.ContentType(), .body = std::move(text)};
}

}  // namespace

Answer HandleComponentStatus(const Call& call) {
  if (call.info.name.empty()) {
    return ListOfStatus(call);
  }
  for (const Component& component : kComponents) {
    if (component.name == call.info.name) {
      return ObjectResponse(call, StatusOf(component, call));
    }
  }
  return Fail(NotFound(*call.type, call.info.name));
}

}  // namespace kubexx::apiserver
