// ComponentStatus: there are no other components than the store, which is in the server or has
// answered it.
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/call.h"
#include "kubexx/apiserver/endpoints/field_validation.h"
#include "kubexx/apiserver/endpoints/formats.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::string_view kStore = "etcd-0";

JsonTree StatusOfStore(const Call& call) {
  JsonTree object = JsonTree::Object();
  object["kind"] = call.type->kind;
  object["apiVersion"] = call.type->ApiVersion();
  object["metadata"]["name"] = kStore;
  JsonTree condition = JsonTree::Object();
  condition["type"] = "Healthy";
  const bool healthy = call.objects.storage().CurrentRevision(call.request.stop).has_value();
  condition["status"] = healthy ? "True" : "False";
  condition["message"] = healthy ? "ok" : "the store does not answer";
  object["conditions"].Append(std::move(condition));
  return object;
}

Answer ListOfStatus(const Call& call) {
  KX_ASSIGN_OR_RETURN(const apimachinery::ListOptions options, ListOptionsOf(call.query));
  KX_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(call, options));
  ListBody body(call.form, *call.type);
  if (selection.Matches({.name = std::string(kStore)}, {})) {
    KX_RETURN_IF_ERROR(body.Add(StatusOfStore(call).ToJson()));
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish({}));
  return http::Response{.content_type = call.form.ContentType(), .body = std::move(text)};
}

}  // namespace

Answer HandleComponentStatus(const Call& call) {
  if (!call.info.name.empty() && call.info.name != kStore) {
    return Fail(NotFound(*call.type, call.info.name));
  }
  KX_ASSIGN_OR_RETURN(http::Response response, call.info.name.empty()
                                                   ? ListOfStatus(call)
                                                   : ObjectResponse(call, StatusOfStore(call)));
  AddWarnings({"v1 ComponentStatus is deprecated in v1.19+"}, response);
  return response;
}

}  // namespace kubexx::apiserver
