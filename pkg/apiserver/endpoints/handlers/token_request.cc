// Handles the subresource token of service accounts.
#include <chrono>
#include <utility>
#include <vector>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/authn/service_account_tokens.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::chrono::seconds kShortest = std::chrono::minutes(10);
constexpr std::chrono::seconds kLongest{std::int64_t{1} << 32};
constexpr std::chrono::seconds kUsual = std::chrono::hours(1);

const ResourceTypeRef& TokenRequestType() {
  static const ResourceTypeRef kType = [] {
    auto type = std::make_shared<ResourceType>();
    type->group = "authentication.k8s.io";
    type->version = "v1";
    type->kind = "TokenRequest";
    type->plural = "tokenrequests";
    type->schema = api::Registry().Find(type->ApiVersion(), type->kind);
    return type;
  }();
  return kType;
}

Result<std::chrono::seconds> LifetimeOf(const JsonTree& spec, const std::string& name) {
  const JsonTree* const given = spec.Find("expirationSeconds");
  const std::chrono::seconds lifetime(given == nullptr ? kUsual.count()
                                                       : given->AsInt().value_or(kUsual.count()));
  const char* wrong = nullptr;
  if (lifetime < kShortest) {
    wrong = "may not specify a duration less than 10 minutes";
  } else if (lifetime > kLongest) {
    wrong = "may not specify a duration larger than 2^32 seconds";
  }
  if (wrong != nullptr) {
    return Fail(
        Invalid(*TokenRequestType(), name,
                {{.reason = "FieldValueInvalid",
                  .message = "Invalid value: " + std::to_string(lifetime.count()) + ": " + wrong,
                  .field = "spec.expirationSeconds"}}));
  }
  return lifetime;
}

/// Binds the token to an object that exists.
Result<void> Bind(const Call& call, const JsonTree& bound, TokenClaims& claims) {
  const std::string version(bound.TextAt("apiVersion"));
  const std::string kind(bound.TextAt("kind"));
  if (version != "v1" || (kind != "Pod" && kind != "Secret")) {
    return Fail(Reason::kBadRequest, "cannot bind token for serviceaccount to object of type " +
                                         version + ", " + kind +
                                         ": only to a Pod or a Secret of v1");
  }
  const ResourceTypeRef type = call.types.Find("", "v1", kind == "Pod" ? "pods" : "secrets");
  claims.bound_name = bound.TextAt("name");
  KX_ASSIGN_OR_RETURN(
      const JsonTree object,
      call.objects.Get(*type, {.namespace_ = call.info.namespace_, .name = claims.bound_name},
                       call.request.stop));
  claims.bound_kind = kind == "Pod" ? "pod" : "secret";
  claims.bound_uid = MetaString(object, "uid");
  const std::string uid(bound.TextAt("uid"));
  if (!uid.empty() && uid != claims.bound_uid) {
    return Fail(Conflict(*type, claims.bound_name,
                         "the UID in the bound object reference (" + uid +
                             ") does not match the UID in record. The object might have been "
                             "deleted and then recreated"));
  }
  if (kind == "Pod" && StringAt(object, {"spec", "serviceAccountName"}) != call.info.name) {
    return Fail(Reason::kBadRequest, "cannot bind token for serviceaccount \"" + call.info.name +
                                         "\" to pod running with different serviceaccount name.");
  }
  return {};
}

}  // namespace

Answer HandleTokenRequest(const Call& call) {
  KX_ASSIGN_OR_RETURN(JsonTree request, ReadBodyAs(call, *TokenRequestType()));
  KX_RETURN_IF_ERROR(CheckUrl(request, call.key()));
  KX_RETURN_IF_ERROR(AdmitPosted(call, *TokenRequestType(), request));
  KX_ASSIGN_OR_RETURN(const JsonTree account,
                      call.objects.Get(*call.type, call.key(), call.request.stop));
  TokenClaims claims{.account = call.key(), .account_uid = MetaString(account, "uid")};
  JsonTree& spec = request["spec"];
  KX_ASSIGN_OR_RETURN(claims.lifetime, LifetimeOf(spec, call.info.name));
  claims.audiences = StringsAt(spec, "audiences");
  if (const JsonTree* const bound = spec.Find("boundObjectRef");
      bound != nullptr && bound->IsObject()) {
    KX_RETURN_IF_ERROR(Bind(call, *bound, claims));
  }
  if (claims.audiences.empty()) {
    spec["audiences"] = JsonTree::Array();
    spec["audiences"].Append(kApiAudience);
  }
  spec["expirationSeconds"] = claims.lifetime.count();
  const auto now = call.objects.clock().Wall();
  SetMeta(request, "name", call.info.name);
  SetMeta(request, "namespace", call.info.namespace_);
  SetMeta(request, "creationTimestamp", apimachinery::Time::From(now).ToString());
  request["status"]["expirationTimestamp"] =
      apimachinery::Time::From(now + claims.lifetime).ToString();
  std::string token;
  if (!call.dry_run()) {
    KX_ASSIGN_OR_RETURN(token, call.tokens.Issue(claims));
  }
  request["status"]["token"] = std::move(token);
  KX_ASSIGN_OR_RETURN(const JsonTree canonical, Canonical(*TokenRequestType(), request));
  // A token is never shown as a table or only by its metadata.
  const AnswerForm form{.encoding = call.form.encoding};
  http::Response response;
  response.status = 201;
  response.content_type = form.ContentType();
  response.body = canonical.ToJson();
  if (form.encoding == codec::Encoding::kProtobuf) {
    KX_ASSIGN_OR_RETURN(response.body, EnvelopeOf(*TokenRequestType(), response.body));
  }
  return response;
}

}  // namespace kubexx::apiserver
